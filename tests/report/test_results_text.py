"""What configs/RESULTS.md says of kept runs is what these runs measured."""

import ast
import json
import pathlib
import re

import pytest

from fairjax import main, recipes
from fairjax.config import Config
from fairjax.core import knobs
from fairjax.report import claims, verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = ROOT / 'configs'
TEXT = (CONFIGS / 'RESULTS.md').read_text(encoding='utf-8')
KEPT = sorted((CONFIGS / 'claims/results').glob('*/results.json'))
RUNS = {path.parent.name: json.loads(path.read_text('utf-8')) for path in KEPT}

ONE = r'[+-]?(?:\d{1,3}(?:,\d{3})+|\d*\.?\d+)'
INTERVAL = re.compile(rf'(?<![\w.])({ONE}) \[({ONE}), ({ONE})\]')
CELL = re.compile(rf'(?<![\w.])({ONE})(?: \[({ONE}), ({ONE})\])?')
# What a section of a kept run says that is of other runs, or not kept.
OTHERS = {
  'quickstart_diet': {  # five seeds: as it is, three times the rows, tiny
    *('.130 [.038, .237]', '.503 [.375, .621]', '.426 [.267, .602]'),
    *('.832 [.756, .888]', '.589 [.370, .778]', '.764 [.690, .824]'),
    *('.118 [.057, .190]', '.154 [.092, .222]', '.126 [.038, .233]'),
    '.537 [.458, .602]',
  },
  'fairberta_planted': {  # after 700 steps; another run of .5
    *('.13 [-.16, .42]', '.39 [.19, .58]'),
    *('.39 [.20, .58]', '.49 [.29, .69]'),
  },
  'fairtune_sst2': {  # its page's table by axis, which is not kept
    *('.022 [.015, .034]', '.022 [.016, .030]'),
    *('.043 [.020, .103]', '.026 [.004, .169]'),
  },
  'mbcda_planted': {  # of a pilot; word vectors, which are not kept
    *('.058 [-.041, .155]', '.25 [-.58, 1.01]', '-.41 [-1.16, .35]'),
    '-.30 [-.89, .29]',
  },
  'mbcda_beyond': {  # of a pilot
    *('.040 [.006, .074]', '.081 [.035, .127]', '.056 [-.001, .114]'),
  },
  'weighting_comments': {  # with a supplement
    *('-.0015 [-.0055, .0024]', '-.30 [-3.50, 2.96]', '1.47 [-.29, 3.54]'),
  },
  'weighting_tweets': {  # with another z
    *('.014 [-.049, .077]', '-.007 [-.089, .076]', '.014 [.002, .027]'),
  },
}

# Of each run's table the columns (a set and a measure, or a fact), and the
# contenders of rows whose labels are not their names, in the table's order.
TEST = ('test', 'auc'), ('test', 'dp'), ('test', 'eqodd')
GAPS = tuple(('classifier', f'group_{one}_size') for one in ('tprd', 'fprd'))
TRANSFER = ('texts', 'transfer_accuracy')
AT = ('fped', 'fned', 'fped at eer', 'fned at eer')
GENERATOR = 'BART on repaired, filtered'
WRITERS = [
  *(('original', 'original'), ('dictionary', 'dictionary')),
  ('without names', 'dictionary without names'),
  ('BART on filtered', GENERATOR),
  ('+ discriminator', f'{GENERATOR} + discriminator'),
]
TABLES = {
  'quickstart_diet': (TEST, None),
  'diet_tweets': (('total', TEST[0], ('identity', 'dp')), None),
  'weighting_planted': ((TEST[0], ('test', 'fped'), ('test', 'fned')), None),
  'weighting_comments': (
    (TEST[0], ('madlibs', 'auc'), *(('madlibs', one) for one in AT)),
    None,
  ),
  'weighting_tweets': (  # the other rows are differences
    (TEST[0], *(('identity', one) for one in AT)),
    [('baseline', 'baseline')],
  ),
  'fairflow_planted': (
    (TRANSFER, *GAPS, ('known twins', 'exact')),
    [
      *(('original', 'original'), ('dictionary', 'dictionary')),
      ('+ BART', 'dictionary + BART'),
      *(("flow's dictionary", 'flow'), ('+ BART', 'flow + BART')),
    ],
  ),
  'mbcda_planted': ((TRANSFER, *GAPS, ('classifier', 'accuracy')), WRITERS),
  'mbcda_beyond': (
    (
      ('known twins', 'unlisted_recall'),
      *(('known twins', 'changed_recall'), *GAPS),
    ),
    WRITERS[1:],
  ),
  'perturber_persons': (
    (('geco', 'exact'), ('gap', 'exact'), ('gap', 'places_all')),
    [
      *(('dictionary', 'dictionary'), ('word', 'word'), ('rules', 'rules')),
      ('tagger', 'perturber'),
    ],
  ),
  'fairtune_sst2': (
    (
      *(('test', 'accuracy'), ('perturbed by rules', 'different')),
      ('perturbed by dictionary', 'different'),
      ('perturbed by rules', 'floor'),
    ),
    None,
  ),
  'fairberta_planted': (
    tuple(
      (f'association {one}', measure)
      for one in ('0', '0.5', '0.8')
      for measure in ('winobias_log_odds', 'loss')
    ),
    [
      *(('nothing', '0 % perturbed'), ('half', '50 % perturbed')),
      ('all', '100 % perturbed'),
    ],
  ),
}
GLUE = {
  'CoLA': ('cola', 'mcc'),
  'RTE': ('rte', 'accuracy'),
  'SST-2': ('sst2', 'accuracy'),
  'mean': ('average', 'glue'),
}


def section(name):
  """The notes on a kept run; of its claims where there are others too."""
  mine = re.compile(rf'### `configs/(?:claims/)?{name}\.py`\n')
  both = [one for one in re.split(r'\n(?=##)', TEXT) if mine.match(one)]
  assert both, f'configs/RESULTS.md has no section for {name}'
  return next((one for one in both if 'claims/' in one[:30]), both[0])


def intervals(node):
  """Every estimate that has an interval."""
  if isinstance(node, dict):
    if node.keys() >= {'value', 'low', 'high'}:
      yield node['value'], node['low'], node['high']
    for inner in node.values():
      yield from intervals(inner)
  elif isinstance(node, list):
    for inner in node:
      yield from intervals(inner)


def rounded(said, number):
  """To the digits that it has; either way where both are as near."""
  reach = 0.5 * 10 ** -len(said.partition('.')[2]) * ('.' in said)
  return abs(float(said.replace(',', '')) - number) <= reach + 1e-9


def unknown(names, text):
  """The intervals in a text that none of these runs has, either way round."""
  known = {one for name in names for one in intervals(RUNS[name])}
  known = {one for one in known if None not in one}
  known |= {(-value, -high, -low) for value, low, high in known}
  found = INTERVAL.findall(re.sub(r'\s+', ' ', text))
  assert found
  return {
    '{} [{}, {}]'.format(*said)
    for said in found
    if not any(all(map(rounded, said, one)) for one in known)
  }


@pytest.mark.parametrize('name', sorted(RUNS))
def test_each_interval_of_a_kept_run_is_one_that_it_measured(name):
  assert not unknown([name], section(name)) - OTHERS.get(name, set())


def rows(name):
  """Label, contender and columns of each row of a kept run's table."""
  if name != 'fairtune_glue':
    columns, labels = TABLES[name]
    own = ((one, one) for one in RUNS[name]['contenders'])
    return [(*one, columns) for one in labels or own]
  asked = lambda task: f'{task}, perturbed by rules'
  return [
    (
      f'{label}, {contender}',
      contender,
      (own, (asked(own[0]), 'different'), (asked(own[0]), 'floor')),
    )
    for label, own in GLUE.items()
    for contender in ('original', 'fairtuned')
  ]


def measured(contender, column):
  facts = contender.get('facts') or {}
  if isinstance(column, str):
    return {'value': facts[column]} if column in facts else None
  found = contender['sets'].get(column[0], {})
  return (found.get('quality', {}) | found.get('fairness', {})).get(column[1])


@pytest.mark.parametrize('name', sorted(RUNS))
def test_each_row_of_a_kept_run_s_table_is_its_contender_s(name):
  lines = [
    line.strip() for line in section(name).splitlines() if line[:6] == ' ' * 6
  ]
  at = 0
  for label, contender, columns in rows(name):
    first = at if label.startswith('+') else 0  # of a row above
    at = next(
      (k for k in range(first, len(lines)) if lines[k].startswith(f'{label} ')),
      None,
    )
    assert at is not None, f'no row {label}'
    cells = CELL.findall(lines[at][len(label) :])
    assert cells, label
    for cell, column in zip(cells, columns):
      found = measured(RUNS[name]['contenders'][contender], column)
      if found is None:  # nothing to measure there, as of original texts
        continue
      for said, end in zip(cell, ('value', 'low', 'high')):
        assert not said or rounded(said, found[end]), (label, column, cell)


HEAD = ['what', 'theirs', 'ours', 'verdict', 'our size; theirs']
HEAD += ['command', 'hours']


def test_a_paper_s_table_has_the_intervals_and_hours_of_its_runs():
  hours = {
    path.parent.name: json.loads(path.read_text('utf-8'))['seconds'] / 3600
    for path in (CONFIGS / 'claims/results').glob('*/run.json')
  }
  seen = set()
  for paper in recipes.papers():
    authors = re.escape(paper.title.partition('(')[2])
    start = re.search(rf'^## .*{authors}$', TEXT, re.M).start()
    table = TEXT[start:].split('\n\n')[1].splitlines()
    cells = [[c.strip() for c in line.split('|')[1:-1]] for line in table]
    assert cells[0] == HEAD and len(cells) <= 10, paper.title
    command = ''
    for what, _, ours, *_, said, taken in cells[2:]:
      command = command if said == 'as above' else said
      kept = [n for n in re.findall(r'(\w+)\.py', command) if n in RUNS]
      if kept and INTERVAL.search(ours):
        assert not unknown(kept, ours), what
      if said != 'as above':
        for name in kept:
          assert f'{hours[name]:.2f}'.lstrip('0') in taken, (what, name)
      seen |= set(kept)
  assert seen == set(RUNS)


def test_what_would_decide_the_rest_is_as_the_claims_have_it():
  """Each undecided line's times and hours, in the order of CLAIMS.md."""
  want = {}
  for row in claims.rows([str(CONFIGS / 'claims/results')], recipes.papers()):
    if row['verdict'] == verdict.OPEN:
      run = row['command'].split()[0].partition('configs/')[2]
      of, hours = want.setdefault(run, ([], []))
      of += re.findall(r'takes (over \d+|[\d.]+) times', row['decides'])
      hours += re.findall(r'size, ([\d.,]+) h', row['decides'])
  (part,) = TEXT.split('\n## What would decide the rest\n')[1:]
  found = {}
  for line in part.split('\n## ')[0].splitlines():
    if line.startswith('| `'):
      run, _, named, times, hours, _ = line.strip('| ').split(' | ')
      found[run.strip('`')] = (
        times.split('; '),
        hours.partition(' (')[0].split('; '),
      )
      assert named.count(';') == times.count(';'), run
  assert found == want


# The flags of stated commands

FLAG = re.compile(
  r'--config\.([a-z_]+(?:\.[a-z_0-9]+)*)'
  r'=(\'[^\']*\'|"[^"]*"|\([^)]*\)|[^\s,;)`]*(?:,[^\s,;)`]+)*)'
)


def stated():
  """Place, leaf and value of each flag in the notes and the configs' heads."""
  texts = {name: (CONFIGS / name).read_text('utf-8') for name in NOTES}
  for path in sorted(CONFIGS.rglob('*.py')):
    tree = ast.parse(path.read_text('utf-8'))
    texts[str(path.relative_to(CONFIGS))] = ast.get_docstring(tree) or ''
  for name, text in texts.items():
    for found in FLAG.finditer(text):
      line = text.count('\n', 0, found.start()) + 1
      yield f'{name}:{line}', found[1], found[2].strip('\'"').rstrip('.:')


NOTES = ('RESULTS.md', 'MAP.md')


def test_each_flag_that_is_stated_is_one_of_today_s():
  leaves = {leaf.name: leaf for leaf in knobs.leaves(Config)}
  seen = 0
  for place, name, value in stated():
    assert name in leaves, (place, name)
    leaf = leaves[name]
    read = main.typed(name, leaf.type, value)
    if leaf.rule is not knobs.existing:
      one = read if leaf.type is str else ast.literal_eval(read)
      assert not leaf.rule(one), (place, name, value, leaf.rule(one))
    seen += 1
  assert seen > 300
