"""What people have, works; results of `assess` and `audit` have one face."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import recall_score, roc_auc_score

import fairjax
from fairjax import UserError, results
from fairjax.report import tables, terminal

N = 120
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
P = (0.3 * Y + 0.7 * RNG.random(N)).round(3)
SEX = RNG.choice(['f', 'm'], N)
TEXTS = [
  f'{"She" if s == "f" else "He"} said it was {"awful" if y else "fine"} {i}.'
  for i, (s, y) in enumerate(zip(SEX, Y))
]
Y[0] = 1 - Y[0]  # so that nobody is right on all
AGE = RNG.integers(18, 80, N)
QUICK = {'n_resamples': 60}


def frame(**more):
  data = {'text': TEXTS, 'label': np.array(['ok', 'toxic'])[Y], 'sex': SEX}
  return pd.DataFrame({**data, **more})


def plain(**more):
  return frame(**more).drop(columns='text')


def audit(model, data=None, groups=(), **more):
  return fairjax.audit(model, data, groups=groups, options={**QUICK, **more})


@functools.cache
def by_name():
  return audit(P, plain(), groups='sex')


def chance(texts):
  return np.array([0.9 if 'awful' in text else 0.2 for text in texts])


def words(texts):
  return ['toxic' if 'awful' in text else 'ok' for text in texts]


class Decides:
  def predict(self, texts):
    return words(texts)


class Chances:
  classes_ = np.array(['ok', 'toxic'])

  def predict_proba(self, texts):
    return np.stack([1 - chance(texts), chance(texts)], 1)


def pipeline(texts):
  names = np.where(chance(texts) > 0.5, 'toxic', 'ok')
  return [
    {'label': n, 'score': max(p, 1 - p)} for n, p in zip(names, chance(texts))
  ]


def every_score(texts):
  return [
    [{'label': 'toxic', 'score': p}, {'label': 'ok', 'score': 1 - p}]
    for p in chance(texts)
  ]


def by_label(texts):
  return [{'toxic': p, 'ok': 1 - p} for p in chance(texts)]


def shouted(texts):
  return [f'**{word.title()}.**\n' for word in words(texts)]


def generated(texts):
  return (p for p in chance(texts))


# Kinds of models: each says 'toxic' where a text is awful, so it is right.


@pytest.mark.parametrize(
  'model',
  [
    *(chance, words, Decides(), Chances(), pipeline, every_score),
    *(chance(TEXTS), list(chance(TEXTS)), pd.Series(chance(TEXTS))),
    *(words(TEXTS), np.array(words(TEXTS)), Chances().predict_proba(TEXTS)),
    *(pd.DataFrame({'p': chance(TEXTS)}), {'p': chance(TEXTS)}),
    *([{'p': p} for p in chance(TEXTS)], pipeline(TEXTS)),
    *(every_score(TEXTS), tuple(chance(TEXTS)), chance(TEXTS)[:, None]),
    *(by_label, shouted, generated, by_label(TEXTS)),
    lambda texts: {'toxic': [*chance(texts)], 'ok': [*1 - chance(texts)]},
  ],
  ids=lambda model: getattr(model, '__name__', type(model).__name__),
)
def test_a_model_of_any_kind_is_audited(model):
  found = audit(model, frame(), groups='sex', swaps=())
  assert found['accuracy']['value'] == pytest.approx(1 - 1 / N)


@pytest.mark.parametrize(
  'given',
  [
    *(['sex'], SEX, pd.Series(SEX), {'of': SEX}, list(SEX)),
    pd.DataFrame({'sex': SEX}),
  ],
  ids=lambda one: type(one).__name__,
)
def test_groups_are_named_or_given_themselves(given):
  found = audit(P, plain(), groups=given)
  assert found['dp'] == by_name()['dp']


def test_clusters_are_given_themselves():
  together = audit(P, plain(), cluster=np.arange(N) // 2)
  assert 'rows are 60 clusters' in ' '.join(together.results.notes)


def test_the_positive_label_has_a_name():
  ask = lambda p, one: audit(p, plain(), groups='sex', pos_label=one)
  share = lambda p, one: ask(p, one)['base_rate']['value']
  assert share(P, 'toxic') == share(P, 1) == share(P, None) == Y.mean()
  assert share(1 - P, 'ok') == pytest.approx(1 - Y.mean())


def test_a_table_of_several_models_is_read_by_column():
  both = {'a': P, 'b': 1 - P}
  found = audit(both, plain(), scores=['b', 'a'])
  assert [*found.results.contenders] == ['b', 'a']


def test_texts_alone_are_data():
  found = audit(chance, TEXTS)
  assert found['flips']['value'] == 0


def test_decisions_of_a_function_have_no_ranks():
  assert 'auc' not in audit(words, frame(), groups='sex')
  assert 'auc' in audit(chance, frame(), groups='sex')


# Kinds of tables


def kinds():
  import pyarrow as pa

  data = plain(score=P)
  return {
    'pandas': data,
    'pyarrow': pa.Table.from_pandas(data),
    'mapping': data.to_dict('list'),
    'records': data.to_dict('records'),
  }


@pytest.mark.parametrize('name', kinds())
def test_a_table_of_any_kind_is_audited(name):
  data = kinds()[name]
  found = audit('score', data, groups=['sex'])
  assert found['accuracy']['value'] == np.mean((P >= 0.5) == Y)
  assert audit(data, groups=['sex'])['dp'] == found['dp']


def test_tables_of_polars_and_of_hugging_face_are_audited():
  pl = pytest.importorskip('polars')
  data = plain(score=P)
  expected = by_name()['dp']
  own = pl.DataFrame(data.to_dict('list'))
  for one in (own, own.lazy()):
    assert audit('score', one, groups='sex')['dp'] == expected
  found = fairjax.assess(
    own['label'], own['score'], own[['sex']], pos_label='toxic', **QUICK
  )
  assert found['dp']['value'] == expected['value']
  hf = pytest.importorskip('datasets')
  one = hf.Dataset.from_pandas(data)
  assert audit('score', one, groups='sex')['dp'] == expected
  with pytest.raises(UserError, match=r"splits 'train'; give one, as in data"):
    audit('score', hf.DatasetDict({'train': one}))


MODULE = """
import numpy as np

def chance(texts):
  return np.array([0.9 if 'awful' in text else 0.2 for text in texts])

class Model:
  classes_ = np.array(['ok', 'toxic'])

  def predict_proba(self, texts):
    return np.stack([1 - chance(texts), chance(texts)], 1)

model = Model()
"""


def files(folder):
  """What `fairjax audit MODEL DATA` is given: predictions, or code."""
  p = pd.DataFrame({'p': chance(TEXTS)})
  p.to_csv(folder / 'p.csv', index=False)
  p.assign(more=1).to_csv(folder / 'p.tsv', sep='\t', index=False)
  p.assign(more=1).to_csv(folder / 'semicolons.csv', sep=';', index=False)
  p.to_json(folder / 'p.jsonl', orient='records', lines=True)
  p.to_json(folder / 'p.json', orient='records')
  p.to_parquet(folder / 'p.parquet')
  pd.DataFrame({'said': words(TEXTS)}).to_csv(folder / 'w.csv', index=False)
  by_class = pd.DataFrame(by_label(TEXTS))
  by_class.to_csv(folder / 'by_class.csv', index=False)
  by_class.add_prefix('p_').to_csv(folder / 'p_.csv', index=False)
  (folder / 'pipeline.json').write_text(json.dumps(pipeline(TEXTS)))
  (folder / 'every_score.json').write_text(json.dumps(every_score(TEXTS)))
  (folder / 'kinds_module.py').write_text(MODULE)
  named = [str(path) for path in sorted(folder.glob('*.*[!y]'))]
  return [*named, 'kinds_module:chance', 'kinds_module:model']


def test_files_and_code_of_any_kind_are_audited(tmp_path, monkeypatch):
  monkeypatch.syspath_prepend(tmp_path)
  for model in files(tmp_path):
    found = audit(model, frame(), groups='sex', swaps=())
    assert found['accuracy']['value'] == pytest.approx(1 - 1 / N), model


@pytest.mark.parametrize(
  'groups',
  [
    *(SEX, list(SEX), pd.Series(SEX), pd.Series(SEX).astype('category')),
    *({'sex': SEX}, pd.DataFrame({'sex': SEX}), SEX == 'f'),
  ],
  ids=lambda one: type(one).__name__,
)
def test_groups_of_any_kind_are_assessed(groups):
  found = fairjax.assess(Y, P, groups, **QUICK)
  f, m = ((P[SEX == s] >= 0.5).mean() for s in 'fm')
  assert found['dp']['value'] == pytest.approx(1 - abs(f - m))
  assert len(found.groups) == 2


def test_a_continuous_column_is_cut_into_bands():
  found = fairjax.assess(Y, P, {'age': AGE + RNG.random(N)}, **QUICK)
  assert len(found.groups) == 4
  assert 'cut at its quartiles' in ' '.join(found.warnings)


# One face


def faces():
  return (fairjax.assess(Y, P, {'sex': SEX}, **QUICK), by_name())


def test_results_have_one_face():
  assessed, audited = faces()
  for one in (assessed, audited):
    assert 'dp' in one and 'nosuch' not in one
    assert 'auc' in list(one) and len(one) == len(one.keys())
    assert dict(one)['dp'] == one['dp']
    assert list(one.groups.index) == ['f', 'm']
    both = one.to_frame().set_index(['group', 'measure']).loc[('f', 'fpr')]
    assert both['low'] <= one.by_group.loc['f', 'fpr'] <= both['high']
    assert isinstance(one.warnings, list)
    assert one.plot('fpr').axes
    for ask in (one.__getitem__, one.plot):
      with pytest.raises(UserError, match="'fprr' was not measured; did you"):
        ask('fprr')
      with pytest.raises(KeyError) as told:
        ask('nosuch')
      assert str(told.value).startswith("'nosuch' was not measured")
  pd.testing.assert_frame_equal(
    assessed.groups[['fpr', 'auc']], audited.groups[['fpr', 'auc']]
  )


def test_results_of_either_are_saved_as_a_page(tmp_path, capsys):
  for k, one in enumerate(faces()):
    folder = tmp_path / str(k)
    page = one.save(folder)
    assert page == folder / 'report.html'
    words = page.read_text(encoding='utf-8')
    assert 'is missing' not in words and 'of those about ' in words
    kept = pd.read_parquet(folder / 'predictions.parquet')
    assert (kept['p0'] == P).all() and (kept['group'] == SEX).all()
    assert json.loads((folder / 'results.json').read_text())['contenders']
    assert (folder / 'documents' / 'numbers.csv').exists()
    assert f'the report is {page}' in capsys.readouterr().err
    with pytest.raises(UserError, match='is a file; name a folder'):
      one.save(page)
    with pytest.raises(UserError, match='the path of a folder is needed'):
      one.save(3)


@pytest.mark.parametrize('positive', ['ok', 'toxic'])
def test_a_page_of_an_assessment_has_the_names_of_labels(tmp_path, positive):
  y = np.array(['ok', 'toxic'])[Y]
  p = P if positive == 'toxic' else 1 - P
  found = fairjax.assess(y, p, SEX, pos_label=positive, **QUICK)
  words = found.save(tmp_path).read_text(encoding='utf-8')
  other = {'ok': 'toxic', 'toxic': 'ok'}[positive]
  assert f'decided ‘{positive}’' in words or f'decided ‘{other}’' in words
  kept = pd.read_parquet(tmp_path / 'predictions.parquet')
  assert (kept['label'] == (y == positive)).all()
  assert f'probability of ‘{positive}’' in words


def test_assessments_of_classes_and_of_seeds_are_saved(tmp_path):
  y = RNG.integers(0, 3, N)
  chances = RNG.dirichlet([1, 1, 1], N)
  several = fairjax.assess(Y, np.stack([P, 1 - P]), SEX, **QUICK)
  fairjax.assess(y, chances, SEX, **QUICK).save(tmp_path / 'classes')
  kept = pd.read_parquet(tmp_path / 'classes' / 'predictions.parquet')
  assert (kept[['p0_c0', 'p0_c1', 'p0_c2']].to_numpy() == chances).all()
  several.save(tmp_path / 'seeds')
  kept = pd.read_parquet(tmp_path / 'seeds' / 'predictions.parquet')
  assert (kept['p1'] == 1 - P).all()
  assert fairjax.assess(Y, P, **QUICK).save(tmp_path / 'all').exists()


def test_a_gate_is_read_off_the_result():
  for bound, said in (0.1, 'passed'), (0.99, 'failed'), (0.6, 'not decided'):
    assert audit(P, plain(), 'sex', fail_if=f'accuracy<{bound}').gate == said
  with pytest.raises(UserError, match='acuracy'):
    audit(P, plain(), fail_if='acuracy<0.2')


def test_rows_that_cannot_be_used_are_dropped_where_that_is_asked_for():
  data = plain()
  data.loc[3, 'label'] = None
  with pytest.raises(UserError, match=r"rows with options={'on_bad': 'drop'}"):
    audit('score', data.assign(score=P))
  found = audit('score', data.assign(score=P), on_bad='drop')
  assert found.results.sets['data']['rows'] == N - 1


# A user's own measures


def test_measures_of_ones_own_are_of_everyone_and_of_groups():
  fair = pytest.importorskip('fairlearn.metrics')
  mine = {'recall': recall_score, 'ranks': roc_auc_score}
  found = fairjax.assess(Y, P, SEX, metrics=mine, n_resamples=200)
  rows = {'y_true': Y, 'y_pred': P >= 0.5, 'sensitive_features': SEX}
  theirs = fair.MetricFrame(metrics={'recall': recall_score}, **rows)
  assert found['recall']['value'] == pytest.approx(theirs.overall['recall'])
  sure = found.to_frame().set_index(['group', 'measure']).sort_index()
  for name in 'fm':
    assert found.groups.loc[name, 'recall'] == pytest.approx(
      theirs.by_group.loc[name, 'recall']
    )
    # As sure as the same measure of ours says, to the noise of 200 draws.
    own, ours = (sure.loc[(name, m)] for m in ('recall', 'tpr'))
    assert own['low'] < own['value'] <= own['high']
    assert own['high'] - own['low'] == pytest.approx(
      ours['high'] - ours['low'], rel=0.5
    )
  gap = found['recall_difference']
  assert gap['value'] == pytest.approx(theirs.difference()['recall'])
  assert found['ranks']['value'] == pytest.approx(found['auc']['value'])


def test_measures_of_ones_own_are_saved(tmp_path):
  how = {'metrics': {'mine': recall_score}, 'n_resamples': 0}
  found = fairjax.assess(Y, P, SEX, **how)
  found.save(tmp_path / 'run')
  again = results.read(tmp_path / 'run').measured('model', 'data')
  for name in ('mine', 'mine_difference'):
    assert again[name]['value'] == found[name]['value'] != 0
  found = fairjax.assess(Y, P, SEX, metrics={'mine': recall_score})
  table = terminal.summary(found.results)  # they stood on the page alone
  for name in ('mine', 'mine_difference'):
    assert f'| {name:41} | {tables.estimate(found[name]):>20} |' in table


def test_draws_of_ones_own_measures_are_of_clusters():
  y, p, sex = (np.repeat(x, 4) for x in (Y, P, SEX))
  mine, at = {'recall': recall_score}, 'group == "f" and measure == "recall"'
  of = lambda **more: fairjax.assess(y, p, sex, metrics=mine, **more)
  width = lambda **more: np.ptp(
    of(**more).to_frame().query(at)[['low', 'high']]
  )
  alone, together = width(), width(cluster=np.repeat(np.arange(N), 4))
  assert together > 1.4 * alone  # four copies are one row: twice as wide
