"""Exact per-example gradient norms of a user's own model.

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
  module: nn.Module | Callable,
  params: Any,
  inputs: tuple | Array,
  targets: Any,
  loss: Callable[[Any, Any], Float[Array, ' b']],
) -> Float[Array, ' b']:
  """‖∇_θ ℓ(f_θ(x_i), y_i)‖₂ of every example i of a batch, over all of θ.

  Args:
    module: a linen module, or a function of (params, *inputs), as of an NNX
      model after `nnx.split`; called with one example at a time. Turn dropout
      off in it.
    params: its parameters, any tree of arrays.
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
  apply = module
  if isinstance(module, nn.Module):
    apply = lambda params, *inputs: module.apply({'params': params}, *inputs)

  def norm(example):
    inputs, targets = jax.tree.map(lambda a: jnp.asarray(a)[None], example)

    def alone(params):
      return loss(apply(params, *inputs), targets)[0]

    gradients = jax.tree.leaves(jax.grad(alone)(params))
    return jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in gradients))

  return jax.lax.map(norm, (inputs, targets), batch_size=BESIDE)
