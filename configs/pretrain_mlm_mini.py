"""A small BERT from your own text: masked tokens, 4 layers of 256.

  python -m fairjax.main --config=configs/pretrain_mlm_mini.py \\
      --config.data.path=FOLDER_OF_TEXT

A folder or file of .txt, .jsonl and .parquet; a blank line ends a document of a
.txt, or each line (--config.pretrain.document=line). A WordPiece is learned
from the text, 1 % of the documents are held out. --config.model=FOLDER goes on
from a masked LM; export/seed_0 is a folder for transformers. On an accelerator
--config.model=medium has 8 layers of 512.

Measured: configs/RESULTS.md, "Perturbation augmentation".
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
