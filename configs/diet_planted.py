"""A grid of diets on the embedded data, whose bias is known: 17 cells, 3 seeds.

python -m fairjax.main --config=configs/diet_planted.py
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='rank',
    model='tiny',
    seeds=3,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=3000, test_rows=1000),
    train=c.Train(lr=1e-3, epochs=6.0, batch=64, patience=0, warmup=0.1),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=2.0),
    grid=c.Grid(
      rankings=('healthy_random', 'unhealthy_random', 'random'),
      factual=(0.4,),
      counterfactual=(0.2, 0.4),
      augment=('ge', 'random'),
      shares=(0.0, 0.2, 0.4, 1.0),
    ),
  )
