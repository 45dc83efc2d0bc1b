"""Error correction of swapped texts: masks, candidates, choices.

    pieces → flagged by a detector → whole words masked → filled → text

A swap by a dictionary leaves texts that nobody would write ("the men are
duchesses"). FairFlow and MBCDA mask every word that a replaced-token detector
finds odd, and let a BART write there. A word is masked whatever piece of it is
flagged; what is filled in gets the case of the word it replaces, and all else
stays as it was, to the character. `reference` builds the masked text as the
papers' code does.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from fairjax.pairs.swapping.listed import match_case

MASK = '<mask>'
ODD = '[unused0]'  # what the papers' code writes in place of an odd token

Span = tuple[int, int]


class Masked(NamedTuple):
  """A text whose odd words are masked, and where those were."""

  text: str
  spans: list[Span]  # of the text before


def flagged(
  logit: Float[np.ndarray, ' n'], threshold: float, scale: str = 'logit'
) -> np.ndarray:
  """Which tokens are odd: logit above θ, or P(replaced) above it.

  θ is 0 in MBCDA's paper and −1 in both programs, a probability of .269.
  """
  if scale == 'probability':
    threshold = np.log(threshold / (1 - threshold))
  return np.asarray(logit) > threshold


def odd_words(
  spans: Sequence[Span],
  words: Sequence[int | None],
  odd: Sequence[bool],
) -> list[Span]:
  """The words of which a piece is flagged, as spans of characters.

  `spans` and `words` are of the pieces: where they stand, and the number of
  their word (None for marks that the tokenizer adds).
  """
  out: dict[int, Span] = {}
  wrong = {word for word, one in zip(words, odd) if one and word is not None}
  for (start, end), word in zip(spans, words):
    if word in wrong and end > start:
      first, last = out.get(word, (start, end))
      out[word] = min(first, start), max(last, end)
  return [out[word] for word in sorted(out)]


def merged(text: str, spans: Sequence[Span]) -> list[Span]:
  """Spans with nothing but white space between them as one."""
  out: list[Span] = []
  for start, end in spans:
    if out and not text[out[-1][1] : start].strip():
      out[-1] = out[-1][0], end
    else:
      out.append((start, end))
  return out


def masked(
  text: str,
  spans: Sequence[Span],
  merge: bool = True,
  mask: str = MASK,
) -> Masked:
  """The text with a mask in place of each span."""
  spans = merged(text, spans) if merge else list(spans)
  return Masked(put(text, spans, [mask] * len(spans)), spans)


def put(text: str, spans: Sequence[Span], words: Sequence[str]) -> str:
  """The text with `words` in place of spans; an empty one takes a space."""
  parts, last = [], 0
  for (start, end), word in zip(spans, words, strict=True):
    before = text[last:start]
    if not word and (not text[end:] or text[end].isspace()):
      before = before.rstrip()
    parts += [before, word]
    last = end
  return ''.join([*parts, text[last:]])


def filled(one: Masked, text: str, words: Sequence[str]) -> str:
  """`text` repaired: what was filled in, in the case of what stood there."""
  cased = [
    match_case(text[start:end], word.strip())
    for (start, end), word in zip(one.spans, words, strict=True)
  ]
  return put(text, one.spans, cased)


def reference(pieces: Sequence[str], odd: Sequence[bool]) -> str:
  """The masked text as FairFlow's and MBCDA's code writes it.

  A flag on a continuation (##) is passed over; the flagged pieces become
  [unused0], the fast tokenizer's decoder glues what follows, and every
  white-space word that starts with [unused0] becomes one mask. So a mask
  swallows the punctuation after it, masks side by side stay apart, and a
  flagged [CLS] or [SEP] adds one.
  """
  from tokenizers import decoders

  marks = ('[CLS]', '[SEP]', '[PAD]', '[MASK]', '[UNK]')
  words = []
  for piece, one in zip(pieces, odd, strict=True):
    if one and not piece.startswith('##'):
      words.append(ODD)
    elif piece not in marks:
      words.append(piece)
  text = decoders.WordPiece(cleanup=True).decode(words)
  return ' '.join(
    MASK if word.startswith(ODD) else word for word in text.split()
  )
