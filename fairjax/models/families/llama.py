"""Llama (Touvron et al. 2023, arXiv:2302.13971), the block of SmolLM2 too.

Pre-norm layers with RMSNorm, rotary positions, a gated feed-forward (SwiGLU),
and attention whose keys and values may be shared by groups of heads (GQA,
arXiv:2305.13245). families/causal.py has the body.
"""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, UInt32

from fairjax.models.families import causal, gpt2
from fairjax.models.families.config_keys import of_family, shape_class
from fairjax.models.families.family import Family
from fairjax.models.layers.attention import (
  ACTIVATIONS,
  KeyValue,
  attention,
  dropping,
  rotate,
  split_key_value,
)
from fairjax.models.layers.dropout import fold
from fairjax.models.layers.places import Places
from fairjax.models.layers.probed import Dense, LayerNorm


@shape_class('llama')
class LlamaShape:
  """Everything about a Llama that its parameters do not say."""

  groups: int = 32  # of heads, each with keys and values of its own
  head_width: int = 128
  start: int | None = None  # a prompt stands in its place

  @property
  def longest(self) -> int:
    return self.positions


class LlamaLayer(nn.Module):
  """x + attention(norm x), then x + gated feed-forward(norm x)."""

  shape: LlamaShape
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
    dense = lambda features, name, bias: Dense(
      features, bias, self.dtype, s.deviation, name=name
    )
    norm = lambda name: LayerNorm(s.eps, self.dtype, False, False, name=name)
    y = norm('attention_norm')(x, rows)
    bias, e = s.attention_bias, s.head_width
    query = dense(s.heads * e, 'query', bias)(y, rows)
    both = dense(2 * s.groups * e, 'key_value', bias)(y, rows)
    y, cache = self.attend(query, both, at, visible, key, cache)
    x = x + dense(s.width, 'attention_out', bias)(y, rows)
    z = dense(2 * s.hidden, 'up', s.hidden_bias)(
      norm('hidden_norm')(x, rows), rows
    )
    gate, z = jnp.split(z, 2, axis=-1)
    z = ACTIVATIONS[s.activation](gate) * z
    return x + dense(s.width, 'down', s.hidden_bias)(z, rows), cache

  def attend(self, query, both, at, visible, key, cache):
    """Attention to the places, or to the cache with these places in it."""
    s = self.shape
    r, t, _ = query.shape
    query = query.reshape(r, t, s.heads, s.head_width)
    query = rotate(query, at.positions[:, :, None], s.theta).reshape(r, t, -1)
    memory = split_key_value(both, s.groups)
    keys = rotate(memory.keys, at.positions[:, None], s.theta)  # cached turned
    memory = KeyValue(keys, memory.values)
    drop = dropping(
      s.attention_dropout, fold(key, 0), at.identity, at.positions
    )
    if cache is not None:
      cache = memory = causal.write(cache, memory, at.positions)
      drop = None
    share = lambda a: jnp.repeat(a, s.heads // s.groups, axis=1)
    memory = KeyValue(share(memory.keys), share(memory.values))
    return attention(query, memory, visible, drop), cache


Llama = functools.partial(causal.LeftToRight, LlamaLayer, centred=False)


def wrong(values: Any) -> str:
  if values['head_width'] % 2:
    return (
      f'gives heads {values["head_width"]} features; rotary positions need an '
      'even number'
    )
  return ''


def sized(
  depth: int, width: int, places: int = 2048, **rest: Any
) -> LlamaShape:
  heads = width // 64
  plain = {'heads': heads, 'groups': heads, 'head_width': 64, 'tied': True}
  plain['hidden'] = width * 8 // 3
  return LlamaShape(
    depth=depth, width=width, positions=places, **(plain | rest)
  )


FAMILY = Family(
  name='llama',
  shape=LlamaShape,
  keys=of_family('llama'),
  body=Llama,
  tensors='llama',
  prefix='model.',
  heads=gpt2.heads('Llama', 'LlamaForCausalLM', 'llama.write'),
  sized=sized,
  derive=lambda v: {'head_width': v['head_width'] or v['width'] // v['heads']},
  wrong=wrong,
)
