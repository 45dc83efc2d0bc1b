"""What a traced program costs: FLOPs, bytes moved, the most alive at once.

Counted on the jaxpr, which says how often a scan goes round; XLA's cost
analysis, by which tests check this, counts the body of a loop once. A `while`
goes round once here too: the caller knows how often.
"""

import math
from collections.abc import Iterator, Set
from typing import Any, NamedTuple

from jax.extend import core

# Views, and what every compiler of jax makes where it is read.
FUSED = {
  *('broadcast_in_dim', 'reshape', 'squeeze', 'expand_dims', 'iota'),
  *('copy', 'stop_gradient', 'sharding_constraint'),
}


class ProgramCost(NamedTuple):
  """FLOPs and bytes of products, and bytes alive at the worst moment.

  Other operations are left out of `flops`: 5 to 15 % of an encoder's. `peak`
  is of what the program makes, not of its arguments.
  """

  flops: float = 0.0
  moved: float = 0.0
  peak: float = 0.0


def size(value: Any) -> int:
  """Bytes of an abstract value."""
  shape, dtype = getattr(value, 'shape', ()), getattr(value, 'dtype', None)
  return math.prod(shape) * getattr(dtype, 'itemsize', 4)


def cost(jaxpr: core.Jaxpr) -> ProgramCost:
  """Of one run of a program; its results are alive from the beginning."""
  out = {v for v in jaxpr.outvars if isinstance(v, core.Var)}
  given = {*jaxpr.invars, *jaxpr.constvars}
  found = _cost(jaxpr, out)
  results = sum(size(v.aval) for v in out - given)
  return found._replace(peak=found.peak + results)


def _cost(jaxpr: core.Jaxpr, apart: Set = frozenset()) -> ProgramCost:
  """Of one run, without the bytes of the variables that stand apart."""
  last: dict[Any, float] = {}
  for i, equation in enumerate(jaxpr.eqns):
    last |= {v: i for v in equation.invars if isinstance(v, core.Var)}
  last |= {v: math.inf for v in jaxpr.outvars if isinstance(v, core.Var)}
  held: dict[Any, int] = {}  # of what was made here and is still read
  flops = moved = alive = peak = 0.0
  for i, equation in enumerate(jaxpr.eqns):
    name, within = equation.primitive.name, [*map(_cost, _inner(equation))]
    rounds = equation.params['length'] if name == 'scan' else 1
    product = _product(equation)
    flops += product.flops + rounds * sum(one.flops for one in within)
    moved += product.moved + rounds * sum(one.moved for one in within)
    own = {
      v: 0 if name in FUSED else size(v.aval)
      for v in equation.outvars
      if v in last and v not in apart
    }
    worst = max((one.peak for one in within), default=0.0)
    made = sum(own.values())
    peak = max(peak, alive + (made + worst if rounds > 1 else max(made, worst)))
    held |= own
    alive += made
    for v in {v for v in equation.invars if isinstance(v, core.Var)}:
      if last[v] == i:
        alive -= held.pop(v, 0)
  return ProgramCost(flops, moved, peak)


def _inner(equation: Any) -> Iterator[core.Jaxpr]:
  """The programs in an equation; of branches the last, as a rule the longer."""
  for name, value in equation.params.items():
    if name == 'branches':
      value = value[-1]
    if isinstance(value, core.ClosedJaxpr):
      yield value.jaxpr
    elif isinstance(value, core.Jaxpr):
      yield value


def _product(equation: Any) -> ProgramCost:
  """Of a matrix product or a convolution: two FLOPs a term."""
  kind = equation.primitive.name
  if kind not in ('dot_general', 'conv_general_dilated'):
    return ProgramCost()
  first, second = (v.aval for v in equation.invars[:2])
  out = equation.outvars[0].aval
  if kind == 'dot_general':
    (along, _), _ = equation.params['dimension_numbers']
    terms = math.prod(first.shape[i] for i in along)
  else:
    channels = equation.params['dimension_numbers'].rhs_spec[0]
    terms = math.prod(second.shape) / second.shape[channels]
  moved = size(first) + size(second) + size(out)
  return ProgramCost(2.0 * math.prod(out.shape) * terms, moved)
