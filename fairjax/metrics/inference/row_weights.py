"""Weights of rows: how many rows of the population each stands for.

A measure of weighted rows is the measure of the totals Σ w. How sure it is does
not grow with Σ w: rows are drawn, not what they stand for. A row of weight w is
to an interval a cluster of w rows (clustered_rates.py), and as many rows of
equal weight would be as sure as (Σ w)² / Σ w² (Kish 1965, Survey Sampling):
that is what degrees of freedom, pseudo-rows and `min_group` count. One such row
has the weight Σ w² / Σ w.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Num

from fairjax.core.errors import UserError, is_listed, shown


def given(
  values: Any, rows: int, name: str = 'sample_weight'
) -> Float[np.ndarray, ' n'] | None:
  """A user's weights with the mean 1; None where no two of them differ.

  >>> given([1, 1, 4], 3).tolist()
  [0.5, 0.5, 2.0]
  """
  if values is None:
    return None
  if isinstance(values, str):
    raise UserError(
      f'{name} is {values!r}; give the column itself, as in '
      f'{name}=table[{values!r}]'
    )
  if not is_listed(values) or np.shape(values) != (rows,):
    shape = f'shape {np.shape(values)}' if is_listed(values) else shown(values)
    raise UserError(f'{name} has {shape} for {rows:,} rows; give one a row')
  out = np.empty(rows)
  for row, value in enumerate(np.asarray(values, object)):
    try:
      out[row] = float(value)
    except (TypeError, ValueError, OverflowError) as error:
      raise UserError(
        f'{name} is {shown(value)} in row {row}; give numbers from 0 on'
      ) from error
    if not 0 <= out[row] < np.inf:
      raise UserError(
        f'{name} is {out[row]:g} in row {row}; a weight is a finite number '
        'from 0 on (0 leaves a row out)'
      )
  if not out.any():
    raise UserError(f'{name} is 0 in every row, so that nothing is left')
  if (out == out[0]).all():
    return None
  out /= out.max()
  return np.asarray(out / out.mean())


def effective(
  total: np.ndarray | float, squares: np.ndarray | float
) -> Float[Any, '*rest']:
  """Rows of equal weight that are as sure: (Σ w)² / Σ w², 0 of none."""
  total, squares = np.asarray(total, float), np.asarray(squares, float)
  out = np.divide(
    total * total, squares, out=np.zeros(total.shape), where=squares > 0
  )
  return np.round(out, 3)  # what float32 left of whole numbers


def equal_clusters(size: Num[np.ndarray, 'm *rest']) -> Float[Any, '*rest']:
  """How many equal clusters tell as much as those of these sizes [m, *rest].

  Student's t has their number less 1 as its freedom: with G − 1, where one of
  G clusters held half of the rows, intervals held the truth in .90.
  """
  size = np.asarray(size, np.float64)
  return np.round(effective(size.sum(0), (size * size).sum(0)), 1)


def unit(
  total: np.ndarray | float, squares: np.ndarray | float
) -> Float[Any, '*rest']:
  """The weight of one such row: Σ w² / Σ w, 1 of none."""
  total, squares = np.asarray(total, float), np.asarray(squares, float)
  return np.divide(squares, total, out=np.ones(total.shape), where=total > 0)


def rows(
  weight: Float[np.ndarray, ' n'] | None, mask: Bool[np.ndarray, ' n']
) -> float:
  """How many rows of a mask there are, effectively."""
  if weight is None:
    return float(np.count_nonzero(mask))
  own = weight[mask]
  return float(effective(own.sum(), (own * own).sum()))


def taken(each: np.ndarray | None, chosen: np.ndarray | slice) -> Any:
  """The weights (or clusters) of some of the rows; None where all are alike."""
  return None if each is None else each[chosen]


def mean(
  values: Num[np.ndarray, '*s n'], weight: Float[np.ndarray, ' n'] | None
) -> Float[Any, '*s']:
  """The mean over rows; NaN where they weigh nothing."""
  if weight is None:
    return values.mean(-1)
  total = weight.sum()
  return (
    values @ weight / total if total else np.full(values.shape[:-1], np.nan)
  )


def words(weight: Float[np.ndarray, ' n'] | None, by: str = '') -> str:
  """What a page says of them: '400 rows, weighted by w, are as sure as 250'."""
  if weight is None:
    return ''
  count, own = len(weight), rows(weight, np.ones(len(weight), bool))
  source = f' by {by}' if by else ''
  return (
    f'rows are weighted{source}: values are of what the {count:,} rows stand '
    f'for, and intervals as wide as those of {own:,.0f} rows of equal weight'
  )
