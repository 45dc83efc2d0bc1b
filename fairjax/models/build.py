"""From the config's model name to a model, its tokenizer and its weights."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import pandas as pd
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.data import tokens
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.models import Model, encoder, heads, hf, lstm, text_cnn, words
from fairjax.train import keys

WORD_MODELS = {'cnn': text_cnn.TextCNN, 'lstm': lstm.LSTM}


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
  if config.model in WORD_MODELS:
    return word_classifier(config, tables, classes)
  folder = model_folder(config)
  tokenizer = find_tokenizer(config, [tables['train']], folder)
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


def word_classifier(
  config: Config, tables: Tables, classes: int
) -> tuple[Model, Tokenizer, int]:
  """A model of whole words, with vectors from a file or learned."""
  net = config.net
  kind = WORD_MODELS[config.model]
  if net.init == 'pretrained':
    raise UserError(
      f'model {config.model!r} has no pretrained weights but its word vectors; '
      'leave --config.net.init at auto'
    )
  if net.remove_gender and not net.glove:
    raise UserError(
      'net.remove_gender takes a gender direction out of word vectors, but '
      'net.glove names no file of them'
    )
  frozen = bool(net.glove) and net.freeze_embeddings
  # Frozen vectors need no training, so words of all splits may have theirs.
  read = tables.values() if frozen else [tables['train']]
  tokenizer = find_tokenizer(config, read, None, words.train_words)
  length = config.tokens.max_length or kind.length
  tokenizer.enable_truncation(length, direction=words.SIDES[net.padding])
  vocabulary = words.vocabulary(tokenizer)
  vectors = None
  if net.glove:
    vectors = words.load_vectors(net.glove, vocabulary, net.remove_gender)
  module = kind(
    len(vocabulary),
    words.WIDTH if vectors is None else vectors.values.shape[1],
    classes,
    vectors=vectors if frozen else None,
    length=length,
    side=net.padding,
    rate=kind.rate if net.dropout < 0 else net.dropout,
    dtype=precision(config),
  )
  return word_model(module, vectors), tokenizer, length


def word_model(module, vectors: words.Vectors | None) -> Model:
  """Each seed has random weights; learned vectors begin at the file's."""

  @jax.jit
  def random(seed):
    key = keys.key(seed, keys.INIT)
    return module.init(key, encoder.blank_batch())['params']

  def init(seed: int) -> dict:
    params = random(seed)
    if 'embed' in params:
      table = words.random_rows(module.vocab, module.width, seed)
      if vectors is not None:
        table[vectors.known] = vectors.values[vectors.known]
      params['embed']['embedding'] = jnp.asarray(table)
    return params

  def apply(params, batch, dropout=None):
    return module.apply({'params': params}, batch, dropout)

  return Model(init, apply, module)


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
  config: Config,
  read: Iterable[pd.DataFrame],
  folder: pathlib.Path | None,
  learn: Callable[[list[str], int], Tokenizer] = tokens.train_tokenizer,
) -> Tokenizer:
  """The config's tokenizer, the model's, or one learned from tables."""
  if config.tokens.tokenizer:
    return tokens.load_tokenizer(config.tokens.tokenizer)
  if folder:
    return tokens.load_tokenizer(folder)
  columns = ('text', 'text_pair', 'twin')
  texts = [t for table in read for c in columns if c in table for t in table[c]]
  return learn(texts, config.tokens.vocab_size)
