"""Parameters in the forms that layers read: types, tiles, transposes."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import traverse_util
from jax.extend.core import jaxpr_as_fun
from jax.interpreters.partial_eval import dce_jaxpr

from fairjax.models.kernels.platform_traits import platform_traits

TILE = 128  # rows that the table of an accelerator is made of
LARGE = 1024  # rows; a smaller table is left as it is


@functools.cache
def normal(deviation: float) -> Callable:
  """Draws a leaf; those of one shape, of every model, share a program."""
  return jax.jit(nn.initializers.normal(deviation), static_argnums=1)


def drawn(make: Callable, key: Any) -> Any:
  """make(key), leaf by leaf; what is not returned is not computed.

  As one program it compiles each layer's draws anew: of a small BERT that is
  longer than to train it.
  """
  traced = jax.jit(make).trace(key)
  whole = traced.jaxpr
  asked = [True] * len(whole.out_avals)
  program, _ = dce_jaxpr(whole.jaxpr, asked, instantiate=True)
  leaves = jaxpr_as_fun(whole.replace(jaxpr=program))(key)
  return jax.tree.unflatten(jax.tree.structure(traced.out_info), leaves)


def transposed(params: dict, dtype: Any = jnp.float32) -> dict:
  """`params` for steps of few places on a CPU: each W as [features, d].

  Large matrices and tables are of that type, which is that of their products;
  what goes in and comes out of these stays as it is.
  """
  flat = traverse_util.flatten_dict(params)
  for path in [path for path in flat if path[-1] == 'kernel']:
    flat[*path[:-1], 'transposed'] = flat.pop(path).T.astype(dtype)
  for path in [path for path in flat if path[-1] == 'embedding']:
    if len(flat[path]) >= LARGE:
      flat[path] = flat[path].astype(dtype)
  return traverse_util.unflatten_dict(flat)


def cast(params: dict, dtype: Any) -> dict:
  """`params` with what products read in their type: the numbers they see."""
  flat = traverse_util.flatten_dict(params)

  def is_read(path):
    beside = (*path[:-1], 'kernel')  # a product's bias, not a norm's
    return decays(path) or (path[-1] == 'bias' and beside in flat)

  return traverse_util.unflatten_dict(
    {k: v.astype(dtype) if is_read(k) else v for k, v in flat.items()}
  )


def with_products(module: nn.Module, dtype: Any) -> nn.Module:
  """The module with products of another type, and so all that it is made of."""
  changes: dict[str, Any] = {}
  for field in dataclasses.fields(module):
    value = getattr(module, field.name, None)
    if field.name == 'dtype':
      changes['dtype'] = dtype
    elif isinstance(value, nn.Module) and field.name != 'parent':
      changes[field.name] = with_products(value, dtype)
  return module.clone(**changes)


def as_read(module: nn.Module, params: dict, batch: dict) -> dict:
  """Stacked `params` with each kernel and table in the type of its products."""
  if getattr(module, 'dtype', jnp.float32) == jnp.float32:
    return params
  one = jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), params
  )
  leaves, kind = jax.tree.flatten((one, batch))
  of = lambda leaf: (leaf.shape, np.dtype(leaf.dtype).name)
  types = _types(module, kind, tuple(map(of, leaves)))
  flat = traverse_util.flatten_dict(params)
  wide = {
    path: types[path[:-1]]
    for path, leaf in flat.items()
    if decays(path)
    and path[:-1] in types
    and types[path[:-1]].itemsize < leaf.dtype.itemsize
  }
  # Once, and not at every batch of a sweep.
  narrow = _converted([flat[path] for path in wide], tuple(wide.values()))
  return traverse_util.unflatten_dict(flat | dict(zip(wide, narrow)))


# Tracing a model takes as long as predicting a hundred short texts.
@functools.lru_cache(maxsize=64)
def _types(module: nn.Module, kind: Any, leaves: tuple) -> dict:
  """The type of each layer's products, for such params and such a batch."""
  shaped = [jax.ShapeDtypeStruct(*leaf) for leaf in leaves]
  params, batch = jax.tree.unflatten(kind, shaped)
  run = functools.partial(module.apply, mutable=['calls'])
  _, variables = jax.eval_shape(run, {'params': params}, batch)
  calls = traverse_util.flatten_dict(variables['calls'])
  return {path[:-1]: entries[0].dtype for path, entries in calls.items()}


@functools.partial(jax.jit, static_argnums=1)
def _converted(leaves: list, types: tuple) -> list:
  return [leaf.astype(dtype) for leaf, dtype in zip(leaves, types)]


def padded(params: dict) -> dict:
  """`params` for training on an accelerator: tables of whole tiles.

  With a stacked axis XLA lays a table whose rows are no multiple of 128 so
  that its update costs five times as much. `Embed` never reads the rows of
  zeros, and `cut` takes them away before anyone else sees them.
  """
  if not platform_traits().tiled_tables:
    return params

  def pad(path, leaf):
    count = leaf.shape[-2] if leaf.ndim > 1 else 0
    if path[-1].key != 'embedding' or count < LARGE or count % TILE == 0:
      return leaf
    widths = [(0, 0)] * leaf.ndim
    widths[-2] = (0, -count % TILE)
    return (np if isinstance(leaf, np.ndarray) else jnp).pad(leaf, widths)

  return jax.tree_util.tree_map_with_path(pad, params)


def cut(params: dict, shapes: dict) -> dict:
  """`padded` params of these shapes as they were."""
  return jax.tree.map(
    lambda leaf, shape: (
      leaf if leaf.shape == shape.shape else leaf[..., : shape.shape[-2], :]
    ),
    params,
    shapes,
  )


# Of these parameters weight decay takes its share, of biases, scales and a
# checkpoint's constants it does not. A leaf's name says which it is.
DECAYED = ('kernel', 'embedding', 'transposed')


def decays(path: tuple) -> bool:
  """Whether weight decay applies to the parameter at `path`.

  The path is one of names ('encoder', 'word', 'embedding') or of the keys that
  jax.tree_util hands to a function (`tree_map_with_path`).
  """
  last = path[-1]
  return getattr(last, 'key', getattr(last, 'name', last)) in DECAYED
