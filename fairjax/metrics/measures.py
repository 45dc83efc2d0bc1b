"""The one table of measures: every name in results.json, and how to read it.

What `assess` computes, what recipes compare, `--list`, the glossary of the
page, leading columns, pictures and the words of verdicts come from MEASURES,
which is read from measures.csv, and `results.write` refuses a name without a
row. A measure that `assess` computes is one row, with a function where a new
one is needed.

In results.json a measure is named `[ATTRIBUTE/]NAME[ at THRESHOLD]`, as in
`dp`, `gender/dp` or `fped at eer`. Each rate also has its aggregates over the
groups, `RATE_difference`, `_ratio`, `_min` and `_max`, and with three or more
classes there is a `tpr_C` for each class C.
"""

import functools
import importlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from fairjax.core import registry

# Names of an aggregate, which has no row.
ALSO = dict.fromkeys(
  ('four_fifths', 'disparate_impact'), 'selection_rate_ratio'
)


class Measure(NamedTuple):
  """One row. `kind` says what computes it, and what `kernel` and `of` mean.

  confusion: of everyone; `kernel` is the address of a function of confusion
    counts [*b, label, decision] -> [*b] in numpy, NaN where it is undefined.
  scores: of everyone; `kernel` is the address of a function as
    rankings.log_loss, which gives an Estimate, or None where it is none of
    this many classes.
  rate: of each group; `of` holds two masks over (tn, fp, fn, tp): which rows
    are counted, and among which (0101/1111 in the csv). An accuracy is a rate
    too.
  rank: of each group, in quality.SUITE.
  gap: between groups, of the mean of the rates `of`; `kernel` is 'range' (the
    largest difference between two groups) or 'sum' (of the distances to the
    rate of everyone). Where 1 is equal, the measure is 1 − gap.
  rank gap: between groups, of the rank `of`; 'range', 'min' or 'largest'.
  flips: of edited texts, by texts/flips.py.
  own: by the recipe or the benchmark that writes it; it says nothing without
    those of `of`, which stand before it.
  """

  kind: str
  kernel: str
  label: str  # what people call it, as in the middle of a sentence
  about: str
  better: int  # 1: more is better, −1: less is better, 0: neither
  ideal: float | None  # of a perfect model, or of equal groups
  low: float = 0.0
  high: float = 1.0
  of: tuple[Any, ...] = ()
  leads: bool = False  # compared, and a column where contenders stand together
  pictured: bool = False
  empty: str = ''  # why it is undefined, where it is
  also: tuple[str, ...] = ()  # its other names, beside the label


def _of(one: Measure) -> tuple[Any, ...]:
  """The names of `of`, or its masks as numbers."""
  if one.kind not in ('rate', 'confusion'):
    return one.of
  return tuple(tuple(map(int, m)) for w in one.of for m in w.split('/'))


MEASURES: dict[str, Measure] = {
  name: one._replace(of=_of(one))
  for name, one in registry.table(__file__, 'measures', Measure).items()
}
# Another package's entry point names the fields of its row, a dict.
_own = lambda row, _: Measure(**{'leads': True} | row.load())
registry.installed('measures', MEASURES, _own)


def meant(name: str, known: Iterable[str]) -> list[str]:
  """The names of results.json that a name means, of every attribute."""
  rows = {key: MEASURES.get(key.rpartition('/')[2]) for key in known}
  return registry.meant(ALSO.get(name.replace(' ', '_').lower(), name), rows)


@functools.lru_cache(1 << 14)
def bare(key: str) -> str:
  """The name without attribute, threshold and class."""
  return re.sub(r'^.*/| at [^ ]+$|(?<=tpr)_\d+$', '', key)


def is_known(key: str) -> bool:
  """Whether a name in results.json is a row, or an aggregate of a rate."""
  rate = bare(re.sub(r'_(difference|ratio|min|max)(?= at |$)', '', key))
  return bare(key) in MEASURES or rate in rates()


def measure(key: str) -> Measure | None:
  """The row of a name as it stands in results.json; None for others."""
  return MEASURES.get(bare(key))


def bounds(key: str) -> tuple[float, float]:
  """The range of a measure, the whole line where it is none."""
  row = measure(key)
  return (row.low, row.high) if row else (-math.inf, math.inf)


def apart(key: str, groups: float = math.inf) -> tuple[float, float]:
  """The range of a difference of two; a sum over groups is at most each's 1."""
  low, high = bounds(key)
  of_sum = getattr(measure(key), 'kernel', '') == 'sum'
  width = float(max(groups, 1)) if of_sum else high - low
  return -width, width


def label(key: str) -> str:
  """What people call a measure; the key itself where it is no measure."""
  row = measure(key)
  return row.label if row else key


def in_print(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
  """An Estimate, of a measure in percent with one digit behind the point."""
  of = measure(key)
  return {**value, 'digits': 1} if of and of.high == 100.0 else {**value}


def about(key: str) -> str:
  """A line for the glossary; empty where it is no measure."""
  row = measure(key)
  if row is None:
    return ''
  known = row.label.lower() in (bare(key).replace('_', ' '), row.about)
  return row.about if known else f'{row.label}: {row.about}'


def in_order(values: Iterable[str]) -> list[str]:
  """Names as the table has them, rates after the rest; strangers last."""
  order = list(MEASURES)

  def place(key: str) -> tuple[int, int]:
    row = measure(key)
    if row is None:
      return 2, 0
    return int(row.kind == 'rate'), order.index(bare(key))

  return sorted(values, key=place)


def leading(keys: Iterable[str], pictured: bool = False) -> list[str]:
  """Those that are compared (so is a user's own), or those with pictures."""
  leads = lambda key: row.leads if (row := measure(key)) else not is_known(key)
  has_picture = lambda key: getattr(measure(key), 'pictured', False)
  every = in_order(dict.fromkeys(keys))
  return [*filter(has_picture if pictured else leads, every)]


def is_gap(key: str) -> bool:
  """Whether it compares groups' decisions."""
  return getattr(measure(key), 'kind', '') == 'gap'


def is_rate(key: str) -> bool:
  """Whether it is a rate and nothing more: good or bad only beside another."""
  return getattr(measure(key), 'kind', '') == 'rate'


def of_kind(*kinds: str) -> dict[str, Measure]:
  return {n: row for n, row in MEASURES.items() if row.kind in kinds}


def rates() -> dict[str, tuple[tuple[int, ...], ...]]:
  """{rate: its two masks}."""
  return {
    n: row.of for n, row in of_kind('rate', 'confusion').items() if row.of
  }


def gaps() -> dict[str, tuple[tuple[str, ...], str, bool]]:
  """{gap: (the rates that it averages, 'range' or 'sum', is it 1 − gap?)}."""
  return {
    name: (row.of, row.kernel, row.ideal == 1)
    for name, row in of_kind('gap').items()
  }


def parities() -> dict[str, str]:
  """{rate: the parity of it alone}; errors first, then shares decided.

  An error is what its rate leaves: equal true positive rates are equal false
  negative rates.
  """
  alone = {
    row.of[0]: name
    for name, row in of_kind('gap').items()
    if (row.kernel, row.ideal, row.better, len(row.of)) == ('range', 1, 1, 1)
  }
  masks = {masks: name for name, masks in rates().items()}
  out = {}
  for rate, name in alone.items():
    counted, among = MEASURES[rate].of
    if MEASURES[rate].better > 0:
      counted = tuple(b - a for a, b in zip(counted, among))
    if (counted, among) in masks:
      out[masks[counted, among]] = name
  order = list(MEASURES)
  place = lambda rate: (MEASURES[rate].better, order.index(rate))
  return {rate: out[rate] for rate in sorted(out, key=place)}


def load(row: Measure) -> Callable[..., Any]:
  """The function at the address of a kernel."""
  module, _, function = row.kernel.partition(':')
  made: Callable[..., Any] = getattr(importlib.import_module(module), function)
  return made
