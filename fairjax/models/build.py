"""From the config's model name to a model, its tokenizer and its weights.

`classifier` is for recipes that train one; `language_model` reads a folder
that writes or judges texts, with its own way of decoding.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pandas as pd
from tokenizers import Tokenizer

from fairjax import artefacts, backend
from fairjax.config import Config
from fairjax.data import tokens
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.models import (
  Model,
  bart,
  encoder,
  gpt2,
  heads,
  hf,
  lstm,
  special,
  text_cnn,
  words,
)
from fairjax.models.decode import Options
from fairjax.train import keys

WORD_MODELS = {  # with the length of the texts and the dropout of its paper
  'cnn': (text_cnn.TextCNN, 250, 0.3),
  'lstm': (lstm.LSTM, 35, 0.5),
}


def precision(config: Config) -> Any:
  """The type of matrix products; all else is float32."""
  asked = config.net.precision
  if asked == 'auto':
    asked = 'float32' if backend.platform() == 'cpu' else 'bfloat16'
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
  kind, length, rate = WORD_MODELS[config.model]
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
  length = config.tokens.max_length or length
  tokenizer.enable_truncation(length, direction=words.SIDES[net.padding])
  vocabulary = words.vocabulary(tokenizer)
  vectors = None
  if net.glove:
    vectors = words.load_vectors(net.glove, vocabulary, net.remove_gender)
  shape = words.Shape(
    len(vocabulary),
    words.WIDTH if vectors is None else vectors.values.shape[1],
    classes,
    length,
    rate if net.dropout < 0 else net.dropout,
    net.padding,
    vectors if frozen else None,
  )
  module = kind(shape, dtype=precision(config))
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
      shape = module.shape
      table = words.random_rows(shape.vocab, shape.width, seed)
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
  words = config.model in WORD_MODELS
  if words or config.model in hf.SIZES or config.net.init == 'random':
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


class LanguageModel(NamedTuple):
  """A folder's model that writes or judges texts."""

  module: Any  # Bart, GPT2 or MaskedLM
  params: dict
  tokenizer: Tokenizer
  options: Options  # how its folder wants it to decode


def language_model(config: Config) -> LanguageModel:
  """The BART, GPT-2 or masked LM of the config's model folder."""
  folder = hf.find(config.model)
  if folder is None:
    raise UserError(
      f'model {config.model!r} has no weights; name a model folder with '
      '--config.model=FOLDER'
    )
  described = hf.read_config(folder)
  family = described.get('model_type')
  if family in ('bart', 'gpt2'):
    kind, shapes = {'bart': (bart.Bart, bart), 'gpt2': (gpt2.GPT2, gpt2)}[
      family
    ]
  else:
    kind, shapes = heads.MaskedLM, encoder
  shape = shapes.shape_from_hf(described)
  if kind is not heads.MaskedLM:
    shape = dataclasses.replace(shape, **_ends(folder))
  module = kind(shape, dtype=precision(config))
  loaded = hf.load(folder, module)
  if kind is heads.MaskedLM and loaded.fresh:
    raise UserError(
      f'{folder} lacks {loaded.fresh[0]}, so it is no masked language model; '
      'name the folder of one'
    )
  params = hf.complete(module, loaded.params, keys.key(0, keys.INIT))
  tokenizer = tokens.load_tokenizer(config.tokens.tokenizer or folder)
  special.check_vocabulary(tokenizer, module.shape.vocab)
  return LanguageModel(module, params, tokenizer, folder_options(folder))


# The options of transformers that are ours too, and those that would change a
# text but are not known here, with the values at which they do nothing.
_KNOWN = (
  *('max_length', 'max_new_tokens', 'min_length', 'min_new_tokens'),
  *('num_beams', 'length_penalty', 'early_stopping', 'no_repeat_ngram_size'),
  *('forced_bos_token_id', 'forced_eos_token_id'),
)
_UNKNOWN = {
  'do_sample': (False,),
  'num_beam_groups': (1,),
  'diversity_penalty': (0.0,),
  'penalty_alpha': (0.0,),
  'repetition_penalty': (1.0,),
  'encoder_repetition_penalty': (1.0,),
  'encoder_no_repeat_ngram_size': (0,),
  'bad_words_ids': ([],),
  'suppress_tokens': ([],),
  'begin_suppress_tokens': ([],),
  'sequence_bias': ({},),
  'exponential_decay_length_penalty': (),
}


def _said(folder: pathlib.Path) -> tuple[pathlib.Path, dict]:
  """What a folder says of decoding, and where, as transformers reads it."""
  path = pathlib.Path(folder) / 'generation_config.json'
  path = path if path.is_file() else path.with_name('config.json')
  said = artefacts.read_json(path)
  return path, {k: v for k, v in said.items() if v is not None}


def _ends(folder: pathlib.Path) -> dict[str, int]:
  """The tokens that begin and end what is written, where the folder says."""
  path, said = _said(folder)
  found = {}
  for name, ours in (
    ('decoder_start_token_id', 'start'),
    ('eos_token_id', 'eos'),
  ):
    token = said.get(name)
    if isinstance(token, list) and len(token) == 1:
      token = token[0]
    if isinstance(token, list):
      raise UserError(
        f'{path} has {len(token)} values of {name}; keep the one that counts'
      )
    if token is not None:
      found[ours] = token
  return found


def folder_options(folder: pathlib.Path) -> Options:
  """The folder's own way of decoding; what it does not say is our default."""
  path, said = _said(folder)
  for name, plain in _UNKNOWN.items():
    if said.get(name) and said[name] not in plain:
      raise UserError(
        f'{path} sets {name} to {said[name]!r}, which is not known here; take '
        'that line out'
      )
  options = {name: said[name] for name in _KNOWN if name in said}
  if 'max_new_tokens' in options:  # it takes precedence
    options.pop('max_length', None)
  try:
    chosen = Options(**options)
    chosen.validate()
  except (UserError, TypeError) as error:
    raise UserError(f'{path}: {error}') from error
  return chosen
