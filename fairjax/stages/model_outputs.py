"""Outputs of a model on a table, for scores."""

import functools
import pathlib
from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.special import softmax

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables import schema
from fairjax.models import Bundle
from fairjax.scores import TRACKED
from fairjax.scores.grand import grand
from fairjax.stages import fits
from fairjax.train import decisions, loop


class Predictions:
  """What a scoring model says of a table; a part is made when asked for.

  Dropout is off throughout. `tracks` are the logits after each epoch of a run
  (`Fitted.tracks`), which scores over epochs read.
  """

  def __init__(
    self,
    config: Config,
    model: Bundle,
    params,
    table: pd.DataFrame,
    tracks: Mapping[int, pathlib.Path] | None = None,
  ):
    self.config, self.model, self.params = config, model, params
    self.table, self.tracks = table, tracks or {}
    self.label = table['label'].to_numpy(np.int32)

  @functools.cached_property
  def pool(self):
    return fits.pool(self.model, self.table)

  def _predict(self, pool) -> np.ndarray:
    model, batch = self.model, self.config.train.batch
    return loop.predict(model, self.params, pool, model.device_mesh, batch)

  @functools.cached_property
  def logits(self) -> Float[np.ndarray, 's n c']:
    return self._predict(self.pool)

  @functools.cached_property
  def twins(self) -> Float[np.ndarray, 's n c']:
    """Logits of the counterfactuals; rows without one keep their own."""
    result = self.logits.copy()
    rows = np.flatnonzero(schema.has_twin(self.table))
    if len(rows):
      pool = fits.pool(self.model, self.table.iloc[rows], 'twin')
      ours = tokens.take(self.pool.tokens, rows)
      differ = np.flatnonzero(_differ(ours, pool.tokens))
      if len(differ):  # other scores are exactly 0, however batches are padded
        result[:, rows[differ]] = self._predict(decisions.part(pool, differ))
    return result

  @functools.cached_property
  def norms(self) -> Float[np.ndarray, 's n']:
    """Norms of the examples' gradients over all parameters."""
    model, batch = self.model, self.config.train.batch
    return grand(model, self.params, self.pool, model.device_mesh, batch)

  @functools.cached_property
  def _epochs(self):
    if not self.tracks:
      raise UserError(
        f'scores over epochs ({", ".join(TRACKED)}) need the predictions of '
        'each epoch, which a run of the probe keeps and a model does not'
      )
    chance, correct = [], []
    for epoch in sorted(self.tracks):
      logits = artefacts.read_arrays(self.tracks[epoch])
      every = np.arange(len(self.label))
      chance.append(softmax(logits, axis=-1)[:, every, self.label])
      correct.append(logits.argmax(-1) == self.label)
    return np.stack(chance, 1), np.stack(correct, 1)

  @property
  def chance(self) -> Float[np.ndarray, 's e n']:
    """Probability of the own label after each epoch."""
    return self._epochs[0]

  @property
  def correct(self) -> Bool[np.ndarray, 's e n']:
    """Whether the label was predicted after each epoch."""
    return self._epochs[1]


def _differ(a: tokens.Ragged, b: tokens.Ragged) -> np.ndarray:
  """Which texts of two lists are not the same ids."""
  other = a.lengths != b.lengths
  same = np.flatnonzero(~other)
  if len(same):
    a, b = tokens.take(a, same), tokens.take(b, same)
    unlike = a.flat != b.flat
    if a.types is not None:
      unlike |= a.types != b.types
    other[same] = np.maximum.reduceat(unlike, a.offsets[:-1])
  return other
