"""Small things that many tests share: configs, models in folders, logs."""

import functools

import jax

from fairjax import config as c
from fairjax.data.batching import tokens
from fairjax.models import families
from fairjax.models.families import bart, encoder, gpt2
from fairjax.models.folders import hf
from fairjax.train.progress import Log


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
