"""Samples of a pretrained model on held-out text.

One row a text; the rows are spread over all that is held out.
"""

import functools

import jax
import numpy as np
from scipy.special import expit, softmax

from fairjax.data.batching import rows, tokens
from fairjax.data.batching.corruption import Vocabulary
from fairjax.data.batching.rows import HeldOut
from fairjax.models import objectives
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options

STREAM = 16  # of this file's random numbers
GUESSES = 3  # shown of each mask
SHOWN = 48  # tokens of a text
PROMPT, WRITTEN = 12, 24  # tokens of a continued text


def _drawn(held_out: HeldOut, count: int) -> tuple[dict, dict]:
  """Rows as they are and corrupted."""
  last = held_out.rows.count - 1
  numbers = np.unique(np.linspace(0, last, min(count, last + 1)).astype(int))
  plain = rows.read(held_out.rows, numbers)
  return plain, held_out.corrupt(plain, np.random.default_rng([0, STREAM]))


def _longest(segment_ids: np.ndarray) -> int:
  """The piece with the most tokens of a row."""
  return (
    int(np.bincount(segment_ids[segment_ids > 0], minlength=2)[1:].argmax()) + 1
  )


def _text(tokenizer, ids) -> str:
  return tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)


def _name(tokenizer, id_: int) -> str:
  return _text(tokenizer, [id_]) or tokenizer.id_to_token(int(id_))


def masked(model, params, held_out: HeldOut, words: Vocabulary, count: int):
  """Masked texts, and the likeliest tokens for each mask."""
  _, corrupted = _drawn(held_out, count)
  batch = rows.finish(corrupted, held_out.rows.pieces)
  logits = jax.jit(model.apply)(params, batch)
  chances, out = softmax(np.asarray(logits, np.float64), -1), []
  name = functools.partial(_name, model.tokenizer)
  for r, segment_ids in enumerate(corrupted['segment_ids']):
    inside = np.flatnonzero(segment_ids == _longest(segment_ids))[:SHOWN]
    place = corrupted['places'][r]
    hidden = corrupted['tokens'][r, place] == words.mask
    visible = hidden & np.isin(place, inside) & (corrupted['asked'][r] > 0)
    guesses = []
    for slot in sorted(np.flatnonzero(visible), key=lambda slot: place[slot]):
      chance = chances[r, slot]
      best = np.argsort(-chance, kind='stable')[:GUESSES]
      choices = ', '.join(f'{name(i)} {chance[i]:.2f}' for i in best)
      guesses.append(f'{name(corrupted["labels"][r, slot])} ← {choices}')
    text = _text(model.tokenizer, corrupted['tokens'][r, inside])
    out.append({'text': text, 'truth ← guesses': '; '.join(guesses)})
  return out


def detected(model, params, held_out: HeldOut, words: Vocabulary, count: int):
  """Texts with the generator's tokens, and what the discriminator flags."""
  _, corrupted = _drawn(held_out, count)
  batch = rows.finish(corrupted, held_out.rows.pieces)
  flag = jax.jit(lambda p, b: objectives.generate_and_detect(model, p, b, None))
  flagged = jax.tree.map(np.asarray, flag(params, batch))
  name, out = functools.partial(_name, model.tokenizer), []
  for r, segment_ids in enumerate(corrupted['segment_ids']):
    inside = np.flatnonzero(segment_ids == _longest(segment_ids))[:SHOWN]
    new, old = flagged.read[r, inside], flagged.original[r, inside]
    chance = expit(flagged.scores[r, inside])
    changed = [
      f'{name(o)} → {name(n)} ({p:.2f})'
      for o, n, p in zip(old, new, chance)
      if o != n
    ]
    wrongly = [
      f'{name(n)} ({p:.2f})'
      for o, n, p in zip(old, new, chance)
      if o == n and p > 0.5
    ]
    out.append(
      {
        'text as read': _text(model.tokenizer, new),
        'replaced (chance given)': ', '.join(changed),
        'flagged though original': ', '.join(wrongly),
      }
    )
  return out


def _write(model, params, sources, options: Options) -> list[np.ndarray]:
  module = model.module
  outputs = decode_texts.generate(
    module, params, tokens.ragged(sources), options
  ).tokens
  return outputs.split()


def denoised(model, params, held_out: HeldOut, words: Vocabulary, count: int):
  """Corrupted texts and what the model makes of them (greedy)."""
  plain, corrupted = _drawn(held_out, count)
  which = [_longest(segment_ids) for segment_ids in plain['segment_ids']]

  def pick(rows_):
    return [
      tokens[segment_ids == k]
      for tokens, segment_ids, k in zip(
        rows_['tokens'], rows_['segment_ids'], which
      )
    ]

  source, truth = pick(corrupted), pick(plain)
  options = Options(max_length=model.longest, no_repeat_ngram_size=3)
  outputs = _write(model, params, source, options)
  show = functools.partial(_text, model.tokenizer)
  return [
    {'original': show(a[1:-1]), 'corrupted': show(b[1:-1]), 'written': show(c)}
    for a, b, c in zip(truth, source, map(_bare(words), outputs))
  ]


def continued(model, params, held_out: HeldOut, words: Vocabulary, count: int):
  """Beginnings of texts and how the model continues them (greedy)."""
  plain, _ = _drawn(held_out, count)
  prompts = []
  for ids, segment_ids in zip(plain['tokens'], plain['segment_ids']):
    own = ids[segment_ids == _longest(segment_ids)]
    prompts.append(own[: min(PROMPT, len(own))])
  options = Options(max_new_tokens=WRITTEN, no_repeat_ngram_size=3)
  outputs = _write(model, params, prompts, options)
  show, bare = functools.partial(_text, model.tokenizer), _bare(words)
  return [
    {'prompt': show(bare(a)), 'continuation': show(bare(b[len(a) :]))}
    for a, b in zip(prompts, outputs)
  ]


def _bare(words: Vocabulary):
  """A text without the special tokens around it."""
  around = [*words.first, *words.last, words.pad]
  return lambda ids: ids[~np.isin(ids, around)]
