"""The perturber of Qian et al. (EMNLP 2022) at its Table 5, on PANDA.

  python -m fairjax.main --config=configs/perturber_panda.py \\
      --config.perturb.data=FOLDER

FOLDER is your copy of facebook/panda (94,966 and 10,551 rows); BART-large comes
from the hub or --config.model=FOLDER. The paper: about 4 hours on 8 V100,
BLEU-4 88.0 and perplexity 1.06. Not run here, for want of PANDA; the same steps
on made rows: tests/recipes/perturbation/test_perturber.py.
"""

from fairjax import config as c

STEPS = 94_966 / 64 * 10  # of ten epochs


def get_config() -> c.Config:
  config = c.shipped('perturber_mini')
  train = config.train
  config.model = 'facebook/bart-large'
  config.perturb.sources = ('panda',)
  config.tokens.max_length = 512
  train.lr, train.batch, train.epochs = 1e-5, 64, 10.0
  train.warmup, train.schedule = 1200 / STEPS, 'plateau'
  train.evals, train.patience = 4.0, 10
  train.metric_for_best = 'bleu'
  return config
