"""Counterfactual likelihood: a text as it would be said of each group, by word.

Each text of the user's own corpus is written for every value of `method.axis`
by the rules of pairs/ (of gender a male and a female version, names included).
The log-odds of value v are

  s(v) = log p(version of v) − mean_u≠v log p(version of u)

of two values the difference of the two. Which words carry them: for each word
that all versions of a text share, the same contrast of its log p; a word's
number is its mean over the texts that hold it, so that 'male: engineer 0.3'
says that engineer is e^0.3 times likelier beside male words. Words in at least
LEAST texts are tested (Student's t over texts), at a false discovery rate of
5 %.

A text that names several values of an axis other than gender has no versions,
nor has one of which a word could not be turned. Left to right only what follows
a changed word can differ.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.benchmarks import crows
from fairjax.benchmarks.shared import result_rows, sources
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.data.tables import files
from fairjax.metrics.inference import clusters, group_means, significance
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.texts import text_likelihood

LEAST = 8
SHOWN = 40  # words on the page
STREAM = 0xB1  # of the texts that are drawn
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")


def versions(
  texts: Sequence[str], ids: Sequence[str], method, seed: int = 0
) -> pd.DataFrame:
  """A row a version: `id`, the `source` text's id, the `value`, the `text`.

  attrs: the axis' `values`, and how many texts have `several` values or `none`
  that could be turned.
  """
  from fairjax.pairs.axes import exchange
  from fairjax.pairs.swapping import axis_values, dictionary

  axis, values = method.axis, exchange.values(method.axis)
  turned = [
    dictionary.swap(texts, **dictionary.options(method, seed, direction=value))
    for value in values
  ]
  if axis == 'gender':
    male, female = (one.texts for one in turned)
    of = np.where(
      [a == b for a, b in zip(male, female)], axis_values.NEITHER, 0
    )
  else:
    of = axis_values.single(texts, axis)
  rows = []
  for i in np.flatnonzero(of >= 0).tolist():
    found = [
      (f'{ids[i]}:{value}', str(ids[i]), value, one.texts[i])
      for k, (value, one) in enumerate(zip(values, turned))
      if axis == 'gender' or k == of[i] or (one.spans[i] and not one.left[i])
    ]
    rows += found if len(found) > 1 else []  # one alone has no contrast
  out = pd.DataFrame(rows, columns=['id', 'source', 'value', 'text'])
  several = int((of == axis_values.SEVERAL).sum())
  none = len(texts) - several - out['source'].nunique()
  out.attrs |= {'values': list(values), 'several': several, 'none': none}
  return out


def by_word(
  judge, texts: Ragged, logs: np.ndarray, items: pd.DataFrame
) -> pd.DataFrame:
  """Of each word that the versions of a text share: source, value, word, and
  its log p less the mean of its log p in the other versions."""
  shown = list(items['text'])
  starts = np.flatnonzero(~items['source'].duplicated()).tolist()
  encodings = judge.tokenizer.encode_batch([shown[i] for i in starts])
  out = []
  for first, last, encoding in zip(
    starts, [*starts[1:], len(items)], encodings
  ):
    places = _shared(texts, first, last)
    at = np.array([[p for p in one] for one in places], int).reshape(
      len(places), last - first
    )
    of = logs[texts.offsets[first:last] + at].astype(np.float64)
    contrast = of - (of.sum(1, keepdims=True) - of) / (last - first - 1)
    for word, some in _words_of(shown[first], encoding, at[:, 0]):
      known = contrast[some][np.isfinite(contrast[some]).all(1)]
      if len(known):
        sums = known.sum(0)
        for k in range(first, last):
          out.append((k, word, sums[k - first]))
  table = pd.DataFrame(out, columns=['row', 'word', 'log_odds'])
  own = items[['source', 'value']].iloc[table.pop('row')].reset_index(drop=True)
  return pd.concat([own, table], axis=1)


def _shared(texts: Ragged, first: int, last: int) -> list[tuple[int, ...]]:
  """Places of the tokens that all versions have, as they align with the first:
  a row a token, a place a version."""
  own = [
    texts.flat[low:high]
    for low, high in zip(
      texts.offsets[first:last], texts.offsets[first + 1 : last + 1]
    )
  ]
  ways = [dict(zip(*crows.spans(own[0], one).same)) for one in own[1:]]
  return [
    (place, *(way[place] for way in ways))
    for place in range(len(own[0]))
    if all(place in way for way in ways)
  ]


def _words_of(text: str, encoding, at: np.ndarray) -> list[tuple[str, list]]:
  """Words in small letters with the rows of `at` that are their tokens; none
  of which a token differs between versions."""
  owner = np.full(len(text) + 1, -1)
  words = [m.span() for m in _WORD.finditer(text)]
  for k, (start, end) in enumerate(words):
    owner[start:end] = k

  def word_at(place: int) -> int:
    start, end = encoding.offsets[place]
    if end <= start:
      return -1  # of no letters: the tokenizer's own
    # A piece that is the space before a word belongs to the word.
    return int(owner[end if text[start:end].isspace() else end - 1])

  rows: dict[int, list[int]] = {}
  for row, place in enumerate(at):
    if (k := word_at(place)) >= 0:
      rows.setdefault(k, []).append(row)
  pieces: dict[int, int] = {}
  for place in range(len(encoding.offsets)):
    k = word_at(place)
    pieces[k] = pieces.get(k, 0) + 1
  return [
    (text[slice(*words[k])].lower(), some)
    for k, some in rows.items()
    if len(some) == pieces[k]  # all of its pieces are shared
  ]


def word_sums(each: pd.DataFrame) -> pd.DataFrame:
  """value, word, texts, mean, spread of the words in enough texts."""
  # One number a text and word, however often it stands there.
  means = each.groupby(['value', 'word', 'source'])['log_odds'].mean()
  group = means.groupby(level=['value', 'word'])
  table = group.agg(texts='size', mean='mean', spread='std').reset_index()
  return table[table['texts'] >= LEAST].reset_index(drop=True)


def word_table(sums: pd.DataFrame, level: float) -> pd.DataFrame:
  """value, word, texts, mean, low, high, p, p_fdr; the surest first."""
  table = sums.copy()
  if not len(table):
    return table.assign(low=[], high=[], p=[], p_fdr=[]).drop(columns='spread')
  se = table.pop('spread') / np.sqrt(table['texts'])
  with np.errstate(invalid='ignore', divide='ignore'):
    t = table['mean'] / se
  p = clusters.two_sided(t, table['texts'] - 1)
  table['p'] = np.where(table['mean'] == 0, 1.0, p)  # 0 / 0 is no evidence
  reach = clusters.reach(se, table['texts'] - 1, level)
  table['low'], table['high'] = table['mean'] - reach, table['mean'] + reach
  table['p_fdr'] = significance.adjusted(list(table['p']), 'bh')
  return table.sort_values(['p', 'value', 'word']).reset_index(drop=True)


def items(config) -> pd.DataFrame:
  """The versions of the texts of data.path."""
  if not config.data.path:
    raise UserError(
      'data.path is empty; name a file of your texts with --config.data.path, '
      'or leave twins out of --config.benchmarks.names'
    )
  table = files.texts(config.data)
  return made(list(table['text']), list(table['id']), config)


def made(texts: Sequence[str], ids: Sequence[str], config) -> pd.DataFrame:
  """The items of a column of texts, of which data.limit are drawn."""
  from fairjax.pairs.axes import exchange

  some, notes = sources.drawn(np.arange(len(texts)), config, STREAM), []
  if len(some) < len(texts):
    notes = [f'{len(some)} of {len(texts)} texts are drawn']
  texts, ids = [texts[i] for i in some], [ids[i] for i in some]
  out = versions(texts, ids, config.method, config.seed)
  called = exchange.called(config.method.axis)
  if not len(out):
    raise UserError(
      f'no text has a word of {called} that can be turned, so there are no '
      'twins to compare; give texts about people, or another axis with '
      '--config.method.axis'
    )
  several, none = out.attrs.pop('several'), out.attrs.pop('none')
  if several:
    notes.append(
      f'{several} of {len(texts)} texts name several groups of {called} and '
      'are left out'
    )
  if none:
    notes.append(f'{none} of {len(texts)} texts have no twin and are left out')
  out['category'] = called
  out.attrs |= {'notes': notes, 'drawn': True}
  return out


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """Σ log p of each version; sums by word in attrs['words']."""
  texts = judge.encode(list(items['text']))
  logs = judge.log_p(texts)
  total, _ = text_likelihood.totals(logs, texts)
  out = pd.DataFrame({'id': items['id'], 'log_p': total})
  sums = word_sums(by_word(judge, texts, logs, items))
  out.attrs['words'] = sums.to_dict('records')
  return out


def contrasted(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  """Items with s: a version's log p less the mean of the others'."""
  out = items.assign(log_p=scores['log_p'].to_numpy(float))
  group = out.groupby('source')['log_p']
  total, count = group.transform('sum'), group.transform('count')
  out['s'] = out['log_p'] - (total - out['log_p']) / (count - 1)
  return out[np.isfinite(out['s'])].reset_index(drop=True)


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  """Of two values the log-odds of the first; of more those of each, and how far
  the largest is from the smallest."""
  values, frame = items.attrs['values'], contrasted(items, scores)
  if not len(frame):
    raise UserError('the model can score no two versions of a text')
  of = {v: frame[frame['value'] == v] for v in values}
  rows = []
  for value, some in of.items():
    if len(some):
      found = clusters.mean(some['s'].to_numpy(), None, how, 0.0)
      first = 'twins_log_odds', value, len(some)
      rows.append(result_rows.row(*first, *found, 0.0, 't of texts'))
  if len(values) == 2:
    rows = [rows[0] | {'part': 'all', 'of': values}]
  else:
    rows = result_rows.by_holm(rows)
    rows.insert(0, _gap([row['part'] for row in rows], frame, how))
  words = _words(scores.attrs.get('words', []), values, how)
  for one in words.head(SHOWN).to_dict('records'):
    mean = of_value(one['mean'], one['low'], one['high'])
    part = f'{one["value"]}: {one["word"]}'
    row = result_rows.row(
      'twins_log_odds', part, one['texts'], mean, one['p'], 0.0, 't'
    )
    rows.append(row | {'p_fdr': one['p_fdr']})
  sure = words['p_fdr'].map(significance.is_significant).astype(bool)
  warnings = [
    f'{words["word"].nunique()} words stand in {LEAST} texts or more; '
    f'{words["word"][sure].nunique()} lean to a side at a false discovery rate '
    'of 5 %'
  ]
  return result_rows.as_set(rows, 'all', warnings)


def _words(sums: Sequence[dict], values: Sequence[str], how) -> pd.DataFrame:
  """Of two values the first's: the other's numbers are their negatives."""
  names = ['value', 'word', 'texts', 'mean', 'spread']
  table = pd.DataFrame(list(sums), columns=names)
  if len(values) == 2:
    table = table[table['value'] == values[0]].reset_index(drop=True)
  return word_table(table, how.level)


def _gap(known: Sequence[str], frame: pd.DataFrame, how) -> dict:
  """How far the likeliest group is from the least likely one."""
  s, own = frame['s'].to_numpy(), frame['value'].to_numpy(object)
  ends = float(s.min()), float(s.max())
  draws = group_means.drawn(
    s,
    np.array([own == value for value in known]),
    how.over(np.unique(frame['source'], return_inverse=True)[1]),
    bounds=ends,
  )
  found = group_means.gap(*draws, how, largest=ends[1] - ends[0])
  return result_rows.row(
    *('twins_gap', 'all', frame['source'].nunique(), found),
    p=found.get('p'),
    test='draws over texts',
  )


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  """What two models are compared by: s of each value, of two the first's."""
  frame, known = contrasted(items, scores), items.attrs['values']
  part = frame['value']
  if len(known) == 2:
    frame = frame[part == known[0]].reset_index(drop=True)
    part = 'all'
  return frame[['id']].assign(
    metric='twins_log_odds',
    part=part,
    value=frame['s'],
    cluster=frame['source'],
  )
