"""The summary on a terminal: what leads, within 80 columns."""

from fairjax.report import terminal
from fairjax.results import Results


def made(value, reach=0.01):
  return {'value': value, 'low': value - reach, 'high': value + reach}


def test_summary_of_little():
  assert terminal.summary(Results()) == '## run\n'
  one = Results(seeds=[7], contenders={'x': {'sets': {'t': {'rows': 1}}}})
  assert terminal.summary(one) == '## run · 1 seed\n\n### 1 row of t\n'


def test_claims_say_what_their_number_is():
  test = {'set': 't', 'ours': 'a', 'theirs': 'b', 'measure': 'dp'}
  test |= {'difference': made(0.1), 'p': 0.01, 'test': 'bootstrap'}
  claim = {'claim': 'c', 'verdict': 'holds', 'effect': made(1), 'bound': 0.0}
  claim |= {'what': 'x', 'side': 'above', 'test': 'y', 'p': None}
  primary = ['a against b: dp on t']
  found = Results(tests=[test], primary=primary, verdicts=[claim] * 3)
  joined = ' '.join(terminal.summary(found).split())
  assert (
    'holds a is above b in demographic parity on t: difference 0.100 [0.090, '
    '0.110], p 0.01' in joined
  )
  assert 'exploratory' not in joined  # they stand among the tests


def test_measures_of_crossed_groups_are_told_apart():
  """'demographic parity (gender × …' stood for three of them."""
  keys = [f'gender × age/{name}' for name in ('dp', 'eqodd', 'fned')]
  own = {'rows': 9, 'fairness': dict.fromkeys(keys, made(-0.1))}
  found = Results(recipe='audit', contenders={'m': {'sets': {'data': own}}})
  said = terminal.summary(found)
  assert all(f'({key})' in said for key in keys)
  assert max(map(len, said.split('\n'))) <= 80


def test_contenders_are_side_by_side_whatever_was_measured():
  """Names alone stood there of sets without a leading measure."""
  sets = lambda v: {
    'pairs': {'rows': 9, 'quality': {'self_bleu': made(v)}},
    'vectors': {'groups': {'work': {'weat_effect_words': made(v + 1)}}},
    'none': {'rows': 9},
  }
  contenders = {k: {'sets': sets(v)} for k, v in (('a', 0.25), ('b', 0.5))}
  contenders['c'] = {'sets': {'pairs': {'rows': 9}}}
  text = terminal.summary(Results(contenders=contenders))
  assert '0.250' in text.split('### pairs: contenders')[1].split('###')[0]
  side = text.split('### vectors: contenders')[1].split('###')[0]
  assert 'work/weat_effect_words' in side and '1.500' in side
  assert '| c ' not in side and '### none: contenders' not in text
