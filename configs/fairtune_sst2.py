"""Fairtuning on GLUE's SST-2: perturbed training text, and the fairscore.

  python -m fairjax.main --config=configs/fairtune_sst2.py \\
      --config.data.path=SST-2/train.csv \\
      --config.data.test_path=SST-2/dev.csv --config.model=FOLDER

Other tasks name their files and columns (data.text, data.text_pair, data.label)
and --config.train.metric_for_best=mcc (CoLA) or pearson (STS-B, with
--config.data.labels=round --config.fairscore.tolerance=0.5).

Measured: configs/RESULTS.md, "Perturbation augmentation".
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='fairtune',
    model='mini',
    data=c.Data(name='file', text='sentence', label='label'),
    train=c.Train(
      lr=2e-5,
      batch=32,
      epochs=10,
      warmup=0.06,
      weight_decay=0.1,
      beta2=0.98,
      eps=1e-6,
      metric_for_best='accuracy',
      patience=0,
    ),
  )
