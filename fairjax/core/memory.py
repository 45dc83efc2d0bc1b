"""Keeps freed memory for the next step instead of returning it (Linux, CPU).

XLA on a CPU asks for a step's activations anew each step and gives them back.
By default glibc returns such blocks to the system, which zeroes them again: of
a step of 64 tweets (4 layers × 256) 265 MB in 67,000 page faults, a fifth of
its time. The price is a larger process: 1.63 GB there, 1.45 before.

Training and sweeps over examples keep it (`kept`), in the command and in the
library alike, and give it back at their end; the command keeps it throughout.
Settings of the user's own (GLIBC_TUNABLES, MALLOC_…) are left as they are.
"""

import atexit
import contextlib
import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator

TRIM, MMAP = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
MOST = 2**31 - 1  # bytes
# Where glibc's own thresholds end in a process that has freed large blocks.
OWN_MMAP, OWN_TRIM = 2**25, 2**26

_lock = threading.Lock()
keeping = 0  # blocks of `kept` that are open, of all threads


def in_the_asking_thread() -> None:
  """A CPU computes in the thread that asks, unless the user chose otherwise.

  Only the main thread's blocks can stay. (One arena for all threads,
  M_ARENA_MAX, would keep theirs too, and makes tokenizing 2.3 × slower on two
  cores: they wait for its lock.) To be called before jax makes its first
  array; later, and on an accelerator, it changes nothing.
  """
  # jax itself reads no such variable of this option.
  own = os.environ.get('JAX_CPU_ENABLE_ASYNC_DISPATCH', 'false')
  if own.lower() in ('false', 'f', 'no', 'n', 'off', '0'):
    import jax

    jax.config.update('jax_cpu_enable_async_dispatch', False)


def settings():
  """glibc, where it may be set; else None."""
  own = any(n.startswith(('GLIBC_TUNABLES', 'MALLOC_')) for n in os.environ)
  if sys.platform != 'linux' or own:
    return None
  glibc = ctypes.CDLL(None)
  return glibc if hasattr(glibc, 'mallopt') else None


@contextlib.contextmanager
def retained() -> Iterator[bool]:
  """Within the block freed memory stays; its value says whether it does."""
  global keeping
  glibc = settings()
  if glibc is None:
    yield False
    return
  with _lock:
    keeping += 1
    able = bool(glibc.mallopt(MMAP, MOST) and glibc.mallopt(TRIM, MOST))
  try:
    yield able
  finally:
    with _lock:
      keeping -= 1
      if not keeping:
        glibc.mallopt(MMAP, OWN_MMAP)
        glibc.mallopt(TRIM, OWN_TRIM)
        glibc.malloc_trim(0)  # gives back what was kept


def keep() -> bool:
  """`retained` until the process ends, for one that does nothing else."""
  gc.freeze()  # what is loaded stays: no search for cycles goes through it
  atexit.register(gc.freeze)  # nor, at the end, through what was made
  block = retained()
  # Closed while the names of this module are still there.
  atexit.register(block.__exit__, None, None, None)
  return block.__enter__()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
  """No search for cycles while many small objects without any are made."""
  if not gc.isenabled():
    yield
    return
  gc.disable()  # it took a fifth of a swap of 40,000 rows
  try:
    yield
  finally:
    gc.enable()
