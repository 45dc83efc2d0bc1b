"""The report of a run: one page made of what its folder holds.

`report(folder)` reads results.json, predictions.parquet, metrics.jsonl,
hygiene.json, config.json and versions.json. What is missing is said in its
section; nothing is computed here but pictures, whose png files go to plots/.
Recipes add sections of their own, made of the helpers of blocks.py, which
are offered here too.
"""

import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax import artefacts
from fairjax.config import Config
from fairjax.report import figures, plots, tables
from fairjax.report.blocks import (
  Section,
  bullets,
  details,
  figure,
  heading,
  page,
  side,
  table,
  text,
  twins,
)
from fairjax.report.sentences import in_words
from fairjax.train.progress import read_rows

__all__ = [
  'Section',
  'bullets',
  'details',
  'figure',
  'heading',
  'page',
  'report',
  'side',
  'table',
  'text',
  'twins',
]

GLOSSARY = {
  'auc': 'a random positive row scores above a random negative one; 0.5 is '
  'chance',
  'macro_auc': 'AUC of each class against the rest, averaged',
  'accuracy': 'share of right decisions',
  'balanced_accuracy': 'share of right decisions, averaged over the classes',
  'f1': 'harmonic mean of precision and recall of the positive class',
  'macro_f1': 'F1 averaged over the classes',
  'mcc': "Matthews' correlation of label and decision; 0 is chance",
  'log_loss': 'mean −log of the probability given to the label',
  'selection_rate': 'share of rows decided positive',
  'base_rate': 'share of rows labelled positive',
  'tpr': 'share of positive rows decided positive',
  'fpr': 'share of negative rows decided positive',
  'tnr': 'share of negative rows decided negative',
  'fnr': 'share of positive rows decided negative',
  'precision': 'share of rows decided positive that are',
  'dp': 'demographic parity: 1 − the largest gap between groups in the share '
  'decided positive; 1 is equal',
  'dp_floor': 'dp of a perfect predictor of these labels: what being right '
  'gives here',
  'eqopp0': '1 − the largest gap in the false positive rate; 1 is equal',
  'eqopp1': '1 − the largest gap in the true positive rate; 1 is equal',
  'eqodd': 'equalised odds: mean of eqopp0 and eqopp1; 1 is equal',
  'fped': 'sum over groups of |fpr − overall fpr|; 0 is equal',
  'fned': 'sum over groups of |fnr − overall fnr|; 0 is equal',
  'tped': 'sum over groups of |tpr − overall tpr|; 0 is equal',
  'tned': 'sum over groups of |tnr − overall tnr|; 0 is equal',
  'auc_gap': 'largest difference between two groups’ own AUC; 0 is equal',
}
PANELS = ('selection_rate', 'base_rate', 'fpr', 'tpr')  # of the group plot
MOST_GROUPS = 40  # in one picture
EXAMPLES = 20  # rows with the largest gap to their twin

SILENT = (
  'Template sentences are evidence about templates. A gap on them shows that '
  'the model reacts to the words that were exchanged; no gap does not show '
  'that it treats real texts alike.',
  'Small groups have wide intervals. A group with few rows of a label can '
  'look fair or unfair by chance: read the interval before the value.',
  'Every number takes the labels for true. Where the labels carry a prejudice, '
  'a model that repeats it looks accurate and may look fair.',
  'An interval speaks of the chance in drawing these rows and these seeds. It '
  'knows nothing of other data, other groups, or a changed world. With one '
  'seed it knows nothing of the chance in training either.',
  'Demographic parity compares shares of decisions. Where the groups’ labels '
  'differ, a perfect predictor does not reach 1: dp_floor shows what it '
  'reaches, and going beyond it costs accuracy.',
  'A predictor that always gives the same answer treats all groups alike and '
  'is of no use. Such predictors are named in the warnings; their fairness is '
  'not an achievement.',
  'Fairer on these measures does not mean fair. The measures can disagree, '
  'and which of them matters depends on what the decision does to people.',
)


class Pictures:
  """Figures that go into the page and, under their names, into plots/."""

  def __init__(self, folder: pathlib.Path):
    self.folder = folder / 'plots'

  def add(self, name: str, plot, caption: str) -> str:
    safe = ''.join(c if c.isalnum() or c in '-_' else '_' for c in name)
    figures.save(plot, self.folder / f'{safe}.png')
    return figure(plot, caption)


def report(folder: str | os.PathLike, extra: Sequence[Section] = ()) -> str:
  """The page of a training run; also writes plots/*.png into `folder`."""
  folder = pathlib.Path(folder)
  read = lambda name: (
    artefacts.read_json(folder / name) if (folder / name).exists() else None
  )
  results, config = read('results.json'), read('config.json')
  pictures = Pictures(folder)
  level = (config or {}).get('measures', {}).get('level', 0.95)
  positive = (config or {}).get('measures', {}).get('positive', 1)
  sections = [Section('In short', in_words(results, level))]
  sections += _measured(results, folder, pictures, level, positive)
  sections += extra
  sections += [
    Section('Learning', learned(folder, pictures)),
    Section('Data', _hygiene(read('hygiene.json'))),
    Section('What these numbers do not say', bullets(SILENT)),
    Section('How it was made', made(config, read('versions.json'))),
  ]
  return page(_title(results, folder), sections)


def _title(results: Mapping | None, folder: pathlib.Path) -> str:
  if not results:
    return f'Run {folder.name}'
  name, model = results.get('name', folder.name), results.get('model', '')
  recipe = results.get('recipe', '')
  what = f' ({recipe})' if recipe else ''
  return f'{model} on {name}{what}' if model else f'{name}{what}'


def _measured(results, folder, pictures, level, positive) -> list[Section]:
  """A section a test set, and the paired tests."""
  if not results:
    return []
  predictions = _predictions(folder)
  sections = []
  for name, found in results.get('sets', {}).items():
    body = _numbers(found) + _groups(name, found, pictures, level)
    body += heading('Scores') + _scores(name, predictions, pictures, positive)
    sections.append(Section(f'Test set {name}', body))
  if results.get('tests'):
    body = _tests(results['tests'], pictures)
    sections.append(Section('Paired tests', body))
  if results.get('examples'):
    body = _examples(results['examples'])
    sections.append(Section('Largest gaps between twins', body))
  return sections


def _numbers(found: Mapping) -> str:
  own, more = tables.split_aggregates(found.get('fairness', {}))
  rows = lambda measures: table(
    [{'measure': key, 'value': value} for key, value in measures.items()],
    about={key: GLOSSARY.get(key.split('/')[-1], '') for key in measures},
  )
  limit = found.get('threshold')
  parts = []
  if 'rows' in found or limit is not None:
    words = f'{tables.cell(found.get("rows"))} rows'
    if limit is not None:
      words += f', decision threshold {tables.limits(limit)}'
    parts.append(text(words + '.', kind='quiet'))
  pair = [
    heading(title) + rows(measures)
    for title, measures in (
      ('Quality', tables.leading(found.get('quality', {}))),
      ('Fairness', own),
    )
    if measures
  ]
  parts.append(side(*pair))
  if more:
    caption = 'Every rate over the groups: largest difference, smallest ratio'
    parts.append(details('All gaps', table(more, caption=caption)))
  return '\n'.join(parts)


def _groups(name: str, found: Mapping, pictures: Pictures, level) -> str:
  groups = found.get('groups') or {}
  if not groups:
    return heading('Groups') + text(
      'No groups: name a column with --config.data.group, or terms with '
      '--config.measures.groups.'
    )
  rates = [r for r in PANELS if any(r in g for g in groups.values())]
  rates = rates or [
    key
    for key in next(iter(groups.values()))
    if any(tables.is_estimate(g.get(key)) for g in groups.values())
  ]
  largest = sorted(groups, key=lambda g: -groups[g].get('rows', 0))
  shown = {
    g: {k: v for k, v in groups[g].items() if k == 'rows' or k in rates}
    for g in groups
    if g in largest[:MOST_GROUPS]
  }
  caption = f'Rates of each group of {name} with {level:.0%} intervals.'
  if len(groups) > MOST_GROUPS:
    caption += f' The {MOST_GROUPS} largest of {len(groups)} groups.'
  parts = [heading('Groups')]
  if rates:
    plot = plots.rates(shown)
    parts.append(pictures.add(f'rates_{name}', plot, caption))
  parts.append(table(tables.group_rows(groups)))
  return '\n'.join(parts)


def _predictions(folder: pathlib.Path) -> pd.DataFrame | None:
  path = folder / 'predictions.parquet'
  return artefacts.read_table(path) if path.exists() else None


def _scores(name, predictions, pictures: Pictures, positive: int) -> str:
  """ROC curves and histograms of the positive class's probability."""
  if predictions is None:
    return text('predictions.parquet is missing: no curves.')
  rows = predictions[predictions['set'] == name]
  score, words = _chances(rows, positive)
  if not len(rows) or not len(score):
    return text('predictions.parquet has no predictions of this set.')
  label = (rows['label'] == positive).to_numpy()
  group = rows['group'].fillna('').astype(str).to_numpy()
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
      f'Scores ({words}) by group and label, all seeds together.',
    )
  )
  return side(*parts)


def _chances(rows: pd.DataFrame, positive: int) -> tuple[np.ndarray, str]:
  """Scores [s, n] of the positive class, and what they are."""
  columns = [c for c in rows if c[:1] == 'p' and c[1:].isdigit()]
  words = 'the probability of the positive class'
  if not columns:
    end = f'_c{positive}'
    columns = [
      c for c in rows if c.endswith(end) and c[1 : -len(end)].isdigit()
    ]
    words = f'the probability of class {positive} against the rest'
  return rows[columns].to_numpy(float).T, words


def _tests(tests: Sequence[Mapping], pictures: Pictures) -> str:
  """Paired comparisons: a forest of the effects, and the numbers."""
  effects = {}
  for k, test in enumerate(tests):
    found = [v for v in test.values() if tables.is_estimate(v)]
    words = [v for v in test.values() if isinstance(v, str)]
    if found:
      title = ' · '.join(words) or f'test {k + 1}'
      effects[title if title not in effects else f'{title} {k + 1}'] = found[0]
  parts = []
  if effects:
    caption = (
      'Differences with their intervals. A hollow point: the interval holds 0.'
    )
    plot = plots.forest(effects, 'difference')
    parts.append(pictures.add('tests', plot, caption))
  parts.append(table(tables.test_rows(tests)))
  return '\n'.join(parts)


def _examples(examples: Sequence[Mapping]) -> str:
  """Rows {'text', 'twin', 'gap', …}: the words that differ are marked."""
  chosen = sorted(examples, key=lambda e: -abs(e.get('gap') or 0))[:EXAMPLES]
  parts = []
  for row in chosen:
    original, twin = twins(row.get('text', ''), row.get('twin', ''))
    facts = ', '.join(
      f'{key} {tables.cell(value)}'
      for key, value in row.items()
      if key not in ('text', 'twin')
    )
    parts.append(f'<p>{original}<br>{twin}</p>' + text(facts, kind='quiet'))
  return '\n'.join(parts)


def learned(folder: pathlib.Path, pictures: Pictures) -> str:
  rows = read_rows(folder / 'metrics.jsonl')
  parts: dict[str, list] = {}
  for row in rows:
    parts.setdefault(str(row.get('part', '')), []).append(row)
  shown = []
  for name, rows in parts.items():
    if not plots.learning_series(rows):
      continue
    caption = (
      f'Learning curves{" of " + name if name else ""}: mean over seeds, the '
      'band is their range.'
    )
    plot = plots.learning(rows)
    shown.append(pictures.add(f'learning_{name}'.strip('_'), plot, caption))
  if not shown:
    return text('metrics.jsonl is missing or empty: no learning curves.')
  return side(*shown)


def _hygiene(found: Mapping | None) -> str:
  """Counts a split as columns, leaks, and what a reader must not miss."""
  if found is None:
    return text('hygiene.json is missing: the data was not looked at.')
  parts = [text(w, kind='warning') for w in found.get('warnings', ())]
  splits = found.get('splits', {})
  facts = dict.fromkeys(key for split in splits.values() for key in split)
  rows = [
    {'fact': _words(fact)}
    | {name: split.get(fact, '') for name, split in splits.items()}
    for fact in facts
  ]
  if rows:
    parts.append(table(rows, caption='What each split holds'))
  leaks = [
    {'splits': pair, 'rows in both': leak.get('rows'), 'ids': leak.get('ids')}
    for pair, leak in found.get('leaks', {}).items()
  ]
  if leaks:
    parts.append(table(leaks, caption='Texts that occur in two splits'))
  rest = {
    key: value
    for key, value in found.items()
    if key not in ('splits', 'leaks', 'warnings') and value not in (None, {})
  }
  if rest:
    parts.append(
      table([{'fact': _words(k), 'value': v} for k, v in rest.items()])
    )
  return '\n'.join(parts) or text('Nothing was found wrong with the data.')


def _words(key: str) -> str:
  return key.replace('_', ' ')


def made(config: Mapping | None, versions: Mapping | None) -> str:
  parts = []
  if config is None:
    parts.append(text('config.json is missing: the configuration is unknown.'))
  else:
    default = _flat(dataclasses.asdict(Config()))
    rows = [
      {'option': key, 'value': _shown(value)}
      for key, value in _flat(config).items()
    ]
    own = [
      row
      for row in rows
      if row['value'] != _shown(default.get(row['option'], object()))
    ]
    caption = 'Options other than their default'
    parts.append(
      table(own, caption=caption) if own else text('All options at default.')
    )
    parts.append(details('All options', table(rows)))
  if versions is None:
    parts.append(text('versions.json is missing: the versions are unknown.'))
  else:
    rows = [
      {'part': key, 'version': _shown(value)}
      for key, value in _flat(versions).items()
    ]
    parts.append(details('Versions', table(rows)))
  return '\n'.join(parts)


def _shown(value: Any) -> str:
  """An option as one would write it: numbers without thousands marks."""
  if isinstance(value, list | tuple):
    return ', '.join(map(str, value))
  return '(empty)' if value in ('', None) else str(value)


def _flat(tree: Mapping, prefix: str = '') -> dict[str, Any]:
  """Nested dicts as one, with dotted keys."""
  out: dict[str, Any] = {}
  for key, value in tree.items():
    if isinstance(value, Mapping):
      out |= _flat(value, f'{prefix}{key}.')
    else:
      out[prefix + str(key)] = value
  return out
