"""Bias benchmarks by name; adding one is one file and one row of a table."""

from collections.abc import Collection
from typing import NamedTuple

from fairjax.core.errors import UserError
from fairjax.core.registry import installed, table


class Benchmark(NamedTuple):
  """A file of this folder, what a model must be able to do for it, and more.

  The file has three functions (shared/measure.py calls them):

    items(config) -> DataFrame, one row an item: a unique `id`, and what the
      next two need; `attrs['notes']` says what is to be said of the data
    score(model, items, config) -> DataFrame, one row an item: its `id`, and
      columns of numbers; NaN where the model cannot score it
    estimate(items, scores, how) -> a set of a contender (report/SCHEMA.md):
      'quality' and 'fairness' {measure: Estimate}, 'groups' {bias type or
      term: {'rows', measure: Estimate}}, 'warnings'; `how` is an
      RowSample, and every measure is a row of metrics/measures.csv

  It may say how two models are compared:

    values(items, scores) -> DataFrame of id, metric, part, value and cluster,
      and `beside` where items belong together by two things; without it, each
      column of scores is compared item by item
    compared(items, ours, theirs, how) -> rows as result_rows.compare has them,
      for what is no mean over items
  """

  module: str
  needs: tuple[str, ...]  # any of these capabilities, the first the best
  about: str
  texts: tuple[str, ...] = ()  # columns of items that a model reads
  origin: str = ''  # where its files come from; '' where it reads none
  leaves: tuple[str, ...] = ()  # of the config, that scores depend on
  whole: str = 'all'  # the part of `values` that is the whole
  # The measure that stands for it; a second where a model has not the first.
  headline: tuple[str, ...] = ()
  # Beside other benchmarks by axis: what is shown instead of its headline, and
  # the one axis that it is of where its parts name none.
  by_axis: tuple[str, ...] = ()
  axis: str = ''
  # Columns of items; those of equal values are drawn together by data.limit;
  # () where the benchmark is defined by all of its items.
  unit: tuple[str, ...] = ()
  limits: str = ''  # what its number cannot say
  files: tuple[str, ...] = ()  # what it reads: globs, | before one in its stead
  also: tuple[str, ...] = ()  # other names of it, and columns of its files


BENCHMARKS: dict[str, Benchmark] = table(__file__, 'benchmarks', Benchmark)
# Another package's entry point names the fields of its row, a dict.
installed('benchmarks', BENCHMARKS, lambda row, _: Benchmark(**row.load()))


def capability(name: str, able: Collection[str]) -> str:
  """What a model that can do `able` does for a benchmark, or a sentence."""
  for one in BENCHMARKS[name].needs:
    if one in able:
      return one
  instead = [key for key, one in BENCHMARKS.items() if set(one.needs) & {*able}]
  raise UserError(
    f'benchmark {name} needs a model that can '
    f'{" or ".join(BENCHMARKS[name].needs)}, but this one can '
    f'{" and ".join(sorted(able)) or "do nothing of that kind"}; name another '
    'model, or ask this one '
    f'--config.benchmarks.names={",".join(instead) or "nothing"}'
  )
