"""Instance weights on a page: rows against the baseline, terms, the weights.

A dagger marks a measure of a row that differs from the baseline's over seeds.
"""

import pathlib
from collections.abc import Mapping

import numpy as np

from fairjax.report import blocks, figures, plots, tables

MOST_TERMS = 20  # in one picture


def daggers(tests: list[dict], level: float) -> set[tuple[str, str, str]]:
  """(set, row, measure) where the t-test over seeds finds a difference."""
  return {
    (t['set'], t['row'], t['measure'])
    for t in tests
    if 't-test' in t['test'] and t['p'] is not None and t['p'] < 1 - level
  }


def marked(results: dict, one: str, level: float) -> list[dict]:
  """The table of a test set, with the daggers."""
  sure = daggers(results['tests'], level)
  return [
    {
      key: tables.estimate(value) + '†' * ((one, line['row'], key) in sure)
      if tables.is_estimate(value)
      else value
      for key, value in line.items()
      if key != 'set'
    }
    for line in results['rows']
    if line['set'] == one
  ]


def summary(results: dict, level: float) -> str:
  """The tables on the screen."""
  out = []
  for one in results['sets']:
    table = tables.markdown(marked(results, one, level), width=150)
    out += [f'### {one}, every row', table]
  chance = 1 - level
  return '\n\n'.join([*out, f'† differs from the baseline, p < {chance:.2g}'])


def sections(
  results: dict,
  weights: Mapping[str, np.ndarray],
  level: float,
  folder: pathlib.Path,
) -> list[blocks.Section]:
  """The page's own parts: rows, terms, and `weights` by label."""
  picture = lambda name, plot, caption: _picture(folder, name, plot, caption)
  chance = 1 - level
  body = ''
  for one in results['sets']:
    body += blocks.table(
      marked(results, one, level),
      caption=f'{one}: † differs from the baseline over '
      f'{len(results["seeds"])} seeds (two-sided t-test, p < '
      f'{chance:.2g}, not adjusted for the number of tests)',
    )
    for rate in ('fpr', 'fnr'):
      terms, series = _most(results['by_term'], one, rate)
      if terms:
        body += picture(
          f'{rate}_by_term_{one}',
          plots.bars(terms, series, f'Δ{rate}'),
          f'{rate} of each term minus that of all rows of {one}, at 0.5 (the '
          f'{len(terms)} terms farthest from 0 in the first row).',
        )
  return [
    blocks.Section('Weights against the baseline', body),
    blocks.Section(
      'The weights', _weights(weights, results['weights'], picture)
    ),
  ]


def _picture(folder: pathlib.Path, name: str, plot, caption: str) -> str:
  figures.save(plot, folder / 'plots' / f'{name}.png')
  return blocks.figure(plot, caption)


def _most(by_term: dict, one: str, rate: str) -> tuple[list, dict]:
  """The terms that deviate most in the first row, and each row's values."""
  of = {n: f.get(one, {}).get(rate, {}) for n, f in by_term.items()}
  first = next(iter(of.values()))
  terms = sorted(first, key=lambda t: (-abs(first[t]), t))[:MOST_TERMS]
  return terms, {n: [f.get(t) for t in terms] for n, f in of.items()}


def _weights(weights: Mapping, about: dict, picture) -> str:
  facts = ('rows', 'z', 'columns', 'distinct', 'rows_with_prior', 'estimator')
  facts += ('folds', 'formula', 'effective', 'quantiles', 'clip', 'near_zero')
  out = [blocks.text(warning, kind='warning') for warning in about['warnings']]
  out += [
    blocks.table(
      [{'fact': k.replace('_', ' '), 'value': about[k]} for k in facts]
    ),
    picture(
      'weights',
      plots.distribution(weights, 'weight'),
      'The weights of the training and validation rows, by label.',
    ),
    blocks.table(
      about['estimators'],
      caption='The chosen estimator of P(y|z) beside the fast ones, on rows '
      'that it was not fitted on',
    ),
  ]
  terms = sorted(about['terms'], key=lambda t: -abs(t['gap']))[:MOST_TERMS]
  if terms:
    out.append(
      picture(
        'terms',
        plots.bars(
          [t['term'] for t in terms],
          {
            'unweighted': [t['gap'] for t in terms],
            'weighted': [t['weighted_gap'] for t in terms],
          },
          'share in positives − share in all rows',
        ),
        'How much more often a term stands in positive rows than in all rows, '
        'before and after weighting; 0 says nothing of the label.',
      )
    )
    out.append(blocks.details('All terms', blocks.table(about['terms'])))
  return '\n'.join(out)
