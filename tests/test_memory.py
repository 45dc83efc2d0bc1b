"""Freed memory stays with the process, unless the user has said otherwise.

Measured on programs of their own, as page faults and as what they hold.
"""

import os
import subprocess
import sys

import pytest

from fairjax.bench import race

PROGRAM = """
import os, resource, sys
if hasattr(os, 'sched_setaffinity'):  # each further core has a worker thread
  os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import contextlib
import jax, jax.numpy as jnp
how = sys.argv[1]
if how != 'plain':
  from fairjax.core import backend
  from fairjax.core import memory  # as any part of the library that trains
block = contextlib.nullcontext(False)
if how == 'keep':
  memory.keep()
if how == 'kept':
  block = memory.kept()
f = jax.jit(lambda x: jnp.cumsum(jnp.sin(jnp.ones((4000, 4000)) * x), 0).sum())
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def held():
  with open('/proc/self/statm') as file:
    return int(file.read().split()[1]) * resource.getpagesize() // 2**20

with block as is_kept:
  f(0.5).block_until_ready()  # the heap grows once
  start = faults()
  for k in range(6):
    f(1.0 + k).block_until_ready()
  print(is_kept, faults() - start, held())
print(held())
"""


def measured(how: str, **more: str) -> tuple[str, int, int, int]:
  """Whether it is kept, page faults, MB held within the block and after."""
  own = {k: v for k, v in os.environ.items() if not k.startswith('MALLOC_')}
  for name in ('GLIBC_TUNABLES', 'XLA_FLAGS'):  # the latter only slows it
    own.pop(name, None)
  told = subprocess.run(
    [sys.executable, '-c', PROGRAM, how],
    env=own | more,
    capture_output=True,
    text=True,
    check=True,
  ).stdout.split()
  return told[0], *map(int, told[1:])


glibc = pytest.mark.skipif(
  sys.platform != 'linux' or not os.confstr('CS_GNU_LIBC_VERSION'),
  reason='only glibc on Linux has these settings',
)


@glibc
def test_kept_memory_is_not_asked_for_again():
  _, plain, *_ = measured('plain')
  assert plain > 100_000
  for how in ('keep', 'kept'):  # of a process, and of a block
    for _ in range(3):  # a worker thread's blocks come and go in some runs
      _, few, within, after = measured(how)
      if few < plain / 10:
        break
    else:
      pytest.fail(f'{few} page faults, {plain} without')
    given_back = within - after
    assert given_back < 10 if how == 'keep' else given_back > 50


@glibc
def test_sides_of_races_keep_theirs():
  """By their environment, since glibc heeds either that or a call."""
  _, few, *_ = measured('keep', **race.KEPT)
  assert few < 100_000
  _, few, *_ = measured('keep', JAX_CPU_ENABLE_ASYNC_DISPATCH='false')
  assert few < 100_000


def test_settings_of_the_user_are_left():
  assert measured('kept', MALLOC_ARENA_MAX='4')[0] == 'False'
  _, few, *_ = measured('keep', JAX_CPU_ENABLE_ASYNC_DISPATCH='1')
  assert few > 100_000  # computed in a thread of jax's own, as was asked
