"""GraNd: the gradient norm of one example's loss, for all examples.

  GraNd(x, y) = ‖∇_θ ℓ(f_θ(x), y)‖₂    over all parameters θ, dropout off

(Paul, Ganguli and Dziugaite 2021, arXiv:2107.07075.) The squared norms come
out of one backward pass as the cotangents of zero probes (layers/probed.py):
no gradient of a parameter, let alone one an example, is ever made, and memory
is that of a batch. The loss is the plain cross-entropy, whatever the weight of
the row.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from fairjax.core.errors import UserError
from fairjax.data.batching.batches import Pool
from fairjax.models import Bundle
from fairjax.models.layers import layer_params, probed
from fairjax.train import loop, mesh, step


def grand(
  model: Bundle, params, pool: Pool, device_mesh, batch: int = 64
) -> Float[np.ndarray, 's n']:
  """The norms of all examples under each seed's stacked parameters."""
  one = loop.smallest(pool)  # enough to look at shapes
  check(model, params, one)
  params = layer_params.as_read(model.module, params, one)
  norms = compiled(model, device_mesh)
  doing = 'gradient norms'
  return loop.over_examples(norms, params, pool, device_mesh, batch, doing)


def check(model: Bundle, params, batch: dict) -> None:
  """One sentence for a model whose norms would leave a parameter out."""
  one = jax.tree.map(
    lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), params
  )
  missing = probed.uncovered(one, probed.zero_probes(model.module, one, batch))
  if missing:
    raise UserError(
      f'parameter {missing[0]} of the model is covered by no probe, so its '
      'gradient would be missing from GraNd; let it live in a Dense, Embed or '
      'LayerNorm of fairjax/models/layers/probed.py'
    )


def squares(model: Bundle, params, batch: dict) -> Float[jax.Array, ' b']:
  """‖∇_θ ℓ_i‖² of each example i of a batch; 0 for padding examples."""
  real = batch['example'] >= 0

  def loss(probes):
    variables = {'params': params, 'probes': probes}
    each = step.cross_entropy(
      model.module.apply(variables, batch), batch['label']
    )
    return jnp.sum(jnp.where(real, each, 0.0))  # padding: no gradient

  result = jax.grad(loss)(probed.zero_probes(model.module, params, batch))
  return sum(jax.tree.leaves(result), jnp.zeros(()))


def compiled(model: Bundle, device_mesh):
  """norms(stacked params, batch) -> [s, b], the same batch for all seeds."""
  return _compiled(model.program, device_mesh)


@functools.lru_cache(maxsize=8)
def _compiled(model: Bundle, device_mesh):
  @jax.jit
  def norms(params, batch):
    each = lambda p: jnp.sqrt(squares(model, p, batch))
    out = mesh.over_seeds(device_mesh, each)(params)
    return jax.lax.with_sharding_constraint(out, mesh.replicated(device_mesh))

  return norms


def grand_scores(predictions, config) -> Float[np.ndarray, 's n']:
  """GraNd of the rows of `predictions` (stages/model_outputs.py)."""
  return predictions.norms
