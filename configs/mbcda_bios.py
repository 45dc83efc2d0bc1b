"""MBCDA on biographies: gender × occupations that men or women dominate.

  python -m fairjax.main --config=configs/mbcda_bios.py \\
      --config.data.path=BIOS.csv --config.data.text=text \\
      --config.data.label=dominated_by_women --config.data.group=gender \\
      --config.rewriters.generator=BART --config.repair.detector=ELECTRA \\
      --config.repair.filler=BART --config.rewriters.fluency=LANGUAGE_MODEL

The paper's six ablations, three seeds; 4 epochs as its code (its text says 2).
Its protocol: --config.corpus.path=FOLDER to train on, and FairFlow's Table
1 by --config.rewriters.imbalance=.12. --config.adversary.withheld=.5 leaves
half of the gender words out of the targets.

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
