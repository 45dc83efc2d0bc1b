"""Fairtuning on GLUE's SST-2: perturbed training text, and the fairscore.

  python -m fairjax.main --config=configs/fairtune_sst2.py \\
      --config.data.path=SST-2/train.csv \\
      --config.data.test_path=SST-2/dev.csv --config.model=FOLDER

Other tasks: their files and columns (data.text, data.text_pair, data.label);
pairs of texts are joined before they are perturbed. The paper's sweep is
--config.fairscore.rates=1e-5,2e-5,3e-5 --config.fairscore.batches=16,32.
CoLA is chosen by --config.train.metric_for_best=mcc, STS-B by pearson. It is a
regression: --config.data.labels=round makes its scores six grades,
and --config.fairscore.tolerance=0.5 counts a prediction as changed where the
mean grade moves by more than that (0: where the likeliest grade does).

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
