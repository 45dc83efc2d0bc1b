"""The edits of an audit: each text's swap and its matched control, scored.

A swap is by word lists ('gender' with first names, 'neutral', another axis of
pairs/axes, a file of word groups; 'auto' takes the axes of the groups that are
compared) or a column of texts that anything wrote ('column:twin'). Its control
edits as many words of the same text that show no group (swapping/controls.py).
Every different text is scored once.
"""

import functools
import os
import pathlib
import re
from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.config import Config, changed
from fairjax.config.axes import AXES
from fairjax.core import alignment, all_cores, announce
from fairjax.core.errors import UserError
from fairjax.data.tables.files import column
from fairjax.metrics.groups import Groups
from fairjax.metrics.texts.flips import EditScores
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import (
  axis_values,
  controls,
  dictionary,
  english,
  word_lists,
)
from fairjax.report import written

AXIS = frozenset('gender genders sex sexes'.split())  # what people call it
GENDERS = frozenset(
  'female male woman man women men girl boy girls boys f m'.split()
)
TOKEN = re.compile(r'\w+')
BLOCK = 1 << 14  # rows that a process edits at once


class Words(NamedTuple):
  """What each row's edit exchanged: one copy of a pair, however many have it.

  Numbers, so that a million rows pass between processes in little time.
  """

  pairs: list[tuple[str, str]]  # (old, new), as they stand in texts
  which: np.ndarray  # of each edited word its pair, row after row
  counts: np.ndarray  # [n] words of each row

  def by_row(self) -> Callable[[int], list[tuple[str, str]]]:
    """The pairs of a row."""
    ends, n = np.cumsum(self.counts), self.counts
    return lambda row: [
      self.pairs[k] for k in self.which[ends[row] - n[row] : ends[row]].tolist()
    ]


class Edits(NamedTuple):
  """One swap of every row."""

  name: str
  what: str  # that it exchanges, as in 'exchanging …'
  axis: str  # whose words these are; '' of no known one
  words: frozenset[str] | None  # of its list; None of texts that stand written
  twins: list[str]  # equal to the text where nothing was edited
  controls: list[str | None]
  exchanged: Words
  side: np.ndarray  # as metrics.texts.flips.EditScores
  values: tuple[str, ...]  # of an axis of more than two sides
  wording: np.ndarray  # [2, n]: the one that the text, and its twin, names
  facts: dict
  remarks: list[str]

  @property
  def edited(self) -> np.ndarray:
    return self.exchanged.counts > 0


def chosen(config: Config, groups: Groups) -> Config:
  """The config whose audit.swaps name what 'auto' stands for."""
  if 'auto' not in config.audit.swaps:
    return config
  words, all_kinds = _genders(), kinds(groups)
  axes = [
    a for a in AXES if any(_about(a, words, groups, k) for k in all_kinds)
  ]
  swaps = [
    one
    for name in config.audit.swaps
    for one in ((axes or ['gender']) if name == 'auto' else [name])
  ]
  return changed(config, audit={'swaps': (*dict.fromkeys(swaps),)})


def kinds(groups: Groups) -> list[str]:
  return [kind for kind in groups.kinds if ' × ' not in kind]


def _about(axis: str, words: Container[str], groups: Groups, kind: str) -> bool:
  """Do two groups of an attribute differ by what a swap exchanges?

  By the axis, two groups that name different values of it; of words that are
  known by no values, two groups that these name. An attribute that is called
  gender is about it, whatever its groups are called.
  """
  own = groups.of(kind).names
  named = [name.rpartition(': ')[2].casefold() for name in own]
  if axis not in ('', 'gender'):
    return len({*map(exchange.reader(axis), named)} - {''}) > 1
  called = re.findall('[a-z]+', kind.casefold())
  known = [any(w in words for w in (n, *TOKEN.findall(n))) for n in named]
  return (axis == 'gender' and not AXIS.isdisjoint(called)) or sum(known) > 1


def _genders() -> frozenset[str]:
  return GENDERS.union(*word_lists.gender().rows)


def make(config: Config, table: pd.DataFrame) -> list[Edits]:
  """Each of audit.swaps, in order; none where there is no text."""
  if 'text' not in table:
    for name in config.audit.swaps:
      if name.startswith('column:'):
        raise UserError(
          f'audit.swaps has {name!r}, but the data has no text whose twin it '
          'could be; name the column of the text with --config.data.text'
        )
    return []
  texts = list(table['text'])
  return [_one(name, texts, table, config) for name in config.audit.swaps]


class EditedRows(NamedTuple):
  """Some rows of a swap: what it wrote, and the value that each text names."""

  twins: list[str]  # of a block '' where a text is unchanged
  controls: list[str | None]
  exchanged: Words
  left: np.ndarray  # whether words stayed that have no sure counterpart
  side: np.ndarray
  wording: np.ndarray


def _one(name: str, texts: list[str], table, config: Config) -> Edits:
  words, axis, foreign, options = None, '', False, {}
  values: tuple[str, ...] = ()
  if name.startswith('column:'):
    twins = list(column(table, name.removeprefix('column:'), 'audit.swaps'))
    twins = [
      twin if isinstance(twin, str) and twin.strip() else text
      for text, twin in zip(texts, twins)
    ]
    how = 'the texts of a column'
  else:
    twins, options = texts, _options(name, config)
    how, axis = 'word lists and rules', options['axis']
    if axis != 'gender':
      words, values = exchange.words(axis), exchange.values(axis)
      if len(values) > 2 and options['direction'] == 'opposite':
        how += '; a text turns to one other value, drawn by the seed'
    else:
      known = word_lists.load(options['words'])
      foreign = bool(known.sides) and not word_lists.is_english(known.rows)
      words = frozenset(word for row in known.rows for word in row)
      axis = 'gender' if known.sides else ''
      words |= _genders() if known.sides else frozenset()
  seed = config.seed if config.audit.control else None
  made = functools.partial(_written, options=options, axis=axis, seed=seed)
  out = _in_blocks(made, texts, twins)
  edited = out.exchanged.counts > 0
  controlled = sum(text is not None for text in out.controls)
  facts = {
    'swap': _shown(name),
    'by': how,
    'rows edited': int(edited.sum()),
    'share of rows': float(edited.mean()),
    'words changed a row': float(
      out.exchanged.counts[edited].mean() if edited.any() else 0
    ),
    'rows with words left as they are': int(out.left.sum()),
    'rows with a control': int(controlled),
  }
  facts |= _against_twins(table, out.twins, edited, name)
  return Edits(
    *(_shown(name), _what(name), axis, words, out.twins, out.controls),
    *(out.exchanged, out.side, values, out.wording, facts),
    written.lines(
      'edit_remarks.txt',
      **{'name': repr(_shown(name)), 'foreign': foreign},
      **{'share': english.share(texts)[0], 'known': english.KNOWN},
      **{'rows': facts['rows edited'], 'controlled': int(controlled)},
    ),
  )


def _in_blocks(
  made: Callable[..., EditedRows], texts: list[str], twins: list[str]
) -> EditedRows:
  """The rows of all blocks, made by all cores."""
  cuts = range(0, len(texts), BLOCK)
  blocks = [(texts[k : k + BLOCK], twins[k : k + BLOCK]) for k in cuts]
  new, written = list[str](), list[str | None]()
  number: dict[tuple[str, str], int] = {}
  parts = []
  with announce.counting(len(texts), 'texts edited') as add:
    for (own, _), one in zip(blocks, all_cores.in_order(made, blocks)):
      new += [w or t for t, w in zip(own, one.twins)]
      written += one.controls
      pairs, which, counts = one.exchanged
      ours = [number.setdefault(pair, len(number)) for pair in pairs]
      parts.append((np.array(ours, np.int32)[which], counts, *one[3:]))
      add(len(own))
  which, counts, *rest = (np.concatenate(each, -1) for each in zip(*parts))
  return EditedRows(new, written, Words([*number], which, counts), *rest)


def _written(
  block: tuple[list[str], list[str]], options: dict, axis: str, seed: int | None
) -> EditedRows:
  """The edits of some texts; without options the twins stand written."""
  texts, twins = block
  left, side = np.zeros(len(texts), bool), np.zeros(len(texts), np.int64)
  wording = np.full((2, len(texts)), axis_values.NEITHER)
  if not options:
    spans = [differences(a, b) for a, b in zip(texts, twins)]
  else:
    swapped = dictionary.swap(texts, **options)
    twins, spans = swapped.texts, swapped.spans
    left = np.array(swapped.left) > 0
  if axis == 'gender':
    turned = spans if options['direction'] == 'opposite' else None
    # male is 0, female 1
    named = axis_values.single(texts, spans=turned, **options)
    side = np.where(named < 0, 0, 2 * named - 1)
  elif axis:
    wording = axis_values.single([*texts, *twins], axis).reshape(2, -1)
  written: list[str | None] = [None] * len(texts)
  if seed is not None:
    written = controls.controls(texts, spans, seed).texts
  new = [w if w != t else '' for t, w in zip(texts, twins)]
  return EditedRows(new, written, exchanged(spans), left, side, wording)


def exchanged(spans: Sequence[Sequence[dictionary.Span]]) -> Words:
  """The words of each row's spans."""
  number: dict[tuple[str, str], int] = {}
  every = (span[2:] for each in spans for span in each)
  which = [number.setdefault(pair, len(number)) for pair in every]
  counts = np.fromiter(map(len, spans), np.int64, len(spans))
  return Words([*number], np.array(which, np.int32), counts)


def _options(name: str, config: Config) -> dict:
  """How the rules swap for an entry of audit.swaps."""
  if name == 'gender':
    how: dict = {'axis': 'gender'}
  elif name == 'neutral':
    how = {'direction': 'neutral', 'words': None}
  elif name in AXES:
    how = {'axis': name, 'direction': 'opposite', 'words': None, 'names': None}
  elif os.path.isfile(os.path.expanduser(name)):
    how = {'words': name, 'axis': 'gender', 'direction': 'opposite'}
  else:
    raise UserError(
      f"audit.swaps has {name!r:.80}; name 'auto', 'neutral', "
      f'{", ".join(AXES)}, a '
      "file of word groups, or 'column:NAME' for texts in a column of the data"
    )
  return dictionary.options(config.method, config.seed, **how)


def _shown(name: str) -> str:
  if name.startswith('column:'):
    return name.removeprefix('column:')
  return pathlib.Path(name).stem


def _what(name: str) -> str:
  """What a swap exchanges, in words."""
  if name in ('gender', 'neutral'):
    return 'words that show gender'
  if name in AXES:
    return f'words that show {exchange.called(name)}'
  if name.startswith('column:'):
    return f'texts for those of column ‘{_shown(name)}’'
  return f'words of the list ‘{_shown(name)}’'


def fitting(edits: Edits, groups: Groups) -> list[str]:
  """The attributes whose groups the swap exchanges; texts that anybody wrote
  are taken to be about all of them."""
  if edits.words is None:
    return kinds(groups)
  return [
    kind
    for kind in kinds(groups)
    if _about(edits.axis, edits.words, groups, kind)
  ]


def misfit(edits: Sequence[Edits], groups: Groups) -> list[str]:
  """What is exchanged where no swap is about the groups that are compared."""
  if not kinds(groups) or any(fitting(one, groups) for one in edits):
    return []
  return [*dict.fromkeys(one.what for one in edits)]


def differences(text: str, twin: str) -> list[dictionary.Span]:
  """The words in which two texts differ, as spans of the first."""
  if text == twin:
    return []
  old = [*re.finditer(r'\w+|\W', text)]
  new = re.findall(r'\w+|\W', twin)
  out = []
  for kind, a, b, c, d in alignment.changes([m[0] for m in old], new):
    if kind == 'equal':
      continue
    start = old[a].start() if a < len(old) else len(text)
    end = old[b - 1].end() if b > a else start
    out.append((start, end, text[start:end], ''.join(new[c:d])))
  return out


def _against_twins(table, twins, edited, name: str) -> dict:
  """How often the swap writes the twin that the data itself has."""
  if 'twin' not in table or name != 'gender':
    return {}
  gold = table['twin'].to_numpy(object)
  has_twin = np.array([isinstance(g, str) for g in gold])
  differs = has_twin & (gold != table['text'].to_numpy(object))
  if not differs.any():
    return {}
  equal = np.array([a == b for a, b in zip(twins, gold)])
  return {
    'rows with a twin in the data': int(differs.sum()),
    'of these, edited': float(edited[differs].mean()),
    'edited rows that equal it': float(equal[differs & edited].mean())
    if (differs & edited).any()
    else None,
  }


def score(
  edits: Edits,
  texts: Sequence[str],
  scores: np.ndarray,
  predict: Callable[[Sequence[str]], np.ndarray],
) -> EditScores:
  """The scores [s, n, …] of the swapped and the controlled texts."""
  edited = edits.edited
  have = np.array([text is not None for text in edits.controls], bool)
  wanted = [t for t, e in zip(edits.twins, edited) if e]
  wanted += [t for t in edits.controls if t is not None]
  at: dict[str | None, int] = {}
  for k, text in enumerate(texts):
    at.setdefault(text, k)
  new = list(dict.fromkeys(t for t in wanted if t not in at))
  at |= {text: k for k, text in enumerate(new, len(texts))}
  every = np.concatenate([scores, predict(new)], 1) if new else scores

  def of(rows: np.ndarray, column: Sequence[str | None]) -> np.ndarray:
    out = scores.copy()
    for row in np.flatnonzero(rows).tolist():
      out[:, row] = every[:, at[column[row]]]
    return out

  return EditScores(
    edited, of(edited, edits.twins), have, of(have, edits.controls), edits.side
  )
