"""GPT-2 (Radford et al. 2019): each token from those before it.

Pre-norm layers, a norm at the end, and the word embeddings as output layer.
`module.apply` scores the next token at every place of a packed batch;
`following` in families/causal.py are its labels. `remember` and `step` decode
with a static cache, the prompt being the source.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

import flax.linen as nn
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32

from fairjax.models.families import causal
from fairjax.models.families.config_keys import (
  DEPTH,
  POSITIVE,
  SHARE,
  SPREAD,
  TOKEN,
  VOCABULARY,
  WIDTH,
  Key,
  fixed,
  one_of,
  whole,
)
from fairjax.models.families.family import (
  Family,
  Head,
  ParamRow,
  dense,
  embed,
  layers,
  norm,
)
from fairjax.models.layers.attention import ACTIVATIONS, KeyValue, Merged
from fairjax.models.layers.dropout import dropout, fold
from fairjax.models.layers.places import Batch, Places, places
from fairjax.models.layers.probed import (
  Dense,
  Embed,
  LayerNorm,
  mask_padding_gradient,
  rematerialised,
)


@dataclasses.dataclass(frozen=True)
class GPT2Shape:
  """Everything about a GPT-2 that its parameters do not say."""

  family: str = 'gpt2'
  vocab: int = 50257
  width: int = 768
  depth: int = 12
  heads: int = 12
  hidden: int = 3072
  positions: int = 1024
  eps: float = 1e-5
  activation: str = 'gelu_new'
  dropout: float = 0.1  # of residuals
  embedding_dropout: float = 0.1
  attention_dropout: float = 0.1
  bos: int = 50256
  eos: int = 50256
  pad: int = 50256
  start: int | None = None  # a prompt stands in its place
  deviation: float = 0.02

  @property
  def longest(self) -> int:
    return self.positions


def sized(depth: int, width: int, places: int = 1024) -> GPT2Shape:
  sizes = {'width': width, 'heads': width // 64, 'hidden': 4 * width}
  return GPT2Shape(depth=depth, positions=places, **sizes)


def _or_eos(values):
  return values['eos']


KEYS = (
  Key('vocab', 'vocab_size', 50257, VOCABULARY),
  Key('width', 'n_embd', 768, WIDTH),
  Key('depth', 'n_layer', 12, DEPTH),
  Key('heads', 'n_head', 12, WIDTH, divides='width'),
  Key(
    'hidden',
    'n_inner',
    lambda values: 4 * values['width'],
    whole(1, 2**18),
    null=True,
  ),
  Key('positions', 'n_positions', 1024, whole()),
  Key('eps', 'layer_norm_epsilon', 1e-5, POSITIVE),
  Key('activation', 'activation_function', 'gelu_new', one_of(*ACTIVATIONS)),
  Key('dropout', 'resid_pdrop', 0.1, SHARE),
  Key('embedding_dropout', 'embd_pdrop', 0.1, SHARE),
  Key('attention_dropout', 'attn_pdrop', 0.1, SHARE),
  Key('eos', 'eos_token_id', 50256, TOKEN, null=True),
  Key('bos', 'bos_token_id', _or_eos, TOKEN, null=True),
  Key('pad', 'pad_token_id', _or_eos, TOKEN, null=True),
  Key('deviation', 'initializer_range', 0.02, SPREAD),
  fixed('scale_attn_weights', True),
  fixed('scale_attn_by_inverse_layer_idx', False),
  fixed('add_cross_attention', False),
  fixed('tie_word_embeddings', True)._replace(written=True),
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
    cache: KeyValue | Merged | None = None,
  ) -> tuple[Float[Array, 'r t d'], KeyValue | Merged | None]:
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


class GPT2(nn.Module):
  """Scores of the token after each place, float32 [r, t, v]."""

  shape: GPT2Shape
  dtype: Any = jnp.float32
  remat: bool = False

  def setup(self):
    s = self.shape
    embed = lambda count: Embed(count, s.width, self.dtype, s.deviation)
    self.word, self.position = embed(s.vocab), embed(s.positions)
    body = rematerialised(GPT2Layer, self.remat)
    for i in range(s.depth):
      setattr(self, f'layer_{i}', body(s, self.dtype))
    self.norm = LayerNorm(s.eps, self.dtype)

  def __call__(
    self, batch: Batch, dropout_key: UInt32[Array, ''] | None = None
  ) -> Float[Array, 'r t v']:
    at = places(batch)
    tokens, segment_ids = jnp.asarray(batch['tokens']), at.rows.segment_ids
    x, _ = self._layers(tokens, at, causal.causal(segment_ids), dropout_key)
    return mask_padding_gradient(self._scores(x, at), segment_ids)

  def remember(self, tokens: Int[Array, 'b t'], segment_ids: Int[Array, 'b t']):
    """Nothing: the prompt is in the cache."""
    return ()

  def blank_cache(self, rows: int, width: int) -> tuple:
    s = self.shape
    return causal.blank_cache(
      s.depth, rows, width, s.heads, s.width, self.dtype
    )

  def step(
    self,
    tokens: Int[Array, 'n q'],
    at: Int[Array, 'n'],
    cache: tuple,
    source: tuple = (),
  ) -> tuple[Float[Array, 'n q v'], tuple]:
    """Scores after each of q tokens, the first of them at position `at`."""
    here = causal.step_places(at, tokens.shape[1])
    visible = causal.cached(here.positions, causal.width(cache))
    x, cache = self._layers(tokens, here, visible, None, cache)
    return self._scores(x, here), cache

  def _layers(self, tokens, at, visible, key, cache=None):
    s = self.shape
    x = self.word(tokens, at.rows) + self.position(at.positions, at.rows)
    x = dropout(x, s.embedding_dropout, fold(key, 0), at.identity)
    caches = []
    for i in range(s.depth):
      old = None if cache is None else cache[i]
      layer = getattr(self, f'layer_{i}')
      x, new = layer(x, at, visible, fold(key, i + 1), old)
      caches.append(new)
    return self.norm(x, at.rows), tuple(caches)

  def _scores(self, x: Float[Array, 'r t d'], at: Places):
    return self.word.attend(x).astype(jnp.float32)


_LAYER = (
  *norm('attend_norm', 'ln_1'),
  *dense('attend', 'attn.c_attn'),
  *dense('attention_out', 'attn.c_proj'),
  *norm('up_norm', 'ln_2'),
  *dense('up', 'mlp.c_fc'),
  *dense('down', 'mlp.c_proj'),
)


def tensors(shape: GPT2Shape) -> Iterable[ParamRow]:
  yield from embed('word', 'wte')
  yield from embed('position', 'wpe')
  yield from norm('norm', 'ln_f')
  # Its Conv1D keeps kernels as we do, [in, out].
  rows = [row._replace(transposed=False) for row in _LAYER]
  yield from layers(shape.depth, 'h.', rows)


_LM = Head('GPT2LMHeadModel')

FAMILY = Family(
  name='gpt2',
  shape=GPT2Shape,
  keys=KEYS,
  body=GPT2,
  tensors=tensors,
  prefix='transformer.',
  heads={'write': _LM, 'judge': _LM},
  shapes={
    'gpt2': GPT2Shape(),
    'distilgpt2': sized(6, 768),
    'gpt2-medium': sized(24, 1024),
  },
  sized=sized,
)
