"""Identity-term test sets: short sentences from templates and word lists.

A templates file (csv: template, toxicity, phrase) holds phrases with slots,
in the format of Jigsaw's newer generator: `{type|adjective_connotation|toxic}`
stands for every word whose row in the words file (csv: type, subtype,
connotation, word) has that type and connotation. A pairs file has, instead of
`word`, one column a group, as `male,female`; the column's name is the group's.

Every phrase is written with every word, once a group, and each row knows its
twin: this is the demographic parity of Zayed et al. 2023 as the paper defines
it. Files that others published (Dixon et al. 2018) are read as they are.

All are tables of the house's schema with a column `template`. Scores on them
are evidence about templates. A perfect predictor's DP on a set may be below 1:
read `dp_floor` beside every DP.
"""

import hashlib
import itertools
import pathlib
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, nearest
from fairjax.data import TEST_SETS as TEST_SETS
from fairjax.data.axes import table as axes
from fairjax.data.sets.template_lists import (
  SHIPPED,
  groups_of,
  labels_of,
  read_csv,
  read_list,
  read_templates,
  read_words,
)
from fairjax.data.tables.terms import exclusive

SLOT = re.compile(r'\{([^{}]*)\}')


# The test sets by name: load(config) -> DataFrame.


def identity(config) -> pd.DataFrame:
  """The paired set, ours or from the user's folder `measures.templates`.

  The folder may hold `templates.csv`, `words.csv` and `pairs.csv`; ours stand
  in for those it does not hold. A file's name stands for a templates file.
  """
  files = {name: SHIPPED / f'{name}.csv' for name in ('templates', 'words')}
  files['pairs'] = SHIPPED / 'pairs.csv'
  folder = pathlib.Path(config.measures.templates or SHIPPED)
  if folder.is_dir():
    own = {name: folder / f'{name}.csv' for name in files}
    own = {name: path for name, path in own.items() if path.exists()}
    if not own:
      raise UserError(
        f'{folder} holds none of templates.csv, words.csv and pairs.csv; put '
        'one there or leave measures.templates empty'
      )
    files |= own
  else:
    files['templates'] = folder
  templates = read_templates(files['templates'])
  words, pairs = (read_words(files[name]) for name in ('words', 'pairs'))
  axis = config.method.axis
  if axis != 'gender':
    if files['pairs'].parent != SHIPPED:
      raise UserError(
        f'method.axis is {axis!r}, and {files["pairs"]} names groups of its '
        'own; leave one of the two out'
      )
    pairs = axis_pairs(axis)
    templates = _with_slots(templates, pairs, axis)
  return paired(templates, words, pairs, config.seed)


def axis_pairs(axis: str) -> pd.DataFrame:
  """The pairs file of an axis: words for one person and for several, parallel.

  Rows of which each value has a word, and the adjectives before 'person'.
  """
  known = axes.load(axis)
  subtypes = {'noun': 'singular', 'nouns': 'plural'}
  rows = [
    (subtypes[row.form], *(cell[0].text for cell in row.cells))
    for row in known.rows
    if row.form in subtypes and all(row.cells)
  ]
  for row in known.rows:
    if row.form == 'adjective' and all(row.cells):
      for subtype, noun in (('singular', 'person'), ('plural', 'people')):
        rows.append((subtype, *(f'{c[0].text} {noun}' for c in row.cells)))
  if not rows:
    raise UserError(
      f'the axis {known.name} has no line (noun, nouns, adjective) with a word '
      'of each value, so there are no templates; fill one'
    )
  pairs = pd.DataFrame(rows, columns=['subtype', *known.values])
  pairs = pairs.drop_duplicates(['subtype', known.values[0]])
  return pairs.assign(type='gender', connotation='')


def _with_slots(
  templates: pd.DataFrame, pairs: pd.DataFrame, axis: str
) -> pd.DataFrame:
  """The templates whose slots of people the axis can fill: no first names."""
  have = set(pairs['subtype'])
  fits = [
    all(
      slot.get('subtype') in have
      for slot in _slots(phrase)
      if slot['type'] == 'gender'
    )
    for phrase in templates['phrase']
  ]
  if not any(fits):
    raise UserError(
      f'no template has a slot that the words of {axis} fit '
      f'({", ".join(sorted(have))}); write {{type|gender_subtype|plural}}'
    )
  return templates[fits].reset_index(drop=True)


def madlibs(config) -> pd.DataFrame:
  """`bias_madlibs_77k.csv` at `measures.madlibs`."""
  path = _given(config.measures.madlibs, 'madlibs', 'bias_madlibs_77k.csv')
  terms = config.measures.groups
  terms = terms[6:] if terms.startswith('terms:') else SHIPPED / 'terms.txt'
  return read_madlibs(path, read_list(terms))


def gender_file(config) -> pd.DataFrame:
  """A `text,gender,Class` file at `measures.gender_file`."""
  what = 'a csv with the columns text, gender and Class'
  path = _given(config.measures.gender_file, 'gender_file', what)
  return read_gender_file(path)


def _given(path: str, knob: str, what: str) -> str:
  if not path:
    raise UserError(
      f'measures.{knob} is empty; name your copy of {what} with '
      f'--config.measures.{knob}'
    )
  return path


def paired(
  templates: pd.DataFrame,
  words: pd.DataFrame,
  pairs: pd.DataFrame,
  seed: int = 0,
) -> pd.DataFrame:
  """Every phrase with every word, once for each of the groups of `pairs`.

  The rows of one phrase stand together, and their ids differ in the group's
  name at the end only. Of two groups each is the other's `twin`; of more, a
  row's twin is that of one other group, the same step along them, drawn by the
  seed and the phrase. Slots of one phrase whose type is in `pairs` all take
  the row's group.
  """
  groups = groups_of(pairs)
  if len(groups) < 2:
    raise UserError(
      f'the pairs have the groups {groups}; a paired set needs two columns or '
      'more beside type, subtype and connotation'
    )
  parts = []
  for row in templates.itertuples():
    slot_flags = _slots(row.phrase)
    if not any(slot['type'] in set(pairs['type']) for slot in slot_flags):
      raise UserError(
        f'template {row.phrase!r} has no slot of the pairs '
        f'({_some(pairs["type"])}), so that its two texts would be one'
      )
    texts = []
    for group in groups:
      both = pd.concat([words, pairs.rename(columns={group: 'word'})])
      slots = [_choices(slot, both, row.phrase) for slot in slot_flags]
      texts.append(_fill(row.phrase, slots))
    stems = [_stem(row, text) for text in texts[0]]
    every, at = np.stack(texts), np.arange(len(stems))
    steps = [1 + _draw(seed, stem, len(groups) - 1) for stem in stems]
    both = [
      pd.DataFrame(
        {
          'id': [f'{stem}-{name}' for stem in stems],
          'text': texts[g],
          'label': row.label,
          'group': name,
          'template': row.template,
          'twin': every[(g + np.array(steps)) % len(groups), at],
        }
      )
      for g, name in enumerate(groups)
    ]
    # A stable sort by place puts each row beside its twin.
    parts.append(pd.concat(both).sort_index(kind='stable'))
  return _table(parts)


def _draw(seed: int, stem: str, size: int) -> int:
  digest = hashlib.blake2b(f'{seed}:{stem}'.encode()).digest()
  return int.from_bytes(digest[:8], 'big') % size


# Readers.


def read_madlibs(path, terms: Sequence[str]) -> pd.DataFrame:
  """`bias_madlibs_77k.csv`: Text, Label (BAD, NOT_BAD), Template.

  The group is the first of `terms` in the text, longer terms first (so that
  `african american` is not `african`), '' where there is none.
  """
  table = read_csv(path, ('Text', 'Label', 'Template'))
  return pd.DataFrame(
    {
      'id': [f'madlibs-{k}' for k in range(len(table))],
      'text': table['Text'],
      'label': labels_of(path, table['Label'], {'BAD': 1, 'NOT_BAD': 0}),
      'group': exclusive(table['Text'], terms),
      'template': table['Template'],
    }
  )


def read_gender_file(path) -> pd.DataFrame:
  """A csv with columns text, gender and Class (0 or 1)."""
  table = read_csv(path, ('text', 'gender', 'Class'))
  return pd.DataFrame(
    {
      'id': [f'gender-{k}' for k in range(len(table))],
      'text': table['text'],
      'label': labels_of(path, table['Class'], {'0': 0, '1': 1}),
      'group': table['gender'],
    }
  )


# Parts.


def _some(values) -> str:
  return ', '.join(dict.fromkeys(values))


def _slots(phrase: str) -> list[dict[str, str]]:
  """`{type|verb_connotation|toxic}` → {'type': 'verb', 'connotation': …}."""
  slots = []
  for inner in SLOT.findall(phrase):
    slot = dict(
      re.findall(r'(type|subtype|connotation)\|([^|]*?)(?=_\w+\||$)', inner)
    )
    if '_'.join(f'{k}|{v}' for k, v in slot.items()) != inner or (
      'type' not in slot
    ):
      raise UserError(
        f'template {phrase!r} has the slot {{{inner}}}; write it as '
        '{type|adjective_connotation|toxic}'
      )
    slots.append(slot)
  return slots


def _choices(
  slot: dict[str, str], words: pd.DataFrame, phrase: str
) -> list[str]:
  """The words that fit a slot; a slot without any is the user's mistake."""
  for key, value in slot.items():
    known = list(dict.fromkeys(words[key]))
    if value not in known:
      hint = nearest(value, known, f'there is {_some(known)}')
      raise UserError(
        f'template {phrase!r} asks for words of {key} {value!r}; {hint}'
      )
  fits = np.logical_and.reduce([words[k] == v for k, v in slot.items()])
  if not fits.any():
    raise UserError(
      f'template {phrase!r} asks for words of {slot}, of which the word list '
      'has none; add some'
    )
  return words.loc[fits, 'word'].tolist()


def _fill(phrase: str, slots: list[list[str]]) -> np.ndarray:
  """The phrase with every word of each slot, the last slot's fastest."""
  columns = np.array([*itertools.product(*slots)], object).T
  first, *pieces = SLOT.split(phrase)[::2]
  text = np.full(columns.shape[1], first, object)
  for column, piece in zip(columns, pieces, strict=True):
    text = text + column + piece
  return text


def _stem(row, text: str) -> str:
  digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
  return f'{row.template}-{row.label}-{digest}'


def _table(parts: list[pd.DataFrame]) -> pd.DataFrame:
  table = pd.concat(parts, ignore_index=True)
  twice = table['id'].duplicated().to_numpy()
  if twice.any():
    row = table.iloc[int(twice.argmax())]
    raise UserError(
      f'template {row["template"]!r} gives the text {row["text"]!r} twice; '
      'look for a word or phrase that is in the lists two times'
    )
  return table
