"""Mask filling: with a BART, or with a masked LM.

The text around the masks is never rewritten: what was generated is put in
place of a mask into the text as it was given, to the character. Where the
tokenizer lets a mask eat the space before it (RoBERTa, BART), what is put
there brings its own.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from fairjax.core import announce
from fairjax.core.errors import UserError
from fairjax.data.batching.corruption import MASKS, META_SPACE
from fairjax.data.batching.tokens import Ragged
from fairjax.data.placement import HERE, Placement
from fairjax.models import special
from fairjax.models.decoding import decode_texts, infill
from fairjax.models.decoding.decode import Options
from fairjax.models.decoding.decode_texts import Generated
from fairjax.models.reading import masked
from fairjax.models.reading.masked import Copies


class Filled(NamedTuple):
  """Filled texts, and what stands in each of their masks."""

  texts: list[str]
  spans: list[list[str]]
  generated: Generated | None  # of a BART


def mask_of(tokenizer: Tokenizer) -> tuple[str, int]:
  """The tokenizer's word for a mask, and its id."""
  for token in MASKS:
    if (number := tokenizer.token_to_id(token)) is not None:
      special.check_whole(tokenizer, token)
      return token, number
  raise UserError(
    f'the tokenizer knows none of {", ".join(MASKS)}; give the one that '
    'belongs to the model with --config.tokens.tokenizer'
  )


def infill_texts(
  module: Any,
  params: dict,
  tokenizer: Tokenizer,
  texts: Sequence[str],
  options: Options = decode_texts.GREEDY,
  slots: int = 32,
) -> Filled:
  """Masks of any texts filled by a BART; masks side by side are one."""
  mask, number = mask_of(tokenizer)
  one = re.escape(mask)
  texts = [re.sub(rf'{one}(?:\s*{one})+', mask, text) for text in texts]
  options = dataclasses.replace(
    options, mask=number, never=(*options.never, *special.ids(tokenizer))
  )
  sources = decode_texts.encode(module, tokenizer, texts)
  result = decode_texts.generate(module, params, sources, options, slots)
  outputs = result.tokens
  spans = []
  for i in range(len(texts)):
    source, row = (
      each.flat[each.offsets[i] : each.offsets[i + 1]]
      for each in (sources, outputs)
    )
    spans.append(infill.spans_of(source, row[1:], number, options.min_span))
  return _put(tokenizer, texts, spans, result)


def fill_texts(
  module: Any,
  params: dict,
  tokenizer: Tokenizer,
  texts: Sequence[str],
  placement: Placement = HERE,
  never: Sequence[int] = (),
) -> Filled:
  """Masks filled by a masked LM, a token each; by none of `never`."""
  _, number = mask_of(tokenizer)
  sources = decode_texts.encode(module, tokenizer, texts)
  filled = fill(
    module,
    params,
    sources,
    number,
    (*special.ids(tokenizer), *never),
    placement=placement,
  )
  spans = [
    [[token] for token in new[old == number].tolist()]
    for old, new in zip(sources.split(), filled.split())
  ]
  return _put(tokenizer, texts, spans, None)


def fill(
  module: Any,
  params: dict,
  texts: Ragged,
  mask: int,
  never: Sequence[int] = (),
  batch: int = masked.BATCH,
  placement: Placement = HERE,
) -> Ragged:
  """Each mask gets its likeliest token.

  From the left: the first mask of every text, then the second in sight of what
  the first became, and so on.
  """
  out = np.array(sorted({mask, *never}), np.int32)
  at = np.flatnonzero(texts.flat == mask)
  text = np.searchsorted(texts.offsets, at, 'right') - 1
  # The how-manieth mask of its text each one is.
  turn = np.arange(len(at)) - np.searchsorted(text, text)
  texts = texts._replace(flat=texts.flat.copy())
  # One layout for all turns: what is compiled for one serves all.
  copies = Copies(text, at - texts.offsets[text])
  layout = None
  if len(at):
    layout = masked.layout_of(texts, copies, batch, placement)
  turns = int(turn.max(initial=-1)) + 1
  for i in announce.rounds(range(turns), turns, 'masks of a text filled:'):
    now = turn == i
    copies = Copies(text[now], at[now] - texts.offsets[text[now]])
    texts.flat[at[now]] = masked.best_tokens(
      module, params, texts, copies, out, batch, layout, placement
    )
  return texts


def _put(
  tokenizer: Tokenizer,
  texts: Sequence[str],
  spans: list[list[list[int]]],
  output: Generated | None,
) -> Filled:
  """The texts with their spans in place of the masks."""
  mask, number = mask_of(tokenizer)
  added = tokenizer.get_added_tokens_decoder()[number]
  words = iter(_words(tokenizer, [span for row in spans for span in row]))
  out, parts = [], []
  for i, (text, row) in enumerate(zip(texts, spans)):
    first, *rest = text.split(mask)
    if len(rest) != len(row):
      raise UserError(
        f'line {i + 1} has {len(rest)} times {mask}, but its tokens have '
        f'{len(row)}; the tokenizer is that of another model'
      )
    put = []
    for part in rest:
      first = first.rstrip() if added.lstrip else first
      word, apart = next(words)
      put.append(f' {word}' if apart and first[-1:].strip() else word)
      first += put[-1] + (part.lstrip() if added.rstrip else part)
    out.append(first)
    parts.append(put)
  return Filled(out, parts, output)


def _words(
  tokenizer: Tokenizer, spans: list[list[int]]
) -> list[tuple[str, bool]]:
  """What spans read as, and whether each stands apart from what is before it.

  A sentencepiece decoder takes the blank of a span that begins a word away, as
  at the start of a text.
  """
  words = tokenizer.decode_batch(spans) if spans else []
  first = [(tokenizer.id_to_token(s[0]) or '') if s else '' for s in spans]
  return [
    (
      word.removeprefix('##'),
      name.startswith(META_SPACE) and not word.startswith((META_SPACE, ' ')),
    )
    for word, name in zip(words, first)
  ]
