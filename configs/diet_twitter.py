"""A grid of diets on the sexism tweets that a CPU can do: a small model.

  python -m fairjax.main --config=configs/diet_twitter.py \\
      --config.data.path=FOLDER_OR_ZIP --config.model=path/to/MiniLM

Experiment 2 at two values of a and of b, experiment 1 by GE and at random. The
probe is scored after its second epoch, when it has learned something. For the
paper's grid see configs/rank_twitter.py.

Measured with MiniLM-L6 on 900 of the tweets, 3 seeds, 13 cells (an hour on two
shared cores; --config.data.limit=900 --config.train.lr=1e-4
--config.train.epochs=2 --config.train.metric_for_best=auc
--config.measures.threshold=eer --config.measures.resamples=2000
--config.grid.counterfactual='(0.1, 0.2)' --config.grid.shares='(0.2,)'
--config.grid.rankings=healthy_random,unhealthy_random). The chosen diets are
a = .5, b = .2; DP on the identity templates, differences to none with 95 %
intervals over examples and seeds:

                    rows   test AUC               DP
  none               900   .826                   .610
  cda              1,228   .833                   .779
  cds                900   .811                   .747
  healthy_random     630   -.085 [-.135, -.046]   +.331 [+.278, +.408]
  unhealthy_random   630   -.079 [-.111, -.052]   +.165 [+.117, +.239]

The healthy diet is above the unhealthy one by .166 [.133, .194] (p .0005) and
above CDA by .161 [.078, .223] with half its rows (.513). No cell keeps 97 % of
the AUC: two epochs of 630 rows are 20 steps. Adding the top fifth of the twins
by GE or at random differs by .019 [-.023, .062]: undecided.
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
