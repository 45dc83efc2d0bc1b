"""Overlap of rankings: do two of them choose the same rows?

The overlap at a fraction q of n rows is |A ∩ B| / k, with A and B the first
k = int(q n) rows of either ranking. Two rankings without any relation share
k / n of them: `chance`.

Many rows may tie (GE is 0 wherever there is no twin), and a rule for ties, the
id, then chooses the same rows on both sides. `fair` is what is left of the
overlap when either ranking breaks its ties by lot: with p_A(i) the probability
that row i is among the first k, it is Σ_i p_A(i) p_B(i) / k.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from fairjax.data.tables import score_table as table

FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)


def overlap(
  a: Integer[np.ndarray, ' n'],
  b: Integer[np.ndarray, ' n'],
  fractions: Sequence[float] = FRACTIONS,
) -> Float[np.ndarray, ' f']:
  """Of two rankings, as ranks from 1."""
  counts = _counts(fractions, len(a))
  worse = np.maximum(a, b)  # a row is shared from its worse rank on
  return np.array([(worse <= k).sum() / k for k in counts])


def fair(
  a: Float[np.ndarray, ' n'],
  b: Float[np.ndarray, ' n'],
  fractions: Sequence[float] = FRACTIONS,
) -> Float[np.ndarray, ' f']:
  """Expected overlap of two scores when ties are broken by lot."""
  return np.array(
    [
      (_among_first(a, k) * _among_first(b, k)).sum() / k
      for k in _counts(fractions, len(a))
    ]
  )


def _counts(fractions: Sequence[float], n: int) -> list[int]:
  return [max(1, int(q * n)) for q in fractions]  # an overlap divides by it


def _among_first(values: np.ndarray, k: int) -> np.ndarray:
  """P(row is among the k highest), ties broken by lot."""
  last = _last(values, k)
  above, tied = values > last, values == last
  # The tied rows share what the rows above them leave of the k.
  return above + tied * (k - above.sum()) / tied.sum()


def _last(values: np.ndarray, k: int) -> float:
  """The least of the k highest."""
  return np.partition(values, len(values) - k)[len(values) - k]


def compare(
  columns: Mapping[str, np.ndarray],
  ids: Sequence[str],
  reference: str = '',
  fractions: Sequence[float] = FRACTIONS,
) -> list[dict]:
  """Rows {a, b, fraction, overlap, …} of scores of the same ids.

  Each is compared with `reference`, or, without one, with all others. `above`
  of the `rows` are above the last that `a` chooses.
  """
  ranks = {name: table.rank(v, ids) for name, v in columns.items()}
  titles = list(columns)
  if reference:
    pairs = [(reference, b) for b in titles if b != reference]
  else:
    pairs = [(a, b) for i, a in enumerate(titles) for b in titles[i + 1 :]]
  counts = _counts(fractions, len(ids))
  return [
    {
      'a': a,
      'b': b,
      'fraction': fraction,
      'rows': len(ids),
      'above': int((columns[a] > _last(columns[a], count)).sum()),
      'overlap': float(own),
      'fair': float(fairly),
      'chance': count / len(ids),
    }
    for a, b in pairs
    for fraction, count, own, fairly in zip(
      fractions,
      counts,
      overlap(ranks[a], ranks[b], fractions),
      fair(columns[a], columns[b], fractions),
    )
  ]


def seeds(scores: pd.DataFrame, name: str) -> list[dict]:
  """Each seed's ranking against that of the mean (figure 5 of the paper)."""
  columns = {'mean': scores[name].to_numpy(np.float64)}
  for seed, column in table.seed_columns(scores, name).items():
    columns[f'seed {seed}'] = scores[column].to_numpy(np.float64)
  return compare(columns, list(scores['id']), 'mean')


def runs(
  frames: Mapping[str, pd.DataFrame], name: str, reference: str = ''
) -> list[dict]:
  """One score from several epochs or models (figures 6 and 7)."""
  ids = list(next(iter(frames.values()))['id'])
  columns = {
    title: frame.set_index('id')[name].loc[ids].to_numpy(np.float64)
    for title, frame in frames.items()
  }
  return compare(columns, ids, reference)


def between(scores: pd.DataFrame, reference: str = 'ge') -> list[dict]:
  """One score against the others (figure 8)."""
  columns = {n: scores[n].to_numpy(np.float64) for n in table.names(scores)}
  return compare(columns, list(scores['id']), reference)
