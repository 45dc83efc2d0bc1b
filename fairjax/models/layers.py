"""The parametric layers: Dense, Embed and LayerNorm, with exact gradient norms.

They are the only places in the house where a parameter meets an activation,
so they are where exact per-example gradient norms are read off, at the price
of one backward pass and with no per-example gradient in memory (Goodfellow
2015, arXiv:1510.01799; Li et al. 2022, arXiv:2110.05679). With a_t the inputs
and g_t the output cotangents of one example's places t, the squared norms are

  Dense      Σ_{t,u} (a_t·a_u + 1) (g_t·g_u)     (+ 1 only with a bias)
  Embed      Σ_{t,u} [id_t = id_u] (g_t·g_u)
  LayerNorm  ‖Σ_t g_t ∘ x̂_t‖² + ‖Σ_t g_t‖²          (second only with a bias)

Each layer carries a zero variable `sq` of shape [b] in the collection
`probes`; the norms come out as its cotangent. Without that collection nothing
of this is computed. The sums run over a batch row, so an example must lie in
one row, and a layer must be called once: `zero_probes` checks the second.
"""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct, traverse_util
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from fairjax import backend
from fairjax.errors import UserError
from fairjax.models import int8


@struct.dataclass
class Segments:
  """Which example each place belongs to: 1 … count, or 0 for padding."""

  segment_ids: Int[Array, 'r t']
  count: int = struct.field(pytree_node=False)
  # The most examples in a row; 0 where that is not known.
  slots: int = struct.field(pytree_node=False, default=0)


def exact(dtype: Any) -> lax.Precision | None:
  """The precision of products: float32 means float32.

  Unnamed, a TPU would make bfloat16 of the operands and a GPU TF32.
  """
  if dtype != jnp.float32 or backend.platform() == 'cpu':
    return None
  return lax.Precision.HIGHEST


Axes = int | tuple[int, ...]


def _product(a, b, over_a: Axes, over_b: Axes, dtype=None):
  """a·b over axes of each, of type `dtype` or that of a.

  On a CPU, XLA uses the instructions for bfloat16 (AVX512_BF16, AMX) only
  where the sum is float32; else it is a quarter as fast as float32.
  """
  over = [one if isinstance(one, tuple) else (one,) for one in (over_a, over_b)]
  dims = (tuple(over), ((), ()))
  sums = jnp.float32 if backend.platform() == 'cpu' else dtype
  y = lax.dot_general(
    a, b, dims, precision=exact(a.dtype), preferred_element_type=sums
  )
  return y.astype(dtype or a.dtype)


def _flat(x: Float[Array, '*s d']):
  """[n, d], as the products of a CPU take it.

  A TPU's keep the axes: of [r·t, h·e], which XLA lays with the places on the
  lanes, it would turn every query, key and value twice to split r from t.
  """
  return x.reshape(-1, x.shape[-1]) if backend.platform() != 'tpu' else x


def _outer(x: Float[Array, '*n d'], g: Float[Array, '*n f'], dtype: Any):
  """Σ_n x_n g_nᵀ, summed in float32 and given as `dtype`.

  On a CPU, XLA's product over the first axis of both sides runs at half the
  speed of a plain one, so there the narrower side is turned in memory first
  (the barriers keep XLA from undoing it).
  """
  if backend.platform() != 'cpu':
    every = tuple(range(x.ndim - 1))
    return _product(x, g, every, every, dtype)
  fixed = lax.optimization_barrier
  if x.shape[1] <= g.shape[1]:
    return _product(fixed(x.T), g, 1, 0, dtype)
  return fixed(fixed(_product(fixed(g.T), x, 1, 0, dtype)).T)


def _gram(a: Float[Array, 'r t d']) -> Float[Array, 'r t t']:
  """a_t·a_u for the places t, u of each row, in float32."""
  return jnp.einsum(
    'rtd,rud->rtu',
    a,
    a,
    precision=exact(a.dtype),
    preferred_element_type=jnp.float32,
  )


def _squares_of_products(
  a: Float[Array, 'r t d'],
  g: Float[Array, 'r t f'],
  segment_ids: Int[Array, 'r t'],
  count: int,
  slots: int,
) -> Float[Array, 'b']:
  """‖Σ_t a_t g_tᵀ‖² over the places t of each example, made and squared.

  Each slot of a row is a product of its own, over all places of the row.
  """
  chosen, whose = _slots(segment_ids, slots)
  own = jnp.where(chosen[..., None], g[:, :, None], 0)
  product = jnp.einsum(
    'rtd,rtmf->rmdf',
    a,
    own,
    precision=exact(a.dtype),
    preferred_element_type=jnp.float32,
  )
  squares = jnp.sum(product * product, axis=(-2, -1))
  return jax.ops.segment_sum(squares.ravel(), whose.ravel(), count + 1)[1:]


def is_direct(t: int, d: int, f: int, slots: int, dtype: Any) -> bool:
  """Whether a product [d, f] an example is cheaper than Gram matrices.

  Their FLOPs are slots·t·d·f and t²(d + f), and the product is written to
  memory. On a CPU, in milliseconds, 8 rows of 512 places and 256 × 1024:
  14 against 32 (in bfloat16 15 and 16), 768 × 768: 27 and 41 (27 and 19); 16
  rows of 128 and 256 × 256: 1.8 and 1.5. An accelerator waits for memory,
  where the Gram matrices are smaller.
  """
  if backend.platform() != 'cpu' or not slots:
    return False
  worth = 1.25 if dtype == jnp.float32 else 2.5
  return t * (d + f) > worth * slots * d * f


def _per_example(
  pairs: Float[Array, 'r t t'], segment_ids: Int[Array, 'r t'], count: int
) -> Float[Array, 'b']:
  """Sums over the pairs of places that belong to the same example."""
  same = segment_ids[:, :, None] == segment_ids[:, None, :]
  sums = jnp.sum(jnp.where(same, pairs, 0.0), axis=-1)
  sums = jax.ops.segment_sum(sums.ravel(), segment_ids.ravel(), count + 1)
  return sums[1:]


def _squares_of_sums(
  values: Float[Array, 'r t d'],
  segment_ids: Int[Array, 'r t'],
  count: int,
  slots: int,
) -> Float[Array, 'b']:
  """‖Σ_t v_t‖² over the places t of each example.

  A product with the one-hot slots of a row: of Σ_{t,u} v_t·v_u it needs
  slots/t of the FLOPs. An example's places lie side by side.
  """
  chosen, _ = _slots(segment_ids, slots)
  sums = jnp.einsum(
    'rtm,rtd->rmd',
    chosen.astype(values.dtype),
    values,
    precision=exact(values.dtype),
    preferred_element_type=jnp.float32,
  )
  return _squares(sums, segment_ids, count)


def _slot(segment_ids: Int[Array, 'r t']) -> Int[Array, 'r t']:
  """The number in its row of the example that a place belongs to."""
  changes = segment_ids[:, 1:] != segment_ids[:, :-1]
  return jnp.pad(jnp.cumsum(changes, axis=1), ((0, 0), (1, 0)))


def _squares(
  sums: Float[Array, 'r m d'], segment_ids: Int[Array, 'r t'], count: int
) -> Float[Array, 'b']:
  """‖s‖² of each example's sums, which lie in its slot of its row."""
  _, whose = _slots(segment_ids, sums.shape[1])
  squares = jnp.sum(sums * sums, axis=-1)
  return jax.ops.segment_sum(squares.ravel(), whose.ravel(), count + 1)[1:]


def _slots(
  segment_ids: Int[Array, 'r t'], slots: int
) -> tuple[Bool[Array, 'r t m'], Int[Array, 'r m']]:
  """Which places each slot of a row has, and whose slot it is (0: nobody's).

  A row has at most `slots` examples beside its padding, which comes last.
  """
  t = segment_ids.shape[1]
  chosen = _slot(segment_ids)[:, :, None] == jnp.arange(min(slots or t, t))
  whose = jnp.max(jnp.where(chosen, segment_ids[:, :, None], 0), axis=1)
  return chosen, whose


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def _dense(x, kernel, bias, sq, segment_ids, slots=0):
  flat = _flat(x)
  y = _product(flat, kernel.astype(x.dtype), flat.ndim - 1, 0)
  if bias is not None:
    y = y + bias.astype(x.dtype)
  return y.reshape(*x.shape[:-1], -1)


def _dense_forward(x, kernel, bias, sq, segment_ids, slots):
  if sq is not None and backend.platform() == 'cpu':
    # Else XLA makes x twice, once flat and once by rows.
    x = lax.optimization_barrier(_flat(x)).reshape(x.shape)
  given = x, kernel, bias, sq, segment_ids
  return _dense(*given, slots), given


def _dense_backward(slots, residuals, g):
  x, kernel, bias, sq, segment_ids = residuals
  flat = _flat(g)
  last = flat.ndim - 1
  dx = _product(flat, kernel.astype(g.dtype), last, 1).reshape(x.shape)
  dkernel = _outer(_flat(x), flat, kernel.dtype)
  dbias = None
  if bias is not None:
    dbias = flat.sum(tuple(range(last)), dtype=jnp.float32)
  dsq = None
  if sq is not None:
    owners = segment_ids, sq.shape[0]
    if is_direct(*x.shape[1:], g.shape[2], slots, x.dtype):
      dsq = _squares_of_products(x, g, *owners, slots)
      if bias is not None:
        dsq = dsq + _squares_of_sums(g, *owners, slots)
    else:
      pairs = (_gram(x) + (bias is not None)) * _gram(g)
      dsq = _per_example(pairs, *owners)
  return dx, dkernel, dbias, dsq, None


_dense.defvjp(_dense_forward, _dense_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def _dense_apart(x, kernel, bias, sq, segment_ids, slots=0):
  """(product, bias) of `_dense`, for one who adds them in a kernel.

  The product's cotangent is then that of the sum, so the bias's is not read.
  """
  flat = _flat(x)
  y = _product(flat, kernel.astype(x.dtype), flat.ndim - 1, 0)
  return y.reshape(*x.shape[:-1], -1), bias.astype(x.dtype)


_dense_apart.defvjp(
  lambda *given: (_dense_apart(*given), given[:5]),
  lambda slots, residuals, g: _dense_backward(slots, residuals, g[0]),
)


def takes_feed_forward(module: nn.Module, x: Any, activation: str) -> bool:
  """Whether `feed_forward` is for such inputs: norms on a GPU."""
  if backend.platform() != 'gpu' or not is_probed(module):
    return False
  from fairjax.models import fused_feed_forward

  if not fused_feed_forward.fits(x, activation):
    return False
  return fused_feed_forward.agrees(activation)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def feed_forward(activation: str, x, up: tuple, down: tuple):
  """down(f(up(x))) of two layers with biases; their norms are one kernel."""
  return _feed_forward_forward(activation, x, up, down)[0]


def _feed_forward_forward(activation, x, up, down):
  from fairjax.models.fused_feed_forward import ACTIVATIONS

  # The kernel adds the bias, else the sum would be written beside f of it.
  u, bias = _dense_apart(x, *up)
  y = _dense(ACTIVATIONS[activation][0](u + bias), *down)
  return y, (x, u, bias, up, down)


def _feed_forward_backward(activation, residuals, g):
  from fairjax.models import fused_feed_forward

  x, u, bias, up, down = residuals
  z = fused_feed_forward.ACTIVATIONS[activation][0](u + bias)
  own = lambda layer: (*layer[:2], None, None)  # without its norms
  dz, *ddown = _dense_backward(0, (z, *own(down)), g)
  segment_ids = up[3]
  du, *shares = fused_feed_forward.backward(
    u, dz, x, g, segment_ids, bias, activation
  )
  dx, *dup = _dense_backward(0, (x, *own(up)), du)
  squares = [
    jax.ops.segment_sum(one.ravel(), segment_ids.ravel(), len(up[2]) + 1)[1:]
    for one in shares
  ]
  return dx, (*dup[:2], squares[0], None), (*ddown[:2], squares[1], None)


feed_forward.defvjp(_feed_forward_forward, _feed_forward_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6, 7))
def _norm(x, scale, bias, sq, segment_ids, eps, centre, slots=0):
  return _norm_forward(x, scale, bias, sq, segment_ids, eps, centre, slots)[0]


def _statistics(x, eps, centre):
  """(mean, 1 / standard deviation) of each place."""
  wide = x.astype(jnp.float32)
  mean = wide.mean(-1, keepdims=True) if centre else jnp.float32(0)
  centred = wide - mean
  return mean, lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + eps)


def _norm_forward(x, scale, bias, sq, segment_ids, eps, centre, slots):
  mean, rate = _statistics(x, eps, centre)
  y = (x.astype(jnp.float32) - mean) * rate * scale
  y = (y if bias is None else y + bias).astype(x.dtype)
  one_kernel = _norm_in_one_kernel(x, sq, slots, centre)
  if backend.platform() == 'gpu' and not one_kernel:
    # Else XLA computes them anew in the backward pass, in a kernel whose
    # products it writes out in float32 before it sums them.
    mean, rate = lax.optimization_barrier((mean, rate))
  return y, (x, mean, rate, scale, bias, sq, segment_ids)


def _norm_backward(eps, centre, slots, residuals, g):
  x, sq = residuals[0], residuals[5]
  one_kernel = _norm_in_one_kernel(x, sq, slots, centre)
  way = _norm_backward_kernel if one_kernel else _norm_backward_plain
  return way(eps, centre, slots, residuals, g)


def _norm_backward_plain(eps, centre, slots, residuals, g):
  x, mean, rate, scale, bias, sq, segment_ids = residuals
  g = g.astype(jnp.float32)
  unit = (x.astype(jnp.float32) - mean) * rate
  inner, scaled = g * scale, g * unit
  dx = inner - unit * (inner * unit).mean(-1, keepdims=True)
  dx = rate * (dx - inner.mean(-1, keepdims=True) if centre else dx)
  over = tuple(range(g.ndim - 1))
  dbias = None if bias is None else g.sum(over)
  dsq = None
  if sq is not None:
    # ‖Σ_t v_t‖² of scale and bias.
    parts = [scaled] if bias is None else [scaled, g]
    if backend.platform() != 'cpu':  # one product of both
      parts = [jnp.concatenate(parts, -1)]
    dsq = sum(
      _squares_of_sums(part.astype(x.dtype), segment_ids, sq.shape[0], slots)
      for part in parts
    )
  return dx.astype(x.dtype), scaled.sum(over), dbias, dsq, None


def _norm_in_one_kernel(x, sq, slots: int, centre: bool) -> bool:
  """Whether a GPU takes its backward pass in one kernel."""
  if backend.platform() != 'gpu':
    return False
  from fairjax.models import fused_norm

  slots = _norm_slots(x, sq, slots)
  if not fused_norm.fits(x, slots):
    return False
  return fused_norm.agrees(x.shape[-1], slots, centre)


def _norm_slots(x, sq, slots: int) -> int:
  """Sums over places that each row keeps apart: of its examples, or one."""
  return 1 if sq is None else min(slots or x.shape[1], x.shape[1])


def _norm_backward_kernel(eps, centre, slots, residuals, g):
  from fairjax.models import fused_norm

  x, _, _, scale, bias, sq, segment_ids = residuals
  slots = _norm_slots(x, sq, slots)
  slot = jnp.zeros(x.shape[:2], jnp.int32) if sq is None else _slot(segment_ids)
  dx, *sums = fused_norm.backward(x, g, scale, slot, slots, eps, centre)
  sums = sums if bias is not None else sums[:1]
  dsq = None
  if sq is not None:
    parts = jnp.concatenate(sums, axis=-1)
    dsq = _squares(parts, segment_ids, sq.shape[0])
  dscale, dbias = [*(one.sum((0, 1)) for one in sums), None][:2]
  return dx, dscale, dbias, dsq, None


_norm.defvjp(_norm_forward, _norm_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _embed(table, ids, sq, segment_ids, dtype=None):
  return table.at[ids].get(mode='clip').astype(dtype or table.dtype)


def _embed_forward(table, ids, sq, segment_ids, dtype):
  y = _embed(table, ids, sq, segment_ids, dtype)
  return y, (table, ids, sq, segment_ids)


def _embed_backward(dtype, residuals, g):
  table, ids, sq, segment_ids = residuals
  flat = g.reshape(-1, g.shape[-1])
  if table.shape[0] <= 32:  # a product is cheaper than a scatter into few rows
    chosen = jax.nn.one_hot(ids.ravel(), table.shape[0], dtype=g.dtype)
    dtable = _product(chosen, flat, 0, 0, jnp.float32)
  else:
    flat = flat.astype(table.dtype)
    dtable = jnp.zeros_like(table).at[ids.ravel()].add(flat, mode='drop')
  dsq = None
  if sq is not None:
    pairs = jnp.where(ids[:, :, None] == ids[:, None, :], _gram(g), 0.0)
    dsq = _per_example(pairs, segment_ids, sq.shape[0])
  return dtable, None, dsq, None


_embed.defvjp(_embed_forward, _embed_backward)


def _probe(module: nn.Module, rows: Segments):
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


def _count_call(module: nn.Module) -> None:
  """One more entry, whose type is that of the layer's products."""
  if not module.is_initializing():
    module.sow('calls', 'n', jnp.zeros((), module.dtype))


FEW = 128  # places
TILE = 128  # rows that the table of an accelerator is made of
LARGE = 1024  # rows; a smaller table is left as it is


def _few(x: Float[Array, 'r t d'], transposed: Float[Array, 'f d']):
  """x Wᵀ where x has few places, by a product that lies as W does.

  On a CPU a plain product of 4 to 32 places copies all of W first. Thirty
  layers of 768 × 3072 on two cores, 16 places: 23 ms this way, 46 that way.
  Without the barriers XLA would turn the product back.
  """
  r, t, d = x.shape
  if not 1 < r * t <= FEW:
    return jnp.einsum('rtd,fd->rtf', x, transposed)
  columns = lax.optimization_barrier(x.reshape(-1, d).T)
  return lax.optimization_barrier(transposed @ columns).T.reshape(r, t, -1)


def transposed(params: dict) -> dict:
  """`params` for steps of few places on a CPU: each W as [features, d]."""
  flat = traverse_util.flatten_dict(params)
  for path in [path for path in flat if path[-1] == 'kernel']:
    flat[*path[:-1], 'transposed'] = flat.pop(path).T
  return traverse_util.unflatten_dict(flat)


def cast(params: dict, dtype: Any) -> dict:
  """`params` with what products read in their type: the numbers they see."""
  return jax.tree_util.tree_map_with_path(
    lambda path, leaf: leaf.astype(dtype) if decays(path) else leaf, params
  )


def as_read(module: nn.Module, params: dict, batch: dict) -> dict:
  """Stacked `params` with each kernel and table in the type of its products.

  Products see the same numbers, but a sweep over many batches converts the
  weights once and not at every batch. A float32 head keeps its own.
  """
  if getattr(module, 'dtype', jnp.float32) == jnp.float32:
    return params
  one = jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), params
  )
  run = functools.partial(module.apply, mutable=['calls'])
  _, variables = jax.eval_shape(run, {'params': one}, batch)
  calls = traverse_util.flatten_dict(variables['calls'])
  types = {path[:-1]: entries[0].dtype for path, entries in calls.items()}
  flat = traverse_util.flatten_dict(params)
  wide = {
    path: types[path[:-1]]
    for path, leaf in flat.items()
    if decays(path)
    and path[:-1] in types
    and types[path[:-1]].itemsize < leaf.dtype.itemsize
  }
  narrow = _converted([flat[path] for path in wide], tuple(wide.values()))
  return traverse_util.unflatten_dict(flat | dict(zip(wide, narrow)))


@functools.partial(jax.jit, static_argnums=1)
def _converted(leaves: list, types: tuple) -> list:
  return [leaf.astype(dtype) for leaf, dtype in zip(leaves, types)]


def with_narrow_gradients(params: dict, dtype: Any) -> dict:
  """`params` of which the gradients of kernels are of the type of products.

  A table's stays float32, since a word's row is a sum over all its places.
  """
  return jax.tree_util.tree_map_with_path(
    lambda path, leaf: leaf.astype(dtype) if path[-1].key == 'kernel' else leaf,
    params,
  )


def padded(params: dict) -> dict:
  """`params` for training on an accelerator: tables of whole tiles.

  With a stacked axis XLA lays a table whose rows are no multiple of 128 so
  that its update costs five times as much. `Embed` never reads the rows of
  zeros, and `cut` takes them away before anyone else sees them.
  """
  if backend.platform() == 'cpu':
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


class Dense(nn.Module):
  """y = x W + b over all places of [r, t]; `dtype` is that of the product."""

  features: int
  bias: bool = True
  dtype: Any = jnp.float32
  deviation: float = 0.02  # of the initial kernel

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    rows: Segments,
    apart: bool = False,
    arrays: bool = False,
  ) -> Any:
    """y, or `apart` the product and the bias, to be added by the caller.

    With `arrays` what `feed_forward` takes of the layer, for such an x.
    """
    normal, bias = nn.initializers.normal(self.deviation), None
    # Made of a kernel where nothing is trained.
    is_transposed = self.has_variable('params', 'transposed')
    is_int8 = self.has_variable('params', 'uint8')
    if not (is_transposed or is_int8):
      kernel = self.param('kernel', normal, (x.shape[-1], self.features))
    if self.bias:
      bias = self.param('bias', nn.initializers.zeros, (self.features,))
    _count_call(self)
    x = x.astype(self.dtype)
    own = functools.partial(self.get_variable, 'params')
    if is_int8:
      y = int8.product(x, own('uint8'), own('uint8_scale')).astype(self.dtype)
    elif is_transposed:
      y = _few(x, own('transposed').astype(self.dtype))
    elif arrays:
      return kernel, bias, *_probe(self, rows)
    else:
      layer = _dense_apart if apart else _dense
      return layer(x, kernel, bias, *_probe(self, rows), rows.slots)
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
    scale = self.param('scale', nn.initializers.ones, (x.shape[-1],))
    bias = None
    if self.bias:
      bias = self.param('bias', nn.initializers.zeros, (x.shape[-1],))
    _count_call(self)
    probe = _probe(self, rows)
    y = _norm(x, scale, bias, *probe, self.eps, self.centre, rows.slots)
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
    if self.has_variable('params', 'embedding'):  # may be `padded`
      self.embedding = self.get_variable('params', 'embedding')
      return
    normal = nn.initializers.normal(self.deviation)
    shape = (self.count, self.features)
    self.embedding = self.param('embedding', normal, shape)

  def __call__(
    self, ids: Int[Array, 'r t'], rows: Segments
  ) -> Float[Array, 'r t d']:
    _count_call(self)
    if self.int8:
      return int8.rows(ids, *self.int8).astype(self.dtype)
    return _embed(self.embedding, ids, *_probe(self, rows), self.dtype)

  def attend(self, x: Float[Array, 'r t d']) -> Float[Array, 'r t v']:
    """Scores of every row: x Eᵀ (a second use, which the probe refuses)."""
    _count_call(self)
    if self.int8:
      return int8.product(x, *self.int8).astype(self.dtype)
    table, x = self.embedding.astype(self.dtype), x.astype(self.dtype)
    if backend.platform() == 'cpu':
      return _few(x, table)
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

# Of these parameters weight decay takes its share, of biases, scales and a
# checkpoint's constants it does not. A leaf's name says which it is; its
# number of axes does not, since stacked layers (`scan`) have one more.
DECAYED = ('kernel', 'embedding', 'transposed')


def decays(path: tuple) -> bool:
  """Whether weight decay applies to the parameter at `path`.

  The path is one of names ('encoder', 'word', 'embedding') or of the keys that
  jax.tree_util hands to a function (`tree_map_with_path`).
  """
  last = path[-1]
  return getattr(last, 'key', getattr(last, 'name', last)) in DECAYED


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
