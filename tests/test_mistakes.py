"""Mistakes of users at the library's doors, and what each is told."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import main
from fairjax.core import announce
from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.data.tables import answers
from fairjax.report import findings, words

N = 60
Y = np.tile([0, 1], N // 2)
P = np.clip(0.3 + 0.4 * Y + np.linspace(-0.2, 0.2, N), 0, 1)
BOTH = np.stack([1 - P, P], -1)
THREE = np.full((N, 3), 1 / 3)
Y3 = [0, 1, 2] * 20
G = np.repeat(['f', 'm'], N // 2)

NAMED = pd.DataFrame({'text': ['a', 'b'] * 30, 'label': Y})
TABLE = NAMED.assign(id=[f'r{i}' for i in range(N)])
ROWS = NAMED.assign(label=np.where(Y, 'toxic', 'ok'), sex=G)
PLAIN = ROWS.drop(columns='text')


def assess(**given):
  return fairjax.assess(**(dict(y_true=Y, y_score=P, n_resamples=50) | given))


def of(**given):
  return lambda: assess(**given)


def thresholds(**given):
  own = {'y_true': Y, 'y_score': P, 'groups': G, 'n_resamples': 100}
  return lambda: fairjax.thresholds(**own | given)


def audit(model=P, data=PLAIN, groups=(), text='text', label='label', **given):
  own = {'groups': groups, 'text': text, 'label': label}
  how = {'n_resamples': 50} | given
  return lambda: fairjax.audit(model, data, **own, options=how)


def weights(table=TABLE, z='gender', **given):
  return lambda: fairjax.weights(table, z, options=given)


def says(answer):
  return audit(lambda texts: [answer for _ in texts], ROWS)


def chance(texts):
  return np.full(len(texts), 0.2)


async def asked(texts): ...


def unasked(prompts):
  raise AssertionError('asked before the mistake was told')


def writes(model=unasked, classifier=chance, prompts=None, **given):
  how = {'samples': 1, 'options': {'n_resamples': 20}} | given
  if prompts is not None:
    prompts = pd.DataFrame(prompts)
  return lambda: fairjax.write(model, classifier, prompts, **how)


def rude(answer):
  """A classifier that says `answer` of a text, asked for what is rude."""
  judge = lambda texts: [answer(text == 'bad', len(text)) for text in texts]
  model = lambda prompts: [WRITTEN[prompt] for prompt in prompts]
  three = {'prompt': [*WRITTEN], 'group': [*'mfn']}
  return writes(model, judge, three, options={'pos_label': 'rude'})


def one_label(high, low):
  return lambda bad, _: {'label': high if bad else low, 'score': 0.9}


class Tokens:
  base_model_prefix = 'bert'

  def __call__(self, ids): ...


SEVERAL = [{'label': one, 'score': 0.3} for one in ('toxic', 'threat')]
SEEN = TABLE.assign(text=['he', 'she', 'sea', 'sun'] * 15)
AGED = PLAIN.assign(age=np.arange(N), page='x')
AUDITED = pd.DataFrame({'label': Y, 'score': P})

FAITH = ['Muslims are nice.', 'Jews are nice.'] * 20
W = np.ones(N)
at_1 = lambda value: np.r_[1.0, value, W[2:]]

HE_SHE = {'prompt': ['He was', 'She was'], 'group': ['m', 'f']}
WRITTEN = {'He was': 'good day', 'She was': 'bad', 'They were': 'fine'}
ALL_OTHERS = [{'label': 'a', 'score': 0.7}, {'label': 'b', 'score': 0.3}]

# Calls; what the sentence of each holds, what was given or the remedy, is in
# mistakes.csv.
MISTAKES = {
  'logits': of(y_score=P * 8 - 4),
  'percent': of(y_score=P * 100),
  'negative': of(y_score=P - 0.5),
  'words': of(y_score=['high'] * N),
  'no number': of(y_score=[*P[:-1], np.nan]),
  'too few': of(y_score=P[:-1]),
  'logits of classes': of(y_true=Y3, y_score=THREE * 9),
  'negative of classes': of(y_true=Y3, y_score=THREE + [[-0.5, 0.5, 0]]),
  'columns that do not add up': of(y_score=BOTH * 0.9),
  'three classes of two labels': of(y_score=THREE),
  'a name for scores': of(y_score='score'),
  'a function for scores': of(y_score=len),
  'columns of no label': of(y_score=pd.DataFrame({'p_1': P, 'p_x': P})),
  'a pipeline of other labels': of(
    y_score=[{'label': 'rude', 'score': 0.9}] * N
  ),
  'a name for groups': of(groups='gender'),
  'groups as an array of two': of(groups=np.stack([G, G], -1)),
  'a whole table for groups': of(groups=pd.DataFrame(np.ones((N, 2000)))),
  'groups of other rows': of(groups=G[:-1]),
  'groups that are empty': of(groups=[''] * N),
  'infinite ages': of(groups=[np.inf] * N),
  'threshold 50': of(threshold=50),
  'threshold nan': of(threshold=np.nan),
  'threshold of words': of(threshold='half'),
  'level 95': of(confidence_level=95),
  'level as text': of(confidence_level='95%'),
  'resamples -1': of(n_resamples=-1),
  'resamples 1.5': of(n_resamples=1.5),
  'seed None': of(random_state=None),
  'names without pos_label': of(y_true=np.where(Y, 'toxic', 'ok')),
  'a pos_label that is none': of(pos_label='toxic'),
  'no rows': of(y_true=[], y_score=[]),
  'a missing label': of(y_true=[None, *Y[1:]]),
  'a name for a cluster': of(cluster='page'),
  'a cluster of other rows': of(cluster=np.arange(N - 1)),
  'two columns of clusters': of(cluster=np.zeros((N, 2))),
  'one cluster': of(cluster=['a'] * N),
  'no metric': of(metrics={'mine': 3}),
  'a known metric': of(groups=G, metrics={'dp': lambda y, d: 0.0}),
  'a metric that ends': of(metrics={'m': lambda y, d: 1 / 0}),
  'comparing other rows': lambda: fairjax.compare(
    assess(), assess(y_true=1 - Y)
  ),
  'comparing other groups': lambda: fairjax.compare(
    assess(groups=G), assess(groups=G[::-1])
  ),
  'comparing with no groups': lambda: fairjax.compare(
    assess(groups=G), assess()
  ),
  'comparing audits': lambda: fairjax.compare(*[audit(AUDITED, None)()] * 2),
  'a misspelt option': weights(z='columns:id', fold=3),
  'weights by no column': weights(z='columns:sex'),
  'weights by nothing known': weights(z='gende'),
  'weights by the label': weights(z='columns:label', estimator='count'),
  'weights by what is the same in all': weights(
    TABLE.assign(x='x'), z='columns:x'
  ),
  'weights by a column with holes': weights(
    TABLE.assign(x=[1.0, np.nan, *[0.0] * (N - 2)]), z='columns:x'
  ),
  'weights by no identity': weights(z='identity'),
  'weights of too many folds': weights(SEEN, folds=31),
  'weights below their mean': weights(SEEN, max_weight=0.9),
  'weights of one class': weights(SEEN.assign(label=[0, 0, 1, 1] * 15)),
  'no estimator': weights(estimator='tree'),
  'no text': weights(TABLE.drop(columns='text')),
  'no label': weights(TABLE.drop(columns='label')),
  'ids twice': weights(TABLE.assign(id='x')),
  'labels -1 and 1': weights(TABLE.assign(label=2 * Y - 1), z='columns:id'),
  'a column twice': weights(pd.concat([TABLE, TABLE[['label']]], axis=1)),
  'no label in a row': weights(TABLE.assign(label=[None, *['a'] * (N - 1)])),
  'a swap in no direction': lambda: fairjax.swap('She left.', direction='up'),
  'words from no file': lambda: fairjax.swap('She left.', words='/no/such.txt'),
  'a model from no folder': lambda: fairjax.load('/no/model'),
  'no precision': lambda: fairjax.load('/no/model', precision='float8'),
  'a diet by no ranking': lambda: fairjax.diet(TABLE, ranking='best'),
  'a diet of more than all': lambda: fairjax.diet(
    TABLE.assign(ge=0.0), factual=40
  ),
  'groups by no column': audit(groups=['sxe']),
  'another label': audit(label='lable'),
  'another text': audit(chance, ROWS, text='txt'),
  'texts of none': audit(chance),
  'no predictions': audit(PLAIN, None),
  'fewer scores': audit(P[:-1]),
  'audited percents': audit(P * 100),
  'audited logits': audit(P * 9),
  'a missing score': audit(np.where(P == P[3], np.nan, P)),
  'mixed scores': audit(['a', 1.5, None] * 20),
  'a number as a model': audit(3.5),
  'a number as data': audit(P, 7),
  'a model without data': audit(chance, None),
  'a misspelt column': audit('scoer', AUDITED),
  'a function of one text': audit(lambda text: text.strip()[:1], ROWS),
  'a coroutine': audit(asked, ROWS),
  'a model of tokens': audit(Tokens(), ROWS),
  'one label': says({'label': 'LABEL_0', 'score': 0.3}),
  'several labels': says(SEVERAL),
  'other labels': says('bad'),
  'other keys': audit(lambda texts: {'threat': [0.2] * len(texts)}, ROWS),
  'a function of three classes': audit(
    lambda texts: np.full((len(texts), 3), 1 / 3), ROWS
  ),
  'an audit of three classes': audit(THREE),
  'two columns': audit({'a': P, 'b': P}),
  'columns of two lengths': audit({'a': [1], 'b': [1, 2]}, None),
  'fewer groups': audit(groups=pd.Series(G[:9])),
  'groups of one name': audit(groups=pd.Series(G[::-1], name='sex')),
  'no such class': audit(pos_label='bad'),
  'audited seed None': audit(random_state=None),
  'audited threshold': audit(threshold=3),
  'half a letter': audit(groups=['a\udc80']),
  'no way with bad rows': audit(on_bad='stop'),
  'no audited rows': audit(P[:0], PLAIN[:0]),
  'an empty text': audit(P, ROWS.assign(text=[None, *ROWS['text'][1:]])),
  'clusters by no column': audit(cluster='page'),
  'one audited cluster': audit(P, AGED, cluster='page'),
  'bands of names': audit(groups=['sex:1/2']),
  'prompts without prompts': writes(prompts={'text': ['a'], 'group': ['x']}),
  'prompts without groups': writes(prompts={'prompt': ['a', 'b']}),
  'prompts of another axis': writes(
    prompts={'prompt': ['She is', 'He is']}, axes='religion'
  ),
  'a blank prompt': writes(prompts=HE_SHE | {'prompt': ['a', ' ']}),
  'prompts of nobody': writes(prompts=HE_SHE | {'group': ['', '']}),
  'prompts of one group': writes(prompts=HE_SHE | {'group': ['x', 'x']}),
  'prompts by no axis': writes(axes='zodiac'),
  'two prompts of a group in a pair': writes(
    prompts={'prompt': list('abcd'), 'group': [*'mfmf'], 'pair': 'job'}
  ),
  'a text too few': writes(lambda p: ['x'], prompts=HE_SHE),
  'numbers for texts': writes(lambda p: [1 for _ in p], prompts=HE_SHE),
  'None for texts': writes(lambda p: None, prompts=HE_SHE),
  'blanks for texts': writes(lambda p: [' ' for _ in p], prompts=HE_SHE),
  'a classifier of words': writes(classifier=lambda t: ['rude' for _ in t]),
  'a classifier of three': writes(
    classifier=lambda t: [[0.2, 0.3, 0.5] for _ in t]
  ),
  'a classifier of logits': writes(classifier=lambda t: [3.0 for _ in t]),
  'no classifier': writes(classifier=None),
  'a score of other labels': rude(one_label('LABEL_1', 'LABEL_0')),
  'a score of other words': rude(lambda bad, _: 'yes' if bad else 'no'),
  'all scores of others': rude(lambda *_: ALL_OTHERS),
  'one score of three labels': rude(
    lambda _, n: {'label': ['rude', 'fine', 'odd'][n % 3], 'score': 0.8}
  ),
  'the best score of three': rude(
    lambda bad, _: one_label('rude', 'fine')(bad, _) | {'score': 0.4}
  ),
  'thresholds by no criterion': thresholds(criterion='fair'),
  'thresholds of one group': thresholds(groups=['a'] * N),
  'thresholds chosen on all': thresholds(holdout=1),
  'thresholds of classes': thresholds(y_score=THREE),
  'thresholds without draws': thresholds(n_resamples=0),
  'thresholds of one label': thresholds(y_true=[0] * N),
  'thresholds of a group that is held out': thresholds(
    groups=[*G[:-1], 'c'], random_state=3
  ),
  **{
    f'weights {name}': of(sample_weight=one)
    for name, one in {
      **{'below 0': at_1(-1), 'of nan': at_1(np.nan), 'infinite': at_1(np.inf)},
      **{'of 0': 0 * W, 'too few': W[1:], 'of words': ['a'] * N},
      **{'by a name': 'w', 'of one number': 2.0},
    }.items()
  },
  'no weight in a group': of(groups=G, sample_weight=G == 'f'),
  'no weight where thresholds are chosen': thresholds(sample_weight=G == 'f'),
  **{
    f'an audit weighted {name}': audit(groups='sex', sample_weight=one)
    for name, one in {
      **{'by no column': 'v', 'by names': 'sex', 'twice': ['label', 'sex']},
      **{'below 0': at_1(-1), 'too few': W[1:], 'by a group': G == 'f'},
    }.items()
  },
  'influence with weights': audit(
    groups='sex', sample_weight=np.arange(N), training='x.csv'
  ),
  'persons of no axis': partial(fairjax.perturb, 'x', axis='foo'),
  'an attribute of another axis': partial(
    fairjax.perturb, 'x', axis='race', attribute='muslim'
  ),
  'a number to perturb': partial(fairjax.perturb, [3]),
  'nothing to perturb': partial(fairjax.perturb, []),
  'a perturber of no model': partial(fairjax.perturb, 'x', by='model'),
  'perturbed by seed -1': partial(fairjax.perturb, 'x', random_state=-1),
  'a fairscore of no person': partial(
    fairjax.fairscore, chance, ['It rains.'], axis='orientation'
  ),
  'a fairscore of a number': partial(fairjax.fairscore, 3, FAITH),
  'a fairscore of one answer': partial(
    fairjax.fairscore, lambda t: [0.5], FAITH, axis='religion'
  ),
  **{
    f'a benchmark {name}': partial(fairjax.benchmark, 'x', *given, **more)
    for name, given, more in (
      ('by no name', ['foo'], {}),
      ('by several names', ['bias_type'], {}),
      ('by a word', ['stereotype'], {}),
      ('by its paper', ['Seat', '.'], {}),
      ('without files', ['crows'], {}),
      ('of -1 rows', ['crows', '.'], {'limit': -1}),
      ('of an axis of its own', ['crows', '.'], {'axis': 'age'}),
      ('of axis 3', ['twins', ['a']], {'axis': 3}),
      ('of texts that has files', ['crows', ['a']], {}),
      ('without texts', ['twins'], {}),
      ('of nobody', ['twins', ['He ran.']], {'axis': 'religion'}),
    )
  },
  **{
    f'costs {one}': audit(costs=one)
    for one in ('fp=inf', 'fp=nan,fn=1', 'fn=-1', 'fp=0')
  },
  **{
    f'edges {one}': audit(P, AGED, groups=[f'age:{one}'])
    for one in ('nan', 'inf', '1/inf')
  },
}


SAID = dict(word_tables.table_rows(__file__, 'mistakes.csv'))


@pytest.mark.parametrize('name', MISTAKES | SAID)
def test_a_mistake_is_one_sentence_in_python_words(name):
  with pytest.raises(UserError) as error:
    MISTAKES[name]()
  said = str(error.value)
  assert SAID[name] in said and '\n' not in said, said
  assert '--' not in said, 'a flag is no word of this door'
  assert not re.search(r'\b(audit|data|measures)\.', said), said


LONE = b'a\xed\xa0\x80'.decode(errors='surrogateescape')


@pytest.mark.parametrize(
  ('words', 'said'),
  [
    (['audit', 'd.csv', '--text', LONE], 'has bytes that are not UTF-8'),
    (['audit', f'{LONE}.csv'], 'has bytes that are not UTF-8'),
    (['audit', 'd.csv', f'--workdir={LONE}'], 'bytes that are not UTF-8'),
    (['swap', f'{LONE} he'], 'has bytes that are not UTF-8'),
    (['help', 'x' * 5000], 'there is no help of'),
  ],
)
def test_a_command_of_odd_letters_is_one_sentence(
  words, said, monkeypatch, capfd
):
  monkeypatch.setattr('sys.argv', ['fairjax', *words])
  with pytest.raises(SystemExit):
    main.command()
  assert said in capfd.readouterr().err
  assert not announce.NOTED  # a command's listener goes with it


def test_of_many_columns_the_named_ones_are_read(monkeypatch):
  """20,000 took over a minute."""
  read, plain = [], answers.numeric
  monkeypatch.setattr(
    answers, 'numeric', lambda one: read.append(one.name) or plain(one)
  )
  wide = pd.DataFrame(np.zeros((N, 500), int).astype(str)).add_prefix('c')
  audit(AUDITED.assign(sex=G).join(wide), None, 'sex')()
  assert 'score' in read and len(read) < 9


def test_names_of_groups_are_tidied_as_in_an_audit():
  """'F', 'f ', 'nan' and 'None' were four groups."""
  typed = ['F', 'f ', 'm', 'nan', 'None', 'm'] * 10
  result = assess(groups=typed)
  assert set(result.groups.index) == {'F', 'm'}
  assert any('are in no group' in words for words in result.warnings)


def test_scores_that_sort_the_wrong_way_are_named_first():
  """Their light was 'not told from chance'."""
  result = assess(y_score=1 - P, groups=G)
  assert result.warnings[0].startswith('Worse than chance: the AUC is 0.0')
  found = findings.shown(result.results)
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


@pytest.mark.parametrize('names', (('toxic', 'ok'), ('OFF', 'NOT')))
def test_a_class_to_detect_is_label_1_whatever_its_number(names):
  """id2label {0: toxic, 1: ok} beside a csv with 1 = toxic: AUC .615 → .385."""

  class Model:
    classes_ = np.array(names)

    def predict_proba(self, texts):
      return BOTH[: len(texts), ::-1]  # P(names[0]) first

  result = audit(Model(), NAMED, swaps=())()
  assert result['auc']['value'] > 0.9
  said = [n for n in result.results.notes if 'is read as label 1' in n]
  assert names[0] in said[0]
  turned = NAMED.assign(label=1 - Y)
  other = audit(Model(), turned, labels='0=1,1=0', swaps=())()
  assert other['auc']['value'] == result['auc']['value']


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
  assert not any('fewer than 10' in w for w in small.after.warnings)
  one, other = (assess(groups=few, min_group=k) for k in (1, 10))
  assert one['dp'] != other['dp']
  with pytest.raises(UserError, match='different min_group'):
    fairjax.compare(one, other)
  with pytest.raises(UserError, match='min_group is 0'):
    assess(groups=few, min_group=0)
