"""Exact per-example gradient norms of a user's own Flax (linen) model.

Calls of `nn.Dense`, `nn.DenseGeneral`, `nn.Embed` and `nn.LayerNorm` are
intercepted and computed by layers/exact_norms.py, whose zero probes receive
the squared norms as cotangents: one backward pass for the whole batch, and no
per-example gradient. A parameter that no probe covers is an error that names
it, never a silent omission.
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import traverse_util
from jaxtyping import Array, Float

from fairjax.core.errors import UserError
from fairjax.models.layers.exact_norms import dense, embed, per_example
from fairjax.models.layers.products import gram


def gradient_norms(
  module: nn.Module,
  params: dict,
  inputs: tuple | Array,
  targets: Any,
  loss: Callable[[Any, Any], Float[Array, ' b']],
) -> Float[Array, ' b']:
  """‖∇_θ ℓ(f_θ(x_i), y_i)‖₂ of every example i of a batch, over all of θ.

  Args:
    module: a linen module; `module.apply({'params': params}, *inputs)` is
      called once. Turn dropout off in it.
    params: its parameters.
    inputs: an array or a tuple of them, examples along the first axis.
    targets: what the loss compares with.
    loss: loss(outputs, targets) -> one number an example.

  >>> net = nn.Sequential([nn.Dense(3), nn.relu, nn.Dense(1)])
  >>> x = jnp.ones((4, 2))
  >>> params = net.init(jax.random.key(0), x)['params']
  >>> square = lambda y, t: jnp.sum((y - t) ** 2, -1)
  >>> gradient_norms(net, params, x, jnp.zeros((4, 1)), square).shape
  (4,)
  """
  inputs = inputs if isinstance(inputs, tuple) else (inputs,)
  count = jax.tree.leaves(inputs)[0].shape[0]
  paths = covered(module, params, inputs, count)

  def total(probes):
    outputs = _apply(module, params, inputs, probes.get)
    return jnp.sum(loss(outputs, targets))

  zeros = {path: jnp.zeros(count, jnp.float32) for path in paths}
  return jnp.sqrt(sum(jax.grad(total)(zeros).values()))


def covered(module: nn.Module, params: dict, inputs: tuple, count: int) -> set:
  """The paths of the layers with a probe; UserError if a parameter has none."""
  paths: list[tuple] = []

  def note(path):
    if path in paths:
      raise UserError(
        f'layer {"/".join(path)} is called twice, and its gradient is the sum '
        'of both; give each call a layer of its own'
      )
    paths.append(path)
    return jnp.zeros(count, jnp.float32)

  jax.eval_shape(lambda p: _apply(module, p, inputs, note), params)
  for path in traverse_util.flatten_dict(params):
    if path[:-1] not in paths:
      raise UserError(
        f'parameter {"/".join(path)} is covered by no probe, so its gradient '
        'would be missing; probes know nn.Dense, nn.DenseGeneral, nn.Embed and '
        'nn.LayerNorm'
      )
  return set(paths)


def _apply(module: nn.Module, params: dict, inputs: tuple, probe_of: Callable):
  """The module's outputs, each layer with the probe of its path."""

  def intercept(call, args, kwargs, context):
    layer = context.module
    function = _LAYERS.get(type(layer))
    if function is None or context.method_name not in ('__call__', 'attend'):
      return call(*args, **kwargs)
    if context.method_name == 'attend':
      raise UserError(
        f'{"/".join(layer.path)} is also used as an output layer (attend), '
        'which its probe does not cover; untie the two'
      )
    probe = probe_of(layer.path)
    if args[0].shape[0] != probe.shape[0]:
      raise UserError(
        f'layer {"/".join(layer.path)} reads {args[0].shape}, whose first axis '
        f'is not that of the {probe.shape[0]} examples'
      )
    return function(layer, args[0], probe)

  with nn.intercept_methods(intercept):
    return module.apply({'params': params}, *inputs)


def _rows(x: Array, inner: int) -> tuple[Array, Array]:
  """x as [b, t, …inner axes as one], and whose example each place is."""
  b, width = x.shape[0], 1
  for size in x.shape[x.ndim - inner :]:
    width *= size
  flat = x.reshape(b, -1, width)
  return flat, jnp.broadcast_to(jnp.arange(1, b + 1)[:, None], flat.shape[:2])


def _promoted(layer, x, names):
  result = [
    layer.get_variable('params', name)
    if layer.has_variable('params', name)
    else None
    for name in names
  ]
  return nn.dtypes.promote_dtype(x, *result, dtype=layer.dtype)


def _of_dense(layer, x, probe):
  x, kernel, bias = _promoted(layer, x, ('kernel', 'bias'))
  axes = getattr(layer, 'axis', -1)
  axes = axes if isinstance(axes, tuple) else (axes,)
  inner = len(axes)
  last = tuple(range(x.ndim - inner, x.ndim))
  if getattr(layer, 'batch_dims', ()) or last != tuple(
    sorted(axis % x.ndim for axis in axes)
  ):
    raise UserError(
      f'layer {"/".join(layer.path)} contracts other axes than the last ones'
    )
  outer, features = x.shape[: x.ndim - inner], kernel.shape[inner:]
  rows, segment_ids = _rows(x, inner)
  kernel = kernel.reshape(rows.shape[-1], -1)
  bias = None if bias is None else bias.reshape(-1)
  return dense(rows, kernel, bias, probe, segment_ids).reshape(
    *outer, *features
  )


def _of_embed(layer, ids, probe):
  (table,) = nn.dtypes.promote_dtype(
    layer.embedding, dtype=layer.dtype, inexact=False
  )
  flat = ids.reshape(ids.shape[0], -1)
  segment_ids = jnp.broadcast_to(
    jnp.arange(1, flat.shape[0] + 1)[:, None], flat.shape
  )
  result = embed(table, flat, probe, segment_ids)
  return result.reshape(*ids.shape, table.shape[-1])


@jax.custom_vjp
def _affine(x, scale, bias, sq, segment_ids):
  y = x if scale is None else x * scale
  return y if bias is None else y + bias


def _affine_forward(x, scale, bias, sq, segment_ids):
  return _affine(x, scale, bias, sq, segment_ids), (
    x,
    scale,
    bias,
    sq,
    segment_ids,
  )


def _affine_backward(residuals, g):
  x, scale, bias, sq, segment_ids = residuals
  parts = ([] if scale is None else [g * x]) + ([] if bias is None else [g])
  dsq = per_example(gram(jnp.concatenate(parts, -1)), segment_ids, sq.shape[0])
  of = lambda part, like: None if like is None else part.sum((0, 1))
  dx = g if scale is None else g * scale
  return dx, of(g * x, scale), of(g, bias), dsq, None


_affine.defvjp(_affine_forward, _affine_backward)


def _of_norm(layer, x, probe):
  last = (-1, (-1,), x.ndim - 1, (x.ndim - 1,))
  if layer.reduction_axes not in last or layer.feature_axes not in last:
    raise UserError(
      f'layer {"/".join(layer.path)} normalises other axes than the last one'
    )
  wide = x.astype(jnp.float32)
  mean = wide.mean(-1, keepdims=True)
  variance = jnp.mean((wide - mean) ** 2, -1, keepdims=True)
  unit = (wide - mean) * jax.lax.rsqrt(variance + layer.epsilon)
  scale, bias = (
    layer.get_variable('params', name)
    if layer.has_variable('params', name)
    else None
    for name in ('scale', 'bias')
  )
  rows, segment_ids = _rows(unit, 1)
  y = _affine(rows, scale, bias, probe, segment_ids).reshape(x.shape)
  return y.astype(layer.dtype or x.dtype)


_LAYERS = {
  nn.Dense: _of_dense,
  nn.DenseGeneral: _of_dense,
  nn.Embed: _of_embed,
  nn.LayerNorm: _of_norm,
}
