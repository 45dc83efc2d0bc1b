"""GGUF files: blocks against slow twins, and files that would do harm."""

import struct

import numpy as np
import pytest
from gguf_files import CODES, CONTROL, gguf, string, tokenizer

from fairjax.core.errors import UserError
from fairjax.data import gguf as reading
from fairjax.data.batching import tokens

TEXTS = ['She paid 1234 dollars.', "He didn't; they   did.\n\n  Yes, naïve!"]
SIZES = {'F32': 4, 'F16': 2, 'BF16': 2, 'Q4_0': 18, 'Q4_1': 20, 'Q8_0': 34}


def half(raw):
  return struct.unpack('<e', raw)[0]


def slow(kind, raw):
  """One block, value by value."""
  if kind == 'F32':
    return [struct.unpack('<f', raw)[0]]
  if kind == 'F16':
    return [half(raw)]
  if kind == 'BF16':
    return [struct.unpack('<f', b'\0\0' + raw)[0]]
  d = half(raw[:2])
  if kind == 'Q8_0':
    return [d * q for q in struct.unpack('<32b', raw[2:])]
  m, bytes_ = (half(raw[2:4]), raw[4:]) if kind == 'Q4_1' else (-8 * d, raw[2:])
  return [d * (b % 16) + m for b in bytes_] + [
    d * (b // 16) + m for b in bytes_
  ]


@pytest.mark.parametrize('kind', CODES)
def test_every_kind_of_block_against_a_slow_twin(tmp_path, kind):
  rng = np.random.default_rng(0)
  per = 1 if SIZES[kind] < 8 else 32
  shape = (3, 2 * per)
  blocks = rng.integers(0, 256, (6, SIZES[kind]), np.uint8)
  if per > 1:  # scales that are numbers
    blocks[:, :4].view('<f2')[:] = rng.normal(size=(6, 2))
    if kind != 'Q4_1':
      blocks[:, 2:4] = rng.integers(0, 256, (6, 2))
  else:
    blocks[:, -1] = 60  # an exponent far from infinity
  raw = blocks.tobytes()
  array = (shape, raw)
  if kind in ('F32', 'F16'):
    array = np.frombuffer(raw, '<f4' if kind == 'F32' else '<f2').reshape(shape)
  path = tmp_path / 'a.gguf'
  before = ('F16', np.ones((5, 1)))  # so that the offset is not 0
  path.write_bytes(gguf({'x': 1}, {'first': before, 'w': (kind, array)}))
  file = reading.read(path)
  value = reading.tensor(file, 'w')
  assert value.shape == shape and value.dtype == np.float32
  twin = np.concatenate([slow(kind, block.tobytes()) for block in blocks])
  np.testing.assert_allclose(value.ravel(), twin, rtol=1e-6, atol=1e-7)
  package = pytest.importorskip('gguf')  # llama.cpp's own
  theirs = package.quants.dequantize(
    blocks.reshape(3, -1), package.GGMLQuantizationType[kind]
  )
  if kind not in ('F32', 'F16'):
    np.testing.assert_array_equal(value, theirs.reshape(shape))


def test_the_tokenizer_of_a_file(tmp_path):
  bpe, fields = tokenizer(TEXTS)
  path = tmp_path / 'a.gguf'
  path.write_bytes(gguf(fields, {}))
  ours = tokens.load_tokenizer(path)
  for text in (*TEXTS, 'x 90 y', f'one{CONTROL}two'):
    assert ours.encode(text).ids == bpe.encode(text).ids
    assert ours.decode(ours.encode(text).ids) == text.replace(CONTROL, '')
  path.write_bytes(gguf(fields | {'tokenizer.ggml.add_bos_token': True}, {}))
  ours = tokens.load_tokenizer(path)
  assert ours.encode('She').ids == [0, *bpe.encode('She').ids]
  for wrong, words in (
    ({'tokenizer.ggml.model': 'llama'}, 'kind llama/smollm'),
    ({'tokenizer.ggml.pre': 'qwen2'}, 'kind gpt2/qwen2'),
    ({'tokenizer.ggml.merges': ['q']}, 'not a tokenizer'),
    ({'tokenizer.ggml.tokens': ['a', 'a']}, '1 of them'),
    ({'tokenizer.ggml.tokens': 3}, 'no list'),
  ):
    path.write_bytes(gguf(fields | wrong, {}))
    with pytest.raises(UserError, match=words):
      tokens.load_tokenizer(path)


W = ('F32', np.ones((2, 32)))
HEAD = b'GGUF' + struct.pack('<I', 3)
HARMFUL = {
  'no magic': (b'PK\3\4' + bytes(60), 'does not begin'),
  'short': (b'GGUF', 'too short'),
  'version 1': (b'GGUF' + struct.pack('<I', 1) + bytes(60), 'version 1'),
  'big-endian': (b'GGUF' + struct.pack('>I', 3) + bytes(60), 'version'),
  'tensors': (HEAD + struct.pack('<QQ', 2**62, 0), 'announces'),
  'fields': (HEAD + struct.pack('<QQ', 0, 2**62), 'announces'),
  'a string': (HEAD + struct.pack('<QQQ', 0, 1, 2**63) + bytes(9), 'announces'),
  'a list': (
    HEAD
    + struct.pack('<QQ', 0, 1)
    + string('x')
    + struct.pack('<IIQ', 9, 4, 2**61),
    'announces',
  ),
  'a list of lists': (
    HEAD
    + struct.pack('<QQ', 0, 1)
    + string('x')
    + struct.pack('<IIQ', 9, 9, 0),
    'list of the unknown type 9',
  ),
  'a type': (
    HEAD + struct.pack('<QQ', 0, 1) + string('x') + struct.pack('<I', 77),
    'unknown type 77',
  ),
  'a name': (gguf({b'\xff\xfe': 1}, {}), 'UTF-8'),
  'no alignment': (gguf({'general.alignment': 0}, {'w': W}), 'alignment'),
  'ends early': (gguf({}, {'w': W})[:-40], 'its place'),
  'no values': (
    gguf({}, {'w': ('Q8_0', ((0, 32), b''))}),
    r'shape \(0, 32\)',
  ),
  'not whole blocks': (
    gguf({}, {'w': ('Q8_0', ((32, 1), bytes(34 * 32)))}),
    'cannot be Q8_0',
  ),
}


@pytest.mark.parametrize('name', HARMFUL)
def test_a_harmful_file_is_one_sentence(tmp_path, name):
  data, words = HARMFUL[name]
  path = tmp_path / 'a.gguf'
  path.write_bytes(data)
  with pytest.raises(UserError, match=words):
    reading.read(path)


def test_tensors_that_overlap_or_are_named_twice(tmp_path):
  data = bytearray(gguf({}, {'aa': W, 'bb': W}))
  at = data.index(b'bb') + 2 + 4 + 16 + 4
  assert data[at : at + 8] == struct.pack('<Q', 256)
  path = tmp_path / 'a.gguf'
  for change, words in (
    (lambda d: d.__setitem__(slice(at, at + 8), bytes(8)), 'its place'),
    (lambda d: d.__setitem__(slice(at, at + 8), b'\xff' * 8), 'its place'),
    (lambda d: d.__setitem__(slice(at - 4, at), b'\x0e\0\0\0'), 'type 14'),
    (
      lambda d: d.__setitem__(slice(at - 20, at - 12), b'\xff' * 8),
      'its place',
    ),
  ):
    other = bytearray(data)
    change(other)
    path.write_bytes(other)
    with pytest.raises(UserError, match=words):
      reading.read(path)
  path.write_bytes(data.replace(b'bb', b'aa'))
  with pytest.raises(UserError, match='twice'):
    reading.read(path)


def test_any_damage_is_a_sentence_or_a_file(tmp_path):
  """Bytes changed at random raise nothing but a UserError."""
  _, fields = tokenizer(TEXTS, 270)
  whole = gguf(fields, {'w': W, 'q': ('Q8_0', ((1, 32), bytes(34)))})
  rng, path, refused = np.random.default_rng(0), tmp_path / 'a.gguf', 0
  for _ in range(200):
    data = bytearray(whole)
    for at in rng.integers(0, len(data), 4):
      data[at] = rng.integers(0, 256)
    path.write_bytes(data[: rng.integers(1, len(data) + 1)])
    try:
      file = reading.read(path)
      for name in file.tensors:
        reading.tensor(file, name)
      reading.tokenizer(path)
    except UserError:
      refused += 1
  assert refused > 100
