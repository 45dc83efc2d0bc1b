"""Measurements on a page: contenders, test sets, paired tests."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax.core import escape
from fairjax.metrics import measures
from fairjax.report import tables
from fairjax.report.blocks import Section, details, heading, side, table, text
from fairjax.report.names import of_set
from fairjax.report.parts import Pictures
from fairjax.report.pictures import figures, plots
from fairjax.report.sentences import daggers, side_by_side
from fairjax.report.tables import plural
from fairjax.results import Results

MOST_GROUPS = 40  # in one picture


def contenders(results: Results, pictures: Pictures) -> list[Section]:
  """All contenders side by side, set by set, and what each of them is."""
  if len(results.contenders) < 2:
    return []
  body = []
  for name in results.set_names():
    rows = side_by_side(results, name)
    if not rows:
      continue
    columns = dict.fromkeys(k for row in rows for k in row if k != 'contender')
    heads = {'contender': 'contender'} | {key: _heading(key) for key in columns}
    beside = [table(rows, heads)]
    for key in measures.leading(columns, pictured=True):
      values = {r['contender']: r[key] for r in rows if key in r}
      if not any(map(tables.defined, values.values())):
        continue
      # No point is hollow: a level is not tested against anything here.
      plot = plots.forest(values, measures.label(key), zero=None)
      beside.append(
        pictures.add(
          f'contenders_{key}_{name}',
          plot,
          f'{_capital(key)} on {of_set(name)}; {_better(key)}.',
        )
      )
    body += [heading(f'Test set {of_set(name)}'), side(*beside)]
  if daggers(results):
    body.append(
      text(
        f'† differs from the contender it is compared with over '
        f'{plural(len(results.seeds), "seed")} (two-sided t-test, p < '
        f'{1 - results.level:.2g}, not adjusted for the number of tests).',
        kind='quiet',
      )
    )
  keys = {
    key
    for contender in results.contenders
    for name in results.set_names()
    for key in results.measured(contender, name)
  }
  words = [
    {'measure': _heading(key), 'meaning': measures.about(key)}
    for key in measures.leading(keys)
    if not measures.is_rate(key)
  ]
  if words:
    body.append(details('What the columns mean', table(words)))
  facts = [
    {'contender': name, **one['facts']}
    for name, one in results.contenders.items()
    if one.get('facts')
  ]
  if facts:
    body += [heading('What each contender is'), table(facts)]
  body.append(_links(results))
  return [Section('Contenders side by side', '\n'.join(body))]


def _links(results: Results) -> str:
  """Pages of the contenders' own runs, below this one's folder only."""
  pages = {
    name: one['page']
    for name, one in results.contenders.items()
    if re.fullmatch(r'[\w.=+-]+(/[\w.=+-]+)*', one.get('page', ''))
    and '..' not in one['page'].split('/')
  }
  if not pages:
    return ''
  items = ''.join(
    f'<li><a href="{escape.entities(page)}">{escape.html(name)}</a></li>'
    for name, page in pages.items()
  )
  return f'{heading("Each run")}<ul>{items}</ul>'


def _heading(key: str) -> str:
  """'demographic parity at eer' of dp at eer, led by the attribute if any."""
  attribute = key.rpartition('/')[0]
  limit = key.rpartition(' at ')[2] if ' at ' in key else ''
  words = measures.label(key)
  if limit and limit not in words:
    words += f' at {limit}'
  return f'{attribute}: {words}' if attribute else words


def _capital(key: str) -> str:
  label = _heading(key)
  return label[:1].upper() + label[1:]


def _better(key: str) -> str:
  side_ = {1: 'right', -1: 'left'}.get(measures.measure(key).better)
  return f'{side_} is better' if side_ else 'neither side is better'


def in_full(
  results: Results,
  predictions: pd.DataFrame | None,
  pictures: Pictures,
  told: bool = True,
) -> list[Section]:
  """A section for each test set of the contender in focus.

  `told` says that predictions which are missing are told.
  """
  out = []
  for name, one in results.sets.items():
    title = f'Test set {of_set(name)}'
    if len(results.contenders) > 1:
      title += f': {results.focus}'
    body = _numbers(one)
    if one.get('groups') or one.get('fairness'):
      body += _groups(name, one, pictures, results.level)
    elif predictions is not None:
      body += heading('Groups') + text(
        'No groups: name a column with --config.data.group, or terms with '
        '--config.measures.groups.'
      )
    if predictions is not None or (told and 'threshold' in one):
      body += heading('Scores')
      body += _scores(name, predictions, pictures, results, one)
    out.append(Section(title, body))
  return out


def _numbers(one: Mapping) -> str:
  own, more = tables.split_aggregates(one.get('fairness', {}))
  limit = one.get('threshold')
  parts, rest = [], []
  if 'rows' in one or limit is not None:
    words = plural(one['rows'], 'row') if 'rows' in one else 'Rows'
    if 'effective_rows' in one:
      words += f', weighted: as sure as {one["effective_rows"]:,.0f}'
    if limit is not None:
      words += f', decision threshold {tables.limits(limit)}'
    parts.append(text(words + '.', kind='quiet'))
  pair = []
  for title, values in (('Quality', one.get('quality', {})), ('Fairness', own)):
    leads = set(measures.leading(values))
    first = {k: v for k, v in values.items() if k in leads}
    if first:
      pair.append(heading(title) + _measures(first))
    others = {k: v for k, v in values.items() if k not in leads}
    if others:
      rest.append(heading(title) + _measures(others))
  parts.append(side(*pair))
  if rest:
    parts.append(details('Other measures', side(*rest)))
  if more:
    caption = 'Every rate over the groups: largest difference, smallest ratio'
    parts.append(details('All gaps', table(more, caption=caption)))
  return '\n'.join(parts)


def _measures(values: Mapping) -> str:
  """A row a measure, by the name that people know, and ours in brackets."""
  rows, about = [], {}
  for row in tables.measure_rows(values, 'measure'):
    key = row['measure']
    of = measures.measure(key)
    title = _capital(key) + (f' ({key})' if of else '')
    rows.append({**row, 'measure': title})
    about[title] = of.about if of else ''
  return table(rows, about=about)


def _groups(name: str, one: Mapping, pictures: Pictures, level: float) -> str:
  groups = one.get('groups') or {}
  if not groups:
    return ''
  keys = [
    key
    for key in dict.fromkeys(key for g in groups.values() for key in g)
    if any(tables.is_estimate(g.get(key)) for g in groups.values())
  ]
  of_rates = [k for k in keys if k in measures.rates()]
  rates = measures.leading(of_rates, pictured=True) or keys
  largest = sorted(groups, key=lambda g: -groups[g].get('rows', 0))
  rows = {
    g: {
      'rows' if k == 'rows' else measures.label(k): groups[g][k]
      for k in ('rows', *rates)
      if k in groups[g]
    }
    for g in groups
    if g in largest[:MOST_GROUPS]
  }
  sure = tables.percent(level)
  caption = f'Rates of each group of {name} with {sure} intervals.'
  if len(groups) > MOST_GROUPS:
    caption += f' The {MOST_GROUPS} largest of {len(groups)} groups.'
  parts = [heading('Groups')]
  if rates:
    parts.append(pictures.add(f'rates_{name}', plots.rates(rows), caption))
  columns = dict.fromkeys(key for g in groups.values() for key in g)
  heads = {'group': 'group'} | {k: _heading(k) for k in columns}
  if 'effective_rows' in heads:
    heads['effective_rows'] = 'rows by weight'
  parts.append(table(tables.group_rows(groups), heads))
  return '\n'.join(parts)


def _scores(
  name, predictions, pictures: Pictures, results: Results, one: Mapping
) -> str:
  """ROC curves and histograms of the positive class's probability.

  Their groups are those measured: predictions hold the column of data.group,
  and measures.groups may name another.
  """
  if predictions is None:
    return text('predictions.parquet is missing: no curves.')
  if 'label' not in predictions:
    return text('predictions.parquet has no labels: no curves.')
  rows = predictions[predictions['set'] == name]
  score, words = _probabilities(rows, results.pos_label, results.classes)
  if not len(rows) or not len(score):
    return text('predictions.parquet has no predictions of this set.')
  label = (rows['label'] == results.pos_label).to_numpy()
  group = rows['group'].fillna('').astype(str).to_numpy()
  if one.get('groups') and not {*group} - {''} <= {*one['groups']}:
    group = np.full(len(group), '', object)
  names, counts = np.unique(group[group != ''], return_counts=True)
  largest = names[np.argsort(-counts, kind='stable')][: len(figures.COLOURS)]
  parts = [
    pictures.add(
      f'roc_{name}',
      plots.roc({'all rows': (label, score)}),
      f'ROC curve of {words}; the band is the range over seeds.',
    )
  ]
  if len(largest) > 1:
    by = {g: (label[group == g], score[:, group == g]) for g in largest}
    more = ' (the largest)' if len(names) > len(largest) else ''
    caption = f'ROC curves by group{more}.'
    parts.append(pictures.add(f'roc_groups_{name}', plots.roc(by), caption))
  parts.append(
    pictures.add(
      f'scores_{name}',
      plots.score_histograms(label, score, group),
      f'Scores ({words}) by {"group and " * bool(len(names))}label, all seeds '
      'together.',
    )
  )
  return side(*parts)


def _probabilities(
  rows: pd.DataFrame, positive: int, classes: Sequence[str]
) -> tuple[np.ndarray, str]:
  """Scores [s, n] of the positive class, and what they are."""
  name = classes[positive] if positive < len(classes) else ''
  name = repr(name) if name else f'class {positive}'
  columns = [c for c in rows if c[:1] == 'p' and c[1:].isdigit()]
  if columns:  # of two classes, P(1) is kept
    chance = rows[columns].to_numpy(float).T
    return chance if positive else 1 - chance, f'the probability of {name}'
  end = f'_c{positive}'
  columns = [c for c in rows if c.endswith(end) and c[1 : -len(end)].isdigit()]
  chance = rows[columns].to_numpy(float).T
  return chance, f'the probability of {name} against the rest'


def tests(results: Results, pictures: Pictures) -> list[Section]:
  """Paired comparisons: forests of the effects, and the numbers."""
  body = []
  for title, rows in tables.differences(results.tests).items():
    body.append(heading(title))
    own = next(iter(rows[0]))
    for key in measures.leading({r['measure'] for r in rows}, pictured=True):
      effects = {
        row[own]: row['difference'] for row in rows if row['measure'] == key
      }
      body.append(
        pictures.add(
          f'difference_{key}_{title}',
          plots.forest(effects, f'{measures.label(key)}, difference'),
          f'{title}: {measures.label(key)}; {_better(key)}. A hollow point: '
          'the interval holds 0.',
        )
      )
    body.append(table(rows))
  if body:
    every = [
      {k: v for k, v in test.items() if not isinstance(v, list | tuple)}
      for test in results.tests
    ]
    body.append(details('Every test, with its name', table(every)))
    return [Section('Paired tests', '\n'.join(body))]
  return []
