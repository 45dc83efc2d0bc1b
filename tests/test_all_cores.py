"""Blocks done by several processes are those of a loop."""

import os
import subprocess
import sys

SCRIPT = """
import os
from fairjax.core import all_cores
all_cores._cores = lambda: 3
me = os.getpid()

def square(block):
  if block == [4] and os.getpid() != me:
    os._exit(9)  # as one that the system kills
  return [x * x for x in block], os.getpid() != me

found = list(all_cores.in_order(square, [[k] for k in range(8)]))
assert [x for x, _ in found] == [[k * k] for k in range(8)], found
apart = [k for k, (_, elsewhere) in enumerate(found) if elsewhere]
assert apart == [0, 1, 2, 3, 5, 6], apart  # 4 and what its child had left
assert next(all_cores.in_order(square, [[1], [2]]))[0] == [1]  # and is left
"""


def test_blocks_are_in_order_and_a_child_that_dies_loses_none():
  command = [sys.executable, '-c', SCRIPT]  # without jax, which forbids forks
  run = subprocess.run(command, env=os.environ, timeout=60)
  assert run.returncode == 0
