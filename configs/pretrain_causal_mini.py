"""A small GPT-2 from your own text: the next token, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_causal_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

Text as for configs/pretrain_mlm_mini.py. 120 steps: loss 6.77 [6.69, 6.84] on
held-out text (chance 9.01).

Measured: configs/RESULTS.md, "Benchmarks and mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain.objective = 'causal'
  return config
