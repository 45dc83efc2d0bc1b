"""Chips by name: rates, memory; how many of them a target's name asks for."""

import math
import os
import re
from typing import NamedTuple

from fairjax.core.errors import UserError

GIB = 2**30
EXAMPLES = 'v5e-16, v5e:4x4, h100:8, cpu'


class Chip(NamedTuple):
  """One device: rates a second, and main memory in bytes."""

  platform: str
  flops: float  # of bfloat16 products
  bandwidth: float
  memory: float
  clock: float = 0.0  # of the compiler's cycles; 0 where it counts none
  name: str = ''
  rates: str = 'published'


CHIPS = {
  'v4': Chip('tpu', 275e12, 1228e9, 31.75 * GIB, 1.05e9),
  'v5e': Chip('tpu', 197e12, 819e9, 15.75 * GIB, 1.5e9),
  'v5p': Chip('tpu', 459e12, 2765e9, 95.74 * GIB, 1.75e9),
  'v6e': Chip('tpu', 918e12, 1640e9, 31.25 * GIB, 1.75e9),
  'h100': Chip(
    'gpu', 989e12, 3352e9, 84929347584, name='NVIDIA H100 80GB HBM3'
  ),
  'h200': Chip('gpu', 989e12, 4800e9, 150754820096, name='NVIDIA H200'),
}


def named(text: str) -> tuple[Chip, int]:
  """The chip of a target and how many of it: v5e-16, v5e:4x4, h100:8, cpu."""
  if text in MEASURED:
    return MEASURED[text](), 1
  kind, _, shape = text.replace('-', ':').partition(':')
  if kind not in CHIPS or not re.fullmatch(r'[1-9]\d*(x[1-9]\d*)*', shape):
    raise UserError(
      f'there is no target {text!r}; name {", ".join(CHIPS)} with a number or '
      f'a shape of them, or cpu: {EXAMPLES}'
    )
  return CHIPS[kind], math.prod(map(int, shape.split('x')))


def here() -> Chip:
  """This machine's processor as one device, its rates measured now."""
  import time

  import numpy as np

  def seconds(work) -> float:
    work()
    took = []
    for _ in range(5):
      start = time.perf_counter()
      work()
      took.append(time.perf_counter() - start)
    return min(took)

  square, line = np.ones((1024, 1024), np.float32), np.ones(2**24, np.float32)
  other = np.empty_like(line)
  memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
  return Chip(
    'cpu',
    2 * 1024**3 / seconds(lambda: square @ square),
    2 * line.nbytes / seconds(lambda: np.copyto(other, line)),
    memory,
    name='this processor',
    rates='measured here',
  )


MEASURED = {'cpu': here}
