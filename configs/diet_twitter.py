"""A grid of diets on the sexism tweets that a CPU can do: a small model.

  python -m fairjax.main --config=configs/diet_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP --config.model=path/to/MiniLM

Two values of a and of b; the paper's grid is configs/rank_twitter.py.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='rank',
    model='mini',
    seeds=3,
    data=c.Data(name='twitter_sexism', on_bad='drop'),
    tokens=c.Tokens(max_length=64),
    train=c.Train(lr=5e-5, batch=64, epochs=3.0, patience=0, warmup=0.1),
    measures=c.Measures(sets=('test', 'identity')),
    scoring=c.Scoring(names=('ge', 'el2n'), at='epoch 2'),
    grid=c.Grid(
      factual=(0.3, 0.5),
      counterfactual=(0.1, 0.3),
      augment=('ge', 'random'),
      shares=(0.0, 0.1, 0.2, 0.3, 1.0),
    ),
  )
