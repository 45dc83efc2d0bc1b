"""The healthy data diet on news comments (Jigsaw): batches of 32, length 40.

  python -m fairjax.main --config=configs/ge_jigsaw.py

125,000 rows of Civil Comments, drawn by seed (the paper: the first 125,000), at
the paper's (a, b). Else as configs/ge_twitter.py; needs an accelerator.
"""

from fairjax import config as c


def get_config() -> c.Config:
  return c.Config(
    recipe='diet',
    model='bert-base-cased',
    seeds=5,
    data=c.Data(
      name='civil_comments/CivilCommentsIdentities',
      labels='>0.5',
      on_bad='drop',
      limit=125_000,
    ),
    tokens=c.Tokens(max_length=40),
    train=c.Train(lr=1e-6, batch=32, epochs=10.0, patience=3),
    measures=c.Measures(sets=('test', 'identity')),
    scoring=c.Scoring(names=('ge', 'el2n'), epochs=1.0),
    diet=c.Diet(factual=0.4, counterfactual=0.5, compare=('none',)),
  )
