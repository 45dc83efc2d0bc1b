"""Chips by name, and devices of them to compile for that are not here."""

import importlib.util
import pathlib
import re
from typing import Any, NamedTuple

from fairjax.core.errors import UserError
from fairjax.core.registry import table
from fairjax.data.word_tables import table_rows

GIB = 2**30
EXAMPLES = 'v5e:4x4, v4:2x2x1, v5p:2x2x1, v6e:2x4, h100:8, h200:1'
GPUS_OF_A_HOST = 8
# What XLA:GPU is told of a Hopper, which no driver is here to say.
HOPPER = pathlib.Path(__file__).with_name('hopper.pbtxt')
# A process that has no such device: libtpu must neither look for one nor for
# another process, the CUDA plugin not for a driver.
ENVIRONMENT = dict(table_rows(__file__, 'environment.csv'))


class Chip(NamedTuple):
  """One device: published rates a second, and main memory in bytes."""

  platform: str
  flops: float  # of bfloat16 products
  bandwidth: float
  memory: float
  clock: float = 0.0  # of the compiler's cycles; 0 where it counts none
  name: str = ''


CHIPS: dict[str, Chip] = table(__file__, 'chips', Chip)


class Target(NamedTuple):
  text: str  # v5e:4x4
  chip: Chip
  devices: list
  slices: int


def target(text: str, slices: int = 1) -> Target:
  """The devices that a target's name describes."""
  kind, _, shape = text.partition(':')
  if kind not in CHIPS or not re.fullmatch(r'[1-9]\d*(x[1-9]\d*)*', shape):
    raise UserError(
      f'there is no target {text!r}; the chips are {", ".join(CHIPS)}, with '
      f'a shape after a colon: {EXAMPLES}'
    )
  chip = CHIPS[kind]
  find = _tpu if chip.platform == 'tpu' else _gpu
  return Target(text, chip, find(text, kind, shape, slices), slices)


def need(module: str, what: str, extra: str) -> None:
  try:
    found = importlib.util.find_spec(module)
  except ModuleNotFoundError:  # the package around it
    found = None
  if found is None:
    raise UserError(
      f'{what} is not installed, which compiles for this target; '
      f"pip install 'jax[{extra}]'"
    )


def _tpu(text: str, kind: str, shape: str, slices: int) -> list:
  need('libtpu', 'libtpu', 'tpu')
  from jax.experimental import topologies

  options: dict[str, Any] = {'num_slices': slices} if slices > 1 else {}
  if kind == 'v4':
    options['chip_config_name'] = 'megacore'  # one device a chip, as on a VM
  if set(shape) <= set('1x'):
    options['chips_per_host_bounds'] = [1, 1, 1]
  try:
    topology = topologies.get_topology_desc(
      platform='tpu', topology_name=f'{kind}:{shape}', **options
    )
  except Exception as error:  # of several types, for one fact
    raise UserError(
      f'libtpu knows no slice {text} ({str(error).splitlines()[0]}); '
      f'for example {EXAMPLES}'
    ) from error
  return list(topology.devices)


def _gpu(text: str, kind: str, shape: str, slices: int) -> list:
  need('jax_plugins.xla_cuda13', 'the CUDA plugin of jax', 'cuda13')
  from jax.experimental import topologies

  if 'x' in shape:
    raise UserError(f'{text} has a shape; GPUs are counted, as in {kind}:8')
  count = int(shape)
  hosts = -(-count // GPUS_OF_A_HOST)
  if (count > GPUS_OF_A_HOST and count % GPUS_OF_A_HOST) or slices > 1:
    raise UserError(
      f'{text} is no number of whole hosts of {GPUS_OF_A_HOST}; give a '
      'multiple, or at most as many, and no --slices'
    )
  chip = CHIPS[kind]
  return list(
    topologies.get_topology_desc(
      platform='cuda',
      topology_name=kind,
      topology=f'1x{hosts}x{count // hosts}',
      target_config=HOPPER.read_text().format(**chip._asdict()),
    ).devices
  )
