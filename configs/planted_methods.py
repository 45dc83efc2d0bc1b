"""Every data-side method against none, on the data with a known bias.

  python -m fairjax.main --config=configs/planted_methods.py

--config.method.compare=augment,blind takes some methods only.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='compare',
    model='tiny',
    seeds=5,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=2000, test_rows=600, correlation=0.8),
    train=c.Train(
      lr=1e-3, epochs=8, batch=64, patience=0, warmup=0.1, metric_for_best='auc'
    ),
  )
