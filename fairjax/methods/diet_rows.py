"""The healthy data diet: which rows, and whose twins, a model is trained on.

A diet is ⌊N · a⌋ of the N training rows and ⌊N · b⌋ of their
counterfactual twins. Zayed et al. (2023, arXiv 2211.11109) call it healthy
where the twins are those of the rows with the highest score
GE = ‖logits(x) − logits(twin)‖₂, that is, the ones a biased model reacts to,
and the rows themselves are drawn at random. RANKINGS holds their table 3 and
what the authors' code does under the same names where the two differ.

A twin that equals its text says nothing new and is never taken, unless
`method.keep_equal` asks for it; there may then be fewer twins than ⌊N · b⌋.
Rows of equal score are taken by id. A random half is the beginning of an order
that depends on (seed, half) alone: the rows of a smaller ratio are among those
of a larger one. The authors' code draws with replacement and takes twins that
equal their text: `replacement=True` and `keep_equal=True` do the same.
"""

import re

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core.errors import UserError, need
from fairjax.core.registry import named
from fairjax.data import word_tables
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, quotas

STREAM = 36  # of this file's random numbers
COIN = 0.5  # of substitution, as in the paper

# name: (rule of the rows, rule of the twins). The rules:
#   all, none           whatever the ratio
#   random              ⌊N · ratio⌋ drawn at random
#   top X, bottom X     as many, by falling or rising score X
#   apart               random, among rows whose twin is not taken
#   X<1, X=1, X>0       whatever the ratio: those whose score X is so
#   heads, tails        by a fair coin for each row (heads if it has no twin)
#   quota X             random, of each label by its share of X = 1 (quotas.py)
#   cells               random, as many of each label and group
RANKINGS: dict[str, tuple[str, str]] = {
  name: (rows, twins)
  for name, rows, twins, *_ in word_tables.table_rows(__file__, 'rankings.csv')
}
RULE = re.compile(r'(\w+)([<=>])(-?\d+)')
COMPARED = {'<': np.less, '=': np.equal, '>': np.greater}


def with_twins(tables: Tables, config: Config) -> tuple[Tables, pd.DataFrame]:
  """The tables with a training column `twin`, and the twins as rows.

  They are the data's own or, without any, made by the words of `config.method`.
  Row i of the second result is the twin of row i of the training table.
  """
  table = tables['train']
  twins = augment.counterparts(table, config)
  table = table.assign(twin=twins['text'])
  if 'text_pair' in table:  # scores ask about what may be added
    table['twin_pair'] = twins['text_pair']
  return {**tables, 'train': table}, twins.drop(columns='same')


def rows(
  table: pd.DataFrame,
  scores: pd.DataFrame | None,
  ranking: str,
  ratios: tuple[float, float],
  config: Config,
  seeds: list[int],
) -> np.ndarray:
  """[s, n]: what each seed trains on, of a pool of all rows, then all twins."""
  result = []
  for seed in seeds:
    own, twins = positions(table, scores, ranking, ratios, config, seed)
    # Sorted: rankings that choose the same rows are the same diet.
    result.append(np.sort(np.concatenate([own, len(table) + twins])))
  return np.stack(result).astype(np.int32)


def positions(
  table: pd.DataFrame,
  scores: pd.DataFrame | None,
  ranking: str,
  ratios: tuple[float, float],
  config: Config,
  seed: int,
) -> tuple[np.ndarray, np.ndarray]:
  """Places in the table of the rows, and of the twins, of a ranking.

  `table` has the column `twin`, and `scores` a row for each of its ids. What
  is chosen does not depend on the order of either.
  """
  ranking = check(ranking, ratios)
  of_rows, of_twins = RANKINGS[ranking]
  by_id = np.argsort(table['id'].to_numpy(str), kind='stable')
  draw = lambda half: np.random.default_rng([seed, STREAM, half])  # ratios nest
  usable = schema.has_twin(table).to_numpy() | config.method.keep_equal
  tails = np.zeros(len(table), bool)
  tails[by_id] = draw(2).random(len(table)) < COIN  # whatever the table's order
  tails &= usable  # without a twin: heads

  def take(rule, half, may):
    order, n = by_id[may[by_id]], quotas.part(len(table), ratios[half])
    if rule in ('random', 'apart'):
      return drawn(order, n, draw(half), config.method.replacement)
    if rule in ('all', 'none'):
      return order if rule == 'all' else order[:0]
    if rule in ('heads', 'tails'):
      return order[tails[order] == (rule == 'tails')]
    if rule == 'cells':
      return by_quota(cells(table), order, None, n, draw(half))
    if match := RULE.fullmatch(rule):
      name, sign, number = match.groups()
      values = column(scores, table, name)[order]
      return order[COMPARED[sign](values, int(number))]
    end, name = rule.split()
    values = column(scores, table, name)[order]
    if end == 'quota':
      label = table['label'].to_numpy()
      return by_quota(label, order, values, n, draw(half))
    falling = -values if end == 'top' else values
    return order[np.argsort(falling, kind='stable')][:n]  # ties by id

  twins = take(of_twins, 1, usable)  # first: 'apart' avoids their rows
  free = np.ones(len(table), bool)
  if of_rows == 'apart':
    free[twins] = False
  return take(of_rows, 0, free), twins


def drawn(
  order: np.ndarray, n: int, rng: np.random.Generator, replacement: bool
) -> np.ndarray:
  """n of `order` at random; without replacement at most all of them."""
  if replacement and len(order):
    return order[rng.integers(len(order), size=n)]
  return rng.permutation(order)[:n]


def by_quota(
  names: np.ndarray,
  order: np.ndarray,
  wrong: np.ndarray | None,
  n: int,
  rng: np.random.Generator,
) -> np.ndarray:
  """n of `order`, of each name a share as large as its error, or as many."""
  _, cell = np.unique(names[order], return_inverse=True)
  sizes = np.bincount(cell)
  share = (1 if wrong is None else np.bincount(cell, wrong)) / sizes
  return quotas.pick(order, cell, quotas.quotas(sizes, share, n), rng)


def cells(table: pd.DataFrame) -> np.ndarray:
  """The label and group of each row as one name."""
  if 'group' not in table:
    raise UserError(
      'the ranking cells takes as many rows of each label and group, but the '
      'data have no groups; name a column with --config.data.group'
    )
  group = table['group'].fillna('').astype(str)
  if (group == '').all():
    raise UserError(
      'the ranking cells takes as many rows of each label and group, but no '
      'row to take from has a group; fill in the column of --config.data.group'
    )
  return (table['label'].astype(str) + '|' + group).to_numpy()


def check(ranking: str, ratios: tuple[float, float]) -> str:
  """The ranking that a name means; UserError for one or a share without it."""
  for name, ratio in zip(('factual', 'counterfactual'), ratios):
    right = isinstance(ratio, int | float | np.number) and 0 <= ratio <= 1
    need(
      right and not isinstance(ratio, bool),
      *(f'diet.{name}', ratio, 'a share of the rows in [0, 1] is needed'),
    )
  return named(ranking, RANKINGS, 'ranking')


def needs(ranking: str) -> list[str]:
  """The scores that a ranking looks at."""
  ranking, result = check(ranking, (0, 0)), []
  for rule in RANKINGS[ranking]:
    match = RULE.fullmatch(rule)
    if match or ' ' in rule:
      result.append(match[1] if match else rule.split()[1])
  return list(dict.fromkeys(result))


def column(
  scores: pd.DataFrame | None, table: pd.DataFrame, name: str
) -> np.ndarray:
  """A score of each row of the table, by id."""
  if scores is None or name not in scores:
    raise UserError(
      f'the ranking needs the score {name!r}, which the scores lack; compute '
      f'it too (--config.scoring.names={name}, or fairjax.score)'
    )
  values = scores.set_index('id')[name].reindex(table['id']).to_numpy(float)
  if np.isnan(values).any():
    row_id = table['id'].iloc[int(np.isnan(values).argmax())]
    raise UserError(
      f'row {row_id!r} has no score {name!r}; score the rows that are ranked'
    )
  return values


def facts(
  table: pd.DataFrame, rows: np.ndarray, keep_equal: bool = False
) -> dict:
  """What a diet holds, for its report: of the first seed's [s, n] rows."""
  n, first = len(table), rows[0]
  twins = first[first >= n] - n
  equal = ~schema.has_twin(table).to_numpy()
  return {
    'rows': int((first < n).sum()),
    'twins': len(twins),
    'equal twins': int(equal[twins].sum()),
    'total': len(first),
    'distinct': len(np.unique(first)),
    'of CDA': len(first) / (n + int((~equal | keep_equal).sum())),
  }


def notes(table: pd.DataFrame, rows: np.ndarray, config: Config) -> list[str]:
  """What there is to say about `config.diet` on this table."""
  options, keep_equal = config.diet, config.method.keep_equal
  result = facts(table, rows, keep_equal)
  equal = int((~schema.has_twin(table)).sum())
  sentences = [
    f'diet {options.ranking}: {result["rows"]:,} rows and {result["twins"]:,} '
    f'twins of {len(table):,} rows, {result["of CDA"]:.0%} of what all rows '
    f'with all twins holds; {equal:,} rows have no twin that differs'
    + f', and {result["equal twins"]:,} such twins were added too'
    * keep_equal
  ]
  size = quotas.part(len(table), options.counterfactual)
  rule = RANKINGS[options.ranking][1].split()[0]
  ranked = rule in ('top', 'bottom', 'random')
  if ranked and result['twins'] < size:
    sentences.append(
      f'diet {options.ranking}: {size} twins were asked for and only '
      f'{result["twins"]} differ from their text'
    )
  return sentences
