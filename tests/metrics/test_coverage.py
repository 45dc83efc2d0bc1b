"""Coverage of 95 % intervals and level of .05 tests, by simulation."""

import pytest
import simulate

# name: the world, its options, and what was wrong at 799487d.
WORLDS = {
  'a rate of .04 in 100 rows': (simulate.rate, {}),
  'AUC of .99': (simulate.ranking, {}),
  'AUC of .8 with 20 positives': (
    simulate.ranking,
    {'positives': 20, 'negatives': 180, 'auc': 0.8},
  ),
  'AUC of .95 with 20 positives': (
    simulate.ranking,
    {'positives': 20, 'negatives': 180, 'auc': 0.95},
  ),
  'two seeds that dominate': (simulate.seeded, {'seeds': 2}),
  'three seeds that dominate': (simulate.seeded, {'seeds': 3}),
  'five seeds that dominate': (simulate.seeded, {'seeds': 5}),
  'five seeds that do not matter': (
    simulate.seeded,
    {'seeds': 5, 'n': 400, 'effect': 0.0},
  ),
}


@pytest.mark.parametrize('name', WORLDS)
def test_coverage_roughly(name):
  """60 sets of each: Binomial(60, .95) is below 51 once in 300."""
  world, options = WORLDS[name]
  hits = simulate.coverage(world, 60, resamples=300, **options)
  assert all(hit > 0.84 for hit in hits.values()), hits
