"""One training step and one forward pass, over all seeds at once."""

import functools
import types
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from fairjax import keys
from fairjax.config import Train
from fairjax.models import Model
from fairjax.train import mesh, optim


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
  """-log softmax(logits)[label], one number an example."""
  return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


def weighted_sum(model: Model, params, batch: dict, dropout) -> jax.Array:
  """Σ wᵢ·lossᵢ over the batch; padding examples have weight 0."""
  logits = model.apply(params, batch, dropout)
  return jnp.sum(batch['weight'] * cross_entropy(logits, batch['label']))


def examples(batch: dict) -> jax.Array:
  """How many real examples a batch holds."""
  return jnp.sum(batch['example'] >= 0)


class Loss(NamedTuple):
  """What a step minimises: total / count over all micro-batches."""

  total: Callable  # total(model, params, batch, dropout) -> a sum
  count: Callable  # count(batch) -> what the sum is divided by


CLASSES = Loss(weighted_sum, examples)


def gradients(
  model: Model,
  params,
  batch: dict,
  dropout,
  accumulate: int,
  loss: Loss = CLASSES,
):
  """Mean loss and its gradient, summed over micro-batches.

  The loss is divided, not the gradient: that would be one more pass over it.
  """
  count = jnp.maximum(loss.count(batch), 1)

  @jax.value_and_grad
  def grad(params, micro):
    return loss.total(model, params, micro, dropout) / count

  if accumulate == 1:
    return grad(params, batch)

  def add(total, micro):
    return jax.tree.map(jnp.add, total, grad(params, micro)), None

  zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
  return jax.lax.scan(add, zero, batch)[0]


@functools.lru_cache(maxsize=8)
def _compiled(
  model: Model, told: tuple, device_mesh, fsdp: bool, minimised: Loss
):
  options = types.SimpleNamespace(**dict(told))  # reading another one raises
  transform = optim.transform(options)

  def gradient(params, batch, seed, step):
    dropout = keys.dropout(seed, step)
    return gradients(
      model, params, batch, dropout, options.microbatches, minimised
    )

  def move(params, opt, grads, rate):
    direction, opt = transform.update(grads, opt, params)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), opt

  @functools.partial(jax.jit, donate_argnums=0)
  def train_step(state, batch, seeds, step, total):
    loss, grads = mesh.over_seeds(device_mesh, gradient)(
      state['params'], batch, seeds, jnp.ones_like(seeds) * step
    )
    # Stacked, as it lies: taking seeds apart here would copy the state.
    params, opt = jax.vmap(move, in_axes=(0, 0, 0, None))(
      state['params'], state['opt'], grads, optim.rate(options, step, total)
    )
    new = {'params': params, 'opt': opt}
    where = mesh.state_shardings(device_mesh, new, fsdp)
    new = jax.lax.with_sharding_constraint(new, where)
    return new, jax.lax.with_sharding_constraint(
      loss, mesh.replicated(device_mesh)
    )

  @jax.jit
  def start(params):
    return mesh.over_seeds(device_mesh, transform.init)(params)

  return train_step, start


def compiled(
  model: Model,
  train: Train,
  device_mesh,
  fsdp: bool = False,
  loss: Loss = CLASSES,
):
  """(train_step, start): compiled once per model, mesh and what a step reads.

  train_step(state, batch, seeds, step, total) -> (state, loss per seed);
  the state's buffers are donated. start(params) -> optimiser state.
  """
  told = tuple(
    (name, getattr(train, name))
    for name in (*optim.STEP_OPTIONS, 'microbatches')
  )
  return _compiled(model, told, device_mesh, fsdp, loss)


@functools.lru_cache(maxsize=8)
def forward(model: Model, device_mesh):
  """logits(stacked params, batch) -> [s, b, c], the same batch for all."""

  @jax.jit
  def logits(params, batch):
    out = mesh.over_seeds(device_mesh, lambda p: model.apply(p, batch, None))(
      params
    )
    return jax.lax.with_sharding_constraint(out, mesh.replicated(device_mesh))

  return logits
