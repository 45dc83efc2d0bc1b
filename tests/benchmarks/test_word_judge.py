"""A file of word vectors as a model: WEAT, SemBias, unknown words by name."""

import json

import numpy as np
import pytest

from fairjax.benchmarks.shared import association
from fairjax.config import Audit, Benchmarks, Config, Measures
from fairjax.core.errors import UserError
from fairjax.models.reading import word_judge
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
  assert '0 of 3 files are published' in said and 'weat1.jsonl (' in said
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
