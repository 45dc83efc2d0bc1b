"""What the GPU kernels over rows of a batch share.

Each is a Pallas call for one seed, whose first axis is the batch's rows. Here
it is mapped over seeds, shared by devices that share the rows, and tried
against the plain code before a process uses it. They are lowered by Pallas'
Triton backend, which jax 0.12 has and calls deprecated.
"""

import concurrent.futures
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.pallas import triton
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from fairjax.core import announce
from fairjax.models.kernels import kernel_table

INTERPRET = False  # without a GPU, for tests


def agree(name: str, example: Callable[[bool], tuple[np.ndarray, ...]]) -> bool:
  """Whether `example` gives the same on this GPU with and without a kernel."""
  if jax.default_backend() != 'gpu':  # compiled for a GPU that is not here
    return True
  # The caller may be tracing; a thread of its own is not.
  with concurrent.futures.ThreadPoolExecutor(1) as thread:
    try:
      ours, plain = thread.map(example, (True, False))
      far = np.max(
        [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(ours, plain)]
      )
      # A chip that the compiler is wrong about costs speed, not numbers.
      reason = '' if far < 0.05 else f'it is off by {far:.2g}'
    except Exception as error:  # of the compiler or the driver
      reason = str(error).partition('\n')[0]
    in_all_processes = thread.submit(kernel_table.in_all, not reason).result()
  if not in_all_processes:
    reason = reason or 'another process found it wrong'
    announce.note(f'the kernel of {name} is not used on this GPU: {reason}')
  return in_all_processes


def load(where: Any, mask: Any) -> jax.Array:
  return triton.load(where, mask=mask, other=0.0)


def store(where: Any, mask: Any, value: jax.Array) -> None:
  triton.store(where, value.astype(where.dtype), mask=mask)


def block_specs(
  side: str,
  arrays: Sequence[jax.Array | jax.ShapeDtypeStruct],
  blocks: Mapping[str, int],
  grid: Sequence[str] = ('r',),
) -> list[pl.BlockSpec]:
  """What a program has of arrays whose axes one side of a rule names.

  One of the axes in `grid`, all of the others, in blocks as large as `blocks`
  says: Pallas refuses a slice that goes past the block it is of.
  """

  def spec(names, array):
    return pl.BlockSpec(
      tuple(
        None if name in grid else blocks.get(name, size)
        for name, size in zip(names, array.shape, strict=True)
      ),
      lambda *at: tuple(
        at[grid.index(name)] if name in grid else 0 for name in names
      ),
    )

  return [
    spec(part.split(), array)
    for part, array in zip(side.split(','), arrays, strict=True)
  ]


def over_rows(call: Callable[..., tuple], rule: str) -> Callable[..., tuple]:
  """`call` over stacked seeds, too, and over rows on several devices.

  `rule` names the axes as in 'r t d, d -> r t d'; r are the rows. A custom
  call has to say which axes may be shared, else XLA would gather what it
  reads.
  """
  seeds = lambda part: ' '.join(['s', part.strip()])
  sides = [', '.join(map(seeds, side.split(','))) for side in rule.split('->')]
  many = custom_partitioning(jax.vmap(call))
  many.def_partition(
    partition=functools.partial(_partition, jax.vmap(call)),
    infer_sharding_from_operands=lambda *_: None,  # Shardy reads the rule
    sharding_rule=' -> '.join(sides),
    need_replication_factors=tuple(
      name
      for name in dict.fromkeys(rule.replace(',', '').split())
      if name not in ('r', '->')
    ),
  )

  @jax.custom_batching.custom_vmap
  def one(*arrays):
    return tuple(out[0] for out in many(*(a[None] for a in arrays)))

  @one.def_vmap
  def _(size, batched, *arrays):
    stacked = [
      a if is_batched else jnp.broadcast_to(a, (size, *a.shape))
      for a, is_batched in zip(arrays, batched)
    ]
    out = many(*stacked)
    return out, (True,) * len(out)

  return one


def _partition(call, mesh, arguments, results):
  """Seeds and rows stay where the first argument's are; the rest is whole."""
  spec = (*arguments[0].sharding.spec, None, None)[:2]

  def where(a):
    return NamedSharding(
      mesh,
      P(*spec, *[None] * (len(a.shape) - 2))
      if len(a.shape) > 2
      else P(spec[0], None),
    )

  def each(*arrays):  # of the chip that the program is for, at hand or not
    with jax.sharding.use_abstract_mesh(mesh.abstract_mesh):
      return call(*arrays)

  lower = tuple(where(a) for a in results), tuple(where(a) for a in arguments)
  return mesh, each, *lower
