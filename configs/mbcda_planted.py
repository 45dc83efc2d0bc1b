"""MBCDA on the embedded data: generators with and without adversary.

  python -m fairjax.main --config=configs/mbcda_planted.py

The sentences are short and their dictionary swaps are right by construction,
so this shows the whole system in minutes and says little of real text: on 930
pairs the discriminators are at chance (right on .498 and .546 of held-out
targets), and two of either decide nothing. configs/claims/mbcda_planted.py has
rows and seeds enough for both, and takes 26 minutes. With a
detector (--config.repair.detector=ELECTRA --config.repair.filler=BART) the
targets are repaired; without one the repaired texts are the dictionary's.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='mbcda',
    model='tiny',
    seeds=1,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=1200, test_rows=300),
    tokens=c.Tokens(vocab_size=600, max_length=48),
    rewriters=c.Rewriters(
      generator='tiny',
      contenders=('dictionary',),
      lr=1e-3,
      epochs=12.0,
      seeds=2,
      generators=2,
    ),
    adversary=c.Adversary(
      labels=('filtered',), lr=1e-3, epochs=12.0, vectors=(50,)
    ),
    train=c.Train(batch=32),
  )
