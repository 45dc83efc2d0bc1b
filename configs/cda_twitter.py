"""Counterfactual augmentation of the sexism tweets: every twin is added.

  python -m fairjax.main --config=configs/cda_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP

The published twins are used: 4,889 of 13,524 differ from their tweet and join
it (18,413 rows; the paper also adds the other 8,635 once more, as
--config.method.keep_equal=true does). The top 30 % by a score:
--config.method.ratio=0.3 --config.method.rank=ge --config.scoring.path=FILE

Model and training as in configs/train_twitter.py, which is the run to compare
with. To train both, and test the difference, in one go:
--config.recipe=compare --config.method.compare=augment. On a CPU take a
smaller model: --config.model=path/to/MiniLM --config.train.lr=2e-5
--config.train.epochs=2 --config.seeds=1.

Measured so with MiniLM-L6 on 2,500 of the tweets (25 minutes on two cores):
--config.method.compare=augment,blind --config.data.limit=2500
--config.seeds=3 --config.train.lr=1e-4 --config.train.epochs=2
--config.train.patience=0 --config.train.warmup=0.1
--config.train.metric_for_best=auc --config.tokens.max_length=64
--config.measures.threshold=eer --config.measures.resamples=2000

           AUC (test)         DP (identity templates, equal-error threshold)
  none     .891 [.865, .918]  .444 [.314, .573]
  augment  .888 [.858, .915]  .779 [.705, .854]  p = .0005, over seeds .011
  blind    .878 [.849, .907]  .999 [.974, 1.00]  p = .0005, over seeds .001

No AUC is lost for sure (p = .76 and .07). On templates as short as these the
models are little better than chance (AUC .56, .60 and .63).
"""

from fairjax import config as c


def get_config() -> c.Config:
  config = c.shipped('train_twitter')
  config.method = c.Method(name='augment', ratio=1.0)
  return config
