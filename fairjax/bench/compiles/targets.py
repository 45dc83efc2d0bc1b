"""Chips by name, and devices of them to compile for that are not here."""

import importlib.util
import pathlib
import re
from typing import Any, NamedTuple

from fairjax.core.errors import UserError

GIB = 2**30
EXAMPLES = 'v5e:4x4, v4:2x2x1, v5p:2x2x1, v6e:2x4, h100:8, h200:1'
GPUS_OF_A_HOST = 8
# What XLA:GPU is told of a Hopper, which no driver is here to say.
HOPPER = pathlib.Path(__file__).with_name('hopper.pbtxt')
# A process that has no such device: libtpu must neither look for one nor for
# another process, the CUDA plugin not for a driver.
ENVIRONMENT = {
  'JAX_PLATFORMS': 'cpu',
  'CUDA_VISIBLE_DEVICES': '',
  'TPU_SKIP_MDS_QUERY': '1',
  'TPU_WORKER_HOSTNAMES': 'localhost',
  'TPU_ACCELERATOR_TYPE': 'v5litepod-4',
  'ALLOW_MULTIPLE_LIBTPU_LOAD': '1',
}


class Chip(NamedTuple):
  """One device: published rates a second, and main memory in bytes."""

  platform: str
  flops: float  # of bfloat16 products
  bandwidth: float
  memory: float
  clock: float = 0.0  # of the compiler's cycles; 0 where it counts none
  name: str = ''


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
