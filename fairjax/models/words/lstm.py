"""The recurrent network of the weighting paper (Zhang et al., ACL 2020).

  LSTM 128 over 35 words → dense 128, relu → norm → dropout 0.5 → scores

The paper normalises over the batch (Ioffe and Szegedy 2015). There each
example's loss depends on its neighbours in the batch, so that it has no
gradient of its own and a result would change with packing; here the norm is
over features (Ba et al. 2016, arXiv:1607.06450), with the same ε of 0.001.

The recurrence is one scan forward and one back. What does not depend on the
step before is out of it: the products with the inputs, and, by a VJP of its
own, the gradient of the recurrent kernel, which is one product at the end.
"""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, UInt32

from fairjax.models.layers import exact_norms, probed, products
from fairjax.models.layers.places import Batch, head_rows
from fairjax.models.layers.probed import LayerNorm, Segments
from fairjax.models.words import word_level
from fairjax.models.words.word_level import glorot


class LSTM(nn.Module):
  """Logits float32 [b, c] of each example's words."""

  shape: word_level.WordShape
  hidden: int = 128
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'b c']:
    x, rows = word_level.read(batch, self.shape, self.dtype)
    x = glorot(4 * self.hidden, x, self.dtype, 'input')(x, rows)
    x = Recurrent(self.hidden, self.dtype, name='recurrent')(x, rows)[:, None]
    one = head_rows(batch)
    x = glorot(self.hidden, x, self.dtype, 'dense')(x, one)
    x = LayerNorm(1e-3, self.dtype, name='norm')(jax.nn.relu(x), one)
    x = word_level.dropout(x, batch, self.shape, dropout_key)
    return word_level.scores(x, batch, self.shape)


class Recurrent(nn.Module):
  """The last state [b, h] of an LSTM whose input products are `x`.

  With z_t = x_t + h_{t-1} U, in the order of gates i, f, g, o:

    c_t = σ(f + 1) c_{t-1} + σ(i) tanh(g)      h_t = σ(o) tanh(c_t)

  The 1 is the forget gate's bias at the start of training. The squared norm
  of one example's gradient of U is Σ_{t,u} (h_{t-1}·h_{u-1})(ż_t·ż_u).
  """

  hidden: int
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self, x: Float[Array, 'b l z'], rows: Segments
  ) -> Float[Array, 'b h']:
    start = nn.initializers.orthogonal()
    kernel = self.param('kernel', start, (self.hidden, 4 * self.hidden))
    probed.count_call(self)
    sq, segment_ids = probed.probe_of(self, rows)
    return _recur(x.astype(jnp.float32), kernel, sq, segment_ids, self.dtype)


def _product(a, b, dtype):
  return jnp.dot(
    a.astype(dtype), b.astype(dtype), preferred_element_type=jnp.float32
  )


def _gates(z: Float[Array, 'b z']) -> tuple[Float[Array, 'b h'], ...]:
  i, f, g, o = jnp.split(z, 4, axis=-1)
  return (
    jax.nn.sigmoid(i),
    jax.nn.sigmoid(f + 1),  # 1: the forget gate starts open
    jnp.tanh(g),
    jax.nn.sigmoid(o),
  )


@functools.partial(jax.custom_vjp, nondiff_argnums=(4,))
def _recur(x, kernel, sq, segment_ids, dtype):
  return _recur_forward(x, kernel, sq, segment_ids, dtype)[0]


def _recur_forward(x, kernel, sq, segment_ids, dtype):
  def step(state, x_t):
    h, c = state
    i, f, g, o = _gates(x_t + _product(h, kernel, dtype))
    new = f * c + i * g
    return (o * jnp.tanh(new), new), (h, c, i, f, g, o)

  zero = jnp.zeros((x.shape[0], kernel.shape[0]), jnp.float32)
  (last, _), past = lax.scan(step, (zero, zero), x.swapaxes(0, 1))
  return last, (past, kernel, sq, segment_ids)


def _recur_backward(dtype, residuals, dh):
  past, kernel, sq, segment_ids = residuals

  def step(state, at):
    dh, dc = state
    _, c, i, f, g, o = at
    new = jnp.tanh(f * c + i * g)
    dc = dc + dh * o * (1 - new * new)
    dz = jnp.concatenate(
      [
        dc * g * i * (1 - i),
        dc * c * f * (1 - f),
        dc * i * (1 - g * g),
        dh * new * o * (1 - o),
      ],
      axis=-1,
    )
    return (_product(dz, kernel.T, dtype), dc * f), dz

  _, dz = lax.scan(step, (dh, jnp.zeros_like(dh)), past, reverse=True)
  h = past[0]
  hidden = kernel.shape[0]
  dkernel = _product(h.reshape(-1, hidden).T, dz.reshape(-1, 4 * hidden), dtype)
  dz = dz.swapaxes(0, 1)
  dsq = None
  if sq is not None:
    pairs = products.gram(h.swapaxes(0, 1)) * products.gram(dz)
    dsq = exact_norms.per_example(pairs, segment_ids, sq.shape[0])
  return dz, dkernel.astype(kernel.dtype), dsq, None


_recur.defvjp(_recur_forward, _recur_backward)
