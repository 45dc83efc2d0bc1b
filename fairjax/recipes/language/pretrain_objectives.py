"""The pretraining objectives: corruption, model and loss of each."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.data.batching import corruption, tokens
from fairjax.data.corpora import texts
from fairjax.data.tables import splits
from fairjax.models import Bundle, build, objectives, pretraining


class PretrainObjective(NamedTuple):
  """How a text is corrupted, what is asked of whom, and what to call it."""

  about: str
  model: Callable  # model(config, vocabulary) -> Bundle
  terms: Callable  # a function of models/objectives.py
  names: tuple[str, ...]  # of those terms; the first gives the perplexity
  corrupt: Callable  # a function of batching/corruption.py
  options: dict[str, str]  # its keywords, by fields of config.pretrain
  closed: bool = True  # a text cut at the end of a row is closed all the same


OBJECTIVES = {
  'mlm': PretrainObjective(
    'masked tokens, from both sides',
    pretraining.masked_lm,
    objectives.masked,
    ('loss',),
    corruption.masked,
    {'share': 'mask', 'whole_word': 'whole_word'},
  ),
  'electra': PretrainObjective(
    'masked tokens (the generator), from both sides',
    pretraining.detector,
    objectives.detected,
    ('generator_loss', 'detection_loss', 'found', 'false_alarms'),
    corruption.hidden,
    {'share': 'mask', 'whole_word': 'whole_word'},
  ),
  'bart': PretrainObjective(
    'all tokens, from those before them and the corrupted text',
    pretraining.denoiser,
    objectives.denoised,
    ('loss',),
    corruption.denoised,
    {'share': 'mask', 'whole_word': 'whole_word'},
  ),
  'causal': PretrainObjective(
    'all tokens, from those before them',
    pretraining.next_token,
    objectives.continued,
    ('loss',),
    corruption.continued,
    {},
    closed=False,
  ),
}


def find_tokenizer(config: Config, source: texts.TextFiles) -> Tokenizer:
  """The config's tokenizer, the model's, or one learned from the corpus."""
  if config.tokens.tokenizer:
    return tokens.load_tokenizer(config.tokens.tokenizer)
  folder = build.model_folder(config)
  if folder:
    return tokens.load_tokenizer(folder)
  return texts.learn_tokenizer(
    source, config.tokens.vocab_size, config.pretrain.held_out, splits.SEED
  )


def parameters(model: Bundle) -> int:
  """How many numbers a model of one seed has."""
  params = jax.eval_shape(lambda: model.init(0))
  return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(params))
