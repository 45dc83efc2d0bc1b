"""The rows that are measured: a text each, attribute by attribute."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax.metrics.groups import of_columns

# texts -> vectors, for their cosine
Encoder = Callable[[Sequence[str]], np.ndarray]

# Of a text: those of one prompt are numbered in each of its pairs.
KEYS = ['attribute', 'group', 'prompt', 'pair']


@dataclasses.dataclass
class GroupTexts:
  """The texts of one attribute."""

  attribute: str
  table: pd.DataFrame  # a row a text
  cluster: np.ndarray

  def __post_init__(self) -> None:
    self.groups = of_columns({self.attribute: self.table['group']})

  @property
  def nobody(self) -> np.ndarray:
    return self.table['group'].to_numpy(object) == ''


def texts(frame: pd.DataFrame, written: Mapping[str, list[str]]):
  """A row a text: what was asked, its number, what was written."""
  if 'continuation' in frame:
    number = frame.groupby(KEYS, sort=False).cumcount()
    table = frame.assign(sample=number)
  else:
    table = frame.assign(continuation=[written[p] for p in frame['prompt']])
    table = table.explode('continuation', ignore_index=True)
    table['sample'] = table.groupby(KEYS, sort=False).cumcount()
  blank = table['continuation'].str.strip() == ''
  kept = table[~blank].reset_index(drop=True)
  kept['whole'] = [
    join(p, c) for p, c in zip(kept['prompt'], kept['continuation'])
  ]
  return kept, int(blank.sum())


def join(prompt: str, text: str) -> str:
  """A prompt and what goes on after it."""
  gap = '' if text[:1].isspace() or prompt[-1:].isspace() else ' '
  return f'{prompt}{gap}{text}'


def of_attributes(table: pd.DataFrame) -> list[GroupTexts]:
  out = []
  for attribute, some in table.groupby('attribute', sort=False):
    some = some.reset_index(drop=True)
    code = np.unique(some['cluster'].astype(str), return_inverse=True)[1]
    out.append(GroupTexts(str(attribute), some, code))
  return out
