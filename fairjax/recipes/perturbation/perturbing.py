"""Texts perturbed: the person drawn, the rewriter, what comes back.

One way for corpora, training sets and test sets. Of each text (or window of a
long one) a word and an attribute are drawn from (seed, text), a rewriter turns
that person, and the spelling of all that was copied is that of the original.
Texts that hold nothing to perturb never reach a model.
"""

import functools
import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from fairjax import config as configs
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.metrics.texts import rewrites
from fairjax.models import Bundle, families, rewriting
from fairjax.models.folders import hf
from fairjax.models.folders.folder import load as load_folder
from fairjax.pairs import recase
from fairjax.pairs.persons import chain, parallel, perturb
from fairjax.pairs.swapping import dictionary
from fairjax.recipes.perturbation import person_tagger
from fairjax.recipes.rewriting import rewriter
from fairjax.train import mesh

# write(texts, words, spans, attributes) -> texts
Write = Callable[[list[str], list[str], list[tuple[int, int]], list[str]], list]
WINDOW = 256  # words perturbed together: of what a model of 512 pieces reads


@functools.lru_cache(2)
def _loaded(folder: str) -> Bundle:
  heads = families.find(hf.read_shape(folder).family).heads
  # A left-to-right model tags or writes: its weights tell.
  can = 'detect' if 'detect' in heads else '' if 'tag' in heads else 'write'
  model = load_folder(folder, can)
  model = model.replace(device_mesh=mesh.make(configs.Mesh(), 1))
  for token in perturb.TOKENS:
    if model.tokenizer.token_to_id(token) is None:
      raise UserError(
        f'the model in {folder} has no token {token}; name a perturber '
        '(configs/perturber_mini.py trains one)'
      )
  return model


def load(config: Config) -> Bundle | None:
  """The perturber of the config's folder; None where rules perturb."""
  if config.perturb.by != 'model':
    return None
  if not config.perturb.model:
    raise UserError(
      'perturb.by is model, but --config.perturb.model names none; give the '
      'folder of a '
      'trained perturber, or take --config.perturb.by=rules'
    )
  return _loaded(config.perturb.model)


def writer(config: Config, model: Bundle | None = None) -> Write:
  """Who rewrites: rules on one person, the dictionary, or a model."""
  by = config.perturb.by
  if model is None and by == 'model':
    model = load(config)
  if model is not None:
    by_model = (
      person_tagger.write if model.can in person_tagger.CAN else _by_model
    )
    return functools.partial(by_model, config, model)
  return functools.partial(_by_list, by)


def _by_list(by: str, texts, words, spans, attributes) -> list[str]:
  """Rules on one person, the 'word' that was named alone, or everybody's
  gender by the dictionary; the descriptors of other axes are as by rules."""
  swapped = texts
  if by == 'dictionary':
    swapped = dictionary.swap(texts, names=True).texts
  out = []
  for text, new, span, attribute in zip(texts, swapped, spans, attributes):
    if by == 'rules' or perturb.AXIS[attribute] != 'gender':
      new = perturb.by_rules(text, span[0], span[1], attribute)
    elif by == 'word':  # no other mention: what a chain adds to
      new = chain.turn_words(text, {span[0]}, attribute)[0]
    out.append(new)
  return out


def _by_model(config, model, texts, words, spans, attributes) -> list[str]:
  prompts = [
    perturb.prompt(word, attribute, text)
    for text, word, attribute in zip(texts, words, attributes)
  ]
  written = rewriter.write(config, model, prompts)
  return [recase.restore(a, b) for a, b in zip(texts, written)]


def by_forms(texts, spans, attributes, written) -> list[str]:
  """The listed words that a rewrite changes, turned by rules; others stay."""
  out = []
  for text, span, attribute, new in zip(texts, spans, attributes, written):
    if perturb.AXIS[attribute] == 'gender':  # others as they are written
      starts = parallel.starts(text)
      edits = rewrites.edits(words_of(text), words_of(new))
      changed = {starts[at] for at, kind in edits if kind == 0}
      # A small model says who is who; its slips in copying do no harm.
      new = chain.turn_words(text, {span[0], *changed}, attribute)[0]
    out.append(new)
  return out


def words_of(text: str) -> list[str]:
  """The words that are compared: no case, no accents."""
  return [recase.plain(word) for word in parallel.words(text)]


def windows(text: str, most: int) -> list[str]:
  """The text in windows of at most `most` words; joined they are the text."""
  words = list(re.finditer(r'\S+\s*', text))
  if len(words) <= most:
    return [text]
  out, first = [], 0
  while first < len(words):
    last = min(first + most, len(words))
    ends = [
      i + 1
      for i in range(first + most // 2, last)
      if words[i][0].rstrip().endswith(('.', '!', '?'))
    ]
    if last < len(words) and ends:  # at the end of a sentence
      last = ends[-1]
    start = words[first].start() if first else 0  # with the blanks before it
    out.append(text[start : words[last - 1].end()])
    first = last
  return out


def drawn(config: Config, texts: Sequence[str]) -> list[tuple | None]:
  """(candidate, attribute) of each text, a function of (seed, text)."""
  named, out = config.perturb.axes, []  # axes, or values of one
  axes = tuple(dict.fromkeys(perturb.AXIS.get(one, one) for one in named))
  values = {v for one in named for v in perturb.AXES.get(one, (one,))}
  offered = perturb.candidates(texts, axes)
  for text, row in zip(texts, offered):
    digest = hashlib.blake2b(text.encode(errors='surrogatepass')).digest()
    rng = np.random.default_rng([config.seed, *digest[:8]])  # not of its place
    out.append(perturb.draw(row, rng, values))
  return out


def perturbed(config: Config, texts: Sequence[str]) -> pd.DataFrame:
  """One row a text, of COLUMNS.

  A text that holds nothing to perturb (not `offered`), or is `too_long` for
  the model's positions even in windows, stays as it is.
  """
  texts = list(texts)
  cut = [windows(text, WINDOW) for text in texts]
  parts = [part for own in cut for part in own]
  sources = [i for i, own in enumerate(cut) for _ in own]
  draws, model, new = drawn(config, parts), load(config), list(parts)
  found = {k: draw for k, draw in enumerate(draws) if draw is not None}
  rows = able = [*found]

  def asked(rows: list[int]) -> tuple[list[str], ...]:
    """Texts, words and attributes."""
    each = ((parts[k], found[k][0].word, found[k][1]) for k in rows)
    return tuple(map(list, zip(*each)))

  if model is not None and rows:
    own, words, attributes = asked(rows)
    fits = readable(model, words, attributes, own)
    able = [k for k, one in zip(rows, fits) if one]
  if able:
    own, words, attributes = asked(able)
    spans = [(found[k][0].start, found[k][0].end) for k in able]
    if model is not None:  # which reads the word, and takes the first of them
      spans = list(map(chain.find, own, words))
    written = writer(config, model)(own, words, spans, attributes)
    for k, text in zip(able, written):
      new[k] = text
  return _table(texts, parts, sources, new, draws, set(rows) - set(able))


def readable(
  model: Bundle,
  words: Sequence[str],
  attributes: Sequence[str],
  texts: Sequence[str],
) -> np.ndarray:
  """Which texts a perturber has positions for, in the prompt that it reads."""
  if model.can in person_tagger.CAN:
    return person_tagger.fits(model, words, attributes, texts)
  return rewriting.fits(
    model, list(map(perturb.prompt, words, attributes, texts))
  )


def _table(texts, parts, sources, new, draws, long) -> pd.DataFrame:
  """The windows as texts again; what changed first is what a row tells."""
  n = len(texts)
  written, first = [''] * n, [None] * n
  count, offered, too_long = np.zeros((3, n), np.int64)
  for k, i in enumerate(sources):
    written[i] += new[k]
    count[i] += 1
    offered[i] += draws[k] is not None
    too_long[i] += k in long
    if first[i] is None and new[k] != parts[k]:
      first[i] = draws[k]
  for k, i in enumerate(sources):
    first[i] = first[i] or draws[k]  # nothing changed: what was asked first
  field = lambda get: [get(one) if one else '' for one in first]
  return pd.DataFrame(
    {
      'text': texts,
      'perturbed': written,
      'word': field(lambda one: one[0].word),
      'attribute': field(lambda one: one[1]),
      'axis': field(lambda one: one[0].axis),
      'windows': count,
      'offered': offered > 0,
      'too_long': too_long > 0,
      'changed': [a != b for a, b in zip(texts, written)],
    }
  )


def pairs_perturbed(
  config: Config, one: Sequence[str], two: Sequence[str]
) -> pd.DataFrame:
  """Pairs of texts, joined before they are perturbed so that both agree."""
  table = perturbed(config, [perturb.join(a, b) for a, b in zip(one, two)])
  parts = [perturb.split(text) for text in table['perturbed']]
  pairs = list(zip(one, two))
  # A rewrite without the joint cannot be split: the pair stays as it is.
  halves = [old if half is None else half for half, old in zip(parts, pairs)]
  table['text'], table['text_pair'] = list(one), list(two)
  table['perturbed'] = [a for a, _ in halves]
  table['perturbed_pair'] = [b for _, b in halves]
  table['broken'] = [half is None for half in parts]
  table['changed'] = [new != old for new, old in zip(halves, pairs)]
  return table
