"""Does pruning by score make a classifier less fair? Rankings without twins.

  python -m fairjax.main --config=configs/pruning_planted.py

DRoP (Vysogorets et al., ICLR 2025, arXiv:2404.05579) finds that it does, and
mends it with quotas by class. Half of the embedded rows are kept by GE and EL2N
from either end, by DRoP's quotas, by label and group, and at random.

Measured: configs/RESULTS.md, "Healthy data diet".
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
