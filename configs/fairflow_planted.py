"""A dictionary from one pair of words, on a corpus with an invented attribute.

python -m fairjax.main --config=configs/fairflow_planted.py

The settings were chosen on the known pairs of this corpus, which the report
marks the dictionary by; the simpler ways in the same table read what the same
head found.
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
      layer=-1,
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
      min_along=0.45,
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
