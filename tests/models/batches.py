"""Random packed batches, and the same examples one a row."""

import numpy as np


def examples(lengths, vocab, seed=0):
  rng = np.random.default_rng(seed)
  return [rng.integers(5, vocab, n).astype(np.int32) for n in lengths]


def pack(texts, rows, width, slots, extra=0, junk=0, types=None):
  """A batch that fills `rows` rows first-fit; `extra` padding examples."""
  b = len(texts) + extra
  rng = np.random.default_rng(1)
  fill = lambda: rng.integers(5, 9, (rows, width)).astype(np.int32)
  batch = {
    'tokens': fill() if junk else np.zeros((rows, width), np.int32),
    'segment_ids': np.zeros((rows, width), np.int32),
    'positions': fill() if junk else np.zeros((rows, width), np.int32),
    'types': np.zeros((rows, width), np.int32),
    'head_columns': np.zeros((rows, slots), np.int32),
    'head_index': np.zeros(b, np.int32),
    'example': np.full(b, -1, np.int32),
    'label': np.zeros(b, np.int32),
    'weight': np.zeros(b, np.float32),
  }
  used, count = np.zeros(rows, int), np.zeros(rows, int)
  for k, text in enumerate(texts):
    fits = (used + len(text) <= width) & (count < slots)
    row = int(np.argmax(fits))
    assert fits[row], 'the batch is too small'
    at = slice(used[row], used[row] + len(text))
    batch['tokens'][row, at] = text
    batch['segment_ids'][row, at] = k + 1
    batch['positions'][row, at] = np.arange(len(text))
    if types is not None:
      batch['types'][row, at] = types[k]
    batch['head_columns'][row, count[row]] = used[row]
    batch['head_index'][k] = row * slots + count[row]
    batch['example'][k] = 100 + 7 * k
    batch['label'][k] = k % 2
    batch['weight'][k] = 1.0
    used[row] += len(text)
    count[row] += 1
  if types is None:
    del batch['types']
  return batch


def pad(texts, width, extra=0, types=None):
  return pack(texts, len(texts) + extra, width, 1, extra, types=types)
