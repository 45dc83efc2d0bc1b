"""The report of a run: one page made of what its folder holds.

`report(folder)` reads results.json, predictions.parquet, metrics.jsonl,
hygiene.json, config.json and versions.json. What is missing is said in its
section; nothing is computed here but pictures, whose png files go to plots/.
"""

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.report import (
  documents,
  first_screen,
  kept,
  measured,
  names,
  parts,
  verdict,
)
from fairjax.report.blocks import (
  Section,
  bullets,
  details,
  page,
  side,
  table,
  text,
)
from fairjax.report.parts import Pictures
from fairjax.report.pictures import plots
from fairjax.report.sentences import in_words
from fairjax.results import FILE, Results
from fairjax.results import read as read_results
from fairjax.results import write as write_results

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
  'The interval of a gap is for the gap of the true rates, and holds it at '
  'least as often as it says; the value beside it is larger by chance, by '
  'about what the tables give under “by chance”. The difference between two '
  'gaps is of the gaps that test sets of this size show: chance is in both and '
  'widens the smaller one more, so it tends to be nearer 0 than that of the '
  'true gaps.',
  'Demographic parity compares shares of decisions. Where the groups’ labels '
  'differ, a perfect predictor does not reach 1: its floor (dp_floor) is what '
  'it reaches, and going beyond it costs accuracy.',
  'A predictor that always gives the same answer treats all groups alike and '
  'is of no use. Such predictors are named in the warnings; their fairness is '
  'not an achievement.',
  'Fairer on these measures does not mean fair. The measures can disagree, '
  'and which of them matters depends on what the decision does to people.',
)

# Recipes of classifiers: a curve or a look at the data that is missing is told.
TRAINED = ('', 'train', 'diet', 'rank', 'compare', 'weighting')


def report(folder: str | os.PathLike) -> str:
  """The page of a run; also writes plots/*.png into `folder`."""
  folder = pathlib.Path(folder)
  load = lambda name: kept.described(folder, name)
  whole = read_results(folder) if (folder / FILE).exists() else None
  results = whole and names.by_people(whole)
  pictures = Pictures(folder)
  first = first_screen.html_of(results, pictures)
  sections = [Section('In short', first + in_words(results, bool(first)))]
  # What trains nothing, or reads no data set, says nothing of it.
  trained = results is None or results.recipe in TRAINED
  if results:
    predictions = kept.predicted(folder)
    claims = [verdict.section(results.verdicts)] if results.verdicts else []
    sections += [
      *parts.sections(claims, pictures),
      *measured.contenders(results, pictures),
      *parts.sections(results.sections, pictures),
      *measured.in_full(results, predictions, pictures, trained),
      *measured.tests(results, pictures),
    ]
    if results.facts:
      words = lambda name: name.replace('_', ' ')
      rows = [{'fact': words(k), 'value': v} for k, v in results.facts.items()]
      sections.append(Section('Facts', table(rows)))
  if trained or (folder / 'metrics.jsonl').exists():
    sections.append(Section('Learning', learning(folder, pictures)))
  if trained or (folder / 'hygiene.json').exists():
    sections.append(Section('Data', _hygiene(load(kept.HYGIENE))))
  if results is None or results.contenders:
    sections.append(Section('What these numbers do not say', bullets(SILENT)))
  sections += [
    *_documents(folder, whole),
    Section(
      'How it was made', provenance(load(kept.CONFIG), load(kept.VERSIONS))
    ),
  ]
  pictures.remove_earlier()
  return page(names.opened(_title(results, folder)), sections)


def _documents(folder: pathlib.Path, results: Results | None) -> list[Section]:
  """What can be taken away, and what regulators ask to be documented."""
  if results is None or not results.contenders:
    return []
  rows = [
    {'what is asked': title, 'where': where, 'what is known': words}
    for title, where, words in documents.documentation(results)
  ]
  return [
    Section(
      'To take away',
      documents.links(documents.publish(folder, results))
      + details('What regulators ask to be documented', table(rows)),
    )
  ]


def publish(folder: str | os.PathLike, results: Results) -> Results:
  """Writes results.json and report.html; returns what a reader gets."""
  results = write_results(folder, results)
  artefacts.write_text(pathlib.Path(folder) / 'report.html', report(folder))
  return results


def _title(results: Results | None, folder: pathlib.Path) -> str:
  if results is None:
    return f'Run {folder.name}'
  if results.title:
    return names.named(results.title)
  name = results.data or folder.name
  if name == 'file':
    data = (kept.described(folder, kept.CONFIG) or {}).get('data', {})
    name = pathlib.PurePath(data.get('path') or name).stem
  others = [c for c in results.contenders if c != results.focus]
  if results.focus and others:
    against = ', '.join(others[:3]) + (', …' if len(others) > 3 else '')
    return f'{results.focus} against {against} ({results.model} on {name})'
  what = f' ({results.recipe})' if results.recipe else ''
  return (
    f'{results.model} on {name}{what}' if results.model else f'{name}{what}'
  )


def learning(folder: pathlib.Path, pictures: Pictures) -> str:
  rows = kept.steps(folder)
  by_part: dict[str, list] = {}
  for row in rows:
    part = str(row.get('part', ''))
    by_part.setdefault(names.NAMES.get(part, part), []).append(row)
  curves = []
  for name, rows in by_part.items():
    if not plots.learning_series(rows):
      continue
    caption = (
      f'Learning curves{" of " + name if name else ""}: mean over seeds, the '
      'band is their range.'
    )
    plot = plots.learning(rows)
    curves.append(pictures.add(f'learning_{name}'.strip('_'), plot, caption))
  if not curves:
    return text('metrics.jsonl is missing or empty: no learning curves.')
  return side(*curves)


def _hygiene(facts: Mapping | None) -> str:
  """Counts a split as columns, leaks, and what a reader must not miss."""
  if facts is None:
    return text('hygiene.json is missing: the data was not looked at.')
  parts = [text(w, kind='warning') for w in facts.get('warnings', ())]
  splits = facts.get('splits', {})
  names = dict.fromkeys(key for split in splits.values() for key in split)
  rows = [
    {'fact': _words(fact)}
    | {name: split.get(fact, '') for name, split in splits.items()}
    for fact in names
  ]
  if rows:
    parts.append(table(rows, caption='What each split holds'))
  leaks = [
    {'splits': pair, 'rows in both': leak.get('rows'), 'ids': leak.get('ids')}
    for pair, leak in facts.get('leaks', {}).items()
  ]
  if leaks:
    parts.append(table(leaks, caption='Texts that occur in two splits'))
  rest = {
    key: value
    for key, value in facts.items()
    if key not in ('splits', 'leaks', 'warnings') and value not in (None, {})
  }
  if rest:
    parts.append(
      table([{'fact': _words(k), 'value': v} for k, v in rest.items()])
    )
  return '\n'.join(parts) or text('Nothing was found wrong with the data.')


def _words(key: str) -> str:
  return key.replace('_', ' ')


def provenance(config: Mapping | None, versions: Mapping | None) -> str:
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
    if 'precision' in versions:
      chip = versions['processor']
      where = f'a processor with {chip["class"]} ({chip["cpu"]})'
      if versions['backend'] != 'cpu':
        where = f'{versions["device"]}, and {where}'
      made = f'Computed in {versions["precision"]} on {where}.'
      parts.append(text(made, kind='quiet'))
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
