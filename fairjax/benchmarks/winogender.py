"""Winogender: do an occupation's pronouns follow the share of women in it?

Rudinger et al. 2018 (arXiv:1804.09301): log p(she) − log p(he) of an
occupation's sentences (of a classifier, the difference of its scores) against
the percentage of women in it; ρ is Spearman's, with the interval of Bonett and
Wright (2000) over occupations.
"""

import pathlib

import numpy as np
import pandas as pd
from scipy import stats

from fairjax.benchmarks.shared import contrast, forms, result_rows, sources
from fairjax.core.errors import UserError
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.estimates import of_value
from fairjax.metrics.inference.sample import RowSample

FORM = {
  'sentid': forms.matching(
    r'[^.]+\.[^.]+\.[01]\.(male|female|neutral)(\.txt)?',
    'occupation.participant.ANSWER.GENDER, as in '
    'technician.customer.1.female.txt',
  ),
  'sentence': forms.TEXT,
}
FORM_OF_STATISTICS = {
  'occupation': forms.TEXT,
  'bls_pct_female': forms.number(0, 100),
}
SAME = 1e-9  # what rounding leaves between ρ and 1


def read(folder: str | pathlib.Path) -> pd.DataFrame:
  """id, occupation, of (occupation or participant), he, she, women (%)."""
  path, numbers = sources.places(folder, 'winogender')
  frame = forms.table(path, FORM)
  women = forms.table(numbers, FORM_OF_STATISTICS)
  women = dict(zip(women['occupation'], women['bls_pct_female'].astype(float)))
  parts = frame['sentid'].str.extract(
    r'^(?P<occupation>[^.]+)\.(?P<other>[^.]+)\.(?P<answer>[01])\.'
    r'(?P<gender>male|female|neutral)(?:\.txt)?$'
  )
  twice = parts.duplicated()
  if twice.any():
    row = int(twice.to_numpy().argmax())
    raise UserError(
      f'{path} has the sentid {frame["sentid"][row]!r:.80} again in row {row} '
      '(from 0); give the file as it was published'
    )
  keys = ['occupation', 'other', 'answer']
  wide = parts.assign(text=frame['sentence']).pivot(
    index=keys, columns='gender', values='text'
  )
  wide = wide.reset_index().reindex(columns=[*keys, 'male', 'female'])
  alone = wide[['male', 'female']].isna().any(axis=1)
  if alone.any():
    which = '.'.join(wide.loc[alone, keys].iloc[0])
    raise UserError(
      f'{path} has no sentence of {which!r:.80} for either of male and female; '
      'give the file as it was published'
    )
  unknown = set(wide['occupation']) - set(women)
  if unknown:
    raise UserError(
      f'{numbers} has no row for {sorted(unknown)[0]!r}, which {path} speaks '
      'of; give both files of one version'
    )
  table = pd.DataFrame(
    {
      'id': wide[keys].agg('.'.join, axis=1),
      'occupation': wide['occupation'],
      'of': np.where(wide['answer'] == '0', 'occupation', 'participant'),
      'he': wide['male'],
      'she': wide['female'],
      'women': wide['occupation'].map(women),
    }
  )
  table.attrs['notes'] = [
    sources.version(one, 'winogender') for one in (path, numbers)
  ]
  return table


def correlation(
  x: np.ndarray, y: np.ndarray, options: RowSample
) -> tuple[dict, float | None]:
  """Spearman's ρ; interval and p by atanh ρ, se² = (1 + ρ²/2) / (n − 3)."""
  n = len(x)
  if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
    return of_value(None, note='too few different values'), None
  rho = float(stats.spearmanr(x, y).statistic)
  if abs(rho) > 1 - SAME:
    return of_value(float(np.sign(rho)), note='the order is the same'), None
  z, se = np.arctanh(rho), np.sqrt((1 + rho**2 / 2) / (n - 3))
  one, p = clusters.student(z, se, np.inf, options)
  return of_value(rho, np.tanh(one['low']), np.tanh(one['high'])), p


def items(config) -> pd.DataFrame:
  return read(config.benchmarks.data)


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  return contrast.gaps(judge, items, 'she', 'he')


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  table, out = items.assign(gap=contrast.of_scores(scores)[0]), []
  for part in ('occupation', 'participant'):
    some = table[table['of'] == part]
    means = some.groupby('occupation')[['gap', 'women']].mean()
    x, y = (means[name].to_numpy() for name in ('gap', 'women'))
    row = 'winogender_rho', part, len(means), *correlation(x, y, how), 0.0
    out.append(result_rows.row(*row, 'Bonett-Wright z'))
  warnings = [*scores.attrs.get('notes', ())]
  return result_rows.as_set(out, 'occupation', warnings)


def values(items: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
  gap, scored = contrast.of_scores(scores)
  return items[['id']].assign(
    metric='score_gap_she' if scored else 'log_odds_she',
    part=items['of'],
    value=gap,
    cluster=items['occupation'],
  )
