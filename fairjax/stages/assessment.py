"""Predictions as a table, and their measures with intervals and tests."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.data.tables.schema import Tables
from fairjax.metrics import measures
from fairjax.metrics.assess import assess as measure
from fairjax.metrics.inference import clusters, intervals, significance
from fairjax.metrics.paired import compare as difference
from fairjax.stages.loading import groups_of


def prediction_table(
  name: str, table: pd.DataFrame, chances: np.ndarray
) -> pd.DataFrame:
  """One row an example: id, set, label, group, cluster and each seed's p."""
  result = pd.DataFrame({'id': _sortable(table['id']), 'set': name})
  result['label'] = table['label']
  result['group'] = table['group'] if 'group' in table else ''
  if 'cluster' in table:  # of rows that are not independent
    result['cluster'] = table['cluster']
  if chances.shape[2] == 2:
    for i, row in enumerate(chances[..., 1]):
      result[f'p{i}'] = row
  else:
    for i, rows in enumerate(chances):
      for c in range(rows.shape[1]):
        result[f'p{i}_c{c}'] = rows[:, c]
  return result.reset_index(drop=True)


def _sortable(ids: pd.Series) -> pd.Series:
  """Ids that are whole numbers as such: as texts 10 would sort before 2."""
  texts = ids.astype(str)
  whole = texts.str.fullmatch(r'0|-?[1-9]\d{0,17}').all()
  return texts.astype(np.int64) if whole else ids


def of_positive(
  config: Config, table: pd.DataFrame, *chances: np.ndarray
) -> tuple[np.ndarray, ...]:
  """Labels [n] and scores, turned so that 1 is `measures.pos_label`.

  The scores are those of the positive label [s, n] where there are two
  classes; of more, all of them stay as they are. [s, n] is taken as P(1).
  """
  labels = table['label'].to_numpy(np.int32)
  if chances[0].ndim == 3 and chances[0].shape[2] > 2:
    return labels, *chances
  of_one = [c[..., 1] if c.ndim == 3 else c for c in chances]
  if config.measures.positive == 1:
    return labels, *of_one
  return 1 - labels, *(1 - one for one in of_one)


def assess(
  config: Config, sets: Tables, chances: dict[str, np.ndarray], more=()
) -> dict[str, dict]:
  """{set: its measures}, each number with its interval.

  `more` are further thresholds, at which the leading gaps are taken too, as
  `NAME at THRESHOLD`.
  """
  out = {}
  for name, table in sets.items():
    cluster, by = clusters_of(table)

    def of(limit, name=name, table=table, cluster=cluster):
      return measure(
        *of_positive(config, table, chances[name]),
        groups_of(config, table),
        **inference(config, limit, cluster),
      )

    out[name] = of(config.measures.threshold)
    if warning := clusters.words(cluster, by):
      out[name]['warnings'].append(warning)
    for limit in more:
      again = of(limit)['fairness']
      gaps = filter(measures.is_gap, measures.leading(again))
      out[name]['fairness'] |= {f'{k} at {limit}': again[k] for k in gaps}
  return out


def compare(
  config: Config,
  sets: Tables,
  chances: dict[str, dict[str, np.ndarray]],
  pairs: Sequence[tuple[str, str]],
  more=(),
  also: Sequence[str] = (),
) -> list[dict]:
  """Paired tests of the leading measures: ours − theirs of each pair.

  `chances` are {contender: {set: [s, n, c]}}; `more` as in `assess`; `also`
  are measures that are tested beside the leading ones.
  """
  tests = []
  cluster = {name: clusters_of(table)[0] for name, table in sets.items()}
  for ours, theirs in pairs:
    for name, table in sets.items():
      for limit in (config.measures.threshold, *more):
        end = f' at {limit}' if limit in more else ''
        truth, one, other = of_positive(
          config, table, chances[ours][name], chances[theirs][name]
        )
        lines = difference(
          truth,
          one,
          other,
          groups_of(config, table),
          **inference(config, limit, cluster[name]),
        )
        tests += [
          {'set': name, 'ours': ours, 'theirs': theirs, **line}
          | {'measure': line['measure'] + end}
          for line in lines
          if (line['measure'] in also or measures.leading([line['measure']]))
          and (not end or measures.is_gap(line['measure']))
        ]
  return adjusted(tests)


def adjusted(tests: list[dict]) -> list[dict]:
  """The tests, leading ones with p adjusted for their number on the page."""
  leads = [i for i, test in enumerate(tests) if 't-test' not in test['test']]
  own = significance.with_adjusted([tests[i] for i in leads])
  known = dict(zip(leads, own))
  return [known.get(i, test) for i, test in enumerate(tests)]


def clusters_of(table: pd.DataFrame) -> tuple[np.ndarray | None, str]:
  """Clusters of rows that are not independent, None where all are; by what.

  Rows of one `cluster` or `template`, where the table has the column, a row
  and its twin (`ID~twin`), and rows of equal texts.
  """
  ways = {
    name: clusters.distinct(table[name].to_numpy(object))
    for name in ('cluster', 'template')
    if name in table
  }
  if 'id' in table:
    origin = table['id'].astype(str).str.removesuffix('~twin')
    ways['twins'] = clusters.distinct(origin.to_numpy(object))
  if 'text' in table:
    ways['equal texts'] = clusters.of_texts(list(table['text']))
  return clusters.by_any(ways)


def inference(
  config: Config, threshold: str | float, cluster: np.ndarray | None = None
) -> dict:
  """How sure numbers are to be: the options of `assess` and `compare`."""
  return {
    'threshold': threshold,
    'options': intervals.options_of(config).over(cluster),
    'min_group': config.measures.min_group,
  }
