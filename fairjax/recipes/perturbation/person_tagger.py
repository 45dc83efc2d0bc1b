"""A tagger of the words that are of one person, learned from pairs.

The encoder of a folder reads 'word, attribute <PERT_SEP> text' and says of
each token of the text whether it changes; the words flagged are then turned by
the dictionary. A left-to-right model reads the text before that as well, since
its places see nothing of what follows (Springer et al. 2024,
arXiv:2402.15449). So a small model learns what rules are worst at, who is who,
and leaves to rules what they do well, the forms. It copies nothing: a text can
only change where a word of gender stands. The words that
our rules flag have HINT before them, so that it learns when to believe them.
"""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
import pandas as pd
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, seq2seq
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.metrics.texts import rewrites
from fairjax.models import (
  Bundle,
  build,
  families,
  objectives,
  of_module,
  rewriting,
  warm_start,
)
from fairjax.models.folders import hf
from fairjax.models.pretraining import ends
from fairjax.pairs.persons import chain, parallel, perturb
from fairjax.recipes.rewriting import rewriter
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import loop, mesh, step
from fairjax.train.progress import Log

AXIS = 'gender'  # whose words the dictionary can turn
CAN = ('detect', 'tag')  # what a tagger's bundle says that it can
HINT = '<PERT_RULE>'  # a tokenizer that knows it is of a model that reads them


def start(config: Config, pairs: pd.DataFrame) -> Bundle:
  """An encoder that scores every token, and knows the special tokens."""
  texts = list(pairs.loc[pairs['split'] == 'train', 'text'])
  tokenizer = rewriter.find_tokenizer(config, texts)
  shape, can = _shape(config, tokenizer)
  module = families.module(
    build.with_dropout(shape, config), can, build.precision(config)
  )

  init = warm_start.init(build.model_folder(config), module)
  model = of_module(module, init, can=can, tokenizer=tokenizer)
  return rewriting.grown(model, (*perturb.TOKENS, HINT))


def _shape(config: Config, tokenizer: Tokenizer) -> tuple[Any, str]:
  """The shape of the folder's body or of a size, and what it does of CAN."""
  folder = build.model_folder(config)
  source = hf.read_shape(folder) if folder else None
  if source and 'tag' in families.find(source.family).heads:
    return source, 'tag'
  words = corruption.vocabulary(tokenizer)
  if folder:
    shape = warm_start.shape(source, 'detect', config.model)
  else:
    shape = families.named(config.model, words.size, 'electra', 'detect')
  return families.replaced(shape, **ends(shape, words)), 'detect'


def hinted(text: str, word: str) -> tuple[str, np.ndarray]:
  """The text with HINT before the words that rules take for the person's.

  Also where each word of the text begins in it.
  """
  starts = np.array([m.start() for m in parallel.finditer(text)] or [0])
  own = chain.chain(text, *chain.find(text, word))
  at = np.unique([m.start for m in own])
  parts = np.split(np.array([*text]), at)
  marked = f'{HINT} '.join(''.join(part) for part in parts)
  before = np.searchsorted(at, starts, 'right')
  return marked, starts + before * (len(HINT) + 1)


class Prompts(NamedTuple):
  """What the model reads for each text."""

  prompts: list[str]
  begins: list[int]  # where the text begins in its prompt
  starts: list[np.ndarray]  # and where its words begin in it


def asked(model: Bundle, words, attributes, texts) -> Prompts:
  """The prompts of texts, with hints where the model knows those."""
  before = [f'{text} ' if model.can == 'tag' else '' for text in texts]
  starts = [
    np.array([m.start() for m in parallel.finditer(text)] or [0])
    for text in texts
  ]
  if model.tokenizer.token_to_id(HINT) is not None:
    each = [hinted(text, word) for text, word in zip(texts, words)]
    texts, starts = [list(part) for part in zip(*each)] if each else ([], [])
  prompts = list(map(perturb.prompt, words, attributes, texts))
  prompts = [a + b for a, b in zip(before, prompts)]
  begins = [len(one) - len(text) for one, text in zip(prompts, texts)]
  return Prompts(prompts, begins, starts)


def fits(model: Bundle, words, attributes, texts) -> np.ndarray:
  """Which texts the model has positions for, hints and all."""
  return rewriting.fits(model, asked(model, words, attributes, texts).prompts)


def encoded(model: Bundle, words, attributes, texts):
  """The tokens of each prompt and, of those in the text, their word's place."""
  hint = model.tokenizer.token_to_id(HINT)
  read = asked(model, words, attributes, texts)
  rows, places = [], []
  for begin, own, one in zip(
    read.begins, read.starts, model.tokenizer.encode_batch(read.prompts)
  ):
    offsets, ids = np.array(one.offsets), np.array(one.ids, np.int32)
    # By its last character: a byte-level token has the space before it too.
    inside = (offsets[:, 1] > begin) & (offsets[:, 1] > offsets[:, 0])
    if hint is not None:
      inside &= ids != hint
    place = np.searchsorted(own, offsets[:, 1] - 1 - begin, 'right') - 1
    rows.append(ids)
    places.append(np.where(inside, place, -1))
  return rows, places


def _pool(model: Bundle, pairs: pd.DataFrame) -> seq2seq.PairPool:
  """Prompts, and for each of the text's tokens whether its word changes."""
  columns = (pairs[name] for name in ('word', 'attribute', 'text'))
  rows, places = encoded(model, *columns)
  labels = []
  for text, target, place in zip(pairs['text'], pairs['target'], places):
    edits = rewrites.edits(parallel.words(text), parallel.words(target))
    changes = {word for word, kind in edits if kind == 0}
    labels.append(np.array([p in changes for p in place], np.int32))
  ragged = seq2seq.ragged
  text_tokens = np.concatenate([place >= 0 for place in places]).astype(
    np.int32
  )
  nothing = np.zeros(len(rows), np.int32)
  return seq2seq.PairPool(ragged(rows), ragged(labels), text_tokens, nothing)


def tagged(model: Bundle, params, batch, key) -> objectives.Terms:
  """-log p(right verdict) at every token of the text."""
  scores, labels = model.apply(params, batch, key), batch['target'] > 0
  losses = optax.sigmoid_binary_cross_entropy(scores, labels)
  segment_ids = batch['target_segment_ids']
  return {'loss': objectives.Term(losses, segment_ids, batch['share'])}


def verdicts(model: Bundle, params, batch, key) -> objectives.Terms:
  """The loss, and the shares of right verdicts of either kind."""
  scores, labels = model.apply(params, batch, key), batch['target'] > 0
  terms = tagged(model, params, batch, key)
  segment_ids, right = batch['target_segment_ids'], (scores > 0) == labels
  right = right.astype(scores.dtype)
  of = lambda mask: objectives.Term(
    right, jax.numpy.where(mask, segment_ids, 0), None
  )
  return {**terms, 'turned_right': of(labels), 'kept_right': of(~labels)}


NAMES = ('loss', 'turned_right', 'kept_right')


def fitting(
  model: Bundle, pairs: pd.DataFrame, log: Log
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
  """The pairs of each split that the model has positions for; counted."""
  out = {}
  facts: dict[str, int] = {}
  for split in ('train', 'valid', 'test'):
    rows = pairs[pairs['split'] == split]
    if not len(rows):
      raise UserError(
        f'no pair of {AXIS} is in split {split}, and a tagger learns from no '
        'other; name other sources with --config.perturb.sources, or take '
        '--config.perturb.learner=rewriter'
      )
    columns = (rows[name] for name in ('word', 'attribute', 'text'))
    able = fits(model, *columns)  # else learned without its end
    facts |= rewriter.fitting(model, split, able)
    out[split] = rows[able]
  log.line('pairs: ' + ', '.join(f'{v:,} {k}' for k, v in facts.items() if v))
  return out, facts


def fit(e: Experiment, pairs: pd.DataFrame) -> rewriter.Rewriter:
  """Trains on the gender pairs of split train, stops by valid."""
  config = e.config
  pairs = pairs[pairs['axis'] == AXIS]
  device_mesh = mesh.make(config.mesh, config.seeds)
  model = start(config, pairs).replace(device_mesh=device_mesh)
  pairs, facts = fitting(model, pairs, e.log)
  pools = {split: _pool(model, rows) for split, rows in pairs.items()}

  batch, means = config.train.batch, functools.partial(rewriter.ratios, NAMES)
  sums = functools.partial(rewriter.sums, batch=batch, terms=verdicts)
  task = loop.Task(
    rewriter.pair_batches,
    (step.Player('tagger', step.Loss(*objectives.loss(tagged))),),
    lambda job, params: means(sums(job.model, params, job.valid).sum(1)),
  )
  parts = [part for pool in pools.values() for part in rewriter.parts(pool)]
  made_from = identity(config, ('training', 'rewriting'), 'tagger', *parts)
  sets = pools['train'], pools['valid']
  kept = e.fitted(model, sets, made_from, part='rewriter', task=task)
  rows, how = sums(model, kept.params, pools['test'])[0], options_of(config)
  cluster = clusters.of_texts(pairs['test']['text'].tolist())
  quality = rewriter.estimates(NAMES, rows, means, how, cluster)
  alone = rewriter.first(model, kept.params)
  return rewriter.Rewriter(alone, kept, quality, facts)


def write(
  config: Config,
  model: Bundle,
  texts: list[str],
  words: list[str],
  spans: list[tuple[int, int]],
  attributes: list[str],
) -> list[str]:
  """The texts with the flagged words turned; other axes go by rules."""
  flagged = flags(config, model, texts, words, attributes)
  out = []
  for text, span, attribute, starts in zip(texts, spans, attributes, flagged):
    if perturb.AXIS[attribute] == AXIS:
      out.append(chain.turn_words(text, {span[0], *starts}, attribute)[0])
    else:
      out.append(perturb.by_rules(text, *span, attribute))
  return out


def flags(config: Config, model: Bundle, texts, words, attributes) -> list[set]:
  """Where the words stand that the model says are of the person."""
  rows, places = encoded(model, words, attributes, texts)
  nothing = [np.zeros(len(row), np.int32) for row in rows]
  ragged = seq2seq.ragged
  flat = np.ones(sum(map(len, rows)), np.int32)
  none = np.zeros(len(rows), np.int32)
  pool = seq2seq.PairPool(ragged(rows), ragged(nothing), flat, none)
  params = jax.tree.map(lambda leaf: leaf[None], model.params)
  out: list[set] = [set() for _ in texts]
  batch = config.train.batch
  for host, scores in rewriter.swept(model, params, pool, batch):
    for k, i in enumerate(host['example']):
      if i < 0:
        continue
      score = scores[0, host['segment_ids'] == k + 1]
      starts = parallel.starts(texts[i])
      hit = places[i][(score > 0) & (places[i] >= 0)]
      out[i] = {starts[p] for p in hit}
  return out
