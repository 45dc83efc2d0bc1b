"""Runs a benchmark on a model: items, scores, estimates with intervals."""

import importlib
from typing import Any

import numpy as np
import pandas as pd

from fairjax import results
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks.shared import sources
from fairjax.config import Config
from fairjax.core.errors import UserError, quoted
from fairjax.metrics.inference import intervals


def module(name: str) -> Any:
  """The file of a benchmark."""
  return importlib.import_module(BENCHMARKS[name].module)


def read(name: str, config: Config) -> pd.DataFrame:
  """The items of a benchmark, checked before any model is asked."""
  items = module(name).items(config)
  twice = items['id'][items['id'].duplicated()]
  if not len(items) or len(twice):
    what = 'no items'
    if len(twice):
      what = f'two items of id {str(twice.iloc[0])[:80]!r}'
    raise UserError(
      f'benchmark {name} has {what}; check the file that it is read from'
    )
  for column in BENCHMARKS[name].texts:
    if column not in items:
      raise ValueError(
        f'{name}.items has no column {column!r}, which its row of BENCHMARKS '
        'says that a model reads'
      )
  return items if items.attrs.get('drawn') else _drawn(name, items, config)


def _drawn(name: str, items: pd.DataFrame, config: Config) -> pd.DataFrame:
  """As many items as data.limit says; those that belong together, together."""
  columns, most = [*BENCHMARKS[name].unit], config.data.limit
  if not most or len(items) <= most:
    return items
  if not columns:
    raise sources.Undrawn(
      f'data.limit is {most}, but {name} is defined by all of its '
      f'{len(items)} items; leave out the limit, or {name} from '
      '--config.benchmarks.names'
    )
  unit = items.groupby(columns, sort=False).ngroup().to_numpy()
  out = items.iloc[sources.drawn(unit, config, 0xB4)].reset_index(drop=True)
  message = f'{len(out)} of {len(items)} items are drawn by the seed'
  out.attrs = items.attrs | {'notes': [message, *items.attrs.get('notes', ())]}
  return out


def unknown(name: str, model: Any, items: pd.DataFrame) -> np.ndarray:
  """Which items have a token that the model's vocabulary does not know."""
  out = np.zeros(len(items), bool)
  for column in BENCHMARKS[name].texts:
    out |= model.unknown(list(items[column].fillna('').astype(str)))
  return out


def known_words(name: str, model: Any, items: pd.DataFrame) -> None:
  """Stops, before long work, where a model can read no item."""
  if len(items) and unknown(name, model, items).all():
    raise UserError(
      f'each of the {len(items)} items of benchmark {name} holds a token that '
      f'the vocabulary of {model.name} does not know; leave it out of '
      '--config.benchmarks.names'
    )


def only_known(
  name: str, model: Any, items: pd.DataFrame, scores: pd.DataFrame
) -> pd.DataFrame:
  """Scores, NaN where an item has a token that is not known."""
  missing = unknown(name, model, items)
  if missing.any():
    values = scores.columns.drop('id')
    scores = scores.astype(dict.fromkeys(values, float))
    scores.loc[missing, values] = np.nan
    scores.attrs['unknown'] = list(map(str, items['id'][missing]))
  return scores


def measure(name: str, model: Any, config: Config) -> tuple[dict, pd.DataFrame]:
  """The set of results.json that a benchmark is, and its items with scores."""
  items = read(name, config)
  one, _, scores = evaluate(name, model, items, config)
  return one, items.merge(scores, on='id', how='left')


def evaluate(
  name: str,
  model: Any,
  items: pd.DataFrame,
  config: Config,
  scores: pd.DataFrame | None = None,
) -> tuple[dict, pd.DataFrame, pd.DataFrame]:
  """The set of results.json, and the items that could be scored with scores.

  Items that the model cannot score at all are left out of the estimates, and
  counted in a warning. `scores` are those of an earlier run.
  """
  if scores is None:
    scores = module(name).score(model, items, config)
  if list(scores['id']) != list(items['id']):
    raise ValueError(f'{name}.score must keep the ids and order of the items')
  known = scores.drop(columns='id').notna().any(axis=1).to_numpy()
  if not known.any():
    raise UserError(
      f'the model can score none of the {len(items)} items of benchmark '
      f'{name}; their words may be unknown to its vocabulary'
    )
  how = intervals.options_of(config)
  keep = lambda table: table[known].reset_index(drop=True)
  one: dict[str, Any] = {'rows': int(known.sum())}
  one |= module(name).estimate(keep(items), keep(scores), how)
  notes = items.attrs.get('notes', ())
  remarks = [one for one in notes if not isinstance(one, sources.Known)]
  if missing := scores.attrs.get('unknown'):
    some = items[items['id'].astype(str).isin(missing)]
    remarks.append(
      f'{len(missing)} of {len(items)} items hold a token that the vocabulary '
      f'of this model does not know: {_words(name, some)}'
    )
  if not known.all():
    undefined = items[~known]
    remarks.append(
      f'{len(undefined)} of {len(items)} items cannot be scored by this model '
      f'and are left out: {_words(name, undefined)}'
    )
  limits = filter(None, [BENCHMARKS[name].limits])
  one['warnings'] = [*remarks, *limits, *one.get('warnings', ())]
  one = results.plain(one)
  check(name, one)
  return one, keep(items), keep(scores)


def _words(name: str, items: pd.DataFrame) -> str:
  """Items as a reader knows them: what a model reads first, or their ids."""
  return quoted(items[[*BENCHMARKS[name].texts, 'id'][0]])


def compared_values(
  name: str, items: pd.DataFrame, scores: pd.DataFrame
) -> pd.DataFrame:
  """What two models are compared by, an item and a metric a row."""
  own = module(name)
  if hasattr(own, 'values'):
    return own.values(items, scores)
  table = scores.melt('id', var_name='metric', value_name='value')
  return table.assign(part=BENCHMARKS[name].whole, cluster=table['id'])


def check(name: str, one: dict) -> None:
  """A benchmark's author learns at once what report cannot show."""
  if wrong := [*results.problems(one, results.SET, name)]:
    raise ValueError('; '.join(wrong))
  alone = results.Results(contenders={name: {'sets': {name: one}}})
  results.check_rows(f'benchmark {name}', alone)
