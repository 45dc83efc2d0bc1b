"""A function over blocks of rows, on all cores.

Children are forked, so that they share what the process has read, and write
their results into pipes: a child ends when nobody reads on. Where a fork is
not safe (other threads, jax, a system that is not Linux), and where a child
has ended without a result, the blocks are done here.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar('T')
U = TypeVar('U')


def in_order(function: Callable[[T], U], blocks: Sequence[T]) -> Iterator[U]:
  """function(block) of every block, in their order."""
  count = min(_cores(), len(blocks))
  if count < 2:
    yield from map(function, blocks)
    return
  context = multiprocessing.get_context('fork')
  pipes = [context.Pipe(duplex=False) for _ in range(count)]
  children = [
    context.Process(target=_work, args=(function, blocks, pipes, k))
    for k in range(count)
  ]
  try:
    for child in children:
      child.start()
    for _, end in pipes:
      end.close()
    for k, block in enumerate(blocks):
      try:
        found = pipes[k % count][0].recv()
      except EOFError:  # out of memory, or an error, which is met again
        found = function(block)
      yield found
  finally:
    for child in children:
      child.terminate()
      child.join()


def _cores() -> int:
  """How many processes are worth a fork; 1 where it is not safe."""
  safe = sys.platform == 'linux' and 'jax' not in sys.modules
  alone = safe and threading.active_count() == 1
  return len(os.sched_getaffinity(0)) if alone else 1


def _work(function: Callable, blocks: Sequence, pipes, own: int) -> None:
  """Every so many-th block into the pipe of a child."""
  signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
  signal.signal(signal.SIGTERM, signal.SIG_DFL)
  for k, (taken, given) in enumerate(pipes):
    taken.close()  # else a write waits for ever when the parent is gone
    if k != own:
      given.close()
  sys.stderr = open(os.devnull, 'w')  # what is wrong is said by the parent
  for block in blocks[own :: len(pipes)]:
    pipes[own][1].send(function(block))
