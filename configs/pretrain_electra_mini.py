"""A small ELECTRA from your own text: replaced tokens, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_electra_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

As Clark et al. 2020: the generator is a quarter as wide, and the
discriminator's loss counts 50 times. `found` is the share of replaced tokens
that are flagged, `false_alarms` of original ones. export/seed_0 is the
discriminator, export/seed_0/generator the generator; --config.model=FOLDER goes
on from both. Text as for configs/pretrain_mlm_mini.py.
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain.objective = 'electra'
  config.train.lr = 5e-4
  config.train.load_best = False  # a better generator is harder to detect
  return config
