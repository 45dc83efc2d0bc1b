"""How often a classifier changes its mind when a text speaks of someone else.

  python -m fairjax.main --config=configs/fairscore.py \\
      --config.model=FOLDER --config.data.path=my.csv

Perturbs the test rows, or all rows where no split is named, by
--config.fairscore.by, and keeps the pairs for another model
(--config.fairscore.path=paired.parquet). --config.audit.against=FOLDER
compares two.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(recipe='fairscore', seeds=1, data=c.Data(name='file'))
