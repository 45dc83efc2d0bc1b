"""Both experiments of the diet paper on the sexism tweets: 115 cells, one job.

  python -m fairjax.main --config=configs/rank_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

Figures 2 to 4 and table 5. Killed at any time, the same command resumes. Over
machines that share a folder: first --config.grid.cells=none for the scores, on
each machine some cells (--config.grid.cells=0-39), then the first command. The
best (a, b) is chosen on the validation tweets and their twins, within 3 % of
the AUC.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='rank',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
    tokens=c.Tokens(max_length=100),
    train=c.Train(lr=1e-6, batch=64, epochs=15.0, patience=3),
    measures=c.Measures(sets=('test', 'identity')),
    scoring=c.Scoring(names=('ge', 'el2n', 'forgetting', 'grand'), epochs=1.0),
  )
