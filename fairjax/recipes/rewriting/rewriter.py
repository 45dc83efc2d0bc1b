"""A seq2seq or causal model that rewrites texts, fine-tuned on pairs.

    pairs (source, target, split) → tokens → fit → held-out measures → folder

A BART reads the source and writes the target; a GPT-2 reads 'source <REWRITE>
target' and is asked for the target alone. Training is the one `fit` of the
house with padding out of the loss; further losses on the same logits (`more`),
or further players beside the model, are given by the recipe that calls.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from fairjax.config import Config
from fairjax.core import announce, backend
from fairjax.core.errors import UserError
from fairjax.data.batching import batches, seq2seq, tokens
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.texts import rewrites
from fairjax.models import Bundle, build, objectives, rewriting, special
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.folders import hf
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.recipes.language.generate_corpus import overrides
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import loop, mesh, step
from fairjax.train.progress import Log

# validation pairs written where 'bleu' chooses: more cost an epoch
DECODED = 200
NAMES = ('loss', 'changed_loss', 'token_accuracy', 'changed_accuracy')


class Rewriter(NamedTuple):
  """What `fit` leaves."""

  model: Bundle  # with the kept weights of the first seed
  fit: loop.Fitted  # those of all seeds, and the history
  quality: dict[str, dict]  # teacher-forced measures of the last split
  facts: dict[str, int]


def find_tokenizer(config: Config, texts: Sequence[str]) -> Tokenizer:
  """The config's tokenizer, the model's, or one learned from the texts."""
  folder = build.model_folder(config)
  read = [pd.DataFrame({'text': list(texts)})]
  return build.find_tokenizer(config, read, folder)


def check_folder(config: Config) -> None:
  """Stops where the model's folder has a tokenizer that is not its own."""
  folder = build.model_folder(config)
  if folder:
    tokenizer = tokens.load_tokenizer(config.tokens.tokenizer or folder)
    shape = hf.read_shape(folder)
    special.check_vocabulary(tokenizer, shape.vocab, config.model)


def start(
  config: Config, pairs: pd.DataFrame, new: Sequence[str] = ()
) -> Bundle:
  """The model before training; it knows the special tokens `new`."""
  rows = pairs[pairs['split'] == 'train']
  texts = [*rows['source'], *rows['target']]
  return rewriting.start(config, find_tokenizer(config, texts), new)


def fit(
  e: Experiment,
  pairs: pd.DataFrame,
  new: Sequence[str] = (),
  model: Bundle | None = None,
  players: tuple[step.Player, ...] = (),
  own: Callable[[Any], Any] = lambda params: params,
  batches: Callable[[Any], Any] = lambda source: source,
  content: tuple = (),
) -> Rewriter:
  """Trains on the rows of split train, stops by valid, measures test.

  `pairs` has columns source, target and split; `original` where the source
  holds more than the text (a prompt), `label` for further losses. `new` are
  special tokens to add. A recipe with further losses gives its `players` (and
  `content`, what their identity is); where its model holds more than the
  rewriter, `own` takes the rewriter's parameters out. `batches` may add to
  the batches of `seq2seq.training`.
  """
  seq2seq.check(pairs)
  config = e.config
  device_mesh = mesh.make(config.mesh, config.seeds)
  model = model or start(config, pairs, new)
  model = model.replace(device_mesh=device_mesh)
  pools, texts, facts = _pools(model, pairs, e.log)
  alone = step.Loss(*objectives.loss(objectives.denoised))
  players = players or (step.Player('model', alone),)
  source = lambda job, rows: batches(pair_batches(job, rows))
  task = loop.Task(source, players, functools.partial(_measured, own, pairs))
  made_from = identity(
    config,
    ('training', 'rewriting'),
    *(leaf for name in pools for leaf in parts(pools[name])),
    *(pool.label for pool in pools.values() if 'label' in pairs),
    model.tokenizer.to_str(),
    list(new),
    # What evaluations by BLEU depend on, beside the training.
    [DECODED, *dataclasses.astuple(config.generate)]
    if config.train.metric_for_best == 'bleu'
    else [],
    *content,
  )
  sets = pools['train'], pools['valid']
  kept = e.fitted(model, sets, made_from, part='rewriter', task=task)
  last = 'test' if 'test' in pools else 'valid'
  cluster = clusters.of_texts(texts[last])
  rows = sums(model, kept.params, pools[last], config.train.batch)
  how = intervals.options_of(config)
  quality = estimates(NAMES, rows[0], means, how, cluster)
  return Rewriter(first(model, own(kept.params)), kept, quality, facts)


def first(model: Bundle, params) -> Bundle:
  """The model with the weights of its first seed."""
  own = jax.tree.map(lambda leaf: leaf[0], mesh.to_host(params))
  return model.replace(params=own)


def pair_batches(job: loop.Job, _) -> batches.Batches:
  """The batches of a job whose training data is a pool of pairs."""
  options = job.config.train
  return seq2seq.training(
    job.train,
    job.seeds,
    options.batch,
    options.microbatches,
    job.device_mesh.shape['data'],
    platform_traits().few,
  )


def parts(pairs: seq2seq.PairPool) -> tuple:
  """What a pool of pairs holds, for an identity."""
  read, labels = pairs.read, pairs.labels
  return read.flat, read.offsets, labels.flat, labels.offsets, pairs.flags


def _pools(
  model: Bundle, pairs: pd.DataFrame, log: Log
) -> tuple[dict[str, seq2seq.PairPool], dict[str, list[str]], dict[str, int]]:
  """The pairs of each split as tokens, and their texts without a prompt.

  Those that are too long are counted.
  """
  pools, texts = {}, {}
  facts: dict[str, int] = {}
  for split in ('train', 'valid', 'test'):
    rows = pairs[pairs['split'] == split]
    if not len(rows):
      continue
    plain = rows['original'].tolist() if 'original' in rows else None
    label = rows['label'].to_numpy(np.int32) if 'label' in rows else None
    both = rows['source'].tolist(), rows['target'].tolist()
    pools[split], fits = rewriting.pool(model, *both, plain, label)
    texts[split] = [t for t, fit in zip(plain or both[0], fits) if fit]
    facts |= fitting(model, split, fits)
  log.line('pairs: ' + ', '.join(f'{v:,} {k}' for k, v in facts.items() if v))
  return pools, texts, facts


def fitting(model: Bundle, split: str, fits: np.ndarray) -> dict[str, int]:
  """How many pairs of a split the model has positions for; it needs one."""
  if not fits.any():
    raise UserError(
      f'no pair of split {split} fits the {model.longest} positions of the '
      'model; shorten the texts'
    )
  return {
    f'{split} pairs': int(fits.sum()),
    f'{split} pairs too long, left out': int((~fits).sum()),
  }


def swept(
  model: Bundle, params, pairs: seq2seq.PairPool, batch: int
) -> Iterator[tuple[dict, np.ndarray]]:
  """Each batch of the pairs, and what the model says of it."""
  device_mesh = model.device_mesh
  forward = step.forward(model, device_mesh)
  for host in seq2seq.sweep(pairs, batch, device_mesh.shape['data']):
    placed = mesh.put_batch(device_mesh, host, stacked=False)
    yield host, np.asarray(forward(params, placed))


def sums(
  model: Bundle,
  params,
  pairs: seq2seq.PairPool,
  batch: int,
  terms: Callable = objectives.rewrites,
) -> np.ndarray:
  """Of each pair the sums and counts of the terms: [s, n, 2 k]."""
  out, measured = np.zeros((0, 0, 0)), objectives.measured(model, terms)
  with announce.counting(len(pairs.label), 'pairs read:') as add:
    for host, result in swept(measured, params, pairs, batch):
      if not out.size:
        out = np.zeros((len(result), len(pairs.label), result.shape[2]))
      example = host['example']
      out[:, example[example >= 0]] = result[:, example >= 0]
      add((example >= 0).sum())
  return out


def ratios(names: Sequence[str], sums: np.ndarray) -> dict[str, np.ndarray]:
  """The mean of each term over its tokens."""
  k = len(names)
  with np.errstate(divide='ignore', invalid='ignore'):
    return dict(zip(names, np.moveaxis(sums[..., :k] / sums[..., k:], -1, 0)))


def means(sums: np.ndarray) -> dict[str, np.ndarray]:
  """The mean of each term, and the perplexities."""
  each = ratios(NAMES, sums)
  each['perplexity'] = np.exp(each['loss'])
  each['changed_perplexity'] = np.exp(each['changed_loss'])
  return each


def estimates(
  names: Sequence[str],
  rows: np.ndarray,
  compute: Callable,
  how: Any,
  cluster: np.ndarray | None = None,
) -> dict[str, dict]:
  """Measures by intervals over pairs; those that are no loss are shares.

  Pairs of equal `cluster` are of one text.
  """
  none = rows.mean(0) * np.repeat([0.0, 1.0], len(names))  # a pair, none right
  ends = none + np.roll(none, len(names)), none
  shares = lambda sums: {
    name: value
    for name, value in ratios(names, sums).items()
    if 'loss' not in name
  }
  how = how.over(cluster)
  return rewrites.estimates(
    rows, compute, how, intervals.POSITIVE
  ) | rewrites.estimates(rows, shares, how, ends=ends)


def _measured(
  own: Callable, pairs: pd.DataFrame, job: loop.Job, params
) -> dict[str, np.ndarray]:
  """What an evaluation during training looks at, one number a seed."""
  every = sums(job.model, params, job.valid, job.config.train.batch)
  result = means(every.sum(1))
  if job.config.train.metric_for_best == 'bleu':
    rows = pairs[pairs['split'] == 'valid'][:DECODED]
    host = own(mesh.to_host(params))
    each = []
    for i in range(len(job.seeds)):
      one = jax.tree.map(lambda leaf, i=i: leaf[i], host)
      model = job.model.replace(params=one)
      counts = compare(
        model, rows, write_tokens(job.config, model, rows['source'])
      )
      each.append(rewrites.measures(counts.sum(0, keepdims=True))['bleu4'][0])
    result['bleu'] = np.array(each)
  return result


def options_of(config: Config, model: Bundle, longest: int) -> Options:
  """Greedy, copying from the source; the config's options over that."""
  options = config.generate
  over = overrides(options)
  over.pop('max_new_tokens', None)  # a length here counts the prompt
  # A model that has not learned to end stops at twice its source.
  over.setdefault('max_length', min(model.longest, 2 * longest + 16))
  return Options(**over)


def write_tokens(
  config: Config, model: Bundle, texts: Sequence[str]
) -> list[list[int]]:
  """The tokens that the model writes for each text."""
  texts = list(texts)
  if not texts:
    return []
  read = rewriting.prompts(model, texts)
  products = backend.inference(config.net.precision)
  params = decode_texts.ready(model.module, model.params, products)
  options = options_of(config, model, int(read.lengths.max()))
  made = decode_texts.generate(model.module, params, read, options)
  return rewriting.written(model, made.tokens, read)


def write(config: Config, model: Bundle, texts: Sequence[str]) -> list[str]:
  """The texts rewritten; special tokens are not shown."""
  rows = write_tokens(config, model, texts)
  return model.tokenizer.decode_batch(rows) if rows else []


def compare(
  model: Bundle, pairs: pd.DataFrame, written: Sequence[Sequence[int]]
) -> np.ndarray:
  """Counts [n, k] of texts/rewrites.py, over the model's tokens."""

  def rows(texts):
    return [
      one.ids
      for one in model.tokenizer.encode_batch_fast(
        list(texts), add_special_tokens=False
      )
    ]

  original = pairs['original' if 'original' in pairs else 'source']
  each = zip(rows(original), rows(pairs['target']), written, strict=True)
  return np.array([rewrites.counts(*one) for one in each], np.float64)


def save(rewriter: Bundle, folder: pathlib.Path) -> pathlib.Path:
  """A folder that transformers loads, with the tokenizer that it needs."""
  import tempfile

  with tempfile.TemporaryDirectory() as files:
    tokens.save_tokenizer(rewriter.tokenizer, files, rewriter.longest)
    names = sorted(pathlib.Path(files).iterdir())
    hf.save(folder, rewriter.module, rewriter.params, names, rewriter.config)
  return folder
