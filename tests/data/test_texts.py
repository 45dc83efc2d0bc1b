"""What is kept of a corpus is taken only while it is as it was written."""

import numpy as np
import pytest

from fairjax.data.corpora import texts
from fairjax.recipes.language import pretrain


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
  (file,) = {*tmp_path.rglob(f'{name}*')} - {*tmp_path.rglob('*.made.json')}
  raw = bytearray(file.read_bytes())
  raw[len(raw) // 2] ^= 1
  file.unlink()
  if damage != 'removed':
    file.write_bytes(raw if damage == 'flipped' else raw[: len(raw) // 2])
  after = read()
  np.testing.assert_array_equal(after.flat, flat)
  np.testing.assert_array_equal(after.offsets, before.offsets)


def test_copies_among_the_held_out_are_counted(tmp_path, monkeypatch):
  """And told on the page: their loss is not that of new text."""
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path / 'cache'))
  rng = np.random.default_rng(0)
  lines = [f'{a} {b} {a}' for a, b in rng.integers(0, 12, (300, 2))]
  (tmp_path / 'text.txt').write_text('\n'.join(lines))
  source = texts.find(str(tmp_path / 'text.txt'), 'text', False)
  tokenizer = texts.learn_tokenizer(source, 60, 0.2, 0)
  store = texts.store(source, tokenizer)
  train, held = texts.split(store, 0.2, 0)
  known = {lines[k] for k in train}
  same = sum(lines[k] in known for k in held)
  assert 0 < same < len(held)
  assert texts.copies(store, train, held) == same
  assert not texts.copies(store, train[:0], held)
  facts = {'of which in train too': same, 'held-out documents': len(held)}
  (note,) = pretrain.seen_before(facts)
  assert note.startswith(f'{same} of {len(held)} held-out documents')
  assert not pretrain.seen_before({**facts, 'of which in train too': 0})
