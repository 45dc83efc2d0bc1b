"""Benchmarks side by side by axis of identity, with Holm over what is shown.

Each benchmark names its parts in its own words: CrowS-Pairs 'race-color', BBQ
'Race_ethnicity', HolisticBias 'axis race_ethnicity'. One table has a line an
axis, and of each benchmark the measure that stands for it.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from fairjax.benchmarks import BENCHMARKS
from fairjax.data.word_tables import table_rows
from fairjax.metrics import measures
from fairjax.metrics.inference import significance

# What benchmarks call an axis; what is in none of these is no axis (a
# profession, a crossed category, a template).
CALLED = {
  axis: names.split('|') for axis, names in table_rows(__file__, 'axes.csv')
}
# Heads of columns where a measure's own name is long, or has no benchmark's.
HEADS = {
  **{'weat_mean_mean': 'WEAT, mean |d|', 'stereoset_ss_log': 'StereoSet SS'},
  **{'bbq_bias_mean': 'BBQ bias', 'holistic_pairs_fdr': 'HolisticBias'},
}
AXIS = {name: axis for axis, names in CALLED.items() for name in names}


def axis_of(benchmark: str, part: str) -> str:
  """The axis of a part of a benchmark; '' where it is of none."""
  words = part.removeprefix('axis ').lower().split(', ')
  own = [word for word in words if word != BENCHMARKS[benchmark].whole]
  return AXIS.get(own[0], '') if len(own) == 1 else ''


def cells(
  benchmark: str, one: Mapping, items: pd.DataFrame
) -> Iterator[tuple[str, str, Mapping]]:
  """(axis, measure, estimate) of the numbers that stand for a benchmark."""
  row, whole = BENCHMARKS[benchmark], one.get('fairness', {})
  shown = [name for name in row.by_axis or row.headline if name in whole]
  parts = one.get('groups', {})
  of = {part: axis for part in parts if (axis := axis_of(benchmark, part))}
  for measure in shown if row.by_axis else shown[:1]:
    found = [
      (axis, parts[part][measure])
      for part, axis in of.items()
      if measure in parts[part]
    ]
    if not of and (axis := row.axis or only_axis(items)):
      found = [(axis, whole[measure])]
    for axis, estimate in found:
      if estimate.get('value') is not None:
        yield axis, measure, estimate


def only_axis(items: pd.DataFrame) -> str:
  """The axis of items that are of one category; it may be a file's name."""
  if 'category' not in items or items['category'].nunique() != 1:
    return ''
  category = str(items['category'].iloc[0]).lower()
  named = {AXIS[one] for one in category.split('_') if one in AXIS}
  return AXIS.get(category, named.pop() if len(named) == 1 else '')


def lines(
  sets: Mapping[str, Mapping], tables: Mapping[str, pd.DataFrame]
) -> tuple[list[dict], list[str]]:
  """The table, a line an axis, and what in it is sure, in words.

  `sets` are the benchmarks' of one model; p is adjusted by Holm over all
  numbers of the table that have one.
  """
  found = [
    cell
    for name, one in sets.items()
    if name in tables
    for cell in cells(name, one, tables[name])
  ]
  adjusted = significance.adjusted([one.get('p') for *_, one in found])
  rows: dict[str, dict] = {}
  sure = []
  for (axis, measure, one), p in zip(found, adjusted):
    column = HEADS.get(measure, measures.label(measure))
    line = rows.setdefault(axis, {'axis': axis})
    columns = column, *(f'{column} ({k})' for k in range(2, 100))
    column = next(c for c in columns if c not in line)
    value = {k: one.get(k) for k in ('value', 'low', 'high')}
    line[column] = measures.in_print(measure, value)
    if p is not None and significance.is_significant(p):
      sure.append(
        f'{axis} by {column} ({one["value"]:.3g}, {significance.p_words(p)})'
      )
  order = [axis for axis in CALLED if axis in rows]
  return [rows[axis] for axis in order], _sentence(sure, adjusted)


def _sentence(sure: list[str], adjusted: list[float | None]) -> list[str]:
  tested = sum(p is not None for p in adjusted)
  if not tested:
    return []
  first = (
    f'Apart from no preference, at p ≤ {significance.SURE:g} by Holm over the '
    f'{tested} numbers of the table that are tested: '
  )
  return [first + ('; '.join(sure) if sure else 'none') + '.']
