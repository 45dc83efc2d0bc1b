"""The results of a run in one schema: contenders × test sets × measures.

Every recipe returns a Results and writes it as results.json; `report` makes
the page, the tables on the screen and the pictures from it alone (and from
what else the run's folder holds: predictions, learning curves, config). So any
page can be made again: `python -m fairjax.report FOLDER`.

report/SCHEMA.md explains each field; schema.json is what `write` and `read`
check. What only one recipe has to show are `sections` of parts (texts, tables,
figures as data); the functions at the end make them.
"""

import dataclasses
import math
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairjax.core import artefacts, ended, knobs, paths
from fairjax.core.errors import UserError, shown
from fairjax.metrics.measures import is_known

if TYPE_CHECKING:
  import pandas as pd

VERSION = 1  # of the schema
FILE = ended.RESULTS
Tree = dict[str, Any]  # as JSON has it


@dataclasses.dataclass
class Results:
  """results.json; see report/SCHEMA.md."""

  recipe: str = ''
  data: str = ''
  model: str = ''
  seeds: list[int] = dataclasses.field(default_factory=list)
  level: float = 0.95  # of every interval
  pos_label: int = 1
  # Names of a user's own measures, which have no row in measures.csv.
  own_measures: list[str] = dataclasses.field(default_factory=list)
  classes: list[str] = dataclasses.field(default_factory=list)  # their names
  title: str = ''
  contenders: dict[str, Tree] = dataclasses.field(default_factory=dict)
  focus: str = ''  # the contender that the page shows in full
  tests: list[Tree] = dataclasses.field(default_factory=list)
  verdicts: list[Tree] = dataclasses.field(default_factory=list)
  primary: list[str] = dataclasses.field(default_factory=list)
  findings: list[Tree] = dataclasses.field(default_factory=list)
  facts: dict[str, Any] = dataclasses.field(default_factory=dict)
  notes: list[str] = dataclasses.field(default_factory=list)
  sections: list[Tree] = dataclasses.field(default_factory=list)
  version: int = VERSION

  @property
  def sets(self) -> dict[str, Tree]:
    """Those of the contender in focus, or of the only one."""
    if not self.focus and len(self.contenders) > 1:
      return {}
    first = next(iter(self.contenders), '')
    known = self.contenders.get(self.focus or first, {})
    sets: dict[str, Tree] = known.get('sets', {})
    return sets

  def set_names(self) -> list[str]:
    every = (name for c in self.contenders.values() for name in c['sets'])
    return list(dict.fromkeys(every))

  def measured(self, contender: str, name: str) -> dict[str, Tree]:
    """Quality and fairness of a contender on a set: {measure: Estimate}."""
    one = self.contenders[contender]['sets'].get(name, {})
    return {**one.get('quality', {}), **one.get('fairness', {})}

  def to_frame(self) -> 'pd.DataFrame':
    """One row a number: contender, set, group, measure, value, low, high."""
    import pandas as pd

    from fairjax.metrics.inference.estimates import in_table

    rows = []
    for contender, parts in self.contenders.items():
      for name, one in parts['sets'].items():
        by_group = {'': self.measured(contender, name), **one.get('groups', {})}
        rows += [
          {'contender': contender, 'set': name, 'group': group, 'measure': key}
          | in_table(value)
          for group, values in by_group.items()
          for key, value in values.items()
          if isinstance(value, Mapping)
        ]
    return pd.DataFrame(rows)


ANY = object
TYPES = {'int': int, 'float': float, 'str': str, 'bool': bool, 'any': ANY}


def _form(tree: Any) -> Any:
  """A form of schema.json: a name of FORMS, [form of every item], or a mapping
  of keys to forms, where 'key?' may be missing and '*' is any other key."""
  if isinstance(tree, dict):
    return {key: _form(one) for key, one in tree.items()}
  return [_form(tree[0])] if isinstance(tree, list) else FORMS[tree]


# Of files by name, and of what stands in several; others add knobs.Rules.
FORMS: dict[str, Any] = {**TYPES, 'number': (float, None), 'part': 'PART'}
for _name, _tree in artefacts.read_json(
  pathlib.Path(__file__).with_name('schema.json')
).items():
  FORMS[_name] = _form(_tree)
ESTIMATE, SET, PARTS = (FORMS[name] for name in ('estimate', 'set', 'parts'))
SCHEMA = FORMS[FILE]
WORDS: dict[Any, str] = {float: 'a finite number', int: 'a whole number'}
WORDS |= {str: 'a text', bool: 'true or false', None: 'null'}


def problems(value: Any, form: Any = None, where: str = '') -> Iterator[str]:
  """What in `value` is not of the form, a phrase each."""
  form = SCHEMA if form is None else form
  if form == 'PART':
    kind = value.get('part') if isinstance(value, Mapping) else None
    if kind not in PARTS:
      yield f'{where}.part is {kind!r}; it must be one of {", ".join(PARTS)}'
      return
    form = {'part': str} | PARTS[kind]
  if isinstance(form, list):
    if not isinstance(value, list):
      yield f'{where} is {value!r:.60}; it must be a list'
      return
    for k, item in enumerate(value):
      yield from problems(item, form[0], f'{where}[{k}]')
  elif isinstance(form, dict):
    if not isinstance(value, Mapping):
      yield f'{where} is {value!r:.60}; it must be an object'
      return
    yield from _keys(value, form, where)
  elif not _is(value, form):
    kinds = form if isinstance(form, tuple) else (form,)
    words = ' or '.join(WORDS.get(kind) or knobs.wanted(kind) for kind in kinds)
    yield f'{where} is {value!r:.60}; it must be {words}'


def _keys(value: Mapping[Any, Any], form: Tree, where: str) -> Iterator[str]:
  below = f'{where}.' if where else ''
  known = {key.removesuffix('?'): key for key in form if key != '*'}
  for key, fields in known.items():
    if key in value:
      yield from problems(value[key], form[fields], f'{below}{key}')
    elif not fields.endswith('?'):
      yield f'{below}{key} is missing'
  for key in value.keys() - known.keys():
    if '*' not in form:
      yield f'{below}{key} is no field of the schema'
    elif form['*'] is not ANY:
      yield from problems(value[key], form['*'], f'{below}{key}')


def _is(value: Any, form: Any) -> bool:
  if isinstance(form, tuple):
    return any(_is(value, one) for one in form)
  if form is ANY or form is None:
    return form is ANY or value is None
  if not isinstance(form, type):
    return not form(value)
  if form is float:
    return _is(value, int) or (
      isinstance(value, float) and math.isfinite(value)
    )
  return isinstance(value, form) and isinstance(value, bool) == (form is bool)


def plain(value: Any) -> Any:
  """As JSON has it: lists, texts as keys, and null for what is undefined."""
  if dataclasses.is_dataclass(value) and not isinstance(value, type):
    value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
  if isinstance(value, Mapping):
    return {str(k): plain(v) for k, v in value.items()}
  if isinstance(value, np.ndarray | np.generic):
    value = value.tolist()
  if isinstance(value, list | tuple):
    return [plain(v) for v in value]
  if isinstance(value, os.PathLike):
    return os.fspath(value)
  undefined = isinstance(value, float) and not math.isfinite(value)
  return None if undefined else value


def from_tree(tree: Mapping[Any, Any], source: str = FILE) -> Results:
  """Results of plain values, or a sentence that names what is wrong."""
  if not isinstance(tree, Mapping) or 'version' not in tree:
    raise UserError(
      f'{source} has no schema version, so an older fairjax wrote it; run the '
      'command again to write it anew (finished stages are reused)'
    )
  if tree['version'] != VERSION:
    raise UserError(
      f'{source} has schema version {shown(tree["version"])}, and this fairjax '
      f'reads version {VERSION}; use the fairjax that wrote it'
    )
  wrong = next(problems(tree), None) or _misfit(tree)
  if wrong:
    raise UserError(f'{source} does not follow its schema: {wrong}')
  return Results(**tree)


def _misfit(tree: Mapping[Any, Any]) -> str:
  """What of values that are right by themselves does not go together."""
  focus, positive = tree['focus'], tree['pos_label']
  if focus and focus not in tree['contenders']:
    return f'focus is {shown(focus)}, which is no contender'
  if not 0 <= positive < max(2, len(tree.get('classes', ()))):
    return f'pos_label is {positive}, which is no class'
  return ''


def names(results: Results) -> Iterator[str]:
  """Of every measured number; a test may be of what only it compares."""
  for contender in results.contenders.values():
    for one in contender['sets'].values():
      groups = one.get('groups', {}).values()
      for part in (one.get('quality', {}), one.get('fairness', {}), *groups):
        yield from (k for k, v in part.items() if isinstance(v, Mapping))


def read(folder: str | os.PathLike[str]) -> Results:
  """The results of a run's folder."""
  path = paths.at_home(folder) / FILE
  return from_tree(artefacts.read_json(path), str(path))


def write(folder: str | os.PathLike[str], results: Results) -> Results:
  """Writes results.json; returns what a reader of it gets."""
  results = from_tree(plain(results))
  check_rows('the run', results)
  artefacts.write_json(
    pathlib.Path(folder) / FILE, {'version': VERSION, **vars(results)}
  )
  return results


def check_rows(what: str, results: Results) -> None:
  """Refuses a measure of which no row says how it is read."""
  strange = {key for key in names(results) if not is_known(key)}
  if nameless := sorted(strange - {*results.own_measures}):
    raise UserError(
      f'{what} has measures without a row: {", ".join(nameless)}; give each '
      'its label, direction and meaning in fairjax/metrics/measures.csv, or '
      'from another package by an entry point of fairjax.measures'
    )


# Parts of a section: plain dicts, which the page turns into html.


def section(heading: str, *parts: Mapping[Any, Any]) -> Tree:
  return {'heading': heading, 'parts': list(parts)}


def text(words: str, kind: str = '') -> Tree:
  """A paragraph; kind is 'lead', 'quiet' or 'warning'."""
  return {'part': 'text', 'text': words, 'kind': kind}


def heading(words: str) -> Tree:
  return {'part': 'heading', 'text': words}


def bullets(lines: Sequence[str]) -> Tree:
  return {'part': 'bullets', 'lines': list(lines)}


def table(
  rows: Sequence[Mapping[Any, Any]],
  columns: Mapping[str, str] | None = None,
  caption: str = '',
  screen: bool = False,
) -> Tree:
  """Rows of numbers, texts and Estimates; `columns` are {key: heading}.

  With `screen` the terminal shows it too.
  """
  part: dict[str, Any] = {'part': 'table', 'rows': [dict(row) for row in rows]}
  if columns:
    part['columns'] = dict(columns)
  return part | {'caption': caption, 'screen': screen}


def facts(known: Mapping[str, Any]) -> Tree:
  """A table of facts and their values."""
  rows = [{'fact': k.replace('_', ' '), 'value': v} for k, v in known.items()]
  return table(rows)


def figure(plot: str, name: str, caption: str, **data: Any) -> Tree:
  """A picture: pictures/plots.py's function `plot`, called with `data`."""
  return {
    **{'part': 'figure', 'plot': plot, 'name': name, 'caption': caption},
    'data': plain(data),
  }


def texts(
  rows: Sequence[Mapping[Any, Any]],
  versions: Sequence[str] = ('text', 'twin'),
  blur: bool | None = None,
) -> Tree:
  """Versions of a text, with the words that differ from the first marked.

  The other columns of a row stand below its texts. With `blur` there is a
  switch that makes them unreadable, for texts that offend; True: it is on.
  """
  return {
    'part': 'texts',
    'rows': [dict(row) for row in rows],
    'versions': list(versions),
    **({} if blur is None else {'blur': blur}),
  }


def fold(title: str, *parts: Mapping[Any, Any]) -> Tree:
  """Parts that are shown when asked for."""
  return {'part': 'fold', 'title': title, 'parts': list(parts)}
