"""Words that reveal an attribute, from a seed pair of words: pure functions.

Occurrences of words are sampled before any model looks at them: each has a
priority, a hash of (seed, where it stands), and of every word those with the
least are kept. So a sample is the same however the corpus is cut into shards
and whichever engine walks over it, samples of shards merge, and the share of
a word's sample that the attribute head is sure of estimates that share in the
text. (FairFlow's program keeps the first so many it is sure of.)
"""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from tokenizers import Tokenizer

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.metrics.texts.similarity import cosines
from fairjax.pairs.axes import exchange

LEAST = 0.5  # cosine of a grown pair's difference and the mean one
SEED_LEAST = 20  # occurrences that a side's seed words need
ROWS = 1024  # words whose neighbours are sought at a time


class WordSpans(NamedTuple):
  """Whole words in texts that are tokens; all int64 [n]."""

  text: np.ndarray
  start: np.ndarray  # of the first piece, within the text
  size: np.ndarray  # pieces
  key: np.ndarray  # uint64: equal for equal pieces

  def take(self, rows: np.ndarray) -> 'WordSpans':
    return WordSpans(*(column[rows] for column in self))


def mix(of: np.typing.ArrayLike) -> np.ndarray:
  """A bijective hash of uint64 (splitmix64)."""
  z = np.asarray(of, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
  z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
  z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
  return z ^ (z >> np.uint64(31))


def priority(seed: int, shard: str, row, start=0) -> np.ndarray:
  """The priority of what stands at (shard, row, start), uint64."""
  with np.errstate(over='ignore'):
    first = mix(np.uint64(seed) + mix(zlib.crc32(shard.encode())))
    return mix(mix(first + np.asarray(row, np.uint64)) + np.uint64(1) * start)


def least(word: np.ndarray, priority: np.ndarray, cap: int) -> np.ndarray:
  """The rows of the `cap` least priorities of every word, sorted."""
  order = np.lexsort((priority, word))
  word = word[order]
  first = np.flatnonzero(np.r_[True, word[1:] != word[:-1]])
  rank = np.arange(len(word)) - np.repeat(
    first, np.diff(np.r_[first, len(word)])
  )
  return np.sort(order[rank < cap])


def spans(texts: Ragged, begins: np.ndarray, special: np.ndarray) -> WordSpans:
  """The whole words of texts; `begins` and `special` are bool [v]."""
  able = ~special[texts.flat]
  text = texts.owner
  inside = np.zeros(len(able), bool)  # goes on from the piece before
  inside[1:] = able[1:] & able[:-1] & (text[1:] == text[:-1])
  first = np.flatnonzero(able & (begins[texts.flat] | ~inside))
  if not len(first):
    none = np.zeros(0, np.int64)
    return WordSpans(none, none, none, none.astype(np.uint64))
  piece = np.flatnonzero(able)
  word = np.searchsorted(first, piece, 'right') - 1
  size = np.bincount(word, minlength=len(first))
  with np.errstate(over='ignore'):
    # A sum over pieces of hashes of (piece, its place in the word).
    place = (piece - first[word]).astype(np.uint64)
    each = mix(mix(texts.flat[piece].astype(np.uint64)) + place)
    key = np.add.reduceat(each, np.searchsorted(piece, first))
  return WordSpans(text[first], first - texts.offsets[text[first]], size, key)


def spelled(
  tokenizer: Tokenizer, texts: Ragged, words: WordSpans
) -> tuple[np.ndarray, np.ndarray]:
  """Each distinct word as text, and the number of each occurrence's."""
  _, row, which = np.unique(words.key, return_index=True, return_inverse=True)
  start = texts.offsets[words.text[row]] + words.start[row]
  pieces = [
    texts.flat[s : s + n].tolist() for s, n in zip(start, words.size[row])
  ]
  names = [word.strip() for word in tokenizer.decode_batch(pieces)]
  return np.array([n.replace(' ', '') for n in names], object), which


def is_word(text: str) -> bool:
  """Letters, hyphens and apostrophes, at least two characters."""
  bare = text.replace('-', '').replace("'", '').replace('’', '')
  return len(text) > 1 and bare.isalpha()


def seed_words(first: str, second: str) -> tuple[list[str], list[str]]:
  """The two lists of seed words, checked.

  'religion:muslim' and 'religion:christian' are the words of two values of an
  axis that stand for each other.
  """
  named = [side.rpartition(':') for side in (first, second)]
  if all(axis and value for axis, _, value in named):
    (axis, _, one), (same, _, other) = named
    if axis != same or one == other:
      raise UserError(
        f'fairflow.first is {first!r} and fairflow.second is {second!r}; name '
        'two values of one axis, such as religion:muslim and religion:christian'
      )
    return _of_axis(axis, one, other)
  lists = [
    [word.strip().lower() for word in side.split(',') if word.strip()]
    for side in (first, second)
  ]
  for name, words in zip(('first', 'second'), lists):
    if not words:
      raise UserError(
        f'fairflow.{name} is empty; name a seed word of that side, say '
        f'--config.fairflow.{name}={"she" if name == "first" else "he"}'
      )
  if both := set(lists[0]) & set(lists[1]):
    raise UserError(
      f'the seed word {min(both)!r} is on both sides; a word shows one side '
      'or the other'
    )
  return lists[0], lists[1]


def _of_axis(axis: str, one: str, other: str) -> tuple[list[str], list[str]]:
  pairs = exchange.parallel(axis, one, other)
  if not pairs:
    raise UserError(
      f'the axis {axis} has no single words that stand for each other for '
      f'{one} and {other}; name seed words of your own'
    )
  return [a for a, _ in pairs], [b for _, b in pairs]


def check_seeds(
  seeds: tuple[list[str], list[str]], counts: dict[str, int]
) -> None:
  """Stops where a side has too few occurrences."""
  for side in seeds:
    total = sum(counts.get(word, 0) for word in side)
    if total < SEED_LEAST:
      each = ', '.join(f'{word!r} {counts.get(word, 0)}' for word in side)
      raise UserError(
        f'the corpus has too few occurrences of the seed words of one side '
        f'({each}; {SEED_LEAST} are needed); give more text or other words'
      )


def discriminant(
  vector: np.ndarray, label: np.ndarray, word: np.ndarray, shrink: float = 0.3
) -> tuple[np.ndarray, float]:
  """Fisher's linear discriminant: (w, b) of the logit w·x + b.

    w = (S + λ tr(S)/d I)⁻¹ (μ₁ - μ₀),   b = -w·(μ₀ + μ₁)/2

  Every word weighs the same, however often it occurs; S is the covariance
  about the mean of each side, shrunk towards a sphere (Friedman 1989).
  """
  vector = np.asarray(vector, np.float64)
  _, which = np.unique(word, return_inverse=True)
  weight = 1.0 / np.bincount(which)[which]
  centred, means = np.empty_like(vector), []
  for side in (0, 1):
    rows = np.flatnonzero(label == side)
    means.append(np.average(vector[rows], 0, weight[rows]))
    centred[rows] = vector[rows] - means[-1]
  s = (centred * weight[:, None]).T @ centred / weight.sum()
  width = len(s)
  s += shrink * np.trace(s) / width * np.eye(width)
  w = np.linalg.solve(s, means[1] - means[0])
  return w.astype(np.float32), float(-w @ (means[0] + means[1]) / 2)


def signs(logit: np.ndarray, phi: float) -> np.ndarray:
  """-1 below -φ, +1 above φ, else 0."""
  return ((logit > phi) * 1 - (logit < -phi) * 1).astype(np.int8)


def word_table(
  word: np.ndarray,
  logit: np.ndarray,
  side: np.ndarray,
  counts: dict[str, int],
  share: float = 0.5,
) -> pd.DataFrame:
  """A row a word: its count, its mean logit, and the side it shows.

  A word shows a side if at least `share` of its sampled occurrences do.
  """
  table = pd.DataFrame({'word': word, 'logit': logit})
  table['first'], table['second'] = side < 0, side > 0
  table = table.groupby('word', sort=True).agg(
    instances=('logit', 'size'),
    logit=('logit', 'mean'),
    first=('first', 'mean'),
    second=('second', 'mean'),
  )
  table = table.reset_index()
  table.insert(1, 'count', [counts.get(w, 0) for w in table['word']])
  shows = lambda own, other: (own >= share) & (own > other)
  table['side'] = (
    shows(table['second'], table['first']) * 1
    - shows(table['first'], table['second']) * 1
  ).astype(np.int8)
  return table


def texts_of(id: np.ndarray) -> list[str]:
  """The text that each instance (shard:row:start) stands in."""
  return [one.rpartition(':')[0] for one in id]


def held_out(id: np.ndarray, seed: int, share: float) -> np.ndarray:
  """Which instances are held out: all those of a text, or none."""
  texts, which = np.unique(texts_of(id), return_inverse=True)
  hashes = np.array([zlib.crc32(t.encode()) for t in texts], np.uint64)
  with np.errstate(over='ignore'):
    hashed = mix(hashes + mix(np.uint64(seed)))
  return (hashed / 2.0**64 < share)[which]


def grow(
  mean: Float[np.ndarray, 'w d'],
  seeds: tuple[Sequence[int], Sequence[int]],
  rounds: int,
  alpha: float = 0.3,
) -> list[tuple[int, int]]:
  """Pairs (first, second) of rows of `mean`, without the seeds themselves.

  With a mean embedding m_w of every word and the seeds' difference
  d = m_second - m_first, words a and b are a pair if each is the nearest of the
  other's shifted embedding (m_a + α d and m_b - α d), and if their difference
  points where d does (its cosine is above LEAST). d is then the mean
  difference of all pairs, and they are sought again: the self-training of
  cross-lingual dictionaries (Artetxe, Labaka and Agirre 2018, arXiv:1805.06297)
  within one language. A head that is fitted on words of many kinds learns what
  their pairs share; one fitted on a single pair learns those two words.
  """
  first, second = (list(side) for side in seeds)
  start = mean[second].mean(0) - mean[first].mean(0)
  direction = start
  pairs: list[tuple[int, int]] = []
  for _ in range(rounds):
    new = [
      (a, b)
      for a, b in reciprocal(mean, alpha * direction)
      if not {a, b} & {*first, *second}
    ]
    if new:
      gap = mean[[b for _, b in new]] - mean[[a for a, _ in new]]
      new = [new[k] for k in np.flatnonzero(cosines(gap, direction) > LEAST)]
    # A word that is the first of one pair and the second of another shows
    # neither side.
    both = {a for a, _ in new} & {b for _, b in new}
    new = [pair for pair in new if not both & set(pair)]
    if new == pairs:
      break
    pairs = new
    gaps = [mean[b] - mean[a] for a, b in pairs]
    direction = np.mean([start, *gaps], 0)
  return pairs


def reciprocal(
  mean: Float[np.ndarray, 'w d'], shift: Float[np.ndarray, ' d']
) -> list[tuple[int, int]]:
  """(a, b): b is nearest to m_a + shift, and a to m_b - shift."""
  up, down = (nearest(mean, mean + sign * shift) for sign in (1, -1))
  return [(a, int(b)) for a, b in enumerate(up) if down[b] == a]


def nearest(
  mean: Float[np.ndarray, 'w d'], x: Float[np.ndarray, 'w d']
) -> Int[np.ndarray, ' w']:
  """The row of `mean` nearest to each row of x, but for the same row."""
  squares, out = np.square(mean).sum(1), np.empty(len(x), int)
  for k in range(0, len(x), ROWS):
    part = x[k : k + ROWS]
    distance = squares[None] - 2 * part @ mean.T
    rows = np.arange(len(part))
    distance[rows, k + rows] = np.inf
    out[k : k + ROWS] = distance.argmin(1)
  return out
