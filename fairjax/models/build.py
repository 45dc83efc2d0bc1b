"""Builds the model that the config names, for training."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.core import backend, keys
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.models import Bundle, families, of_module, special
from fairjax.models.families.encoder import Encoder
from fairjax.models.folders import hf, hub
from fairjax.models.layers.places import blank_batch
from fairjax.models.words import lstm, text_cnn, word_level

# more texts change few merges, and BPE learns for minutes
VOCAB_TEXTS = 200_000
STREAM = 43  # of the sample that a vocabulary is learned from
WORD_MODELS = {  # with the length of the texts and the dropout of its paper
  'cnn': (text_cnn.TextCNN, 250, 0.3),
  'lstm': (lstm.LSTM, 35, 0.5),
}


def precision(config: Config) -> Any:
  """The type of matrix products; all else is float32."""
  # With int8, of those that no weight is in (layers/int8.py).
  option = backend.chosen(config.net.precision)
  return jnp.dtype('float32' if option == 'int8' else option)


def classifier(
  config: Config,
  tables: Tables,
  classes: int,
  edit: word_level.VectorEdit | None = None,
  labels: tuple[str, ...] = (),
) -> Bundle:
  """The classifier with its tokenizer, and the longest text it takes.

  `labels` name the classes; without them a folder's own names stay where its
  head is kept. `edit` changes the vectors of a word-level model.
  """
  if config.model in WORD_MODELS:
    return word_classifier(config, tables, classes, edit, labels)
  folder = model_folder(config)
  tokenizer = find_tokenizer(config, [tables['train']], folder)
  vocab = special.known_tokens(tokenizer)
  if folder:
    shape = hf.read_shape(folder)
    special.check_vocabulary(tokenizer, shape.vocab, config.model)
  else:
    shape = families.named(config.model, vocab)
  longest = text_length(config, shape.longest)
  families.require(families.find(shape.family), 'classify', config.model)
  module = families.module(
    with_dropout(shape, config), 'classify', precision(config), classes=classes
  )
  model = from_folder(
    module,
    folder,
    tokenizer=tokenizer,
    longest=longest,
    labels=labels or _labels(folder, classes),
    can='classify',
  )
  if config.net.init != 'frozen':
    return model
  if not isinstance(families.body_of(module), Encoder):
    raise UserError(f"{config.model} is no BERT; leave net.init at 'auto'")
  head = lambda s: {k: v for k, v in model.init(s).items() if k != 'encoder'}
  return model.replace(init=head, stays=lambda: model.init(0)['encoder'])


def _labels(folder: pathlib.Path | None, classes: int) -> tuple[str, ...]:
  """The folder's names of the classes, where it has as many."""
  known = hf.read_labels(hf.read_config(folder)) if folder else ()
  return known if len(known) == classes else hf.default_labels(classes)


def word_classifier(
  config: Config,
  tables: Tables,
  classes: int,
  edit: word_level.VectorEdit | None = None,
  labels: tuple[str, ...] = (),
) -> Bundle:
  """A model of whole words, with vectors from a file or learned."""
  net = config.net
  kind, length, rate = WORD_MODELS[config.model]
  model_folder(config)  # which refuses the weights of one
  if net.remove_gender and not net.glove:
    raise UserError(
      'net.remove_gender takes a gender direction out of word vectors, but '
      'net.glove names no file of them'
    )
  # A file's vectors need no training, so words of all splits may have theirs.
  sources = tables.values() if net.glove else [tables['train']]
  tokenizer = find_tokenizer(config, sources, None, word_level.train_words)
  length = config.tokens.max_length or length
  tokenizer.enable_truncation(length, direction=word_level.SIDE)
  vocabulary = word_level.vocabulary(tokenizer)
  vectors = None
  if net.glove:
    vectors = word_level.load_vectors(net.glove, vocabulary, edit)
  shape = word_level.WordShape(
    len(vocabulary),
    word_level.WIDTH if vectors is None else vectors.values.shape[1],
    classes,
    length,
    net.dropout[0] if net.dropout else rate,
    vectors,
  )
  module = kind(shape, dtype=precision(config))
  return word_model(
    module,
    tokenizer=tokenizer,
    longest=length,
    labels=labels or hf.default_labels(classes),
    can='classify',
  )


def word_model(module, **rest: Any) -> Bundle:
  """Each seed has random weights, and random vectors where no file has them."""

  @jax.jit
  def random(seed):
    return module.init(keys.key(seed, keys.INIT), blank_batch())['params']

  def init(seed: int) -> dict:
    params = random(seed)
    if 'embed' in params:
      shape = module.shape
      table = word_level.random_rows(shape.vocab, shape.width, seed)
      params['embed']['embedding'] = jnp.asarray(table)
    return params

  return of_module(module, init, **rest)


def from_folder(module, folder: pathlib.Path | None, **rest: Any) -> Bundle:
  """Random weights of each seed, or a folder's with a head of each seed."""

  @functools.cache
  def known() -> dict:
    return hf.load(folder, module).params if folder else {}

  def init(seed: int) -> dict:
    return hf.complete(module, known(), keys.key(seed, keys.INIT))

  config = hf.read_config(folder) if folder else {}  # kept for an export
  return of_module(module, init, config=config, **rest)


def text_length(config: Config, longest: int) -> int:
  """The tokens of a text that are read: tokens.max_length, or all there are."""
  length = config.tokens.max_length or longest
  if length > longest:
    raise UserError(
      f'tokens.max_length is {length}, but {config.model} has positions for '
      f'{longest}; choose at most that'
    )
  return length


def with_dropout(shape: Any, config: Config) -> Any:
  """The shape with the config's dropout rates, where it names any."""
  hidden, attention = config.net.dropout[:1], config.net.dropout[1:]
  changed = {}
  for field in dataclasses.fields(shape):
    given = attention if field.name == 'attention_dropout' else hidden
    if field.name.endswith('dropout') and given:
      changed[field.name] = given[0]
  return dataclasses.replace(shape, **changed)


def model_folder(config: Config) -> pathlib.Path | None:
  """Where the pretrained weights are, or None for random ones."""
  words = config.model in WORD_MODELS
  if words or config.model in families.SIZES or config.net.init == 'random':
    if config.net.init in ('pretrained', 'frozen'):
      raise UserError(
        f'model {config.model!r} has no pretrained weights; name a model '
        'folder, or leave --config.net.init at auto'
      )
    return None
  return hub.find(config.model)


def find_tokenizer(
  config: Config,
  source: Iterable[pd.DataFrame],
  folder: pathlib.Path | None,
  learn: Callable[[list[str], int], Tokenizer] = tokens.train_tokenizer,
) -> Tokenizer:
  """The config's tokenizer, the model's, or one learned from tables."""
  if config.tokens.tokenizer:
    return tokens.load_tokenizer(config.tokens.tokenizer)
  if folder:
    return tokens.load_tokenizer(folder)
  texts = [
    t for table in source for c in schema.TEXTS if c in table for t in table[c]
  ]
  count, most = len(texts), VOCAB_TEXTS
  if count > most:  # a sample gives nearly the same words
    draw = np.random.default_rng([config.seed, STREAM])
    chosen = draw.choice(count, most, replace=False)
    texts = [texts[i] for i in np.sort(chosen)]
  return learn(texts, config.tokens.vocab_size)
