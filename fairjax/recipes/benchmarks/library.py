"""A bias benchmark as a function: `fairjax.benchmark`."""

import os
from typing import Any

import pandas as pd

from fairjax import benchmarks
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks.shared import measure
from fairjax.config import Config, Mesh, validate
from fairjax.core.errors import UserError
from fairjax.data.tables import inputs
from fairjax.models.reading import judge as judges
from fairjax.models.reading import word_judge
from fairjax.recipes.audit.library import in_python
from fairjax.train import mesh


def benchmark(
  model: str | os.PathLike,
  name: str,
  data: str | os.PathLike = '',
  *,
  limit: int = 0,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> pd.DataFrame:
  """A bias benchmark of a language model, encoder or classifier.

  Args:
    model: the folder of a masked or causal language model, an encoder or a
      classifier, or a file of word vectors.
    name: 'crows', 'bbq', 'stereoset', … (`fairjax --list`).
    data: the folder of your copies of the benchmark's files.
    limit: items that are drawn, where there are many; 0 takes all.
    confidence_level: of the intervals.
    n_resamples: bootstrap resamples.
    random_state: of draws and resamples.

  Returns:
    a line for each part and measure: part ('all', a bias type, an axis),
    measure, value, low, high, items, null (the value without a preference), p,
    and p_holm over the parts; attrs['warnings'] says what it cannot tell.
  """
  if name not in BENCHMARKS:
    raise UserError(
      f'name is {name!r}; the benchmarks are {", ".join(BENCHMARKS)}'
    )
  inputs.options(0.5, confidence_level, n_resamples, random_state)
  config = Config(recipe='benchmarks', model=os.fspath(model))
  config.seed = inputs.seed(random_state)
  config.data.path = 'texts'
  config.benchmarks.names = (name,)
  config.benchmarks.data, config.benchmarks.limit = os.fspath(data), limit
  config.measures.confidence_level = confidence_level
  config.measures.resamples = n_resamples
  try:
    validate(config)
    if BENCHMARKS[name].origin and not config.benchmarks.data:
      raise UserError(
        f'{name} reads your copies of its files; name their folder with data= '
        f'({BENCHMARKS[name].origin})'
      )
    items = measure.read(name, config)
    judge = _judge(config)
    benchmarks.capability(name, judge.able)
    measure.known_words(name, judge, items)
    scores = measure.only_known(
      name, judge, items, measure.module(name).score(judge, items, config)
    )
    one, *_ = measure.evaluate(name, judge, items, config, scores)
  except UserError as error:
    raise UserError(in_python(str(error), benchmark)) from error
  return _frame(one)


def _judge(config: Config) -> Any:
  if word_judge.is_table(config.model):
    return word_judge.WordJudge(config.model, {})
  placement = mesh.placement(mesh.make(Mesh(), 1))
  return judges.load(config.model, config, placement)


def _frame(one: dict) -> pd.DataFrame:
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
  out.attrs['warnings'] = list(one.get('warnings', ()))
  return out
