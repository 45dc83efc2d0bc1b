"""Texts of the races, and padded batches of them, as the peers read them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.data.tables import readers

BATCH = 64  # texts of the peers' batches


def column(path: str, name: str) -> list[str]:
  """The texts of a column of a file, but for blank ones."""
  frame = readers.read(path)
  if name not in frame:
    known = ', '.join(map(str, frame))
    raise UserError(
      f'{path} has no column {name!r}; name one of {known} with --text'
    )
  return [t for t in frame[name] if isinstance(t, str) and t.strip()]


def planted_rows(rows: int) -> pd.DataFrame:
  """Rows of the planted data with their twins, where no file is named."""
  from fairjax.config import Config, Planted
  from fairjax.data.sets import planted

  config = Config(planted=Planted(rows=rows, test_rows=20))
  return planted.load(config)['train']


def padded(ids: Ragged, rows: Sequence[int]) -> dict[str, Any]:
  import torch

  width = int(max(ids.lengths[i] for i in rows))
  batch = np.zeros((len(rows), width), np.int64)
  mask = np.zeros_like(batch)
  for k, i in enumerate(rows):
    part = ids.flat[ids.offsets[i] : ids.offsets[i + 1]]
    batch[k, : len(part)], mask[k, : len(part)] = part, 1
  return {
    'input_ids': torch.tensor(batch),
    'attention_mask': torch.tensor(mask),
  }
