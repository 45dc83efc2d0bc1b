"""How often a classifier changes its mind when a text speaks of someone else.

  python -m fairjax.main --config=configs/fairscore.py \\
      --config.model=FOLDER --config.data.path=my.csv

Perturbs the test rows of your file by rules and by the dictionary
(--config.fairscore.by, also `word` and a trained `model`), writes the pairs to
paired.parquet, and says of each perturber how often the prediction changes,
beside what a neutral rewrite of as many words changes.
--config.fairscore.path=paired.parquet scores another model on the same rows,
--config.fairscore.against=FOLDER two models with exact tests. Columns are
named as for configs/train_csv.py.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='fairscore', seeds=1, data=c.Data(name='file'))
