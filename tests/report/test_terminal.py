"""The summary on a terminal: every part, within 80 columns."""

from fairjax import results
from fairjax.report import terminal, verdict
from fairjax.results import Results

NAMES = ('healthy_random', 'unhealthy_random', 'none', 'cda')


def made(value, reach=0.01):
  return {'value': value, 'low': value - reach, 'high': value + reach}


def widest(text):
  return max(map(len, text.split('\n')))


def test_summary_holds_every_part(run_folder):
  text = terminal.summary(results.read(run_folder))
  for part in (
    '## planted · mini · 5 seeds',
    '### test: 1,000 rows, threshold 0.5',
    '### templates: 2,000 rows',
    '0.879 [0.868, 0.890]',
    '(1) no positive rows',
    '- templates: group nobody has 12 rows',
    '### test: differences to none',
    '- A note of the recipe',
  ):
    assert part in text
  assert widest(text) <= 80
  assert text.index(' auc ') < text.index(' accuracy ')


def test_summary_of_little():
  assert terminal.summary(Results()) == '## run\n'
  one = Results(seeds=[7], contenders={'x': {'sets': {'t': {'rows': 1}}}})
  assert '## run · 1 seed\n\n### t: 1 row\n' in terminal.summary(one)


def test_an_audit_answers_first_and_has_one_table():
  by_group = {
    g: {'rows': 50, 'fpr': made(v)} for g, v in (('f', 0.3), ('m', 0))
  }
  sets = {
    'data': {
      'rows': 100,
      'quality': {'auc': made(0.8), 'fpr': made(0.1), 'f1': made(0.7)},
      'fairness': {'dp': made(0.7), 'eqopp0': made(0.7), 'flips': made(0.1)},
      'groups': by_group,
    }
  }
  one = Results(recipe='audit', contenders={'x': {'sets': sets}})
  one.notes, one.facts = ['A note.'], {'gate': 'passed', 'gate, rule': 'dp<.5'}
  text = terminal.summary(one)
  answer, table = (
    text.index('Of 100 texts about women'),
    text.index('| measure'),
  )
  assert answer < table < text.index('A note.')
  assert text.count('\n| ---') == 1 and widest(text) <= 80
  assert '| fpr' not in text and 'gate: passed' in text
  kinds = 'abcdefghi'  # of one kind is one line
  sets['data']['warnings'] = [f'warning {kind}' for kind in kinds]
  short = terminal.summary(one)
  assert 'warning f' in short and '3 more on the page' in short
  one.contenders['y'] = {'sets': sets}
  both = terminal.summary(one)
  assert '| y ' in both and 'gate: passed' in both and widest(both) <= 80


def found(pairs):
  keys = ('auc', 'accuracy', 'dp', 'eqodd', 'eqopp1')
  quality = {key: made(0.8) for key in keys[:2]}
  fairness = {key: made(0.7) for key in keys[2:]}
  sets = {'test': {'rows': 9, 'quality': quality, 'fairness': fairness}}
  tests = [
    {
      'set': 'test',
      'measure': key,
      'ours': ours,
      'theirs': theirs,
      'difference': made(-0.123),
      'p': p,
      'test': name,
    }
    for ours, theirs in pairs
    for name, p in (
      ('paired permutation over examples', 0.01),
      ('independent t-test over seeds', 0.0002),
    )
    for key in keys
  ]
  return Results(contenders={n: {'sets': sets} for n in NAMES}, tests=tests)


def test_a_test_is_one_row_of_80_columns():
  one = [('healthy_random', name) for name in NAMES[1:]]
  for pairs, head in (
    (one, 'test: healthy_random minus the others'),
    ([(name, 'none') for name in NAMES[:2]], 'test: differences to none'),
    ([*one, ('cda', 'none')], 'test: cda minus the others'),
  ):
    text = terminal.summary(found(pairs))
    assert widest(text) <= 80
    (block,) = [b for b in text.split('### ') if b.startswith(head + '\n')]
    rows = [line for line in block.split('\n') if ' dp ' in line]
    count = {3: 3, 2: 2, 4: 1}[len(pairs)]
    assert len(rows) == count
    for row in rows:  # whole: who, what, how much, both p values
      assert '-0.123 [-0.133, -0.113]' in row
      assert '0.01 ' in row and '0.0002 ' in row
      assert any(name in row for name in NAMES)


def test_many_tests_are_those_with_pictures():
  pairs = [(f'm{k}', 'none') for k in range(12)]
  text = terminal.summary(found(pairs))
  block = text.split('differences to none')[1]
  assert block.count(' dp ') == block.count(' auc ') == 12
  assert ' eqodd ' not in block


def test_a_claim_says_what_its_number_is():
  claims = verdict.at_most_half('healthy_random', 432, 'cda', 1000)
  claims.append(verdict.claim('a is above b in dp', made(0.1), 0.0, 't', 0.01))
  text = terminal.summary(Results(verdicts=claims))
  joined = ' '.join(text.split())
  assert (
    'holds healthy_random takes at most half the rows of cda: 432 of 1,000 '
    'rows, a share of 0.432, to be at most 0.5' in joined
  )
  assert (
    'exploratory a is above b in dp: difference 0.100 [0.090, 0.110], p 0.01'
    in joined
  )
  assert widest(text) <= 80


def test_bounds_and_corrections_of_p_and_what_chance_gives():
  given = found([('cda', 'none')])
  given.tests = given.tests[:5]
  given.tests[2] |= {'p': 0.001, 'p_at_floor': True, 'p_adjusted': 0.005}
  given.focus = 'cda'
  sets = given.contenders['cda']['sets']['test']
  sets['fairness'] = {'dp': made(0.7) | {'null': 0.97}}
  rows = [
    ' '.join(line.split()) for line in terminal.summary(given).split('\n')
  ]
  assert '| cda | dp | -0.123 [-0.133, -0.113] | ≤ 0.001 | ≤ 0.005 |' in rows
  assert '| dp | 0.700 [0.690, 0.710] | 0.970 |' in rows


def test_measures_of_crossed_groups_are_told_apart():
  """'demographic parity (gender × …' stood for three of them."""
  one = {
    'value': -0.1,
    'low': -0.8,
    'high': -0.05,
    'note': 'constant predictor',
  }
  keys = [f'gender × age/{name}' for name in ('dp', 'eqodd', 'fned')]
  own = {'rows': 9, 'quality': {}, 'fairness': dict.fromkeys(keys, one)}
  found = results.Results(
    recipe='audit',
    contenders={'m': {'sets': {'data': own}}},
    focus='m',
  )
  said = terminal.summary(found)
  assert all(f'({key})' in said for key in keys), said
  assert max(map(len, said.splitlines())) <= 80


def test_a_set_lists_those_alone_that_it_has():
  """FairFlow's ways have known words, and its rewriters have texts."""
  one = lambda name, key: {'sets': {name: {'quality': {key: made(0.5)}}}}
  found = Results(
    contenders={
      'flow': one('known words', 'top_vote'),
      'original': one('texts', 'transfer_accuracy'),
      'dictionary': one('texts', 'transfer_accuracy'),
    }
  )
  words, texts = terminal.summary(found).split('### texts: contenders')
  assert '| flow' in words and '| original' not in words
  assert '| original' in texts and '| flow' not in texts


def many(name, measures, others):
  return [
    {
      **{'set': name, 'ours': 'new', 'theirs': f'old {k}', 'measure': measure},
      **{'difference': made(0.1), 'p': 0.01, 'test': 't'},
    }
    for k in range(others)
    for measure in measures
  ]


def test_a_long_table_of_tests_is_never_empty():
  """Of 48 tests of measures without a picture none was shown."""
  apart = ('group_tprd_size', 'group_fprd', 'content_tprd', 'tprd')
  for measures_, shown in (
    (apart, 12),
    (('attribute_agreement', 'label_kept'), 40),
  ):
    rows = many('c', measures_, 48 // len(measures_))
    text = terminal.summary(Results(tests=rows))
    assert '(no rows)' not in text and widest(text) <= 80
    table = text.split('### c: ')[1]
    lines = [one for one in table.splitlines() if one.startswith('| old ')]
    per = {one.split('|')[2].strip() for one in lines}
    assert len(lines) >= shown and per <= {*measures_}
    assert 'more rows are on the page' in text
  assert 'more rows' not in terminal.summary(Results(tests=many('c', apart, 2)))


def test_contenders_are_side_by_side_whatever_was_measured():
  """Names alone stood there of sets without a leading measure."""
  sets = lambda v: {
    'pairs': {'rows': 9, 'quality': {'attribute_agreement': made(v)}},
    'vectors': {'groups': {'work': {'weat_effect_words': made(v + 1)}}},
    'none': {'rows': 9},
  }
  contenders = {k: {'sets': sets(v)} for k, v in (('a', 0.25), ('b', 0.5))}
  text = terminal.summary(Results(contenders=contenders))
  assert '0.250' in text.split('### pairs: contenders')[1].split('###')[0]
  side = text.split('### vectors: contenders')[1].split('###')[0]
  assert 'work/weat_effect_words' in side and '1.500' in side
  assert '### none: contenders' not in text
