"""The parametric layers: Dense, Embed and LayerNorm, with exact gradient norms.

They are the only places in the house where a parameter meets an activation,
so they are where exact per-example gradient norms are read off, at the price
of one backward pass (layers/exact_norms.py). Each layer carries a zero variable
`sq` of shape [b] in the collection `probes`; the norms come out as its
cotangent. Without that collection nothing of this is computed. The sums run
over a batch row, so an example must lie in one row, and a layer must be called
once: `zero_probes` checks the second.
"""

import functools
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct, traverse_util
from jaxtyping import Array, Float, Int

from fairjax.core.errors import UserError
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers import exact_norms, int8, layer_params
from fairjax.models.layers.products import exact, few_places


@struct.dataclass
class Segments:
  """Which example each place belongs to: 1 … count, or 0 for padding."""

  segment_ids: Int[Array, 'r t']
  count: int = struct.field(pytree_node=False)
  # The most examples in a row; 0 where that is not known.
  slots: int = struct.field(pytree_node=False, default=0)


def probe_of(module: nn.Module, rows: Segments):
  """The layer's probe and owners where norms are asked for, else Nones."""
  if not module.has_variable('probes', 'sq'):
    if module.is_initializing() or not module.is_mutable_collection('probes'):
      return None, None
    module.put_variable('probes', 'sq', jnp.zeros(rows.count, jnp.float32))
  return module.get_variable('probes', 'sq'), rows.segment_ids


def is_probed(module: nn.Module) -> bool:
  """Whether norms are asked for: what examples share must then be copied."""
  if module.is_initializing():
    return False
  asked = module.is_mutable_collection('probes')
  return asked or bool(module.variables.get('probes'))


def count_call(module: nn.Module) -> None:
  """One more entry, whose type is that of the layer's products."""
  if not module.is_initializing():
    module.sow('calls', 'n', jnp.zeros((), module.dtype))


def parameter(module: nn.Module, name: str, draw: Callable, *shape: int):
  """The layer's own; flax would trace its draw at each reading."""
  if module.has_variable('params', name):
    return module.get_variable('params', name)  # a table may be `padded`
  return module.param(name, draw, shape)


class Dense(nn.Module):
  """y = x W + b over all places of [r, t]; `dtype` is that of the product."""

  features: int
  bias: bool = True
  dtype: Any = jnp.float32
  deviation: float = 0.02  # of the initial kernel

  @nn.compact
  def __call__(
    self, x: Float[Array, 'r t d'], rows: Segments, arrays: bool = False
  ) -> Any:
    """y; with `arrays` what functions of several layers take, for such an x."""
    normal, bias = layer_params.normal(self.deviation), None
    # Made of a kernel where nothing is trained.
    is_transposed = self.has_variable('params', 'transposed')
    is_int8 = self.has_variable('params', 'uint8')
    if not (is_transposed or is_int8):
      kernel = parameter(self, 'kernel', normal, x.shape[-1], self.features)
    if self.bias:
      bias = parameter(self, 'bias', nn.initializers.zeros, self.features)
    count_call(self)
    x = x.astype(self.dtype)
    own = functools.partial(self.get_variable, 'params')
    if is_int8:
      y = int8.product(x, own('uint8'), own('uint8_scale')).astype(self.dtype)
    elif is_transposed:
      y = few_places(x, own('transposed'))
    elif arrays:
      return kernel, bias, *probe_of(self, rows)
    else:
      return exact_norms.dense(
        x, kernel, bias, *probe_of(self, rows), rows.slots
      )
    return y if bias is None else y + bias.astype(self.dtype)


class LayerNorm(nn.Module):
  """y = (x - mean) / sqrt(variance + eps) ∘ scale + bias, in float32.

  Without `centre` the mean is taken to be 0: RMSNorm (arXiv:1910.07467).
  """

  eps: float = 1e-12
  dtype: Any = jnp.float32
  bias: bool = True
  centre: bool = True

  @nn.compact
  def __call__(
    self, x: Float[Array, 'r t d'], rows: Segments
  ) -> Float[Array, 'r t d']:
    scale = parameter(self, 'scale', nn.initializers.ones, x.shape[-1])
    bias = None
    if self.bias:
      bias = parameter(self, 'bias', nn.initializers.zeros, x.shape[-1])
    count_call(self)
    probe = probe_of(self, rows)
    y = exact_norms.norm(
      x, scale, bias, *probe, self.eps, self.centre, rows.slots
    )
    return y.astype(self.dtype)


class Embed(nn.Module):
  """Rows of a table; `attend` is the tied output layer."""

  count: int
  features: int
  dtype: Any = jnp.float32
  deviation: float = 0.02

  def setup(self):
    self.embedding = self.int8 = None
    if self.has_variable('params', 'uint8'):
      own = functools.partial(self.get_variable, 'params')
      self.int8 = own('uint8'), own('uint8_scale')
      return
    normal = layer_params.normal(self.deviation)
    shape = self.count, self.features
    self.embedding = parameter(self, 'embedding', normal, *shape)

  def __call__(
    self, ids: Int[Array, 'r t'], rows: Segments
  ) -> Float[Array, 'r t d']:
    count_call(self)
    if self.int8:
      return int8.rows(ids, *self.int8).astype(self.dtype)
    return exact_norms.embed(
      self.embedding, ids, *probe_of(self, rows), self.dtype
    )

  def attend(self, x: Float[Array, 'r t d']) -> Float[Array, 'r t v']:
    """Scores of every row: x Eᵀ (a second use, which the probe refuses)."""
    count_call(self)
    if self.int8:
      return int8.product(x, *self.int8).astype(self.dtype)
    x = x.astype(self.dtype)
    if platform_traits().by_library:
      return few_places(x, self.embedding)
    table = self.embedding.astype(self.dtype)
    y = jnp.einsum('rtd,vd->rtv', x, table, precision=exact(self.dtype))
    return y if table.shape[0] == self.count else y[..., : self.count]


@jax.custom_vjp
def mask_padding_gradient(x, segment_ids):
  """x itself; in the backward pass padding gives no cotangent.

  A model puts its output through this, so that whatever a loss does with
  padding never reaches a parameter. `segment_ids` covers the leading axes of x.
  """
  return x


def _mask_padding_backward(segment_ids, g):
  real = (
    segment_ids.reshape(segment_ids.shape + (1,) * (g.ndim - segment_ids.ndim))
    > 0
  )
  return jnp.where(real, g, jnp.zeros_like(g)), None


mask_padding_gradient.defvjp(
  lambda x, segment_ids: (x, segment_ids), _mask_padding_backward
)


def zero_probes(module: nn.Module, params: Any, batch: dict) -> dict:
  """The `probes` collection of zeros for this batch's number of examples.

  With probes p, the gradient by p of Σ_b loss_b(params, p) holds each
  layer's squared norms; their sum over layers is each example's.
  """
  if any(path[-1] == 'uint8' for path in traverse_util.flatten_dict(params)):
    raise UserError(
      'weights of 8-bit integers have no gradient; load the model in float32 '
      'for its gradient norms'
    )
  run = functools.partial(module.apply, mutable=['probes', 'calls'])
  _, variables = jax.eval_shape(run, {'params': params}, batch)
  for path, calls in traverse_util.flatten_dict(variables['calls']).items():
    if len(calls) > 1:
      raise UserError(
        f'layer {"/".join(path[:-1])} is used {len(calls)} times (a tied or '
        'repeated layer); exact per-example gradient norms need layers that '
        'are used once, so score a model without it'
      )
  return jax.tree.map(
    lambda a: jnp.zeros(a.shape, a.dtype), variables['probes']
  )


def uncovered(params: Any, probes: Any) -> list[str]:
  """The paths of parameters that no probe speaks for."""
  probed = {path[:-1] for path in traverse_util.flatten_dict(probes)}
  paths = traverse_util.flatten_dict(params)
  return ['/'.join(path) for path in paths if path[:-1] not in probed]
