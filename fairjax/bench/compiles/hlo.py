"""What a compiled program does, read from its optimised HLO text.

Bytes are those that cross the device's main memory: an array in another space
(S(1) on a TPU is on-chip) is free, and a TPU's array counts with the padding
of its tiles. A loop's body counts as often as it is known to run, once
otherwise, so a decoding loop is the price of one token.
"""

import collections
import dataclasses
import functools
import json
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

BYTES = {
  **{'pred': 1, 's8': 1, 'u8': 1, 's16': 2, 'u16': 2, 'bf16': 2, 'f16': 2},
  **{'s32': 4, 'u32': 4, 'f32': 4, 's64': 8, 'u64': 8, 'f64': 8},
}
ARRAY = re.compile(
  r'\b(pred|bf16|[suf]\d+)\[([\d,]*)\](?:\{([\d,]*)(?::([^{}]*))?\})?'
)
LINE = re.compile(
  r'^\s*(?:ROOT )?(%[\w.\-]+) = (\(.*?\)|\S+) ([a-z][\w\-]*)\((.*)$'
)
COLLECTIVES = (
  *('all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all'),
  *('collective-permute', 'collective-broadcast'),
)
# Ops that write into their first operand, and which one they write.
IN_PLACE = {'scatter': 2, 'dynamic-update-slice': 1}
FREE = {  # move nothing themselves
  *('parameter', 'constant', 'get-tuple-element', 'tuple', 'bitcast', 'iota'),
  *('after-all', 'copy-done', 'slice-done', 'async-done', 'async-update'),
  *('while', 'conditional', 'call', 'partition-id'),
  *('send-done', 'recv-done'),
  *(f'{name}-done' for name in COLLECTIVES),
}
TO_HOST = ('infeed', 'outfeed', 'send', 'recv')
BETWEEN = '_xla_megascale_transfer_type'  # of a send to another TPU slice
CALLBACK = 'callback'  # in the target of a custom call that is Python's
COPIES = ('copy', 'copy-start', 'transpose', 'convert', 'reshape', 'pad')


class Array(NamedTuple):
  type: str
  dims: list[int]
  tiled: list[int]  # with the padding of its tiles
  space: int  # 0 is main memory

  @property
  def bytes(self) -> float:
    return math.prod(self.tiled) * BYTES.get(self.type, 4)


@functools.lru_cache(maxsize=1 << 16)
def arrays(text: str) -> tuple[Array, ...]:
  """The arrays of a type, which may be a tuple.

  >>> arrays('bf16[3,5]{1,0:T(8,128)(2,1)S(1)}')[0].tiled
  [8, 128]
  """
  result = []
  for kind, dims, order, layout in ARRAY.findall(text):
    shape = [int(d) for d in dims.split(',') if d]
    tiled = list(shape)
    tile = re.search(r'T\(([\d,]+)\)', layout or '')
    if tile and shape:
      axes = [int(v) for v in order.split(',') if v]
      sizes = [int(v) for v in tile[1].split(',')]
      for axis, size in zip(axes, reversed(sizes)):
        tiled[axis] = -(-shape[axis] // size) * size
    space = re.search(r'S\((\d+)\)', layout or '')
    result.append(Array(kind, shape, tiled, int(space[1]) if space else 0))
  return tuple(result)


def in_memory(text: str) -> float:
  """Bytes of a type's arrays in main memory."""
  return sum(one.bytes for one in arrays(text) if one.space == 0)


@dataclasses.dataclass(frozen=True)
class Op:
  computation: str
  name: str
  type: str
  op: str
  rest: str  # operands and what follows them
  line: str

  @functools.cached_property
  def operands(self) -> list[str]:
    depth = 1
    for i, letter in enumerate(self.rest):
      depth += (letter == '(') - (letter == ')')
      if depth == 0:
        return re.findall(r'%[\w.\-]+', self.rest[:i])
    return []

  def attribute(self, pattern: str) -> str:
    match = re.search(pattern, self.line)
    return match[1] if match else ''

  @property
  def calls(self) -> str:
    return self.attribute(r'(?:calls|to_apply)=(%[\w.\-]+)')

  @property
  def source(self) -> str:
    """Where in the Python program it comes from."""
    return self.attribute(r'op_name="([^"]*)"')

  @property
  def cycles(self) -> int:
    """The compiler's own estimate; 0 where it gives none."""
    count = int(self.attribute(r'estimated_cycles":"(\d+)"') or 0)
    return count if count < 1 << 40 else 0


class Collective(NamedTuple):
  op: str
  count: int
  bytes: float
  types: str
  hidden: bool  # other work stands between its start and its end


class Cost(NamedTuple):
  op: str
  type: str
  source: str
  cycles: float
  bytes: float
  flops: float


class Summary(NamedTuple):
  flops: float
  traffic: float  # bytes
  cycles: float
  collectives: list[Collective]
  wide_flops: dict[str, float]  # of products with a float32 side, by source
  products: int
  copies: float  # bytes of ops that only move or convert
  host: list[str]  # what talks to the host
  loop_converts: list[str]  # weights that are converted in a loop
  costs: list[Cost]  # every scheduled op


class Module:
  """The computations of one program."""

  def __init__(self, text: str):
    self.computations: dict[str, list[Op]] = {}
    self.entry = ''
    self._read(text)
    self.types = {
      (op.computation, op.name): op.type
      for ops in self.computations.values()
      for op in ops
    }

  def _read(self, text: str) -> None:
    name = ''
    for line in text.splitlines():
      if not line.startswith(' ') and line.endswith('{') and ' -> ' in line:
        head = re.match(r'^(ENTRY )?(%[\w.\-]+)', line)
        if head:
          name = head[2]
          self.entry = name if head[1] else self.entry
          self.computations[name] = []
      elif line.startswith('}'):
        name = ''
      elif name and (match := LINE.match(line)):
        op = Op(name, match[1], match[2], match[3], match[4], line)
        self.computations[name].append(op)

  def type(self, op: Op, operand: int) -> str:
    if operand >= len(op.operands):
      return ''
    return self.types.get((op.computation, op.operands[operand]), '')

  def runs(self) -> tuple[dict[str, int], set[str]]:
    """How often each scheduled computation runs, and those in loops."""
    count, loops = collections.Counter({self.entry: 1}), set()
    todo = [self.entry]
    while todo:
      name = todo.pop()
      for op in self.computations.get(name, ()):
        times, inner = 1, ()
        if op.op == 'while':
          trips = op.attribute(r'known_trip_count":\{"n":"(\d+)"')
          times = int(trips or 1)
          inner = (op.attribute(r'body=(%[\w.\-]+)'),)
          loops.add(inner[0])
        elif op.op in ('call', 'async-start') and op.calls:
          inner = (op.calls,)
        elif op.op == 'conditional':
          branches = op.attribute(r'branch_computations=\{([^}]*)\}')
          both = (
            op.attribute(r'true_computation=(%[\w.\-]+)'),
            op.attribute(r'false_computation=(%[\w.\-]+)'),
          )
          inner = re.findall(r'%[\w.\-]+', branches) or [n for n in both if n]
        for one in inner:
          count[one] += times * count[name]
          if name in loops:
            loops.add(one)
          todo.append(one)
    return dict(count), loops


def _product_flops(module: Module, op: Op) -> float:
  """2 × multiplications of a dot, a convolution or a library's product."""
  out = math.prod(arrays(op.type)[0].dims)
  left = arrays(module.type(op, 0) or 'f32[]')[0].dims
  if op.op == 'dot':
    dims = op.attribute(r'lhs_contracting_dims=\{([\d,]*)\}')
    return 2.0 * out * math.prod(left[int(d)] for d in dims.split(',') if d)
  if op.op == 'convolution':
    return 2.0 * out * _window(module, op)
  config = json.loads(op.attribute(r'backend_config=(\{.*\})') or '{}')
  dims = config.get('gemm_backend_config', {}).get('dot_dimension_numbers', {})
  dims = dims.get('lhs_contracting_dimensions', [-1])
  return 2.0 * out * math.prod(left[int(d)] for d in dims)


def _window(module: Module, op: Op) -> float:
  """Inputs that meet in one output of a convolution.

  XLA writes a batched product as one whose window runs over a batch axis with
  dilation: only its diagonal is work.
  """
  labels = re.search(r'dim_labels=\w+_(\w+)->', op.line)
  kernel = arrays(module.type(op, 1) or 'f32[]')[0].dims
  inputs = 1
  for label, size in zip(labels[1], kernel):
    inputs *= size if label == 'i' or label.isdigit() else 1
  window = op.attribute(r'window=\{([^}]*)\}')
  parts = [
    re.search(rf'{name}=([\dx]+)', window)
    for name in ('size', 'lhs_dilate', 'stride')
  ]
  if all(parts):
    for size, dilate, stride in zip(*(part[1].split('x') for part in parts)):
      if int(size) > 1 and dilate == size and int(stride) == int(size) - 1:
        inputs //= int(size)
  return inputs


def _is_product(op: Op) -> bool:
  target = op.attribute(r'custom_call_target="([^"]*)"')
  return op.op in ('dot', 'convolution') or (
    op.op == 'custom-call' and ('gemm' in target or 'cublas' in target)
  )


def _traffic(module: Module, op: Op) -> float:
  """Bytes that an op reads from and writes to main memory."""
  if op.op in FREE:
    return 0.0
  if op.op in ('copy-start', 'slice-start'):
    # (whole or copy, piece, …): the piece crosses once a side there.
    pair = arrays(op.type)[:2]
    piece = min(one.bytes for one in pair)
    return piece * sum(one.space == 0 for one in pair)
  if op.op in ('slice', 'dynamic-slice', 'gather'):
    return 2 * in_memory(op.type)
  if op.op in IN_PLACE:
    return 2 * in_memory(module.type(op, IN_PLACE[op.op]))
  # What an op names twice (a Gram matrix's two sides) is one array.
  first = {name: i for i, name in reversed([*enumerate(op.operands)])}
  total = in_memory(op.type) + sum(
    in_memory(module.type(op, i)) for i in first.values()
  )
  if op.op == 'fusion':
    total -= _untouched(module, op)
  return total


def _untouched(module: Module, op: Op) -> float:
  """Bytes that a fusion names but neither reads nor writes.

  What is updated in place has the buffer of the result (XLA copies it first
  where it cannot, which is an op of its own), and only the update crosses.
  """
  body = module.computations.get(op.calls, [])
  users = collections.defaultdict(list)
  for inner in body:
    for name in inner.operands:
      users[name].append(inner)
  over = 0.0
  for inner in body:
    if inner.op != 'parameter':
      continue
    whole = in_memory(module.type(op, int(inner.rest.split(')')[0])))
    name, use = inner.name, users[inner.name]
    while len(use) == 1 and use[0].op == 'bitcast':
      name, use = use[0].name, users[use[0].name]
    if use and all(u.op in ('dynamic-slice', 'gather', 'slice') for u in use):
      read = sum(sum(a.bytes for a in arrays(u.type)) for u in use)
      over += max(whole - read, 0)
    elif len(use) == 1 and use[0].op in IN_PLACE and use[0].operands[0] == name:
      over += whole
      after = {user.op for user in users[use[0].name]}
      if after <= {'tuple', 'bitcast'}:  # it is a result
        update = module.type(use[0], IN_PLACE[use[0].op])
        over += max(whole - 2 * sum(a.bytes for a in arrays(update)), 0)
  return over


def _collectives(module: Module, ops: list[Op], times: int):
  """Those of one schedule; hidden where work stands between start and end.

  A TPU runs one beside other work by cutting it over several fusions, which
  share its channel, and makes a reduce-scatter of an all-reduce in a fusion.
  """
  names = set()
  for i, op in enumerate(ops):
    if op.op == 'send' and BETWEEN in op.line:
      yield _between_slices(op, ops[i + 1 :], times)
      continue
    inner = module.computations.get(op.calls, []) if op.op == 'fusion' else [op]
    for one in inner:
      base = one.op.removesuffix('-start')
      channel = one.attribute(r'channel_id=(\d+)') or one.name
      if base not in COLLECTIVES or channel in names:
        continue
      names.add(channel)
      size, types = _moved(one)
      if 'reduce-scatter' in op.calls:
        base = 'reduce-scatter'
      hidden = op.op == 'fusion' and 'async' in op.name + op.calls
      if one.op.endswith('-start'):
        hidden |= _works_meanwhile(op, ops[i + 1 :])
      yield Collective(base, times, size * times, types, hidden)


def _between_slices(send: Op, later: list[Op], times: int) -> Collective:
  kind = send.attribute(rf'{BETWEEN}="(\w+)"').lower().replace('_', '-')
  sent = arrays(send.type)[0]
  size = math.prod(sent.dims) * BYTES.get(sent.type, 4) * times
  hidden = _works_meanwhile(send, later)
  return Collective(f'{kind} to slices', times, size, sent.type, hidden)


def _works_meanwhile(start: Op, later: list[Op]) -> bool:
  """Whether something is computed before the end of what has started."""
  for op in later:
    if start.name in op.operands and op.op.endswith('-done'):
      return False
    if op.op in ('fusion', 'dot', 'convolution', 'custom-call'):
      return True
  return False


def _moved(op: Op) -> tuple[float, str]:
  """Bytes of the result of a collective, and its types."""
  parts = arrays(op.type)
  if op.op.endswith('-start') and not op.op.startswith('all-reduce'):
    parts = parts[len(parts) // 2 :]  # (operands, results)
  size = sum(math.prod(a.dims) * BYTES.get(a.type, 4) for a in parts)
  return size, '/'.join(sorted({a.type for a in parts}))


def _merged(collected: Iterator[Collective]) -> list[Collective]:
  groups: dict[tuple, list] = {}
  for one in collected:
    if one.bytes < 1024:  # losses and flags
      continue
    total = groups.setdefault((one.op, one.types, one.hidden), [0, 0.0])
    total[0] += one.count
    total[1] += one.bytes
  return [
    Collective(op, count, size, types, hidden)
    for (op, types, hidden), (count, size) in groups.items()
  ]


def _weights(module: Module) -> set[int]:
  """How many numbers the float32 arrays have that a program is given.

  Also one layer of stacked ones; what else a loop converts it has computed.
  """
  given = [
    op for op in module.computations[module.entry] if op.op == 'parameter'
  ]
  return {
    math.prod(dims)
    for op in given
    for one in arrays(op.type)
    if one.type == 'f32'
    for dims in (one.dims, one.dims[1:])
  }


def read(text: str) -> Summary:
  """What the program of this text does in one run."""
  module = Module(text)
  runs, loops = module.runs()
  inside = collections.Counter()  # runs of a fusion's computation
  fused_loops, flops_of = set(), collections.Counter()
  for name, times in runs.items():
    for op in module.computations.get(name, ()):
      if op.op in ('fusion', 'async-start') and op.calls:
        inside[op.calls] += times
        if name in loops:
          fused_loops.add(op.calls)
  wide, products, copies = collections.Counter(), 0, 0.0
  host, converts, weights = [], [], _weights(module)
  for name in {*runs, *inside}:
    times = runs.get(name, 0) + inside[name]
    for op in module.computations.get(name, ()):
      if _is_product(op):
        flops = _product_flops(module, op) * times
        flops_of[name] += flops / max(times, 1)
        flops_of[name, op.name] = flops / max(times, 1)
        products += times
        sides = [arrays(module.type(op, i) or 'f32[]')[0].type for i in (0, 1)]
        if {'f32', 'f64'} & set(sides):
          wide[op.source] += flops
      elif op.op == 'convert' and name in loops | fused_loops:
        kind = arrays(op.type)[0]
        source = arrays(module.type(op, 0) or 'f32[]')[0].type
        if source == 'f32' and kind.type == 'bf16':
          # A cache, which a TPU widens to write to it, has more axes.
          if len(kind.dims) == 2 and math.prod(kind.dims) in weights:
            converts.append(f'{kind.type}{kind.dims}')
      if op.op in TO_HOST and BETWEEN not in op.line:
        host.append(op.op)
      elif op.op == 'custom-call':
        target = op.attribute(r'custom_call_target="([^"]*)"')
        host += [target] if CALLBACK in target else []
  costs = []
  for name, times in runs.items():
    for op in module.computations.get(name, ()):
      moved = _traffic(module, op) * times
      if op.op in COPIES:
        copies += moved
      flops = flops_of[op.calls] if op.op == 'fusion' else 0.0
      flops = (flops or flops_of[name, op.name]) * times
      if moved or flops or op.cycles:
        costs.append(
          Cost(op.op, op.type, op.source, op.cycles * times, moved, flops)
        )
  return Summary(
    sum(one.flops for one in costs),
    sum(one.bytes for one in costs),
    sum(one.cycles for one in costs),
    _merged(
      one
      for name, times in runs.items()
      for one in _collectives(module, module.computations.get(name, []), times)
    ),
    dict(wide),
    int(products),
    copies,
    sorted(set(host)),
    converts,
    costs,
  )
