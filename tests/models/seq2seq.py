"""Tiny BARTs and GPT-2s out of the frozen cases, and batches for them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.models import families
from fairjax.models.folders import hf

from . import frozen_cases
from .batches import pack, pad


def frozen(name):
  return frozen_cases.of('seq2seq.npz', f'{name}/')


def module_of(folder, **rest):
  return families.module(hf.read_shape(folder), 'write', **rest)


def load(case, tmp_path):
  """Our module and its parameters, through a folder."""
  folder = frozen_cases.folder_of(case, tmp_path / 'model')
  module = module_of(folder)
  loaded = hf.load(folder, module)
  assert not loaded.fresh
  return module, jax.tree.map(jnp.asarray, loaded.params)


def from_torch(net, tmp_path):
  """Our module and its parameters, from a torch model."""
  net.save_pretrained(tmp_path / 'model')
  module = module_of(tmp_path / 'model')
  loaded = hf.load(tmp_path / 'model', module)
  return module, jax.tree.map(jnp.asarray, loaded.params)


def cut(tokens, mask):
  return [row[:n] for row, n in zip(tokens, mask.sum(1))]


def batch_of(sources, targets=None, packed=False, extra=0):
  """A batch of texts; with targets, those beside them in the same rows."""
  both = [sources] if targets is None else [sources, targets]
  if packed:
    # Widths at which the two sides put the same examples into a row.
    made = [pack(texts, 2, w, 4, extra) for texts, w in zip(both, (19, 18))]
    if targets is not None:
      assert np.array_equal(made[0]['head_index'], made[1]['head_index'])
  else:
    made = [pad(each, max(map(len, each)) + 1, extra) for each in both]
  batch = made[0]
  if targets is not None:
    batch |= {
      'target': made[1]['tokens'],
      'target_segment_ids': made[1]['segment_ids'],
      'target_positions': made[1]['positions'],
    }
  return batch


def runner(module, params):
  """run(method, *arrays): that method of the module, compiled."""

  def run(method, *arrays):
    arrays = jax.tree.map(jnp.asarray, arrays)
    return compiled(method, params, arrays)

  @functools.partial(jax.jit, static_argnums=0)
  def compiled(method, params, arrays):
    return module.apply({'params': params}, *arrays, method=method)

  return run
