"""Freed memory stays with the process, unless the user has said otherwise."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource, statistics, sys
from fairjax import memory
kept = memory.keep() if sys.argv[1] == 'keep' else False
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jnp.cumsum(jnp.sin(jnp.ones((4000, 4000)) * x), 0).sum())
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
each = []
for k in range(9):  # the heap may still grow in one or two of them
  start = faults()
  f(1.0 + k).block_until_ready()
  each.append(faults() - start)
print(kept, round(statistics.median(each)))
"""


def faults(how: str, **more: str) -> tuple[str, int]:
  own = {k: v for k, v in os.environ.items() if not k.startswith('MALLOC_')}
  own.pop('GLIBC_TUNABLES', None)
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
  kept, few = faults('keep')
  assert kept == 'True' and plain > 5_000 and few < plain / 10


def test_settings_of_the_user_are_left():
  assert faults('keep', MALLOC_ARENA_MAX='4')[0] == 'False'
