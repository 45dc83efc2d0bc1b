"""GPT-2 (Radford et al. 2019): each token from those before it.

Pre-norm layers with learned positions, and the word embeddings as output layer;
families/causal.py has the body.
"""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, UInt32

from fairjax.models.families import causal
from fairjax.models.families.config_keys import of_family, shape_class
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import WordTagger
from fairjax.models.layers.attention import ACTIVATIONS, KeyValue
from fairjax.models.layers.dropout import dropout, fold
from fairjax.models.layers.places import Places
from fairjax.models.layers.probed import Dense, LayerNorm


@shape_class('gpt2')
class GPT2Shape:
  """Everything about a GPT-2 that its parameters do not say."""

  hidden: int = 3072
  start: int | None = None  # a prompt stands in its place

  @property
  def longest(self) -> int:
    return self.positions

  # What causal.LeftToRight asks of a shape, the same in every GPT-2.

  @property
  def tied(self) -> bool:
    return True

  @property
  def groups(self) -> int:
    return self.heads

  @property
  def head_width(self) -> int:
    return self.width // self.heads


def sized(depth: int, width: int, places: int = 1024) -> GPT2Shape:
  heads, hidden = width // 64, 4 * width
  return GPT2Shape(
    depth=depth, width=width, heads=heads, hidden=hidden, positions=places
  )


class GPT2Layer(nn.Module):
  """x + attention(norm x), then x + feed-forward(norm x)."""

  shape: GPT2Shape
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(
    self,
    x: Float[Array, 'r t d'],
    at: Places,
    visible: Bool[Array, 'r t k'],
    key: UInt32[Array, ''] | None = None,
    cache: KeyValue | None = None,
  ) -> tuple[Float[Array, 'r t d'], KeyValue | None]:
    s, rows = self.shape, at.rows
    # What is added to the residual starts smaller the more layers there are.
    less = s.deviation * (2 * s.depth) ** -0.5
    dense = lambda features, name, deviation=s.deviation: Dense(
      features, dtype=self.dtype, deviation=deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, name=name)
    drop = lambda y, kind: dropout(y, s.dropout, fold(key, kind), at.identity)

    qkv = dense(3 * s.width, 'attend')(norm('attend_norm')(x, rows), rows)
    rate, inner = s.attention_dropout, fold(key, 0)
    y, cache = causal.attend(qkv, s.heads, at, visible, rate, inner, cache)
    x = x + drop(dense(s.width, 'attention_out', less)(y, rows), 1)
    z = dense(s.hidden, 'up')(norm('up_norm')(x, rows), rows)
    z = dense(s.width, 'down', less)(ACTIVATIONS[s.activation](z), rows)
    return x + drop(z, 2), cache


GPT2 = functools.partial(causal.LeftToRight, GPT2Layer, learned_positions=True)


def heads(name: str, lm: str, tensors: str = '') -> dict[str, Head]:
  """What every left-to-right model has; `lm` is the class that writes."""
  tag = Head(f'{name}ForTokenClassification', f'{name.lower()}.tag', WordTagger)
  # First: a tagger whose word vectors are its output layer could write.
  return {'tag': tag} | dict.fromkeys(('write', 'judge'), Head(lm, tensors))


FAMILY = Family(
  name='gpt2',
  shape=GPT2Shape,
  keys=of_family('gpt2'),
  body=GPT2,
  tensors='gpt2',
  prefix='transformer.',
  heads=heads('GPT2', 'GPT2LMHeadModel'),
  sized=sized,
  derive=lambda v: {'hidden': v['hidden'] or 4 * v['width']},
)
