"""Supplement: rows of a second table even out what the label says of a term.

`method.table` is a file with the text and label columns of `data`; its rows
are added to the training rows, drawn at random (by seed) without replacement,
but for those whose text is held out for validation or test.
Terms are those of `method.terms`, or our identity terms; a row has a term as a
whole word. With t positive and n other rows of a term:

  how='dixon'  per term and length bin (five quantiles of the characters), with
               f the share of others in the bin, a = (f (t + n) − n) / (1 − f)
               others are added: then (n + a) / (t + n + a) = f (Dixon et al.
               2018, doi 10.1145/3278721.3278729)
  how='share'  per term, with p = t / (t + n) and p_all the share of positives,
               others (p too large) or positives (p too small) are added until
               |p − p_all| <= EPSILON

Counts are those of the training rows before anything is added. A row that has
two terms is drawn once. `method.ratio` is the share of `a` that is added.
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.core.errors import count as count_of
from fairjax.data.tables import files, hygiene, labels
from fairjax.data.tables.schema import Tables
from fairjax.data.tables.terms import read_terms, term_members
from fairjax.methods import augment, quotas, way
from fairjax.methods.evidence import OUR_TERMS

STREAM = 34  # of this file's random numbers
BINS = 5
EPSILON = 0.01  # by how much shares of a label may differ
MADE = 'supplement:'  # what an added row's id begins with

# Term, label (1 positive) and length bin of the rows to add, and how many.
Need = tuple[int, int, int, float]


def supplement(tables: Tables, config: Config) -> Tables:
  """Adds rows: id `supplement:ID`, origin the file's name."""
  table, method = tables['train'], config.method
  how = way('supplement', method.how)
  more, held = _not_held(
    second_table(config, table.attrs.get('labels')), tables, config
  )
  for column, value in (('group', ''), ('twin', more['text']), ('weight', 1.0)):
    if column in table and column not in more:
      more[column] = value
  if 'twin_pair' in table and 'text_pair' in more:
    more['twin_pair'] = more['text_pair']
  terms = read_terms(method.terms or OUR_TERMS, 'method.terms')
  edges = length_edges(table['text'])
  here = _counted(table, terms, edges, config)
  there = _counted(more, terms, edges, config)
  if not there[0].any():
    raise UserError(
      f'no text of {method.table} has one of the {len(terms)} terms, so that '
      'it cannot supplement any; choose another table or method.terms'
    )
  needs = list(dixon(*here) if how == 'dixon' else shares(*here))
  rng = np.random.default_rng([config.seed, STREAM])
  free = rng.permutation(len(more))
  additions, demand = [], 0
  for term, label, place, count in needs:
    members, positive, at = there
    fits = members[term] & (positive == label) & ((at == place) | (place < 0))
    count = quotas.part(count, method.ratio)
    rows_taken = free[fits[free]][:count]
    free = free[~np.isin(free, rows_taken)]  # of two terms, drawn once
    additions.append(rows_taken)
    demand += count
  rows = np.sort(np.concatenate([np.zeros(0, int), *additions]))
  note = (
    f'{len(rows)} rows of {method.table} joined {len(table)} '
    f'training rows, where {demand} are needed for {len(terms)} terms'
  )
  if left := more.attrs.get('left out'):
    note += f'; {count_of(left, "row")} of it without text or label left out'
  if held:
    note += f'; {count_of(held, "row")} of it left out, whose text is held out'
  return {**tables, 'train': augment.appended(table, more.iloc[rows], [note])}


def second_table(config: Config, known=None) -> pd.DataFrame:
  """The rows of `method.table` with a text and a label, numbered as `known`."""
  path = config.method.table
  if not path:
    raise UserError(
      'method.table is empty; name the file whose rows supplement the training '
      'rows with --config.method.table'
    )
  frame = files.columns(files.read(path), config.data)
  labels.number(
    {'train': frame}, known or config.data.labels, config.data.label
  )
  if not config.data.id:
    frame['id'] = [str(row) for row in frame.index]
  usable = frame.dropna(subset=['id', 'text', 'label'])
  label, ids = usable['label'].astype(int), MADE + usable['id']
  out = usable.assign(id=ids, label=label, origin=path)
  out.attrs['left out'] = len(frame) - len(out)
  return out


def _not_held(
  more: pd.DataFrame, tables: Tables, config: Config
) -> tuple[pd.DataFrame, int]:
  """Its rows whose text no split but train has; how many others there are."""
  others = [hygiene.key(t) for split, t in tables.items() if split != 'train']
  held = hygiene.key(more).isin(set().union(*others)).to_numpy()
  if len(held) and held.all():
    raise UserError(
      f'every text of {config.method.table} is held out for validation or '
      'test, so that training cannot be supplemented by it; choose another '
      'table with --config.method.table'
    )
  return more[~held], int(held.sum())


def length_edges(texts: pd.Series) -> np.ndarray:
  """The inner edges of BINS quantile bins of the lengths in characters."""
  return np.quantile(texts.str.len(), np.linspace(0, 1, BINS + 1)[1:-1])


def _counted(table, terms, edges, config):
  """Which rows have which term [g, n], are positive [n]; their bins [n]."""
  members = term_members(list(table['text']), terms)
  positive = (table['label'] == config.measures.positive).to_numpy().astype(int)
  place = np.searchsorted(edges, table['text'].str.len().to_numpy())
  return members, positive, place


def dixon(
  members: np.ndarray, positive: np.ndarray, place: np.ndarray
) -> Iterator[Need]:
  """a = (f (t + n) − n) / (1 − f) of each term and bin, where above 0."""
  for term, rows in enumerate(members):
    for k in range(BINS):
      inside = place == k
      f = 1 - positive[inside].mean() if inside.any() else 1.0
      t = int(positive[rows & inside].sum())
      n = int((rows & inside).sum()) - t
      if t and f < 1 and f * (t + n) > n:  # f = 1: no number would do
        yield term, 0, k, round((f * (t + n) - n) / (1 - f), 9)


def shares(
  members: np.ndarray, positive: np.ndarray, place: np.ndarray
) -> Iterator[Need]:
  """The fewest rows that bring |p − p_all| of each term to EPSILON."""
  everywhere = positive.mean()
  low, high = everywhere - EPSILON, everywhere + EPSILON
  for term, rows in enumerate(members):
    t, size = int(positive[rows].sum()), int(rows.sum())
    if size and t > high * size:
      yield term, 0, -1, math.ceil(round(t / high - size, 9))
    elif size and t < low * size:
      yield term, 1, -1, math.ceil(round((low * size - t) / (1 - low), 9))
