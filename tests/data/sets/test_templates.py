"""Identity-term sets against the published files and slow twins."""

import itertools
import pathlib
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from fairjax import stages
from fairjax.config import Config
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.data import TEST_SETS
from fairjax.data.sets import template_lists, templates
from fairjax.data.tables import schema
from fairjax.data.tables.terms import exclusive, term_members
from fairjax.data.word_tables import table_rows
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference.sample import RowSample
from fairjax.pairs.axes import exchange

draws = lambda *own: RowSample(0.95, *own)

HERE = pathlib.Path(__file__).parent
PUBLISHED = {
  'name_adj': 72_000,
  'being_adj': 1_600,
  'you_are_adj': 1_600,
  'you_occupation': 864,
  'verb_adj': 400,
  'am_hate_adj': 100,
}


@pytest.fixture(scope='module')
def ours():
  return templates.identity(Config())


def small(phrases=None, words=None, pairs=None):
  """A tiny set of tables: phrases (text, label), words, pairs."""
  phrases = phrases or [('{type|gender} is {type|adj}', 1)]
  return (
    pd.DataFrame(
      [(f't{k}', label, text) for k, (text, label) in enumerate(phrases)],
      columns=['template', 'label', 'phrase'],
    ),
    pd.DataFrame(
      words or [('adj', '', '', 'mean'), ('adj', '', '', 'rude')],
      columns=[*template_lists.KEYS, 'word'],
    ),
    pd.DataFrame(
      pairs or [('gender', '', '', 'he', 'she')],
      columns=[*template_lists.KEYS, 'male', 'female'],
    ),
  )


# Every phrase with every word.


def wordlists(folder) -> pd.DataFrame:
  """The older generator's word lists (one file a kind) as a words table."""
  kinds = {
    'adjectives_people': ('identity', 'neutral'),
    'adjectives_negative': ('adjective', 'toxic'),
    'adjectives_positive': ('adjective', 'nontoxic'),
    'verbs_negative': ('verb', 'toxic'),
    'verbs_positive': ('verb', 'nontoxic'),
    'names': ('name', 'neutral'),
    'occupations': ('occupation', 'neutral'),
  }
  rows = [
    (kind, '', connotation, word)
    for name, (kind, connotation) in kinds.items()
    for word in template_lists.read_list(folder / f'{name}.txt')
  ]
  return pd.DataFrame(rows, columns=[*template_lists.KEYS, 'word'])


def written(phrases, words, types=('identity', 'occupation')):
  """The rows of one group, whose words of these types are those of a list."""
  pair = words['type'].isin(types)
  pairs = words[pair].rename(columns={'word': 'as_is'})
  made = templates.paired(
    phrases, words[~pair], pairs.assign(loud=pairs['as_is'].str.upper())
  )
  assert (made['group'] == 'as_is').mean() == 0.5
  return made[made['group'] == 'as_is']


def older(folder):
  phrases = template_lists.read_templates(HERE / 'dixon_templates.csv')
  return phrases, wordlists(folder / 'wordlists')


def newer(folder):
  """These differ in a capital I, a full stop, and one more term."""
  words = template_lists.read_words(folder / 'templates_en/words.csv')
  terms = words[
    (words['type'] == 'identity') & (words['connotation'] == 'neutral')
  ]
  assert {*terms['word']} - {*wordlists(folder / 'wordlists')['word']} == {
    'cis'
  }
  path = folder / 'templates_en/sentence_templates.csv'
  return template_lists.read_templates(path), words[words['word'] != 'cis']


@pytest.mark.parametrize(
  'lists, plain',
  [(older, str), (newer, lambda text: re.sub(r'\.$', '', text.lower()))],
)
def test_word_lists_reproduce_the_published_file(shared, lists, plain):
  folder = shared / 'iptts'
  made = written(*lists(folder))
  assert made['template'].value_counts().to_dict() == PUBLISHED
  real = pd.read_csv(folder / 'bias_madlibs_77k.csv', keep_default_na=False)
  want = Counter(zip(real['Text'].map(plain), real['Label'] == 'BAD'))
  assert Counter(zip(made['text'].map(plain), made['label'] == 1)) == want
  assert (made.groupby('template')['label'].mean() == 0.5).all()
  schema.check({'madlibs': made})


def test_every_phrase_with_every_word_by_nested_loops():
  phrases, words, _ = small(
    [('{type|identity}, {type|adj}: {type|identity}!', 1)],
    [
      ('identity', '', '', 'deaf'),
      ('identity', '', '', 'old'),
      ('adj', '', '', 'a, b'),
      ('adj', '', '', 'c'),
    ],
  )
  made = written(phrases, words)
  slow = [
    f'{a}, {b}: {c}!'
    for a, b, c in itertools.product(
      ['deaf', 'old'], ['a, b', 'c'], ['deaf', 'old']
    )
  ]
  assert made['text'].tolist() == slow
  assert made['twin'].tolist() == [
    text.replace('deaf', 'DEAF').replace('old', 'OLD') for text in slow
  ]


# The paired set.


def floor_of(table):
  """DP of a perfect predictor of a set, as every assessment says it."""
  labels = table['label'].to_numpy()
  groups = of_columns({'group': table['group']})
  one = assess(labels, labels[None] * 1.0, groups, options=draws(0))
  return one['fairness']['dp_floor']['value']


def test_our_set_is_ready_for_use(ours):
  schema.check({'identity': ours})
  assert 3000 <= len(ours) <= 8000
  assert ours['label'].mean() == 0.5
  assert ours['group'].value_counts().to_dict() == {
    'male': len(ours) // 2,
    'female': len(ours) // 2,
  }
  assert (ours.groupby('template')['label'].mean() == 0.5).all()
  assert floor_of(ours) == 1.0
  assert ours['text'].str.contains(',').any()
  assert not ours['text'].str.contains(r'[{}|]').any()
  assert not ours['text'].str.contains(r'\ba [aeiou]').any()


def test_each_row_has_its_twin_of_the_other_group(ours):
  row = ours.set_index('text')
  twin = row.loc[ours['twin']]
  assert (twin['twin'].to_numpy() == ours['text']).all()
  assert (twin['group'].to_numpy() != ours['group']).all()
  assert (twin['label'].to_numpy() == ours['label']).all()
  stems = ours['id'].str.replace(r'-(fe)?male$', '', regex=True)
  assert (
    twin['id'].str.replace(r'-(fe)?male$', '', regex=True).to_numpy() == stems
  ).all()
  assert (ours['text'] != ours['twin']).all()
  # The pair stands together.
  assert (ours['twin'].to_numpy()[::2] == ours['text'].to_numpy()[1::2]).all()


def test_other_groups_come_from_the_columns():
  phrases, words, pairs = small([('A {type|faith} is {type|adj}', 1)])
  pairs = pd.DataFrame(
    {
      'type': ['faith'],
      'subtype': [''],
      'connotation': [''],
      'christian': ['christian'],
      'muslim': ['muslim'],
    }
  )
  made = templates.paired(phrases, words, pairs)
  assert made['group'].tolist() == ['christian', 'muslim'] * 2
  with pytest.raises(UserError, match='two columns'):
    templates.paired(phrases, words, pairs.drop(columns='muslim'))
  # Of three groups a row's twin is that of one other, drawn by seed and phrase.
  three = templates.paired(phrases, words, pairs.assign(hindu='hindu'))
  assert three['group'].tolist() == ['christian', 'muslim', 'hindu'] * 2
  text = dict(zip(three['id'], three['text']))
  for stem, some in three.groupby(three['id'].str.rsplit('-', n=1).str[0]):
    own, twins = some['text'].tolist(), some['twin'].tolist()
    assert twins in (own[1:] + own[:1], own[2:] + own[:2]), (stem, text)
  of = lambda seed: templates.paired(
    phrases, words, pairs.assign(hindu='hindu'), seed
  )
  assert len({tuple(of(seed)['twin']) for seed in range(8)}) > 1


@pytest.mark.parametrize('axis', AXES[1:])
def test_the_paired_set_of_an_axis_has_its_values_as_groups(axis):
  config = Config()
  config.method.axis = axis
  made = templates.identity(config)
  assert set(made['group']) == set(exchange.values(axis))
  assert made['group'].value_counts().nunique() == 1
  assert (made['text'] != made['twin']).all()
  assert set(made['twin']) <= set(made['text'])
  # No first name: which are of a religion nobody here says.
  assert not made['template'].isin(['name_person', 'pronoun']).any()


def test_the_words_of_an_axis_in_templates_are_parallel(tmp_path):
  path = tmp_path / 'pets.csv'
  path.write_text('form,cat,dog,fish\nnoun,cat,dog|hound,\nnouns,cats,dogs,\n')
  config = Config()
  config.method.axis = str(path)
  with pytest.raises(UserError, match='with a word of each value'):
    templates.identity(config)
  path.write_text('form,cat,dog,fish\nnouns,cats,dogs|hounds,fishes\n')
  made = templates.identity(config)
  assert any(made['text'] == 'I trust fishes')
  assert not made['text'].str.contains('hounds').any()
  pairs = tmp_path / 'pairs.csv'
  pairs.write_text('type,subtype,connotation,a,b\ngender,plural,,boys,girls\n')
  config.measures.templates = str(tmp_path)
  with pytest.raises(UserError, match='groups of its own; leave one'):
    templates.identity(config)


def test_a_users_folder_replaces_what_it_holds(tmp_path):
  (tmp_path / 'templates.csv').write_text(
    'template,toxicity,phrase\n'
    'mine,toxic,"So, {type|gender_subtype|name} is {type|adjective_connotation'
    '|toxic}, again"\n'
  )
  for place in (tmp_path, tmp_path / 'templates.csv'):
    config = Config()
    config.measures.templates = str(place)
    made = find(TEST_SETS, 'test set', 'identity')(config)
    assert set(made['template']) == {'mine'}
    assert 'So, Mary is stupid, again' in set(made['text'])
  config.measures.templates = str(tmp_path / 'empty')
  (tmp_path / 'empty').mkdir()
  with pytest.raises(UserError, match='holds none of'):
    templates.identity(config)


# Readers, groups and the floor.


def test_madlibs_are_read_with_exclusive_groups(shared):
  config = Config()
  config.measures.madlibs = str(shared / 'iptts/bias_madlibs_77k.csv')
  made = find(TEST_SETS, 'test set', 'madlibs')(config)
  assert len(made) == 76_564
  assert made['label'].sum() == 38_282
  counts = made['group'].value_counts()
  assert counts.pop('') == 864
  assert len(counts) == 50
  assert (counts == 1514).all()
  # Where groups overlap, the two parts of 'african american' have twice that.
  terms = ['african', 'american', 'african american']
  members = term_members(made['text'], terms)
  assert members.sum(1).tolist() == [3028, 3028, 1514]


def test_gender_file(shared):
  path = shared / 'iptts/madlib_format_sample.csv'
  config = Config()
  config.measures.gender_file = str(path)
  made = find(TEST_SETS, 'test set', 'gender_file')(config)
  assert made['group'].value_counts().to_dict() == {'male': 114, 'female': 86}
  assert made['label'].sum() == 112
  rates = pd.read_csv(path).groupby('gender')['Class'].mean()
  want = 1 - abs(rates['male'] - rates['female'])
  assert floor_of(made) == pytest.approx(want, abs=1e-12) and want < 1


def test_the_floor_of_the_published_counts():
  """38,655 male and 37,842 female rows: 0.999149 (reference, golden 9)."""
  counts = [('female', 0, 18_902), ('female', 1, 18_940)]
  counts += [('male', 0, 19_341), ('male', 1, 19_314)]
  table = pd.concat(
    [pd.DataFrame({'group': [g] * n, 'label': y}) for g, y, n in counts]
  )
  assert round(floor_of(table), 6) == 0.999149


def test_term_members_against_the_words_of_each_text():
  terms = ['gay', 'African American', 'american', 'old', 'c++', 'élan', 'a b']
  pieces = """gay,GAY,gays,african american,African,american,OLD,older,c++,c++x,
élan,Élan,-,.,old-gay,_old,gay gay,a,b,a b,,a\nb,北old,1old""".split(',')
  rng = np.random.default_rng(0)
  texts = [' '.join(rng.choice(pieces, rng.integers(0, 6))) for _ in range(500)]
  words = lambda text: ' '.join(['', *re.findall(r'\w+', text.lower()), ''])
  slow = [[words(term) in words(text) for text in texts] for term in terms]
  fast = term_members(texts, terms)
  np.testing.assert_array_equal(fast, slow)
  assert fast.any(1).all()
  assert term_members([], terms).shape == (7, 0)
  assert term_members(texts, []).shape == (0, 500)


def test_exclusive_takes_longer_terms_first():
  found = exclusive(
    ['an African-American', 'african or american', 'none'],
    ['african', 'american', 'african american'],
  )
  assert found.tolist() == ['african american', 'african', '']


# Bad input: one sentence each.


BAD = table_rows(__file__, 'bad_lists.csv')


@pytest.mark.parametrize(('text', 'sentence'), BAD)
def test_bad_lists(tmp_path, text, sentence):
  path = tmp_path / 't.csv'
  path.write_text(text)
  read = {
    'type': template_lists.read_words,
    'Text': lambda path: templates.read_madlibs(path, ['a']),
    'text': templates.read_gender_file,
    'temp': template_lists.read_templates,
  }.get(text[:4], template_lists.read_list)
  with pytest.raises(UserError, match=sentence):
    read(path)


@pytest.mark.parametrize(
  'phrase, sentence',
  [
    ('{type|gender} {type|verbs}', "of type 'verbs'"),
    ('{type|gender} {type|adj_connotation|toxic}', "connotation 'toxic'"),
    ('{type|gender} {adj}', r'has the slot \{adj\}'),
    ('{type|gender} {kind|adj}', r'has the slot \{kind'),
    ('{type|gender} {}', r'has the slot \{\}'),
    ('Nobody is {type|adj}', 'no slot of the pairs'),
  ],
)
def test_bad_slots(phrase, sentence):
  with pytest.raises(UserError, match=sentence):
    templates.paired(*small([(phrase, 1)]))


def test_words_that_never_meet_and_repeated_texts():
  words = [('adj', 'x', '', 'mean'), ('verb', '', 'y', 'sees')]
  phrase = '{type|gender} {type|adj_connotation|y}'
  with pytest.raises(UserError, match='has none'):
    templates.paired(*small([(phrase, 1)], words))
  phrases, *rest = small([('{type|gender}', 1), ('{type|gender}', 1)])
  phrases['template'] = 'same'
  with pytest.raises(UserError, match="gives the text 'he' twice"):
    templates.paired(phrases, *rest)


@pytest.mark.parametrize('name', ['madlibs', 'gender_file'])
def test_a_file_must_be_named_and_there(tmp_path, name):
  config = Config()
  for path, said in (('', f'measures.{name} is empty'), ('no', 'not exist')):
    setattr(config.measures, name, path and str(tmp_path / path))
    with pytest.raises(UserError, match=said):
      find(TEST_SETS, 'test set', name)(config)


def test_groups_of_a_terms_file(tmp_path):
  path = tmp_path / 'terms.txt'
  path.write_text('gay\nAfrican American\n')
  config = Config()
  config.measures.groups = f'terms:{path}'
  texts = ['An african american.', 'Gay men', 'none']
  members, names, *_ = stages.groups_of(config, pd.DataFrame({'text': texts}))
  assert names == ['gay', 'african american']
  assert members.tolist() == [[False, True, False], [True, False, False]]
  path.write_text('gay\ngay\n')
  with pytest.raises(UserError, match='repeats line 1'):
    stages.groups_of(config, pd.DataFrame({'text': texts}))
