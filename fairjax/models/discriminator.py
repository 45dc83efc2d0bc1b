"""A discriminator that reads a language model's logits (MBCDA).

Which gender do the logits z_t of a text's places speak of? A small network on
each place, a sum or mean over the text's own places, L2, and a head:

    e_t = W3 relu(W2 relu(W1 z_t + c1) + c2) + c3,   s = Σ_t e_t / ‖Σ_t e_t‖
    D(z) = W5 tanh(W4 s + c4) + c5

with dropout before each layer. After L2, sum and mean are the same; both are
here by name. The logits are linear in the states, z = h Eᵀ + b, so without
dropout on them

    W1 z + c1 = h (Eᵀ W1) + (b W1 + c1),

one product of d × 3265 a place in place of 50,265 × 3265, and no array
[places, vocabulary]: exact wherever the discriminator is not trained, and in
its own training with dropout on h in place of z.

A place's mean logit is taken from all of them, which softmax does not see:
z - mean(z) = h (E - mean E)ᵀ + (b - mean b), so folding stays exact. As
published, that offset is most of what the first layer reads.
"""

import math
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, UInt32

from fairjax.models.families.heads import drop_head
from fairjax.models.layers.dropout import dropout, fold, identities
from fairjax.models.layers.places import Batch, head_rows
from fairjax.models.layers.probed import Dense, Segments, mask_padding_gradient

# Uses of the dropout key, out of the way of the layers' and the heads'.
_PLACE = 1 << 23
# The published widths belong to this vocabulary; others in proportion.
_VOCABULARY, _WIDTHS = 50265, (3265, 1265)


class Output(NamedTuple):
  """Logits not yet made: z = states · tableᵀ + bias at each target place."""

  states: Float[Array, 'r u d']
  table: Float[Array, 'v d']
  bias: Float[Array, 'v']


def widths(vocabulary: int) -> tuple[int, ...]:
  """The widths of the two inner layers for a vocabulary of this size."""
  return tuple(max(32, round(w * vocabulary / _VOCABULARY)) for w in _WIDTHS)


class Noise(NamedTuple):
  """Dropout before the first layer: its rate, its key, and whose places."""

  rate: float
  key: UInt32[Array, ''] | None
  identity: UInt32[Array, 'r u']


class LogitDiscriminator(nn.Module):
  """Two scores an example, float32 [b, 2]: which group its logits speak of."""

  vocab: int
  width: int  # of a place's embedding, and of the head
  rate: float = 0.2  # of the dropout before each layer
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    output: Output,
    batch: Batch,
    dropout_key: UInt32[Array, ''] | None = None,
  ) -> Float[Array, 'b 2']:
    b = batch['example'].shape[0]
    output = centre(output)  # softmax ignores a place's mean logit: so does D
    segment_ids, positions = (
      jnp.asarray(batch[name])
      for name in ('target_segment_ids', 'target_positions')
    )
    rows = Segments(segment_ids, b)
    identity = identities(jnp.asarray(batch['example']), segment_ids, positions)
    key = fold(dropout_key, _PLACE)
    drop = lambda x, k: dropout(x, self.rate, fold(key, k), identity)
    first, second = widths(self.vocab)
    kernel = self.param('kernel', _uniform, (self.vocab, first))
    bias = self.param('bias', nn.initializers.zeros, (first,))
    dense = lambda n, name, fan: Dense(
      n, dtype=self.dtype, deviation=_deviation(fan), name=name
    )
    noise = Noise(self.rate, fold(key, 0), identity)
    x = nn.relu(folded(output, kernel.astype(self.dtype), bias, noise))
    x = nn.relu(dense(second, 'middle', first)(drop(x, 1), rows))
    x = dense(self.width, 'place', second)(x, rows)
    x = pooled(x.astype(jnp.float32), rows)
    whole = head_rows(batch)
    x = drop_head(x[:, None], batch, self.rate, dropout_key, 2)
    x = nn.tanh(dense(self.width, 'dense', self.width)(x, whole))
    x = drop_head(x, batch, self.rate, dropout_key, 3)
    x = Dense(2, deviation=_deviation(self.width), name='score')(x, whole)
    return mask_padding_gradient(x[:, 0], whole.segment_ids[:, 0])


def centre(output: Output) -> Output:
  """The same logits, each place's mean taken from them."""
  table, bias = (a.astype(jnp.float32) for a in (output.table, output.bias))
  return Output(output.states, table - table.mean(0), bias - bias.mean())


def _deviation(fan_in: int) -> float:
  """That of torch's default: uniform in ±1/√fan_in."""
  return 1 / math.sqrt(3 * fan_in)


def _uniform(key, shape):
  bound = 1 / math.sqrt(shape[0])
  return jax.random.uniform(key, shape, jnp.float32, -bound, bound)


def folded(
  output: Output,
  kernel: Float[Array, 'v f'],
  bias: Float[Array, 'f'],
  noise: Noise,
) -> Float[Array, 'r u f']:
  """W1 z + c1 as h (Eᵀ W1) + (b W1 + c1); dropout is on h."""
  states = dropout(output.states, *noise).astype(kernel.dtype)
  inner = jnp.einsum('vd,vf->df', output.table.astype(kernel.dtype), kernel)
  shift = output.bias.astype(jnp.float32) @ kernel.astype(jnp.float32) + bias
  return jnp.einsum('rud,df->ruf', states, inner) + shift.astype(kernel.dtype)


def pooled(x: Float[Array, 'r u d'], rows: Segments) -> Float[Array, 'b d']:
  """The sum over each example's own places, of length 1 (so the mean, too)."""
  ids = rows.segment_ids.ravel()
  sums = lambda a: jax.ops.segment_sum(a, ids, rows.count + 1)[1:]
  x = sums(x.reshape(-1, x.shape[-1]))
  # Padding examples are 0 and stay 0, with a finite gradient.
  return x * lax.rsqrt(jnp.maximum(jnp.sum(x * x, -1, keepdims=True), 1e-24))
