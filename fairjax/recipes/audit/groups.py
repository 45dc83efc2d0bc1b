"""Groups of an audit, and which of its rows belong together.

Groups are columns, bands, terms and controls; clusters are equal texts, the
templates of a set of templates, or a column of the user's.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core import knobs
from fairjax.core.errors import UserError, count
from fairjax.data import TEST_SETS
from fairjax.data.tables import audit_table
from fairjax.data.tables.files import column, source
from fairjax.data.tables.terms import read_terms, term_members
from fairjax.metrics import contrasts
from fairjax.metrics.groups import Groups, of_columns, of_masks
from fairjax.metrics.inference import clusters, row_weights

Columns = dict[str, np.ndarray]  # each row's group, '' for none
DEFAULTS = ('measures.groups', 'data.group')


def groups_of(
  config: Config, table: pd.DataFrame
) -> tuple[Groups, Columns, Columns, list[str]]:
  """The groups of audit.groups, or else the column of measures.groups, of
  data.group, or called group; their columns, the controls, and remarks."""
  options = config.audit
  wish = list(options.groups)
  # Columns of a user's table, read where audit.groups is empty.
  others = {field: knobs.value(config, field) for field in DEFAULTS}
  if config.measures.sets[0] in TEST_SETS:
    others = {}
  unread = []
  for field, name in others.items():
    if name and ':' not in name and name not in table:
      if not wish:
        column(table, name, field)  # says what is wrong
      unread.append(
        f'{field} is {name!r}, which is no column of {source(table)}; the '
        f'groups are those of audit.groups, {", ".join(wish)}'
      )
  if not wish:
    own = config.measures.groups or config.data.group
    wish = [own] if own else ['group'] if 'group' in table else []
  columns, remarks = audit_table.columns_of(table, wish)
  remarks += unread
  more = table, options.controls, 'audit.controls'
  controls, of_controls = audit_table.columns_of(*more)
  groups = of_columns(columns, len(table), intersections=options.intersections)
  both = ' × '.join(columns)
  crossed = len(groups.at(both)) if len(columns) > 1 else 0
  if crossed > audit_table.MOST:
    groups = of_columns(columns)
    remarks.append(
      f'{crossed:,} combinations of {both} are too many to compare and are '
      'left out'
    )
  for one in wish:
    if one.startswith('terms:'):
      groups = groups.with_more(_terms(one.removeprefix('terms:'), table))
  if groups.names:
    contrasts.reference_of(groups, options.reference)
  elif options.reference:
    raise UserError(
      f'audit.reference is {options.reference!r}, but no groups are compared; '
      'name their columns with --config.audit.groups'
    )
  remarks += of_controls
  return groups, columns, controls, remarks


class Clusters(NamedTuple):
  """How rows were sampled: which are not independent (codes of each row, None
  where all are), and how many others each stands for (None where one).
  """

  cluster: np.ndarray | None  # over which intervals are made
  texts: np.ndarray | None  # rows of equal texts
  remarks: list[str]
  weight: np.ndarray | None = None

  def among(self, rows: np.ndarray) -> np.ndarray | None:
    """Which of some rows belong together."""
    own = row_weights.taken(self.cluster, rows)
    return None if own is None else clusters.distinct(own)

  def once(self, n: int) -> np.ndarray:
    """One row of each text, for exact tests of rows."""
    if self.cluster is None or self.texts is None:
      return np.arange(n)
    return np.sort(np.unique(self.texts, return_index=True)[1])


def clusters_of(
  config: Config, table: pd.DataFrame, groups: Groups
) -> Clusters:
  """The clusters and weights of rows; no group may weigh nothing."""
  out = _clusters(config, table)
  name = config.audit.weight
  if not name:
    return out
  if config.audit.training:
    raise UserError(
      '--config.audit.training is given with --config.audit.weight, and '
      'influence on a gap is of '
      'rows that count alike; leave one of the two out'
    )
  values = column(table, name, 'audit.weight').to_numpy(object)
  called = name if name == 'sample_weight' else f'the weight {name!r}'
  weight = row_weights.given(values, len(table), called)
  groups.check_weight(weight, called)
  if weight is None:
    remark = f'all rows have the same weight {name!r}: nothing is weighted'
    return out._replace(remarks=[*out.remarks, remark])
  lines = [
    row_weights.words(weight, repr(name)),
    'slices, and the words that carry flips, count rows as they are, without '
    'weights',
  ]
  return out._replace(remarks=[*out.remarks, *lines], weight=weight)


def _clusters(config: Config, table: pd.DataFrame) -> Clusters:
  """Rows of one text, one template, or one value of the user's column."""
  asked, n = config.data.cluster, len(table)
  texts = clusters.of_texts(list(table['text'])) if 'text' in table else None
  remarks = _copies(table) if 'text' not in table else []
  if texts is not None:
    different = len(np.unique(texts))
    remarks = [
      f'{n - different:,} of {n:,} rows repeat the text of another row: there '
      f'are {count(different, "different text")}'
    ]
  ways = {'equal texts': texts}
  of = lambda values: clusters.distinct(values.to_numpy(object))
  if asked == 'none':
    ways = {}
  elif asked:
    ways[asked] = of(column(table, asked, 'data.cluster'))
  elif config.measures.sets[0] in TEST_SETS and 'template' in table:
    ways['template'] = of(table['template'])
  cluster, words = clusters.by_any(ways)
  if cluster is None:
    return Clusters(None, texts, remarks)
  if len(np.unique(cluster)) < 2:
    raise UserError(
      f'all rows are one cluster ({words}), so no interval can be computed; '
      'name another column with --config.data.cluster, or none'
    )
  remarks *= words != 'equal texts'  # of which this says as much
  return Clusters(cluster, texts, [*remarks, clusters.words(cluster, words)])


def _copies(table: pd.DataFrame) -> list[str]:
  """A sentence where most rows equal another, and not for want of values."""
  own = table.drop(columns='id', errors='ignore')
  own.attrs = {}  # pandas copies them for every column
  own = own.astype(str)
  n, repeats = len(table), int(own.duplicated().sum())
  if repeats < n / 2 or own.nunique().max() < 30:
    return []
  return [
    f'{repeats:,} of {n:,} rows are equal to another row in every column; if '
    'they are copies, intervals are too narrow: name the column that tells '
    'which rows belong together with --config.data.cluster'
  ]


def _terms(path: str, table: pd.DataFrame) -> Groups:
  terms = read_terms(path, 'audit.groups')
  if 'text' not in table:
    raise UserError(
      f"audit.groups has 'terms:{path}', but the data has no texts for them"
    )
  masks = term_members(list(table['text']), terms)
  have = np.any(masks, axis=1)
  if not have.any():
    raise UserError(
      f'no text has a term of {path}; is the list in the language of the texts?'
    )
  return of_masks(masks, terms, 'terms').taken(np.flatnonzero(have))
