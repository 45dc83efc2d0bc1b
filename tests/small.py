"""Small things that many tests share: configs, models in folders, logs."""

import contextlib
import functools
import importlib.util
import json
import pathlib
import signal

import jax
import pytest
from golden.make_encoders import DEBERTA_V3

from fairjax import config as c
from fairjax.core.errors import Interrupted
from fairjax.data.batching import tokens
from fairjax.models import families, of_module
from fairjax.models.families import bart, encoder, gpt2
from fairjax.models.folders import hf
from fairjax.models.layers import layer_params, places
from fairjax.train import loop
from fairjax.train.progress import Log

needs_torch = pytest.mark.skipif(
  importlib.util.find_spec('torch') is None, reason='torch is not here'
)
SMALL = {  # by what each family's config.json calls it
  'vocab_size': 30,
  **dict.fromkeys(('hidden_size', 'dim', 'n_embd', 'd_model'), 16),
  **dict.fromkeys(('num_hidden_layers', 'n_layers', 'n_layer'), 2),
  **dict.fromkeys(('encoder_layers', 'decoder_layers'), 2),
  **dict.fromkeys(('num_attention_heads', 'n_heads', 'n_head'), 2),
  **dict.fromkeys(('encoder_attention_heads', 'decoder_attention_heads'), 2),
  **dict.fromkeys(('intermediate_size', 'hidden_dim', 'n_inner'), 24),
  **dict.fromkeys(('encoder_ffn_dim', 'decoder_ffn_dim'), 24),
  **dict.fromkeys(('max_position_embeddings', 'n_positions'), 40),
  'embedding_size': 8,
  'num_key_value_heads': 1,
  **DEBERTA_V3,
  'local_attention': 6,
  'initializer_range': 0.25,
  'init_std': 0.25,
  **dict.fromkeys(('pad_token_id', 'bos_token_id', 'eos_token_id'), 1),
}


def cases(module: str, name: str) -> list:
  """The rows of a table of cases that lies beside a test."""
  return json.loads(pathlib.Path(module).with_name(name).read_text('utf-8'))


def config(**more) -> c.Config:
  """Of a small run on planted rows, for tests of whole recipes."""
  plain = {
    'model': 'tiny',
    'seeds': 2,
    'data': c.Data(name='planted'),
    'planted': c.Planted(rows=96, test_rows=64),
    'train': c.Train(lr=1e-3, epochs=1.0, batch=32, patience=0),
    'measures': c.Measures(resamples=50),
    'scoring': c.Scoring(names=('ge',), epochs=1.0),
  }
  return c.Config(**plain | more)


def fitted() -> c.Config:
  """Of the smallest fit, whose programs are compiled once."""
  return c.Config(
    model='tiny',
    seeds=2,
    planted=c.Planted(rows=24, test_rows=20),
    tokens=c.Tokens(vocab_size=150, max_length=16),
    train=c.Train(batch=12, epochs=1.0),
    measures=c.Measures(resamples=50),
  )


def changed(made: c.Config, **changes) -> c.Config:
  """With other values, checked: `train__lr=1` is that of train.lr."""
  for name, value in changes.items():
    *sections, field = name.split('__')
    setattr(functools.reduce(getattr, sections, made), field, value)
  c.validate(made)
  return made


def heard() -> tuple[Log, list[str]]:
  """A log without a folder, and the lines that it is told."""
  log, lines = Log(None, main=False), []
  log.line = lines.append
  return log, lines


@contextlib.contextmanager
def stopped(step: int):
  """SIGTERM once a fit has done so many steps, and the end that it is."""
  real = loop.snapshot

  def stop_here(job, done, params):
    if done >= step:
      signal.raise_signal(signal.SIGTERM)
    return real(job, done, params)

  with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
    patch.setattr(loop, 'snapshot', stop_here)
    yield


def place(seed=1, data=1):
  """A mesh of the first devices."""
  return jax.make_mesh(
    (seed, data),
    ('seed', 'data'),
    axis_types=(jax.sharding.AxisType.Auto,) * 2,
    devices=jax.devices()[: seed * data],
  )


def bundle_of(module, **more):
  """A model of the module, drawn by its seed."""

  def init(seed):
    return module.init(jax.random.key(seed), places.blank_batch())['params']

  drawn = functools.partial(layer_params.drawn, init)
  return of_module(module, drawn, **more)


def params_of(module, seed=0):
  return bundle_of(module).init(seed)


def shape_of(family: str, vocab: int, positions: int = 34, **more):
  """Of a tiny model that has our tokenizers' special tokens."""
  own = {'vocab': vocab, 'width': 16, 'depth': 1, 'heads': 2, 'hidden': 24}
  ends = {'pad': 0, 'bos': 2, 'eos': 3}
  if family == 'bart':
    own |= ends | {'start': 3, 'longest': positions - 2}
    own |= {'decoder_depth': 1, 'decoder_heads': 2, 'decoder_hidden': 24}
    return bart.BartShape(**own | more)
  own['positions'] = positions
  if family == 'gpt2':
    return gpt2.GPT2Shape(**own | ends | more)
  return encoder.EncoderShape(
    **own | {'family': family, 'embedding': 16} | more
  )


def folder_of(path, family: str, tokenizer, can: str = '', **shape) -> str:
  """The folder of a tiny model with random weights, and its tokenizer."""
  usual = {'bart': 'write', 'gpt2': 'write', 'electra': 'detect'}
  own = shape_of(family, tokenizer.get_vocab_size(), **shape)
  module = families.module(own, can or usual.get(family, 'mask'))
  hf.save(path, module, hf.complete(module, {}, jax.random.key(0)))
  tokens.save_tokenizer(tokenizer, path)
  return str(path)
