"""Pretraining losses, as functions of a model and a batch.

Each objective returns its terms by name: losses at the places asked, and
whose places they are. Training minimises Σ share · loss; evaluation sums the
same terms over the pieces of each document. A term without a share is only
measured. The batches are those of batching/corruption.py.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, UInt32

from fairjax.models import Bundle
from fairjax.models.families import causal
from fairjax.models.families.heads import ElectraDiscriminator, MaskedLM
from fairjax.models.layers.argmax import argmax
from fairjax.models.layers.dropout import GOLDEN, fold, hash32
from fairjax.models.layers.places import Batch, places

# Uses of the dropout key, out of the way of the layers' and the heads'.
_SAMPLE, _JUDGE = 1 << 21, 1 << 22
# The embeddings that generator and discriminator have in common.
SHARED = ('word', 'position', 'type', 'norm')


class Term(NamedTuple):
  losses: Float[Array, 'r m']
  segment_ids: Int[Array, 'r m']  # 0 where nothing is asked
  share: Float[Array, ''] | None  # what a loss counts; None: only measured


Terms = dict[str, Term]


def masked(model: Bundle, params: Any, batch: Batch, key) -> Terms:
  """-log p(token) at the masked places (BERT, RoBERTa)."""
  logits = model.apply(params, batch, key)
  losses = causal.token_losses(logits, batch['labels'])
  return {'loss': Term(losses, batch['asked'], batch['share'])}


def continued(model: Bundle, params: Any, batch: Batch, key) -> Terms:
  """-log p(next token), within each piece (GPT-2)."""
  labels, segment_ids = causal.following(batch)
  losses = causal.token_losses(model.apply(params, batch, key), labels)
  return {'loss': Term(losses, segment_ids, batch['share'])}


def denoised(model: Bundle, params: Any, batch: Batch, key) -> Terms:
  """-log p(target token), given the source: corrupted (BART), or to rewrite."""
  logits = model.apply(params, batch, key)
  losses = causal.token_losses(logits, batch['target'])
  return {'loss': Term(losses, batch['target_segment_ids'], batch['share'])}


def rewrites(model: Bundle, params: Any, batch: Batch, key) -> Terms:
  """What is measured of held-out targets: all tokens, and changed ones."""
  logits, segment_ids = (
    model.apply(params, batch, key),
    batch['target_segment_ids'],
  )
  losses = causal.token_losses(logits, batch['target'])
  right = argmax(logits) == batch['target']
  changed = jnp.where(batch['changed'] > 0, segment_ids, 0)
  return {
    'loss': Term(losses, segment_ids, None),
    'changed_loss': Term(losses, changed, None),
    'token_accuracy': Term(right.astype(jnp.float32), segment_ids, None),
    'changed_accuracy': Term(right.astype(jnp.float32), changed, None),
  }


class Pair(NamedTuple):
  """ELECTRA's two models."""

  generator: MaskedLM
  discriminator: ElectraDiscriminator

  @property
  def shape(self) -> Any:
    return self.discriminator.shape


def shared(params: dict) -> dict:
  """The generator's parameters with the discriminator's embeddings."""
  ours, theirs = params['generator'], params['discriminator']['encoder']
  common = {name: theirs[name] for name in SHARED}
  return {**ours, 'encoder': {**ours['encoder'], **common}}


def separated(params: dict) -> dict:
  """The generator's parameters without what it does not own."""
  own = {k: v for k, v in params['encoder'].items() if k not in SHARED}
  return {**params, 'encoder': own}


def sample(
  logits: Float[Array, 'r m v'],
  identity: UInt32[Array, 'r m'],
  key: UInt32[Array, ''],
) -> Int[Array, 'r m']:
  """A token from each softmax: argmax of logits and Gumbel noise."""
  # A hash of key, place and token: where a place lies does not matter.
  token = jax.lax.iota(jnp.uint32, logits.shape[-1]) * jnp.uint32(GOLDEN)
  bits = hash32(hash32(identity ^ key)[..., None] + token)
  # 23 bits and a half: never 0 or 1, and exact in float32.
  uniform = ((bits >> 9).astype(jnp.float32) + 0.5) * 2.0**-23
  return argmax(logits - jnp.log(-jnp.log(uniform)))


def replaced(
  batch: Batch, sampled: Int[Array, 'r m']
) -> tuple[Int[Array, 'r t'], Int[Array, 'r t']]:
  """The original tokens, and those with `drawn` at the places asked."""
  tokens, columns = jnp.asarray(batch['tokens']), batch['places']
  row = jnp.arange(tokens.shape[0])[:, None]
  now = tokens[row, columns]
  # Added, not set: the slots without a question all name column 0.
  scatter = lambda new: tokens.at[row, columns].add(
    jnp.where(batch['asked'] > 0, new - now, 0)
  )
  return scatter(batch['labels']), scatter(sampled.astype(tokens.dtype))


def generate_and_detect(
  model: Bundle, params: Any, batch: Batch, key
) -> tuple[Array, ...]:
  """The generator fills the masks, the discriminator judges every token.

  The generator's logits [r, m, v]; the original tokens and those with the
  generator's [r, t]; scores [r, t] that are above 0 for 'replaced'.
  """
  generator, discriminator = model.module
  logits = generator.apply({'params': shared(params)}, batch, key)
  identity = jnp.take_along_axis(
    places(batch).identity, batch['places'], axis=1
  )
  noise = fold(key, _SAMPLE)
  noise = jnp.uint32(0) if noise is None else noise  # evaluation: repeatable
  # No gradient passes a drawn token (the paper, section 2).
  sampled = sample(jax.lax.stop_gradient(logits), identity, noise)
  original, inputs = replaced(batch, sampled)
  scores = discriminator.apply(
    {'params': params['discriminator']},
    {**batch, 'tokens': inputs},
    fold(key, _JUDGE),
  )
  return logits, original, inputs, scores


def detected(model: Bundle, params: Any, batch: Batch, key) -> Terms:
  """Replaced-token detection (ELECTRA, arXiv:2003.10555).

  The masked LM's loss of the generator, and of the discriminator -log p(right
  verdict) at every token; `found` and `false_alarms` are the shares flagged
  of replaced and of original tokens.
  """
  logits, original, inputs, scores = generate_and_detect(
    model, params, batch, key
  )
  losses = causal.token_losses(logits, batch['labels'])
  wrong, segment_ids = inputs != original, jnp.asarray(batch['segment_ids'])
  # A sampled token that is right counts as original (the paper, section 2).
  judged = optax.sigmoid_binary_cross_entropy(scores, wrong)
  flagged = (scores > 0).astype(jnp.float32)
  result, alarm = (
    jnp.where(these, segment_ids, 0) for these in (wrong, ~wrong)
  )
  return {
    'generator_loss': Term(losses, batch['asked'], batch['share']),
    'detection_loss': Term(judged, segment_ids, batch['judged_share']),
    'found': Term(flagged, result, None),
    'false_alarms': Term(flagged, alarm, None),
  }


def one(batch: Batch) -> Float[Array, '']:
  """What a step's losses are divided by: their shares have divided already."""
  return jnp.float32(1)


@functools.cache
def loss(objective) -> tuple[Callable, Callable]:
  """Σ share · loss over the terms and the places asked, each logged.

  The two functions of a train.step.Loss: total(model, params, batch, key) and
  count(batch).
  """

  def total(model, params, batch, key):
    sums = {
      name: term.share
      * jnp.sum(jnp.where(term.segment_ids > 0, term.losses, 0.0))
      for name, term in objective(model, params, batch, key).items()
      if term.share is not None
    }
    return sum(sums.values()), sums if len(sums) > 1 else {}  # one is the loss

  return total, one


def measured(model: Bundle, objective) -> Bundle:
  """The model whose output is, for each piece, sums and counts [b, 2 k].

  In the order of the terms: the sum of the first, of the second, …, then the
  number of places asked by each.
  """
  return model.replace(apply=_measure(model.program, objective))


@functools.lru_cache(maxsize=8)
def _measure(model: Bundle, objective) -> Callable:
  def apply(params, batch, key=None):
    terms, b = objective(model, params, batch, key), len(batch['example'])
    sums = lambda a, segment_ids: jax.ops.segment_sum(
      a.ravel(), segment_ids.ravel(), b + 1
    )[1:]  # 0 is padding
    each = [sums(t.losses, t.segment_ids) for t in terms.values()]
    each += [
      sums(jnp.ones_like(t.losses), t.segment_ids) for t in terms.values()
    ]
    return jnp.stack(each, axis=-1)

  return apply
