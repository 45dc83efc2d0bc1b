"""A small corpus of one's own, its tokens and rows: for three test files."""

import numpy as np
import small

from fairjax.data.batching import corruption, rows
from fairjax.data.corpora import texts

NOUNS = 'cat dog bird nurse doctor child teacher farmer painter sailor'.split()
VERBS = 'sees likes finds helps hears follows remembers unfolds'.split()


def sentences(count, seed=0):
  draw = np.random.default_rng(seed)
  one = lambda: (
    f'the {draw.choice(NOUNS)} {draw.choice(VERBS)} the {draw.choice(NOUNS)}'
    f'{draw.choice([".", "!", " there."])}'
  )
  return [one() for _ in range(count)]


def write_corpus(path, documents=80, most=9, seed=0):
  draw = np.random.default_rng(seed)
  sizes = draw.integers(1, most, documents)
  lines = sentences(int(sizes.sum()), seed)
  blocks = np.split(np.array(lines), np.cumsum(sizes)[:-1])
  path.write_text('\n\n'.join('\n'.join(block) for block in blocks) + '\n')
  return path


def read_corpus(path):
  """Tokenizer, vocabulary, store and all rows of a corpus."""
  source = texts.find(str(path), 'text', True)
  tokenizer = texts.learn_tokenizer(source, 120, 0.1, 0)
  words = corruption.vocabulary(tokenizer)
  store = texts.store(source, tokenizer)
  every = np.arange(len(store.offsets) - 1)
  made = rows.rows(store, every, 32, words.first, words.last)
  return tokenizer, words, store, made


def whole(made):
  return rows.read(made, np.arange(made.total))


def pieces_of(batch, tokens='tokens', segment_ids='segment_ids'):
  """(row, segment_ids, tokens) of every piece, in order."""
  for r, (ids, who) in enumerate(zip(batch[tokens], batch[segment_ids])):
    for k in range(1, who.max(initial=0) + 1):
      if (who == k).any():
        yield r, k, list(ids[who == k])


WIDE = {'width': 32, 'heads': 4, 'hidden': 48}
SMALL = small.shape_of('bert', 120, 40, depth=2, embedding=32, **WIDE)
