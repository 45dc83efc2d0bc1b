"""SemBias: which word pair is most like he − she?

Zhao et al. 2018 (arXiv:1809.01496). Of four word pairs one is gendered by
definition, one by stereotype and two are not; the one whose difference has the
largest cosine with v(he) − v(she) is chosen. Each definition pair meets each
stereotype pair (20 × 22 rows), so intervals weigh both kinds of pairs: a row's
weight is the product of two (Owen 2007).
"""

import pathlib

import numpy as np
import pandas as pd

from fairjax.benchmarks.shared import forms, result_rows, sources
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.inference.sample import RowSample

KINDS = ('definition', 'none', 'none', 'stereotype')
NULLS = {'definition': 25.0, 'stereotype': 25.0, 'none': 50.0}
SUBSET = 40  # the last rows: definition pairs that a training never saw


def read(path: str | pathlib.Path) -> pd.DataFrame:
  """id and the four pairs of each row."""
  lines = readers.text(path).splitlines()
  out: list[dict] = []
  for number, line in enumerate(lines, 1):
    if not line.strip():
      continue
    pairs = [tuple(pair.split(':')) for pair in line.split()]
    good = all(len(pair) == 2 and all(pair) for pair in pairs)
    if len(pairs) != 4 or not good or len(line) > forms.LONGEST:
      raise UserError(
        f'{path} has {line[:60]!r} in line {number}; a line must be four pairs '
        'such as priest:nun'
      )
    out.append({'id': str(len(out) + 1), 'pairs': pairs})
  if not out:
    raise UserError(f'{path} is empty; give the file as it was published')
  return pd.DataFrame(out)


def choices(table: pd.DataFrame, vectors: dict[str, np.ndarray]) -> np.ndarray:
  """Which pair is most like he − she: [n], −1 where a word has no vector."""
  missing = {'he', 'she'} - set(vectors)
  if missing:
    raise UserError(f'there is no vector for {sorted(missing)[0]!r}')
  unit = lambda v: v / max(np.linalg.norm(v), 1e-30)  # no 0 / 0
  direction = unit(vectors['he'] - vectors['she'])
  out = np.full(len(table), -1)
  for i, pairs in enumerate(table['pairs']):
    if all(word in vectors for pair in pairs for word in pair):
      cosines = [direction @ unit(vectors[a] - vectors[b]) for a, b in pairs]
      out[i] = int(np.argmax(cosines))
  return out


def rows(
  table: pd.DataFrame, chosen: np.ndarray, options: RowSample, part: str = 'all'
) -> list[dict]:
  real = chosen >= 0
  pairs = table['pairs'].to_numpy()[real]
  first = pd.factorize(np.array([':'.join(p[0]) for p in pairs]))[0]
  second = pd.factorize(np.array([':'.join(p[3]) for p in pairs]))[0]
  out = []
  for kind, null in NULLS.items():
    hit = np.array([KINDS[c] == kind for c in chosen[real]], float)
    if len(hit):
      sides = [[first], [second]]
      found = clusters.mean(100 * hit, sides, options, null, (0.0, 100.0))
    else:
      found = of_value(None, note='no row has vectors'), None
    row = f'sembias_{kind}', part, int(real.sum()), *found, null
    out.append(
      result_rows.row(*row, 't of the jackknife over both kinds of pairs')
    )
  return out


def items(config) -> pd.DataFrame:
  path = sources.locate(config.benchmarks.data, 'sembias')
  table = read(path)
  table.attrs['notes'] = [sources.version(path, 'sembias')]
  table.attrs['rows'] = len(table)
  return table


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """Which pair is chosen, from the vectors of one-word texts."""
  every = {w for pairs in items['pairs'] for pair in pairs for w in pair}
  words = sorted(every | {'he', 'she'})
  words = [w for w, bad in zip(words, judge.unknown(words)) if not bad]
  chosen = choices(items, dict(zip(words, judge.vectors(words, 'mean'))))
  chosen = np.where(chosen < 0, np.nan, chosen)
  return pd.DataFrame({'id': items['id'], 'choice': chosen})


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  chosen = scores['choice'].to_numpy().astype(int)
  out = rows(items, chosen, how)
  last = items['id'].astype(int).to_numpy() > 440 - SUBSET
  if items.attrs.get('rows', len(items)) == 440 and last.any():
    out += rows(items[last], chosen[last], how, 'last 40')
  return result_rows.as_set(out)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  chosen = scores['choice'].to_numpy().astype(int)
  pair = lambda at: [':'.join(p[at]) for p in items['pairs']]
  table = items[['id']].assign(part='all', cluster=pair(3), beside=pair(0))
  every = [
    table.assign(
      metric=f'sembias_{kind}',
      value=[100.0 * (KINDS[c] == kind) for c in chosen],
    )
    for kind in dict.fromkeys(KINDS)
  ]
  return pd.concat(every, ignore_index=True)
