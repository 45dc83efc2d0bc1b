"""FairFlow's stage 1: words that reveal an attribute, from a seed pair.

    corpus → sample of every word's occurrences → their embeddings → head

Both walks over the corpus go shard by shard (corpora/shard_map.py): the first
only counts and samples, the second runs the encoder on texts with a sampled
occurrence and keeps nothing but its shard. Texts longer than the encoder
reads are cut into windows.
"""

import functools
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax import config as configs
from fairjax.config import Config
from fairjax.core import artefacts, backend
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, instances, tokens
from fairjax.data.batching.instances import Instances
from fairjax.data.batching.tokens import Ragged
from fairjax.data.corpora import shard_map, shards
from fairjax.models import build
from fairjax.models.folders import folder as folders
from fairjax.models.reading import contextual
from fairjax.pairs import attributes
from fairjax.recipes.language import corpora
from fairjax.stages.identity import identity
from fairjax.train import decisions, mesh

LINES = 2000  # texts tokenised at a time


@functools.lru_cache(1)
def _load(spec: str) -> tuple[Config, Any, corruption.Vocabulary]:
  """The config, model and vocabulary of a job, kept by a worker."""
  config = corpora.of_plain(spec)
  model = language_model(config)
  return config, model, corruption.vocabulary(model.tokenizer)


def language_model(config: Config) -> Any:
  """The config's encoder, with a masked-LM head where words are read by it."""
  precision, options = folders.precision(config), config.fairflow
  asked = options.decoder == 'head' or 'masked' in options.rivals
  can, tokenizer = 'mask' if asked else 'embed', config.tokens.tokenizer
  return folders.load(config.model, can, precision, tokenizer)


def _blocks(
  source: pathlib.Path, config: Config, shard: str
) -> Iterator[tuple[np.ndarray, list[str]]]:
  """Numbers and texts of the lines that are read, some at a time."""
  before = 0
  for texts in shards.read(source, config.data.text):
    numbers = before + np.arange(len(texts))
    before += len(texts)
    priorities = attributes.priority(config.seed, shard, numbers) / 2.0**64
    rows = numbers[priorities < config.fairflow.share] - numbers[0]
    for k in range(0, len(rows), LINES):
      some = rows[k : k + LINES]
      yield numbers[some], [texts[i] for i in some]


def inner_length(
  config: Config, model: Any, words: corruption.Vocabulary
) -> int:
  """Tokens of a window, without the special ones around it."""
  length = build.text_length(config, model.module.shape.longest)
  return length - len(words.first) - len(words.last)


def _sample(
  source: pathlib.Path, target: pathlib.Path, spec: str
) -> dict[str, int]:
  """The sampled occurrences of every word of one shard, as a table."""
  config, model, vocabulary = _load(spec)
  options = config.fairflow
  shard = source.relative_to(config.corpus.path).as_posix()
  inner = inner_length(config, model, vocabulary)
  seeds = set().union(*attributes.seed_words(options.first, options.second))
  sample, counts = None, {'rows': 0, 'tokens': 0, 'words': 0}
  total: dict[str, int] = {}
  for numbers, texts in _blocks(source, config, shard):
    ids = tokens.encode(model.tokenizer, texts, None, special=False)
    result = attributes.spans(ids, vocabulary.begins, vocabulary.special)
    # A word that a window cuts has no embedding of its own.
    whole = result.start // inner == (result.start + result.size - 1) // inner
    result = result.take(np.flatnonzero(whole))
    names, which = attributes.spelled(model.tokenizer, ids, result)
    good = np.array([attributes.is_word(name) for name in names], bool)
    rows = np.flatnonzero(good[which]) if len(which) else which
    some = pd.DataFrame(
      {
        'word': names[which[rows]] if len(rows) else [],
        'row': numbers[result.text[rows]],
        'start': result.start[rows],
        'size': result.size[rows],
      }
    )
    for word, n in some['word'].value_counts().items():
      total[word] = total.get(word, 0) + n
    some['priority'] = attributes.priority(
      config.seed, shard, some['row'].to_numpy(), some['start'].to_numpy()
    )
    sample = some if sample is None else pd.concat([sample, some])
    sample = capped(sample, seeds, options)  # now: memory holds `cap` a word
    counts['rows'] += len(texts)
    counts['tokens'] += len(ids.flat)
    counts['words'] += len(rows)
  if sample is None:
    sample = pd.DataFrame(
      {name: [] for name in ('word', 'row', 'start', 'size', 'priority')}
    )
  sample['count'] = [total[word] for word in sample['word']]
  sample['shard'] = shard
  artefacts.write_table(target, sample.reset_index(drop=True))
  return counts


def capped(
  table: pd.DataFrame, seeds: set[str], options: configs.FairFlow
) -> pd.DataFrame:
  """The occurrences of least priority: `cap` a word, `seed_cap` a seed."""
  seed = table['word'].isin(seeds).to_numpy()
  parts = []
  for own, cap in ((seed, options.seed_cap), (~seed, options.cap)):
    rows = np.flatnonzero(own)
    word = pd.factorize(table['word'].to_numpy()[rows])[0]
    first = table['priority'].to_numpy()[rows]
    parts.append(
      rows[attributes.least(word, first, cap)] if len(rows) else rows
    )
  return table.iloc[np.sort(np.concatenate(parts))]


class Sample(NamedTuple):
  """What of the corpus is looked at."""

  table: pd.DataFrame  # word, shard, row, start, size
  counts: dict[str, int]  # of every word that is looked at
  facts: dict[str, Any]


def sample(config: Config, folder: pathlib.Path) -> Sample:
  """The occurrences that are looked at, over all shards."""
  options = config.fairflow
  seeds = attributes.seed_words(options.first, options.second)
  rows = _walk(config, _sample, folder / 'sampled', ())
  parts = [
    artefacts.read_table(folder / 'sampled' / row['shard']) for row in rows
  ]
  table = pd.concat(parts, ignore_index=True)
  if not len(table):
    raise UserError(f'{config.corpus.path} holds no words; name another corpus')
  once = table.drop_duplicates(['shard', 'word'])
  counts = once.groupby('word')['count'].sum().to_dict()
  attributes.check_seeds(seeds, counts)
  every = set().union(*seeds)
  table = capped(table, every, options)
  often = table['word'].map(counts) >= options.min_count
  table = table[often | table['word'].isin(every)]
  facts = {
    name: int(sum(row.get(name, 0) for row in rows))
    for name in ('rows', 'tokens', 'words')
  }
  facts |= {
    'distinct words': len(counts),
    f'words of at least {options.min_count}': int(table['word'].nunique()),
    'occurrences looked at': len(table),
  }
  table = table[['word', 'shard', 'row', 'start', 'size']]
  table = table.sort_values(['shard', 'row', 'start'], ignore_index=True)
  known = {w: int(counts[w]) for w in sorted(set(table['word']))}
  return Sample(table, known, facts)


def _walk(
  config: Config, work, out: pathlib.Path, content: tuple
) -> list[dict]:
  """Runs a work on every shard; failures end the stage."""
  made_from = identity(config, 'attributes', *content)
  rows = corpora.mapped(config, work, out, made_from)
  shard_map.refuse_failed(rows, out)
  return rows


def windows(
  ids: Ragged, inner: int, words: corruption.Vocabulary
) -> tuple[Ragged, np.ndarray]:
  """Texts cut to `inner` tokens each, framed; the first window of each text."""
  each = np.maximum(-(-ids.lengths // inner), 1)  # an empty text has one
  text = np.repeat(np.arange(len(each)), each)
  first = np.cumsum(each) - each
  number = np.arange(len(text)) - first[text]
  begin = ids.offsets[text] + number * inner
  size = np.minimum(ids.offsets[text + 1] - begin, inner)
  frame = len(words.first), len(words.last)
  lengths = size + sum(frame)
  offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
  flat = np.empty(offsets[-1], np.int32)
  run = np.arange(size.sum())
  before = np.cumsum(size) - size
  flat[run + (offsets[:-1] + frame[0] - before).repeat(size)] = ids.flat[
    run + (begin - before).repeat(size)
  ]
  for k, token in enumerate(words.first):
    flat[offsets[:-1] + k] = token
  for k, token in enumerate(words.last):
    flat[offsets[1:] - frame[1] + k] = token
  return Ragged(flat, offsets), first


def _embed(
  source: pathlib.Path, target: pathlib.Path, spec: str, chosen: str
) -> dict[str, float]:
  """The instances of one shard: the sampled words with their embeddings."""
  config, model, vocabulary = _load(spec)
  shard = source.relative_to(config.corpus.path).as_posix()
  sample = artefacts.read_table(chosen)
  sample = sample[sample['shard'] == shard]
  inner = inner_length(config, model, vocabulary)
  parts, tokens_read, apart = [], 0, 0.0
  for numbers, texts in _blocks(source, config, shard):
    mine = sample[sample['row'].isin(numbers)]
    if not len(mine):
      continue
    used = np.unique(mine['row'])
    texts = [texts[i] for i in np.searchsorted(numbers, used)]
    ids = tokens.encode(model.tokenizer, texts, None, special=False)
    pieces, first = windows(ids, inner, vocabulary)
    start = mine['start'].to_numpy()
    row = np.searchsorted(used, mine['row'])
    text, place = first[row] + start // inner, start % inner
    words = text, place + len(vocabulary.first), mine['size'].to_numpy()
    vectors, bound = read(config, model, pieces, np.stack(words, 1))
    apart = max(apart, bound)
    id = [f'{shard}:{r}:{s}' for r, s in zip(mine['row'], mine['start'])]
    parts.append(instances.unread(id, mine['word'], vectors))
    tokens_read += len(ids.flat)
  if not parts:
    width = model.module.shape.width
    parts = [instances.unread([], [], np.zeros((0, width), np.float32))]
  instances.write(target, instances.join(parts))
  return {'instances': len(sample), 'tokens': tokens_read, 'apart': apart}


def read(
  config: Config, model: Any, texts: Ragged, words: np.ndarray
) -> tuple[np.ndarray, float]:
  """The embeddings x of words [n] of (text, start, size), and a bound.

  With bfloat16 products where answers have them (train/decisions.py). No
  decision is made here: the bound is of ‖x − x'‖/‖x'‖, x' by float32, twice
  the largest of some rows.
  """

  def of(module, rows):
    text, start, size = rows.T
    return contextual.word_vectors(
      *(module, model.params, texts, text, start, size),
      layer=-1,  # the last, as the paper reads
      layers=config.fairflow.layers,
      placement=mesh.placement(mesh.make(configs.Mesh(), 1)),
    )

  fast = decisions.narrow(model, backend.inference(config.net.precision))
  if fast is None or len(words) <= decisions.FEW:
    return of(model.module, words), 0.0
  x = of(fast.module, words)
  some = np.linspace(0, len(x) - 1, decisions.LEAST).round().astype(np.int64)
  exact, size = of(model.module, words[some]), np.linalg.norm
  apart = size(x[some] - exact, axis=1) / np.maximum(size(exact, axis=1), 1e-9)
  return x, decisions.WIDER * float(apart.max())


def embed(config: Config, folder: pathlib.Path, chosen: Sample) -> Instances:
  """The embeddings of all sampled occurrences, in the order of the sample."""
  path = folder / 'sample.parquet'
  artefacts.write_table(path, chosen.table)
  work = functools.partial(_embed, chosen=str(path))
  rows = _walk(config, work, folder / 'embedded', (chosen.table,))
  paths = [folder / 'embedded' / row['shard'] for row in rows]
  if apart := max((row['apart'] for row in rows), default=0.0):
    chosen.facts['relative distance of embeddings from float32, at most'] = (
      apart
    )
  return instances.read_all(paths, sum(row['instances'] for row in rows))


def seeds(
  config: Config, every: Instances
) -> tuple[tuple[list[str], list[str]], list[tuple[str, str]]]:
  """The seed words of both sides, and the pairs grown from them, if asked."""
  options = config.fairflow
  first, second = attributes.seed_words(options.first, options.second)
  if not options.grow:
    return (first, second), []
  words, mean = word_means(every)
  a, b = (np.flatnonzero(np.isin(words, s)).tolist() for s in (first, second))
  rows = attributes.grow(mean, (a, b), options.grow)
  pairs = [(str(words[a]), str(words[b])) for a, b in rows]
  return (first + [a for a, _ in pairs], second + [b for _, b in pairs]), pairs


def word_means(every: Instances) -> tuple[np.ndarray, np.ndarray]:
  """The words, sorted, and the mean embedding of each."""
  words, which = np.unique(every.word, return_inverse=True)
  mean = np.zeros((len(words), every.vector.shape[1]))  # sums in float64
  np.add.at(mean, which, every.vector)
  return words, mean / np.bincount(which)[:, None]


def labelled(
  config: Config, every: Instances, seeds: tuple[list[str], list[str]]
) -> tuple[np.ndarray, np.ndarray]:
  """The occurrences that the head learns from, and their side, 0 or 1."""
  label = np.select([np.isin(every.word, side) for side in seeds], [0, 1], -1)
  if config.fairflow.grow:
    rank = pd.Series(every.word).groupby(every.word).cumcount().to_numpy()
    label[rank >= config.fairflow.cap] = -1  # so that no seed outweighs others
  rows = np.flatnonzero(label >= 0)
  return rows, label[rows]
