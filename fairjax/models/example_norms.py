"""Exact per-example gradient norms of a user's own Flax (linen) model.

Each example's gradient is taken by itself, a few of them side by side, so any
module will do: on a CPU a small transformer takes 2.4 times as long as for one
gradient of the batch. Our own models take one backward pass
(layers/exact_norms.py).
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

BESIDE = 8  # gradients in memory at a time


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
      called with one example at a time. Turn dropout off in it.
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

  def norm(example):
    inputs, targets = jax.tree.map(lambda a: jnp.asarray(a)[None], example)

    def alone(params):
      return loss(module.apply({'params': params}, *inputs), targets)[0]

    gradients = jax.tree.leaves(jax.grad(alone)(params))
    return jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in gradients))

  return jax.lax.map(norm, (inputs, targets), batch_size=BESIDE)
