"""Findings: numbers and verdicts, corrected over what they were chosen from."""

import dataclasses
import json
import pathlib
import re

import numpy as np
import pytest
from golden import make_findings as golden

import fairjax
from fairjax import results
from fairjax.metrics import measures, warn
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference.sample import RowSample
from fairjax.report import findings, words
from fairjax.report.findings import ABOVE, BELOW, OPEN, SMALL, VOID

TESTS = pathlib.Path(__file__).parents[1]
FAIRJAX = pathlib.Path(fairjax.__file__).parent
KEPT = {path.stem: path for path in golden.KEPT}

# Snapshots of every kind of page; python tests/golden/make_findings.py
# writes them anew.


@pytest.mark.parametrize('name', KEPT)
def test_a_page_finds_what_it_found(name):
  whole = json.loads((TESTS / 'golden/findings.json').read_text('utf-8'))
  assert golden.found(KEPT[name]) == whole[name]


@pytest.mark.parametrize('name', KEPT)
def test_a_first_screen_is_as_it_was(name):
  shown = golden.screen(KEPT[name])
  kept = TESTS / f'golden/screens/{name}.txt'
  assert shown == kept.read_text('utf-8')
  assert re.search(r'\d', shown)
  assert not re.search(r'(?<!\w)(/[\w.-]+){2,}', shown)  # no path from the root


def interval(value, low, high, **more):
  return {'value': value, 'low': low, 'high': high, **more}


def around(value, reach=0.05, **more):
  return interval(value, value - reach, value + reach, **more)


# Gaps


def three_gaps(p, at_floor=False):
  """Of three attributes: the largest gap ends above 0 at 95 % by itself."""
  fairness = {
    f'{name}/eqopp0': interval(value, value - 0.1, high, p=own)
    for name, value, high, own in zip(
      *(('gender', 'race', 'age'), (0.88, 0.95, 0.97), (0.99, 1.0, 1.0)),
      (p, 0.4, 0.7),
    )
  }
  fairness['gender/eqopp0']['p_at_floor'] = at_floor
  groups = {
    f'{name}: {side}': {'fpr': around(v)}
    for name in ('gender', 'race', 'age')
    for side, v in (('a', 0.1), ('b', 0.2))
  }
  return {'fairness': fairness, 'groups': groups}


@pytest.mark.parametrize(
  'p, verdict', [(0.03, OPEN), (0.05 / 3, ABOVE), (0.004, ABOVE)]
)
def test_the_gap_that_leads_is_corrected_over_all(p, verdict):
  lead = findings.leading(findings.gaps(three_gaps(p), 0.95))[0]
  assert lead.measure == 'gender/eqopp0' and lead.family == 3
  assert lead.adjusted == pytest.approx(3 * p) and lead.verdict == verdict
  (light,) = words.lights([lead])
  assert light.state == {ABOVE: 'bad', OPEN: 'unsure'}[verdict]


@pytest.mark.parametrize('level', [0.9, 0.95, 0.99])
def test_a_gap_of_the_level_is_more_than_chance(level):
  """1 − .9 is .09999999999999998, which .1 is not below."""
  lead = lambda p: findings.leading(findings.gaps(three_gaps(p), level))[0]
  assert lead((1 - level) / 3).verdict == ABOVE
  assert lead(0.11 / 3).verdict == OPEN


def test_the_gap_that_the_evidence_supports_most_leads():
  """16 negatives of 63 rows led a page whose other gap stood on 1,400."""
  fairness = {
    'few/eqopp0': interval(0.4, 0.1, 0.97, p=0.01),
    'many/eqopp0': interval(0.7, 0.65, 0.75, p=0.001),
    'none/eqopp0': interval(0.3, 0.0, 1.0, p=0.3),
  }
  groups = {
    f'{name}: {side}': {'fpr': around(v)}
    for name in ('few', 'many', 'none')
    for side, v in (('a', 0.1), ('b', 0.5))
  }
  one = {'fairness': fairness, 'groups': groups}
  lead = lambda: findings.leading(findings.gaps(one, 0.95))[0].measure
  assert lead() == 'many/eqopp0'
  del fairness['many/eqopp0']
  assert lead() == 'few/eqopp0'
  fairness['many/eqopp0'] = interval(0.7, 0.65, 0.75, p=0.001)
  groups['few: a'] |= {'rows': 63, 'base_rate': around(47 / 63)}
  fairness['few/eqopp0'] |= {'high': 0.2}  # a larger lower end, of 16 rows
  assert lead() == 'many/eqopp0'
  del fairness['many/eqopp0']
  fairness['few/eqopp0'] |= {'p': 0.2}  # none is sure: the least p
  assert lead() == 'few/eqopp0'


@pytest.mark.parametrize('base', [0.6, 0.4, 0.3])
def test_a_gap_that_labels_have_is_no_red_light(base):
  of = lambda rate, own: {'selection_rate': rate, 'base_rate': around(own)}
  groups = {'a': of(around(0.6), base), 'b': of(around(0.3), 0.3)}
  own = {'fairness': {'dp': around(0.7)}, 'groups': groups}
  (one,) = findings.gaps(own, 0.95)
  assert words.lights([one])[0].state == ('unsure' if base == 0.6 else 'bad')
  more = f'; their labels differ by {100 * base - 30:.0f} points'
  said = words.sentence(results.Results(), one)
  assert said.endswith(f'more than chance{more if base > 0.3 else ""}.')


def test_fair_models_are_called_unfair_as_often_as_agreed():
  """Three attributes, no gap in any: .05 of models are called unfair."""
  rng, said, single = np.random.default_rng(0), 0, 0
  kinds = ['gender', 'race', 'age']
  for _ in range(60):
    labels = rng.integers(0, 2, 300)
    scores = (rng.random((1, 300)) < 0.3 + 0.3 * labels) * 0.8 + 0.1
    columns = rng.integers(0, 2, (3, 300))
    one = assess(
      labels,
      scores,
      of_columns(dict(zip(kinds, columns))),
      options=RowSample(0.95, 300),
    )
    found = findings.gaps(one, 0.95)
    said += findings.leading(found)[0].verdict == ABOVE
    single += any(f.estimate['low'] > 0 for f in found)
  assert said <= 8 and said <= single


def test_seeds_that_differ_in_who_is_ahead_are_averaged():
  """Means of .5 and .5 are no gap of 20 points, and each seed has one."""
  labels = np.zeros(200, int)
  groups = of_columns({'group': [*'ab'] * 100})
  ranks = (np.arange(200) // 2) / 100
  ahead = ranks < np.tile([0.6, 0.4], 100)
  behind = ranks < np.tile([0.4, 0.6], 100)
  seeded = 'Averaged over seeds, the', 'The', 'The'
  for seeds, start in zip(([ahead, behind], [ahead, ahead], [ahead]), seeded):
    scores, options = np.array(seeds, float), RowSample(0.95, 50)
    one = assess(labels, scores, groups, options=options)
    found = results.Results(contenders={'m': {'sets': {'d': one}}})
    assert f'{start} gap is 20 points' in words.lines(found)[0]


def test_the_worst_class_is_of_groups_that_count_in_its_gap():
  """Of three classes too a group of few rows is in no gap, and in one line."""
  rng = np.random.default_rng(0)
  group = np.array(['a'] * 140 + ['b'] * 155 + ['tiny'] * 9)
  y = rng.integers(0, 3, 304)
  right = (rng.random(304) < 0.75) & (group != 'tiny')
  chances = np.eye(3)[np.where(right, y, (y + 1) % 3)]
  found = fairjax.assess(y, chances, groups=group, n_resamples=100)
  one = found.results.sets['data']
  gap = findings.leading(findings.gaps(one, 0.95))[0]
  assert {*gap.groups} == {'a', 'b'}
  high, low = (gap.beside['rates'][g] for g in gap.groups)
  assert high - low == pytest.approx(gap.estimate['value'])
  assert sum("'tiny' (9, fewer" in line for line in found.warnings) == 1
  (rank,) = findings.quality('', 'data', one)
  assert rank.beside['constant'] == np.bincount(y).max() / 304


# Contenders


def contest(ours, theirs, value, p=0.01, measure='dp', name='b', at='d'):
  return {
    **{'ours': ours, 'theirs': theirs, 'set': at, 'measure': measure},
    **{'test': name, 'difference': around(value), 'p': p},
  }


def test_contenders_are_compared_as_one_family():
  """Of the tests of a run a page takes one for each rival, and corrects."""
  one = results.Results(
    focus='mine',
    contenders={name: {'sets': {'d': {}}} for name in ('mine', 'a', 'b', 'c')},
    tests=[
      contest('mine', 'a', 0.2),
      contest('b', 'mine', 0.3),  # read from the other side
      contest('mine', 'c', 0.052, 0.04),  # alone it would be fairer
      contest('a', 'b', 0.4),
      contest('mine', 'a', -0.6, measure='auc'),
      contest('mine', 'a', -0.7, name='t-test over seeds'),
      contest('mine', 'd', -0.8, at='another set'),
    ],
  )
  found = findings.contests(one, 'd')
  each = [(f.comparison, f.verdict, f.adjusted, f.family) for f in found]
  held = (ABOVE, BELOW, OPEN), (0.03, 0.03, 0.04), (3, 3, 3)
  assert each == [*zip('abc', *held)]
  assert found[0].estimate['low'] < 0.15 < 0.25 < found[0].estimate['high']
  # An interval beside 0 alone decides nothing, and the sentence says so.
  last = dataclasses.replace(found[2], estimate=interval(0.05, 0.01, 0.09))
  why = 'undecided as one of 3 comparisons (p = 0.04, Holm).'
  assert words.sentence(one, last).endswith(f'5 points [1, 9], {why}')
  alike = {'d': {'fairness': {'dp': around(1.0, note=warn.CONSTANT)}}}
  one.contenders['b'] = {'sets': alike}  # no contest with a constant answer
  again = {f.comparison: f.verdict for f in findings.contests(one, 'd')}
  assert again == {'a': ABOVE, 'b': VOID, 'c': OPEN}


def test_simultaneous_intervals_hold_together():
  """Of three estimates all are held as often as the level says."""
  rng = np.random.default_rng(1)
  draws = rng.normal(0, 1, (4000, 3))
  one, line = interval(0.0, -1.96, 1.96), measures.bounds('')
  wide = findings.simultaneous(one, 0.95, 3, line)
  assert np.mean((np.abs(draws) < wide['high']).all(1)) > 0.945
  assert wide['high'] == pytest.approx(2.394, abs=0.01)
  few = findings.simultaneous(one, 0.95, 3, line, seeds=4)['high']
  assert few > wide['high']  # Student's tails are longer
  one = interval(0.9, 0.01, 0.99)
  assert findings.simultaneous(one, 0.95, 6, measures.apart('auc')) == {
    **{**one, 'low': pytest.approx(-0.298, abs=0.01), 'high': 1.0}
  }
  assert findings.simultaneous(one, 0.95, 1, line) == one
  assert measures.apart('mcc') == (-2.0, 2.0)


def test_a_race_is_corrected_over_its_rivals():
  """The lead said 90 of 100 without an interval, above a race that it loses."""
  each = {'flow': around(0.4), 'map': around(0.6), 'shift': around(0.5)}
  apart = interval(-0.2, -0.3, -0.1), interval(-0.1, -0.2, -0.001)
  test = lambda theirs, one, p: contest('', theirs, 0, p) | {'difference': one}
  tests = [test('map', apart[0], 0.001), test('shift', apart[1], 0.045)]
  found = findings.against_first(tests, 0.95)
  assert found == {'map': BELOW, 'shift': OPEN}
  said = words.ranking(each, tests, 0.95)
  assert said.startswith('Map scores highest: 60 of 100 [55, 65].')
  assert 'flow is below map.' in said and 'difference to shift.' in said
  alone = words.ranking({'flow': around(0.4)}, [], 0.95)
  assert alone == 'Flow scores highest: 40 of 100 [35, 45].'


# Flips and quality

NONE, MORE, SAME, LESS = (None, around(0.1), around(0.01), around(-0.2))


@pytest.mark.parametrize(
  'flips, excess, verdict',
  [
    *((around(0.2), MORE, ABOVE), (around(0.2), SAME, OPEN)),
    *((around(0.2), LESS, BELOW), (around(0.2), NONE, ABOVE)),
    # Across the bound it is undecided, with a control or without one.
    *((around(0.04), NONE, OPEN), (around(0.04), MORE, OPEN)),
    *((around(0.01, 0.009), NONE, SMALL), (around(0.01, 0.009), MORE, SMALL)),
    (around(0.2, note=warn.CONSTANT), MORE, VOID),
    (around(0.2, fits=False), MORE, VOID),
  ],
)
def test_flips_are_held_against_their_bound_and_control(flips, excess, verdict):
  fairness = {'flips': flips} | ({'excess_flips': excess} if excess else {})
  one = {'fairness': fairness}
  found = results.Results(contenders={'m': {'sets': {'d': one}}})
  (flip,) = findings.flips(found, 'd', one)
  assert flip.verdict == verdict
  light = words.lights([flip])
  state = {ABOVE: 'bad', OPEN: 'unsure', VOID: 'unsure'}.get(verdict, 'good')
  assert [one.state for one in light] == [state] * flips.get('fits', True)
  said = ' '.join([*words.lines(found), *(one.words for one in light)])
  assert ('matched edit' in said) <= bool(excess)


@pytest.mark.parametrize(
  'auc, verdict, state',
  [
    *((around(0.9), ABOVE, 'good'), (around(0.7), OPEN, 'unsure')),
    *((around(0.5), VOID, 'bad'), (around(0.3), BELOW, 'bad')),
    *(({'value': 0.3}, VOID, 'unsure'), ({'value': 0.9}, VOID, 'unsure')),
  ],
)
def test_quality_is_by_its_interval(auc, verdict, state):
  quality = {'auc': auc, 'accuracy': around(0.51), 'base_rate': around(0.32)}
  (one,) = findings.quality('', 'd', {'quality': quality})
  assert one.verdict == verdict
  assert one.beside['constant'] == pytest.approx(0.68)
  (light,) = words.lights([one])
  assert light.state == state
  assert 'right in 51 of 100, a constant answer in 68' in light.words


# Benchmarks


def test_scores_are_corrected_over_all_that_are_said():
  one = lambda high: {'fairness': {'crows_original': around(60, high, null=50)}}
  sets = {'crows': one(9.5), 'stereoset': one(9.5), 'other': one(20)}
  found = findings.scores(results.Results(contenders={'m': {'sets': sets}}))
  assert [f.verdict for f in found] == [OPEN] * 3 and found[0].family == 3
  alone = results.Results(contenders={'m': {'sets': {'crows': one(9.5)}}})
  assert findings.scores(alone)[0].verdict == ABOVE
  forms = {'crows_aul': around(50, 1, null=50), 'crows_aula': around(51, 1)}
  alone.contenders['m']['sets']['crows']['fairness'] |= forms
  said = words.lines(alone)[0]
  assert 'chance; other ways of scoring give 50 to 51).' in said


def test_a_log_is_said_as_what_it_is_the_log_of():
  odds = interval(0.6931472, 0.5, 0.9, null=0.0, of=['rural', 'urban <b>'])
  sets = {'twins': {'fairness': {'twins_log_odds': odds}}}
  found = results.Results(model='gpt2', contenders={'gpt2': {'sets': sets}})
  said = words.lines(found)[0]
  assert 'rural version is 2 [1.6, 2.5] times as likely as its urban' in said
  assert '(no preference gives 1; more than chance)' in said


# One home


APART = re.compile(r'""".*?"""|#.*?$', re.S | re.M)
SAID = re.compile(
  r"fairer than|no detectable difference|'undecided|'holds'|does not hold'"
  r'|more than chance[.;\']|indistinguishable from chance|ranks (better|well)',
  re.IGNORECASE,
)


def test_a_verdict_is_worded_in_one_module():
  """Claims of papers and conditions of gates name theirs before a run."""
  others = {
    str(path.relative_to(FAIRJAX))
    for path in [*FAIRJAX.rglob('*.py'), *FAIRJAX.rglob('templates/*')]
    if SAID.search(APART.sub('', path.read_text('utf-8')))
  }
  named = {'metrics/gate.py'}
  homes = {'report/words.py', 'report/templates/words.txt'}
  assert others - named == homes


BY_NAME = re.compile(r"recipe\b.{0,12}(==|!=|\bin\b) [\[({]?['\"]")


def test_shared_rooms_know_no_recipe_by_name():
  """What they ask of one is a field of its row (recipes/__init__.py)."""
  known = {
    path.relative_to(FAIRJAX).parts[0]
    for path in FAIRJAX.rglob('*.py')
    if BY_NAME.search(path.read_text('utf-8'))
  }
  assert known <= {'recipes'}
