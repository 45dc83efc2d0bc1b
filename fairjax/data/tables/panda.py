"""PANDA from a user's copy, as parallel text; its quirks are counted.

facebook/panda (Qian et al. 2022, MIT): original, selected_word,
target_attribute, perturbed; splits train and valid. Texts of several fields
are joined with <SEP>. Some rows are unchanged, some end in newlines, some name
a word that the text does not have or lose the joint: what cannot be learned
from is left out and counted.
"""

import os
import pathlib
import re

import numpy as np
import pandas as pd

from fairjax.config.rewriting import AXES
from fairjax.core.errors import UserError
from fairjax.data.tables import files, readers
from fairjax.data.tables.splits import assign
from fairjax.data.word_tables import table_rows

FIELDS = ('original', 'selected_word', 'target_attribute', 'perturbed')
JOINT = '<SEP>'
AXIS = {n: axis for axis in ('gender', 'race', 'age') for n in AXES[axis]}
# As annotators wrote them, before they were mapped to control tokens.
LABELS = dict(table_rows(__file__, 'panda_labels.csv'))


def read(path: str | os.PathLike, seed: int = 0) -> pd.DataFrame:
  """Rows as persons/parallel.py has them; valid is cut in valid and test."""
  tables, beside = [], 0
  for split, places in _files(pathlib.Path(path)).items():
    shards = [file for file in places if _set_of(file) == _set_of(places[0])]
    beside += len(places) - len(shards)
    tables += [_table(file).assign(split=split) for file in shards]
  raw = pd.concat(tables, ignore_index=True)
  result, left = clean(raw)
  if beside:
    left['panda: files beside those of a split that are read'] = beside
  if not len(result):
    raise UserError(f'{path} has no row that can be learned from: {left}')
  held = result['split'] == 'valid'
  if held.any():
    text = result.loc[held, 'text']
    halves = assign(text, pd.Series(0, text.index), ('valid', 'test'), seed)
    result.loc[held, 'split'] = halves
  else:
    splits = ('train', 'valid', 'test')
    result['split'] = assign(
      result['text'], pd.Series(0, result.index), splits, seed
    )
  result.attrs['left out'] = left
  return result


def _table(file: pathlib.Path) -> pd.DataFrame:
  frame = files.read(str(file))
  readers.need(frame, file, FIELDS, f'PANDA has {", ".join(FIELDS)}')
  return frame[list(FIELDS)]


def _set_of(file: pathlib.Path) -> pathlib.Path:
  """What the shards of one table share: train-00000-of-00002.parquet."""
  return file.with_name(re.sub(r'-\d+-of-\d+', '', file.name))


def _files(path: pathlib.Path) -> dict[str, list[pathlib.Path]]:
  """The files of each split that is there, in order."""
  if path.is_file():
    return {'train': [path]}
  known = {}
  for split, names in (('train', ('train',)), ('valid', ('valid', 'dev'))):
    places = [
      file
      for file in sorted(path.rglob('*'))
      if file.suffix in ('.json', '.jsonl', '.parquet', '.csv', '.tsv')
      and any(name in file.name for name in names)
    ]
    if places:
      known[split] = places
  if not known:
    raise UserError(
      f'{path} holds no train or valid file of PANDA (jsonl, parquet or csv)'
    )
  return known


def clean(raw: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
  """The rows that can be learned from, and what was wrong with the others."""
  column = lambda name: raw[name].fillna('').astype(str)
  text, target = column('original'), column('perturbed')
  newline = text.ne(text.str.rstrip('\n')) | target.ne(target.str.rstrip('\n'))
  text, target, word = text.str.strip(), target.str.strip(), column(FIELDS[1])
  attribute = named(column('target_attribute'))
  word = word.str.strip()
  joints = text.str.count(JOINT) != target.str.count(JOINT)
  absent = [not _stands(w, t) for w, t in zip(word, text, strict=True)]
  wrong = {
    'no text or no rewrite': (text == '') | (target == ''),
    'unchanged': text == target,
    'attribute that is not known': ~attribute.isin(list(AXIS)),
    'selected word not in the text': pd.Series(absent, raw.index),
    'halves that do not match': joints,
  }
  bad, left = np.zeros(len(raw), bool), {}
  for what, mask in wrong.items():
    left[f'panda: {what}'] = int((mask.to_numpy() & ~bad).sum())
    bad |= mask.to_numpy()
  left['panda: trailing newlines, mended'] = int((newline & ~bad).sum())
  result = pd.DataFrame(
    {
      'id': [f'panda:{i}' for i in raw.index],
      'source_name': 'panda',
      'word': word,
      'attribute': attribute,
      'axis': attribute.map(AXIS),
      'text': text,
      'target': target,
      'split': raw['split'],
      'gold': True,
      'places': '',
    }
  )
  return result[~bad].reset_index(drop=True), left


def named(attribute: pd.Series) -> pd.Series:
  """Attributes as control tokens name them, whoever wrote them."""
  low = attribute.astype(str).str.strip().str.lower()
  return low.str.replace('[_ ]', '-', regex=True).replace(LABELS)


def _stands(word: str, text: str) -> bool:
  """Whether the word is in the text, whole, as persons/chain.py finds it."""
  whole = rf'(?<![^\W_]){re.escape(word)}(?![^\W_])'
  return bool(word) and bool(re.search(whole, text, re.IGNORECASE))
