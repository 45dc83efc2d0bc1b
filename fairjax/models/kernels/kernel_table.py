"""Which kernels a program takes instead of plain code, in one table.

Plain code is what every platform runs. A kernel of ours, or a library's, is
taken where the chip's row of the table says that such a device has passed the
test and won the race with it (`proven`), where its shapes fit, and where it
gives what the plain code gives when it is tried, at those shapes, before its
first use. `choose` overrides the first of these for races and tests: 'on' takes
them unproven, 'off' takes none.

To prove one: `pytest --device tests/test_device.py` on the chip, a race that it
wins there (launch/races_gpu.sh), then the chip's name into the row, and into
the first lines of the kernel's file what has run it.
"""

import contextlib
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from fairjax.core import backend

OPTIONS = ('auto', 'on', 'off')


class Kernel(NamedTuple):
  module: str  # of this room, for a GPU: fits(*shape) and agrees(*shape)
  proven: tuple[str, ...] = ()  # parts of the names of chips that have run it


KERNELS = {
  'attention': Kernel('fused_attention', ('H200',)),  # of short rows
  'norm': Kernel('fused_norm', ('H200',)),  # the backward pass of norms
}
# What all processes say of a kernel, from what this one found, since they must
# take the same program. train/mesh.py puts a vote in its place.
in_all: Callable[[bool], bool] = lambda found: found


def choose(option: str) -> None:
  """'auto', 'on', 'off' or the only kernel, for what is traced from here on."""
  backend.trace('kernels', option)


def chosen(option: str) -> contextlib.AbstractContextManager:
  """`choose` for a block."""
  return backend.tracing('kernels', option)


def takes(name: str, *shape: Any) -> bool:
  """Whether a program for this platform and shape takes the kernel."""
  kernel, option = KERNELS[name], backend.traced['kernels']
  others = {'off', *KERNELS} - {name}
  if option in others or backend.platform() != 'gpu':
    return False
  chip = backend.chip()
  if option == 'auto' and not any(one in chip for one in kernel.proven):
    return False
  module = importlib.import_module(f'fairjax.models.kernels.{kernel.module}')
  return module.fits(*shape) and module.agrees(*shape)
