"""Which rows hang together: equal texts, templates, a column of the user's.

Copies of a row say nothing new, and rows of one template, writer or thread
agree more than others. Whoever makes an interval needs to know: a code of each
row's cluster, or None where every row stands by itself.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Integer

from fairjax.data.files import column
from fairjax.errors import UserError, count

ALONE = 'none'


def clusters(
  table: pd.DataFrame, asked: str = '', template: bool = False
) -> tuple[Integer[np.ndarray, ' n'] | None, list[str]]:
  """The cluster of each row, and what there is to say of it.

  Args:
    table: the rows.
    asked: a column; 'none' for rows that stand by themselves; '' takes the
      templates of a set of templates, and else equal texts.
    template: whether `table` is such a set.
  """
  said = copies(table)
  if asked == ALONE:
    return None, said
  if asked:
    codes = _codes(column(table, asked, 'audit.cluster'))
    most = int(codes.max()) + 1
    if most < 2:
      raise UserError(
        f'column {asked!r} of audit.cluster is the same in every row: no '
        'interval can be made of one cluster; name another column, or none'
      )
    return codes, [*said, f'rows hang together by {asked}: {most:,} clusters']
  if template and 'template' in table:
    codes = _codes(table['template'])
    most = count(int(codes.max()) + 1, 'template')
    return codes, [*said, f'rows hang together by template: {most}']
  if 'text' not in table:
    return None, said
  codes = _codes(table['text'].str.strip())
  return (codes if codes.max() + 1 < len(table) else None), said


def _codes(values: pd.Series) -> Integer[np.ndarray, ' n']:
  """Whole numbers from 0; a row without a value is a cluster of its own."""
  codes = pd.factorize(values.to_numpy(object))[0].astype(np.int64)
  alone = codes < 0
  codes[alone] = codes.max(initial=-1) + 1 + np.arange(alone.sum())
  return codes


def distinct(table: pd.DataFrame) -> int | None:
  """How many different texts there are; None where there is no text."""
  return table['text'].str.strip().nunique() if 'text' in table else None


def copies(table: pd.DataFrame) -> list[str]:
  """A sentence where rows repeat others."""
  n, texts = len(table), distinct(table)
  if texts is not None:
    if texts == n:
      return []
    return [
      f'{n - texts:,} of {n:,} rows repeat the text of another row: there are '
      f'{count(texts, "different text")}, and intervals that take every row as '
      'independent are too narrow'
    ]
  own: Sequence[str] = [name for name in table if name != 'id']
  repeats = int(table[own].astype(str).duplicated().sum())
  if repeats < n / 2:
    return []
  return [
    f'{repeats:,} of {n:,} rows are equal to another row in every column; if '
    'they are copies, intervals are too narrow: audit each row once'
  ]
