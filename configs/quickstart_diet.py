"""A healthy data diet on the embedded data, against what it should beat.

  python -m fairjax.main --config=configs/quickstart_diet.py

No download, and about a minute on two cores. A probe of two epochs scores 3,000
rows by GE; 40 % of them at random and the twins of the 40 % with the highest GE
train the model.
--config.diet.compare=none,cda,cds trains the other baselines too.

What its size decides, four times of five: with 20 seeds ±.1 and ±.11 of
demographic parity, ±.072 of AUC, ±.021 to ±.053 of the rows that seeds share.

Measured: configs/RESULTS.md, "Healthy data diet".
"""

from fairjax import config as c

PRIMARY = (  # the paper's own claims; all else is exploratory
  'healthy_random against unhealthy_random: dp on test',
  'healthy_random against none: dp on test',
  'healthy_random against none: auc on test above -0.03',
)


def get_config() -> c.Config:
  return c.Config(
    recipe='diet',
    model='nano',
    seeds=5,
    data=c.Data(name='planted'),
    planted=c.Planted(rows=3000, test_rows=1000),
    train=c.Train(lr=1e-3, epochs=4.0, batch=64, patience=0, warmup=0.1),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=2.0),
    diet=c.Diet(
      ranking='healthy_random',
      factual=0.4,
      counterfactual=0.4,
      compare=('unhealthy_random', 'none'),
    ),
    measures=c.Measures(primary=PRIMARY),
  )
