"""Matrix products, exact and fast on each platform."""

from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.experimental.layout import Layout, with_layout_constraint
from jax.extend import core
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

from fairjax.models.kernels.platform_traits import platform_traits


def exact(dtype: Any) -> lax.Precision | None:
  """The precision of products: float32 means float32."""
  if dtype != jnp.float32 or not platform_traits().shortens:
    return None
  return lax.Precision.HIGHEST  # else a TPU makes bfloat16 and a GPU TF32


def _lower(context, x):
  """A layout where one device runs the program; several would gather for it."""
  devices = getattr(context.module_context.axis_context, 'num_devices', 0)
  lay = lambda x: with_layout_constraint(x, Layout(tuple(range(x.ndim))))
  way = lay if devices == 1 else lax.optimization_barrier
  return mlir.lower_fun(way, multiple_results=False)(context, x)


# A primitive, since no more than its lowering knows how many devices there are.
_layout = core.Primitive('row_major')
_layout.def_impl(lambda x: x)
_layout.def_abstract_eval(lambda x: x)
mlir.register_lowering(_layout, _lower)

# Rules of its own: as functions with custom rules, its calls were a third of
# what tracing a model takes.
ad.primitive_jvps[_layout] = lambda given, tangents: (
  row_major(*given),
  *tangents,
)
batching.primitive_batchers[_layout] = lambda given, axes: (
  row_major(jnp.moveaxis(given[0], axes[0], 0)),
  0,
)


def row_major(x: Float[Array, '*s']):
  """x, its last axis innermost in memory, as the products of a CPU take it.

  Left to itself XLA takes a turned array as it lies, and a product of that is
  no longer one for its library: in float32 it runs at half the speed, and one
  of bfloat16 is made in float32, or not at all.
  """
  return _layout.bind(x)


def summed(a, b, dims, dtype=None):
  """`lax.dot_general`, summed in float32 and given as `dtype` or that of a."""
  dtype = dtype or a.dtype
  if not platform_traits().by_library:
    return lax.dot_general(
      a, b, dims, precision=exact(a.dtype), preferred_element_type=dtype
    )
  # AVX512_BF16 and AMX need a float32 sum and a's contracted axis last.
  y = lax.dot_general(
    row_major(a), row_major(b), dims, preferred_element_type=jnp.float32
  )
  return row_major(y).astype(dtype)


Axes = int | tuple[int, ...]


def product(a, b, over_a: Axes, over_b: Axes, dtype=None):
  """a·b over axes of each, of type `dtype` or that of a."""
  over = [one if isinstance(one, tuple) else (one,) for one in (over_a, over_b)]
  return summed(a, b, (tuple(over), ((), ())), dtype)


def flattened(x: Float[Array, '*s d']):
  """[n, d], as the products of a CPU take it.

  A TPU's keep the axes: of [r·t, h·e], which XLA lays with the places on the
  lanes, it would turn every query, key and value twice to split r from t.
  """
  return x if platform_traits().tiled_arrays else x.reshape(-1, x.shape[-1])


def outer(x: Float[Array, '*n d'], g: Float[Array, '*n f'], dtype: Any):
  """Σ_n x_n g_nᵀ, summed in float32 and given as `dtype`."""
  if not platform_traits().by_library:
    every = tuple(range(x.ndim - 1))
    return product(x, g, every, every, dtype)
  if x.shape[1] <= g.shape[1]:  # the narrower side is turned in memory
    return product(x.T, g, 1, 0, dtype)
  return row_major(product(g.T, x, 1, 0, dtype).T)


def gram(a: Float[Array, 'r t d']) -> Float[Array, 'r t t']:
  """a_t·a_u for the places t, u of each row, in float32."""
  return summed(a, a, (((2,), (2,)), ((0,), (0,))), jnp.float32)


FEW = 128  # places


def few_places(x: Float[Array, 'r t d'], transposed: Float[Array, 'f d']):
  """x Wᵀ where x has few places, by a product that lies as W does.

  On a CPU a plain product of 4 to 32 places copies all of W first. Thirty
  layers of 768 × 3072 on two cores, 16 places: 23 ms this way, 46 that way.
  Without the barriers XLA would turn the product back.
  """
  r, t, d = x.shape
  if transposed.dtype == jnp.bfloat16:  # the left side is read as it lies
    places = x.reshape(-1, d).astype(jnp.bfloat16)
    if r * t <= FEW:
      y = product(transposed, places, 1, 1, jnp.float32).T
    else:
      y = product(places, transposed, 1, 1, jnp.float32)
    return y.reshape(r, t, -1).astype(x.dtype)
  if not 1 < r * t <= FEW:
    return jnp.einsum('rtd,fd->rtf', x, transposed.astype(x.dtype))
  columns = lax.optimization_barrier(x.reshape(-1, d).T)
  return lax.optimization_barrier(transposed @ columns).T.reshape(r, t, -1)
