"""The platform that programs are compiled for.

Usually that of the devices at hand. A tool that compiles for devices that are
not there says which with `made_for`.
"""

import contextlib
from collections.abc import Iterator

import jax

_others: list[str] = []  # the innermost last


def platform() -> str:
  """'cpu', 'gpu' or 'tpu'."""
  return _others[-1] if _others else jax.default_backend()


@contextlib.contextmanager
def made_for(name: str) -> Iterator[None]:
  """Programs traced in the block are those of that platform."""
  _others.append(name)
  jax.clear_caches()  # what was traced before is another platform's
  try:
    yield
  finally:
    _others.pop()
    jax.clear_caches()
