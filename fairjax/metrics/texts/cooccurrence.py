"""Co-occurrence of words: how texts bring targets and groups' words together.

Two numbers that users know, each a function of sums over texts, so that the
jackknife over clusters gives the interval that they lack:

  association_bias   Liang et al. 2022 (HELM, arXiv:2211.09110). n(t, g) sums
                     over texts how often target t times how often words of
                     group g are in one; by the length of the group's list and
                     to a sum of 1 over groups it is a distribution, held
                     against the even one by total variation, averaged over the
                     targets that occur beside a group.
  cooccurrence_bias  Bordia and Bowman 2019 (arXiv:1904.03035), of two groups.
                     c(w, g) sums β^distance over the places of w and of g in a
                     text; mean over targets of |log10 of (c(w,1)/c(·,1)) N/n₁
                     over (c(w,2)/c(·,2)) N/n₂|, N words that are neither of a
                     group nor common, n words of a group.

Both are above 0 where texts have few words: beside the first stands what chance
gives, the targets of each text put beside the groups' words of another.
"""

import collections
import re
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from fairjax.data.word_tables import table_rows
from fairjax.metrics.inference import clusters, estimates, intervals
from fairjax.metrics.inference.estimates import Estimate, Function
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import similarity

BETA = 0.95  # what a word more between the two is worth
SHUFFLES = 200
STREAM = 0xC3  # of random numbers
COMMON = {row[0] for row in table_rows(__file__, 'common_words.csv')}

Words = Mapping[str, frozenset[str]]  # group: its words, in small letters


def association(
  texts: Sequence[str],
  groups: Words,
  targets: Sequence[str],
  options: RowSample,
) -> Estimate:
  """association_bias, with what chance gives ('null') and its p."""
  own, beside = counted(texts, groups, targets)
  sizes = np.array([len(words) for words in groups.values()])
  measure = association_of(len(targets), sizes)
  columns = (own[:, :, None] * beside[:, None, :]).reshape(len(texts), -1)
  one = _by_clusters(columns, measure, options, (0.0, 1.0))
  if one['value'] is None:
    return one
  if one['high'] is not None:  # one group alone is as far as it goes
    one['high'] = min(one['high'], max(one['value'], 1 - 1 / len(sizes)))
  rng = np.random.default_rng([options.seed, STREAM])
  null = np.array(
    [
      measure((own[rng.permutation(len(own))].T @ beside).ravel())
      for _ in range(SHUFFLES)
    ]
  )
  p = intervals.p_of_draws(null, one['value'])
  return one | {'null': float(np.nanmean(null)), **p}


def counted(
  texts: Sequence[str], groups: Words, targets: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
  """How often each target, and words of each group, are in each text."""
  own = np.zeros((len(texts), len(targets)))
  beside = np.zeros((len(texts), len(groups)))
  parts = {k: similarity.words(t) for k, t in enumerate(targets)}
  several = {k: some for k, some in parts.items() if len(some) > 1}
  for row, text in enumerate(texts):
    words = similarity.words(text.lower())
    count = collections.Counter(words)
    own[row] = [count[t] for t in targets]
    for k, some in several.items():
      if some[0] in count:
        own[row, k] += _times(words, some)
    beside[row] = [sum(count[w] for w in words) for words in groups.values()]
  return own, beside


def _times(words: tuple[str, ...], some: tuple[str, ...]) -> int:
  """How often several words stand in a row."""
  size = len(some)
  starts = range(len(words) - size + 1)
  return sum(words[at : at + size] == some for at in starts)


def association_of(targets: int, sizes: np.ndarray) -> Function:
  def measure(sums: Float[np.ndarray, '*rest k']) -> np.ndarray:
    shares = sums.reshape(*sums.shape[:-1], targets, len(sizes)) / sizes
    with np.errstate(invalid='ignore', divide='ignore'):
      shares = shares / shares.sum(-1, keepdims=True)
    far = np.abs(shares - 1 / len(sizes)).sum(-1) / 2
    return intervals.chance(far, -1)

  return measure


def cooccurrence(
  texts: Sequence[str],
  groups: Words,
  targets: Sequence[str],
  options: RowSample,
) -> Estimate:
  """cooccurrence_bias of two groups."""
  if len(groups) != 2:
    return estimates.of_value(None, note='it is of two groups')
  places = {word: k for k, word in enumerate(targets)}
  columns = np.array([_cooccurring(text, groups, places) for text in texts])
  k = len(targets)

  def measure(sums: Float[np.ndarray, '*rest k']) -> np.ndarray:
    near_each = sums[..., : 2 * k].reshape(*sums.shape[:-1], 2, k)
    whole, count = sums[..., 2 * k : 2 * k + 2], sums[..., 2 * k + 2 :]
    with np.errstate(invalid='ignore', divide='ignore'):
      ratio = (near_each / whole[..., None]) / (
        count[..., :2] / count[..., 2:]
      )[..., None]
      far = np.abs(np.log10(ratio[..., 0, :] / ratio[..., 1, :]))
    return intervals.chance(np.where(np.isfinite(far), far, np.nan), -1)

  return _by_clusters(columns, measure, options, intervals.POSITIVE)


def _cooccurring(
  text: str, groups: Words, places: Mapping[str, int]
) -> list[float]:
  """c(w, g) of each group and target; c(·, g); n of each group; N."""
  words = [w for w in map(_plain, similarity.words(text)) if w]
  sides = list(groups.values())
  at = [[i for i, w in enumerate(words) if w in side] for side in sides]
  everyone = frozenset.union(*map(frozenset, sides))
  near_each = np.zeros((2, len(places)))
  whole, plain = np.zeros(2), 0
  for i, word in enumerate(words):
    if word in COMMON or word in everyone:
      continue
    plain += 1
    near = [sum(BETA ** abs(i - j) for j in side if j != i) for side in at]
    whole += near
    if word in places:
      near_each[:, places[word]] += near
  return [*near_each.ravel(), *whole, *map(len, at), plain]


def _plain(word: str) -> str:
  """A word in small letters, digits as one name, without marks at its ends."""
  word = re.sub(r'\d+', 'NUMBER', word.lower())
  return re.sub(r'^[^A-Za-z<>$]+|[^A-Za-z<>$]+$', '', word)


def _by_clusters(
  columns: np.ndarray,
  measure: Function,
  options: RowSample,
  bounds: tuple[float, float],
) -> Estimate:
  code = options.units(len(columns))
  one, _ = clusters.resampled(columns, [[code]], measure, options, None, bounds)
  if one['value'] is None:
    one['note'] = 'no target stands beside words of the groups'
  return one
