"""Self-BLEU: how alike the texts of a set are (Zhu et al. 2018).

The mean over texts of BLEU-4 of one text against all others (arXiv:1802.01886,
without smoothing): 1 where every text is another's copy. The clipped count of
an n-gram is at most its largest count in the other texts, so two numbers an
n-gram, the largest count and the second largest, serve all texts at once.
"""

import collections
from collections.abc import Hashable, Sequence

import numpy as np

ORDER = 4

Words = Sequence[Hashable]


def self_bleu(texts: Sequence[Words]) -> np.ndarray:
  """BLEU-4 of each text against all others: [n], 0 where nothing matches."""
  lengths = np.array([len(text) for text in texts])
  logs = np.zeros(len(texts))
  with np.errstate(divide='ignore'):
    for n in range(1, ORDER + 1):
      logs += np.log(_precision(texts, n)) / ORDER
  return np.exp(logs + _brevity(lengths))


def _precision(texts: Sequence[Words], n: int) -> np.ndarray:
  """Clipped matches over n-grams of each text."""
  counts = [
    collections.Counter(zip(*(text[i:] for i in range(n)))) for text in texts
  ]
  most: dict[tuple, tuple[int, int, int]] = {}  # n-gram: largest, whose, second
  for i, own in enumerate(counts):
    for gram, count in own.items():
      largest, whose, second = most.get(gram, (0, -1, 0))
      if count > largest:
        most[gram] = count, i, largest
      else:
        most[gram] = largest, whose, max(second, count)
  out = np.zeros(len(texts))
  for i, own in enumerate(counts):
    total = own.total()
    matches = sum(
      min(count, most[gram][2 if most[gram][1] == i else 0])
      for gram, count in own.items()
    )
    out[i] = matches / total if total else 0.0
  return out


def _brevity(lengths: np.ndarray) -> np.ndarray:
  """min(0, 1 - r / c) with r the other length that is nearest to c."""
  order = np.argsort(lengths, kind='stable')
  ordered = lengths[order].astype(float)
  if len(ordered) < 2:
    return np.full(len(ordered), -np.inf)
  below = np.concatenate([[-np.inf], ordered[:-1]])
  above = np.concatenate([ordered[1:], [np.inf]])
  # Of two that are equally near the shorter one is taken, as in sacrebleu.
  near = np.where(ordered - below <= above - ordered, below, above)
  with np.errstate(divide='ignore', invalid='ignore'):
    penalty = np.minimum(0, 1 - near / ordered)
  out = np.empty(len(lengths))
  out[order] = np.where(ordered > 0, penalty, -np.inf)
  return out
