"""Intervals and p values are made in one room; nobody opens a second one.

Read from the syntax: a quantile of draws, a quantile of a distribution, an
exact interval or a bootstrap's weights outside of the modules of the room.
"""

import ast
import pathlib
import re

import fairjax

HOUSE = pathlib.Path(fairjax.__file__).parent
ROOM = {
  f'metrics/inference/{name}.py'
  for name in (
    *('clustered_rates', 'clusters', 'estimates', 'intervals'),
    *('ratios', 'resampling', 'sample', 'significance', 'tails'),
  )
}
# Calls that make the end of an interval or a p, whatever they are called on.
MAKERS = {
  *('quantile', 'percentile', 'nanquantile', 'nanpercentile', 'ppf', 'isf'),
  *('proportion_ci', 'confidence_interval', 'interval', 'bootstrap'),
  *('stdtrit', 'ndtri', 'btdtri', 'betaincinv', 'gammaincinv'),
  *('bdtr', 'bdtrc', 'bdtri', 'fdtr', 'gdtr', 'pdtr'),
  *('sf', 'cdf', 'stdtr', 'ndtr', 'chdtrc', 'fdtrc', 'betainc', 'erfc'),
  *('binomtest', 'fisher_exact', 'mannwhitneyu', 'wilcoxon', 'ttest_rel'),
  *('ttest_ind', 'ttest_1samp', 'permutation_test', 'chi2_contingency'),
}
NUMBERS = {1.96, 1.959964, 1.645, 2.576}
# What describes data, or is not about a sample.
BESIDES = {
  'metrics/texts/flips.py': 'quantiles of changes, which are shown as such',
  'recipes/audit/measure.py': 'bands of words of a text',
  'data/tables/audit_table.py': 'bands of a column',
  'data/batching/batches.py': 'a width that most texts have',
  'methods/reweight.py': 'quantiles of weights, which are shown as such',
  'methods/supplement.py': 'bins of lengths',
  'metrics/thresholds.py': 'which thresholds are tried',
}


def share_of_draws(node: ast.AST) -> bool:
  """(1 + x) / (1 + y): the p of a value among draws."""
  one_more = lambda part: (
    isinstance(part, ast.BinOp)
    and isinstance(part.op, ast.Add)
    and 1 in [getattr(side, 'value', 0) for side in (part.left, part.right)]
  )
  return (
    isinstance(node, ast.BinOp)
    and isinstance(node.op, ast.Div)
    and one_more(node.left)
    and one_more(node.right)
    and isinstance(node.left.left, ast.Constant)
  )


def makers(source: str) -> set[str]:
  """What of MAKERS and NUMBERS a module has."""
  found = set()
  for node in ast.walk(ast.parse(source)):
    if isinstance(node, ast.Call):
      name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
      of = getattr(getattr(node.func, 'value', None), 'id', '')
      ours = of in ('association', 'tables', 'resampling', 'tails')
      if name in MAKERS and not ours:
        found.add(name)
      if name == '_replace' and 'cluster' in [k.arg for k in node.keywords]:
        found.add('cluster=')  # uncounted: RowSample.over
    if isinstance(node, ast.Attribute) and node.attr == 'pvalue':
      found.add('pvalue')
    if share_of_draws(node):
      found.add('(1 + draws) / (1 + draws)')
    if isinstance(node, ast.Constant) and node.value in NUMBERS:
      found.add(str(node.value))
  return found


def test_what_opens_a_door_is_found():
  assert makers('import numpy as np\nlow = np.quantile(draws, 0.025)')
  assert makers('from scipy import stats\nx = stats.t.ppf(0.975, 3)')
  assert makers('low = mean - 1.96 * error')
  assert makers('p = 2 * stats.t.sf(abs(t), 3)')
  assert makers('p = stats.spearmanr(x, y).pvalue')
  assert makers('how = options._replace(cluster=code, weight=weight)')
  assert makers('p = (1 + (draws > value).sum()) / (1 + len(draws))')
  assert not makers('clusters.mean(values, None, options)')
  assert not makers('share = (hits + 1) / (count + 2)')


def test_intervals_are_made_in_one_room():
  others = {}
  for path in sorted(HOUSE.rglob('*.py')):
    name = path.relative_to(HOUSE).as_posix()
    found = makers(path.read_text())
    if any(map(name.startswith, BESIDES)):
      found &= {'cluster='}
    if found and name not in ROOM:
      others[name] = found
  assert not others, others


def test_what_is_besides_is_in_use():
  for name in BESIDES:
    files = HOUSE.glob(f'{name}**/*.py' if name.endswith('/') else name)
    assert any(makers(path.read_text()) for path in files), name


def test_columns_of_probabilities_are_read_in_one_place():
  """Five modules each had a pattern of p0, p1_c0, …"""
  column = re.compile(r"'p\\d|c\[:1\] == 'p'|f'p\{\w+\}_c")
  homes = {
    path.relative_to(HOUSE).as_posix()
    for path in HOUSE.rglob('*.py')
    if column.search(path.read_text())
  }
  # Which of a user's columns may be some; and who writes them.
  besides = {'stages/audited.py', 'stages/assessment.py'}
  assert homes - besides == {'data/tables/answers.py'}
