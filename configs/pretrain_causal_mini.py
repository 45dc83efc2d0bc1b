"""TODO"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='pretrain',
    model='mini',
    seeds=1,
    data=c.Data(name='text'),
    tokens=c.Tokens(vocab_size=8192),
    pretrain=c.Pretrain(objective='causal'),
    train=c.Train(
      lr=1e-3,
      batch=64,
      epochs=4,
      warmup=0.05,
      weight_decay=0.01,
      beta2=0.98,
      eps=1e-6,
      evals=5,
      patience=0,
    ),
  )
