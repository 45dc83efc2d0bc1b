"""The first screen of every recipe's page, from kept results."""

import html
import json
import pathlib
import re

import numpy as np
import pytest

import fairjax
from fairjax import results
from fairjax.benchmarks import BENCHMARKS
from fairjax.report import (
  findings,
  names,
  page,
  sentences,
  tables,
  terminal,
  verdict,
)
from fairjax.report import first_screen as first_screen_of

KEPT = sorted(
  (pathlib.Path(__file__).parents[1] / 'golden/first_screens').glob('*.json')
)


def first_screen(folder) -> str:
  """The html of 'In short'."""
  whole = page.report(folder)
  start = whole.index('In short', whole.index('In short') + 5)
  return whole[start : whole.index('<h2', start)]


def words(part: str) -> str:
  part = re.sub(r'<svg.*?</svg>', ' ', part, flags=re.S)
  return html.unescape(re.sub(r'<[^>]+>', ' ', part))


def test_every_kind_of_recipe_is_kept():
  recipes = {json.loads(path.read_text())['recipe'] for path in KEPT}
  assert {
    *('audit', 'benchmarks', 'fairflow', 'perturber', 'pretrain', 'train'),
    *('diet', 'rank', 'mbcda', 'counterfactual_texts', 'fairberta', 'fairtune'),
    'weighting',
  } <= recipes


@pytest.mark.parametrize('path', KEPT, ids=lambda path: path.stem)
def test_it_has_a_number_a_picture_and_no_path(path, tmp_path):
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  part = first_screen(tmp_path)
  said = words(part)
  lead = words(part[part.index('class="lead"') :].partition('</p>')[0])
  assert re.search(r'\d', lead), lead
  assert '<svg' in part or '<img' in part
  assert not re.search(r'(/[\w.-]+){2,}|[A-Z]:\\\\', said), said
  assert not re.search(r'[a-z_]\w*:[a-z_]\w*', said), said
  if json.loads(path.read_text())['recipe'] not in page.TRAINED:
    shown = page.report(tmp_path).partition('How it was')[0]
    assert 'is missing' not in shown
  # What was found comes before what there is to say against it.
  assert 'class="warning"' not in part.partition('class="lead"')[0]


@pytest.mark.parametrize('kind', ['audit', 'writing', 'benchmarks'])
def test_a_function_is_called_without_its_module(kind, tmp_path):
  """Only how it was made says where the code is."""
  path = next(path for path in KEPT if path.stem == kind)
  found = json.loads(path.read_text())
  old, new = next(iter(found['contenders'])), 'my_models:quite_biased'
  found['contenders'] = {new: found['contenders'][old]}
  found['focus'], found['model'] = found['focus'] and new, new
  found['title'], found['tests'] = f'What {new} does', []
  results.write(tmp_path, results.of(found))
  shown = words(page.report(tmp_path).partition('To take away')[0])
  assert 'What quite biased does' in shown
  assert 'my_models' not in shown


def test_functions_have_names_that_say_something():
  called = {
    'writers_of:biased': 'biased',
    'profanity_check:predict_prob': 'profanity check',
    'a.b.perspective:score': 'perspective',
    'What writers_of:biased writes': 'What biased writes',
    'balance:how=up': 'balance:how=up',
    'terms:my_terms.txt': 'terms:my_terms.txt',
    'sex: f': 'sex: f',
  }
  for name, words_ in called.items():
    assert names.named(name) == words_


def test_two_functions_of_one_name_keep_their_modules(tmp_path):
  found = results.of(json.loads((KEPT[0].parent / 'audit.json').read_text()))
  one = found.contenders[found.focus]
  found.contenders = {'one:biased': one, 'two:biased': one}
  found.focus, found.tests = 'one:biased', []
  assert [*names.by_people(found).contenders] == ['one:biased', 'two:biased']
  found.contenders = {'one:biased': one, 'two:fair': one}
  assert [*names.by_people(found).contenders] == ['biased', 'fair']


def test_what_a_measure_says_is_in_words():
  found = results.of(json.loads(KEPT[1].read_text()))
  assert found.recipe == 'benchmarks'
  lead = findings.lines(found)[0]
  assert lead.startswith(
    'On StereoSet, gpt2: in 75 of 100 items the stereotype'
  )
  assert '(no preference gives 50; chance alone can do this)' in lead


def test_a_rewriter_leads_not_the_texts_it_was_given():
  path = next(path for path in KEPT if path.stem == 'counterfactual_texts')
  found = findings.lines(results.of(json.loads(path.read_text())))
  assert found[0].startswith(
    'On texts, flow + BART: of 100 texts 55 are taken for the other group’s'
  )
  assert 'original 0, dictionary 0.924' in found[0]
  assert 'finds the groups’ positives 6 points apart' in found[1]


def test_both_errors_lead(tmp_path):
  audit = next(path for path in KEPT if path.stem == 'audit')
  results.write(tmp_path, results.of(json.loads(audit.read_text())))
  said = words(first_screen(tmp_path))
  assert '54 are decided ‘no blame’' in said  # whose blame is missed
  assert '47 are decided ‘blame’; of those about men, 10' in said


def test_models_are_called_by_their_names():
  assert names.named('/home/me/gpt2/export/seed_0') == 'gpt2'
  assert names.named('gpt2 (/home/me/gpt2/export/seed_0)') == 'gpt2'
  assert names.named('tiny') == 'tiny'
  assert names.named('org/model') == 'org/model'
  assert names.named('read/write') == 'read/write'


def test_warnings_of_one_kind_are_one_line():
  lines = [
    f"test: Group '{g}' has few rows: {n} of label 0."
    for g, n in (('a', 3), ('b', 14), ('c', 5))
  ]
  lines.append('test: Seed 0 decides 1 for every row.')
  assert sentences.alike(lines) == [
    lines[0] + ' (and 2 more of this kind)',
    lines[3],
  ]


def test_a_model_that_decides_nothing_leads_with_that(tmp_path):
  """Its gaps of 0 are no finding, and its warning stands once."""
  whole = json.loads((KEPT[0].parent / 'audit.json').read_text())
  one = whole['contenders'][whole['focus']]['sets']['planted']
  said = 'The model decides 1 for every row: a constant predictor treats all'
  one['warnings'] = [said]
  for estimate in one['fairness'].values():
    estimate['note'] = 'constant predictor'
  results.write(tmp_path, results.of(whole))
  part = first_screen(tmp_path)
  assert words(part).count(said) == 1
  assert said in words(part[part.index('class="lead"') :].partition('</p>')[0])
  for estimate in one['fairness'].values():
    estimate['note'] = 'constant predictor in 1 seed of 5'
  results.write(tmp_path, results.of(whole))
  part = first_screen(tmp_path)
  assert said in words(part.partition('class="warning"')[2])


def test_pages_name_measures_as_people_do(tmp_path):
  path = next(path for path in KEPT if path.stem == 'writing')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  shown = words(page.report(tmp_path))
  table = shown[shown.rindex('Rates of each group') :].partition('Facts')[0]
  assert 'share decided positive' in table
  assert not re.search(r'[a-z]_[a-z]', table), table
  # It keeps no predictions, and nobody is told that they are missing.
  assert 'predictions.parquet' not in shown


def test_lists_and_names_make_no_kind_of_their_own():
  told = sentences.alike(
    [
      'word vectors: work: 32 words are too rare (teacher, model, …)',
      'word vectors: work is left out: it needs 3 words in each list',
      'word vectors: career: 29 words are too rare (home, …)',
      'word vectors: career is left out: it needs 3 words in each list',
      'test: the AUC is below one half',
    ]
  )
  assert len(told) == 3
  assert [line.endswith('(and 1 more of this kind)') for line in told] == [
    *(True, True, False)
  ]


def test_words_that_a_list_lacks_are_told_below_the_box(tmp_path):
  """Where they are made they are notes: no wording says so, nor hides one."""
  path = next(path for path in KEPT if path.stem == 'mbcda')
  tree = json.loads(path.read_text())
  one = next(iter(tree['contenders'].values()))['sets']['word vectors, 50 wide']
  one['notes'].append('a note in words of its own')
  one['warnings'].append('the test is left out: it needs rows')
  found = results.of(tree)
  results.write(tmp_path, found)
  shown = first_screen(tmp_path)
  for note in ('too rare for a vector', 'a note in words of its own'):
    assert note in shown
    assert note in ' '.join(terminal.summary(found).split())
  boxes = re.findall(r'<(div|p) class="warning">(.*?)</\1>', shown, flags=re.S)
  boxes = ' '.join(box for _, box in boxes)
  assert 'too rare' not in boxes and 'a note in words' not in boxes
  assert 'it needs rows' in boxes


def test_a_title_has_no_path(tmp_path):
  found = results.Results(title='perturber from /home/me/packages/mini/model')
  assert page._title(found, tmp_path) == 'perturber from mini'


def test_what_all_claims_share_is_said_once():
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.3}
  claims = [verdict.claim(f'{k} is fairer', effect, 0, 'a test') for k in 'ab']
  *_, words, table, _ = verdict.section(claims)['parts']
  assert words['text'].endswith('must be above 0. Test: a test.')
  assert [*table['columns']] == ['claim', 'verdict', 'the number', 'is', 'p']
  claims[1]['bound'] = 0.1
  *_, words, table, _ = verdict.section(claims)['parts']
  assert 'must be' in table['columns'] and 'Test: a test.' in words['text']


def test_claims_of_one_training_say_so():
  effect = {'value': 0.2, 'low': 0.1, 'high': 0.3}
  one = 'paired bootstrap over examples'
  for test, told in ((one, True), (f'{one} and seeds', False)):
    claims = [verdict.claim('a is fairer', effect, 0, test)]
    said = json.dumps(verdict.section(claims))
    assert ('of other seeds they may be others' in said) == told


def test_a_folder_of_texts_says_what_became_of_them(tmp_path):
  for name, said in (
    ('perturb_corpus', 'Of 100 texts 50 are changed: 120 of 239, in 1 file.'),
    ('generate', 'Of 100 texts 50 are written anew: 120 of 239, in 1 file.'),
  ):
    kept = next(path for path in KEPT if path.stem == name)
    results.write(tmp_path, results.of(json.loads(kept.read_text())))
    assert said in words(first_screen(tmp_path))


def test_a_log_is_told_as_what_it_is_the_log_of():
  path = next(path for path in KEPT if path.stem == 'benchmarks')
  found = json.loads(path.read_text())
  one = {'value': 0.6931472, 'low': 0.5, 'high': 0.9, 'null': 0.0}
  sets = {'twins': {'fairness': {'twins_log_odds': one}}}
  found['contenders'] = {'gpt2': {'sets': sets}}
  said = findings.lines(results.of(found))[0]
  assert 'is 2 times as likely as its female one' in said
  assert '(no preference gives 1; beyond chance)' in said


def test_twins_of_two_values_are_told_by_their_names():
  path = next(path for path in KEPT if path.stem == 'benchmarks')
  found = json.loads(path.read_text())
  one = {'value': 0.6931472, 'of': ['rural', 'urban <b>']}
  sets = {'twins': {'fairness': {'twins_log_odds': one}}}
  found['contenders'] = {'gpt2': {'sets': sets}}
  said = findings.lines(results.of(found))[0]
  assert 'rural version is 2 times as likely as its urban' in said
  assert 'male' not in said


def test_the_fairscore_leads_where_one_was_asked_for(tmp_path):
  path = next(path for path in KEPT if path.stem == 'fairtune')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  said = words(first_screen(tmp_path))
  lead = said.index('texts in which one person becomes another')
  assert lead < said.index('demographic parity')


def test_many_warnings_are_one_box(tmp_path):
  found = results.of(json.loads(KEPT[0].read_text()))
  one = next(iter(found.sets.values()))
  one['warnings'] = [f'It {word}s here.' for word in 'abcdef']
  page_of = sentences.in_words(found, True)
  assert page_of.count('class="warning"') == 1
  assert '3 more warnings' in page_of and 'It fs here.' in page_of
  one['warnings'] = ['Worse than chance: the AUC is 0.1', 'a is so.']
  assert 'Worse than chance' not in sentences.in_words(found, True)
  assert 'Worse than chance' in sentences.in_words(found)


def test_the_list_behind_a_warning_makes_no_kind_of_its_own():
  lines = [
    'weat: 15 of 40 items hold no known token: a clover, a rose, a tulip …',
    'crows: 6 of 7 items hold no known token: 0, 2, 4 …',
  ]
  assert sentences.alike(lines) == [lines[0] + ' (and 1 more of this kind)']


def test_what_rounding_leaves_of_nothing_is_nothing():
  one = {'value': 0.0, 'low': -1e-6, 'high': 1e-6}
  assert tables.estimate(one) == '0.000 [0.000, 0.000]'
  one = {'value': 2e-5, 'low': 1e-5, 'high': 4e-5}
  assert tables.estimate(one) == '0.000020 [0.000010, 0.000040]'


def test_precision_stands_beside_recall():
  path = next(path for path in KEPT if path.stem == 'fairflow')
  found = results.of(json.loads(path.read_text()))
  rows = sentences.side_by_side(found, found.set_names()[0])
  assert [*rows[0]][:3] == ['contender', 'precision', 'recall']


def test_the_worst_class_is_told_of_groups_that_count_in_its_gap():
  """Of three classes too a group of few rows is in no gap."""
  rng = np.random.default_rng(0)
  group = np.array(['a'] * 140 + ['b'] * 155 + ['tiny'] * 9)
  y = rng.integers(0, 3, 304)
  right = (rng.random(304) < 0.75) & (group != 'tiny')
  chances = np.eye(3)[np.where(right, y, (y + 1) % 3)]
  found = fairjax.assess(y, chances, groups=group, n_resamples=100)
  one = found.results.sets['data']
  gap = first_screen_of.headline(one)
  assert {gap.high, gap.low} == {'a', 'b'}
  rates = [one['groups'][g][gap.rate]['value'] for g in (gap.high, gap.low)]
  assert rates[0] - rates[1] == pytest.approx(1 - gap.estimate['value'])
  assert one['groups']['tiny']['tpr_0']['few']
  assert 'few' not in one['groups']['a']['tpr_0']


def test_notes_of_one_kind_are_one_line(tmp_path):
  """MBCDA said twice of its discriminators what differed in numbers alone."""
  path = next(path for path in KEPT if path.stem == 'mbcda')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  said = words(first_screen(tmp_path))
  assert said.count('it does not see the group') == 1
  assert 'faster with --config.adversary.lr (and 1 more of this kind)' in said
  assert 'word vectors, 50 wide, 3 contenders: work: 38 words' in said
  found = results.Results(
    notes=['Rows differ.', 'Seeds differ.', 'Rows differ']
  )
  assert sentences.in_words(found).count('differ') == 3


def test_the_lead_is_of_one_number_and_the_picture_of_all(tmp_path):
  path = next(path for path in KEPT if path.stem == 'mbcda')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  part = first_screen(tmp_path)
  lead = words(part[part.index('class="lead"') :].partition('</p>')[0])
  assert lead.endswith(
    '62 are taken for the other group’s when they are rewritten.'
  )
  shown = part[part.index('<svg') : part.index('</svg>')]
  assert 'dictionary without names' in shown and '…' not in shown


def test_sets_and_contenders_are_called_as_people_do(tmp_path):
  for name, called in (
    ('pretrain', 'On held-out text, tiny: '),
    ('perturber', 'On all held-out pairs, perturber: '),
  ):
    path = next(path for path in KEPT if path.stem == name)
    found = results.of(json.loads(path.read_text()))
    assert findings.lines(found)[0].startswith(called)
  path = next(path for path in KEPT if path.stem == 'weighting')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  whole = page.report(tmp_path)
  assert '<h1>Instance weights against no weights (' in whole
  assert 'AUC; right is better' in whole and 'AUC; right is fairer' not in whole


def test_percents_have_one_digit():
  one = {'value': 58.3333, 'low': 52.14159, 'high': 64.0}
  shown = lambda key: tables.estimate(tables.of_measure(key, one))
  assert shown('stereoset_ss_log') == '58.3 [52.1, 64.0]'
  assert shown('perplexity') == '58.333 [52.142, 64.000]'
  test = {'set': 's', 'ours': 'a', 'theirs': 'b', 'measure': 'crows_original'}
  test |= {'difference': {'value': 3.125}, 'p': 0.5, 'test': 'paired'}
  ((row,),) = tables.differences([test]).values()
  assert tables.cell(row['difference']) == '3.1'
  found = results.of(
    json.loads((KEPT[0].parent / 'benchmarks.json').read_text())
  )
  rows = sentences.side_by_side(found, 'stereoset')
  values = [v for row in rows for v in row.values() if tables.is_estimate(v)]
  assert values and all(value['digits'] == 1 for value in values)


def test_data_of_a_file_are_called_as_the_file(tmp_path):
  found = results.Results(recipe='train', data='file', model='tiny')
  (tmp_path / 'config.json').write_text('{"data": {"path": "a/my.csv"}}')
  assert page._title(found, tmp_path) == 'tiny on my (train)'
  assert terminal.summary(found).startswith('## tiny')


def test_benchmarks_have_the_names_that_people_give_them(tmp_path):
  path = next(path for path in KEPT if path.stem == 'benchmarks')
  results.write(tmp_path, results.of(json.loads(path.read_text())))
  shown = words(page.report(tmp_path).partition('To take away')[0])
  for name in ('stereoset', 'sembias', 'winogender'):
    assert f'Test set {name}' not in shown and f'On {name}' not in shown
  assert {*BENCHMARKS} - {*names.SETS} == {'twins'}
