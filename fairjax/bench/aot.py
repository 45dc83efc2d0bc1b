"""Our programs compiled for chips that are not here: what each would do.

  python -m fairjax.bench aot --target=v5e:4x4 \\
      [--program=train,grand,predict,pretrain,generate,resamples,flow] \\
      [--beside=plain] [--model=mini] [--seeds=5] [--rows=64] [--length=128]

libtpu and the CUDA plugin of jax compile on any machine, and their programs
are the real ones: memory, schedule, collectives, the TPU compiler's own cycle
counts, and its refusal of what does not fit. Nothing is run, so results are
not checked, and times are estimates: bytes and FLOPs counted from the
scheduled program over the chip's rates, and on a TPU the compiler's sum of
cycles, without overlap and without the links. Sizes are those of one seed over
all devices; all numbers are of one device. `--beside=plain` adds a textbook
Flax step (bench/plain_bert.py) to `train`.
"""

import argparse
import dataclasses
import importlib.util
import os
import pathlib
import re
import time
from typing import Any, NamedTuple

from fairjax.errors import UserError

GIB = 2**30


class Chip(NamedTuple):
  """One device: rates a second, and main memory in bytes."""

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
SWEEPS = ('grand', 'predict')  # over examples, of which any number may do
EXAMPLES = 'v5e:4x4, v4:2x2x1, v5p:2x2x1, v6e:2x4, h100:8, h200:1'
GPUS_OF_A_HOST = 8
# What XLA:GPU is told of a Hopper, which no driver is here to say.
HOPPER = """
gpu_device_info {{
  threads_per_block_limit: 1024 threads_per_warp: 32
  shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535
  block_dim_limit_z: 65535 memory_bandwidth: {bandwidth:.0f}
  l2_cache_size: 52428800 clock_rate_ghz: 1.98 device_memory_size: {memory:.0f}
  shared_memory_per_block_optin: 232448 cuda_compute_capability {{ major: 9 }}
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}}
platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 28 }}
runtime_version {{ major: 13 minor: 0 patch: 0 }}
device_description_str: "{name}"
"""
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


def _need(module: str, what: str, extra: str) -> None:
  if importlib.util.find_spec(module) is None:
    raise UserError(
      f'{what} is not installed, which compiles for this target; '
      f"pip install 'jax[{extra}]'"
    )


def _tpu(text: str, kind: str, shape: str, slices: int) -> list:
  _need('libtpu', 'libtpu', 'tpu')
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
  _need('jax_plugins.xla_cuda13', 'the CUDA plugin of jax', 'cuda13')
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
      target_config=HOPPER.format(**chip._asdict()),
    ).devices
  )


class TooLarge(Exception):
  """Bytes that a program needs where it does not fit; 0 if unsaid."""

  def __init__(self, needed: float):
    self.needed = needed


def compiled(traced: Any, chip: Chip, options: dict | None = None):
  """The program for that chip; TooLarge where its memory does not suffice."""
  import jax

  tpu = chip.platform == 'tpu'
  if not tpu:
    # Tuning runs kernels, and there is nothing to run them on.
    options = {'xla_gpu_autotune_level': 0, **(options or {})}
  lowered = traced.lower(lowering_platforms=('tpu' if tpu else 'cuda',))
  try:
    program = lowered.compile(compiler_options=options)
  except jax.errors.JaxRuntimeError as error:
    if re.search('compile option|While setting option', str(error)):
      raise UserError(f'--xla: {str(error).splitlines()[0]}') from error
    if 'RESOURCE_EXHAUSTED' not in str(error):
      raise
    used = re.search(r'Used ([\d.]+)([MG]) of', str(error))
    used = used or re.search(r'temporaries \(([\d.]+)([MG])\)', str(error))
    scale = {'M': 2**20, 'G': GIB}
    size = float(used[1]) * scale[used[2]] if used else 0.0
    raise TooLarge(size) from error
  if memory_of(program) > chip.memory:
    raise TooLarge(memory_of(program))
  return program


def memory_of(program: Any) -> float:
  """Bytes on a device: arguments, results and temporaries."""
  memory = program.memory_analysis()
  return (
    memory.argument_size_in_bytes
    + memory.output_size_in_bytes
    - memory.alias_size_in_bytes
    + memory.temp_size_in_bytes
  )


def measure(
  name: str,
  goal: Target,
  size: Any,
  mesh_seed: int = 0,
  text: str = '',
  xla: dict | None = None,
) -> dict[str, Any]:
  """Compiles one program for a target; what the line about it says."""
  import jax

  from fairjax import backend, config
  from fairjax.bench import hlo, programs
  from fairjax.train import mesh

  chip = goal.chip
  trace = {**programs.PROGRAMS, 'plain': programs.plain}[name]
  device_mesh = mesh.make(config.Mesh(seed=mesh_seed), size.seeds, goal.devices)
  start, cpu = time.time(), time.process_time()
  # Kernels of a GPU are lowered for the device that the context names.
  there = jax.sharding.use_abstract_mesh(device_mesh.abstract_mesh)
  with backend.made_for(chip.platform), there:
    program = compiled(trace(device_mesh, size), chip, xla)
  summary = hlo.read(program.as_text())
  if text:
    path = pathlib.Path(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(program.as_text(), encoding='utf-8')
  memory = program.memory_analysis()
  # libtpu counts its FLOPs; XLA:GPU does not.
  flops = (program.cost_analysis() or {}).get('flops', summary.flops)
  compute, moving = flops / chip.flops, summary.traffic / chip.bandwidth
  wide = sum(summary.wide_flops.values())
  return {
    'program': name,
    'mesh': dict(device_mesh.shape),
    'seconds': time.time() - start,
    'cpu_seconds': time.process_time() - cpu,
    'memory_gb': memory_of(program) / 1e9,
    'temporary_gb': memory.temp_size_in_bytes / 1e9,
    'limit_gb': chip.memory / 1e9,
    'tflop': flops / 1e12,
    'traffic_gb': summary.traffic / 1e9,
    'compute_ms': compute * 1e3,
    'memory_ms': moving * 1e3,
    'compiler_ms': summary.cycles / chip.clock * 1e3 if chip.clock else None,
    'bound': 'compute' if compute > moving else 'memory',
    'collectives': [one._asdict() for one in summary.collectives],
    'float32_gflop': wide / 1e9,
    'float32_products': {k: v / 1e9 for k, v in summary.wide_flops.items()},
    'products': summary.products,
    'copies_gb': summary.copies / 1e9,
    'host': summary.host,
    'loop_converts': summary.loop_converts,
    'dearest': [_shown(one, chip) for one in dearest(summary.costs, chip)],
    'parts': parts(summary.costs, chip),
  }


def milliseconds(cost: Any, chip: Chip) -> float:
  """The compiler's time of an op, or its roof where there is none."""
  if chip.clock:
    return cost.cycles / chip.clock * 1e3
  return max(cost.bytes / chip.bandwidth, cost.flops / chip.flops) * 1e3


def dearest(costs: list, chip: Chip, count: int = 3) -> list:
  return sorted(costs, key=lambda one: -milliseconds(one, chip))[:count]


def parts(costs: list, chip: Chip) -> dict[str, float]:
  """Milliseconds of the forward and the backward pass and of the optimiser."""
  result = {'forward': 0.0, 'backward': 0.0, 'optimiser': 0.0}
  for one in costs:
    if 'transpose(' in one.source:
      part = 'backward'
    elif 'optimiser' in one.source:
      part = 'optimiser'
    else:
      part = 'forward'
    result[part] += milliseconds(one, chip)
  return result


def _shown(cost: Any, chip: Chip) -> str:
  where = '/'.join(cost.source.split('/')[-3:])
  kind = cost.type.split('{')[0][:40]
  return f'{milliseconds(cost, chip):.2f} ms {cost.op} {kind} {where}'


def line(row: dict[str, Any]) -> str:
  """What one line of the table says."""
  compiler = row['compiler_ms']
  links = '; '.join(
    f'{one["count"]} {one["op"]} {one["bytes"] / 1e6:.0f} MB {one["types"]} '
    + ('hidden' if one['hidden'] else 'waited for')
    for one in row['collectives']
  )
  return (
    f'{row["program"]:10} compiles in {row["cpu_seconds"]:.0f} CPU s; '
    f'{row["memory_gb"]:.2f} of {row["limit_gb"]:.1f} GB; '
    f'{row["tflop"]:.3f} TFLOP {row["compute_ms"]:.2f} ms; '
    f'{row["traffic_gb"]:.2f} GB {row["memory_ms"]:.2f} ms; '
    + (f'compiler {compiler:.2f} ms; ' if compiler is not None else '')
    + f'bound by {row["bound"]}; collectives: {links or "none"}; '
    f'float32 products {row["float32_gflop"]:.2f} GFLOP; '
    f'copies {row["copies_gb"]:.2f} GB'
    + (f'; HOST: {row["host"]}' if row['host'] else '')
    + (
      f'; {len(row["loop_converts"])} weights converted in the loop'
      if row['loop_converts']
      else ''
    )
  )


def fitting(name: str, goal: Target, size: Any, needed: float, **rest) -> int:
  """The largest number of seeds that fits, below size.seeds; 0 if none."""
  seeds = size.seeds - 1
  while seeds:
    if needed:
      seeds = min(seeds, int(size.seeds * goal.chip.memory / needed))
    if not seeds:
      break
    try:
      measure(name, goal, dataclasses.replace(size, seeds=seeds), **rest)
    except TooLarge as error:
      size, needed = dataclasses.replace(size, seeds=seeds), error.needed
      seeds -= 1
      continue
    break
  return seeds


def halved(name: str, goal: Target, size: Any, **rest) -> dict | None:
  """The line about a sweep of as many rows as fit; None if none do.

  A run halves its batch likewise (train/loop.py: over_examples).
  """
  while size.rows // 2 >= len(goal.devices):
    size = dataclasses.replace(size, rows=size.rows // 2)
    try:
      return {'rows': size.rows, **measure(name, goal, size, **rest)}
    except TooLarge:
      continue
  return None


def options(args: list[str]) -> argparse.Namespace:
  parser = argparse.ArgumentParser(prog='fairjax.bench aot')
  parser.add_argument('--target', required=True, help=EXAMPLES)
  parser.add_argument('--program', default='')
  parser.add_argument('--beside', default='', choices=('', 'plain'))
  parser.add_argument('--slices', type=int, default=1)
  parser.add_argument('--mesh_seed', type=int, default=0)
  parser.add_argument('--model', default='bert-base-uncased')
  for name in ('layers', 'seeds', 'rows', 'length', 'examples', 'slots'):
    parser.add_argument(f'--{name}', type=int, default=None)
  for name in ('precision', 'gradients'):
    parser.add_argument(f'--{name}', choices=('bfloat16', 'float32'))
  for name in ('scan', 'remat', 'fsdp'):
    parser.add_argument(f'--{name}', action='store_true', default=None)
  parser.add_argument('--text', default='', help='folder for the HLO texts')
  parser.add_argument(
    '--xla',
    action='append',
    default=[],
    metavar='NAME=VALUE',
    help='a compiler option, as often as needed',
  )
  return parser.parse_args(args)


def compiler_options(words: list[str]) -> dict[str, Any]:
  """NAME=VALUE as XLA takes them: bools and ints are Python's."""
  result: dict[str, Any] = {}
  for word in words:
    name, equals, value = word.partition('=')
    if not (name and equals and value):
      raise UserError(f'--xla is {word!r}; NAME=VALUE is needed')
    kinds = {'true': True, 'false': False}
    is_count = re.fullmatch(r'-?\d+', value)
    result[name] = int(value) if is_count else kinds.get(value.lower(), value)
  return result


def run(args: list[str]) -> dict[str, Any]:
  chosen = options(args)
  os.environ.update(ENVIRONMENT)
  from fairjax.bench import programs

  names = chosen.program.split(',') if chosen.program else programs.PROGRAMS
  for name in names:
    if name not in programs.PROGRAMS:
      raise UserError(
        f'there is no program {name!r}; there are '
        f'{", ".join(programs.PROGRAMS)}'
      )
  fields = {field.name for field in dataclasses.fields(programs.Size)}
  overrides = {k: v for k, v in vars(chosen).items() if k in fields}
  overrides = {
    name: value for name, value in overrides.items() if value is not None
  }
  for name, value in overrides.items():
    if isinstance(value, int) and value < 1:
      raise UserError(f'--{name} is {value}; at least 1 is needed')
  size = programs.Size(**overrides)
  more = {
    'mesh_seed': chosen.mesh_seed,
    'xla': compiler_options(chosen.xla),
  }
  goal = target(chosen.target, chosen.slices)
  names = [*names, *([chosen.beside] if chosen.beside else [])]
  count = len(goal.devices)
  if size.seeds % count:
    print(
      f'{size.seeds} seeds are no multiple of {count} devices, so gradients '
      'are reduced and each device updates a share; a multiple needs neither'
    )
  rows, refused = {}, []
  for name in names:
    text = chosen.text and f'{chosen.text}/{name}.txt'
    try:
      row = measure(name, goal, size, text=text, **more)
    except TooLarge as error:
      row, needed = None, error.needed
      if name in SWEEPS:
        row = halved(name, goal, size, **more)
    if row is None:
      fits = fitting(name, goal, size, needed, **more)
      limit = goal.chip.memory / GIB
      refused.append(
        f'{name} of {size.seeds} seeds does not fit into the {limit:.1f} GiB '
        f'of a {chosen.target.split(":")[0]}'
        + (f'; {fits} fit' if fits else ', nor does 1; lower --rows')
      )
      print(refused[-1], flush=True)
      continue
    rows[name] = row
    if row.get('rows', size.rows) < size.rows:
      print(f'{size.rows} rows do not fit, {row["rows"]} at a time do:')
    print(line(row), flush=True)
    for one in row['dearest']:
      print('    ', one, flush=True)
  if refused:
    raise UserError('. '.join(refused))
  return report(chosen.target, size, rows)


def report(name: str, size: Any, rows: dict[str, dict]) -> dict[str, Any]:
  """What the last line says; the ratio is plain's time to ours."""
  from fairjax.bench import race

  def time_of(row):
    roof = max(row['compute_ms'], row['memory_ms'])
    return row['compiler_ms'] if row['compiler_ms'] is not None else roof

  ours = time_of(rows['train']) if 'train' in rows else None
  peer = time_of(rows['plain']) if 'plain' in rows else None
  return {
    'race': 'aot',
    'ours': ours,
    'peer': peer,
    'ratio': peer / ours if ours and peer else None,
    'unit': 'ms a step of one device, estimated',
    'target': name,
    'size': dataclasses.asdict(size),
    'programs': rows,
    'machine': race.machine(),
    'versions': race.versions(),
  }
