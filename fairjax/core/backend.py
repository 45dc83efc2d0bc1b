"""The platform that programs are compiled for, and what its chips can do.

The platform is usually that of the devices at hand. A tool that compiles for
devices that are not there says which with `made_for`. What the processor or
the GPU has instructions for is read here and nowhere else: by it `auto`
chooses a precision, and a precision that is slower than float32 is told.
"""

import contextlib
import functools
import platform as python
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from fairjax.core import announce, memory

memory.in_the_asking_thread()  # jax reads it when it makes its first array

# What programs are traced for: another platform than that at hand, the same
# bits each time, and which kernels (models/kernels/kernel_table.py).
traced: dict[str, Any] = {'platform': '', 'repeats': False, 'kernels': 'auto'}


def trace(name: str, value: Any) -> None:
  """What is traced from here on is for that."""
  if value != traced[name]:
    traced[name] = value
    jax.clear_caches()  # what was traced before is another program


@contextlib.contextmanager
def tracing(name: str, value: Any) -> Iterator[None]:
  """`trace` for a block."""
  before = traced[name]
  trace(name, value)
  try:
    yield
  finally:
    trace(name, before)


def platform() -> str:
  """'cpu', 'gpu' or 'tpu'."""
  return traced['platform'] or jax.default_backend()


def made_for(name: str) -> contextlib.AbstractContextManager:
  """Programs traced in the block are those of that platform."""
  return tracing('platform', name)


def repeats() -> bool:
  """Whether a program must give the same bits each time it is run."""
  return traced['repeats']


def repeatable(wanted: bool) -> contextlib.AbstractContextManager:
  """Training programs made in the block repeat to the bit, if that is wanted.

  Those of a CPU and a TPU do anyway. On a GPU a scatter that adds does so in no
  order, and which product is fastest is found by trying: XLA is told to leave
  both, and the gradients of tables are summed in the order of ids.
  """
  return tracing('repeats', wanted)


def compiler_options() -> dict[str, bool]:
  """What XLA is told of such a program."""
  wanted = repeats() and platform() == 'gpu'
  return {'xla_gpu_deterministic_ops': True} if wanted else {}


# What the chips can do

CPUINFO = '/proc/cpuinfo'
# Instructions that decide how fast products are, as Linux names them.
INTEL = (
  *('avx2', 'avx512f', 'avx512_bf16', 'avx512_vnni', 'avx_vnni'),
  *('amx_bf16', 'amx_int8'),
)
ARM = ('bf16', 'i8mm', 'asimddp')  # the last: products of 8-bit integers
BFLOAT16 = {'avx512_bf16', 'amx_bf16', 'bf16'}
INT8 = {'avx512_vnni', 'avx_vnni', 'amx_int8', 'i8mm', 'asimddp'}
AMPERE = 8.0  # the first compute capability with products of bfloat16


class Processor(NamedTuple):
  """A CPU's name, and its instructions; None where the system says nothing."""

  name: str
  features: tuple[str, ...] | None

  @property
  def kind(self) -> str:
    """The class that a speed is of: 'AVX2', 'AVX-512+VNNI', …"""
    if self.features is None:
      return python.machine()
    has = set(self.features)
    wide = 'AVX-512' if 'avx512f' in has else 'AVX2' if 'avx2' in has else ''
    more = (
      ('VNNI', {'avx512_vnni', 'avx_vnni'}),
      ('bf16', {'avx512_bf16', 'bf16'}),
      ('AMX', {'amx_bf16', 'amx_int8'}),
      ('int8', {'i8mm', 'asimddp'}),
    )
    extra = (name for name, any_of in more if any_of & has)
    return '+'.join([wide or python.machine(), *extra])

  def described(self) -> dict:
    """As results and races keep it."""
    has = list(self.features or ())
    return {'cpu': self.name, 'class': self.kind, 'instructions': has}


@functools.cache
def processor() -> Processor:
  """This machine's, as /proc/cpuinfo describes its first core."""
  about: dict[str, str] = {}
  with contextlib.suppress(OSError), open(CPUINFO, encoding='utf-8') as lines:
    for line in lines:
      name, _, value = line.partition(':')
      about.setdefault(name.strip(), value.strip())
  flags = about.get('flags', about.get('Features'))
  name = about.get('model name') or python.processor() or python.machine()
  if flags is None:
    return Processor(name, None)
  has = flags.split()
  return Processor(name, tuple(f for f in (*INTEL, *ARM) if f in has))


def capability() -> float | None:
  """The compute capability of the GPU at hand; None of other devices."""
  if traced['platform'] or jax.default_backend() != 'gpu':
    return None
  try:
    return float(jax.local_devices()[0].compute_capability)
  except (AttributeError, ValueError):  # AMD's have names instead
    return None


def chip() -> str:
  """The name of the device at hand; '' where programs are for another."""
  return '' if traced['platform'] else jax.local_devices()[0].device_kind


def slowness(precision: str) -> str:
  """Why products of that precision are slower here than float32's, or ''."""
  able = capability()
  if precision == 'bfloat16' and able is not None and able < AMPERE:
    return (
      f'this GPU (compute capability {able:g}) has no products of bfloat16: '
      'they are emulated, and slower than float32'
    )
  has = processor().features
  if platform() != 'cpu' or has is None:
    return ''
  if precision == 'bfloat16' and not BFLOAT16 & set(has):
    return (
      'this CPU has neither AVX512_BF16 nor AMX: bfloat16 is emulated, and '
      'takes about 1.25 times as long as float32'
    )
  if precision == 'int8' and not INT8 & set(has):
    return (
      'this CPU has no VNNI: int8 is emulated, and takes several times as long '
      'as float32'
    )
  return ''


def resolved(precision: str) -> str:
  """What 'auto' means here: bfloat16 on an accelerator that is made for it."""
  if precision != 'auto':
    return precision
  emulated = platform() == 'cpu' or slowness('bfloat16')
  return 'float32' if emulated else 'bfloat16'


def inference(precision: str) -> str:
  """What 'auto' means for answers that are only read."""
  able = BFLOAT16 & set(processor().features or ())
  if precision == 'auto' and platform() == 'cpu' and able:
    return 'bfloat16'  # decisions stay float32's (train/decisions.py)
  return resolved(precision)


def chosen(precision: str) -> str:
  """`resolved`, and where it is slower than float32 that is said."""
  precision = resolved(precision)
  if reason := slowness(precision):
    announce.note(reason)
  return precision
