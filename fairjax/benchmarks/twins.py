"""Counterfactual likelihood: log-odds of a text and its twin, by word.

Each text of the user's own corpus is written in a male and a female version by
the word lists of pairs/ (names included). Its log-odds are log p(male version)
− log p(female version). Which words carry them: for each token that both
versions share, the difference of its log p; a word's number is its mean over
the texts that hold it, so that 'engineer: 0.3' says that engineer is e^0.3
times likelier beside male words. Words in at least LEAST texts are tested
(Student's t over texts), at a false discovery rate of 5 %.

Left to right only what follows a changed word can differ.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.benchmarks import crows
from fairjax.benchmarks.shared import result_rows
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.data.tables import files
from fairjax.metrics.inference import clusters, significance
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.texts import text_likelihood

LEAST = 8
SHOWN = 40  # words on the page
LIMITS = (
  'A word list decides what a twin is; where the male version of a text is odd '
  'or ungrammatical, its likelihood says so.'
)
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


class Twins(NamedTuple):
  """Texts in both versions."""

  id: list[str]
  male: list[str]
  female: list[str]
  skipped: int  # texts without a word that can be turned


def twins(
  texts: Sequence[str], ids: Sequence[str], words: str | None = None
) -> Twins:
  """Both versions of the texts that have two."""
  from fairjax.pairs.swapping import dictionary as swaps

  turn = [
    swaps.swapper(side, words=words, names=True)(texts).texts
    for side in ('male', 'female')
  ]
  differing = [i for i in range(len(texts)) if turn[0][i] != turn[1][i]]
  return Twins(
    [str(ids[i]) for i in differing],
    [turn[0][i] for i in differing],
    [turn[1][i] for i in differing],
    len(texts) - len(differing),
  )


def by_word(
  judge, texts: Ragged, logs: np.ndarray, swapped_words: Sequence[str]
) -> pd.DataFrame:
  """Of each word that a pair shares: text, word, and the summed difference.

  Texts 2i and 2i + 1 are a pair; `shown` are the texts themselves.
  """
  encodings = judge.tokenizer.encode_batch(list(swapped_words[::2]))
  out = []
  for i, encoding in enumerate(encodings):
    low, middle, high = texts.offsets[2 * i : 2 * i + 3]
    same = crows.spans(texts.flat[low:middle], texts.flat[middle:high]).same
    gap = logs[low + np.array(same[0], int)].astype(np.float64)
    gap = gap - logs[middle + np.array(same[1], int)]
    text = swapped_words[2 * i]
    owner = np.full(len(text) + 1, -1)
    words = [m.span() for m in _WORD.finditer(text)]
    for k, (start, end) in enumerate(words):
      owner[start:end] = k
    sums: dict[int, float] = {}
    for place, value in zip(same[0], gap):
      start, end = encoding.offsets[place]
      if end > start and np.isfinite(value):
        # A piece that is the space before a word belongs to the word.
        at = end if text[start:end].isspace() else end - 1
        k = int(owner[at])
        if k >= 0:
          sums[k] = sums.get(k, 0.0) + value
    # One number a text and word: several places of it are averaged below.
    for k, value in sums.items():
      start, end = words[k]
      out.append((i, text[start:end].lower(), value))
  return pd.DataFrame(out, columns=['text', 'word', 'value'])


def word_table(
  each: pd.DataFrame, level: float, least: int = LEAST
) -> pd.DataFrame:
  """word, texts, mean, low, high, p, p_fdr; the surest first."""
  means = each.groupby(['word', 'text'])['value'].mean()
  group = means.groupby(level='word')
  table = group.agg(texts='size', mean='mean', spread='std').reset_index()
  table = table[table['texts'] >= least].reset_index(drop=True)
  if not len(table):
    return table.assign(low=[], high=[], p=[], p_fdr=[]).drop(columns='spread')
  se = table.pop('spread') / np.sqrt(table['texts'])
  with np.errstate(invalid='ignore', divide='ignore'):
    t = table['mean'] / se
  p = clusters.two_sided(t, table['texts'] - 1)
  table['p'] = np.where(table['mean'] == 0, 1.0, p)
  reach = clusters.reach(se, table['texts'] - 1, level)
  table['low'], table['high'] = table['mean'] - reach, table['mean'] + reach
  table['p_fdr'] = significance.adjusted(list(table['p']), 'bh')
  return table.sort_values(['p', 'word']).reset_index(drop=True)


def items(config) -> pd.DataFrame:
  """Texts of data.path in both versions."""
  if not config.data.path:
    raise UserError(
      'data.path is empty; name a file of your texts with --config.data.path, '
      'or leave twins out of --config.benchmarks.names'
    )
  if config.method.axis != 'gender':
    raise UserError(
      f'method.axis is {config.method.axis!r}, and benchmark twins compares '
      'male and female versions of texts; leave one of the two out'
    )
  table = files.texts(config.data)
  words = config.method.words or None
  pair = twins(list(table['text']), list(table['id']), words)
  if not pair.id:
    raise UserError(
      'no text has a word with a male and a female form, so there are no twins '
      'to compare; give texts about people, or a word list with '
      '--config.method.words'
    )
  out = pd.DataFrame({'id': pair.id, 'male': pair.male, 'female': pair.female})
  out.attrs['notes'] = (
    [f'{pair.skipped} of {len(table)} texts have no twin and are left out']
    if pair.skipped
    else []
  )
  return out


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """Σ log p of both versions; by word in attrs['words']."""
  pairs = [t for both in zip(items['male'], items['female']) for t in both]
  texts = judge.encode(pairs)
  logs = judge.log_p(texts)
  total, _ = text_likelihood.totals(logs, texts)
  out = pd.DataFrame(
    {'id': items['id'], 'male': total[::2], 'female': total[1::2]}
  )
  each = by_word(judge, texts, logs, pairs)
  words = word_table(each, config.measures.confidence_level)
  out.attrs['words'] = words.to_dict('records')
  return out


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  options = how
  gap = (scores['male'] - scores['female']).to_numpy()
  value, p = clusters.mean(gap, None, options, 0.0)
  out = [
    result_rows.row(
      'twins_log_odds',
      'all',
      len(gap),
      value,
      0.0,
      p,
      't of texts',
    )
  ]
  words = scores.attrs.get('words', [])
  for one in words[:SHOWN]:
    value = of_value(one['mean'], one['low'], one['high'])
    row = result_rows.row(
      'twins_log_odds', one['word'], one['texts'], value, 0.0, one['p'], 't'
    )
    out.append(row | {'p_fdr': one['p_fdr']})
  sure = sum(one['p_fdr'] < 0.05 for one in words)
  warnings = [
    LIMITS,
    f'{len(words)} words stand in {LEAST} texts or more; {sure} lean to a side '
    'at a false discovery rate of 5 %',
  ]
  return result_rows.as_set(out, 'all', warnings)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  return pd.DataFrame(
    {
      'id': items['id'],
      'metric': 'twins_log_odds',
      'part': 'all',
      'value': scores['male'] - scores['female'],
      'cluster': items['id'],
    }
  )
