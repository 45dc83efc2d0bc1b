"""A bias benchmark as a function: `fairjax.benchmark`."""

import os
from typing import Any

import pandas as pd

from fairjax import benchmarks
from fairjax.benchmarks import BENCHMARKS, twins
from fairjax.benchmarks.shared import measure
from fairjax.config import Config, doors, validate
from fairjax.core.errors import UserError, need, shown, worded
from fairjax.core.registry import named
from fairjax.data.tables import inputs
from fairjax.recipes.benchmarks import asked, experiment

# The knobs that have another name as arguments.
ARGUMENTS = {
  'data.path': 'data',
  'benchmarks.names': 'the benchmarks that you ask for',
  'method.axis': 'axis',
}


@doors.door(ARGUMENTS)
def benchmark(
  model: str | os.PathLike,
  name: str,
  data: Any = '',
  *,
  axis: str | os.PathLike = 'gender',
  limit: int = 0,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> pd.DataFrame:
  """A bias benchmark of a language model, encoder or classifier.

  Args:
    {arguments}

  Returns:
    a line for each part and measure: part ('all', a bias type, an axis),
    measure, value, low, high, items, null (the value without a preference), p,
    and p_holm over the parts; attrs['warnings'] says what it cannot tell.
  """
  name = named(name, BENCHMARKS, 'benchmark')
  inputs.options(0.5, confidence_level, n_resamples, random_state)
  config = _config(name, data, axis)
  config.model = os.fspath(model)
  config.seed = inputs.seed(random_state)
  config.data.limit = limit
  config.measures.confidence_level = confidence_level
  config.measures.resamples = n_resamples
  validate(config)
  experiment.check(config)
  if name == 'twins' and not isinstance(data, str | os.PathLike):
    texts = inputs.texts(data)
    items = twins.made(texts, list(map(str, range(len(texts)))), config)
  else:
    items = measure.read(name, config)
  judge = asked.load(config.model, config)
  benchmarks.capability(name, judge.able)
  measure.known_words(name, judge, items)
  scores = measure.only_known(
    name, judge, items, measure.module(name).score(judge, items, config)
  )
  one, *_ = measure.evaluate(name, judge, items, config, scores)
  return frame_of(one)


def _config(name: str, data: Any, axis: Any) -> Config:
  """What is read, as the command's config has it."""
  config = Config(recipe='benchmarks')
  own = name == 'twins'
  need(
    isinstance(axis, str | os.PathLike),
    *('axis', axis, "give the name of an axis, as 'religion', or its file"),
  )
  if axis != 'gender' and not own:
    raise UserError(
      f'axis is {shown(axis)}, and {name} shows the axes that it has as parts; '
      "leave axis out, or take 'twins'"
    )
  is_path = isinstance(data, str | os.PathLike)
  if not is_path and not own:
    raise UserError(
      f'data is {shown(data)}; name the folder of your copies of the files of '
      f'{name}'
    )
  if own and is_path and not os.fspath(data):
    raise UserError(
      'twins compares versions of your own texts; give a column of them, or '
      'the name of a file, with data='
    )
  config.data.path = os.fspath(data) if own and is_path else 'texts'
  config.method.axis = os.fspath(axis)
  config.benchmarks.names = (name,)
  config.benchmarks.data = os.fspath(data) if is_path and not own else ''
  return config


def frame_of(one: dict) -> pd.DataFrame:
  """The set of results.json as lines."""
  groups = {'all': one.get('fairness', {}), **one.get('groups', {})}
  fields = ('value', 'low', 'high', 'items', 'null', 'p', 'p_holm')
  rows = [
    {'part': part, 'measure': key}
    | {field: value.get(field) for field in fields}
    for part, values in groups.items()
    for key, value in values.items()
    if key != 'rows'
  ]
  out = pd.DataFrame(rows, columns=['part', 'measure', *fields])
  called = doors.surface(benchmark, ARGUMENTS)
  out.attrs['warnings'] = [worded(x, called) for x in one.get('warnings', ())]
  return out
