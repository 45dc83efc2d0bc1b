"""A dictionary from one pair of words, on a corpus with an invented attribute.

python -m fairjax.main --config=configs/fairflow_planted.py

The paper's own setting: --config.fairflow.grow=0 --config.fairflow.head=mlp
--config.fairflow.threshold=3 --config.fairflow.factor=-1
--config.fairflow.rho=0.98 --config.fairflow.margin=0 --config.fairflow.leak=0
--config.fairflow.move=mean --config.fairflow.decoder=head
--config.fairflow.candidates=all --config.fairflow.min_along=-1
--config.fairflow.votes=paper --config.train.epochs=5.

Measured: configs/RESULTS.md, "FairFlow".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='fairflow',
    model='tiny',
    seeds=3,
    planted=c.Planted(rows=12000),
    tokens=c.Tokens(vocab_size=1500, max_length=64),
    pretrain=c.Pretrain(
      length=64, steps=1500, mask=0.15, document='line', whole_word=True
    ),
    fairflow=c.FairFlow(
      cap=60,
      seed_cap=1000,
      grow=8,
      head='lda',
      threshold=0.0,
      whiten='white',
      steps=4,
      hidden=64,
      factor=8,
      rho=0.9,
      margin=2.0,
      leak=0.3,
      move='shift',
      decoder='nearest',
      candidates='side',
      min_along=0.4,
    ),
    train=c.Train(
      lr=1e-3,
      batch=64,
      epochs=20,
      eps=1e-6,
      weight_decay=0.01,
      schedule='constant',
      max_grad_norm=0.0,
      patience=0,
    ),
    measures=c.Measures(resamples=2000),
  )
