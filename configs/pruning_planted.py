"""Does pruning by score make a classifier less fair? Rankings without twins.

  python -m fairjax.main --config=configs/pruning_planted.py

DRoP (Vysogorets et al., ICLR 2025, arXiv:2404.05579) finds that keeping the
rows of highest or lowest score makes classifiers more biased than keeping rows
at random, and mends it with quotas by class. Here half of the rows of the
embedded data, whose bias is known, are kept by GE and EL2N from either end, by
DRoP's quotas, by as many rows of each label and group, and at random; no twins
are added. (With two labels as frequent as each other PVI orders as EL2N.)

At these defaults (three seeds; 1,500 of 3,000 rows) most models say one label
of every row, and a constant predictor looks fair, so look at the accuracy:

  rows                 accuracy           DP                 AUC
  random               .500 (constant)    1.00               .552 [.474, .626]
  cells                .759 [.653, .841]  .991 [.934, 1.00]  .856 [.780, .907]
  low GE (vanilla_ge)  .708 [.618, .784]  .909 [.661, 1.00]  .789 [.682, .866]
  high GE              .500 (constant)    1.00               .516 [.480, .553]
  high EL2N            .501 [.484, .519]  .686 [.000, 1.00]  .505 [.449, .562]
  low EL2N             .500 [.469, .531]  1.00 (constant)    .577 [.532, .621]
  drop                 .500 (constant)    1.00               .559 [.507, .610]
  none (all rows)      .676 [.267, .921]  .781 [.307, 1.00]  .779 [.285, .969]

As many rows of each label and group are .259 [.165, .348] more accurate than as
many random ones (p .007 alone, .34 after Holm's correction over all), and rows
of low GE .208 [.126, .287] (p .009, .40); they are the only halves of which a
model learns here, at no loss of DP. Whether pruning by score makes a model less
fair, as in DRoP, is not decided: of rows ranked by error the models learn
nothing. At .3 of the rows and 8 epochs the same two lead (AUC .726 and .667),
and the rest is near chance.
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
