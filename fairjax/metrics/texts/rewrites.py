"""Quality of rewritten texts: exact match, BLEU-4, changed words.

Texts are sequences of words or of token ids. Each text gives a row of counts
and every measure is a function of their sum, so that the bootstrap over texts
is one matrix product; what is estimated are ratios.

  exact              texts that equal their target
  BLEU-4             min(1, exp(1 - r/c)) · (Π_n p_n)^(1/4), n = 1 … 4, over the
                     corpus, without smoothing (Papineni et al. 2002)
  changed_precision  of the places that we changed, those that equal the target
  changed_recall     of the places that the target changes, those that we got
  changed_exact      exact, of texts whose target differs from the source
  word_accuracy      of the places of the source, those where we did as the
                     target does (left the word, or put the same in its place)
"""

import collections
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from jaxtyping import Float

from fairjax.core import alignment
from fairjax.metrics.inference import intervals, ratios
from fairjax.metrics.inference.estimates import Estimate, Estimates, of_share
from fairjax.metrics.inference.sample import RowSample

ORDER = 4  # the longest n-gram of BLEU

Words = Sequence[Hashable]


def ngrams(words: Words, n: int) -> collections.Counter[tuple[Hashable, ...]]:
  return collections.Counter(zip(*(words[i:] for i in range(n))))


def bleu_counts(written: Words, target: Words) -> list[int]:
  """Matches and n-grams of each order, and both lengths."""
  matches, totals = [], []
  for n in range(1, ORDER + 1):
    ours = ngrams(written, n)
    matches.append((ours & ngrams(target, n)).total())
    totals.append(ours.total())
  return [*matches, *totals, len(written), len(target)]


def bleu(sums: Float[np.ndarray, '*rest k']) -> Float[np.ndarray, '*rest']:
  """BLEU-4 in [0, 1] of summed counts.

  Orders that no text is long enough for are left out of the mean: a perfect
  text of three words has 1, not 0 (as sacrebleu's effective order).
  """
  matches, totals = sums[..., :ORDER], sums[..., ORDER : 2 * ORDER]
  ours, theirs = sums[..., -2], sums[..., -1]
  with np.errstate(divide='ignore', invalid='ignore'):
    there = totals > 0
    logs = np.where(there, np.log(matches / totals), 0).sum(-1) / there.sum(-1)
    brevity = np.minimum(0, 1 - theirs / ours)
  return np.asarray(np.nan_to_num(np.exp(logs + brevity), nan=0.0))


def edits(old: Words, new: Words) -> dict[tuple[int, int], Words]:
  """What became of the places of `old`: {place: what stands there now}.

  A place is (word, 0), or (word, 1) for what was put in before a word.
  """
  out: dict[tuple[int, int], Words] = {}
  for kind, a, b, c, d in alignment.changes(old, new):
    if kind == 'insert':
      out[a, 1] = tuple(new[c:d])
    elif kind != 'equal':
      for i in range(a, b):
        first = min(c + i - a, d)
        out[i, 0] = tuple(new[first : d if i == b - 1 else min(first + 1, d)])
  return out


def counts(source: Words, target: Words, written: Words) -> list[int]:
  """The row of one text, as `measures` reads it.

  1; places we changed, the target changed, both alike; wrong and all places; 1
  where all is exact, 1 where there is a change, 1 where both hold; BLEU's.
  """
  ours, theirs = edits(source, written), edits(source, target)
  right = sum(theirs.get(place) == what for place, what in ours.items())
  wrong = sum(
    ours.get(place) != theirs.get(place) for place in {*ours, *theirs}
  )
  exact = list(written) == list(target)
  changes = bool(theirs)
  return [
    *(1, len(ours), len(theirs), right, wrong, len(source)),
    *(exact, changes, exact and changes),
    *bleu_counts(written, target),
  ]


def measures(
  sums: Float[np.ndarray, '*rest k'],
) -> dict[str, Float[np.ndarray, '*rest']]:
  """The measures of summed counts."""
  n, ours, theirs, right, wrong, places, exact, turned, both = np.moveaxis(
    sums[..., :9], -1, 0
  )
  with np.errstate(divide='ignore', invalid='ignore'):
    return {
      'exact': exact / n,
      'changed_exact': both / turned,
      'changed_precision': right / ours,
      'changed_recall': right / theirs,
      'word_accuracy': 1 - np.minimum(wrong / places, 1),
      'bleu4': bleu(sums[..., 9:]),
    }


def edges(rows: Float[np.ndarray, 'n k']) -> ratios.Edges:
  """A text of mean size with all right, and one with all wrong (ratios.py)."""
  size = rows.mean(0) if len(rows) else np.zeros(9 + 2 * ORDER + 2)
  places, totals = size[5], size[9 + ORDER : 9 + 2 * ORDER]
  changes = max(size[2], size[1], 1)
  words = [*totals, size[-1], size[-1]]
  right = [1, changes, changes, changes, 0, places, 1, 1, 1, *totals, *words]
  wrong = [1, changes, changes, 0, places, places, 0, 1, 0]
  return np.array(right), np.array([*wrong, *[0] * ORDER, *words])


def estimates(
  rows: Float[np.ndarray, 'n k'],
  compute: Callable[[np.ndarray], dict[str, np.ndarray]],
  how: RowSample,
  bounds: tuple[float, float] = intervals.SHARES,
  ends: ratios.Edges | None = None,
) -> Estimates:
  """Each measure of Σ rows with its bootstrap interval over texts.

  `ends` are those of other measures than `measures`, where they have some.
  """
  ends = edges(rows) if compute is measures else ends
  values, draws = ratios.drawn(rows[None], compute, how, ends, bounds)
  return {
    name: intervals.of_mean(
      value,
      draws.get(name),
      how,
      note='nothing of the kind is there',
      bounds=bounds,
    )
    for name, value in values.items()
  }


def exact(rows: Float[np.ndarray, 'n k'], how: RowSample) -> Estimate:
  """The share of exact texts with Wilson's interval, which 1 of 1 has too."""
  k, n = int(rows[:, 6].sum()), len(rows)
  return of_share(k, n, how.level)
