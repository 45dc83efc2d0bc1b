"""Several training steps per dispatch, where a step is short.

For each dispatch the host puts a batch on the devices, calls a program and
looks at what is due: about half a millisecond. An accelerator may be done with
a small model's step sooner, and would wait. So such steps are taken several at
a time, by a loop on the device, between two steps after which the host has
something to do. The loop takes as many turns as a stretch has steps, so one
program serves every length, and where a run is cut changes no bit of it.
"""

import math
from collections.abc import Callable, Iterable, Iterator

import jax
import numpy as np

from fairjax.config import Train
from fairjax.core.backend import platform

HOST = 1e-3  # seconds of device time that hide the host's part of a dispatch
MOST = 16  # steps of a stretch
# An accelerator's rates, so that a step is rather thought too short.
FLOPS, BANDWIDTH = 2e14, 2e12
MOVED = 28  # bytes of a parameter: it, two means, gradient, and three written
PLACES = 32  # of a short text


def length(params, options: Train, devices: int) -> int:
  """The most steps of a stretch: a power of two that fills HOST seconds.

  A function of config, shapes and platform, so a resumed run has the same. A
  CPU gains nothing by several (`bench dispatch`), and takes 1.
  """
  if platform() == 'cpu':
    return 1
  paths = jax.tree_util.tree_leaves_with_path(params)
  size = sum(leaf.size for _, leaf in paths)
  kernels = sum(leaf.size for path, leaf in paths if path[-1].key == 'kernel')
  products = 6 * kernels * options.batch * PLACES / FLOPS
  seconds = max(MOVED * size / BANDWIDTH, products) / devices
  return min(MOST, 1 << (math.ceil(HOST / seconds) - 1).bit_length())


def cut(
  batches: Iterable[dict],
  first: int,
  most: int,
  program: Callable[[dict, int], tuple],
  pauses: Callable[[int], bool],
) -> Iterator[list[dict]]:
  """The batches of each dispatch, from step `first` on.

  All of one have the same program(batch, step); after the last of them
  pauses(steps done), or there are `most`.
  """
  stretch: list[dict] = []
  before: tuple = ()
  for step, batch in enumerate(batches, first):
    now = program(batch, step)
    if stretch and now != before:
      yield stretch
      stretch = []
    before = now
    stretch.append(batch)
    if len(stretch) == most or pauses(step + 1):
      yield stretch
      stretch = []
  if stretch:
    yield stretch


def stacked(stretch: list[dict], most: int) -> dict:
  """The batches as one, with a leading axis of `most` steps where that is > 1.

  Steps beyond those of the stretch are zeros, and are not taken.
  """
  if most == 1:
    return stretch[0]
  out = {}
  for name, array in stretch[0].items():
    out[name] = np.zeros((most, *array.shape), array.dtype)
    for i, batch in enumerate(stretch):
      out[name][i] = batch[name]
  return out
