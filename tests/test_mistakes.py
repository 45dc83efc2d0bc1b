"""Mistakes of users at the library's doors, and what each is told."""

import re

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax.core.errors import UserError

N = 60
Y = np.tile([0, 1], N // 2)
P = np.clip(0.3 + 0.4 * Y + np.linspace(-0.2, 0.2, N), 0, 1)
BOTH = np.stack([1 - P, P], -1)
THREE = np.full((N, 3), 1 / 3)
G = np.repeat(['f', 'm'], N // 2)

NAMED = pd.DataFrame({'text': ['a', 'b'] * 30, 'label': Y})
TABLE = NAMED.assign(id=[f'r{i}' for i in range(N)])
ROWS = NAMED.assign(label=np.where(Y, 'toxic', 'ok'), sex=G)
PLAIN = ROWS.drop(columns='text')


def assess(**given):
  return fairjax.assess(**(dict(y_true=Y, y_score=P, n_resamples=50) | given))


def of(**given):
  return lambda: assess(**given)


def chance(texts):
  return np.full(len(texts), 0.2)


def one_text(text):
  return text.strip()[:1]


# A call, and what its sentence must hold: what was given, or the remedy.
MISTAKES = {
  'logits': (of(y_score=P * 8 - 4), 'of logits take the sigmoid'),
  'percent': (of(y_score=P * 100), 'divide percents by 100'),
  'negative': (of(y_score=P - 0.5), 'from 0 to 1'),
  'words': (of(y_score=['high'] * N), "'high' for row 0, but the labels are"),
  'no number': (of(y_score=[*P[:-1], np.nan]), f'nan for row {N - 1}'),
  'too few': (of(y_score=P[:-1]), 'y_score has shape'),
  'logits of classes': (
    of(y_true=[0, 1, 2] * 20, y_score=THREE * 9),
    'softmax first',
  ),
  'negative of classes': (
    of(y_true=[0, 1, 2] * 20, y_score=THREE + [[-0.5, 0.5, 0]]),
    'for row 0; a probability',
  ),
  'two columns that do not add up': (of(y_score=BOTH * 0.9), 'not to 1'),
  'three classes of two labels': (of(y_score=THREE), 'y_true has 2'),
  'a name for a column': (of(groups='gender'), "groups=table['gender']"),
  'two columns as an array': (
    of(groups=np.stack([G, G], -1)),
    'as a table or a mapping',
  ),
  'groups of other rows': (of(groups=G[:-1]), 'values for 60 rows'),
  'groups that are empty': (of(groups=[''] * N), 'is empty in every row'),
  'infinite ages': (of(groups=[np.inf] * N), 'infinite numbers'),
  'threshold 50': (of(threshold=50), 'threshold is 50'),
  'threshold nan': (of(threshold=np.nan), 'threshold is nan'),
  'threshold of words': (of(threshold='half'), "or 'eer', is needed"),
  'level 95': (of(confidence_level=95), 'confidence_level is 95'),
  'level as text': (of(confidence_level='95%'), 'such as 0.95'),
  'resamples -1': (of(n_resamples=-1), 'n_resamples is -1'),
  'resamples 1.5': (of(n_resamples=1.5), 'a whole number'),
  'seed None': (of(random_state=None), 'random_state is None'),
  'names without pos_label': (
    of(y_true=np.where(Y, 'toxic', 'ok')),
    "pos_label='toxic'",
  ),
  'a pos_label that is none': (of(pos_label='toxic'), 'the labels are'),
  'no rows': (of(y_true=[], y_score=[]), 'a label for each row'),
  'a missing label': (of(y_true=[None, *Y[1:]]), 'row 0 of y_true'),
  'cluster: a name for a column': (
    lambda: assess(cluster='template'),
    "cluster=table['template']",
  ),
  'cluster of other rows': (
    lambda: assess(cluster=np.arange(N - 1)),
    'cluster has shape (59,) for 60 rows',
  ),
  'cluster as two columns': (
    lambda: assess(cluster=np.zeros((N, 2))),
    'give one value a row',
  ),
  'all rows one cluster': (
    lambda: assess(cluster=['a'] * N),
    'all rows are one cluster',
  ),
  'comparing other rows': (
    lambda: fairjax.compare(assess(), assess(y_true=1 - Y)),
    'predictions of the same rows in the same order',
  ),
  'weights of a misspelt option': (
    lambda: fairjax.weights(TABLE, z='columns:id', fold=3),
    "no option 'fold'",
  ),
  'weights by no column': (
    lambda: fairjax.weights(TABLE, z='columns:sex'),
    "the column 'sex'; the table has text, label, id",
  ),
  'weights by nothing known': (
    lambda: fairjax.weights(TABLE, z='gende'),
    "'identity' or 'columns:a,b' is needed",
  ),
  'weights of an unknown estimator': (
    lambda: fairjax.weights(TABLE, estimator='tree'),
    "'tree'; it must be one of 'forest'",
  ),
  'a table without text': (
    lambda: fairjax.weights(TABLE.drop(columns='text')),
    "no column 'text'; rename yours",
  ),
  'a table without label': (
    lambda: fairjax.weights(TABLE.drop(columns='label')),
    "no column 'label'; rename yours",
  ),
  'ids twice': (
    lambda: fairjax.weights(TABLE.assign(id='x')),
    "id 'x' twice",
  ),
  'labels -1 and 1': (
    lambda: fairjax.weights(TABLE.assign(label=2 * Y - 1), z='columns:id'),
    'row 0 has the label -1; number the classes from 0',
  ),
  'a column twice': (
    lambda: fairjax.weights(pd.concat([TABLE, TABLE[['label']]], axis=1)),
    "the column 'label' twice",
  ),
  'no label in a row': (
    lambda: fairjax.weights(TABLE.assign(label=[None, *['a'] * (N - 1)])),
    'row 0 of the column label has no label',
  ),
  'a swap in no direction': (
    lambda: fairjax.swap('She left.', direction='up'),
    "direction is 'up'; it must be one of",
  ),
  'words from no file': (
    lambda: fairjax.swap('She left.', words='/no/such.txt'),
    'cannot read the word list /no/such.txt',
  ),
  'a model from no folder': (
    lambda: fairjax.load('/no/model'),
    'folder /no/model does not',
  ),
  'a precision that is none': (
    lambda: fairjax.load('/no/model', precision='float8'),
    "'float8'; it must be one of",
  ),
  'a diet by no ranking': (
    lambda: fairjax.diet(TABLE, ranking='best'),
    "no ranking named 'best'",
  ),
  'a diet of more than all': (
    lambda: fairjax.diet(TABLE.assign(ge=0.0), factual=40),
    'a share of the rows in [0, 1]',
  ),
  'an audit by no column': (
    lambda: fairjax.audit(P, TABLE, groups=['sex'], n_resamples=50),
    "no column 'sex', its columns are",
  ),
  'an audit of fewer scores': (
    lambda: fairjax.audit(P[:-1], TABLE, n_resamples=50),
    'shape (59,) for 60 rows',
  ),
  'an audit of percents': (
    lambda: fairjax.audit(P * 100, TABLE, n_resamples=50),
    'from 0 to 1',
  ),
  'an audit of no rows': (
    lambda: fairjax.audit(P[:0], TABLE[:0], n_resamples=50),
    'no rows',
  ),
  'an audit of an empty text': (
    lambda: fairjax.audit(
      P, TABLE.assign(text=[None, *TABLE['text'][1:]]), n_resamples=50
    ),
    'nan for a text in row 0; give it one',
  ),
  'an audit over a cluster that is no column': (
    lambda: fairjax.audit(P, TABLE, cluster='page', n_resamples=50),
    "no column 'page', its columns are",
  ),
  'an audit over one cluster': (
    lambda: fairjax.audit(
      P, TABLE.assign(page='x'), cluster='page', n_resamples=50
    ),
    'no interval can be made of one cluster',
  ),
  'an audit of three classes': (
    lambda: fairjax.audit(THREE, TABLE, n_resamples=50),
    'has 3 classes, and the labels of the data are 0, 1',
  ),
  'a function of three classes': (
    lambda: fairjax.audit(
      lambda texts: np.full((len(texts), 3), 1 / 3), TABLE, n_resamples=50
    ),
    'has 3 classes, and the labels of the data are 0, 1',
  ),
  'bands of names': (
    lambda: fairjax.audit(
      P, TABLE.assign(sex=G), groups=['sex:1/2'], n_resamples=50
    ),
    'no column of numbers',
  ),
  'no_seed_audit': (
    lambda: fairjax.audit(P, PLAIN, random_state=None),
    'random_state',
  ),
  'metric': (
    lambda: fairjax.assess(Y, P, G, metrics={'mine': 3}),
    'no function',
  ),
  'metric_known': (
    lambda: fairjax.assess(Y, P, G, metrics={'dp': len}),
    'already',
  ),
  'metric_ends': (
    lambda: fairjax.assess(Y, P, G, metrics={'m': lambda y, d: 1 / 0}),
    'ZeroDivisionError',
  ),
  'label': (lambda: fairjax.audit(P, PLAIN, label='lable'), "label='label'"),
  'text': (
    lambda: fairjax.audit(chance, ROWS, text='txt'),
    "text='text'",
  ),
  'no_text': (lambda: fairjax.audit(chance, PLAIN), 'text=…'),
  'no_predictions': (lambda: fairjax.audit(PLAIN), 'model=…'),
  'object': (lambda: fairjax.audit(3.5, PLAIN), 'float'),
  'data': (lambda: fairjax.audit(P, 7), 'int'),
  'no_data': (lambda: fairjax.audit(chance), 'audit(model, table)'),
  'one_text': (
    lambda: fairjax.audit(one_text, ROWS),
    'lambda texts: [function(text)',
  ),
  'one_label': (
    lambda: fairjax.audit(
      lambda texts: [{'label': 'LABEL_0', 'score': 0.3} for _ in texts],
      ROWS,
    ),
    "one['score'] for one in",
  ),
  'several_labels': (
    lambda: fairjax.audit(
      lambda texts: [
        [{'label': one, 'score': 0.3} for one in ('toxic', 'threat')]
        for _ in texts
      ],
      ROWS,
    ),
    'top_k=None',
  ),
  'other_keys': (
    lambda: fairjax.audit(lambda t: {'threat': [0.2] * len(t)}, ROWS),
    'p_LABEL, or give the one of the positive label',
  ),
  'two_columns': (
    lambda: fairjax.audit({'a': P, 'b': P}, PLAIN),
    "scores='COLUMN'",
  ),
  'groups_short': (
    lambda: fairjax.audit(P, PLAIN, groups=pd.Series(G[:9])),
    'one value a row',
  ),
  'groups_again': (
    lambda: fairjax.audit(P, PLAIN, groups=pd.Series(G[::-1], name='sex')),
    'rename one',
  ),
  'positive': (
    lambda: fairjax.audit(P, PLAIN, pos_label='bad'),
    "the labels are 'ok', 'toxic'",
  ),
  'missing': (
    lambda: fairjax.audit(np.where(P == P[3], np.nan, P), PLAIN),
    'nan for row 3',
  ),
  'names': (
    lambda: fairjax.audit(lambda t: ['bad'] * len(t), ROWS),
    "labels='NAME=NUMBER,NAME=NUMBER'",
  ),
  'mixed': (
    lambda: fairjax.audit(['a', 1.5, None] * 40, PLAIN),
    "has 'a' for row 0",
  ),
  'ragged': (lambda: fairjax.audit({'a': [1], 'b': [1, 2]}), 'same length'),
  'on_bad': (lambda: fairjax.audit(P, PLAIN, on_bad='stop'), 'on_bad'),
}


@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_is_one_sentence_in_python_words(name):
  call, words = MISTAKES[name]
  with pytest.raises(UserError) as error:
    call()
  said = str(error.value)
  assert words in said and '\n' not in said, said
  assert '--' not in said, 'a flag is no word of this door'
  assert not re.search(r'\b(audit|data|measures)\.', said), said


def test_the_column_of_the_positive_label_is_taken():
  """Of [n, 2] with pos_label= the first class, column 1 was read."""
  names = np.where(Y, 'toxic', 'ok')
  toxic = assess(y_true=names, y_score=BOTH, pos_label='toxic')
  ok = assess(y_true=names, y_score=BOTH, pos_label='ok')
  assert toxic['auc']['value'] == ok['auc']['value'] > 0.9


@pytest.mark.parametrize('kind', [int, bool, np.int8, str])
@pytest.mark.parametrize('positive', [0, 1])
def test_decisions_are_labels_whichever_is_positive(kind, positive):
  """0 and 1 were the chance of label 0: what is right was all wrong."""
  y = Y.astype(kind)
  found = assess(y_true=y, y_score=y, pos_label=y[positive])
  assert found['accuracy']['value'] == 1
  assert found['tpr']['value'] == 1
  # Fractions are the chance of the positive label still.
  p = np.where(y == y[positive], 0.9, 0.2)
  assert assess(y_true=y, y_score=p, pos_label=y[positive])['auc']['value'] == 1


def test_names_of_groups_are_tidied_as_in_an_audit():
  """'F', 'f ', 'nan' and 'None' were four groups."""
  typed = ['F', 'f ', 'm', 'nan', 'None', 'm'] * 10
  result = assess(groups=typed)
  assert set(result.groups.index) == {'F', 'm'}
  assert any('are of no group' in words for words in result.warnings)


def test_many_numbers_are_cut_into_bands():
  result = assess(groups={'age': np.arange(N)})
  assert len(result.groups) == 4


def test_scores_that_sort_the_wrong_way_are_named_first():
  """Their light was 'not told from chance'."""
  from fairjax.report import findings, words

  result = assess(y_score=1 - P, groups=G)
  assert result.warnings[0].startswith('Worse than chance: the AUC is 0.0')
  found = findings.of(result.results)
  assert found[0].kind == 'quality' and found[0].verdict == findings.BELOW
  assert 'reversed' in words.lines(result.results)[0]
  assert not any('Worse' in w for w in assess(groups=G).warnings)


def test_each_side_of_a_comparison_keeps_its_threshold():
  """.790 and .792 at two thresholds were 'difference 0.000, p = 1'."""
  a, b = assess(threshold=0.5), assess(threshold=0.45)
  one = fairjax.compare(a, b)['accuracy']
  expected = a['accuracy']['value'] - b['accuracy']['value']
  assert expected != 0
  assert one['difference']['value'] == pytest.approx(expected)
  back = fairjax.compare(b, a)['accuracy']
  assert back['difference']['value'] == pytest.approx(-expected)


def test_groups_of_two_attributes_are_compared_by_name():
  site = np.tile(['a', 'b', 'b'], N // 3)
  both = pd.DataFrame({'gender': G, 'site': site})
  a, b = assess(groups=both), assess(y_score=1 - P, groups=both)
  found = fairjax.compare(a, b)
  assert {'gender/dp', 'site/dp', 'auc'} <= set(found.to_frame()['measure'])
  for name in ('gender/dp', 'site/dp'):
    expected = a[name]['value'] - b[name]['value']
    assert found[name]['difference']['value'] == pytest.approx(expected)
  assert list(found.to_frame()['measure']).count('auc') == 1


def test_other_groups_are_not_compared():
  with pytest.raises(UserError, match='compare different groups'):
    fairjax.compare(assess(groups=G), assess(groups=G[::-1]))
  with pytest.raises(UserError, match='compare different groups'):
    fairjax.compare(assess(groups=G), assess())


@pytest.mark.parametrize('names', (('toxic', 'ok'), ('OFF', 'NOT')))
def test_a_class_to_detect_is_label_1_whatever_its_number(names):
  """id2label {0: toxic, 1: ok} beside a csv with 1 = toxic: AUC .615 → .385."""

  class Model:
    classes_ = np.array(names)

    def predict_proba(self, texts):
      return BOTH[: len(texts), ::-1]  # P(names[0]) first

  result = fairjax.audit(Model(), NAMED, n_resamples=50, swaps=())
  assert result['auc']['value'] > 0.9
  said = [n for n in result.results.notes if 'is read as label 1' in n]
  assert names[0] in said[0]
  turned = NAMED.assign(label=1 - Y)
  other = fairjax.audit(
    Model(), turned, labels='0=1,1=0', n_resamples=50, swaps=()
  )
  assert other['auc']['value'] == result['auc']['value']


def test_labels_by_name_are_those_of_the_model():
  """`score` named arguments that it has not."""
  from fairjax.data.tables import inputs

  rows = pd.DataFrame({'text': ['a', 'b'], 'label': ['toxic', 'ok']})
  named = inputs.table(rows, ['ok', 'toxic'])
  assert named['label'].tolist() == [1, 0]
  assert inputs.table(rows)['label'].tolist() == [1, 0]
  with pytest.raises(UserError, match="label 'toxic', and the classes of the"):
    inputs.table(rows, ['fine', 'bad'])


def test_the_label_is_no_evidence_of_itself():
  """`weights` with z = label gave 1.0 without a word."""
  with pytest.raises(UserError, match='names the label itself'):
    fairjax.weights(NAMED, z='columns:label', estimator='count')


@pytest.mark.parametrize('costs', ('fp=inf', 'fp=nan,fn=1', 'fn=-1', 'fp=0'))
def test_costs_are_finite(costs):
  with pytest.raises(UserError, match='costs are finite, 0 or more'):
    fairjax.audit(P, NAMED, costs=costs, n_resamples=50)


@pytest.mark.parametrize('edges', ('age:nan', 'age:inf', 'age:1/inf'))
def test_edges_of_bands_are_finite(edges):
  rows = NAMED.assign(age=np.arange(N))
  with pytest.raises(UserError, match='must be finite and rise'):
    fairjax.audit(P, rows, groups=[edges], n_resamples=50)


def test_bleu_of_a_perfect_short_text_is_one():
  from fairjax.metrics.texts import rewrites

  whole = lambda a, b: float(
    rewrites.bleu(
      np.array([rewrites.bleu_counts(a.split(), b.split())], float)
    )[0]
  )
  assert whole('she is here', 'she is here') == 1
  assert whole('a b c d e', 'a b c d e') == 1
  assert whole('a b c x e', 'a b c d e') == 0  # no four words in a row
  assert whole('', 'a b') == 0


def test_rows_of_one_cluster_are_said():
  found = assess(groups=G, cluster=np.arange(N) // 2)
  assert any('60 rows are 30 clusters' in w for w in found.warnings)


def test_scores_are_read_from_tables_by_their_names():
  """Of columns p_toxic, p_ok the first was taken for that of 'ok'."""
  names = np.where(Y, 'toxic', 'ok')
  plain = assess(y_true=names, y_score=P, pos_label='toxic')
  table = pd.DataFrame({'p_toxic': P, 'p_ok': 1 - P})
  pair = lambda p: [
    {'label': 'toxic', 'score': p},
    {'label': 'ok', 'score': 1 - p},
  ]
  for given in (
    table,
    table[['p_toxic']],
    {'score': P},
    [{'p': p} for p in P],
    [pair(p) for p in P],
    [max(pair(p), key=lambda one: one['score']) for p in P],
  ):
    found = assess(y_true=names, y_score=given, pos_label='toxic')
    assert found['auc'] == plain['auc']
    both = fairjax.thresholds(
      names, given, G, pos_label='toxic', n_resamples=50
    )
    assert both.after['accuracy']['value'] > 0.9


@pytest.mark.parametrize(
  ('given', 'said'),
  [
    ('score', "y_score=table['score']"),
    (len, 'ask it: audit(model, table)'),
    (pd.DataFrame({'p_1': P, 'p_x': P}), 'call them p_LABEL'),
    ([{'label': 'rude', 'score': 0.9}] * N, 'but the labels are'),
  ],
)
def test_scores_that_are_none_say_what_to_give(given, said):
  with pytest.raises(UserError) as error:
    assess(y_score=given)
  assert said in str(error.value) and '--config' not in str(error.value)


def test_audits_are_compared_by_the_audit():
  one = fairjax.audit(pd.DataFrame({'label': Y, 'score': P}), n_resamples=20)
  with pytest.raises(UserError, match=r'audit\(model, table, against=other'):
    fairjax.compare(one, one)


def test_a_column_that_is_misspelt_as_a_model_is_named():
  rows = pd.DataFrame({'label': Y, 'score': P})
  with pytest.raises(UserError, match="did you mean the column 'score'"):
    fairjax.audit('scoer', rows)


def test_models_that_take_no_texts_say_what_to_give():
  async def asked(texts): ...

  class Model:
    base_model_prefix = 'bert'

    def __call__(self, ids): ...

  for model, said in ((asked, 'asyncio.run(asked'), (Model(), 'its folder')):
    with pytest.raises(UserError) as error:
      fairjax.audit(model, NAMED)
    assert said in str(error.value)


def test_min_group_is_an_argument_wherever_there_are_groups():
  """`thresholds` and `assess` left groups of nine out, whatever was wished."""
  few = np.where(np.arange(N) % 8 == 0, 'few', G)
  of = lambda least, make: make(
    Y, P, few, criterion='demographic_parity', n_resamples=20, min_group=least
  )
  small, large = (of(least, fairjax.thresholds) for least in (1, 10))
  assert 'few' not in large.after.groups['selection_rate'].dropna().index or (
    small.after['dp']['value'] != large.after['dp']['value']
  )
  assert any('fewer than 10' in words for words in large.after.warnings)
  assert not any('fewer than' in words for words in small.after.warnings)
  one, other = (assess(groups=few, min_group=k) for k in (1, 10))
  assert one['dp'] != other['dp']
  with pytest.raises(UserError, match='different min_group'):
    fairjax.compare(one, other)
  with pytest.raises(UserError, match='min_group is 0'):
    assess(groups=few, min_group=0)
