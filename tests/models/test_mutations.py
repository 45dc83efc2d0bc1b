"""A thousand damaged model folders: each loads or is one sentence."""

import json
import random
import re
import struct

import jax
import numpy as np
import pytest
import small
from safetensors.numpy import save_file
from small import SMALL

from fairjax import models
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import families
from fairjax.models.families import FAMILIES
from fairjax.models.folders import hf, weight_files

VALUES = [
  *(None, True, False, 0, 1, -1, 3, 2**63, 10**30, 0.5, -0.5, 1e-12, 1e308),
  *(float('nan'), float('inf'), '', '12', 'gelu', 'x' * 500, '\x00', 'é'),
  *([], [1], [[]], {}, {'a': 1}, ['full_attention']),
]
FILES = [b'', b'[]', b'null', b'3', b'"x"', b'{', b'\xff\xfe\x00', b'[' * 9000]
ONE_LAYER = dict.fromkeys(
  ('num_hidden_layers', 'n_layers', 'n_layer', 'encoder_layers'), 1
)
COUNT = 1000  # over all families


def tiny(family, folder):
  """A folder with random weights and a tokenizer."""
  can = next(iter(families.find(family).heads))
  options = {'classes': 2} if can == 'classify' else {}
  one = families.shape_from_hf({'model_type': family} | SMALL | ONE_LAYER)
  module = families.module(one, can, **options)
  path = folder / 'model'
  hf.save(path, module, hf.complete(module, {}, jax.random.key(0)))
  tokens.save_tokenizer(tokens.train_tokenizer(['a b c d'], 30), path)
  return path


def one_sentence(call):
  """True where `call` is refused with a sentence; anything else must work."""
  try:
    call()
  except UserError as error:
    text = str(error)
    assert '\n' not in text and 20 < len(text) < 800, text
    assert re.search(r'/model|config\.json|family|tokens', text), text
    return True
  return False


def paths(config, above=()):
  """Every key of a config, those of objects within it too."""
  for name, value in config.items():
    yield (*above, name)
    if isinstance(value, dict):
      yield from paths(value, (*above, name))


def changed(config, path, value):
  copy = json.loads(json.dumps(config))
  at = copy
  for name in path[:-1]:
    at = at[name]
  at[path[-1]] = value
  return copy


@pytest.mark.parametrize('family', FAMILIES)
def test_config_json(family, tmp_path):
  """Each key with each value, and keys that are gone; then whole files."""
  folder = tiny(family, tmp_path)
  weights, config = weight_files.read(folder), hf.read_config(folder)
  draw = random.Random(family)
  all_ = [(p, v) for p in paths(config) for v in VALUES]
  cases = draw.sample(all_, min(len(all_), COUNT // len(FAMILIES)))
  refused = 0
  for path, value in cases:
    damaged = changed(config, path, value)
    (folder / 'config.json').write_text(json.dumps(damaged))
    refused += one_sentence(
      lambda: (
        hf.read_shape(folder),
        hf.read_labels(hf.read_config(folder), folder / 'config.json'),
      )
    )
  assert refused > len(cases) // 3
  for content in FILES:
    (folder / 'config.json').write_bytes(content)
    assert one_sentence(lambda: models.load(folder)), content
  for name in config:
    less = {k: v for k, v in config.items() if k != name}
    (folder / 'config.json').write_text(json.dumps(less))
    one_sentence(lambda: hf.read_shape(folder))
  assert weights


# What the issue names, each with the key that its sentence must name.
NAMED = small.cases(__file__, 'named_keys.json')


def test_what_is_wrong_is_named(tmp_path):
  folder = tiny('bert', tmp_path)
  config = hf.read_config(folder)
  for change, key in NAMED:
    (folder / 'config.json').write_text(json.dumps(config | change))
    with pytest.raises(UserError, match=key) as caught:
      models.load(folder)
    assert str(folder / 'config.json') in str(caught.value), change


INDEXES = [
  [],
  {},
  {'weight_map': None},
  {'weight_map': []},
  {'weight_map': {}},
  {'weight_map': {'a': 3}},
  {'weight_map': {'a': None}},
  *(
    {'weight_map': {'a': name}}
    for name in (
      *('', '.', '..', '../secret.safetensors', '/etc/passwd'),
      'a/b.safetensors',
      'a\\b',
      'nul\x00l',
      'absent.safetensors',
      'config.json',
      'x' * 256,
      '\ud800',
    )
  ),
]


def test_the_index_of_shards(tmp_path):
  """Nothing outside of the folder is read."""
  folder = tiny('bert', tmp_path)
  whole = folder / 'model.safetensors'
  outside = tmp_path / 'secret.safetensors'
  whole.rename(outside)
  for index in INDEXES:
    text = json.dumps(index)
    (folder / 'model.safetensors.index.json').write_text(text)
    assert one_sentence(lambda: models.load(folder)), index
  for content in FILES:
    (folder / 'model.safetensors.index.json').write_bytes(content)
    assert one_sentence(lambda: models.load(folder)), content


def test_bytes_of_the_weights(tmp_path):
  """Truncated, with a damaged header, or with bits turned."""
  folder = tiny('bert', tmp_path)
  path = folder / 'model.safetensors'
  right = path.read_bytes()
  size = struct.unpack('<Q', right[:8])[0]
  draw = np.random.default_rng(0)
  for cut in (0, 4, 8, 9, size // 2, size + 8, len(right) - 1):
    path.write_bytes(right[:cut])
    assert one_sentence(lambda: models.load(folder)), cut
  for _ in range(60):
    damaged = bytearray(right)
    for at in draw.integers(0, size + 8, 3):
      damaged[at] ^= 1 << int(draw.integers(8))
    path.write_bytes(bytes(damaged))
    one_sentence(lambda: weight_files.read(folder))
  header = json.loads(right[8 : 8 + size])
  for kind in ('F8_E4M3', 'BF16', 'I64', 'BOOL', 'U8', 'C64', 'X', 7, None):
    name = next(n for n in header if n != '__metadata__')
    text = json.dumps(changed(header, (name, 'dtype'), kind)).encode()
    path.write_bytes(struct.pack('<Q', len(text)) + text + right[8 + size :])
    assert one_sentence(lambda: models.load(folder)), kind


@pytest.mark.parametrize('family', ['distilbert', 'modernbert', 'gpt2'])
def test_tensors(family, tmp_path):
  """Absent, renamed, of another shape or type, with no numbers."""
  folder = tiny(family, tmp_path)
  right = weight_files.read(folder)
  path = folder / 'model.safetensors'
  draw = random.Random(0)
  changes = [
    lambda a: None,
    lambda a: a[:-1],
    lambda a: a[None],
    lambda a: a.ravel()[:0],
    lambda a: np.float32(1).reshape(()),
    lambda a: np.full_like(a, np.nan),
    lambda a: a.astype(np.complex64),
  ]
  for i, change in enumerate(changes * 2):
    name = draw.choice(sorted(right))
    value = change(right[name])
    weights = {n: v for n, v in right.items() if n != name}
    if value is not None:
      weights[name] = np.ascontiguousarray(value)
    save_file(weights, path)
    assert one_sentence(lambda: models.load(folder)), (name, i)
  save_file(right | {'layers.7.unknown': np.ones(3, np.float32)}, path)
  assert one_sentence(lambda: models.load(folder))
  half = {n: v.astype(np.float16) for n, v in right.items()}
  save_file(half, path)
  assert not one_sentence(lambda: models.load(folder))
