"""Labels as numbers: a mapping, a threshold, or what the column says.

Class 1 of two is the one to detect (toxic, spam, yes). Where the words
do not say which that is, or where case, gaps or another file's words would
make another task of the same data, the sentence holds the rule to give.
"""

import re
import shlex
from collections.abc import Sequence, Set

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, count, shown
from fairjax.data import word_tables
from fairjax.data.tables import schema
from fairjax.data.tables.readers import refuse, source
from fairjax.data.tables.schema import Tables

WORDS = word_tables.read(__file__, 'label_words.csv')
MISSING = WORDS.missing | {''}
SPREADSHEET = re.compile(
  r'\s*#(NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!|N/A|SPILL!|CALC!)\s*'
)
MOST = 1000  # classes; more is no label column
SHOWN = 8  # labels in a sentence
WHOLE = r'^(-?[0-9]+)\.0*$'
BARE = re.compile(r'(?i)-?[0-9.]+|true|false')  # says nothing of a class

NO, YES = WORDS.no, WORDS.yes
ABSENT, PRESENT = NO | WORDS.absent, YES | WORDS.present
# Two words that say it only beside each other: OFF is offensive beside NOT.
PAIRS = (('off', 'on'),)
ASKED = ({'bad', 'good'},)  # of a review, or of a comment to be removed
ROUND = 'round'
NEGATIONS = ('not', 'non', 'no', 'un', 'in', 'im', 'dis')


def number(
  tables: Tables, rule: str | dict[str, int], name: str
) -> dict[str, int] | str:
  """Turns each table's `label` into Int64 (missing: NA), in place.

  `rule` is 'BAD=1,NOT_BAD=0' (or as a dict), a threshold '>0.5' or '>=0.5',
  'round' for scores from 0 as ordered classes (half goes up), or '' for whole
  numbers from 0 as they are, two words whose sides are known, and else the
  sorted classes of all tables as 0, 1, ….
  Returns what was applied; the classes' names are in attrs['classes'].
  """
  if isinstance(rule, str) and rule.strip()[:1] == '>':
    for table in tables.values():
      table['label'], names = _above(table, rule.strip(), name)
      table.attrs['classes'] = names
    return rule.strip()
  if isinstance(rule, str) and rule.strip() == ROUND:
    for table in tables.values():
      table['label'] = _rounded(table, name)
    most = max(int(table['label'].max()) for table in tables.values())
    for table in tables.values():
      table.attrs['classes'] = tuple(map(str, range(most + 1)))
    return ROUND
  mapping = _parse(rule.strip()) if isinstance(rule, str) else rule
  cells = {s: _cells(t, set(mapping)) for s, t in tables.items()}
  mapping = mapping or _guess(tables, cells, name)
  for split, table in tables.items():
    unknown = cells[split].notna() & ~cells[split].isin(mapping)
    why = f'--config.data.labels does not map ({_cut(_rule(mapping))})'
    refuse(table, cells[split], unknown, name, f'which {why}; add it there')
    table['label'] = cells[split].map(mapping).astype('Int64')
    table.attrs['classes'] = _names(mapping)
  return mapping


def check(tables: Tables) -> list[str]:
  """Refuses labels that cannot be learned; says what a rule maps in vain.

  Training rows must have two classes or more, all from 0 without gaps, and no
  other split may have one that they have not.
  """
  train, names = tables['train'], class_names(tables)
  name = train.attrs.get('label', 'label')
  known = sorted(set(train['label']))
  have = f'they have {_list(names[k] for k in known)}'
  for table in tables.values():
    others = sorted(set(table['label']) - set(known))
    if others:
      some = _list(names[k] for k in others)
      raise UserError(
        f'{source(table)} has {some} in column {name!r}, which no training '
        f'row has ({have}); say which class that is with '
        '--config.data.labels=NAME=NUMBER,NAME=NUMBER, or leave such rows out'
      )
  if len(known) < 2:
    raise UserError(
      f'all {len(train)} training rows of {source(train)} have the label '
      f'{_list(names[k] for k in known)} in column {name!r}; a classifier '
      'needs two: name another column with --config.data.label'
    )
  if known[-1] + 1 > len(known):
    gap = min(set(range(known[-1])) - set(known))
    raise UserError(
      f'data.labels maps {names[gap]!r} to {gap}, and no training row has it '
      f'({have}); number the others without it'
    )
  classes = train.attrs.get('classes', ())
  return [
    f'data.labels maps {one!r} to {k}, which no row has'
    for k, one in enumerate(classes)
    if k > known[-1]
  ]


def unseen(usable: Tables, used: Tables) -> list[str]:
  """Says which classes no training row has any more, of those drawn."""
  known, names = set(used['train']['label']), class_names(usable)
  sentences = []
  for k in sorted(set(usable['train']['label']) - known):
    left = [
      f'{count(int(rows), "row")} of {split}'
      for split, table in used.items()
      if (rows := (table['label'] == k).sum())
    ]
    sentences.append(
      f'data.limit draws no training row of {_list([names[k]])}, so that no '
      f'model can learn it; it stands in {" and ".join(left) or "no other row"}'
    )
  return sentences


def offensive(classes: Sequence[str]) -> bool:
  """Whether the classes say that some texts may be hard to read."""
  words = {w for c in classes for w in re.findall(r'[a-z]+', c.lower())}
  return bool(words & WORDS.offensive)


def class_names(tables: Tables) -> tuple[str, ...]:
  """The name of each class of these tables, class 0 first."""
  classes = schema.classes(tables)
  for table in tables.values():
    names = tuple(table.attrs.get('classes', ()))
    if len(names) >= classes:
      return names[:classes]
  return tuple(map(str, range(classes)))


def titles(names: Sequence[str], column: str) -> list[str]:
  """Names of classes for people: numbers with their column's.

  >>> titles(('0', '1'), 'toxic')
  ['toxic = 0', 'toxic = 1']
  """
  bare = column != 'label' and all(map(BARE.fullmatch, names))
  return [f'{column} = {name}' if bare else name for name in names]


def number_of(label: object, names: Sequence[str]) -> int | None:
  """The number of the class of this name, or else of this number."""
  if isinstance(label, int):
    return label
  low = [one.casefold() for one in names]
  wanted = str(label).casefold()
  if wanted in low:
    return low.index(wanted)
  known = wanted.isdecimal() and int(wanted) < max(len(low), 2)
  return int(wanted) if known else None


def choose_positive(config, names: Sequence[str]) -> None:
  """Makes `measures.pos_label` a number, where it is the name of a label."""
  label = config.measures.pos_label
  number = number_of(label, names)
  if number is None:
    raise UserError(
      f'measures.pos_label is {label!r}; the labels are '
      f'{_list(names) or "0 and 1"}'
    )
  config.measures.pos_label = number


def positive(tables: Tables, pos_label: int) -> str:
  """The name of the class `measures.pos_label`, or a sentence without one."""
  names = class_names(tables)
  if not 0 <= pos_label < len(names):
    classes = ', '.join(f'{k} {n!r}' for k, n in enumerate(names[:SHOWN]))
    raise UserError(
      f'measures.pos_label is {pos_label}; the classes are {classes}'
      + (', …' if len(names) > SHOWN else '')
    )
  return names[pos_label]


def sentence(tables: Tables, pos_label: int) -> str:
  """Which number is which class, and which of two is the positive one."""
  names, chosen = class_names(tables), positive(tables, pos_label)
  what = 'training row' if 'train' in tables else 'row'
  rows = tables.get('train', next(iter(tables.values())))
  counts = rows['label'].value_counts()
  text = ', '.join(
    f'{k} is {name!r} ({count(counts.get(k, 0), what)})'
    for k, name in enumerate(names[:SHOWN])
  )
  if len(names) == 2:
    return f'labels: {text}; positive is {chosen!r}'
  more = f' and {len(names) - SHOWN} more' if len(names) > SHOWN else ''
  return f'labels: {text}{more}'


def _cut(text: str, most: int = 60) -> str:
  return text if len(text) <= most else text[:most] + '…'


def _list(names) -> str:
  names = [shown(name) for name in names]
  more = ', …' if len(names) > SHOWN else ''
  return ', '.join(names[:SHOWN]) + more


def _names(mapping: dict[str, int]) -> tuple[str, ...]:
  """The words of each class; several of one class stand side by side."""
  words: dict[int, list[str]] = {}
  for word, number in mapping.items():
    words.setdefault(number, []).append(word)
  return tuple('/'.join(words.get(k, ())) for k in range(1 + max(words)))


def _cells(table: pd.DataFrame, names: Set[str] = frozenset()) -> pd.Series:
  """Label cells as literal strings, '1.0' as '1'; None where there is none."""
  values = table['label']
  missing = values.isna()
  if values.dtype in (np.float16, np.float32):  # .7 is .7, not .699999988
    values = values.astype(str).astype(float)
  if pd.api.types.is_float_dtype(values):
    whole = missing | ((values == np.floor(values)) & (values.abs() < 2**53))
    if whole.all():
      values = values.astype('Int64')
  cells = values.astype(object).map(str).str.strip()
  cells = cells.str.replace(WHOLE, r'\1', regex=True)
  missing |= cells.isin(MISSING - names)
  missing |= cells.str.fullmatch(SPREADSHEET.pattern) & ~cells.isin(names)
  return cells.astype(object).where(~missing, None)


def _parse(rule: str) -> dict[str, int]:
  if not rule:
    return {}
  mapping = {}
  for part in rule.split(','):
    name, equals, value = part.rpartition('=')
    if not equals or not re.fullmatch(r'\s*[0-9]{1,6}\s*', value):
      raise UserError(
        f'data.labels has {shown(part.strip())} in {shown(rule)}; write '
        "NAME=NUMBER,NAME=NUMBER (as 'BAD=1,NOT_BAD=0') or a threshold "
        "(as '>0.5')"
      )
    mapping[re.sub(WHOLE, r'\1', name.strip())] = int(value)
  numbers = sorted(set(mapping.values()))
  if numbers != list(range(len(numbers))):
    raise UserError(
      f'data.labels is {shown(rule)} and its numbers are '
      f'{_cut(str(numbers))}; classes count 0, 1, 2, … without gaps'
    )
  return mapping


def _above(table: pd.DataFrame, rule: str, name: str):
  match = re.fullmatch(r'>(=?)\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)', rule)
  try:
    limit = float(match[2]) if match else np.nan
    if not match or not np.isfinite(limit):
      raise ValueError
  except (TypeError, ValueError) as error:
    raise UserError(
      f"data.labels is {shown(rule)}; write a threshold such as '>0.5' or "
      "'>=0.5'"
    ) from error
  cells, numbers = _numbers(table, rule, name)
  above = numbers >= limit if match[1] else numbers > limit
  low, high = ('<', '>=') if match[1] else ('<=', '>')
  names = (f'{name} {low} {limit:g}', f'{name} {high} {limit:g}')
  return above.astype('Int64').where(cells.notna(), pd.NA), names


def _rounded(table: pd.DataFrame, name: str) -> pd.Series:
  """Scores as the nearest whole number."""
  cells, numbers = _numbers(table, ROUND, name)
  why = f'and --config.data.labels={ROUND!r} takes scores from 0 to {MOST}'
  refuse(table, cells, (numbers < 0) | (numbers > MOST), name, why)
  whole = np.floor(numbers + 0.5)
  return whole.astype('Int64').where(cells.notna(), pd.NA)


def _numbers(
  table: pd.DataFrame, rule: str, name: str
) -> tuple[pd.Series, pd.Series]:
  """Label cells, and the numbers that they are; NaN where there is none."""
  cells = _cells(table)
  numbers = pd.to_numeric(cells, errors='coerce').astype(float)
  wrong = cells.notna() & ~np.isfinite(numbers)
  why = (
    f'which is no number to hold against {shown(rule)}; map the names with '
    "--config.data.labels='NAME=1,NAME=0'"
  )
  refuse(table, cells, wrong, name, why)
  return cells, numbers


def _guess(
  tables: Tables, cells: dict[str, pd.Series], name: str
) -> dict[str, int]:
  """Whole numbers from 0 are themselves; words as `_word_classes` says.

  Refused, with the rule to give: gaps, words of one sense, words among
  numbers, and two words that do not say which is positive.
  """
  all_cells = pd.concat(list(cells.values())).dropna()
  values = sorted(all_cells.unique())
  where = source(next(iter(tables.values())))
  if not values:
    raise UserError(
      f'{where} has no label in any cell of column {name!r}; name the right '
      'column with --config.data.label'
    )
  has = f'{where} has the labels {_list(values)} in column {name!r}'
  many = (
    f'{where} has {len(values)} different labels in column {name!r}, such as '
    f"{shown(values[-1])}; give a threshold (--config.data.labels='>=0.5') or "
    'another column (--config.data.label)'
  )
  if len(values) > MOST:
    raise UserError(many)
  whole = [v for v in values if re.fullmatch('-?[0-9]+', v)]
  if len(whole) == len(values):
    if max(map(len, values)) > 12:
      raise UserError(many)
    return _counted(values, has)
  if pd.to_numeric(pd.Series(values), errors='coerce').notna().all():
    raise UserError(
      f'{where} has fractions in column {name!r}, such as '
      f'{shown(values[-1])}; give a threshold with '
      "--config.data.labels='>=0.5' (or 'round' for scores as classes)"
    )
  if whole:
    word = next(v for v in values if v not in whole)
    raise UserError(
      f'{has}: {shown(word)} is no number and others are; number them all '
      f'with {flag({v: i for i, v in enumerate(values)})}'
    )
  return _word_classes(values, has)


def _counted(values: list[str], has: str) -> dict[str, int]:
  """Whole numbers, which must be 0 … C-1 (or one class alone)."""
  mapping = {v: int(v) for v in values}
  numbers = sorted(set(mapping.values()))
  if numbers == list(range(len(numbers))) or numbers == [1]:
    return mapping
  flags = flag({str(n): i for i, n in enumerate(numbers)})
  raise UserError(f'{has}; classes count from 0 without gaps: add {flags}')


def _word_classes(values: list[str], has: str) -> dict[str, int]:
  """Words as classes: two by their sides, more in sorted order."""
  keys = [_key(value) for value in values]
  if len(keys) > 2 and all(key in NO | YES for key in keys):
    mapping = flag({v: int(k in YES) for v, k in zip(values, keys)})
    raise UserError(f'{has}; some mean the same: add {mapping}')
  if len(set(keys)) < len(keys):
    order = _order(sorted(set(keys))) or sorted(set(keys))
    mapping = flag({v: order.index(k) for v, k in zip(values, keys)})
    raise UserError(f'{has}; some differ in case or blanks only: add {mapping}')
  if len(values) == 1 and side(values[0]) == 1:
    return {values[0]: 1}  # as the number 1 alone
  if len(values) != 2:
    return {v: i for i, v in enumerate(values)}
  order = _order(keys)
  if not order:
    mapping = flag({v: i for i, v in enumerate(values)})
    raise UserError(
      f'{has}, and does not say which is the positive class; say it with '
      f'{mapping}, or the other way round'
    )
  return {values[keys.index(key)]: i for i, key in enumerate(order)}


def side(name: str) -> int | None:
  """Which of two classes a word or a number says by itself that it is."""
  key = _key(name)
  if any(key in pair for pair in ASKED):
    return None
  if key in PRESENT or key in ABSENT:
    return int(key in PRESENT)
  stems = {key.removeprefix(n) for n in NEGATIONS if key.startswith(n)}
  return 0 if stems & PRESENT else 1 if stems & ABSENT else None


def class_order(names: list[str]) -> list[str]:
  """Two names of classes, class 0 first; [] where words do not say it."""
  keys = [_key(name) for name in names]
  found = _order(keys)
  return [names[keys.index(key)] for key in found]


def only_negated(names: list[str]) -> bool:
  """Whether all that two names say is that one is not the other, as of
  acceptable and unacceptable; which one is looked for is a custom then."""
  one, other = sorted(map(_key, names), key=len)
  return side(one) is None and any(other == n + one for n in NEGATIONS)


def _key(name: str) -> str:
  return re.sub(r'[\s_-]+', '', name).casefold()


def _order(keys: list[str]) -> list[str]:
  """Two words, that of class 0 first; [] where that is not known."""
  if len(keys) != 2:
    return []
  if set(keys) in ASKED:
    return []
  for pair in PAIRS:
    if set(pair) == set(keys):
      return list(pair)
  apart = [key in WORDS.rest for key in keys]
  if any(apart) and not all(apart):  # as in OFF and NOT
    return keys if apart[0] else keys[::-1]
  side = [(key in PRESENT) - (key in ABSENT) for key in keys]
  if side[0] != side[1]:
    return keys if side[0] < side[1] else keys[::-1]
  for one, other in (keys, keys[::-1]):
    if any(one == negation + other for negation in NEGATIONS):
      return [one, other]
  return []


def flag(mapping: dict[str, int]) -> str:
  """The flag that sets `data.labels` to a mapping, as a shell reads it."""
  rule = _rule(mapping)
  if len(rule) > 200 or any(',' in name for name in mapping):
    return '--config.data.labels=NAME=0,NAME=1,…'
  quoted = shlex.quote(rule)
  return '--config.data.labels=' + (quoted if quoted != rule else f"'{rule}'")


def _rule(mapping: dict[str, int]) -> str:
  order = sorted(mapping, key=lambda name: (mapping[name], name))
  return ','.join(f'{name}={mapping[name]}' for name in order)
