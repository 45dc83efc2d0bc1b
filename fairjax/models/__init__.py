"""A model is `apply(params, batch)`; a Bundle is a model and what it needs."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from fairjax.core.registry import Entry
from fairjax.core.registry import find as _find

_LAZY = {
  'load': Entry(
    'fairjax.models.folders.folder:load', 'a Bundle of a model folder'
  ),
  'decays': Entry(
    'fairjax.models.layers.layer_params:decays', 'whether a leaf decays'
  ),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Bundle:
  """A model as two pure functions, with its tokenizer, weights and names.

  Bundles are compared by identity; `program` keys a cache of what is compiled.
  Fields that a use does not need stay empty: a model that is about to be
  trained has no `params`, a language model no `labels`.
  """

  init: Any  # init(seed: int) -> params, a plain nested dict
  apply: Any  # apply(params, batch, dropout=None) -> logits [b, c]
  module: Any  # the Linen module, for scores that need its probes
  params: Any = None  # of one seed, where a folder gives all of them
  tokenizer: Any = None
  longest: int = 0  # tokens of a text that are read
  reads: Callable | None = None  # texts -> what is read of them; None: as is
  labels: tuple[str, ...] = ()  # the names of a classifier's classes
  stays: Callable | None = None  # () -> an encoder that is not trained
  can: str = ''  # what the module is for, of families/family.py: CAPABILITIES
  options: Any = None  # how the folder wants it to decode
  config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  device_mesh: Any = None  # where it runs (train/mesh.py), once that is known

  @property
  def shape(self) -> Any:
    """The encoder's shape; None where there is no Hugging Face form."""
    shape = getattr(self.module, 'shape', None)
    return shape if hasattr(shape, 'family') else None

  @property
  def family(self) -> str:
    """The model_type of its config.json; '' where it has none."""
    return getattr(self.shape, 'family', '')

  @property
  def classes(self) -> int:
    return len(self.labels)

  def replace(self, **changes: Any) -> 'Bundle':
    return dataclasses.replace(self, **changes)

  @property
  def program(self) -> 'Bundle':
    """What is compiled of it: the same Bundle for models of equal modules."""
    return _program(self.apply, self.module)


@functools.lru_cache(maxsize=64)
def _program(apply: Callable, module: Any) -> Bundle:
  return Bundle(None, apply, module)


def of_module(module: Any, init: Callable, **rest: Any) -> Bundle:
  """The bundle of a Linen module that is applied to params and a batch."""
  return Bundle(init, _apply(module), module, **rest)


@functools.lru_cache(maxsize=64)
def _apply(module: Any) -> Callable:
  return functools.partial(_applied, module)  # which is pickled


def _applied(module, params, batch, dropout=None):
  return module.apply({'params': params}, batch, dropout)


def __getattr__(name: str) -> Any:
  if name in _LAZY:  # Flax is slow to import
    return _find(_LAZY, 'function', name)
  raise AttributeError(f'module {__name__} has no attribute {name!r}')
