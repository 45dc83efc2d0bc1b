"""A small encoder, packed texts, and their norms fast and one by one."""

import jax
import jax.numpy as jnp
import small

from fairjax.models.layers import probed

from .batches import examples, pack

SHAPE = small.shape_of('bert', 30, 20, depth=2, deviation=0.25)
TEXTS = examples([3, 9, 4, 12, 6], SHAPE.vocab)
PACKED = pack(TEXTS, 3, 16, 3, extra=2, junk=1)


def losses(module, variables, batch):
  logits = module.apply(variables, batch)
  picked = jnp.arange(logits.shape[0]), jnp.asarray(batch['label'])
  return -jax.nn.log_softmax(logits)[picked]


def norms(module, params, batch):
  """Σ over layers of the probes' cotangents."""
  real = jnp.asarray(batch['example']) >= 0

  def loss(probes):
    each = losses(module, {'params': params, 'probes': probes}, batch)
    return jnp.sum(jnp.where(real, each, 0))

  squares = jax.grad(loss)(probed.zero_probes(module, params, batch))
  return sum(
    leaf.reshape(-1, len(real)).sum(0) for leaf in jax.tree.leaves(squares)
  )


def one_by_one(module, params, batch):
  """The slow twin: the whole gradient of each example's own loss."""

  def gradient(i):
    return jax.grad(lambda p: losses(module, {'params': p}, batch)[i])(params)

  total = lambda tree: sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))
  return jax.vmap(lambda i: total(gradient(i)))(jnp.arange(len(TEXTS)))
