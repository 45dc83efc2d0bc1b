"""The perturber of Qian et al. (EMNLP 2022) at its Table 5, on PANDA.

  python -m fairjax.main --config=configs/perturber_panda.py \\
      --config.perturb.data=FOLDER

FOLDER is your copy of PANDA (facebook/panda: train.jsonl, valid.jsonl, with
original, selected_word, target_attribute, perturbed; 94,966 and 10,551 rows);
BART-large is read from the hub, or from --config.model=FOLDER. The paper: a
rate of 1e-5 after 1,200 steps of 64, .01 of it at a plateau, patience of 10
evaluations (four an epoch in its file), gradients clipped to .1; about 4 hours
on 8 V100, BLEU-4 88.0 and perplexity 1.06 on the validation rows. Not run here,
for want of PANDA, of the weights and of the machine: the same steps on made
rows in PANDA's format are in tests/recipes/perturbation/test_perturber.py.
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
  train.plateau_factor, train.evals, train.patience = 0.01, 4.0, 10
  train.metric_for_best = 'bleu'
  return config
