"""A small BERT from your own text: masked tokens, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_mlm_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

A folder (or file) of .txt, .jsonl and .parquet. In a .txt a blank line ends a
document; --config.pretrain.document=line makes each line one. A WordPiece of
8,192 tokens is learned from the text, 1 % of the documents are held out, rows
are full. --config.pretrain.whole_word=true masks whole words, and
--config.model=FOLDER continues from any masked LM. What comes out,
export/seed_0, is a folder for transformers and for --config.model. On an
accelerator --config.model=medium has 8 layers of 512.

At smoke size on 2 shared cores (2 min of CPU), 8.7 million tokens of books and
Wikipedia: --config.pretrain.steps=120 --config.pretrain.length=64
--config.train.batch=16 --config.pretrain.held_out=0.001
--config.train.evals=250: loss 7.20 [7.07, 7.34] (chance 9.01) on held-out
text, perplexity 1,341 [1,173, 1,535].
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='pretrain',
    model='mini',
    seeds=1,
    data=c.Data(name='text'),
    tokens=c.Tokens(vocab_size=8192),
    pretrain=c.Pretrain(objective='mlm'),
    train=c.Train(
      lr=1e-3,
      batch=64,
      epochs=4,
      warmup=0.05,
      weight_decay=0.01,
      beta2=0.98,
      eps=1e-6,
      evals=5,
      patience=0,
    ),
  )
