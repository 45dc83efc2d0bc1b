"""What is kept of a corpus is taken only while it is as it was written."""

import numpy as np
import pytest

from fairjax.data.corpora import texts


@pytest.mark.parametrize('name', ['tokens.bin', 'offsets.npy', 'tokenizer'])
@pytest.mark.parametrize('damage', ['flipped', 'cut', 'removed'])
def test_a_damaged_store_or_tokenizer_is_made_again(
  name, damage, corpus, tmp_path, monkeypatch
):
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path))
  source = texts.find(str(corpus), 'text', True)
  read = lambda: texts.store(source, texts.learn_tokenizer(source, 120, 0.1, 0))
  before = read()
  flat = np.array(before.flat)
  file = next(
    path
    for path in tmp_path.rglob(f'{name}*')
    if not path.name.endswith('.made.json')
  )
  raw = bytearray(file.read_bytes())
  raw[len(raw) // 2] ^= 1
  file.unlink()
  if damage != 'removed':
    file.write_bytes(raw if damage == 'flipped' else raw[: len(raw) // 2])
  after = read()
  np.testing.assert_array_equal(after.flat, flat)
  np.testing.assert_array_equal(after.offsets, before.offsets)
