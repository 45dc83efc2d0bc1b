"""A model is `apply(params, batch)`; build.py makes one from the config."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Model(NamedTuple):
  """A classifier as two pure functions, plus what its files need."""

  init: Callable  # init(seed: int) -> params, a plain nested dict
  apply: Callable  # apply(params, batch, dropout=None) -> logits [b, c]
  module: Any  # the Linen module, for scores that need its probes
  shape: Any = None  # the encoder's shape, for the Hugging Face folder
