"""From the config's model name to a model, its tokenizer and its weights."""

import dataclasses
import functools
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.data import tokens
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.models import Model, encoder, heads, hf
from fairjax.train import keys


def precision(config: Config) -> Any:
  """The type of matrix products; all else is float32."""
  asked = config.net.precision
  if asked == 'auto':
    asked = 'float32' if jax.default_backend() == 'cpu' else 'bfloat16'
  return jnp.dtype(asked)


def classifier(
  config: Config, tables: Tables, classes: int
) -> tuple[Model, Tokenizer, int]:
  """The classifier, its tokenizer, and the longest text it takes."""
  folder = model_folder(config)
  tokenizer = find_tokenizer(config, tables, folder)
  vocab = tokenizer.get_vocab_size()
  if folder:
    shape = encoder.shape_from_hf(hf.read_config(folder))
  else:
    shape = encoder.named_shape(config.model, vocab)
  if vocab > shape.vocab:
    raise UserError(
      f'the tokenizer has {vocab} tokens, but {config.model} has vectors for '
      f'{shape.vocab}; give the tokenizer that belongs to the model with '
      '--config.tokens.tokenizer'
    )
  longest = config.tokens.max_length or shape.longest
  if longest > shape.longest:
    raise UserError(
      f'tokens.max_length is {longest}, but {config.model} has positions for '
      f'{shape.longest}; choose at most that'
    )
  module = heads.Classifier(
    with_dropout(shape, config),
    classes,
    dtype=precision(config),
    scan=config.net.scan,
    remat=config.net.remat,
  )
  return encoder_model(module, folder), tokenizer, longest


def encoder_model(module, folder: pathlib.Path | None) -> Model:
  """Random weights of each seed, or a folder's with a head of each seed."""

  @functools.cache
  def known() -> dict:
    return hf.load(folder, module).params if folder else {}

  def init(seed: int) -> dict:
    return hf.complete(module, known(), keys.key(seed, keys.INIT))

  def apply(params, batch, dropout=None):
    return module.apply({'params': params}, batch, dropout)

  return Model(init, apply, module, module.shape)


def with_dropout(shape: encoder.Shape, config: Config) -> encoder.Shape:
  """The shape with the config's dropout rates, where it names any."""
  net = config.net
  if net.dropout >= 0:
    shape = dataclasses.replace(
      shape, dropout=net.dropout, head_dropout=net.dropout
    )
  if net.attention_dropout >= 0:
    shape = dataclasses.replace(shape, attention_dropout=net.attention_dropout)
  return shape


def model_folder(config: Config) -> pathlib.Path | None:
  """Where the pretrained weights are, or None for random ones."""
  if config.model in hf.SIZES or config.net.init == 'random':
    if config.net.init == 'pretrained':
      raise UserError(
        f'model {config.model!r} has no pretrained weights; name a model '
        'folder, or leave --config.net.init at auto'
      )
    return None
  return hf.find(config.model)


def find_tokenizer(
  config: Config, tables: Tables, folder: pathlib.Path | None
) -> Tokenizer:
  """The config's tokenizer, the model's, or one trained on the data."""
  if config.tokens.tokenizer:
    return tokens.load_tokenizer(config.tokens.tokenizer)
  if folder:
    return tokens.load_tokenizer(folder)
  train = tables['train']
  columns = [c for c in ('text', 'text_pair', 'twin') if c in train]
  texts = [text for column in columns for text in train[column]]
  return tokens.train_tokenizer(texts, config.tokens.vocab_size)
