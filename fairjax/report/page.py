"""The report of a run: one page made of what its folder holds.

`report(folder)` reads results.json, predictions.parquet, metrics.jsonl,
hygiene.json, config.json and versions.json, as far as they are there. Every
page has one order: answer, picture, lights, next command; what it rests on;
tables; method and settings. Pictures' png files go to plots/.
"""

import dataclasses
import math
import os
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from fairjax import results as parts
from fairjax.config import Config, ignored_knobs
from fairjax.core import artefacts, ended, memory, strict_json
from fairjax.data.word_tables import table_rows
from fairjax.metrics import measures, warn
from fairjax.report import (
  documents,
  findings,
  measured,
  names,
  run_archive,
  tables,
  verdict,
  words,
  written,
)
from fairjax.report.pictures import group_plots, plots
from fairjax.report.render import Pictures, drawn, page
from fairjax.report.tables import defined, plural
from fairjax.results import FILE, Results
from fairjax.results import read as read_results
from fairjax.results import write as write_results

WARNED, LONG = 3, 200  # warnings that stand open, if they are short
MOST_GROUPS = 24  # in the first picture
CAPTIONS = 'caption', 'x_label', 'y_label'  # what a recipe itself says


def report(folder: str | os.PathLike) -> str:
  """The page of a run; also writes plots/*.png into `folder`."""
  folder = pathlib.Path(folder)
  whole = read_results(folder) if (folder / FILE).exists() else None
  results = whole and names.by_people(whole)
  pictures = Pictures(folder)
  load = lambda name: run_archive.described(folder, name)
  sections = written.sections(
    'page_start.txt',
    **_start(results, folder) if results else {'results': None},
  )
  if results is not None:
    # A recipe's captions and axes in the names of the classes.
    of = lambda k, v: words.in_classes(results, v) if k in CAPTIONS else v
    claims = verdict.sections(results)
    sections += [
      *measured.contenders(results),
      *([] if results.focus else claims),
      *names.worded([s for s in results.sections if s['heading']], of),
      *measured.in_full(results, run_archive.predicted(folder)),
      *measured.tests(results),
      *(claims if results.focus else []),
    ]
  links = None
  if whole is not None and whole.contenders:
    links = documents.links(documents.publish(folder, whole))
  sections += written.sections(
    'page_end.txt',
    facts=results and results.facts and parts.facts(results.facts),
    curves=learning(folder),
    **_hygiene(load(run_archive.HYGIENE)),
    sets=results and results.sets,
    links=links,
    **provenance(load(run_archive.CONFIG), load(run_archive.VERSIONS)),
  )
  html = page(names.opened(_title(results, folder)), sections, pictures)
  artefacts.keep_only(pictures.folder, '.png', pictures.names)
  return html


def first_screen(
  results: Results, found: Sequence[findings.Finding], folder: pathlib.Path
) -> list[dict]:
  """The answer and its picture, three lights, and what to type next."""
  lines = words.lines(results, found)
  if not lines:  # what else a run has stands in its sections
    none = [] if results.sections else [parts.text('Nothing was compared.')]
    return [*none, *next_command(results, found, folder)]
  text = [parts.text(lines[0], 'lead'), *map(parts.text, lines[1:])]
  out = [{'part': 'first', 'words': text, 'picture': _picture(results, found)}]
  if lights := words.lights(found, results):
    out.append({'part': 'lights', 'lights': lights})
  return [*out, *next_command(results, found, folder)]


def next_command(results: Results, found, folder: pathlib.Path) -> list[dict]:
  """The command that a reader of this page may want next: the first that fits.

  None asks for what this run has done, names a model that is not there, or
  repeats a run of which it is not known how it was made.
  """
  config = run_archive.described(folder, run_archive.CONFIG)
  state, done = _state(results, found, folder), strict_json.flat(config)
  values = _values(results, found, folder, config)
  for recipes, when, text, command in table_rows(__file__, 'next_commands.csv'):
    leaf = re.search(r'--config\.([\w.]+)', command)
    models = re.findall(r'{run}/(\S+/seed_0)', command)
    if (
      results.recipe in (recipes.split() or [results.recipe])
      and {*when.split()} <= state
      and not (leaf and done.get(leaf[1]))
      and all(values[field] for field in re.findall(r'{(\w+)}', command))
      and all((folder / one).exists() for one in models)
    ):
      typed = command.format(**values)
      return [{'part': 'command', 'text': text, 'command': typed}]
  return []


def _state(results: Results, found, folder: pathlib.Path) -> set[str]:
  """What is known of a run, in words of next_commands.csv."""
  row, kinds = ignored_knobs.row(results.recipe), {one.kind for one in found}
  known = {(one.kind, one.verdict) for one in found}
  # Of quality and gaps: a score may have nothing to be held against.
  void = {kind for kind, of in known if of == findings.VOID} - {'score'}
  said = [w for one in results.sets.values() for w in one.get('warnings', ())]
  trained = row and row.exports and (folder / run_archive.METRICS).exists()
  if trained and any(warn.CONSTANT in one for one in said):
    void.add('decisions')
  fits = [*folder.glob('training/*/weights.safetensors')]
  gap = ('gap', findings.ABOVE) in known and 'quality' in kinds
  states = {
    'trained': trained,
    'kept': (folder / 'export').is_dir() or len(fits) == 1,
    'void' if void else 'sure': True,
    'labelled': 'quality' in kinds,
    'below': ('quality', findings.BELOW) in known,
    'gap': gap and len(results.contenders) == 1,
    'ungrouped': 'gap' not in kinds,
  }
  return {word for word, holds in states.items() if holds}


def _values(
  results: Results, found, folder: pathlib.Path, config: Mapping
) -> dict[str, str]:
  """What commands of next_commands.csv name; '' is not known."""
  made = run_archive.described(folder, run_archive.VERSIONS).get('command', [])
  run = pathlib.PurePath('runs' * (folder.parent.name == 'runs'), folder.name)
  texts = any('texts' in one for one in results.sets.values())
  out, last = str(results.facts.get('out', '')), 1 - results.pos_label
  other = str(last)
  if len(results.classes) == 2:  # '1' may be the name of another one
    other = results.classes[last].rpartition(' = ')[2]
  epochs = f'{2 * config.get("train", {}).get("epochs", 5):g}'
  rows = _rows(config, 'diet')
  chosen = next(iter(results.contenders.values()), {}).get('facts', {})
  return {
    'run': shlex.quote(str(run)),
    # A page is passed on: it names no path from the root.
    'field': results.facts.get('fields of few values', '').partition(', ')[0],
    'out': 'DIR' if out[:1] in ('', '/') else shlex.quote(str(run / out)),
    'model': shlex.quote(config.get('model') or 'MODEL'),
    **{'rows': rows, 'texts': rows if texts else 'my.csv'},
    'grouped': _rows(config, 'audit'),
    'ranking': chosen.get('in configs'),
    'factual': chosen.get('a'),
    'counterfactual': chosen.get('b'),
    'filed': _rows(config, 'fairtune') if rows != 'my.csv' else '',
    'gate': _gate(results, {one.kind for one in found}),
    **{'epochs': epochs, 'longer': _again(made, 'train.epochs', epochs)},
    'on_texts': _again(made, 'data.path', shlex.split(rows)[0]),
    'positive': _again(made, 'measures.pos_label', other),
    'again': _again(made),
  }


def _again(made: Sequence[str], leaf: str = '', value: Any = '') -> str:
  """The command of a run as it was typed, with another value of an option."""
  options = {f'--config.{leaf}', f'--{leaf.rpartition(".")[2]}'}
  out, left = ['fairjax'], iter(made[1:])
  for word in left:
    flag, equals, _ = word.partition('=')
    if flag not in options:
      out.append(word)
    elif not equals:
      next(left, None)
  out += [f'--config.{leaf}={value}'] if leaf else []
  return shlex.join(out) if made else ''


def _gate(results: Results, kinds: set[str]) -> str:
  """A bound just below the interval of this run, which a worse one fails."""
  parity = 'eqodd' if 'quality' in kinds else 'dp'  # without labels
  known = [one.get('fairness', {}) for one in results.sets.values()]
  low = next((one[parity].get('low') for one in known if parity in one), None)
  return f'{parity}<{math.floor(100 * low) / 100 if low else 0.8:g}'


def _rows(config: Mapping, to: str) -> str:
  """The file of a run and how it read its rows, for the command of a recipe."""
  data, given = config.get('data', {}), strict_json.flat(config)
  if not data.get('path'):
    return 'my.csv'
  own = config.get('audit', {}).get('groups') or [data.get('group', '')]
  group = {'audit': {'groups': ','.join(own)}, 'diet': {'group': own[0]}}
  flags = {k: data.get(k, k) for k in ('text', 'label')} | group.get(to, {})
  words = [data['path']]
  for flag, column in flags.items():
    words += [f'--{flag}', column] if column not in ('', flag) else []
  if to == 'fairtune':  # a config, whose columns have names of its own
    flags = {'path': data['path']} | flags
    words = [f'--config.data.{k}={value}' for k, value in flags.items()]
  usual = strict_json.flat(dataclasses.asdict(Config())) | {'data.name': 'file'}
  said = {f'data.{k}' for k in ('path', 'text', 'label', 'group', 'sources')}
  said |= {*ignored_knobs.row(to).ignores}
  also = [k for k in given if k.startswith('data.') or k.endswith('pos_label')]
  each = [(k, given[k]) for k in also if k not in said]
  words += [f'--config.{k}={v}' for k, v in each if v not in ('', usual[k])]
  return shlex.join(words)


def _picture(results: Results, found) -> list[dict]:
  """One picture of what leads."""
  kinds = {one.kind: one for one in reversed(found)}
  held = kinds.get('contest')
  several = len(results.contenders) > 1 and (held or results.sets)
  if several and (held or 'score' not in kinds):
    of = held.set if held else next(iter(results.sets))
    if shown := _contenders(results, of):
      return shown
  if 'gap' in kinds:
    return [_groups(results, kinds['gap'])]
  if 'score' in kinds:
    return [_scores(results, kinds['score'])]
  if 'quality' in kinds:
    return _right(results.sets[kinds['quality'].set]['quality'])
  if 'count' in kinds:
    one = kinds['count'].beside
    counts = [one['changed'], one['rows'] - one['changed']]
    plot = plots.bars(['changed', 'kept'], {'texts': counts}, 'texts')
    return [drawn('answer', plot, 'Texts, by what became of them.')]
  return []


def _right(quality: Mapping) -> list[dict]:
  """What is decided right, beside a bag of words and a constant answer."""
  who = 'the classifier', 'a bag of words', 'a constant answer'
  each = zip(who, ('accuracy', 'words_accuracy', 'majority'))
  known = {n: quality[k] for n, k in each if defined(quality.get(k))}
  shown = {n: findings.scaled(one, 100) for n, one in known.items()}
  plot = plots.forest(shown, 'right, of 100', zero=None)
  return [drawn('answer', plot, 'Right decisions, of 100.')] if shown else []


def _groups(results: Results, gap: findings.Finding) -> dict:
  """The rate of every group on one scale."""
  rate, own = gap.beside['rate'], results.sets[gap.set]
  rates = {
    g: {**values[rate], 'rows': values.get('rows', 0)}
    for g, values in findings.of_attribute(gap.measure, own['groups']).items()
    if isinstance(values.get(rate), Mapping)
  }
  everyone = own.get('quality', {}).get(rate, {}).get('value')
  level = lambda g: rates[g]['value'] if defined(rates[g]) else -1
  # Of many groups those that differ most, whatever their size.
  far = lambda g: (not rates[g].get('few'), abs(level(g) - (everyone or 0.0)))
  most = sorted(rates, key=far, reverse=True)[:MOST_GROUPS]
  order = sorted(most, key=level, reverse=True)
  label, done = words.rate_of(results, gap)
  shown = {words.group(g): rates[g] for g in order}
  plot = group_plots.scale(shown, f'of 100{label}, {done}', everyone)
  caption = (
    f'Of 100 rows{label} in each group, how many are {done}, with '
    f'{tables.percent(results.level)} intervals; in brackets: rows.'
  )
  if len(rates) > MOST_GROUPS:
    caption += f' The {MOST_GROUPS} of {len(rates)} groups that differ most.'
  if any(v.get('few') for v in rates.values()):
    caption += ' Grey: too few rows to count in a gap.'
  return drawn('answer', plot, caption)


def _contenders(results: Results, name: str) -> list[dict]:
  """The contenders on the measure that leads; those that lack it are left."""
  for key in ('dp', 'eqodd', 'auc'):
    values = {
      c: v
      for c in results.contenders
      for k, v in results.measured(c, name).items()
      if measures.bare(k) == key and ' at ' not in k and defined(v)
      if not findings.is_void(v)
    }
    if len(values) < 2:
      continue
    what, better = measures.label(key), 'right'
    if key != 'auc':  # as the sentences say it: points between groups
      values = {c: findings.gap_of(v, 100) for c, v in values.items()}
      what, better = words.gap_called(results, key) + ', points', 'left'
    level_of = lambda c: values[c]['value']
    order = sorted(values, key=level_of, reverse=key == 'auc')
    every = len(values) == len(results.contenders)
    some = 'every contender' if every else 'the contenders that have one'
    ends = any(map(tables.has_ends, values.values()))
    level = f', with {tables.percent(results.level)} intervals' * ends
    label = f'{what}; {better} is {"better" if key == "auc" else "fairer"}'
    plot = plots.forest({c: values[c] for c in order}, label, zero=None)
    caption = (
      f'{what[:1].upper()}{what[1:]}, of {some} on {names.of_set(name)}{level}.'
    )
    return [drawn('answer', plot, caption)]
  return []


def _scores(results: Results, one: findings.Finding) -> dict:
  """What leads first: of every contender, or the measures of the only one."""
  key, where = one.measure, names.of_set(one.set)
  if len(results.contenders) > 1:
    each = {
      c: results.measured(c, one.set).get(key) for c in results.contenders
    }
    shown = {names.named(c): v for c, v in each.items() if defined(v)}
    keys, axis = [key], measures.label(key)
  else:
    values = results.measured(one.subject, one.set)
    keys, axis = findings.led(values), f'on {where}'
    shown = {measures.label(k): values[k] for k in keys}
  rows = [findings.SCORES[findings.start(k)] for k in keys]
  if all(row.scale == '100' for row in rows):  # as the sentences have it
    shown = {k: findings.scaled(v, 100) for k, v in shown.items()}
    axis += ', of 100'
  caption = f'{measured.capital(key)} on {where}'
  if one.bound is not None:
    neutral = findings.SCORES[findings.start(key)].neutral
    caption += f'; the line at {one.bound:.3g} is what {neutral} gives'
  plot = plots.forest(shown, axis, zero=one.bound)
  return drawn('answer', plot, f'{caption}.')


def _start(results: Results, folder: pathlib.Path) -> dict:
  """What leads; rows, seeds, groups; warnings and notes."""
  every = measured.warnings(results)
  small = [line for line in every if warn.SMALL in line]
  lines = [line for line in every if line not in small]
  short = [line for line in lines if len(line) < LONG][:WARNED]
  box = [parts.bullets(short)] if short else []
  if more := [line for line in lines if line not in short]:
    title = plural(len(more), 'more warning' if short else 'warning')
    box.append(parts.fold(title, parts.bullets(more)))
  notes = [*small, *results.notes, *measured.warnings(results, 'notes')]
  return {
    'results': results,
    'first': first_screen(results, findings.shown(results), folder),
    'basis': results.contenders and basis(results),
    'warnings': box and {'part': 'warnings', 'parts': box},
    'notes': [*map(names.opened, dict.fromkeys(notes))],
  }


def basis(results: Results) -> str:
  """What was measured, on how many rows, over which chance."""
  out = [names.named(results.focus or results.model) or 'the model']
  any_one = next(iter(results.contenders.values()))['sets']
  for name, one in list((results.sets or any_one).items())[:1]:
    rows = 'rows' in one
    called = names.of_set(name)
    text = f'{plural(one["rows"], "row")} of {called}' if rows else called
    if 'effective_rows' in one:
      text += f', weighted: as sure as {one["effective_rows"]:,.0f}'
    if one.get('texts', one.get('rows')) != one.get('rows'):
      text += f' ({plural(one["texts"], "different text")})'
    out.append(text)
    if one.get('threshold') not in (None, 'argmax'):
      out.append(f'decision threshold {tables.limits(one["threshold"])}')
    if one.get('groups'):
      out.append(plural(len(one['groups']), 'group'))
  several = len(results.seeds) > 1
  out += [plural(len(results.seeds), 'seed')] * several
  over = 'rows and seeds' if several else 'rows'
  out.append(f'{tables.percent(results.level)} intervals over {over}')
  return ' · '.join(out)


def publish(folder: str | os.PathLike, results: Results) -> Results:
  """Writes results.json and report.html; returns what a reader gets."""
  ended.settle(pathlib.Path(folder))
  results.verdicts = verdict.settled(results)
  results.findings = findings.as_rows(findings.shown(results))
  results = write_results(folder, results)
  with memory.uncollected():  # each picture makes thousands of objects
    html = report(folder)
  artefacts.write_text(pathlib.Path(folder) / 'report.html', html)
  return results


def _title(results: Results | None, folder: pathlib.Path) -> str:
  if results is None:
    return f'Run {folder.name}'
  if results.title:
    return names.named(results.title)
  name = results.data or folder.name
  if name == 'file':
    data = run_archive.described(folder, run_archive.CONFIG).get('data', {})
    name = pathlib.PurePath(data.get('path') or name).name
  model = f'{names.named(results.model)} on ' if results.model else ''
  others = [c for c in results.contenders if c != results.focus]
  if results.focus and others:
    against = ', '.join(others[:3]) + (', …' if len(others) > 3 else '')
    return f'{results.focus} against {against} ({model}{name})'
  return f'{model}{name}' + f' ({results.recipe})' * bool(results.recipe)


def learning(folder: pathlib.Path) -> list[dict]:
  """Learning curves, a picture for each part of the training."""
  by_part: dict[str, list] = {}
  for row in run_archive.steps(folder):
    part = str(row.get('part', ''))
    by_part.setdefault(names.NAMES.get(part, part), []).append(row)
  return [
    drawn(
      f'learning_{name}'.strip('_'),
      plots.learning(rows),
      f'Learning curves{" of " + name if name else ""}: mean over seeds, the '
      'band is their range.',
    )
    for name, rows in by_part.items()
    if plots.learning_series(rows)
  ]


def _hygiene(facts: Mapping) -> dict:
  """Counts a split as columns, leaks, and what else is known of the data."""
  splits, leaks = facts.get('splits', {}), facts.get('leaks', {})
  rest = {
    key: value
    for key, value in facts.items()
    if key not in ('splits', 'leaks', 'warnings') and value not in (None, {})
  }
  return {
    'data': facts,
    'splits': [
      {'fact': fact.replace('_', ' ')}
      | {name: split.get(fact, '') for name, split in splits.items()}
      for fact in dict.fromkeys(key for one in splits.values() for key in one)
    ],
    'leaks': [
      {'splits': pair, 'rows in both': one.get('rows'), 'ids': one.get('ids')}
      for pair, one in leaks.items()
    ],
    'more': rest and parts.facts(rest),
  }


def provenance(config: Mapping, versions: Mapping) -> dict:
  """Options and versions."""
  default = strict_json.flat(dataclasses.asdict(Config()))
  listed = lambda tree, *columns: [
    dict(zip(columns, (key, _shown(value))))
    for key, value in strict_json.flat(tree).items()
  ]
  rows = listed(config, 'option', 'value')
  usual = lambda row: _shown(default.get(row['option'], object()))
  return {
    'config': config,
    'options': rows,
    'own': [row for row in rows if row['value'] != usual(row)],
    'versions': versions,
    'made_by': parts.table(listed(versions, 'part', 'version')),
  }


def _shown(value: Any) -> str:
  """An option as one would write it: numbers without thousands marks."""
  if isinstance(value, list | tuple):
    return ', '.join(map(str, value))
  return '(empty)' if value in ('', None) else str(value)
