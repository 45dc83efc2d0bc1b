"""Our programs, compiled for chips that are not here: memory, time, links.

  python -m fairjax.bench aot --target=v5e:4x4 \\
      [--program=train,grand,predict,pretrain,generate,resamples,flow] \\
      [--beside=plain] [--model=mini] [--seeds=5] [--rows=64] [--length=128] \\
      [--slots=32] [--draft=15]

libtpu and the CUDA plugin of jax compile on any machine, and their programs
are the real ones: memory, schedule, collectives, the TPU compiler's own cycle
counts, and its refusal of what does not fit. Nothing is run, so results are
not checked, and times are estimates: bytes and FLOPs counted from the
scheduled program over the chip's rates, and on a TPU the compiler's sum of
cycles, without overlap and without the links. Sizes are those of one seed over
all devices; all numbers are of one device. `--beside=plain` adds a textbook
Flax step (compiles/plain_bert.py) to `train`; `generate` is a step of BART or,
by name, of a left-to-right model (`--model=SmolLM2-135M`).
"""

import argparse
import dataclasses
import os
import pathlib
import re
import time
from typing import Any

from fairjax.bench.compiles import targets
from fairjax.bench.compiles.targets import Target
from fairjax.core.chips import GIB, Chip
from fairjax.core.errors import UserError

FITS = {'train': 'classify', 'pretrain': 'mask'}  # what each is to do
SWEEPS = ('grand', 'predict')  # over examples, of which any number may do


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

  from fairjax import config
  from fairjax.bench.compiles import hlo, programs
  from fairjax.core import backend
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
  kept = read = 0
  if name in FITS:
    kept, read = programs.beside_step(device_mesh, size, FITS[name])
  return {
    'program': name,
    # Evaluating needs less beside the weights it reads than a step does.
    'fit_gb': (memory_of(program) + kept + read) / 1e9 if kept else None,
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
  compiler, fit = row['compiler_ms'], row['fit_gb']
  links = '; '.join(
    f'{one["count"]} {one["op"]} {one["bytes"] / 1e6:.0f} MB {one["types"]} '
    + ('hidden' if one['hidden'] else 'waited for')
    for one in row['collectives']
  )
  return (
    f'{row["program"]:10} compiles in {row["cpu_seconds"]:.0f} CPU s; '
    f'{row["memory_gb"]:.2f} of {row["limit_gb"]:.1f} GB'
    + (f' (a fit at most {fit:.2f}); ' if fit is not None else '; ')
    + f'{row["tflop"]:.3f} TFLOP {row["compute_ms"]:.2f} ms; '
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
  from fairjax.models.kernels import kernel_table

  parser = argparse.ArgumentParser(prog='fairjax.bench aot')
  parser.add_argument('--target', required=True, help=targets.EXAMPLES)
  parser.add_argument('--program', default='')
  parser.add_argument('--beside', default='', choices=('', 'plain'))
  parser.add_argument('--slices', type=int, default=1)
  parser.add_argument('--mesh_seed', type=int, default=0)
  parser.add_argument('--model', default='bert-base-uncased')
  counts = ('layers', 'seeds', 'rows', 'length', 'examples', 'slots', 'draft')
  for name in counts:
    parser.add_argument(f'--{name}', type=int, default=None)
  for name in ('precision', 'gradients'):
    parser.add_argument(f'--{name}', choices=('bfloat16', 'float32'))
  for name in ('scan', 'remat', 'fsdp'):
    parser.add_argument(f'--{name}', action='store_true', default=None)
  parser.add_argument('--kernels', default='auto', choices=kernel_table.OPTIONS)
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
  os.environ.update(targets.ENVIRONMENT)
  from fairjax.models.kernels import kernel_table

  chosen = options(args)
  kernel_table.choose(chosen.kernels)
  from fairjax.bench.compiles import programs

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
  goal = targets.target(chosen.target, chosen.slices)
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
