"""Generator and discriminator as one model of two players (MBCDA).

    L = -Σ log p(token) / tokens + w Σ CE(D(z), wanted group) / pairs

z are the logits of the teacher-forced target, which are never made: the token
loss sums them in chunks (layers/linear_loss.py), and the discriminator, frozen
and without dropout, reads them folded (models/discriminator.py). It is trained
on the same logits with the same groups.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Float

from fairjax.core import keys
from fairjax.core.errors import UserError
from fairjax.models import Bundle
from fairjax.models.discriminator import LogitDiscriminator, Output
from fairjax.models.layers import linear_loss
from fairjax.models.layers.places import Batch, blank_batch


class Two(NamedTuple):
  """The players' modules."""

  generator: Any
  discriminator: Any  # a LogitDiscriminator

  @property
  def shape(self) -> Any:
    return self.generator.shape


def model(generator: Bundle, **options: Any) -> Bundle:
  """Both players; what is called is the generator."""
  if not hasattr(generator.module, 'written'):
    raise UserError(
      f'a discriminator reads the logits of a BART, and this is a '
      f'{generator.family}; name a BART with --config.rewriters.generator'
    )
  shape = generator.shape
  two = Two(
    generator.module, LogitDiscriminator(shape.vocab, shape.width, **options)
  )

  def init(seed: int) -> dict:
    return {
      'generator': generator.init(seed),
      'discriminator': fresh(two.discriminator, keys.key(seed, keys.INIT, 1)),
    }

  def apply(params, batch, dropout=None):
    return generator.apply(params['generator'], batch, dropout)

  return generator.replace(init=init, apply=apply, module=two)


def fresh(module: LogitDiscriminator, key: jax.Array) -> dict:
  """New parameters of a discriminator."""
  v, d = module.vocab, module.width
  output = Output(*(jnp.zeros(s) for s in ((1, 2, d), (v, d), (v,))))
  return jax.jit(module.init)(key, output, blank_batch())['params']


def output(two: Two, params: dict, batch: Batch, key=None) -> Output:
  """The logits of the target, not yet made."""
  own = params['generator']
  states = two.generator.apply({'params': own}, batch, key, method='written')
  bias = lax.stop_gradient(own['bias']).reshape(-1)  # as BART's: not trained
  return Output(states, own['word']['embedding'], bias)


def verdicts(
  two: Two, params: dict, batch: Batch, read: Output, key=None
) -> Float[Array, 'b 2']:
  """The discriminator's scores of both groups."""
  own = {'params': params['discriminator']}
  return two.discriminator.apply(own, read, batch, key)


def doubts(scores: Float[Array, 'b 2'], batch: Batch) -> Float[Array, '']:
  """Σ CE(D(z), wanted group) / pairs of the step."""
  real = jnp.asarray(batch['example']) >= 0
  losses = optax.softmax_cross_entropy_with_integer_labels(
    scores, jnp.asarray(batch['label'])
  )
  return batch['pair_share'] * jnp.sum(jnp.where(real, losses, 0.0))


def token_loss(read: Output, batch: Batch) -> Float[Array, '']:
  """-Σ log p(token) / tokens of the step."""
  mask = jnp.asarray(batch['target_segment_ids']) > 0
  return linear_loss.weighted_loss(
    read.states.reshape(-1, read.states.shape[-1]),
    read.table,
    read.bias,
    jnp.asarray(batch['target']).ravel(),
    (batch['share'] * mask).ravel(),
  )


def generator_loss(model: Bundle, params, batch: Batch, key):
  """The total of a train.step.Loss, and its two terms."""
  read = output(model.module, params, batch, key)
  tokens = token_loss(read, batch)
  # Without a key D has no dropout; no player owns it, so it stays.
  adversary = doubts(verdicts(model.module, params, batch, read), batch)
  terms = {'token_loss': tokens, 'adversary_loss': adversary}
  return tokens + batch['push'] * adversary, terms


def discriminator_loss(model: Bundle, params, batch: Batch, key):
  """The total of a train.step.Loss."""
  read = output(model.module, params, batch)  # dropout is no sign of a group
  scores = verdicts(model.module, params, batch, read, key)
  return doubts(scores, batch), {}


def judging(model: Bundle) -> Bundle:
  """The model whose output is the discriminator's scores [b, 2]."""
  return model.replace(apply=_discriminate(model.module))


@functools.lru_cache(maxsize=8)
def _discriminate(module) -> Callable:
  def apply(params, batch, key=None):
    return verdicts(module, params, batch, output(module, params, batch))

  return apply
