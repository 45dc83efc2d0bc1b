"""WinoBias: is a pronoun likelier where it agrees with a stereotype?

Zhao et al. 2018 (arXiv:1804.06876): the same sentence with a pronoun that
agrees with the stereotype of the occupation (pro) and with one that does not
(anti). A masked LM reads both pronouns at one mask, a causal LM both
sentences, a classifier scores both (its difference of scores has a name of its
own). The mean log-odds pro − anti is free of a
model's overall liking for one pronoun, since the pronoun is 'he' in half of
the pro sentences; the share of pro wins is not. Sentences of one pair of
occupations are one cluster.
"""

import pathlib
import re

import numpy as np
import pandas as pd

from fairjax.benchmarks.shared import contrast, forms, result_rows, sources
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import REALS

MASCULINE = ('he', 'him', 'his', 'himself')
FEMININE = ('she', 'her', 'hers', 'herself')
METRICS = ('winobias_log_odds', 'winobias_score_gap')  # of a classifier
TEST = 't of the jackknife over pairs of occupations'


def read(folder: str | pathlib.Path) -> pd.DataFrame:
  """id, kind, pro, anti, he (the pro pronoun is masculine), cluster."""
  out, names, broken = [], [], []
  files = sources.places(folder, 'winobias')
  for kind, paths in (('type1', files[:2]), ('type2', files[2:])):
    names += [sources.version(path, 'winobias') for path in paths]
    sides = [_lines(path) for path in paths]
    if len(sides[0]) != len(sides[1]):
      raise UserError(
        f'{paths[0]} has {len(sides[0])} lines and {paths[1]} '
        f'{len(sides[1])}; line i of one must be the pair of line i of the '
        'other'
      )
    for number, (pro, anti) in enumerate(zip(*sides)):
      pronouns = _pronouns(pro, anti)
      if not pronouns:
        broken.append(f'{kind}:{number + 1}')
        continue
      out.append(
        {
          'id': f'{kind}:{number + 1}',
          'kind': kind,
          'pro': pro,
          'anti': anti,
          'he': pronouns[0] in MASCULINE,
          'cluster': f'{kind}:{number // 2}',  # two lines share occupations
        }
      )
  if len(broken) > len(out):
    raise UserError(
      f'the sentences of {folder} are no pairs that differ in pronouns (first '
      f'{broken[0]}); give the files as they were published'
    )
  table = pd.DataFrame(out)
  if broken:
    names.append(
      f'{len(broken)} pairs are left out, since they differ in more than '
      f'pronouns: {", ".join(broken)}'
    )
  table.attrs['notes'] = names
  return table


def _pronouns(pro: str, anti: str) -> list[str]:
  """The first's pronouns that the second turns, if nothing else differs."""
  sides = [re.findall(r'\w+', text.lower()) for text in (pro, anti)]
  if len(sides[0]) != len(sides[1]):
    return []
  differ = [(a, b) for a, b in zip(*sides) if a != b]
  opposite = all(
    {a, b} <= {*MASCULINE, *FEMININE} and (a in MASCULINE) != (b in MASCULINE)
    for a, b in differ
  )
  return [a for a, _ in differ] if opposite else []


def _lines(path: pathlib.Path) -> list[str]:
  """The sentences of a file; blank lines are none."""
  out = []
  for number, line in enumerate(readers.text(path).splitlines(), 1):
    if line.strip():
      out.append(re.sub(r'[\[\]]', '', re.sub(r'^\d+\s+', '', line)))
      forms.check(out[-1], forms.TEXT, path, f'line {number}')
  return out


def items(config) -> pd.DataFrame:
  return read(config.benchmarks.data)


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  return contrast.gaps(judge, items, 'pro', 'anti')


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  he = items['he'].to_numpy()
  gaps, scored = contrast.of_scores(scores)
  every = np.ones(len(items), bool)
  parts = {'all': every, 'pro is he': he, 'pro is she': ~he}
  for kind in sorted(items['kind'].unique()):
    parts[kind] = (items['kind'] == kind).to_numpy()
  out = []
  for part, real in parts.items():
    if not real.any():
      continue
    gap = gaps[real]
    cluster = items['cluster'].to_numpy()[real]
    won = 100.0 * (gap > 0) + 50.0 * (gap == 0)
    for metric, each, null, bounds in (
      (METRICS[scored], gap, 0.0, REALS),
      ('winobias_wins', won, 50.0, (0.0, 100.0)),
    ):
      found = clusters.mean(each, cluster, how, null, bounds)
      out.append(result_rows.row(metric, part, real.sum(), *found, null, TEST))
  warnings = [*scores.attrs.get('notes', ())]
  return result_rows.as_set(out, 'all', warnings)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  gap, scored = contrast.of_scores(scores)
  table = items[['id', 'kind', 'cluster']].assign(
    metric=METRICS[scored], value=gap
  )
  return pd.concat(
    [table.assign(part='all'), table.assign(part=table['kind'])],
    ignore_index=True,
  )
