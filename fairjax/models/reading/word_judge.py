"""Word vectors of a text file, behind the interface of a language model.

A file of GloVe or word2vec in text form is one vector a word. A text's vector
is the mean of its words'; a text with a word that the file does not have is
unknown, and a benchmark leaves it out by name.
"""

import os
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.models.words import word_level

_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


class WordJudge(NamedTuple):
  """A file of word vectors; `known` holds what was read of it so far."""

  name: str
  known: dict[str, np.ndarray | None]
  kind: str = 'words'
  able: tuple[str, ...] = ('embed',)

  def facts(self) -> dict:
    return {'model': self.name, 'asked': 'for vectors of words'}

  def fingerprint(self) -> list:
    return [self.kind, artefacts.content(self.name)]

  def unknown(self, texts: Sequence[str]) -> np.ndarray:
    """Which texts hold a word without a vector, or no word."""
    return np.array([vector is None for vector in self._means(texts)], bool)

  def vectors(self, texts: Sequence[str], how: str = 'mean') -> np.ndarray:
    """The mean of the words' vectors; NaN for a text that is unknown."""
    if how != 'mean':
      raise UserError(
        f'{self.name} has vectors of words alone; choose mean with '
        '--config.benchmarks.encodings'
      )
    means = self._means(texts)
    width = next((len(v) for v in means if v is not None), 1)
    return np.array([np.full(width, np.nan) if v is None else v for v in means])

  def _means(self, texts: Sequence[str]) -> list[np.ndarray | None]:
    words = [*map(_WORD.findall, texts)]
    forms = {f for text in words for w in text for f in (w, w.lower())}
    if new := sorted(forms - self.known.keys()):
      vectors, _ = word_level.read_glove(self.name, new)
      self.known.update({word: vectors.get(word) for word in new})
    of = lambda w: (
      self.known[w.lower()] if self.known[w] is None else self.known[w]
    )
    each = [[v for w in text if (v := of(w)) is not None] for text in words]
    return [
      np.mean(vectors, axis=0) if text and len(vectors) == len(text) else None
      for vectors, text in zip(each, words)
    ]


def is_table(model: str | os.PathLike) -> bool:
  path = pathlib.Path(model).expanduser()
  return path.suffix in ('.txt', '.vec') and path.is_file()
