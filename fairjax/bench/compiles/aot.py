"""Our programs, compiled for chips that are not here: memory, time, links.

  python -m fairjax.bench aot --target=v5e:4x4 \\
      [--program=train,grand,predict,generate] [--model=mini] \\
      [--seeds=5] [--rows=64] [--length=128] [--text=FOLDER]

libtpu and the CUDA plugin of jax compile on any machine, and their programs
are the real ones. Nothing is run: memory is `memory_analysis()`, FLOPs and
bytes are `cost_analysis()`, time is that over the chip's published rates and,
on a TPU, the sum of the compiler's cycles, without overlap and links.
Collectives are read from the schedule: one is hidden where other work stands
between its start and its end. Sizes are those of one seed over all devices;
all numbers are of one device. A program that does not fit is a sentence.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import time
from typing import Any

from fairjax.bench.compiles import targets
from fairjax.bench.compiles.targets import GIB, Chip, Target
from fairjax.core.errors import UserError
from fairjax.core.registry import named

BYTES = {'pred': 1, 's8': 1, 'u8': 1, 'bf16': 2, 'f16': 2, 'f32': 4, 's32': 4}
OPS = 'all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute'
COLLECTIVE = re.compile(
  rf'^\s*(?:ROOT )?(%\S+) = (.*?) ({OPS})(-start)?\((.*)$'
)
ARRAY = re.compile(r'\b(pred|bf16|f16|f32|s32|s8|u8)\[([\d,]*)\]')
WORKS = re.compile(r' (fusion|dot|convolution|custom-call)\(')
CYCLES = re.compile(r'estimated_cycles":"(\d+)"')


class TooLarge(Exception):
  """A program that the chip's memory does not hold."""


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
    if 'RESOURCE_EXHAUSTED' not in str(error):
      raise
    raise TooLarge from error
  if memory_of(program) > chip.memory:
    raise TooLarge
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


def size_of(text: str) -> float:
  """Bytes of the arrays of a type."""
  total = 0.0
  for kind, dims in ARRAY.findall(text):
    count = 1
    for one in filter(None, dims.split(',')):
      count *= int(one)
    total += count * BYTES[kind]
  return total


def collectives(text: str) -> list[dict[str, Any]]:
  """Those of a program's text, of a kilobyte or more, as they are scheduled.

  A TPU runs one beside other work by cutting it over fusions that are named
  async; else it is hidden where something is computed before its `-done`.
  """
  lines = text.splitlines()
  found: dict[tuple[str, bool], list[float]] = {}
  for i, line in enumerate(lines):
    match = COLLECTIVE.match(line)
    if not match:
      continue
    name, kind, op, start, _ = match.groups()
    size = size_of(kind)
    if start and op != 'all-reduce':
      size /= 2  # (operands, results)
    hidden = 'async' in line
    for later in lines[i + 1 :] if start else ():
      if f'{name}' in later and '-done(' in later:
        break
      if WORKS.search(later):
        hidden = True
        break
    if size >= 1024:
      found.setdefault((op, hidden), []).append(size)
  return [
    {'op': op, 'count': len(sizes), 'bytes': sum(sizes), 'hidden': hidden}
    for (op, hidden), sizes in found.items()
  ]


def measure(
  name: str, goal: Target, size: Any, mesh_seed: int = 0, text: str = ''
) -> dict[str, Any]:
  """Compiles one program for a target; what the line about it says."""
  import jax

  from fairjax import config
  from fairjax.bench.compiles import programs
  from fairjax.core import backend
  from fairjax.train import mesh

  chip = goal.chip
  device_mesh = mesh.make(config.Mesh(seed=mesh_seed), size.seeds, goal.devices)
  start = time.process_time()
  # Kernels of a GPU are lowered for the device that the context names.
  there = jax.sharding.use_abstract_mesh(device_mesh.abstract_mesh)
  with backend.made_for(chip.platform), there:
    program = compiled(programs.PROGRAMS[name](device_mesh, size), chip)
  written = program.as_text()
  if text:
    path = pathlib.Path(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written, encoding='utf-8')
  cost = program.cost_analysis() or {}
  flops, moved = cost.get('flops', 0.0), cost.get('bytes accessed', 0.0)
  compute, moving = flops / chip.flops, moved / chip.bandwidth
  cycles = sum(n for n in map(int, CYCLES.findall(written)) if n < 1 << 40)
  return {
    'program': name,
    'mesh': dict(device_mesh.shape),
    'cpu_seconds': time.process_time() - start,
    'memory_gb': memory_of(program) / 1e9,
    'temporary_gb': program.memory_analysis().temp_size_in_bytes / 1e9,
    'limit_gb': chip.memory / 1e9,
    'tflop': flops / 1e12,
    'traffic_gb': moved / 1e9,
    'compute_ms': compute * 1e3,
    'memory_ms': moving * 1e3,
    'compiler_ms': cycles / chip.clock * 1e3 if chip.clock else None,
    'collectives': collectives(written),
    'host': 'callback' in written,
  }


def line(row: dict[str, Any]) -> str:
  """What one line of the table says."""
  compiler = row['compiler_ms']
  links = '; '.join(
    f'{one["count"]} {one["op"]} {one["bytes"] / 1e6:.0f} MB '
    + ('hidden' if one['hidden'] else 'waited for')
    for one in row['collectives']
  )
  return (
    f'{row["program"]:10} compiles in {row["cpu_seconds"]:.0f} CPU s; '
    f'{row["memory_gb"]:.2f} of {row["limit_gb"]:.1f} GB; '
    f'{row["tflop"]:.3f} TFLOP {row["compute_ms"]:.2f} ms; '
    f'{row["traffic_gb"]:.2f} GB {row["memory_ms"]:.2f} ms; '
    + (f'compiler {compiler:.2f} ms; ' if compiler is not None else '')
    + f'collectives: {links or "none"}'
  )


def options(args: list[str]) -> argparse.Namespace:
  from fairjax.models.kernels import kernel_table

  parser = argparse.ArgumentParser(prog='fairjax.bench aot')
  parser.add_argument('--target', required=True, help=targets.EXAMPLES)
  parser.add_argument('--program', default='')
  parser.add_argument('--slices', type=int, default=1)
  parser.add_argument('--mesh_seed', type=int, default=0)
  parser.add_argument('--model', default='bert-base-uncased')
  counts = ('layers', 'seeds', 'rows', 'length', 'examples', 'slots')
  for name in counts:
    parser.add_argument(f'--{name}', type=int, default=None)
  parser.add_argument('--precision', choices=('bfloat16', 'float32'))
  parser.add_argument('--fsdp', action='store_true', default=None)
  parser.add_argument('--kernels', default='auto', choices=kernel_table.OPTIONS)
  parser.add_argument('--text', default='', help='folder for the HLO texts')
  return parser.parse_args(args)


def run(args: list[str]) -> dict[str, Any]:
  os.environ.update(targets.ENVIRONMENT)
  from fairjax.bench import race
  from fairjax.bench.compiles import programs
  from fairjax.models.kernels import kernel_table

  chosen = options(args)
  kernel_table.choose(chosen.kernels)
  names = chosen.program.split(',') if chosen.program else programs.PROGRAMS
  names = [named(name, programs.PROGRAMS, 'program') for name in names]
  fields = {field.name for field in dataclasses.fields(programs.Size)}
  given = {k: v for k, v in vars(chosen).items() if k in fields}
  given = {k: v for k, v in given.items() if v is not None}
  for name, value in given.items():
    if isinstance(value, int) and value < 1:
      raise UserError(f'--{name} is {value}; at least 1 is needed')
  size = programs.Size(**given)
  goal = targets.target(chosen.target, chosen.slices)
  rows = {}
  for name in names:
    text = chosen.text and f'{chosen.text}/{name}.txt'
    try:
      rows[name] = measure(name, goal, size, chosen.mesh_seed, text)
    except TooLarge as error:
      raise UserError(
        f'{name} of {size.seeds} seeds does not fit into the '
        f'{goal.chip.memory / GIB:.1f} GiB of a '
        f'{chosen.target.split(":")[0]}; lower --rows or --seeds'
      ) from error
    print(line(rows[name]), flush=True)
  first = next(iter(rows.values()))
  ours = first['compiler_ms'] or max(first['compute_ms'], first['memory_ms'])
  return {
    **{'race': 'aot', 'ours': ours, 'peer': None, 'ratio': None},
    'unit': 'ms a step of one device, estimated',
    'target': chosen.target,
    'size': dataclasses.asdict(size),
    'programs': rows,
    'machine': race.machine(),
    'versions': race.versions(),
  }
