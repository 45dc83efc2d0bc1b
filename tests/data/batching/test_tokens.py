"""Ids against transformers; the store, the cache, and a trained vocabulary."""

import functools
import itertools
import json
import shutil

import numpy as np
import pandas as pd
import programs
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import build

TEXTS = [
  "She is a Doctor from São Paulo; he isn't.",
  '',
  '   spaced\tout\nlines  ',
  'naïve café Ünïcödé 漢字 🙂 e\u0301',
  'unbelievablylongwordthatnobodyknows ' * 3,
  'a [MASK] and a <mask> and a [SEP] in the text &amp; more',
  'ALL CAPS, 1,234.5 and #hashtags @people http://x.y/z',
  'zero\u200bwidth \ufffd control\x00char',
]
WORDS = '[PAD] [UNK] [CLS] [SEP] [MASK] he She ##s the'.split()


def texts_of(ragged: Ragged) -> list[list[int]]:
  return [part.tolist() for part in np.split(ragged.flat, ragged.offsets[1:-1])]


def check_against(theirs, ours, max_length=24):
  """Ids and types of texts and of pairs, cut and whole."""
  for length in (max_length, 400):
    expected = theirs(TEXTS, truncation=True, max_length=length)
    assert texts_of(tokens.encode(ours, TEXTS, length)) == expected['input_ids']
    pairs = TEXTS[::-1]
    expected = theirs(
      TEXTS,
      pairs,
      truncation=True,
      max_length=length,
      return_token_type_ids=True,
    )
    got = tokens.encode(ours, TEXTS, length, pairs)
    assert texts_of(got) == expected['input_ids']
    types = [part.tolist() for part in np.split(got.types, got.offsets[1:-1])]
    assert types == expected['token_type_ids']


def bart(folder, tmp_path):
  """From bare files transformers 5 forgets that the mask eats the space before
  it, as it does in the files published with both models."""
  for name in ('vocab.json', 'merges.txt'):
    shutil.copy(folder / name, tmp_path)
  mask = AddedToken('<mask>', lstrip=True, special=True)
  return transformers.BartTokenizer.from_pretrained(tmp_path, mask_token=mask)


# name -> the folder, what is read of it, and who reads it otherwise
KNOWN = {
  'cased': ('bert-base-cased', '', 'AutoTokenizer'),
  'roberta': ('roberta-base', '', 'AutoTokenizer'),
  'uncased': ('bert-base-uncased', '', 'BertTokenizer'),
  'vocabulary': ('bert-base-uncased', 'vocab.txt', 'BertTokenizer'),
  'electra': ('bert-base-uncased', '', 'ElectraTokenizer'),
}


@pytest.mark.parametrize('name', [*KNOWN, 'bart'])
def test_ids_equal_transformers(shared, tmp_path, name):
  at, file, reader = KNOWN.get(name, ('roberta-base', '', ''))
  folder = shared / 'tokenizers' / at
  if not reader:
    theirs = bart(folder, tmp_path)
    folder = tmp_path
  else:
    lower = {'do_lower_case': True} if 'uncased' in at else {}
    theirs = getattr(transformers, reader).from_pretrained(folder, **lower)
  check_against(theirs, tokens.load_tokenizer(folder / file))


def test_gpt2_has_no_special_tokens(shared, tmp_path):
  source = shared / 'tokenizers' / 'roberta-base'
  vocab = json.loads((source / 'vocab.json').read_text(encoding='utf-8'))
  for token in ('<s>', '<pad>', '</s>', '<unk>', '<mask>'):
    vocab[f'<|{token[1:-1]}|>'] = vocab.pop(token)
  vocab['<|endoftext|>'] = vocab.pop('<|s|>')
  (tmp_path / 'vocab.json').write_text(json.dumps(vocab), encoding='utf-8')
  shutil.copy(source / 'merges.txt', tmp_path)
  ours = tokens.load_tokenizer(tmp_path)
  theirs = transformers.GPT2Tokenizer.from_pretrained(tmp_path)
  full = [text for text in TEXTS if text]
  got = tokens.encode(ours, full, 24)
  expected = theirs(full, truncation=True, max_length=24)['input_ids']
  assert texts_of(got) == expected
  # No ids at all would be no example: an empty text is the end of one.
  end = vocab['<|endoftext|>']
  assert texts_of(tokens.encode(ours, [''], 24)) == [[end]]


def test_minilm(minilm):
  ours = tokens.load_tokenizer(minilm)
  check_against(transformers.AutoTokenizer.from_pretrained(minilm), ours)
  file = tokens.load_tokenizer(minilm / 'tokenizer.json')
  assert file.to_str() == tokens.load_tokenizer(minilm).to_str()


@pytest.mark.parametrize(
  ('folder', 'words', 'config', 'lower'),
  [
    ('some', WORDS, None, False),
    ('some', [w.lower() if w[0] != '[' else w for w in WORDS], None, True),
    ('some-uncased', WORDS, None, True),
    ('some-uncased', WORDS, {'do_lower_case': False}, False),
    ('some', WORDS, {'do_lower_case': True}, True),
    ('some', WORDS, {'model_max_length': 512}, False),
  ],
)
def test_lower_casing(tmp_path, folder, words, config, lower):
  folder = tmp_path / folder
  folder.mkdir()
  (folder / 'vocab.txt').write_text('\n'.join(words) + '\n', encoding='utf-8')
  if config is not None:
    (folder / 'tokenizer_config.json').write_text(json.dumps(config))
  tokenizer = tokens.load_tokenizer(folder)
  assert tokenizer.normalizer.normalize_str('She') == (
    'she' if lower else 'She'
  )


def train(count=600):
  draw = np.random.default_rng(0)
  words = [''.join(draw.choice(list('abcdefgh'), 5)) for _ in range(80)]
  return [' '.join(draw.choice(words, 8)) for _ in range(count)]


def test_a_trained_vocabulary_is_the_same_in_every_process():
  code = (
    'import sys; sys.path.insert(0, "tests/data/batching")\n'
    'from test_tokens import *\n'
    'print(fingerprint(tokens.train_tokenizer(train(), 300).get_vocab()))'
  )
  code = 'from fairjax.core.artefacts import fingerprint\n' + code
  own = {'PYTHONPATH': f'{programs.ROOT}:{programs.ROOT}/tests'}
  assert len({programs.printed('-c', code, **own) for _ in range(2)}) == 1


def test_what_is_saved_is_read_by_us_and_by_transformers(tmp_path):
  tokenizer = tokens.train_tokenizer(train(), 300)
  tokens.encode(tokenizer, ['abc'], 5)  # its truncation is not saved
  tokens.save_tokenizer(tokenizer, tmp_path)
  again = tokens.load_tokenizer(tmp_path)
  assert again.to_str() == tokenizer.to_str()
  theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
  check_against(theirs, again)
  assert theirs.pad_token_id == 0 and theirs.mask_token_id == 4


def test_chunks_are_seamless(monkeypatch):
  tokenizer = tokens.train_tokenizer(train(), 300)
  whole = tokens.encode(tokenizer, train(50), 16, train(50)[::-1])
  monkeypatch.setattr(tokens, 'CHUNK', 7)
  parts = tokens.encode(tokenizer, train(50), 16, train(50)[::-1])
  for a, b in zip(whole, parts):
    np.testing.assert_array_equal(a, b)
    assert a.dtype == b.dtype


def test_the_cache_is_by_content(tmp_path, monkeypatch):
  tokenizer = tokens.train_tokenizer(train(), 300)
  other = tokens.train_tokenizer(train(), 200)
  calls = []
  real = tokens.encode
  monkeypatch.setattr(tokens, 'encode', lambda *a: calls.append(a) or real(*a))
  asked = [
    (tokenizer, ['ab', 'c'], 16, None),
    (tokenizer, ['a', 'bc'], 16, None),  # the same letters, cut elsewhere
    (tokenizer, ['ab', 'c'], 3, None),
    (other, ['ab', 'c'], 16, None),
    (tokenizer, ['ab', 'c'], 16, ['x', 'y']),
  ]
  for _ in range(2):
    for args in asked:
      got = tokens.cached_encode(*args, cache=tmp_path)
      for a, b in zip(got, real(*args)):
        np.testing.assert_array_equal(a, b)
  assert len(calls) == len(asked) == len(list(tmp_path.iterdir()))


def test_a_damaged_cache_is_made_anew(tmp_path):
  tokenizer = tokens.train_tokenizer(train(), 300)
  first = tokens.cached_encode(tokenizer, ['ab'], 16, cache=tmp_path)
  (file,) = tmp_path.iterdir()
  whole = file.read_bytes()
  flip = lambda k: whole[:k] + bytes([whole[k] ^ 129]) + whole[k + 1 :]
  flipped = map(flip, range(len(whole)))
  for damage in (b'', b'PK\x03\x04 no', whole[:200], *flipped):
    file.write_bytes(damage)
    again = tokens.cached_encode(tokenizer, ['ab'], 16, cache=tmp_path)
    np.testing.assert_array_equal(first.flat, again.flat)
  file.write_bytes(b'')
  with pytest.raises(UserError, match='is not a readable numpy file'):
    artefacts.read_arrays(file)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_take(data):
  texts = data.draw(
    st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=6)
  )
  rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
  flat = np.array(list(itertools.chain(*texts)), np.int32)
  offsets = np.cumsum([0, *map(len, texts)])
  cut = np.arange(len(texts)) % 2 == 0
  store = Ragged(flat, offsets, (flat % 2).astype(np.int8), cut)
  assert [row.tolist() for row in store.split()] == texts
  assert [texts[i] for i in dict.fromkeys(store.owner)] == [
    t for t in texts if t
  ]
  assert tokens.ragged(texts).flat.tolist() == flat.tolist()
  assert tokens.ragged(texts).offsets.tolist() == offsets.tolist()
  got = tokens.take(store, rows)
  assert got.lengths.tolist() == [len(texts[i]) for i in rows]
  assert got.flat.tolist() == [x for i in rows for x in texts[i]]
  assert got.types.tolist() == [i % 2 for i in got.flat.tolist()]
  assert got.cut.tolist() == [i % 2 == 0 for i in rows]
  assert tokens.take(Ragged(flat, offsets), rows).types is None


def test_mistakes_are_told_in_a_sentence(tmp_path):
  def told(words, call, *given):
    with pytest.raises(UserError, match=words):
      call(*given)

  told('there is no tokenizer at', tokens.load_tokenizer, tmp_path / 'none')
  for file, content, words in (
    ('', '', 'holds no model and no tokenizer'),
    ('config.json', '{}', r'holds no tokenizer\.json'),
    ('vocab.json', '{}', r'needs merges\.txt beside it'),
    ('vocab.txt', 'a\nb\n', "no line '\\[PAD\\]'"),
    ('tokenizer.json', '{"a": 1}', r'tokenizer\.json is not a tokenizer'),
  ):
    if file:
      (tmp_path / file).write_text(content)
    told(words, tokens.load_tokenizer, tmp_path)
  tokenizer = tokens.train_tokenizer(train(), 300)
  tokens.save_tokenizer(tokenizer, tmp_path)
  (tmp_path / 'tokenizer_config.json').write_text('[]')
  told('a list, not an object of keys', tokens.load_tokenizer, tmp_path)
  encode = functools.partial(tokens.encode, tokenizer)
  told('max_length is 2', encode, ['a'], 2)
  told('half a character', encode, ['a', 'b'], 8, ['c', 'x\ud800'])
  told('half a character', encode, [*train(200), 'half \ud800'], 8)
  told('None is not a text', encode, ['a', None], 8)
  told('None is not a text', encode, [*train(200), None], 8)
  told('vocab_size is 6', tokens.train_tokenizer, train(), 6)


def test_a_sentencepiece_folder_is_read_as_transformers_reads_it(tmp_path):
  sentencepiece = pytest.importorskip('sentencepiece')
  texts = ['she left her keys', 'he is a nurse', 'they went home'] * 30
  (tmp_path / 'text').write_text('\n'.join(texts))
  sentencepiece.SentencePieceTrainer.train(
    input=str(tmp_path / 'text'),
    model_prefix=str(tmp_path / 'spiece'),
    vocab_size=24,
    minloglevel=2,
  )
  folder = tmp_path / 'model'
  folder.mkdir()
  (tmp_path / 'spiece.model').rename(folder / 'spiece.model')
  (folder / 'tokenizer_config.json').write_text(
    '{"tokenizer_class": "T5Tokenizer"}'
  )
  ours = tokens.load_tokenizer(folder)
  theirs = transformers.AutoTokenizer.from_pretrained(folder)
  for text in texts[:3]:
    assert ours.encode(text).ids == theirs(text)['input_ids']


@pytest.mark.parametrize('file', ['tokenizer.json', 'tokenizer_config.json'])
def test_a_folder_that_cuts_at_the_left_is_cut_there(tmp_path, file):
  tokenizer = tokens.train_tokenizer(train(), 300)
  folder = tmp_path / 'in'
  tokens.save_tokenizer(tokenizer, folder)
  if file == 'tokenizer.json':
    tokenizer.enable_truncation(64, direction='left')
    tokenizer.save(str(folder / file))
  else:
    known = json.loads((folder / file).read_text()) | {
      'truncation_side': 'left'
    }
    (folder / file).write_text(json.dumps(known))
  theirs = transformers.AutoTokenizer.from_pretrained(folder)
  ours = tokens.load_tokenizer(folder)
  whole = theirs(TEXTS)['input_ids']
  assert texts_of(tokens.encode(ours, TEXTS, None)) == whole
  check_against(theirs, ours, 8)  # after a reading that cuts nothing, too
  tokens.save_tokenizer(ours, tmp_path / 'out')
  check_against(theirs, tokens.load_tokenizer(tmp_path / 'out'), 8)
  check_against(theirs, ours, 8)
  theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / 'out')
  check_against(theirs, ours, 8)


def test_a_vocabulary_is_learned_from_a_seeded_sample(monkeypatch):
  frame = pd.DataFrame({'text': [f'w{i}' for i in range(40)]})
  calls, known = [], tokens.train_tokenizer(['a'], 30)

  def learn(texts, size):
    calls.append(texts)
    return known

  config = Config()
  for most, seed in ((40, 0), (7, 0), (7, 0), (7, 1)):
    monkeypatch.setattr(build, 'VOCAB_TEXTS', most)
    config.seed = seed
    build.find_tokenizer(config, [frame], None, learn)
  every, one, again, other = calls
  assert every == list(frame['text'])
  assert len(set(one)) == 7 and set(one) < set(every)
  assert one == again != other
