"""The kernels of a GPU, run by their interpreter for a test."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from fairjax.models.kernels import kernel_table, row_kernels


def interpreted(
  monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> Iterator[Callable[[], None]]:
  """A kernel's module without what it made before; yields what clears it."""
  monkeypatch.setattr(row_kernels, 'INTERPRET', True)

  def clear() -> None:
    module.program.cache_clear()
    module.agrees.cache_clear()

  clear()
  with kernel_table.chosen('on'):
    yield clear
  clear()
