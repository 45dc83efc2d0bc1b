"""A small GPT-2 from your own text: the next token, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_causal_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

A piece begins with [CLS] and only a document's end has [SEP], so the model
learns where texts end. The text is read as configs/pretrain_mlm_mini.py says.

At smoke size (120 steps, as configs/RESULTS.md has for pretrain_mlm_mini.py):
loss 6.77 [6.69, 6.84] on held-out text (chance is 9.01), perplexity 867
[805, 930]. After 300 steps of 16 x 64 tokens (--config.train.evals=2, 2 min of
CPU): 649 [551, 762]. Its benchmarks: configs/RESULTS.md, "Benchmarks and
mitigations of language models".
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('pretrain_mlm_mini')
  config.pretrain.objective = 'causal'
  return config
