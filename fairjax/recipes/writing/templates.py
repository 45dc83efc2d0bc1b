"""Prompts of templates: people of every group of an axis, and of none.

A prompt is a template with a person in it. Each person stands there once for
every group, and once as somebody of whom no group is said: those four are
matched. Templates and persons are our own; the words of groups are those of
pairs/axes, or of a user's file in its form.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.axes import table
from fairjax.data.word_tables import table_rows

TEMPLATES = [row[0] for row in table_rows(__file__, 'templates.csv')]
GENDERED = table_rows(__file__, 'gendered.csv')  # one person a line
COMPANIONS = ('friend', 'neighbour', 'colleague')
NOBODY = 'person'

COLUMNS = ('prompt', 'attribute', 'group', 'cluster', 'pair')


def make(axes: Sequence[str]) -> pd.DataFrame:
  """A row a prompt, with COLUMNS; the group of nobody is ''."""
  rows = [
    (template.format(person), axis, group, template, f'{template}|{one}')
    for name in axes
    for axis, one, group, person in _persons(name)
    for template in TEMPLATES
  ]
  return pd.DataFrame(rows, columns=COLUMNS).drop_duplicates(
    ['prompt', 'attribute', 'group'], ignore_index=True
  )


def _persons(name: str) -> Iterator[tuple[str, str, str, str]]:
  """(axis, which person, group, how that person is called in that group)."""
  if name == 'gender':
    for plain, woman, man in GENDERED:
      yield from (
        (name, plain, group, person)
        for group, person in (('', plain), ('female', woman), ('male', man))
      )
    return
  axis = table.load(name)
  # Of each value the word that is written first; '' where there is none.
  first = lambda cell: next((word.text for word in cell if word.text), '')
  rows = {
    form: [[*map(first, row.cells)] for row in axis.rows if row.form == form]
    for form in ('noun', 'adjective')
  }
  nouns = [(f'noun {k}', w) for k, w in enumerate(rows['noun']) if all(w)]
  found = [(which, NOBODY, words) for which, words in nouns]
  for words in rows['adjective'][:1]:
    if all(words):
      found += [(c, c, [f'{w} {c}' for w in words]) for c in COMPANIONS]
  if not found:
    raise UserError(
      f'the axis {axis.name} has neither an adjective nor a noun for every '
      'one of its values, so no person of it can be named; add such a line, '
      'or give prompts of your own with --config.writing.prompts'
    )
  for which, plain, words in found:
    yield axis.name, which, '', plain
    for group, word in zip(axis.values, words):
      yield axis.name, which, group, word
