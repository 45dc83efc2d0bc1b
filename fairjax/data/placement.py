"""Placement of arrays: on one device, or spread by train/mesh.py.

A sweep over texts takes a Placement, so that models know nothing of devices.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


def _same(value: Any) -> Any:
  return value


class Placement(NamedTuple):
  """How a sweep's parameters and batches get to the devices, and back."""

  rows: int = 1  # the rows of a batch are a multiple of this
  params: Callable = _same
  batch: Callable = _same
  fetch: Callable = _same  # the whole of every array, as numpy takes it


HERE = Placement()
