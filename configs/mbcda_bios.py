"""MBCDA on biographies: gender × occupations that men or women dominate.

  python -m fairjax.main --config=configs/mbcda_bios.py \\
      --config.data.path=BIOS.csv --config.data.text=text \\
      --config.data.label=dominated_by_women --config.data.group=gender \\
      --config.rewriters.generator=BART --config.repair.detector=ELECTRA \\
      --config.repair.filler=BART --config.rewriters.fluency=LANGUAGE_MODEL

The six ablations of the paper: with and without discriminator × targets that
are repaired and filtered, repaired, or plain swaps. Its code trains 4 epochs,
its text says 2 (--config.rewriters.epochs); batches of 48, 2e-5.

The paper's protocol: --config.adversary.corpus=FOLDER trains the generators on
sentences of another corpus; a label of many occupations becomes two, those that
women and those that men dominate; and --config.rewriters.imbalance=.12 draws as
many women in training as FairFlow's Table 1 has, and as many of each group in
test. --config.adversary.withheld=.5 leaves half of the gender words out of the
targets, so that the page says who goes beyond the list. Each generator has
three seeds.

Measured: configs/RESULTS.md, "MBCDA".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='mbcda',
    model='mini',
    seeds=1,
    data=c.Data(name='file', label='label', group='gender'),
    tokens=c.Tokens(max_length=200),
    rewriters=c.Rewriters(
      contenders=('dictionary',),
      lr=2e-5,
      batch=48,
      epochs=4.0,
      patience=0,
      generators=3,
    ),
    train=c.Train(batch=48),
  )
