"""Words: vocabulary, GloVe files good and bad, windows of packed batches."""

import jax
import numpy as np
import pytest
import small

from fairjax.config import Config, Net, Tokens
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import cached_encode, encode
from fairjax.methods import project
from fairjax.models import build
from fairjax.models.words import word_level

from ..batches import examples, pack

TEXTS = ['The cat, the DOG: http://x.y/z?q=1', "the cat isn't 3", '']


def test_words_are_found_as_in_the_paper():
  tokenizer = word_level.train_words(TEXTS, 100)
  known = word_level.vocabulary(tokenizer)
  # By count, then by the alphabet.
  assert known == ['[PAD]', '[UNK]', 'the', 'cat', '3', 'dog', 'isn', 't']
  ids = encode(tokenizer, [*TEXTS, 'a cat'], 10)
  rows = [
    [known[i] for i in ids.flat[a:b]]
    for a, b in zip(ids.offsets, ids.offsets[1:])
  ]
  assert rows[0] == ['the', 'cat', 'the', 'dog']
  assert rows[1:] == [
    ['the', 'cat', 'isn', 't', '3'],
    ['[PAD]'],  # an empty text is a word of padding
    ['[UNK]', 'cat'],
  ]
  assert word_level.vocabulary(word_level.train_words(TEXTS, 4))[2:] == [
    'the',
    'cat',
  ]


def test_a_long_text_is_cut_where_it_is_padded(tmp_path):
  tokenizer = word_level.train_words(['a b c d e'], 100)
  tokenizer.enable_truncation(9, direction=word_level.SIDE)
  for _ in range(2):  # made, and from the cache
    ids = cached_encode(tokenizer, ['a b c d e'], 2, cache=tmp_path)
    found = [word_level.vocabulary(tokenizer)[i] for i in ids.flat]
    assert found == ['d', 'e']
    assert ids.cut_lengths == 1


def glove(path, lines):
  path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
  return path


def test_rows_of_words_that_the_file_lacks_are_random(tmp_path):
  file = glove(tmp_path / 'g.txt', ['cat 1 2', '. . . 5 6', 'dog -3 4e-1'])
  made = word_level.load_vectors(file, ['[PAD]', 'dog', '. . .', 'cow'])
  np.testing.assert_allclose(made.values[1:3], [[-3, 0.4], [5, 6]])
  rest = made.values[[0, 3]]
  assert (np.abs(rest) < 0.05).all() and len(np.unique(rest)) == 4
  again = word_level.load_vectors(file, ['[PAD]', 'dog'])
  np.testing.assert_array_equal(again.values, made.values[:2])


@pytest.mark.parametrize(
  'lines, sentence',
  small.cases(__file__, 'broken_files.json'),
)
def test_a_broken_file_is_one_sentence(tmp_path, lines, sentence):
  file = glove(tmp_path / 'g.txt', lines)
  with pytest.raises(UserError, match=sentence):
    word_level.load_vectors(file, ['cat', 'dog'])


def test_a_missing_file_is_one_sentence(tmp_path):
  with pytest.raises(UserError, match=r'net\.glove'):
    word_level.load_vectors(tmp_path / 'none.txt', ['cat'])


def test_glove_is_read_as_numpy_reads_it(shared):
  file = shared / 'glove' / 'glove.6B.50d.5k.txt'
  made = word_level.load_vectors(file, ['[PAD]', 'woman', 'the', 'zzzz'])
  lines = dict(
    line.split(' ', 1) for line in file.read_text('utf-8').splitlines()
  )
  for row, word in ((1, 'woman'), (2, 'the')):
    np.testing.assert_array_equal(
      made.values[row], np.array(lines[word].split(), np.float32)
    )


def test_the_gender_direction_goes(shared):
  file = shared / 'glove' / 'glove.6B.50d.5k.txt'
  listed = ['[PAD]', 'nurse', 'doctor', 'man', 'woman', 'strong']
  edit = word_level.VectorEdit(project.needs(), project.remove_gender)
  words_of = dict(
    zip(listed, word_level.load_vectors(file, listed, edit).values)
  )
  plain = dict(zip(listed, word_level.load_vectors(file, listed).values))
  lean = lambda v, w: abs(v[w] @ (v['man'] - v['woman'])) / np.linalg.norm(v[w])
  for word in ('nurse', 'doctor', 'strong'):
    assert lean(words_of, word) < 1e-5 < lean(plain, word)
    assert np.linalg.norm(words_of[word]) == pytest.approx(1, abs=1e-5)
  assert project.DEFINING  # the direction is defined by words of the file


@pytest.mark.parametrize('length', [4, 12, 20])
def test_windows_hold_one_example_each(length):
  texts = examples([3, 9, 4, 12, 6], 30)
  batch = pack(texts, 3, 16, 3, extra=2, junk=1)
  ids, rows = jax.jit(word_level.unpack, static_argnums=1)(batch, length)
  for k, text in enumerate(texts):
    kept = text[-length:]
    expect = np.pad(kept, (length - len(kept), 0))
    np.testing.assert_array_equal(ids[k], expect)
  assert not ids[5:].any()
  segment_ids = np.where(batch['example'] >= 0, np.arange(1, 8), 0)
  np.testing.assert_array_equal(
    rows.segment_ids, np.tile(segment_ids[:, None], length)
  )


def config_of(model='lstm', **net):
  return Config(model=model, net=Net(**net), tokens=Tokens(vocab_size=50))


def tables():
  import pandas as pd

  train = pd.DataFrame(
    {'id': ['a', 'b'], 'text': ['the cat', 'a dog'], 'label': [0, 1]}
  )
  test = pd.DataFrame({'id': ['c'], 'text': ['one cow'], 'label': [0]})
  return {'train': train, 'test': test}


def test_frozen_vectors_are_no_parameters(tmp_path):
  file = glove(tmp_path / 'g.txt', ['cat 1 2', 'cow 3 4'])
  made = build.classifier(config_of(glove=str(file)), tables(), 2)
  tokenizer = made.tokenizer
  assert 'embed' not in made.init(0)
  assert 'cow' in word_level.vocabulary(
    tokenizer
  )  # its vector needs no training


@pytest.mark.parametrize('model, length', [('lstm', 35), ('cnn', 250)])
def test_without_a_file_vectors_are_learned(model, length):
  made = build.classifier(config_of(model), tables(), 2)
  assert made.longest == length
  assert 'cow' not in word_level.vocabulary(made.tokenizer)  # in test only
  one, two = (made.init(s)['embed']['embedding'] for s in (1, 2))
  assert one.shape == (6, word_level.WIDTH) and (one != two).all()
  assert (np.abs(one) < 0.05).all()
  with pytest.raises(UserError, match='names no file'):
    build.classifier(config_of(remove_gender=True), tables(), 2)
  with pytest.raises(UserError, match='no pretrained weights'):
    build.classifier(config_of(init='pretrained'), tables(), 2)
