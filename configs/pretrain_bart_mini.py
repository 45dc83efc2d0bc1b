"""A small BART from your own text: denoising, 4 and 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_bart_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

30 % of the tokens go, in spans of Poisson(3) lengths that one mask stands for
(a span of length 0 adds a mask), and sentences change their order (Lewis et
al. 2020). The perplexity is that of the original text given the corrupted one.
The text is read as configs/pretrain_mlm_mini.py says.

At smoke size (120 steps, as configs/RESULTS.md has for pretrain_mlm_mini.py):
loss 6.92 [6.85, 6.97] on held-out text (chance is 9.01), perplexity 1,011
[948, 1,065].
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain = c.Pretrain(objective='bart', mask=0.3)
  return config
