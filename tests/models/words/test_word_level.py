"""Words for a model: embeddings, convolutions."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import small

from fairjax.config import Config, Net, Tokens
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import cached_encode, encode
from fairjax.methods import project
from fairjax.models import build
from fairjax.models.words import text_cnn, word_level
from fairjax.models.words.text_cnn import TextCNN

from ..batches import examples, pack
from ..small_encoder import norms
from ..words.test_lstm import (
  FROZEN,
  PACKED,
  TABLE,
  VOCAB,
  WIDTH,
  check_norms,
  check_packing,
  with_params,
)

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
  'lines, sentence', small.cases(__file__, 'broken_files.json')
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


def made(vectors=None, length=13):
  shape = word_level.WordShape(VOCAB, WIDTH, 2, length, 0.3, vectors)
  return with_params(TextCNN(shape, filters=4))


@pytest.mark.parametrize('vectors', [None, FROZEN])
def test_norms_are_exact(vectors):
  check_norms(*made(vectors))


def test_packing_changes_nothing():
  check_packing(*made())


@pytest.mark.parametrize('length', [13, 250, 35])
def test_the_model_is_torchs(length, torch):
  module, params = made(FROZEN, length)
  kernel = lambda name: np.asarray(params[name]['kernel'])
  bias = lambda name: torch.tensor(np.asarray(params[name]['bias']))
  ids, _ = word_level.unpack(PACKED, length)
  x = torch.tensor(TABLE)[torch.tensor(np.asarray(ids))].transpose(1, 2)
  for k, size in enumerate((5, 5, 40)):
    w = kernel(f'conv_{k}').reshape(5, x.shape[1], 4).transpose(2, 1, 0)
    x = torch.nn.functional.conv1d(
      x, torch.tensor(np.ascontiguousarray(w)), bias(f'conv_{k}'), padding=2
    )
    x = torch.relu(x)
    missing = -x.shape[2] % size  # Keras' 'same': the odd one at the end
    ends = (missing // 2, missing - missing // 2)
    x = torch.nn.functional.pad(x, ends, value=-np.inf)
    x = torch.nn.functional.max_pool1d(x, size)
  x = x.transpose(1, 2).flatten(1)
  x = torch.relu(x @ torch.tensor(kernel('dense')) + bias('dense'))
  expect = x @ torch.tensor(kernel('classifier')) + bias('classifier')
  got = jax.jit(module.apply)({'params': params}, PACKED)
  np.testing.assert_allclose(got, expect, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('vectors', [None, FROZEN])
@pytest.mark.parametrize('length', [58, 61])
def test_padding_that_is_left_out_changes_nothing(monkeypatch, vectors, length):
  module, params = made(vectors, length)
  assert text_cnn.spare(length, PACKED['tokens'].shape[1]) > 5

  def results():
    loss = lambda p: jnp.sum(module.apply({'params': p}, PACKED)[:, 0] ** 2)
    logits = module.apply({'params': params}, PACKED)
    return logits, jax.grad(loss)(params), norms(module, params, PACKED)

  short = jax.jit(results)()
  monkeypatch.setattr(text_cnn, 'spare', lambda *_: 0)
  for a, b in zip(
    jax.tree.leaves(short), jax.tree.leaves(jax.jit(lambda: results())())
  ):
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_dixons_lengths():
  x = jnp.zeros((1, 250, 3))
  for size, length in ((5, 50), (5, 10), (40, 1)):
    x = text_cnn.pool(text_cnn.neighbours(x, 5)[..., :3], size)
    assert x.shape == (1, length, 3)
