"""Claims of perturbed pretraining, on associations that are planted.

  python -m fairjax.main --config=configs/claims/fairberta_planted.py

FairBERTa of Qian et al. (EMNLP 2022) as a dose-response: nothing, half and all
of the sentences perturbed, at planted associations of 0, .5 and .8, three seeds
each. Needs no data.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('benchmarks_planted')
  config.recipe, config.seeds = 'fairberta_planted', 3
  config.perturb.axes = ('gender',)
  config.pretrain.steps, config.pretrain.mask = 700, 0.3
  config.train.lr = 3e-3
  return config
