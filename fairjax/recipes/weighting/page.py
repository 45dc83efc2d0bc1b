"""Instance weights on a page: rates by term, weights, estimators."""

from collections.abc import Mapping

import numpy as np

from fairjax import results
from fairjax.report.pictures import plots

MOST_TERMS = 20  # in one picture
RATES = ('fpr', 'fnr')
FACTS = (
  *('rows', 'z', 'columns', 'distinct', 'rows_with_prior', 'estimator'),
  *('folds', 'formula', 'effective', 'quantiles', 'clip', 'near_zero'),
)


def sections(
  contenders: Mapping[str, Mapping],
  about: Mapping,
  weights: Mapping[str, np.ndarray],
  limit: str,
) -> list[dict]:
  """Rates by term of all contenders, and the `weights` by label."""
  bars = rates_by_term(contenders, limit)
  return [
    results.section('Rates of each term', *bars),
    results.section('The weights', *_weights(about, weights)),
  ]


def rates_by_term(contenders: Mapping[str, Mapping], limit: str) -> list[dict]:
  """A picture a set and rate, decided at the threshold `limit`."""
  first = next(iter(contenders.values()))['sets']
  each = [(one, rate) for one in first for rate in RATES]
  bars = [_terms(contenders, *both, limit) for both in each]
  return [one for one in bars if one is not None]


def deviations(one: Mapping, rate: str) -> dict[str, float]:
  """Figure 1 of Zhang et al.: {term: its rate − that of all rows}."""
  whole = one['quality'].get(rate, {}).get('value')
  of = {
    t: group.get(rate, {}).get('value') for t, group in one['groups'].items()
  }
  if whole is None:
    return {}
  return {t: value - whole for t, value in of.items() if value is not None}


def _terms(contenders: Mapping, one: str, rate: str, limit: str) -> dict | None:
  """The terms that deviate most in the first contender, and all of theirs."""
  of = {n: deviations(c['sets'][one], rate) for n, c in contenders.items()}
  first = next(iter(of.values()))
  terms = sorted(first, key=lambda t: (-abs(first[t]), t))[:MOST_TERMS]
  if not terms:
    return None
  return results.figure(
    'bars',
    f'{rate}_by_term_{one}',
    f'{rate} of each term minus that of all rows of {one}, at {limit} '
    f'(the {len(terms)} terms farthest from 0 for the first contender).',
    terms=terms,
    series={n: [f.get(t) for t in terms] for n, f in of.items()},
    x_label=f'Δ{rate}',
  )


def _weights(about: Mapping, weights: Mapping[str, np.ndarray]) -> list[dict]:
  parts = [results.text(w, kind='warning') for w in about['warnings']]
  facts = [{'fact': k.replace('_', ' '), 'value': about[k]} for k in FACTS]
  parts += [
    results.table(facts),
    results.figure(
      'distribution',
      'weights',
      'The weights of the training and validation rows, by label.',
      **plots.histogram(weights),
      x_label='weight',
    ),
    results.table(
      about['estimators'],
      caption='The chosen estimator of P(y|z) beside the fast ones, on rows '
      'that it was not fitted on',
    ),
  ]
  terms = sorted(about['terms'], key=lambda t: -abs(t['gap']))[:MOST_TERMS]
  if terms:
    gaps = {'unweighted': 'gap', 'weighted': 'weighted_gap'}
    parts += [
      results.figure(
        'bars',
        'terms',
        'How much more often a term stands in positive rows than in all rows, '
        'before and after weighting; 0 says nothing of the label.',
        terms=[t['term'] for t in terms],
        series={name: [t[k] for t in terms] for name, k in gaps.items()},
        x_label='share in positives − share in all rows',
      ),
      results.fold('All terms', results.table(about['terms'])),
    ]
  return parts
