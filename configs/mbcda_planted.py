"""MBCDA on the embedded data: a generator with and without its adversary.

  python -m fairjax.main --config=configs/mbcda_planted.py

The whole system in 3 min 18 s of one core with AVX-512. One generator of either
kind and one classifier of each contender: what is decided is of these models,
over the test texts, and says nothing of other seeds (twelve of them:
configs/claims/mbcda_planted.py). The sentences are short and their dictionary
swaps right by construction, so this says little of real text. With a detector
(--config.repair.detector=ELECTRA --config.repair.filler=BART) the targets are
repaired; without one the repaired texts are the dictionary's.

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
