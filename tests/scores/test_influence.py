"""Gradient products against gradients of one example at a time."""

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.models import families, of_module, places
from fairjax.scores import influence

SMALL = {
  'model_type': 'bert',
  'vocab_size': 30,
  'hidden_size': 16,
  'num_hidden_layers': 1,
  'num_attention_heads': 2,
  'intermediate_size': 24,
  'max_position_embeddings': 40,
  'initializer_range': 0.25,
}


def packed(lengths=(5, 9, 3, 7)):
  """Examples side by side in one row, as data/batches.py packs them."""
  rng = np.random.default_rng(0)
  b, width = len(lengths) + 1, sum(lengths) + 2
  batch = {
    'tokens': np.zeros((1, width), np.int32),
    'segment_ids': np.zeros((1, width), np.int32),
    'positions': np.zeros((1, width), np.int32),
    'cls_columns': np.zeros((1, b), np.int32),
    'cls_index': np.arange(b, dtype=np.int32),
    'example': np.r_[np.arange(len(lengths)), -1].astype(np.int32),
    'label': np.arange(b, dtype=np.int32) % 2,
    'weight': np.ones(b, np.float32),
  }
  start = 0
  for k, n in enumerate(lengths):
    at = slice(start, start + n)
    batch['tokens'][0, at] = rng.integers(5, 30, n)
    batch['segment_ids'][0, at] = k + 1
    batch['positions'][0, at] = np.arange(n)
    batch['cls_columns'][0, k] = start
    start += n
  return batch


def test_products_are_those_of_single_gradients():
  module = families.module(families.shape_from_hf(SMALL), 'classify', classes=2)
  params = jax.jit(module.init)(jax.random.key(0), places.blank_batch())[
    'params'
  ]
  model = of_module(module, lambda seed: params)
  batch = packed()
  keys = iter(jax.random.split(jax.random.key(1), 99))
  direction = jax.tree.map(
    lambda leaf: jax.random.normal(next(keys), leaf.shape), params
  )
  found = jax.jit(lambda p, u: influence.along(model, p, u, batch))(
    params, direction
  )
  one = jax.jit(jax.grad(lambda p, k: influence.losses(model, p, batch)[k]))
  for k in range(4):
    parts = jax.tree.map(jnp.vdot, one(params, k), direction)
    expected = sum(jax.tree.leaves(parts))
    np.testing.assert_allclose(found[k], expected, rtol=1e-4, atol=1e-4)
