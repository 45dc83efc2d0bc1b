"""Blindness: words that reveal a group are removed from every text.

What goes is exactly what a swap to the opposite would change
(swapping/dictionary.py), whatever `method.direction`: whole words of the gender
lists, or of `method.words`, and with `method.names` the first names of
persons. So `many`, `the`, `then`, a modal "may" or "I miss you" stay.

  how='remove'       the word goes, with its space and its clitic ('s, 'll)
  how='placeholder'  (the default) `_` stands in its place

A blind model reads blind texts only, so every split is changed, test sets too
(stages.as_read). A text that would be empty becomes `_`. No column keeps the
original: `twin` is blinded as well. Where the lists hold every word that
matters, text and twin become equal; the number that do not is reported.
"""

import re
from collections.abc import Sequence

import numpy as np

from fairjax.config import Config
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, way
from fairjax.pairs.swapping import dictionary

BLANK = '_'  # one token of any vocabulary, and of no group
_CLITIC = re.compile(r"['’](?:s|d|m|ll|re|ve)\b", re.IGNORECASE)


def blind(tables: Tables, config: Config) -> Tables:
  """Every text of every table without the words of the lists."""
  how = way('blind', config.method.how)
  chosen = dictionary.options(config.method, config.seed, direction='opposite')
  find = dictionary.swapper(**chosen)
  removal = _removed if how == 'remove' else _blanked

  def hide(texts: Sequence[str]) -> list[str]:
    texts = list(texts)
    spans = find(texts).spans
    return [removal(text, s) if s else text for text, s in zip(texts, spans)]

  out = {}
  for split, table in tables.items():
    columns = [c for c in schema.TEXTS if c in table]
    hidden = table.assign(**{c: hide(table[c]) for c in columns})
    changed = hidden['text'] != table['text']
    if 'text_pair' in table:
      changed |= hidden['text_pair'] != table['text_pair']
    note = f'{changed.sum()} of {len(table)} {split} texts lost words'
    if 'twin' in table:
      pairs = schema.has_twin(table)
      unequal = pairs & schema.has_twin(hidden)
      note += (
        f'; {unequal.sum()} of {pairs.sum()} still differ from their twin, by '
        'words that the lists do not hold'
      )
    before = table['origin'] if 'origin' in table else 'data'
    out[split] = hidden.assign(origin=np.where(changed, 'blinded', before))
    out[split].attrs = augment.noted(table, [note])
  return out


def _blanked(text: str, spans: list[tuple]) -> str:
  for start, end, *_ in reversed(spans):  # earlier places stay where they are
    text = text[:start] + BLANK + text[end:]
  return text


def _removed(text: str, spans: list[tuple]) -> str:
  for start, end, *_ in reversed(spans):
    clitic = _CLITIC.match(text, end)
    before, after = text[:start], text[clitic.end() if clitic else end :]
    if before[-1:].isspace():
      before = before[:-1]
    elif not before:
      after = after.lstrip()
    text = before + after
  return text if text.strip() else BLANK
