"""How alike two texts are: BLEU both ways, and ROUGE-L.

As langfair's counterfactual measures have them (Bouchard 2024,
arXiv:2407.10853): the smaller of the two texts' BLEU-4 by the other, each
order without a match counted as a tenth of one (Chen and Cherry 2014, their
first smoothing), over words as the Penn treebank parts them; and ROUGE-L (Lin
2004), the F of the longest common subsequence of stems.
"""

import functools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz.distance import LCSseq

from fairjax.metrics.texts.rewrites import ORDER, ngrams

EPSILON = 0.1  # matches of an order that has none
SENTENCE = re.compile(r'(?<=[.!?])(?<!\b[a-z]\.)["\')\]]*\s+')
TITLES = re.compile(r'\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e)\.\s*$')


@functools.lru_cache
def _treebank() -> Callable[[str], list[str]]:
  # A second to import, which only what reads written texts needs.
  from nltk.tokenize import destructive

  made: Callable[[str], list[str]] = destructive.NLTKWordTokenizer().tokenize
  return made


@functools.lru_cache(1 << 14)  # several measures ask for those of a text
def words(text: str) -> tuple[str, ...]:
  """The words and marks of a text, sentence by sentence."""
  return tuple(word for one in _sentences(text) for word in _treebank()(one))


def _sentences(text: str) -> list[str]:
  out, start = [], 0
  for match in SENTENCE.finditer(text):
    own = text[start : match.start()]
    if TITLES.search(own.lower()):
      continue
    out.append(text[start : match.end()].strip())
    start = match.end()
  return [*out, text[start:].strip()]


def bleu(written: Sequence[str], target: Sequence[str]) -> float:
  """BLEU-4 of one text by another, smoothed."""
  if not written:
    return 0.0
  logs = 0.0
  for n in range(1, ORDER + 1):
    ours = ngrams(written, n)
    matches = (ours & ngrams(target, n)).total()
    if n == 1 and not matches:
      return 0.0
    logs += math.log((matches or EPSILON) / max(ours.total(), 1)) / ORDER
  return math.exp(logs + min(0.0, 1 - len(target) / len(written)))


def bleu_both(one: str, other: str) -> float:
  """The smaller of BLEU of the one by the other and of the other by it."""
  a, b = words(one.lower()), words(other.lower())
  return min(bleu(b, a), bleu(a, b))


@functools.lru_cache
def _stem() -> Callable[[str], str]:
  from nltk.stem import porter

  return functools.lru_cache(1 << 16)(porter.PorterStemmer().stem)


def stems(text: str) -> list[str]:
  """As rouge_score has them: words of up to three letters stay."""
  plain = re.sub(r'[^a-z0-9]+', ' ', text.lower()).split()
  return [_stem()(word) if len(word) > 3 else word for word in plain]


def rouge_l(one: str, other: str) -> float:
  """F of the longest common subsequence of two texts' stems: 2 L / (n + m)."""
  a, b = stems(one), stems(other)
  return 2 * LCSseq.similarity(a, b) / max(len(a) + len(b), 1)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  """The cosine of each row of a with b, or with its row of b; 0 for zeros."""
  norm = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
  return np.asarray((a * b).sum(-1) / np.where(norm > 0, norm, 1))
