"""A textbook Flax step of a BERT classifier: the peer of deviceless compiles.

Written as Flax's own examples are: MultiHeadDotProductAttention, nn.Dropout
with threefry keys, optax's clipping and AdamW, all seeds under vmap.
"""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


class Block(nn.Module):
  shape: Any
  dtype: Any

  @nn.compact
  def __call__(self, x, mask, off):
    s = self.shape
    y = nn.MultiHeadDotProductAttention(
      s.heads,
      dtype=self.dtype,
      dropout_rate=s.attention_dropout,
      deterministic=off,
    )(x, x, mask=mask)
    x = nn.LayerNorm(dtype=self.dtype)(x + nn.Dropout(s.dropout)(y, off))
    y = nn.gelu(nn.Dense(s.hidden, dtype=self.dtype)(x), approximate=False)
    y = nn.Dense(s.width, dtype=self.dtype)(y)
    return nn.LayerNorm(dtype=self.dtype)(x + nn.Dropout(s.dropout)(y, off))


class Bert(nn.Module):
  shape: Any
  dtype: Any

  @nn.compact
  def __call__(self, tokens, segment_ids, off=False):
    s = self.shape
    embed = lambda n, name: nn.Embed(n, s.width, dtype=self.dtype, name=name)
    x = embed(s.vocab, 'word')(tokens)
    x = x + embed(s.positions, 'position')(jnp.arange(tokens.shape[1])[None])
    x = x + embed(2, 'type')(jnp.zeros_like(tokens))
    x = nn.Dropout(s.dropout)(nn.LayerNorm(dtype=self.dtype)(x), off)
    mask = segment_ids[:, None, :, None] == segment_ids[:, None, None, :]
    for _ in range(s.depth):
      x = Block(s, self.dtype)(x, mask, off)
    x = jnp.tanh(nn.Dense(s.width, dtype=self.dtype)(x[:, 0]))
    return nn.Dense(2, dtype=jnp.float32)(nn.Dropout(s.dropout)(x, off))


def trace(device_mesh: Mesh, shape: Any, size: Any):
  """One step of all seeds, rows over `data`, on the same tokens as ours."""
  model = Bert(shape, jnp.dtype(size.precision))
  transform = optax.chain(
    optax.clip_by_global_norm(1.0), optax.adamw(2e-5, weight_decay=0.01)
  )
  one = jnp.zeros((1, size.length), jnp.int32)
  params = jax.eval_shape(
    lambda: model.init(jax.random.key(0), one, one, True)['params']
  )

  def loss(p, tokens, segment_ids, label, key):
    rngs = {'dropout': key}
    logits = model.apply({'params': p}, tokens, segment_ids, rngs=rngs)
    return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()

  def of_seed(p, opt, tokens, segment_ids, label, seed, step):
    key = jax.random.fold_in(jax.random.key(seed), step)
    value, grads = jax.value_and_grad(loss)(p, tokens, segment_ids, label, key)
    updates, opt = transform.update(grads, opt, p)
    return optax.apply_updates(p, updates), opt, value

  def many(tree):
    return jax.tree.map(
      lambda a: jax.ShapeDtypeStruct(
        (size.seeds, *a.shape),
        a.dtype,
        sharding=NamedSharding(device_mesh, P('seed')),
      ),
      tree,
    )

  def given(dims, spec):
    where = NamedSharding(device_mesh, P('seed', *spec))
    return jax.ShapeDtypeStruct((size.seeds, *dims), np.int32, sharding=where)

  whole = given((size.rows, size.length), ('data',))
  label, seeds = given((size.rows,), ('data',)), given((), ())
  step = jax.jit(
    jax.vmap(of_seed, in_axes=(0,) * 6 + (None,)), donate_argnums=(0, 1)
  )
  opt = many(jax.eval_shape(transform.init, params))
  number = jax.ShapeDtypeStruct((), np.uint32)
  return step.trace(many(params), opt, whole, whole, label, seeds, number)
