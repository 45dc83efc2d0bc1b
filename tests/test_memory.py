"""Freed memory stays with the process, unless the user has said otherwise."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, resource, sys
if hasattr(os, 'sched_setaffinity'):  # each further core has a worker thread
  os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from fairjax import memory
kept = memory.keep() if sys.argv[1] == 'keep' else False
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jnp.cumsum(jnp.sin(jnp.ones((4000, 4000)) * x), 0).sum())
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
f(0.5).block_until_ready()  # the heap grows once
start = faults()
for k in range(20):
  f(1.0 + k).block_until_ready()
print(kept, faults() - start)
"""


def faults(how: str, **more: str) -> tuple[str, int]:
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
  return told[0], int(told[1])


@pytest.mark.skipif(
  sys.platform != 'linux' or not os.confstr('CS_GNU_LIBC_VERSION'),
  reason='only glibc on Linux has these settings',
)
def test_kept_memory_is_not_asked_for_again():
  _, plain = faults('plain')
  assert plain > 100_000
  for _ in range(3):  # a worker thread's blocks come and go in some runs
    kept, few = faults('keep')
    assert kept == 'True'
    if few < plain / 10:
      return
  pytest.fail(f'{few} page faults, {plain} without')


def test_settings_of_the_user_are_left():
  assert faults('keep', MALLOC_ARENA_MAX='4')[0] == 'False'
