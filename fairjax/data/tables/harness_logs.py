"""Per-sample logs of evaluation harnesses, as items with numbers.

lm-evaluation-harness (`--log_samples`, 0.4: samples_TASK_*.jsonl, a line a
document and filter) and inspect (0.3: a .json log, or an .eval file, a zip of
samples/*.json).
"""

import collections
import math
import pathlib
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from fairjax.core import paths, strict_json
from fairjax.core.errors import UserError

GRADES = {'C': 1.0, 'P': 0.5, 'I': 0.0, 'N': 0.0}  # of inspect's scorers
# Numbers of a line of lm-evaluation-harness that are no measure.
KEYS = ('doc_id', 'target', 'idx')
# What a file that is no such log ends in.
DAMAGED: tuple[type[Exception], ...] = (ValueError, KeyError, TypeError)
DAMAGED += (AttributeError, zipfile.BadZipFile, NotImplementedError)


def read(path: str, groups: tuple[str, ...] = ()) -> pd.DataFrame:
  """Rows of id, content (what was asked), metric, value, and a column a group.

  `groups` are fields of a document (lm-evaluation-harness) or of a sample's
  metadata (inspect). `attrs['few']` names those that could be.
  """
  rows, documents = [], []
  for key, content, numbers, fields in _samples(path):
    documents.append(fields)
    absent = [name for name in groups if name not in fields]
    if absent:
      raise UserError(
        f'{path} has no field {absent[0]!r} in sample {key!r}; it has '
        f'{", ".join(map(str, fields)) or "none"}'
      )
    own = {name: str(fields[name]) for name in groups}
    rows += [
      {'id': str(key), 'content': content, 'metric': metric, 'value': value}
      | own
      for metric, value in numbers.items()
    ]
  if not rows:
    raise UserError(
      f'{path} has no sample with a number; give a log of samples of '
      'lm-evaluation-harness (--log_samples) or of inspect'
    )
  found = pd.DataFrame(rows)
  twice = found[found.duplicated(['id', 'metric'])]
  if len(twice):
    raise UserError(
      f'{path} has sample {twice["id"].iloc[0]!r} twice; give the log of one '
      'task and one epoch'
    )
  found.attrs['few'] = _few(documents)
  return found


def _few(documents: list[Mapping]) -> list[str]:
  """Fields of 2 to 20 values, of which each is that of ten samples."""
  counts: dict[str, collections.Counter] = collections.defaultdict(
    collections.Counter
  )
  for fields in documents:
    for name, value in fields.items():
      if isinstance(value, str | int) and ',' not in name:
        counts[name][value] += 1
  few = lambda of: 2 <= len(of) <= 20 and min(of.values()) >= 10
  return [name for name, of in counts.items() if few(of)]


def _samples(path: str) -> Iterator[tuple[Any, str, dict, Mapping]]:
  """(id, content, {measure: number}, fields) of each sample."""
  try:
    with paths.reading(path):
      if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as files:
          names = [n for n in files.namelist() if n.startswith('samples/')]
          logged = [strict_json.parse(files.read(n).decode()) for n in names]
        yield from map(_of_inspect, logged)
        return
      text = pathlib.Path(path).read_text('utf-8')
    if pathlib.Path(path).suffix == '.json':
      yield from map(_of_inspect, strict_json.parse(text)['samples'])
      return
    for line in filter(str.strip, text.splitlines()):
      yield _of_lm_eval(strict_json.parse(line))
  except DAMAGED as error:
    why = f' ({error})' if isinstance(error, ValueError) else ''
    raise UserError(
      f'{path} is no log of samples of lm-evaluation-harness or of inspect{why}'
      '; give one of --log_samples (.jsonl), or a .json or .eval of inspect'
    ) from error


def _of_lm_eval(line: Mapping) -> tuple[Any, str, dict, Mapping]:
  names = line.get('metrics') or [k for k in line if k not in KEYS]
  many = line.get('filter', 'none') != 'none'
  called = lambda name: f'{name} ({line["filter"]})' if many else name
  numbers = {called(n): float(line[n]) for n in names if _number(line.get(n))}
  content = str(line.get('doc_hash') or line.get('doc', ''))
  return line['doc_id'], content, numbers, line.get('doc', {})


def _of_inspect(sample: Mapping) -> tuple[Any, str, dict, Mapping]:
  values = {n: one['value'] for n, one in (sample['scores'] or {}).items()}
  flat = {
    f'{name} {part}'.strip(): GRADES.get(value, value)
    if isinstance(value, str)
    else value
    for name, each in values.items()
    for part, value in (
      each.items() if isinstance(each, Mapping) else [('', each)]
    )
  }
  numbers = {n: float(v) for n, v in flat.items() if _number(v)}
  content = str(sample.get('input', ''))
  return sample['id'], content, numbers, sample.get('metadata') or {}


def _number(value: Any) -> bool:
  return isinstance(value, int | float) and math.isfinite(value)
