"""The audit: any classifier, or only its predictions, into one page.

    rows → groups, edits → scores → measures → tests → gate → page

Nothing is trained. What there is decides what is measured: without labels what
needs none, without a text no edits, without scores no calibration.
"""

import csv
import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import audit_table, labels
from fairjax.metrics import gate, measures
from fairjax.metrics import paired as paired_tests
from fairjax.metrics.texts import flips
from fairjax.recipes.audit import causes as audit_causes
from fairjax.recipes.audit import edits as audit_edits
from fairjax.recipes.audit import groups as audit_groups
from fairjax.recipes.audit import measure as audit_measure
from fairjax.recipes.audit import page as audit_page
from fairjax.recipes.audit import what_if
from fairjax.recipes.audit.measure import Measured
from fairjax.report import written
from fairjax.results import Results
from fairjax.stages import asking, audited, edited
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> Results:
  """The audit of `audit.model`, published; fails where the gate does."""
  with Log(folder, config, main=stages.is_main()) as log:
    rows = audit_table.read(config)
    if not config.audit.edited:
      check_scored(folder)
    place = asking.AnswerCache(folder, config.reuse)
    results, measured = audit(
      config, config.audit.model, rows, log.line, place=place
    )
    keep(folder, measured)
    results = stages.publish(folder, results, log)
    name = results.focus
    if (port := config.audit.serve) and (ask := measured[name].what_if):
      server = what_if.open_at(port, ask, folder / 'report.html', name)
      what_if.until_stopped(server, log.line)
  gate.stop(results.facts)
  return results


def audit(
  config: Config,
  source: Any,
  rows: audit_table.Rows,
  say: Callable[[str], None] = lambda words: None,
  against: Any = None,
  place: asking.AnswerCache | None = None,
) -> tuple[Results, dict[str, Measured]]:
  """Results of every model that `source` holds, and what they were made of."""
  table, classes = rows.table, rows.classes
  rule, on = config.audit.fail_if, config.audit.fail_on
  if rule:
    gate.parse(rule)  # a mistake in it is reported first
  audit_measure.prices(config.audit.costs)
  groups, columns, controls, said = audit_groups.groups_of(config, table)
  config = audit_edits.chosen(config, groups)
  clusters = audit_groups.clusters_of(config, table, groups)
  remarks = [*rows.remarks, *said, *clusters.remarks]
  for words in remarks:
    say(words)
  models = _models(config, source, against, table, classes)
  for words in (words for model in models for words in model.remarks):
    say(words)
  edits = audit_edits.make(config, table)
  given = audit_measure.AuditInputs(
    *(config, table, rows.valid, classes, groups, columns, controls),
    *(edits, clusters),
  )
  train = audit_causes.training(models[0], given)
  audit_causes.can_equalize(given)
  for model in models:  # what can be refused before any inference
    if model.scores is None:
      ready = audit_measure.rehearsed(model, given)
      if rule and model is models[0]:
        gate.names(rule, ready)
  measured = _measured(models, given, place, say)
  models = [
    audit_measure.decided(one, measured[one.name].chances) for one in models
  ]
  model, focus = models[0], measured[models[0].name]
  names = labels.titles(asking.class_names(model, classes), config.data.label)
  if model.kind != 'predictions' and model.predict is not None:
    ask = lambda texts: audit_measure.scored(model, given, texts)
    focus.what_if = what_if.asker(config, ask, focus.cut, names)
  focus.equalized = audit_causes.thresholds(focus)
  if model.hard and not names and model.name in config.audit.scores:
    names = [f'not {model.name}', model.name]  # a column of decisions: ‘hired’
  data, positive = _data(config), config.measures.positive
  named = Results(classes=list(names), pos_label=positive)
  results = stages.results(
    config,
    data=data,
    model=model.name,
    seeds=list(range(len(focus.scores))) if len(focus.scores) > 1 else [],
    classes=names if len(names) == focus.chances.shape[2] else [],
    title=f'Audit of {model.name}',
    contenders={k: {'sets': {data: one.set}} for k, one in measured.items()},
    focus=model.name,
    tests=tests(measured),
    notes=written.lines(
      'audit_notes.txt',
      known=[
        *remarks,
        *(words for one in edits for words in one.remarks),
        *(words for model in models for words in model.remarks),
        *(w for model in models for w in asking.read_as(model, classes)),
      ],
      misfit=audit_edits.misfit(edits, groups),
      kinds=audit_edits.kinds(groups),
      **{'table': table, 'model': model},
      # Labels of models that hold or not are compared with that of the data.
      held=[
        f'‘{m.classes[1]}’'
        for m in models
        if m.label is not None and m.classes and positive < len(names)
      ],
      positive=names[positive] if positive < len(names) else '',
    ),
    sections=audit_page.sections(focus, named),
  )
  results.sections += audit_causes.sections(model, focus, named, train)
  results.facts |= gate.facts(rule, focus.set, on)
  return results, measured


def _measured(
  models: Sequence[asking.AuditedModel],
  given: audit_measure.AuditInputs,
  place: asking.AnswerCache | None,
  say: Callable[[str], None],
) -> dict[str, Measured]:
  """Every model's measures; models that answer are asked here."""
  models = [asking.sampled(model, given.text) for model in models]
  measured: dict[str, Measured] = {}
  for model in models:
    say(f'auditing {model.name}: {len(given.table):,} rows')
    asked = asking.cached(model, place, given.config.audit.batch, say)
    measured[model.name] = audit_measure.measure(asked, given)
  for model, one in zip(models, measured.values()):
    own = given.text, given.classes
    asking.tell_noise(model, *own, one.chances, one.set)
  return measured


def _models(
  config: Config, source: Any, against: Any, table: pd.DataFrame, classes
) -> list[asking.AuditedModel]:
  """Those of `source` and of `against`, refused where the config asks what
  they cannot do."""
  models = audited.load(source, config, table, classes)
  if config.audit.serve and models[0].kind == 'predictions':
    raise UserError(
      f'{models[0].name} is predictions, and those of a new sentence are not '
      'known; name a model to serve: a folder, or module:function'
    )
  second = against if against is not None else config.audit.against
  if not (isinstance(second, str) and not second):
    others = audited.load(second, config, table, classes)
    models = _renamed([*models, *others], config.data.path, source, second)
  models = edited.apart(models, config.audit.edited)
  if config.audit.classes and all(one.label is None for one in models):
    raise UserError(
      f'audit.classes names {config.audit.classes[0]!r}, and of '
      f'{models[0].name} no labels may hold together; leave it out'
    )
  asks = [one.name for one in models if one.scores is None]
  if config.audit.edited and asks:
    raise UserError(
      f'audit.edited is {config.audit.edited!r}, and edited texts are asked of '
      f'{asks[0]} itself; leave it out'
    )
  columns = set(config.audit.scores) - {models[0].name}
  if columns and not (config.audit.edited or any(m.by_scores for m in models)):
    raise UserError(
      f'audit.scores names {config.audit.scores[0]!r}, but the predictions are '
      f'those of {models[0].name}, named as the model; leave one of the two '
      'out'
    )
  return models


def _data(config: Config) -> str:
  if config.measures.sets[0] != 'test':
    return config.measures.sets[0]
  if config.data.name == 'file' and config.data.path:
    return pathlib.Path(config.data.path).stem
  return config.data.name if config.data.name != 'file' else 'data'


def _renamed(models: Sequence[asking.AuditedModel], *sources: Any) -> list:
  """Two models of one name are called as their files, folders, or numbers."""
  names = [model.name for model in models]
  named = [s for s in sources if isinstance(s, str | os.PathLike) and s]
  paths = [*map(pathlib.Path, named[-2:])]
  for own in ([p.stem for p in paths], [p.parent.name for p in paths]):
    if len(models) == len(own) == 2 and len({*names}) == 1 and all(own):
      names = own
  count = lambda k: names[: k + 1].count(names[k])
  names = [
    n if count(k) == 1 else f'{n} ({count(k)})' for k, n in enumerate(names)
  ]
  return [dataclasses.replace(m, name=n) for m, n in zip(models, names)]


TO_SCORE = 'to_score.csv'


def check_scored(folder: pathlib.Path) -> None:
  """Stops where to_score.csv has been given scores, which would be lost."""
  path = folder / TO_SCORE
  if not path.exists():
    return
  with open(path, newline='', encoding='utf-8', errors='replace') as file:
    names = next(csv.reader(file), [])
  own = [name for name in names if name not in ('edit', 'text')]
  if own:
    raise UserError(
      f'{path} has a column {own[0]!r} that the audit did not write, and would '
      'be written over; name it with --config.audit.edited, or give it another '
      'name'
    )


def keep(folder: pathlib.Path, measured: Mapping[str, Measured]) -> None:
  """predictions.parquet of the first model, predictions/ of others."""
  if not stages.is_main():
    return
  first = next(iter(measured.values()))
  given, table = first.given, first.given.table
  frame = table if 'label' in table else table.assign(label=-1)
  group = given.groups.by_row()
  frames = {}
  for model, one in measured.items():
    rows = stages.prediction_table(_data(given.config), frame, one.chances)
    rows['group'] = group
    frames[model] = rows if 'label' in table else rows.drop(columns='label')
  stages.write_predictions(folder, frames, next(iter(frames)))
  if first.equalized:
    first.equalized.save(folder / 'thresholds.json')
  if first.edits:
    return
  wanted: dict[str, str] = {}  # each text once
  for edit in given.edits:
    for kind, texts in (('swap', edit.twins), ('control', edit.controls)):
      for text, changed in zip(texts, edit.edited):
        if changed and text is not None:
          wanted.setdefault(text, f'{edit.name} {kind}')
  if wanted:
    check_scored(folder)
    frame = pd.DataFrame({'edit': [*wanted.values()], 'text': [*wanted]})
    with artefacts.atomic(folder / TO_SCORE) as part:
      frame.to_csv(part, index=False)


def tests(measured: Mapping[str, Measured]) -> list[dict]:
  """Every other model against the first, on the same rows."""
  (first, own), *others = measured.items()
  given, out = own.given, []
  none = np.zeros(len(given.table), np.int64)
  labels = none if own.labels is None else own.labels
  for other, one in others:
    if one.scores.shape != own.scores.shape:
      raise UserError(
        f'{other} has predictions of shape {one.scores.shape} and {first} '
        f'{own.scores.shape}; compare models of as many seeds and classes'
      )
    found = paired_tests.compare(
      *(labels, one.scores, own.scores, given.groups),
      threshold=_limit(own, one),
      options=given.sample,
      min_group=given.least,
    )
    found = [t for t in found if _is_tested(t['measure'], own, one)]
    for swap in (name for name in own.edits if name in one.edits):
      prefix = f'{swap}/' if len(given.config.audit.swaps) > 1 else ''
      a, b = ((m.scores, m.edits[swap][1], m.cut) for m in (one, own))
      changes = flips.compare(a, b, given.sample)
      found += [{**t, 'measure': prefix + t['measure']} for t in changes]
    pair = {'set': _data(given.config), 'ours': other, 'theirs': first}
    out += [{**pair, **line} for line in found]
  return stages.adjusted(out)


def _is_tested(measure: str, *both: Measured) -> bool:
  if both[0].labels is None:
    return measures.bare(measure) in ('dp', 'selection_rate')
  hard = any('auc' not in one.set['quality'] for one in both)
  return bool(measures.leading([measure])) and not (hard and measure == 'auc')


def _limit(own: Measured, other: Measured) -> float | str:
  """The threshold of a paired test, which two models have to share."""
  if own.limit == 'argmax':
    return 0.5
  if isinstance(own.limit, list):
    return 'eer'
  if other.limit != own.limit:
    raise UserError(
      f'the models have different thresholds, {own.limit} and {other.limit}; '
      'compare them at one, with --config.measures.threshold'
    )
  return own.limit
