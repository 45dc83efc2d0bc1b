"""An unmitigated classifier on the embedded data, and how unfair it is."""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='train',
    model='tiny',
    seeds=3,
    data=c.Data(name='planted'),
    train=c.Train(lr=1e-3, epochs=8, batch=64, patience=0, warmup=0.1),
  )
