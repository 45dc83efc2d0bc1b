"""Log-odds of two texts that differ in a few words, by any kind of model."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.data.batching.tokens import Ragged, take
from fairjax.metrics.texts import text_likelihood

SCORED = 'score_gap'


def contrast(
  judge, ones: Sequence[str], others: Sequence[str]
) -> tuple[np.ndarray, list[str]]:
  """log-odds of texts that differ in words (of a classifier the difference of
  its scores), and the words that are dropped.

  Masked: Σ log p(one's word) − log p(other's) over the places that differ,
  all of them masked; a word of several tokens makes NaN. Left to right:
  Σ log p of all tokens.
  """
  if judge.kind == 'classify':
    scores = judge.score([*ones, *others])
    return scores[: len(ones)] - scores[len(ones) :], []
  texts = judge.encode([t for pair in zip(ones, others) for t in pair])
  if judge.kind == 'write':
    total, _ = text_likelihood.totals(judge.log_p(texts), texts)
    return total[::2] - total[1::2], []
  rows, places, tokens, excluded = [], [], [], []
  for i in range(len(ones)):
    one, other = (
      texts.flat[texts.offsets[k] : texts.offsets[k + 1]]
      for k in (2 * i, 2 * i + 1)
    )
    words = [re.findall(r'\w+', t) for t in (ones[i], others[i])]
    differ = [(a, b) for a, b in zip(*words) if a != b]
    at = np.flatnonzero(one != other) if len(one) == len(other) else one[:0]
    if not differ or len(at) != len(differ):  # a word of several tokens
      excluded += [f'{a} / {b}' for a, b in differ] or [ones[i]]
      continue
    rows += [i] * len(at)
    places += list(at)
    tokens += list(zip(one[at], other[at]))
  gap = np.full(len(ones), np.nan)
  if not rows:
    return gap, excluded
  masked = texts.flat.copy()
  row, place = np.array(rows), np.array(places)
  masked[texts.offsets[2 * row] + place] = judge.mask_id
  inputs = take(Ragged(masked, texts.offsets), 2 * row)
  logs = judge.log_p_at(inputs, place, np.array(tokens)).astype(np.float64)
  gap[row] = 0  # what is not scored stays NaN
  np.add.at(gap, row, logs[:, 0] - logs[:, 1])
  return gap, excluded


def gaps(judge, items: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
  """The scores of items whose columns `one` and `other` are contrasted."""
  gap, excluded = contrast(judge, list(items[one]), list(items[other]))
  name = SCORED if judge.kind == 'classify' else 'gap'  # there no log-odds
  out = pd.DataFrame({'id': items['id'], name: gap})
  out.attrs['notes'] = dropped_note(excluded, len(items))
  return out


def of_scores(scores: pd.DataFrame) -> tuple[np.ndarray, bool]:
  """The numbers of `gaps`, and whether they are of a classifier."""
  scored = SCORED in scores
  return scores[SCORED if scored else 'gap'].to_numpy(float), scored


def dropped_note(excluded: list[str], items: int) -> list[str]:
  if not excluded:
    return []
  names = ', '.join(sorted(set(excluded))[:8])
  return [
    f'{len(excluded)} of {items} items are dropped, since the model has no '
    f'single token for a word of theirs: {names}'
  ]
