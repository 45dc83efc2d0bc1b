"""A small BART from your own text: denoising, 4 and 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_bart_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

30 % of the tokens go, in spans of Poisson(3) lengths, and sentences change
their order (Lewis et al. 2020). Text as for configs/pretrain_mlm_mini.py. 120
steps: loss 6.92 [6.85, 6.97] on held-out text (chance 9.01).
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain = c.Pretrain(objective='bart', mask=0.3)
  return config
