"""How often a classifier changes its mind when a text speaks of someone else.

  python -m fairjax.main --config=configs/fairscore.py \\
      --config.model=FOLDER --config.data.path=my.csv

Perturbs the rows of your file (all of them, since nothing is trained; test rows
where --config.data.split or --config.data.test_path names some) by rules and by
the dictionary (--config.fairscore.by, also `word` and a trained `model`),
writes the pairs to paired.parquet, and says of each perturber how often the
prediction changes, beside what a neutral rewrite of as many words changes.
--config.fairscore.path=paired.parquet scores another model on the same rows,
and --config.audit.against=FOLDER compares two models by exact tests.
Columns are named as for configs/train_csv.py. FOLDER is a classifier's or that
of a run, whose seeds are all asked.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='fairscore', seeds=1, data=c.Data(name='file'))
