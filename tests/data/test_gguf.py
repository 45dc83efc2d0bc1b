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


def test_the_tokenizer_of_a_file(tmp_path):
  bpe, fields = tokenizer(TEXTS)
  path = tmp_path / 'a.gguf'
  path.write_bytes(gguf(fields, {}))
  ours = tokens.load_tokenizer(path)
  for text in (*TEXTS, 'x 90 y', f'one{CONTROL}two'):
    assert ours.encode(text).ids == bpe.encode(text).ids
    assert ours.decode(ours.encode(text).ids) == text.replace(CONTROL, '')
  begins = fields | {'tokenizer.ggml.add_bos_token': True}
  words = ['<s: x', *fields['tokenizer.ggml.tokens'][1:]]  # no template's word
  path.write_bytes(gguf(begins | {'tokenizer.ggml.tokens': words}, {}))
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
ONE = HEAD + struct.pack('<QQ', 0, 1)  # a field
HARMFUL = {
  'no magic': b'PK\3\4' + bytes(60),
  'short': b'GGUF',
  'version 1': b'GGUF' + struct.pack('<I', 1) + bytes(60),
  'big-endian': b'GGUF' + struct.pack('>I', 3) + bytes(60),
  'tensors': HEAD + struct.pack('<QQ', 2**62, 0),
  'fields': HEAD + struct.pack('<QQ', 0, 2**62),
  'a string': HEAD + struct.pack('<QQQ', 0, 1, 2**63) + bytes(9),
  'a list': ONE + string('x') + struct.pack('<IIQ', 9, 4, 2**61),
  'a list of bytes': ONE + string('x') + struct.pack('<IIQ', 9, 0, 2**60),
  'lists of lists': ONE + string('x') + struct.pack('<IIQ', 9, 9, 2**60),
  'a type': ONE + string('x') + struct.pack('<I', 77),
  'a name': gguf({b'\xff\xfe': 1}, {}),
  'no alignment': gguf({'general.alignment': 0}, {'w': W}),
  'ends early': gguf({}, {'w': W})[:-40],
  'not whole blocks': gguf({}, {'w': ('Q8_0', ((32, 1), bytes(34 * 32)))}),
  'no dimension': gguf({}, {'w': ('F32', np.array(1.0))}),
  'a dimension of 0': gguf({}, {'w': ('F32', np.zeros((0, 4)))}),
  'two of a name': gguf({}, {'aa': W, 'bb': W}).replace(b'bb', b'aa'),
}


@pytest.mark.parametrize('name', HARMFUL)
def test_a_harmful_file_is_one_sentence(tmp_path, name):
  (path := tmp_path / 'a.gguf').write_bytes(HARMFUL[name])
  with pytest.raises(UserError, match=r'broken or no GGUF file: .*fetch it'):
    reading.read(path)


def test_a_tensor_of_a_type_that_nobody_reads_is_a_sentence(tmp_path):
  path = tmp_path / 'a.gguf'
  data = bytearray(gguf({}, {'w': W}))
  at = data.index(b'w') + 1 + 4 + 16
  data[at : at + 4] = struct.pack('<I', 24)  # I8
  path.write_bytes(data)
  with pytest.raises(UserError, match="tensor 'w' is stored as I8"):
    reading.tensor(reading.read(path), 'w')


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
