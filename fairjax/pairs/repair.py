"""Error correction of swapped texts: masks, candidates, choices.

    pieces → flagged by a detector → whole words masked → filled → text

A swap by a dictionary leaves texts that nobody would write ("the men are
duchesses"). FairFlow and MBCDA mask every word that a replaced-token detector
finds odd, and let a BART write there. A word is masked whatever piece of it is
flagged; what is filled in gets the case of the word it replaces, and all else
stays as it was, to the character. θ, above which a token's logit is odd, is 0
in MBCDA's paper and -1 in both papers' code, a probability of .269.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fairjax.pairs.swapping.listed import match_case

MASK = '<mask>'

Span = tuple[int, int]


class Masked(NamedTuple):
  """A text whose odd words are masked, and where those were."""

  text: str
  spans: list[Span]  # of the text before


def odd_words(
  spans: Sequence[Span], words: Sequence[int | None], odd: Sequence[bool]
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
  text: str, spans: Sequence[Span], merge: bool = True, mask: str = MASK
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
