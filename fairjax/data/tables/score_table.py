"""The frame of scores: one row an example, keyed by its id.

Columns: `id`, and for each score NAME its mean over seeds `NAME`, the rank of
that mean `NAME_rank` (1 is the highest, ties by id) and each seed's own value
`NAME_s{seed}`. The frame's `attrs`, which parquet keeps, say which model at
which step the scores come from, and how well that model did on the rows.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import readers


def rank(
  values: Float[np.ndarray, ' n'], ids: Iterable[str]
) -> Int[np.ndarray, ' n']:
  """1 for the highest value; equal values in the order of their ids."""
  names = np.asarray(list(ids), str)
  by_id = np.empty(len(names), np.int64)
  by_id[np.argsort(names, kind='stable')] = np.arange(len(names))
  ranks = np.empty(len(names), np.int64)
  ranks[np.lexsort((by_id, -values))] = np.arange(1, len(names) + 1)
  return ranks


def names(scores: pd.DataFrame) -> list[str]:
  """The scores that a frame holds."""
  ends = '_rank'
  return [c.removesuffix(ends) for c in scores if c.endswith(ends)]


def seed_columns(scores: pd.DataFrame, name: str) -> dict[str, str]:
  """{seed: column} of a score's values for each seed."""
  begins = f'{name}_s'
  return {
    c.removeprefix(begins): c
    for c in scores
    if c.startswith(begins) and c.removeprefix(begins).isdigit()
  }


def read(path: str, table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
  """A user's scores (parquet or csv) for the rows of `table`, in their order.

  The file needs the column `id` and one for each score; ranks are made anew.
  """
  user_scores = _read_file(path)
  remedy = f'it must have id and a column for each of {", ".join(names)}'
  readers.need(user_scores, path, ('id', *names), remedy)
  user_scores['id'] = user_scores['id'].astype(str)
  twice = user_scores['id'][user_scores['id'].duplicated()]
  if len(twice):
    raise UserError(f'{path} has id {twice.iloc[0]!r} twice; keep one row each')
  absent = table['id'][~table['id'].isin(user_scores['id'])]
  if len(absent):
    raise UserError(
      f'{path} has no row for id {absent.iloc[0]!r} ({len(absent)} of '
      f'{len(table)} rows are missing); score these rows too'
    )
  user_scores = user_scores.set_index('id').loc[list(table['id'])].reset_index()
  columns: dict = {'id': user_scores['id']}
  for name in names:
    own = [name, *seed_columns(user_scores, name).values()]
    for column in own:
      values = pd.to_numeric(user_scores[column], errors='coerce')
      if values.isna().any():
        row = user_scores['id'][values.isna()].iloc[0]
        raise UserError(
          f'{path} has no number in column {column!r} of id {row!r}; every '
          'row needs one'
        )
      columns[column] = values.astype(np.float64)
    columns[f'{name}_rank'] = rank(columns[name].to_numpy(), user_scores['id'])
  scores = pd.DataFrame(columns)
  scores.attrs = {**user_scores.attrs, 'path': str(path)}
  return scores


def _read_file(path: str) -> pd.DataFrame:
  if path.endswith('.parquet'):  # with the model that they are of
    readers.place(path)  # a pipe would be waited for
    return artefacts.read_table(path)
  frame = readers.read(path)
  frame.attrs = {}
  return frame
