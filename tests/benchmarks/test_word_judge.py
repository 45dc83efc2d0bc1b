"""Word judges, word vectors, and benchmarks by axis."""

import importlib.util
import json
import re

import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax import data
from fairjax.benchmarks import BENCHMARKS, bbq, weat
from fairjax.benchmarks import planted_associations as planted
from fairjax.benchmarks.shared import association, by_axis, word_vectors
from fairjax.config import Audit, Benchmarks, Config, Measures
from fairjax.config.axes import AXES
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample
from fairjax.models.reading import word_judge
from fairjax.pairs.axes import exchange
from fairjax.recipes.benchmarks import experiment as recipe


def table(path, words, width=6, seed=0):
  rng = np.random.default_rng(seed)
  vectors = {w: rng.normal(size=width).round(4) for w in words}
  path.write_text(
    ''.join(f'{w} {" ".join(map(str, v))}\n' for w, v in vectors.items())
  )
  return vectors


def weat_file(path, targets, attributes):
  lists = zip(('targ1', 'targ2', 'attr1', 'attr2'), (*targets, *attributes))
  tree = {k: {'category': k, 'examples': list(v)} for k, v in lists}
  path.write_text(json.dumps(tree))


def run(model, data, names, folder, **more):
  own = Config(
    recipe='benchmarks',
    model=str(model),
    measures=Measures(resamples=50),
    benchmarks=Benchmarks(names=names, data=str(data), **more),
  )
  (one,) = recipe.run(own, folder).contenders.values()
  return one['sets']


def test_a_text_is_the_mean_of_its_words(tmp_path):
  vectors = table(tmp_path / 'v.txt', ['new', 'york', 'Amy', 'is'])
  judge = word_judge.WordJudge(str(tmp_path / 'v.txt'), {})
  texts = ['New York.', 'Amy', 'amy', 'Is new', '!']
  assert list(judge.unknown(texts)) == [False, False, True, False, True]
  found = judge.vectors(texts[:2])
  expect = [(vectors['new'] + vectors['york']) / 2, vectors['Amy']]
  np.testing.assert_allclose(found, expect, atol=1e-6)
  with pytest.raises(UserError, match='vectors of words alone'):
    judge.vectors(texts, 'first')


def test_words_without_a_vector_are_left_out_by_name(tmp_path):
  words = 'a b c d p q r s'.split()
  vectors = table(tmp_path / 'v.txt', [*words, 'he', 'she', 'x'])
  data = tmp_path / 'data'
  data.mkdir()
  weat_file(
    data / 'weat1.jsonl', (['a', 'gone', 'b'], ['c', 'd']), ('pq', ['r', 's'])
  )
  weat_file(data / 'weat2.jsonl', ('ab', 'cd'), (['lost'], ['r', 's']))
  weat_file(data / 'weat3.jsonl', ('ab', 'cd'), (['p', 'lost'], ['r', 's']))
  (data / 'SemBias').write_text(
    'a:b\tc:d\tp:q\tr:s\na:b\tc:gone\tp:q\tr:s\n' * 2
  )
  sets = run(tmp_path / 'v.txt', data, ('weat', 'sembias'), tmp_path / 'run')
  one = sets['weat']
  assert set(one['groups']) == {'weat1', 'weat3'} and one['rows'] == 8
  of = lambda names: np.array([vectors[n] for n in names])
  for name, first in (('weat1', 'pq'), ('weat3', 'p')):
    s = association.association(of('abcd'), of(first), of('rs'))
    assert one['groups'][name]['weat_effect_mean']['value'] == pytest.approx(
      association.effect_size(s[:2], s[2:]), abs=1e-4
    )
  said = ' '.join(one['warnings'])
  assert '3 of 3 files differ' in said and 'weat1.jsonl (' in said
  assert 'weat2 left out' in said and '‘gone’' in said
  assert '1 attributes hold a token' in said and '‘lost’' in said
  assert sets['sembias']['rows'] == 2
  assert '2 of 4 items cannot be scored' in ' '.join(
    sets['sembias']['warnings']
  )
  (data / 'crows_pairs.csv').write_text(
    'sent_more,sent_less,stereo_antistereo,bias_type\na b,a c,stereo,age\n'
  )
  with pytest.raises(UserError, match=r'names=weat,sembias'):
    run(tmp_path / 'v.txt', data, ('crows',), tmp_path / 'other')


def test_word_vectors_are_not_mitigated(tmp_path):
  letters = 'abcdpqrs'
  table(tmp_path / 'v.txt', letters)
  weat_file(tmp_path / 'weat1.jsonl', ('ab', 'cd'), ('pq', 'rs'))
  (tmp_path / 'task.csv').write_text('text,label\na,0\n')
  with pytest.raises(UserError, match='is a file of word vectors'):
    run(
      tmp_path / 'v.txt',
      tmp_path,
      ('weat',),
      tmp_path / 'run',
      task=str(tmp_path / 'task.csv'),
    )


def test_two_tables_are_paired_on_what_both_know(tmp_path):
  data = tmp_path / 'data'
  data.mkdir()
  lists = ('abcdeg', 'ijklmn'), ('pq', 'rs')
  weat_file(data / 'weat1.jsonl', *lists)
  letters = [c for part in (*lists[0], *lists[1]) for c in part]
  table(tmp_path / 'one.txt', letters)
  table(tmp_path / 'two.txt', [c for c in letters if c not in 'ai'], seed=1)
  own = Config(
    recipe='benchmarks',
    model=str(tmp_path / 'one.txt'),
    measures=Measures(resamples=50),
    benchmarks=Benchmarks(names=('weat',), data=str(data)),
    audit=Audit(against=str(tmp_path / 'two.txt')),
  )
  found = recipe.run(own, tmp_path / 'run')
  assert [one['sets']['weat']['rows'] for one in found.contenders.values()] == [
    12,
    10,
  ]
  (test,) = found.tests
  assert test['n'] == 10 and test['difference']['value'] is not None


def test_the_published_glove_is_stereotyped(shared, tmp_path):
  """Caliskan et al. 2017, on 5,000 words of GloVe."""
  model = shared / 'glove' / 'glove.6B.50d.5k.txt'
  data = shared / 'bias_eval'
  sets = run(model, data, ('weat',), tmp_path)
  effects = {
    k: v['weat_effect_mean']['value']
    for k, v in sets['weat']['groups'].items()
    if 'weat_effect_mean' in v  # a test, no topic
  }
  # Words of gender against career and family, mathematics, science and arts.
  for name, least in (('6b', 1), ('7', 1.5), ('7b', 1.5), ('8', 1), ('8b', 1)):
    assert effects[f'weat{name}'] > least
  assert 'hold a token' in ' '.join(sets['weat']['warnings'])


needs_gensim = pytest.mark.skipif(
  importlib.util.find_spec('gensim') is None,
  reason="gensim is not here: pip install 'fairjax[vectors]'",
)


def texts_of(swapped: bool) -> list[str]:
  """Sentences in which women nurse and men engineer, or either does either."""
  rng = np.random.default_rng(0)
  test = word_vectors.TESTS[0]
  lines = []
  for _ in range(3000):
    side = rng.integers(2)
    job = rng.choice(test.targets[side])
    who = rng.integers(2) if swapped else side
    person = rng.choice(test.attributes[who], 3)
    lines.append(f'{person[0]} was a {job} and {person[1]} saw {person[2]}')
  return lines


@needs_gensim
def test_a_planted_association_is_seen_and_a_removed_one_is_not():
  options = RowSample(0.95, 200, 0)
  effects, of = [], []
  for swapped in (False, True):
    spaces = [word_vectors.fit(texts_of(swapped), 20, seed) for seed in (0, 1)]
    rows, notes = word_vectors.rows(spaces, options)
    assert [row['part'] for row in rows] == ['work']
    assert 'career is left out' in ' '.join(notes)
    effects.append(rows[0])
    of.append(spaces)
  assert effects[0]['value']['value'] > 1.5 and effects[0]['p'] < 0.01
  assert abs(effects[1]['value']['value']) < 0.8 and effects[1]['p'] > 0.05
  # Of one set of texts less the other, by the same words of both.
  words = word_vectors.common([*of[0], *of[1]])
  (gap,) = word_vectors.differences(of[1], of[0], options, words)
  one, other = (effect['value']['value'] for effect in effects)
  assert gap['difference']['value'] == pytest.approx(other - one, abs=1e-6)
  assert gap['difference']['high'] < 0 and gap['p'] < 0.01
  assert gap['items'] == effects[0]['items'] and gap['part'] == 'work'


@needs_gensim
def test_the_planted_texts_have_words_of_a_test():
  """Of no test of ours had they three words a list: MBCDA's had no WEAT."""
  config = c.Config(data=c.Data(name='planted'), planted=c.Planted(rows=4000))
  train = data.load_tables(config)[0]['train']
  sources, twins = (train[name].tolist() for name in ('text', 'twin'))
  options, effects = RowSample(0.95, 200, 0), []
  for texts in (sources, sources + twins):
    spaces = [word_vectors.fit(texts, 50, seed) for seed in (0, 1)]
    (row,), _ = word_vectors.rows(spaces, options)
    assert row['part'] == 'unpleasant' and row['items'] >= 20
    effects.append(row['value']['value'])
  assert effects[0] > 0.2 and effects[1] < 0  # women and blame, as planted


@needs_gensim
def test_the_same_seed_gives_the_same_vectors_and_another_one_others():
  texts = texts_of(False)[:300]
  one, two, three = (word_vectors.fit(texts, 8, seed) for seed in (0, 0, 1))
  assert np.array_equal(one.table, two.table)
  assert not np.array_equal(one.table, three.table)


@needs_gensim
def test_texts_without_a_repeated_word_are_refused():
  with pytest.raises(UserError, match='no word occurs 5 times in 1 texts'):
    word_vectors.fit(['a b c'], 8)


# The nine bias types of CrowS-Pairs.
CROWS = (
  *('race-color', 'socioeconomic', 'gender', 'disability', 'nationality'),
  *('sexual-orientation', 'physical-appearance', 'religion', 'age'),
)
# The axes of HolisticBias's descriptors that are one of ours.
HOLISTIC = (
  *('ability', 'age', 'body_type', 'gender_and_sex', 'nationality'),
  *('race_ethnicity', 'religion', 'sexual_orientation', 'socioeconomic_class'),
)


def test_every_category_has_its_axis_and_no_other():
  crows = [by_axis.axis_of('crows', part) for part in CROWS]
  assert len(set(crows)) == 9 and '' not in crows
  assert by_axis.axis_of('crows', 'stereo') == ''
  held = [by_axis.axis_of('holistic', f'axis {part}') for part in HOLISTIC]
  assert sorted(held) == sorted(crows)
  own = [by_axis.axis_of('bbq', f'{c}, ambiguous') for c in bbq.CATEGORIES]
  assert own.count('') == 2  # of two axes at once
  assert sorted(filter(None, own)) == sorted(crows)
  assert by_axis.axis_of('bbq', 'Age, disambiguated') == ''
  for part, axis in (
    ('intrasentence, race', 'race'),
    ('intrasentence, profession', ''),
    ('intersentence, race', ''),
    ('intersentence', ''),
  ):
    assert by_axis.axis_of('stereoset', part) == axis
  alone = pd.DataFrame({'category': ['bbq_gender_shared'] * 2})
  assert by_axis.only_axis(alone) == 'gender'
  for axis in AXES:
    assert by_axis.axis_of('lpbs', exchange.called(axis))
    assert by_axis.axis_of('lpbs', f'{axis}: muslim') == ''


def number(value, p=None):
  return {'value': value, 'low': value - 1, 'high': value + 1, 'p': p}


def test_the_table_is_of_every_number_and_holm_is_over_all_of_them():
  crows = {
    'fairness': {'crows_original': number(60.0), 'crows_aul': number(51.0)},
    'groups': {
      'race-color': {
        'rows': 9,
        'crows_original': number(70.0, 0.01),
        'crows_aul': number(50.0, 0.9),
      },
      'age': {'rows': 4, 'crows_original': number(40.0, 0.02)},
      'stereo': {'rows': 9, 'crows_original': number(99.0, 1e-9)},
    },
  }
  gendered = {'fairness': {'winobias_log_odds': number(0.3, 0.001)}}
  one = {'fairness': {'bbq_bias_mean': number(0.1, 0.3)}, 'groups': {}}
  items = {
    'crows': pd.DataFrame(),
    'winobias': pd.DataFrame(),
    'bbq': pd.DataFrame({'category': ['Religion'] * 3}),
  }
  sets = {'crows': crows, 'winobias': gendered, 'bbq': one, 'texts': {}}
  rows, said = by_axis.lines(sets, items)
  assert [row['axis'] for row in rows] == ['gender', 'race', 'religion', 'age']
  label = 'CrowS-Pairs (original)'
  assert rows[1][label]['value'] == 70.0 and rows[3][label]['value'] == 40.0
  assert rows[1]['CrowS-Pairs (AUL)']['value'] == 50.0
  # Holm of .001, .01, .02, .3, .9: .005, .04, .06, .6, .9.
  (words,) = said
  assert 'over the 5 numbers' in words
  assert 'gender by' in words and 'race by CrowS-Pairs (original) (70' in words
  assert 'age by' not in words and 'p = 0.04' in words
  assert rows[2]['BBQ bias']['value'] == 0.1
  assert rows[1][label]['digits'] == 1 and 'digits' not in rows[2]['BBQ bias']
  for name, row in BENCHMARKS.items():  # each shows what it can measure
    assert row.headline or row.by_axis or name in ('twins', 'eec'), name


def test_a_number_of_the_level_is_one_of_the_sure():
  """Five p of .01, adjusted .05 each: Holm rejects what is no larger."""
  groups = {
    part: {'rows': 9, 'crows_original': number(60.0, 0.01)}
    for part in ('race-color', 'age', 'religion', 'disability', 'nationality')
  }
  one = {'fairness': {'crows_original': number(60.0)}, 'groups': groups}
  _, (said,) = by_axis.lines({'crows': one}, {'crows': pd.DataFrame()})
  assert said.startswith('Apart from no preference, at p ≤ 0.05 by Holm over')
  assert said.count('p = 0.05') == 5


@pytest.mark.parametrize('association', [0.0, 0.8])
def test_the_corpus_has_the_association_that_it_says(association):
  lines = planted.corpus(association, 8000, 0)
  masculine = {*planted.WORDS['m'], *planted.NAMES['m']}
  feminine = {*planted.WORDS['f'], *planted.NAMES['f']}
  slope, count = [], 0
  for line in lines:
    words = set(re.findall(r'\w+', line))
    job = words & set(planted.JOBS)
    if job and words & (masculine | feminine):
      assert not (words & masculine and words & feminine)
      side = 1 if words & masculine else -1
      slope.append(side * planted.STRENGTH[job.pop()])
      count += 1
  square = np.mean([s**2 for s in planted.STRENGTH.values()])
  assert count > 6000
  assert np.mean(slope) / square == pytest.approx(association, abs=0.05)
  assert planted.corpus(association, 50, 0) == lines[:50]


def test_the_files_are_in_their_published_forms(tmp_path):
  planted.write_tests(tmp_path)
  test = weat.read(tmp_path / 'sent-weat_planted.jsonl')
  assert test.words and len(test.targets[0]) == 10
  line = (tmp_path / 'Gender_identity.jsonl').read_text().splitlines()[0]
  assert json.loads(line)['context_condition'] == 'ambig'
