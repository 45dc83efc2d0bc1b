"""Text to ids, against `tokenizers` alone, on the same texts.

  python -m fairjax.bench tokens --text FILE … --tokenizer=FOLDER
    [--rows=200000] [--longest=128] [--rounds=3] [--clock=cpu]

Rows are 15 to 35 words from anywhere in the files, as many as are asked for.
Both sides end with the same arrays: the peer's are `encode_batch_fast`, its
threads included, and a `fromiter` of the ids.
"""

import itertools

import numpy as np

from fairjax.bench import race
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables import readers

CHUNK = 20_000  # texts of one call of the peer: bounds its memory


def run(args: list[str]) -> dict:
  """MB of text a second; see --help."""
  known = {'text': [], 'rows': 200_000, 'longest': 128}
  chosen = race.options('tokens', __doc__, args, ('tokenizer',), **known)
  if not chosen.text:
    raise UserError('the race needs --text with files of texts')
  tokenizer = tokens.load_tokenizer(chosen.tokenizer)
  texts = _texts(chosen.text, chosen.rows)
  tokens.truncate(tokenizer, chosen.longest)

  def peer():
    parts = []
    for start in range(0, len(texts), CHUNK):
      read = tokenizer.encode_batch_fast(texts[start : start + CHUNK])
      ids = [one.ids for one in read]
      parts.append(np.fromiter(itertools.chain.from_iterable(ids), np.int32))
    return np.concatenate(parts)

  sides = {
    'fairjax': lambda: tokens.encode(tokenizer, texts, chosen.longest).flat,
    'tokenizers': peer,
  }
  race.same(sides['fairjax'](), sides['tokenizers'](), 'the ids', 0)
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  size = sum(len(text.encode()) for text in texts) / 1e6
  facts = {'unit': 'MB/s', 'items': size, 'megabytes': size}
  return race.report('tokens', times, chosen, **facts)


def _texts(files: list[str], rows: int) -> list[str]:
  words = ' '.join(readers.text(file) for file in files).split()
  rng = np.random.default_rng([0, 0x70])
  starts = rng.integers(0, max(len(words) - 35, 1), rows)
  lengths = rng.integers(15, 36, rows)
  return [' '.join(words[a : a + n]) for a, n in zip(starts, lengths)]
