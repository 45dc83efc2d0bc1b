"""Intervals and p values are made in one room; nobody opens a second one.

Read from the syntax: a quantile of draws, a quantile of a distribution, an
exact interval or a bootstrap's weights outside of the modules of the room.
"""

import ast
import pathlib

import fairjax

HOUSE = pathlib.Path(fairjax.__file__).parent
ROOM = {
  f'metrics/inference/{name}.py'
  for name in (
    *('clustered_rates', 'clusters', 'estimates', 'intervals'),
    *('ratios', 'resampling', 'significance', 'tails'),
  )
}
# Calls that make the end of an interval, whatever they are called on.
MAKERS = {
  *('quantile', 'percentile', 'nanquantile', 'nanpercentile', 'ppf', 'isf'),
  *('proportion_ci', 'confidence_interval', 'interval', 'bootstrap'),
  *('stdtrit', 'ndtri', 'btdtri', 'betaincinv', 'gammaincinv'),
  *('t_ppf', 'beta_ppf', 'wilson'),
}
# Calls that make a p.
TESTS = {
  *('t_sf', 'fisher', 'hypergeometric_sf', 'stdtr'),
  *('sf', 'ttest_ind', 'ttest_rel', 'ttest_1samp', 'ttest_ind_from_stats'),
  *('binomtest', 'binom_test', 'fisher_exact', 'chi2_contingency', 'mcnemar'),
  *('wilcoxon', 'mannwhitneyu', 'permutation_test', 'ks_2samp', 'kruskal'),
}
NUMBERS = {1.96, 1.959964, 1.645, 2.576}
# What describes data, or is not about a sample; and what is left to move.
BESIDES = {
  'bench/': 'times of runs',
  'metrics/texts/flips.py': 'quantiles of changes, which are shown as such',
  'recipes/audit/measure.py': 'bands of words of a text',
  'data/tables/audit_table.py': 'bands of a column',
  'data/batching/batches.py': 'a width that most texts have',
  'methods/reweight.py': 'quantiles of weights, which are shown as such',
  'methods/supplement.py': 'bins of lengths',
  'metrics/thresholds.py': 'which thresholds are tried',
}
# Exact tests of one kind of data, each in one place.
TESTED = {
  'benchmarks/holistic.py': 'Mann and Whitney over templates',
  'methods/inlp.py': 'whether a direction is worth its taking: no p is shown',
  'metrics/contrasts.py': "Fisher's, where no resample is as far off",
  'metrics/slices.py': 'the hypergeometric, of errors inside a slice',
  'metrics/texts/fairscore.py': "McNemar's of two models",
}
# Other rooms' own intervals, each with the form that it has.
KNOWN = {
  'benchmarks/shared/association.py': 'a floor of shuffled words',
  'benchmarks/shared/result_rows.py': 'a floor of coin tosses',
  'pairs/sheet.py': "Clopper and Pearson's of a share",
  'recipes/fairflow/flow_training.py': "Wilson's interval of a share",
}


def makers(source: str) -> set[str]:
  """What of MAKERS and NUMBERS a module has."""
  found = set()
  for node in ast.walk(ast.parse(source)):
    if isinstance(node, ast.Call):
      name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
      if name in MAKERS | TESTS and getattr(
        getattr(node.func, 'value', None), 'id', ''
      ) not in ('association', 'tables'):
        found.add(name)
    if isinstance(node, ast.Constant) and node.value in NUMBERS:
      if isinstance(node.value, float):
        found.add(str(node.value))
  return found


def test_what_opens_a_door_is_found():
  assert makers('import numpy as np\nlow = np.quantile(draws, 0.025)')
  assert makers('from scipy import stats\nx = stats.t.ppf(0.975, 3)')
  assert makers('low = mean - 1.96 * error')
  assert makers('p = 2 * stats.norm.sf(abs(z))')
  assert not makers('clusters.mean(values, None, options)')


def test_intervals_are_made_in_one_room():
  others = {}
  for path in sorted(HOUSE.rglob('*.py')):
    name = path.relative_to(HOUSE).as_posix()
    if name in ROOM or any(name.startswith(one) for one in (*BESIDES, *KNOWN)):
      continue
    found = makers(path.read_text()) - (TESTS if name in TESTED else set())
    if found:
      others[name] = found
  assert not others, others


def test_the_list_of_exceptions_is_short_and_in_use():
  for name in KNOWN:
    assert makers((HOUSE / name).read_text()) - TESTS, name
  for name in TESTED:
    assert makers((HOUSE / name).read_text()) & TESTS, name
