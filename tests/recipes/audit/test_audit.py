"""Audits of functions, files, folders and tables, from data to the page."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import programs
import pytest
import small

import fairjax
from fairjax import results
from fairjax.cli.commands import flags_of
from fairjax.config import Config, validate
from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table
from fairjax.data.word_tables import table_rows
from fairjax.metrics.inference import significance
from fairjax.recipes.audit import edits as audit_edits
from fairjax.recipes.audit import groups as audit_groups
from fairjax.recipes.audit import page as audit_page
from fairjax.recipes.audit import recipe as recipe
from fairjax.report import findings, page, scenarios, words


def rows(n=240, seed=0):
  """Sentences whose label is a word, and whose scorer looks at she as well."""
  rng = np.random.default_rng(seed)
  label = rng.integers(0, 2, n)
  sex = rng.choice(['she', 'he'], n)
  texts = [
    f'{s.title()} said the big car was {"awful" if y else "happy"} <b>{i}</b>.'
    for i, (s, y) in enumerate(zip(sex, label))
  ]
  return pd.DataFrame(
    {
      'text': texts,
      'label': np.array(['ok', 'toxic'])[label],
      'gender': np.where(sex == 'she', 'female', 'male'),
      'age': rng.integers(15, 70, n),
      'site': rng.choice(['a', 'b'], n),
    }
  )


class Counted:
  """What a person's table carries; counts its copies."""

  copies = 0

  def __deepcopy__(self, memo):
    Counted.copies += 1
    return self


def test_what_a_table_carries_is_not_copied_a_column():
  """pandas copies `attrs` for every column: 20,000 of them took 500 s."""
  seen = []
  for width in 5, 40:
    data = rows(80).drop(columns='text')
    data = data.assign(**{f'x{k}': data['age'] for k in range(width)})
    data.attrs['mine'], Counted.copies = Counted(), 0
    data['label'] = (data['label'] == 'toxic') * 1
    fairjax.audit(data['label'] * 0.4 + 0.3, data, groups='gender')
    seen.append(Counted.copies)
  assert seen[0] == seen[1]


def scorer(texts):
  """Women are called toxic; 'large' for 'big' changes a little."""
  of = pd.Series([*texts], dtype=str).str
  p = 0.15 + 0.6 * of.contains('awful') + 0.5 * of.match('she ', case=False)
  return np.clip(p + 0.02 * of.contains('large'), 0, 1).to_numpy()


def config(**audit):
  made = Config(recipe='audit', seeds=1)
  made.data.name, made.measures.resamples = 'file', 200
  made.data.cluster = audit.pop('cluster', '')
  for key, value in audit.items():
    setattr(made.audit, key, value)
  return made


def audited(frame, source, **options):
  made = config(**options)
  found = audit_table.of_frame(frame, made)
  return recipe.audit(made, source, found)


def measured(found):
  return found.measured(found.focus, 'data')


def test_a_function_is_audited_with_edits_and_groups():
  found, parts = audited(rows(), scorer, groups=('gender', 'age:30/50'))
  known = measured(found)
  flips = known['flips']
  # All rows are edited; she with "happy" flips, he with "happy" too.
  share = (rows()['label'] == 'ok').mean()
  assert flips['value'] == pytest.approx(share)
  assert known['control_flips']['value'] == 0
  assert known['excess_flips']['low'] > 0.3
  assert known['fprd']['value'] == 1 and known['tprd']['value'] == 0
  assert known['gender/dp']['value'] < 0.7
  assert {'age/dp', 'gender × age/eqodd'} <= set(known)
  groups = found.sets['data']['groups']
  assert 'age: 30 to below 50' in groups
  assert groups['gender: female']['fpr']['value'] == 1
  assert 'Exchanged words' in [s['heading'] for s in found.sections]
  (one,) = parts.values()
  assert one.words['gender'][0]['word'] in ('she → he', 'he → she')


def test_rows_that_flip_show_different_words(monkeypatch):
  """Three of 'she → he' with the largest changes do not hide another word."""
  words = [[('She', 'He')]] * 3 + [[('Ann', 'Tom')]] * 2
  first = lambda rows, words: audit_page.diverse(rows, words.__getitem__)
  assert first([0, 1, 2, 3, 4], words) == [0, 3, 1, 4, 2]
  assert first([1, 0, 4], [[*words[0], *words[3]], *words]) == [1, 0, 4]
  frame = rows()
  aunts = [f'My aunt said it was happy {k}.' for k in frame.index[::7]]
  frame.loc[::7, 'text'] = aunts
  frame.loc[1, 'text'] = 'Donald Marsh said it was happy.'
  said = {'She': 0.9, 'My aunt': 0.7, 'Donald': 0.99}
  first = lambda t: next((p for w, p in said.items() if t.startswith(w)), 0.1)
  loud = lambda texts: np.array([*map(first, texts)])
  monkeypatch.setattr(audit_page, 'EXAMPLES', 2)
  found, _ = audited(frame, loud, groups=('gender',))
  (shown,) = (
    part['rows']
    for section in found.sections
    for part in section['parts']
    if part['part'] == 'texts'
  )
  assert {'aunt' in row['text'] + row['twin'] for row in shown} == {True, False}


def test_the_page_is_whole_escaped_and_its_documents_are_there(
  tmp_path, unspoken, monkeypatch
):
  frame = rows()
  path = tmp_path / 'comments.csv'
  frame.to_csv(path, index=False)
  module = tmp_path / 'my_scorer.py'
  module.write_text(
    'import numpy as np\n'
    'def score(texts):\n'
    '  return np.array([.9 if "awful" in t or t[:3] == "She" else .1 '
    'for t in texts])\n'
  )
  monkeypatch.syspath_prepend(tmp_path)
  made = config(
    model='my_scorer:score',
    groups=('gender',),
    costs='fp=1,fn=5',
    controls=('site',),
    fail_if='dp<0.5 or flips>0.9',
  )
  made.data.path = str(path)
  folder = tmp_path / 'run'
  found = recipe.run(made, folder)
  page = (folder / 'report.html').read_text()
  assert 'women labelled ‘ok’, 100 are decided ‘toxic’' in page
  assert '<b>1</b>' not in page and '&lt;b&gt;' in page
  assert 'id="blur0" checked' in page  # the classes say that texts may offend
  assert page.count('<li class="') == 3  # lights
  assert 'class="bad"' in page and 'data:text/csv;base64' in page
  assert 'http' not in page.replace('data:', '').replace('http-equiv', '')
  assert page.count('<svg') > 5 and unspoken(page) == []
  assert found.facts['gate'] == 'not decided'  # dp's interval holds .5
  assert found.facts['gate, exit code'] == '0'
  for name in ('numbers.csv', 'measures.tex', 'groups.tex', 'model_card.md'):
    assert (folder / 'documents' / name).stat().st_size
  card = (folder / 'documents' / 'model_card.md').read_text()
  yaml = pytest.importorskip('yaml').safe_load(card.split('---')[1])
  metrics = yaml['model-index'][0]['results'][0]['metrics']
  assert {'dp', 'flips'} <= {m['type'] for m in metrics}
  assert 'to be filled in' in card and 'Of 100 texts about women' in card
  assert r'\toprule' in (folder / 'documents' / 'groups.tex').read_text()
  again = results.read(folder)
  known = again.measured(again.focus, 'comments')
  check_scenarios(folder / 'documents', known)
  assert 'conditional_dp' in known and 'cost_gap' in known


def check_scenarios(folder, known):
  """Records of bias scenarios beside the measures that they are of."""
  record = json.loads((folder / 'bias_scenarios.json').read_text())
  assert record['draft'].startswith('A draft')
  every = {one['measure']['name']: one for one in record['scenarios']}
  gap, swap = every['dp'], every['flips']
  ours, dp = gap['value'], known['dp']
  assert [ours[k] for k in ('value', 'low', 'high')] == pytest.approx(
    [1 - dp[k] for k in ('value', 'high', 'low')]
  )
  assert (gap['threshold']['value'], swap['threshold']['value']) == (0.5, 0.9)
  assert gap['above_threshold'] == 'undecided'  # as the gate that names it
  assert every['eqopp0']['threshold']['value'] == 0.05  # it names no other
  assert every['eqopp0']['above_threshold'] == 'holds'
  assert 'dp<0.5' in gap['review_when'][0] and gap['mitigation_tried'] == []
  text = (folder / 'bias_scenarios.md').read_text()
  assert text.count('## Scenario ') == len(every)
  assert 'certificate' in text and '| owner | |' in text


@pytest.mark.parametrize(
  'rule, code, words',
  [
    ('eqodd<0.8', 1, r"gate 'eqodd<0.8' failed: eqodd is 0\.\d+ \[.* fails"),
    ('eqodd<0.05', 0, ''),
    # The group of three rows is in no gap, so site has none.
    (
      'eqodd<0.05 or site/dp<0.8',
      3,
      r"the gate '.*' is not measured: .*site/dp is undefined \(fewer than two",
    ),
  ],
)
def test_a_gate_ends_the_process_with_its_exit_code(
  tmp_path, rule, code, words
):
  frame = rows(120).assign(score=scorer(rows(120)['text']))
  path = tmp_path / 'predictions.csv'
  frame['site'] = np.where(frame.index < 3, 'a', 'b')
  groups = 'gender,site' if 'site' in rule else 'gender'
  frame[['label', 'gender', 'site', 'score']].to_csv(path, index=False)
  done = programs.python(
    *('-m', 'fairjax.main', 'audit', str(path)),
    *(f'--config.audit.groups={groups}', f'--config.audit.fail_if={rule}'),
    *('--noconfig.audit.intersections', '--config.measures.resamples=100'),
    f'--workdir={tmp_path / "run"}',
  )
  assert done.returncode == code, done.stderr
  lines = done.stderr.splitlines()
  sentences = [line for line in lines if line.startswith('fairjax: ')]
  assert sentences == (lines[-1:] if code else [])
  assert code or f'the gate {rule!r} ' in done.stdout.splitlines()[-1]
  assert re.search(words, ''.join(sentences)) and 'Traceback' not in done.stderr
  assert (tmp_path / 'run' / 'report.html').exists()


def test_predictions_need_no_model_and_edits_can_be_scored_elsewhere(tmp_path):
  frame = rows().assign(score=scorer(rows()['text']))
  path = tmp_path / 'predictions.csv'
  frame.to_csv(path, index=False)
  made = config(groups=('gender',))
  made.data.path = str(path)
  folder = tmp_path / 'run'
  found = recipe.run(made, folder)
  known = found.measured(found.focus, 'predictions')
  assert 'flips' not in known and known['dp']['value'] < 0.7
  assert any('to_score.csv' in note for note in found.notes)
  edited = pd.read_csv(folder / 'to_score.csv')
  (folder / 'predictions').mkdir()
  (folder / 'predictions' / 'earlier.parquet').write_bytes(b'another model')
  recipe.run(made, folder)  # as it was written, it is written again
  assert not any((folder / 'predictions').iterdir())
  edited['score'] = scorer(edited['text'])
  for path in (tmp_path / 'scored.csv', folder / 'to_score.csv'):
    edited.to_csv(path, index=False)
  with pytest.raises(UserError, match=r"has a column 'score' that the audit"):
    recipe.run(made, folder)
  assert 'score' in pd.read_csv(folder / 'to_score.csv')
  made.audit.edited = str(tmp_path / 'scored.csv')
  found = recipe.run(made, tmp_path / 'second')
  here, _ = audited(rows(), scorer, groups=('gender',))
  known = found.measured(found.focus, 'predictions')
  for name in 'flips control_flips excess_flips tprd score_change'.split():
    assert known[name]['value'] == pytest.approx(measured(here)[name]['value'])
  edited.head(5).to_csv(tmp_path / 'scored.csv', index=False)
  with pytest.raises(UserError, match='no prediction of the edited text'):
    recipe.run(made, tmp_path / 'third')


def edited_elsewhere(folder, source, columns, **options):
  """Flips of each model by a file of columns of edited texts; the notes."""
  place = folder / 'scored.csv'
  texts = [f'{w} ate {k} figs, {w}.' for k in range(8) for w in ('He', 'She')]
  pd.DataFrame({'text': texts} | columns).to_csv(place, index=False)
  found = fairjax.audit(
    source,
    # She is toxic in every row: of the other edits the file is asked.
    pd.DataFrame(
      {'text': texts[1::2], 'label': ['ok', 'toxic'] * 4, 'a': 0.9, 'b': 0.9}
    ),
    options={'edited': place, 'n_resamples': 0, **options},
  )
  sets = {k: v['sets']['data'] for k, v in found.results.contenders.items()}
  flips = {k: v['fairness'].get('flips') for k, v in sets.items()}
  notes = [note for note in found.results.notes if 'scored.csv' in note]
  return {k: v and v['value'] for k, v in flips.items()}, notes


def test_edited_texts_are_read_as_the_rows_were(tmp_path):
  """Columns and names of classes were read in an order of the file's own, and
  a run's predictions, which they may follow, left the file unread."""
  ask = functools.partial(edited_elsewhere, tmp_path)
  low, high = {'ok': 0.1, 'toxic': 0.9}, {'ok': 0.9, 'toxic': 0.1}
  for p, flips in ((low, 0), (high, 1)):
    shares = {f'p_{name}': p[name] for name in ('toxic', 'ok')}
    source = pd.DataFrame({'p_ok': [0.1] * 8, 'p_toxic': 0.9})
    assert ask(source, shares)[0] == {'p': flips}
    said = 'ok' if flips else 'toxic'
    words = {'score': [said, 'ok'] * 4 + [said, 'toxic'] * 4}
    names = {'labels': 'toxic=0,ok=1', 'pos_label': 'toxic'}
    assert ask(['toxic'] * 8, words, **names)[0] == {'model': flips}
  run = tmp_path / 'run'
  run.mkdir()
  (run / 'results.json').write_text('{"recipe": "other"}')
  ids = [str(k) for k in range(8)]
  frame = pd.DataFrame({'id': ids, 'set': 'test', 'p0': 0.9})
  frame.to_parquet(run / 'predictions.parquet')
  assert ask(run, {'score': 0.1})[0] == {'run': 1}
  twice = {'text': ['He.'] * 16, 'score': [0.1, 0.2] * 8}
  with pytest.raises(UserError, match=r"text 'He\.', in rows 0 and 1; "):
    ask('a', twice)
  with pytest.raises(UserError, match=r'of 1 seed and .* model of 3 seeds'):
    ask(np.full((3, 8), 0.9), {'score': 0.1})


def test_each_model_is_asked_for_its_own_edits(tmp_path):
  """The first column of edited texts was read for every model."""
  ask = functools.partial(edited_elsewhere, tmp_path)
  both = {'a': 0.9, 'b': 0.1}
  assert ask(None, both, scores=('a', 'b')) == ({'a': 0, 'b': 1}, [])
  assert ask('b', both | {'score': 0.9}) == ({'b': 1}, [])
  assert ask('b', both, against='a') == ({'b': 1, 'a': 0}, [])
  for source, columns, more in (
    (None, {'a': 0.1}, {'scores': ('a', 'b')}),
    ('a', {'score': 0.1}, {'against': 'b'}),
  ):
    flips, (note,) = ask(source, columns, **more)
    assert flips == {'a': 1, 'b': None}
    assert 'edited texts by a, and none by b: what edits change' in note


def test_models_are_compared_row_by_row_and_in_flips(tmp_path):
  frame, made = rows(), config(groups=('gender',))
  plain = lambda texts: np.array([0.9 if 'awful' in t else 0.1 for t in texts])
  two = frame.assign(ours=scorer(frame['text']), other=plain(frame['text']))
  found, _ = audited(two, None, scores=('ours', 'other'), groups=('gender',))
  assert list(found.contenders) == ['ours', 'other']
  tests = {t['measure']: t for t in found.tests}
  assert tests['eqodd']['difference']['value'] > 0.3
  assert tests['eqodd']['p'] < 0.05 and tests['eqodd']['p_adjusted'] < 0.05
  assert tests['eqodd']['ours'] == 'other'
  known = {r['measure']['name']: r for r in scenarios.records(found)}
  (tried,) = known['eqopp0']['mitigation_tried']  # by a test of its rate
  assert tried['measure'] == 'fped' and tried['p'] == tests['fped']['p']
  (tried,) = known['dp'][
    'mitigation_tried'
  ]  # differences of gaps, as the value is
  theirs = 1 - found.measured(tried['against'], 'data')['dp']['value']
  apart = known['dp']['value']['value'] - theirs
  assert tried['difference']['value'] == pytest.approx(apart) != 0
  read = audit_table.of_frame(frame, made)
  for name in ('ours', 'other'):  # of one column the files tell them apart
    file = two[[name]].rename(columns={name: 'score'})
    file.to_csv(tmp_path / f'{name}.csv', index=False)
  new, old = tmp_path / 'ours.csv', tmp_path / 'other.csv'
  by_file, _ = recipe.audit(made, new, read, against=old)
  assert list(by_file.contenders) == list(found.contenders)
  found, _ = recipe.audit(made, scorer, read, against=plain)
  tests = {t['measure']: t for t in found.tests}
  assert tests['flips']['difference']['value'] < -0.3
  assert tests['flips']['p'] < 0.05


def test_without_labels_only_decisions_are_compared():
  frame = rows().drop(columns='label')
  found, _ = audited(frame, scorer, groups=('gender',))
  known = measured(found)
  assert 'auc' not in known and 'eqodd' not in known and 'tprd' not in known
  assert known['dp']['value'] < 0.7 and known['flips']['value'] > 0.3
  assert any('without labels' in note for note in found.notes)
  assert 'fpr' not in found.sets['data']['groups']['female']


def test_many_classes_by_name_and_by_number():
  rng = np.random.default_rng(0)
  frame = rows()
  names = np.array(['cat', 'dog', 'emu'])
  label = rng.integers(0, 3, len(frame))
  p = rng.dirichlet(np.ones(3), len(frame)) + 2 * np.eye(3)[label]
  p /= p.sum(1, keepdims=True)
  frame['label'] = names[label]
  shuffled = frame.assign(**{f'p_{names[k]}': p[:, k] for k in (2, 0, 1)})
  found, parts = audited(shuffled, None, groups=('gender',))
  (one,) = parts.values()
  np.testing.assert_allclose(one.chances[0], p)
  assert measured(found)['accuracy']['value'] > 0.8
  assert found.classes == ['cat', 'dog', 'emu']
  numbered = frame.assign(**{f'prob_{k}': p[:, k] for k in range(3)})
  again, _ = audited(numbered, None, groups=('gender',))
  assert measured(again)['accuracy'] == measured(found)['accuracy']


def test_the_threshold_is_chosen_on_validation_rows():
  frame = rows().assign(split=['valid', 'test'] * 120)
  made = config(groups=('gender',), choose='accuracy')
  made.data.split = 'split'
  found = audit_table.of_frame(frame, made)
  assert len(found.table) == len(found.valid) == 120
  page, _ = recipe.audit(made, scorer, found)
  assert page.sets['data']['threshold'] == pytest.approx(0.7, abs=0.06)
  assert 'chosen on validation rows' in ' '.join(page.sets['data']['warnings'])


def test_validation_rows_have_texts_and_those_dropped_are_counted(tmp_path):
  """A model was asked about no text; rows were dropped without a word."""
  frame, made = rows(40), config(choose='accuracy')
  valid = frame.astype(object)
  valid.loc[2, 'text'], valid.loc[5, 'label'] = ' ', None
  made.data.valid_path = str(tmp_path / 'valid.jsonl')
  valid.to_json(made.data.valid_path, orient='records', lines=True)
  with pytest.raises(UserError, match=r"valid.jsonl has ' ' for a text in row"):
    audit_table.of_frame(frame, made)
  made.data.on_bad = 'drop'
  found = audit_table.of_frame(frame, made)
  assert len(found.valid) == 38
  assert found.remarks[:2] == [
    'validation rows: 1 row without a text dropped',
    'validation rows: 1 row without label dropped',
  ]


def test_a_column_of_twins_is_a_swap():
  frame = rows()
  frame['rewritten'] = [
    t.replace('She', 'He') if i % 2 else t for i, t in enumerate(frame['text'])
  ]
  found, parts = audited(
    frame, scorer, groups=('gender',), swaps=('column:rewritten', 'gender')
  )
  known = measured(found)
  edits, _ = parts['scorer'].edits['rewritten']
  changed = frame['rewritten'] != frame['text']
  assert (edits.edited == changed).all()
  assert {'rewritten/flips', 'gender/flips'} <= set(known)


# Mistakes, a sentence each


def wrong(match, frame, source, **options):
  with pytest.raises(UserError, match=match) as error:
    audited(frame, source, **options)
  assert '\n' not in str(error.value)


def test_mistakes_of_predictions_and_sources_are_one_sentence_each():
  frame = rows()
  p = pd.DataFrame({'score': scorer(frame['text'])})
  named = frame.assign(id=[f'r{i}' for i in range(240)])
  many = pd.concat([frame] * 2, ignore_index=True)
  many = many.assign(user=[f'u{i}' for i in range(480)])
  both = pd.DataFrame({'p_ok': 0.5, 'p_toxic': np.r_[0.5, 0.7, [0.5] * 238]})
  for said, table, source, *groups in (
    ('of other rows', frame, p.assign(text=frame['text'][::-1].values + ' ')),
    ("no prediction of id 'r0'", named, p.assign(id=named['id'] + 'x')),
    ('for row 1 that sum to 1.2', frame, both),
    ('not called as the labels', frame, both.set_axis(['p_a', 'p_b'], axis=1)),
    ('no column.*prediction', frame, pd.DataFrame({'a': 0.5, 'b': p['score']})),
    ('480 values, and at most 300', many, scorer, 'user'),
    ("no column 'gendr'.*audit.groups=gender", frame, scorer, 'gendr'),
    ("there is no model 'nowhere'", frame, 'nowhere'),
    ('cannot be loaded', frame, 'no_such_module:f'),
  ):
    wrong(said, table, source, groups=tuple(groups))


def test_a_column_that_would_not_be_read_is_told():
  """Each flag was silently ignored: an earlier one had answered."""
  frame = rows(90).assign(score=0.5)
  two = "scores names 'nope', but .* of {}, named as the model; leave one"
  values = frame['score'].to_numpy()
  for source, name in (('score', 'score'), (scorer, 'scorer'), (values, 'mod')):
    wrong(two.format(f'{name}.*'), frame, source, scores=('nope',))
  plain = frame.drop(columns='text')
  wrong('column:x.*--config.data.text', plain, None, swaps=('column:x',))
  for field in ('data.group', 'measures.groups', 'data.twin', 'data.text_pair'):
    made = config(groups=('gender',))
    section, name = field.split('.')
    setattr(getattr(made, section), name, 'nope')
    if name.startswith('group'):  # audit.groups stands before them
      made.measures.resamples = 0
      found, _ = recipe.audit(made, 'score', audit_table.of_frame(frame, made))
      said = f"{field} is 'nope', which is no column of the table; the groups "
      assert said + 'are those of audit.groups, gender' in found.notes
      made.audit.groups = ()
    with pytest.raises(UserError, match=f"no column 'nope'.*--config.{field}="):
      recipe.audit(made, 'score', audit_table.of_frame(frame, made))
  made.data.text_pair, made.data.twin = '', 'site'
  said = audit_table.of_frame(frame, made).remarks
  assert said[:1] == [
    "data.twin is 'site', and an audit takes twins by "
    '--config.audit.swaps=column:site'
  ]


# Functions of one's own, which may do anything.


def told(function, frame=None, **options):
  with pytest.raises(UserError) as error:
    audited(rows(90) if frame is None else frame, function, **options)
  assert '\n' not in str(error.value)
  return str(error.value)


def at(frame, row):
  return f'row {row}, {frame["text"][row]!r}'


def spoilt(value, row):
  """A scorer that answers `value` for a row."""
  text = rows(90)['text'][row]
  return lambda texts: [value if t == text else p for t, p in good(texts)]


def good(texts):
  return zip(texts, scorer(texts).tolist())


def test_a_function_that_breaks_is_told_with_its_row_and_last_line():
  frame = rows(90)
  table = dict(good(list(frame['text'])[:70] + list(frame['text'])[71:]))

  def looks_up(texts):
    return [table[text] for text in texts]

  words = told(looks_up, swaps=('column:text',))
  assert words.startswith(f'looks_up ended on {at(frame, 70)}: KeyError: ')
  assert 'test_audit.py, line' in words and 'table[text] for text' in words

  def leaves(texts):
    sys.exit(0)

  assert 'it calls sys.exit(0) (test_audit.py, line' in told(leaves)

  def too_large(texts):
    raise MemoryError('Unable to allocate 9 GiB')

  words = told(too_large)
  assert 'out of memory' in words and '--config.audit.batch' in words

  def asked_to_stop(texts):
    raise KeyboardInterrupt

  with pytest.raises(KeyboardInterrupt):  # Ctrl-C is the user's
    audited(frame, asked_to_stop)


@pytest.mark.parametrize(
  ('value', 'words'),
  [
    (np.nan, 'returns nan for'),
    (1.0000001, 'returns 1.0000001 for'),
    (-3.5, r'returns -3.5 for .*sigmoid'),
  ],
)
def test_a_wrong_answer_is_told_as_it_is_and_with_its_row(value, words):
  said = told(spoilt(value, 71))
  assert at(rows(90), 71) in said and re.search(words, said)


def test_answers_of_other_forms_are_told():
  first = at(rows(90), 0)
  two = lambda texts: np.full((len(texts), 2), 0.5)
  assert 'returns shape (3,) for' in told(lambda texts: np.zeros(3))
  said = told(lambda texts: ['bad'] * len(texts))
  assert f"returns 'bad' for {first}, but the labels are 'ok', 'toxic'" in said
  said = told(lambda texts: [{'label': 'x', 'score': 1.0} for _ in texts])
  assert f"returns 'x' for {first}" in said
  assert 'returns None' in told(lambda texts: None)
  assert 'sum to 1.5, not to 1' in told(lambda texts: two(texts) * 1.5)

  def changes(texts):  # two classes, and later three
    three = np.full((len(texts), 3), 1 / 3)
    return three if at_last in texts else two(texts)

  at_last = rows(90)['text'][89]
  said = told(changes, batch=20)
  assert 'of another form from row' in said


def test_answers_that_change_between_calls_are_told():
  draws = np.random.default_rng(0)

  def moody(texts):
    return draws.random(len(texts))

  found, _ = audited(rows(90), moody, groups=('gender',), fail_if='flips>0.9')
  (first, *_) = found.sets['data']['warnings']
  assert 'moody was asked for the same 32 texts again, and answered' in first
  assert found.facts['gate'] == 'not measured'
  steady, _ = audited(rows(90), scorer, groups=('gender',))
  assert 'asked' not in ''.join(steady.sets['data']['warnings'])

  def of_its_batch(texts):  # scaled by the largest of the batch
    p = scorer(texts)
    return p / (1 + p.mean())

  found, _ = audited(rows(90), of_its_batch, batch=8)
  assert 'other texts of a batch' in found.sets['data']['warnings'][0]


MODULE = """
import os, time
import numpy as np
CALLS = {calls!r}
def score(texts):
  with open(CALLS, 'a') as file:
    file.write(str(len(texts)) + ' ')
  time.sleep({sleep})
  return np.array([.9 if "awful" in t or t[:3] == "She" else .1 for t in texts])
"""


def test_the_library_keeps_answers_where_it_is_asked_to(tmp_path, capsys):
  asked = []

  def score(texts):
    asked.extend(texts)
    return [0.9 if 'awful' in text else 0.1 for text in texts]

  audit = lambda function, keep='': fairjax.audit(
    function, rows(80), groups='gender', keep=keep, options={'n_resamples': 0}
  )
  first = audit(score, keep=tmp_path)
  once = len(asked)
  second = audit(score, keep=str(tmp_path))
  assert len(asked) - once == 64 < once - 64
  assert second.results.contenders == first.results.contenders
  assert 'are those kept in' in ' '.join(second.results.notes)
  audit(score)  # no folder, nothing taken
  assert len(asked) == 2 * once + 64

  def other(texts):  # of the same name, with other answers
    return [1 - p for p in score(texts)]

  other.__name__ = 'score'
  turned = audit(other, keep=tmp_path)
  assert turned.results.contenders != first.results.contenders
  assert not capsys.readouterr().err


def audit_process(tmp_path, **options):
  return subprocess.Popen(
    [
      *(sys.executable, '-m', 'fairjax.main', 'audit', 'slow_scorer:score'),
      *(str(tmp_path / 'rows.csv'), '--config.audit.groups=gender'),
      *('--config.measures.resamples=50', f'--workdir={tmp_path / "run"}'),
    ],
    cwd=programs.ROOT,
    env=os.environ | {'PYTHONPATH': str(tmp_path)},
    **options,
  )


def test_an_audit_that_is_asked_to_stop_goes_on_where_it_was(tmp_path):
  calls = tmp_path / 'calls'
  rows(1500).to_csv(tmp_path / 'rows.csv', index=False)
  source = MODULE.format(calls=str(calls), sleep=0.05)
  (tmp_path / 'slow_scorer.py').write_text(source)
  process = audit_process(tmp_path, stderr=subprocess.PIPE, text=True)
  while process.poll() is None:
    if list((tmp_path / 'run').glob('scores/*/*.made.json')):
      process.send_signal(signal.SIGTERM)
      break
    time.sleep(0.05)
  _, said = process.communicate()
  assert process.returncode == 75 and 'Traceback' not in said, said
  assert said.splitlines()[-1].startswith('fairjax: asked to stop')
  assert not list((tmp_path / 'run').rglob('*.part*'))
  # Nobody reads what the second one says: `2>&1 | head -1`.
  again = audit_process(tmp_path, stderr=subprocess.PIPE)
  again.stderr.close()
  assert again.wait() == 0
  assert (tmp_path / 'run' / 'report.html').exists()
  log = (tmp_path / 'run' / 'log.txt').read_text()
  assert re.search(r'\d+ of 24 pieces of scores are those kept', log)


def test_no_label_is_a_label_that_is_not_named():
  """The remedy of a row without a label was itself refused."""
  frame = rows().assign(score=scorer(rows()['text']))
  frame.loc[3, 'label'] = None
  wrong('audit without labels with', frame, None)
  frame.attrs.clear()
  own = config()
  own.data.label, own.data.path = '', __file__
  validate(own)
  read = audit_table.of_frame(frame, own)
  assert 'label' not in read.table and not read.classes


def never(texts):
  raise AssertionError('the model was asked')


@pytest.mark.parametrize(
  ('words', 'options'), small.cases(__file__, 'refused_early.json')
)
def test_what_can_be_refused_is_refused_before_inference(words, options):
  frame = rows().assign(site=rows()['text'])
  frame['hard'] = np.where(frame['label'] == 'toxic', 'hard', 'easy')
  wrong(words, frame, never, **options)


@pytest.mark.parametrize(
  'asked',
  [{}, {'fail_if': 'eqodd<0.1'}, {'fail_if': 'four_fifths<0.5'}, {'hiring': 1}],
)
def test_impact_ratios_are_said_where_they_are_asked_for(asked, tmp_path):
  rng = np.random.default_rng(0)
  sex = np.array(['f'] * 500 + ['m'] * 400 + [''] * 100)
  chosen = rng.random(1000) < np.where(sex == 'f', 0.2, 0.4)
  frame = pd.DataFrame({'sex': sex, 'label': rng.integers(0, 2, 1000)})
  asked = {k: bool(v) if k == 'hiring' else v for k, v in asked.items()}
  wanted = 'eqodd' not in str(asked) and bool(asked)
  asked |= {'n_resamples': 9000 if wanted else 50}
  fairjax.audit(chosen, frame, groups='sex', options=asked).save(tmp_path)
  file = tmp_path / 'documents' / 'impact_ratio.csv'
  assert file.is_file() == wanted
  if wanted:
    low, high = pd.read_csv(file).to_dict('records')
    rates = [chosen[sex == s].mean() for s in 'fm']
    assert low['ratio'] == pytest.approx(rates[0] / rates[1])
    assert (low['verdict'], high['verdict']) == ('below', 'the highest')
    assert low['unknown'] == 100 and low['rows'] == 500 and low['date']
    # Katz et al. (1978), at the level of two groups together.
    spread = sum((1 - r) / r / n for r, n in zip(rates, (500, 400))) ** 0.5
    ends = low['ratio'] * np.exp(np.array([-2.2414, 2.2414]) * spread)
    ours = low['ratio, low'], low['ratio, high']
    np.testing.assert_allclose(ours, ends, rtol=0.02)


def of_identity():
  """Rows whose decision depends on an identity, and not on a gender."""
  frame = rows(120)
  who = np.array(['gay', 'straight', 'lesbian'])[frame.index % 3]
  frame['text'] = [
    t.replace('the big', f'the {w} big') for t, w in zip(frame['text'], who)
  ]
  return frame.assign(identity=who)


def gays(texts):
  return [0.9 if re.search('gay|lesbian', t) else 0.2 for t in texts]


def flips_light(found):
  every = words.lights(findings.shown(found))
  return [(one.state, one.words) for one in every if one.title == 'Flips']


@pytest.mark.parametrize('line', table_rows(__file__, 'spoken.csv'))
def test_the_swap_is_named_and_speaks_of_its_own_groups(line, tmp_path):
  *both, said, light = line
  groups, swaps = (tuple(filter(None, one.split(','))) for one in both)
  (tmp_path / 'loves.csv').write_text('gay,straight\nlesbian,heterosexual\n')
  swaps = tuple(
    str(tmp_path / 'loves.csv') if s == 'LIST' else s for s in swaps
  )
  frame = of_identity()
  frame['other'] = frame['text'].str.replace('gay|lesbian', 'tall', regex=True)
  found, _ = audited(frame, gays, groups=groups, swaps=swaps)
  assert said in words.lines(found)[-1]
  assert [state for state, _ in flips_light(found)] == light.split()
  misfit = [note for note in found.notes if 'nothing is known of what' in note]
  assert bool(misfit) == (not light)
  if misfit:
    assert 'the groups compared are those of identity' in misfit[0]


@pytest.mark.parametrize(
  ('column', 'values', 'swaps'),
  [
    ('sex', ('M', 'F'), ('gender',)),
    ('who', ('men', 'women'), ('gender',)),
    ('who', ('Muslim', 'christian', ''), ('religion',)),
    ('term', ('gay', 'straight', 'old', 'young'), ('orientation', 'age')),
    ('term', ('gay', 'old', 'muslim'), ('gender',)),  # one value of each
    ('site', ('a', 'b'), ('gender',)),
  ],
)
def test_the_axes_are_those_that_the_groups_name(column, values, swaps):
  frame = pd.DataFrame({column: values * 3})
  options = config(groups=(column,))
  groups, *_ = audit_groups.groups_of(options, frame)
  assert audit_edits.chosen(options, groups).audit.swaps == swaps
  options = config(groups=(column,), swaps=('neutral', 'auto'))
  assert audit_edits.chosen(options, groups).audit.swaps == ('neutral', *swaps)


def hung(frame, **audit):
  made = config(**audit)
  groups, *_ = audit_groups.groups_of(made, frame)
  found = audit_groups.clusters_of(made, frame, groups)
  return found.cluster, found.remarks


def same(codes, wanted):
  """Equal up to the names of the clusters."""
  pairs = set(zip(codes, wanted))
  return len(pairs) == len(set(codes)) == len(set(wanted))


def test_clusters_are_equal_texts_and_values_of_a_column():
  texts = ['one', 'Two ', ' two', 'three', 'one', 'four']
  frame = pd.DataFrame({'text': texts, 'by': list('xyzzxw')})
  codes, (told,) = hung(frame)  # which was said in two lines
  assert same(codes, [0, 1, 1, 2, 0, 3]) and '4 clusters (equal texts)' in told
  codes, (copies, told) = hung(frame, cluster='by')  # y and z share a text
  assert copies.startswith('2 of 6 rows repeat the text of another row: there')
  assert '4 different texts' in copies
  assert same(codes, [0, 1, 1, 1, 0, 2]) and '(equal texts or by)' in told
  assert hung(frame, cluster='none') == (None, [copies])
  assert hung(frame.iloc[[0, 1, 3]]) == (None, [])
  with pytest.raises(UserError, match="no column 'bye'"):
    hung(frame, cluster='bye')
  with pytest.raises(UserError, match=r'one cluster \(equal texts or by\)'):
    hung(frame.assign(by='x'), cluster='by')
  p = np.random.default_rng(0).random(50)
  table = pd.DataFrame({'label': (p > 0.5) * 1, 'score': p})
  assert hung(table.assign(id='')) == hung(table[['label']]) == (None, [])
  (said,) = hung(pd.concat([table] * 5, ignore_index=True))[1]
  assert said.startswith('200 of 250 rows are equal to another row in every')


def test_copies_of_rows_change_no_interval(tmp_path):
  """Five copies of each row know what one copy knows."""

  noise = lambda t: sum(map(ord, t)) * 7919 % 101 / 100
  vague = lambda t: 0.5 * scorer(t) + 0.5 * np.array([noise(x) for x in t])
  plain = lambda t: 0.2 * scorer(t) + 0.8 * np.array([noise(x) for x in t])
  once = rows(120)
  frame = pd.concat([once] * 5, ignore_index=True)
  options = {'groups': ('gender',), 'controls': ('site',), 'costs': 'fp=1'}
  found, parts = audited(frame, vague, **options)
  base, known = audited(once, vague, **options)
  naive, _ = audited(frame, vague, cluster='none', **options)
  assert any('120 clusters (equal texts)' in one for one in found.notes)
  assert found.sets['data']['texts'] == 120
  assert '(120 different texts)' in page.basis(found)
  width = lambda one: one['high'] - one['low']
  keys = 'accuracy auc dp eqodd ece cost conditional_dp flips control_flips'
  for key in f'{keys} excess_flips score_change fprd'.split():
    a, b, c = (measured(one)[key] for one in (found, base, naive))
    assert a['value'] == pytest.approx(b['value']), key
    # Draws of clusters are on the logit scale: wider where a rate is near 1.
    near = 0.5 if key == 'eqodd' else 0.25
    assert width(a) == pytest.approx(width(b), rel=near), key
    assert width(c) < 0.7 * width(b), key
  (one,), (other,) = parts.values(), known.values()
  assert [r['p'] for r in one.slices] == [r['p'] for r in other.slices]
  of = lambda m: {w['word']: w['p'] for w in m.words['gender']}
  assert of(one) == of(other)
  gaps = [[width(r['difference']) for r in m.contrasts] for m in (one, other)]
  np.testing.assert_allclose(*gaps, rtol=0.25)
  made = config(groups=('gender',))
  tests = []
  for table in (frame, once):
    both = recipe.audit(
      made, vague, audit_table.of_frame(table, made), against=plain
    )[0]
    tests.append({t['measure']: width(t['difference']) for t in both.tests})
  for key in ('dp', 'eqodd', 'flips'):
    near = 0.5 if key == 'eqodd' else 0.25
    assert tests[0][key] == pytest.approx(tests[1][key], rel=near), key


def test_a_prediction_that_is_none_is_told_with_its_own_row():
  p = pd.Series(scorer(rows()['text']))
  for value, said in (
    ('nan', "has 'nan' in column 'score' of row 7, and numbers in others"),
    ('oops', "has 'oops' in column 'score' of row 7, and numbers in others"),
    ('1.0000001', "has 1.0000001 for column 'score' of row 7; a probability"),
  ):
    column = p.astype(str).where(p.index != 7, value)
    wrong(said, rows(), pd.DataFrame({'score': column}))
    unlabelled = rows().drop(columns='label')
    wrong(said, unlabelled, pd.DataFrame({'score': column}))
  twice = pd.concat([p.rename('score')] * 2, axis=1)
  wrong("has 2 columns named 'score'", rows(), twice)
  both = pd.concat([p.rename('p_ok')] * 2 + [p.rename('p_toxic')], axis=1)
  wrong("has 2 columns named 'p_ok'", rows(), both, scores=('p_*',))


def test_odd_data_is_told_and_measured():
  frame = rows()
  frame['gender'] = ['nobody', *frame['gender'][1:]]
  found, _ = audited(frame, scorer, groups=('gender',))
  warnings = found.sets['data']['warnings']
  assert any("'nobody' (1, fewer" in w for w in warnings)
  assert found.sets['data']['groups']['nobody']['selection_rate']['few']
  equal, _ = audited(frame, lambda t: [0.3] * len(t), fail_if='flips>0.5')
  assert any('constant' in w for w in equal.sets['data']['warnings'])
  assert equal.facts['gate'] == 'not measured'
  foreign = rows()
  foreign['text'] = [f'Das Haus ist sehr groß {i}' for i in range(240)]
  found, _ = audited(foreign, scorer, groups=('gender',))
  assert any('another language' in note for note in found.notes)
  assert any('changes no text' in note for note in found.notes)
  assert 'flips' not in measured(found)


def test_differences_of_several_attributes_are_corrected_together():
  """The page says for how many tests, and beside whom each group stands."""
  rng = np.random.default_rng(0)
  n = 600
  frame = pd.DataFrame(
    {
      'label': rng.integers(0, 2, n),
      'race': rng.choice(['black', 'white', 'asian'], n),
      'gender': rng.choice(['f', 'm', 'x'], n),
    }
  )
  shift = (frame['race'] == 'black') * 0.15 + (frame['gender'] == 'f') * 0.12
  scores = np.clip(rng.random(n) * 0.8 + shift, 0, 1).to_numpy()
  how = {'reference': 'race: white', 'intersections': False, 'n_resamples': 400}
  result = fairjax.audit(scores, frame, groups=('race', 'gender'), options=how)
  rows_ = result.measured[result.results.focus].contrasts
  assert {row['reference'] for row in rows_} == {'race: white', 'the rest'}
  together = significance.adjusted([row['p'] for row in rows_], 'holm')
  assert all(row['adjusted'] >= p - 1e-12 for row, p in zip(rows_, together)), (
    together
  )
  section = next(
    one
    for one in result.results.sections
    if ' differences to ' in one['heading']
  )
  assert (
    f'of {len(rows_)} differences to race: white or the rest'
    in (section['heading'])
  )


def test_columns_of_a_table_may_be_numbers():
  """It said that there was no column '3', and that '3' was meant."""
  frame = rows(60)
  p = scorer(frame['text'])
  table = frame[['text', 'label']].assign(**{'3': frame['gender']})
  named = fairjax.audit(p, table, groups='3', options={'n_resamples': 20})
  table = table.rename(columns={'3': 3})
  beside = pd.DataFrame({0: 1 - p, 1: p})
  for source, more in ((p, {}), (beside, {'scores': '1'})):
    how = {'n_resamples': 20, **more}
    found = fairjax.audit(source, table, groups='3', options=how)
    assert found['dp']['value'] == named['dp']['value']
  assert list(table) == ['text', 'label', 3]


def test_a_positive_label_is_named_at_the_command_line(tmp_path):
  words = ['audit', 'my.csv', '--weight', 'w', '--pos_label=ok', '--serve=1']
  flags = flags_of(words)
  assert flags[-4:] == [
    *('--config.audit.weight', 'w'),
    *('--config.measures.pos_label=ok', '--config.audit.serve=1'),
  ]
  frame = pd.DataFrame({'label': ['toxic', 'ok', 'toxic'], 'p': [0.9, 0.1, 1]})
  config = Config(recipe='audit')
  config.data.name, config.measures.pos_label = 'file', 'OK'
  assert audit_table.of_frame(frame, config).classes == ('ok', 'toxic')
  assert config.measures.pos_label == 0
  frame['label'], config.data.labels = [2, 1, 2], '1=0,2=1'
  for given, number in (('1', 0), ('2', 1), ('0', 0), (1, 1)):
    config.measures.pos_label = given  # a text is a name, if there is such one
    audit_table.of_frame(frame, config)
    assert config.measures.pos_label == config.measures.positive == number
  frame['label'], config.data.labels = ['toxic', 'ok', 'toxic'], ''
  config.measures.pos_label = 'nice'
  with pytest.raises(UserError, match=r"pos_label is 'nice'.*'ok', 'toxic'"):
    audit_table.of_frame(frame, config)


def test_an_audit_of_predictions_starts_without_what_a_fit_needs(tmp_path):
  """What a start costs, by what it imports."""
  rows = pd.DataFrame({'gender': ['f', 'm'] * 40, 'label': [0, 0, 1, 1] * 20})
  rows['score'] = [0.2, 0.7, 0.6, 0.9] * 20
  path = tmp_path / 'mine.csv'
  rows.to_csv(path, index=False)
  code = (
    'import sys, fairjax\n'
    f'one = fairjax.audit({str(path)!r}, {str(path)!r}, '
    "groups=['gender'], options={'n_resamples': 50})\n"
    "assert one['dp']['value'] == 0.5\n"
    'print(*sys.modules)'
  )
  loaded = {*programs.printed('-c', code).split()}
  heavy = {'jax', 'flax', 'optax', 'orbax', 'transformers', 'sklearn'}
  heavy |= {'scipy.stats', 'scipy.sparse', 'matplotlib'}
  assert heavy & loaded == set()
  code = 'import sys, fairjax.stages.fits; print(*sys.modules)'  # of a model
  asked = programs.printed('-c', code).split()
  assert {'orbax', 'scipy.stats'}.isdisjoint(asked)


def test_a_group_of_few_rows_is_in_no_gap_and_in_no_sentence_of_one():
  """Eight rows, all decided positive: not in gaps given controls, nor in the
  words about gaps, nor in those of thresholds."""
  rng = np.random.default_rng(1)
  sex = np.array(['f'] * 300 + ['m'] * 300 + ['x'] * 8)
  y, site = rng.integers(0, 2, 608), rng.choice(['here', 'there'], 608)
  p = np.clip(rng.normal(0.4 + 0.2 * y + 0.1 * (sex == 'f'), 0.1), 0, 1)
  p[sex == 'x'] = 0.99
  rows = pd.DataFrame({'sex': sex, 'label': y, 'site': site})
  how = {'controls': 'site', 'n_resamples': 100}
  found, without = (
    fairjax.audit(p[keep], rows[keep], groups='sex', options=how)
    for keep in (np.ones(608, bool), sex != 'x')
  )
  for name in ('conditional_dp', 'conditional_eqodd', 'dp'):
    assert found[name]['value'] == pytest.approx(without[name]['value'])
  said = ' '.join(words.lines(found.results))
  assert 'of group x' not in said and 'about women' in said
  how['equalize'] = 'demographic_parity'
  told = fairjax.audit(p, rows, groups='sex', options=how)
  direct = fairjax.thresholds(
    y, p, sex, criterion='demographic_parity', n_resamples=100
  )
  before, after = (
    1 - one['dp']['value'] for one in (direct.before, direct.after)
  )
  said = f'narrow the gap from {before:.0%} to {after:.0%}'
  assert said in repr(told.results.sections)
  assert before < 0.5


def test_thresholds_of_groups_are_on_the_page_and_in_the_folder(tmp_path):
  rng = np.random.default_rng(0)
  n = 800
  y, sex = rng.integers(0, 2, n), rng.choice(['f', 'm'], n)
  p = np.clip(rng.normal(0.4 + 0.2 * y + 0.15 * (sex == 'f'), 0.1), 0, 1)
  rows = pd.DataFrame({'sex': sex, 'label': y})
  options = {'n_resamples': 200, 'equalize': 'equal_fpr'}
  found = fairjax.audit(p, rows, groups='sex', options=options)
  page_file = found.save(tmp_path)
  shown = page_file.read_text(encoding='utf-8')
  assert 'A threshold for each group would narrow the gap from' in shown
  assert re.search(r'parity \(100 less the gap\) by \+\S+ points \[', shown)
  saved = json.loads((tmp_path / 'thresholds.json').read_text())
  direct = fairjax.thresholds(y, p, sex, criterion='equal_fpr', n_resamples=200)
  assert saved['thresholds'] == direct.thresholds
  assert saved['thresholds']['f'] > saved['thresholds']['m'] + 0.1
  few = rows.assign(sex=np.where(np.arange(len(p)) < 60, 'x', sex))
  options['min_group'] = 50
  few = fairjax.audit(p, few, groups='sex', options=options).save(tmp_path)
  assert 'The gap leaves out x: too few of these rows.' in few.read_text(
    'utf-8'
  )
  weight = np.where(sex == 'f', 1.0, 4.0) * np.where(p > 0.5, 3, 1)
  options['sample_weight'] = weight
  weighted = fairjax.audit(p, rows, groups='sex', options=options)
  direct = fairjax.thresholds(
    *(y, p, sex), criterion='equal_fpr', n_resamples=200, sample_weight=weight
  )
  equalized = weighted.measured[weighted.results.focus].equalized
  assert equalized.thresholds == direct.thresholds
  assert direct.thresholds != saved['thresholds']
  with pytest.raises(UserError, match="equalize is 'equal_fpr', but there"):
    fairjax.audit(p, rows, label='', options={'equalize': 'equal_fpr'})


@pytest.mark.parametrize('sets', [('valid',), ('test', 'identity')])
def test_an_audit_reads_one_set(sets):
  """The test rows were audited, and called 'valid'; a second set was not."""
  config = Config(recipe='audit')
  config.measures.sets = sets
  with pytest.raises(UserError, match=r'sets is .*an audit reads one'):
    audit_table.read(config)


def test_rows_of_one_writer_make_no_sure_slice_nor_word():
  """A writer of a quarter of the women's texts, whom the model gets wrong."""
  frame = rows(400)
  late = np.flatnonzero(frame['gender'] == 'female')[:50]
  frame['by'] = [f'w{k // 4}' for k in range(400)]
  frame.loc[late, 'by'] = 'one'
  wrong = {frame['text'][k] for k in late}
  fair = lambda t: [0.9 * (('awful' in x) ^ (x in wrong)) for x in t]
  for cluster, sure in (('none', True), ('by', False)):
    found, parts = audited(
      frame, fair, groups=('gender',), cluster=cluster, control=False
    )
    (one,) = parts.values()
    women = next(s for s in one.slices if s['slice'] == 'gender: female')
    assert (women['adjusted'] < 1e-6) == sure
    her = next(w for w in one.words['gender'] if w['word'] == 'she → he')
    assert (her['adjusted'] < 1e-6) == sure
    assert len([n for n in found.notes if 'less sure' in n]) == 0
    assert 'No control edit was made' in str(found.sections)
    assert 'than the control' not in str(found.sections)
