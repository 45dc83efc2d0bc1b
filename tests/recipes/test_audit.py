"""Audits of functions, files, folders and tables, from data to the page."""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import results
from fairjax.config import Config
from fairjax.data import audit_table
from fairjax.errors import Failed, UserError
from fairjax.recipes import audit as recipe
from fairjax.recipes import audit_edits, audit_groups, audit_measure
from fairjax.report import page

WORDS = (
  'she he her his woman man the old tools returned big car said happy'.split()
)


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


def scorer(texts):
  """Women are called toxic; 'large' for 'big' changes a little."""
  p = np.array(
    [
      0.15
      + 0.6 * ('awful' in t)
      + 0.5 * ('she ' in t.lower()[:4])
      + 0.02 * ('large' in t)
      for t in texts
    ]
  )
  return np.clip(p, 0, 1)


def config(**audit):
  made = Config(recipe='audit', seeds=1)
  made.data.name, made.measures.resamples = 'file', 200
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
  heads = [s['heading'] for s in found.sections]
  assert any(h.startswith('Group words change decisions') for h in heads)
  (one,) = parts.values()
  assert one.words['gender'][0]['word'] in ('she → he', 'he → she')


def test_the_page_is_whole_escaped_and_its_documents_are_there(
  tmp_path, unspoken
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
  sys.path.insert(0, str(tmp_path))
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
  assert (
    'Of 100 texts about women labelled ‘ok’, 100 are decided ‘toxic’' in page
  )
  assert '<b>1</b>' not in page and '&lt;b&gt;' in page
  assert 'id="blur0" checked' in page  # the classes say that texts may offend
  assert page.count('<li class="') == 3  # lights
  assert 'class="bad"' in page and 'data:text/csv;base64' in page
  assert 'http' not in page.replace('data:', '')
  assert page.count('<svg') > 5 and unspoken(page) == []
  assert found.facts['gate'] == 'passed'
  for name in ('numbers.csv', 'measures.tex', 'groups.tex', 'model_card.md'):
    assert (folder / 'documents' / name).stat().st_size
  card = (folder / 'documents' / 'model_card.md').read_text()
  yaml = pytest.importorskip('yaml').safe_load(card.split('---')[1])
  metrics = yaml['model-index'][0]['results'][0]['metrics']
  assert {'dp', 'flips'} <= {m['type'] for m in metrics}
  assert 'to be filled in' in card and 'Art. 10' in card
  assert r'\toprule' in (folder / 'documents' / 'groups.tex').read_text()
  again = results.read(folder)
  known = again.measured(again.focus, 'comments')
  assert 'conditional_dp' in known and 'cost_gap' in known


def test_a_gate_that_fails_is_exit_code_1(tmp_path, monkeypatch, capsys):
  frame = rows().assign(score=scorer(rows()['text']))
  path = tmp_path / 'predictions.csv'
  frame.to_csv(path, index=False)
  made = config(fail_if='eqodd<0.8', groups=('gender',))
  made.data.path = str(path)
  with pytest.raises(Failed, match=r'eqodd is 0\.\d+ \[.* fails'):
    recipe.run(made, tmp_path / 'run')
  assert (tmp_path / 'run' / 'report.html').exists()


@pytest.mark.parametrize(
  'rule, code, words',
  [
    (
      'eqodd<0.8',
      1,
      r"the gate 'eqodd<0.8' failed: eqodd is 0\.\d+ \[.* fails",
    ),
    ('eqodd<0.05', 0, ''),
  ],
)
def test_a_gate_ends_the_process_with_its_exit_code(
  tmp_path, rule, code, words
):
  frame = rows(120).assign(score=scorer(rows(120)['text']))
  path = tmp_path / 'predictions.csv'
  frame[['label', 'gender', 'score']].to_csv(path, index=False)
  done = subprocess.run(
    [
      *(sys.executable, '-m', 'fairjax.main', 'audit', str(path)),
      *('--config.audit.groups=gender', f'--config.audit.fail_if={rule}'),
      *('--config.measures.resamples=100', f'--workdir={tmp_path / "run"}'),
    ],
    capture_output=True,
    text=True,
    cwd=pathlib.Path(fairjax.__file__).parents[1],
  )
  assert done.returncode == code, done.stderr
  lines = done.stderr.splitlines()
  sentences = [line for line in lines if line.startswith('fairjax: ')]
  assert sentences == (lines[-1:] if code else [])
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
  edited['score'] = scorer(edited['text'])
  edited.to_csv(tmp_path / 'scored.csv', index=False)
  made.audit.edited = str(tmp_path / 'scored.csv')
  found = recipe.run(made, tmp_path / 'second')
  here, _ = audited(rows(), scorer, groups=('gender',))
  known = found.measured(found.focus, 'predictions')
  for name in (
    'flips',
    'control_flips',
    'excess_flips',
    'tprd',
    'score_change',
  ):
    assert known[name]['value'] == pytest.approx(measured(here)[name]['value'])
  edited.head(5).to_csv(tmp_path / 'scored.csv', index=False)
  with pytest.raises(UserError, match='no prediction of the edited text'):
    recipe.run(made, tmp_path / 'third')


def test_several_models_are_compared_row_by_row():
  frame = rows()
  fair = np.where(frame['label'] == 'toxic', 0.9, 0.1)
  frame = frame.assign(ours=scorer(frame['text']), other=fair)
  found, _ = audited(frame, None, scores=('ours', 'other'), groups=('gender',))
  assert list(found.contenders) == ['ours', 'other']
  tests = {t['measure']: t for t in found.tests}
  assert tests['eqodd']['difference']['value'] > 0.3
  assert tests['eqodd']['p'] < 0.05 and tests['eqodd']['p_adjusted'] < 0.05
  assert tests['eqodd']['ours'] == 'other'


def test_two_functions_are_compared_in_flips_too():
  frame = rows()
  plain = lambda texts: np.array([0.9 if 'awful' in t else 0.1 for t in texts])
  made = config(groups=('gender',))
  found, _ = recipe.audit(
    made, scorer, audit_table.of_frame(frame, made), against=plain
  )
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


def test_decisions_by_name_have_no_ranks():
  frame = rows()
  decided = np.where(scorer(frame['text']) >= 0.5, 'toxic', 'ok')
  found, _ = audited(frame.assign(pred=decided), None, groups=('gender',))
  here, _ = audited(rows(), scorer, groups=('gender',))
  known = measured(found)
  assert 'auc' not in known and 'ece' not in known
  assert known['eqodd'] == measured(here)['eqodd']


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
  numbered = frame.assign(
    **{f'p{k}_c': 0 for k in range(0)},
    **{f'prob_{k}': p[:, k] for k in range(3)},
  )
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


def test_the_library_audits_a_frame():
  found = fairjax.audit(scorer, rows(), groups=['gender'], n_resamples=100)
  assert found['flips']['value'] > 0.3
  assert 'Of 100 texts about women' in repr(found)
  assert 'html' in found._repr_html_() and len(found.to_frame())
  p = scorer(rows()['text'])
  plain = fairjax.audit(p, rows(), groups=['gender'], n_resamples=100)
  assert plain['dp']['value'] == found['dp']['value']


# Mistakes, a sentence each


def wrong(match, frame, source, **options):
  with pytest.raises(UserError, match=match) as error:
    audited(frame, source, **options)
  assert '\n' not in str(error.value)


def test_mistakes_are_one_sentence_each():
  frame = rows()
  p = pd.DataFrame({'score': scorer(frame['text'])})
  wrong('239 rows and the data has 240', frame, p.iloc[:-1])
  other = p.assign(text=frame['text'].iloc[::-1].to_numpy())
  wrong('predictions of other rows', frame, other)
  named = frame.assign(id=[f'r{i}' for i in range(240)])
  ids = p.assign(id=[f'x{i}' for i in range(240)])
  wrong("no prediction of id 'r0'", named, ids)
  both = pd.DataFrame({'p_ok': 0.5, 'p_toxic': np.r_[0.5, 0.7, [0.5] * 238]})
  wrong('row 1 of the predictions sum to 1.2', frame, both)
  odd = pd.DataFrame({'p_good': 0.5, 'p_bad': [0.5] * 240})
  wrong('not called as the labels', frame, odd)
  wrong('from 0 to 1', frame, p * 7)
  wrong(
    'is no number|no prediction',
    frame,
    p.assign(score=p['score'].where(p.index != 3)),
  )
  wrong(
    'no column.*prediction',
    frame,
    p.assign(b=1, c=2).rename(columns={'score': 'a'}),
  )
  many = frame.assign(user=[f'u{i}' for i in range(240)])
  many = pd.concat([many] * 2, ignore_index=True).assign(
    user=[f'u{i}' for i in range(480)]
  )
  wrong('480 values, and at most 300', many, scorer, groups=('user',))
  wrong(
    "no column 'gendr'.*--config.audit.groups=gender",
    frame,
    scorer,
    groups=('gendr',),
  )
  wrong('is no column of numbers', frame, scorer, groups=('gender:1/2',))
  wrong("reference is 'x'", frame, scorer, groups=('gender',), reference='x')
  wrong("write it as 'fp=1", frame, scorer, costs='1,2')
  wrong(
    "did you mean 'eqodd'", frame, scorer, fail_if='eqod<1', groups=('gender',)
  )
  wrong("there is no model 'nowhere'", frame, 'nowhere')
  wrong('cannot be loaded', frame, 'no_such_module:f')
  wrong('no validation rows', frame, scorer, choose='eer')
  wrong('returns 7 for a text', frame, lambda texts: np.full(len(texts), 7))
  wrong('returns shape', frame, lambda texts: np.zeros(3))
  wrong("audit.swaps has 'gander'", frame, scorer, swaps=('gander',))


def test_odd_data_is_told_and_measured():
  frame = rows()
  frame['gender'] = ['nobody', *frame['gender'][1:]]
  found, _ = audited(frame, scorer, groups=('gender',))
  warnings = found.sets['data']['warnings']
  assert any("'nobody' has 1 row" in w for w in warnings)
  assert found.sets['data']['groups']['nobody']['selection_rate']['few']
  equal, _ = audited(frame, lambda t: np.full(len(t), 0.3), groups=('gender',))
  assert any('constant' in w for w in equal.sets['data']['warnings'])
  foreign = rows()
  foreign['text'] = [f'Das Haus ist sehr groß {i}' for i in range(240)]
  found, _ = audited(foreign, scorer, groups=('gender',))
  assert any('another language' in note for note in found.notes)
  assert any('changes no text' in note for note in found.notes)
  assert 'flips' not in measured(found)


def test_the_wordings_of_a_text_are_told():
  options = audit_edits._options('gender', Config())
  texts = ['She left.', 'He left.', 'She saw him.', 'It rained.']
  assert list(audit_edits.sides(texts, options)) == [1, -1, 0, 0]


def test_slices_know_terms_bands_and_lengths():
  frame = rows()
  made = config(groups=('gender', 'age:30/50'), controls=('site',))
  found = audit_table.of_frame(frame, made)
  known = audit_measure.conditions(
    found.table, audit_groups.who(made, found.table)
  )
  assert {'gender', 'age', 'site', 'words'} <= set(known)
  assert sum(m.sum() for m in known['age'].values()) == len(frame)


def test_results_json_holds_numbers_only(tmp_path):
  found, _ = audited(rows(60), scorer, groups=('gender',))
  results.write(tmp_path, found)
  assert 'NaN' not in json.dumps(
    json.loads((tmp_path / results.FILE).read_text())
  )


def test_a_page_of_thirty_groups_is_one_small_file(tmp_path, unspoken):
  frame = rows(1200)
  of = np.random.default_rng(1).integers(0, 30, len(frame))
  frame = frame.assign(origin=[f'origin {k}' for k in of])
  found, _ = audited(frame, scorer, groups=('origin',), controls=('site',))
  assert len(found.sets['data']['groups']) == 30
  html = (
    page.publish(tmp_path, found) and (tmp_path / 'report.html').read_text()
  )
  assert len(html.encode()) < 2_000_000 and unspoken(html) == []
  assert page.report(tmp_path) == html  # made again from its folder


def test_the_console_form_is_flags_of_the_config():
  from fairjax.commands import flags_of
  from fairjax.errors import UserError

  assert flags_of(['audit', 'model', 'my.csv', '--config.seed=3']) == [
    '--config=configs/audit.py',
    '--config.audit.model=model',
    '--config.data.path=my.csv',
    '--config.data.name=file',
    '--config.seed=3',
  ]
  assert '--config.data.path=my.csv' in flags_of(['audit', 'my.csv'])
  with pytest.raises(UserError, match='MODEL_OR_PREDICTIONS'):
    flags_of(['audit', '--config.seed=3'])
