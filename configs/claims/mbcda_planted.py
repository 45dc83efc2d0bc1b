"""Claims of MBCDA on the embedded data, with seeds enough to decide.

  python -m fairjax.main --config=configs/claims/mbcda_planted.py

Twelve generators with and without their discriminator, twelve classifiers of
each contender, as many as a pilot of five said that the gaps need; its seeds
are others. With two of either (configs/mbcda_planted.py) every interval is that
of a t with one degree of freedom, and nothing is decided. Nothing is read.

What its size decides, four times of five: ±.037 to ±.096 of transfer, ±.039 to
±.11 of TPRD, ±.094 to ±.17 of FPRD.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('mbcda_planted')
  config.seed = 5
  config.planted.rows, config.planted.test_rows = 4000, 1200
  config.rewriters.epochs = 8.0
  config.rewriters.seeds = config.rewriters.generators = 12
  config.adversary.epochs = 6.0
  return config
