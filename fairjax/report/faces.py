"""What results of the library are asked for: one measure, groups, a picture.

`assess` and `audit` have the same face: result['dp'], 'dp' in result, a loop
over the names of measures, .groups, .by_group, .warnings and .plot().
"""

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from fairjax.core.errors import UserError

if TYPE_CHECKING:
  import matplotlib.figure


class NoMeasure(UserError, KeyError):
  """A measure that was not measured; also a KeyError, as of a dictionary."""

  __str__ = Exception.__str__  # a KeyError's is the repr of its sentence


def measure(known: Mapping[str, dict], name: str) -> dict:
  """The estimate of that name, or what it may have been meant to be."""
  if name in known:
    return known[name]
  text = str(name)
  near = [key for key in known if key.rpartition('/')[2] == text]
  near = near or difflib.get_close_matches(text, known, n=3)
  hint = f'did you mean {", ".join(map(repr, near))}?' if near else ''
  raise NoMeasure(
    f'{name!r} was not measured; '
    + (hint or f'there are {", ".join(map(repr, known))}')
  )


def groups(one: Mapping) -> pd.DataFrame:
  """The value of each measure of each group, a row a group."""
  value = lambda v: v['value'] if isinstance(v, Mapping) else v
  return pd.DataFrame(
    {
      name: {k: value(v) for k, v in each.items()}
      for name, each in one.get('groups', {}).items()
    }
  ).T


def by_group(one: Mapping) -> pd.DataFrame:
  """The same with intervals: a row for each group and measure."""
  rows = [
    {'group': name, 'measure': key}
    | {k: value.get(k) for k in ('value', 'low', 'high')}
    for name, each in one.get('groups', {}).items()
    for key, value in each.items()
    if isinstance(value, Mapping)
  ]
  columns = ['group', 'measure', 'value', 'low', 'high']
  return pd.DataFrame(rows, columns=columns).set_index(columns[:2])


def plot(one: Mapping, name: str) -> 'matplotlib.figure.Figure':
  """One measure of every group, with intervals."""
  from fairjax.report.pictures import plots

  by = one.get('groups', {})
  if not by:
    raise UserError('no groups were compared, so there is nothing to plot')
  known = {k: v for k, v in next(iter(by.values())).items() if k != 'rows'}
  measure(known, name)
  return plots.forest(
    {group: each[name] for group, each in by.items()}, name, zero=None
  )
