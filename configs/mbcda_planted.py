"""MBCDA on the embedded data: a generator with and without its adversary.

  python -m fairjax.main --config=configs/mbcda_planted.py

One generator of either kind and one classifier each, in about 3 minutes: it
decides nothing of other seeds (configs/claims/mbcda_planted.py has twelve), and
swaps of the short sentences are right by construction. With
--config.repair.detector=ELECTRA --config.repair.filler=BART targets are
repaired.

Measured: configs/RESULTS.md, "MBCDA".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='mbcda',
    model='tiny',
    seeds=1,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=2400, test_rows=900),
    tokens=c.Tokens(vocab_size=600, max_length=48),
    rewriters=c.Rewriters(
      generator='nano',
      contenders=('dictionary',),
      lr=2e-3,
      epochs=8.0,
      seeds=1,
      generators=1,
    ),
    adversary=c.Adversary(
      labels=('filtered',),
      lr=2e-3,
      epochs=6.0,
      dropout=0.0,
      vectors=(50,),
    ),
    train=c.Train(batch=32),
  )
