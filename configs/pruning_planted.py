"""Does pruning by score make a classifier less fair? Rankings without twins.

  python -m fairjax.main --config=configs/pruning_planted.py

DRoP (Vysogorets et al., ICLR 2025, arXiv:2404.05579) finds that keeping the
rows of highest or lowest score makes classifiers more biased than keeping rows
at random, and mends it with quotas by class. Here half of the rows of the
embedded data, whose bias is known, are kept by GE and EL2N from either end, by
DRoP's quotas, by as many rows of each label and group, and at random; no twins
are added. (With two labels as frequent as each other PVI orders as EL2N.)

Smaller (--config.diet.factual=0.3 --config.train.epochs=8
--config.scoring.epochs=2, 3 seeds) most models collapse, and a constant
predictor looks fair, so look at the accuracy beside DP:

  rows                 accuracy           DP                 AUC
  random               .548 [.442, .650]  .549 [.043, 1.00]  .566 [.519, .615]
  cells                .667 [.605, .724]  .971 [.911, 1.00]  .726 [.644, .791]
  low GE (vanilla_ge)  .592 [.348, .799]  .935 [.770, 1.00]  .667 [.398, .860]
  high GE              .506 [.471, .540]  .825 [.069, 1.00]  .542 [.499, .588]
  high EL2N            .503 [.491, .514]  .836 [.131, 1.00]  .510 [.476, .543]
  low EL2N             .500 [.469, .531]  1.00 (constant)    .509 [.424, .594]
  drop                 .500 [.469, .531]  1.00 (constant)    .558 [.511, .607]
  none (all rows)      .685 [.354, .898]  .564 [.145, .984]  .757 [.275, .963]

As many rows of each label and group beat random ones in AUC (p .026, 1.0 after
Holm's correction); nothing else is decided at this size. DRoP's quotas follow a
probe of two epochs here, and its models say one label of every row.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='diet',
    model='tiny',
    seeds=3,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=3000, test_rows=1000),
    train=c.Train(lr=1e-3, epochs=16.0, batch=64, patience=0, warmup=0.1),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=8.0),
    diet=c.Diet(
      ranking='random',
      factual=0.5,
      counterfactual=0.0,
      compare=(
        *('drop', 'cells', 'vanilla_ge', 'vanilla_ge_code'),
        *('el2n', 'easy_el2n', 'none'),
      ),
    ),
  )
