"""Fairtuning on the tasks of GLUE: the paper's Tables 2 and 3 on one page.

    task → tables → two fits → quality, fairscore → averages over the tasks

Each task is what `fairtune` makes of it, in a folder of its own; their numbers
stand side by side with the averages of Qian et al. (2022). CoLA's quality is
Matthews' correlation, STS-B's Pearson's r, that of the others accuracy; STS-B
is in no average of fairscores, as in Table 3.
"""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import NamedTuple

from fairjax import stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables.labels import ROUND
from fairjax.metrics import measures
from fairjax.metrics.inference import averages
from fairjax.recipes.perturbation import fairtune, paired_file
from fairjax.results import Results, section, table, text
from fairjax.train import mesh
from fairjax.train.progress import Log

AVERAGE, QUALITY, FAIRSCORE = 'average', 'glue', 'different'
KINDS = ('.tsv', '.csv', '.parquet', '.jsonl')


class GlueTask(NamedTuple):
  """A task of GLUE: where its files lie, their columns, how it is judged."""

  folder: str
  text: str
  text_pair: str = ''
  label: str = 'label'
  labels: str = ''
  metric: str = 'accuracy'
  averaged: bool = True  # its fairscore


_ENTAILS = 'entailment=0,not_entailment=1'
TASKS = {
  'cola': GlueTask('CoLA', 'sentence', metric='mcc'),
  'sst2': GlueTask('SST-2', 'sentence'),
  'stsb': GlueTask(
    'STS-B', 'sentence1', 'sentence2', 'score', ROUND, 'pearson', False
  ),
  'qqp': GlueTask('QQP', 'question1', 'question2', 'is_duplicate'),
  'mrpc': GlueTask('MRPC', 'sentence1', 'sentence2'),
  'rte': GlueTask('RTE', 'sentence1', 'sentence2', labels=_ENTAILS),
  'qnli': GlueTask('QNLI', 'question', 'sentence', labels=_ENTAILS),
}


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → each task fairtuned and measured → averages → report."""
  if config.fairscore.path:
    raise UserError(
      'fairscore.path is one paired file and each task needs its own; leave '
      'it empty, and each is written from the development set'
    )
  tasks = {name: of_task(config, name) for name in config.fairscore.tasks}
  with Log(folder, config, main=mesh.is_main()) as log:
    for name, own in tasks.items():  # all are read before any is trained on
      stages.load(own, folder / name, log)
    parts = {}
    for name, own in tasks.items():
      log.line(f'{name}: {own.data.path or own.data.name}')
      made = fairtune.measured(own, folder / name, log)
      parts[name] = stages.publish(folder / name, made, log)
    contenders = joined(parts)
    tests = stages.adjusted(compared(config, parts), config.measures.adjust)
    results = stages.results(
      config,
      data='GLUE',
      title=f'fairtuning of {config.model} on GLUE',
      contenders=contenders,
      focus=fairtune.FAIRTUNED,
      tests=tests,
      facts={
        f'{name}, {key}': value
        for name, one in parts.items()
        for key, value in one.facts.items()
        if key.startswith(('training rows', 'share perturbed'))
      },
      notes=paired_file.NOTES,
      sections=[side_by_side(config, parts, contenders, tests)],
    )
    return stages.publish(folder, results, log)


def of_task(config: Config, name: str) -> Config:
  """The config of a task: its files, or GLUE's by tensorflow-datasets."""
  task, data = TASKS[name], config.data
  if data.path:
    place = pathlib.Path(data.path).expanduser() / task.folder
    own = dataclasses.replace(
      data,
      name='file',
      path=_file(place, 'train'),
      test_path=_file(place, 'dev'),
      text=task.text,
      text_pair=task.text_pair,
      label=task.label,
      labels=task.labels,
    )
  else:
    rule = task.labels if task.labels == ROUND else data.labels
    own = dataclasses.replace(data, name=f'glue/{name}', labels=rule)
  train = dataclasses.replace(config.train, metric_for_best=task.metric)
  return dataclasses.replace(config, data=own, train=train)


def _file(place: pathlib.Path, name: str) -> str:
  for kind in KINDS:
    if (place / f'{name}{kind}').is_file():
      return str(place / f'{name}{kind}')
  raise UserError(
    f'{place} has no {name}.tsv, .csv, .parquet or .jsonl; put it there with '
    "GLUE's columns, name other tasks with --config.fairscore.tasks, or leave "
    'data.path empty to download GLUE'
  )


def joined(parts: Mapping[str, Results]) -> dict[str, dict]:
  """{contender: {set: its numbers}}, the averages and a set a task."""
  out: dict[str, dict] = {}
  for name in next(iter(parts.values())).contenders:
    sets: dict[str, dict] = {}
    quality: list[dict] = []
    shares: dict[str, list[dict]] = {}
    for key, part in parts.items():
      task, own = TASKS[key], part.contenders[name]['sets']
      tested = next(iter(own))
      one = own[tested]['quality'][task.metric]
      quality.append(one)
      sets[key] = {
        'rows': own[tested]['rows'],
        'quality': {task.metric: one},
      }
      for by, scores in own.items():
        if FAIRSCORE in scores.get('quality', {}):
          sets[f'{key}, {by}'] = scores
          if task.averaged:
            shares.setdefault(by, []).append(scores['quality'][FAIRSCORE])
    whole = {
      f'{AVERAGE}, {by}': {'quality': {FAIRSCORE: averages.mean(of)}}
      for by, of in shares.items()
    }
    whole[AVERAGE] = {'quality': {QUALITY: averages.mean(quality)}}
    out[name] = {'sets': whole | sets}
  return out


def compared(config: Config, parts: Mapping[str, Results]) -> list[dict]:
  """The paired tests of each task, and those of the averages."""
  out: list[dict] = []
  whole: dict[tuple[str, str], list[dict]] = {}
  for key, part in parts.items():
    task = TASKS[key]
    for test in part.tests:
      if 't-test' in test['test']:
        continue
      test = {k: v for k, v in test.items() if k != 'adjusted'}
      if test['measure'] == FAIRSCORE:
        out.append(test | {'set': f'{key}, {test["set"]}'})
        if task.averaged:
          named = f'{AVERAGE}, {test["set"]}'
          whole.setdefault((named, FAIRSCORE), []).append(test)
      elif test['measure'] == task.metric:
        out.append(test | {'set': key})
        whole.setdefault((AVERAGE, QUALITY), []).append(test)
  level = config.measures.confidence_level
  for (named, measure), tests in whole.items():
    one = averages.mean([test['difference'] for test in tests])
    out.append(
      {
        'set': named,
        'ours': fairtune.FAIRTUNED,
        'theirs': fairtune.ORIGINAL,
        'measure': measure,
        'difference': one,
        'p': averages.p_of(one, level),
        'p_at_floor': False,
        'test': "mean of the tasks' differences, independent",
      }
    )
  return out


def side_by_side(
  config: Config, parts: Mapping, contenders: Mapping, tests: list[dict]
) -> dict:
  """Tables 2 and 3: a line a task and one of the averages, by a perturber."""
  found = {(test['set'], test['measure']): test['difference'] for test in tests}
  by = f'perturbed by {config.fairscore.by[0]}'
  ours, theirs = fairtune.FAIRTUNED, fairtune.ORIGINAL
  lines = []
  for key in (*parts, AVERAGE):
    metric = QUALITY if key == AVERAGE else TASKS[key].metric
    line = {'task': key, 'quality by': measures.label(metric)}
    for title, place, measure in (
      ('quality', key, metric),
      ('fairscore', f'{key}, {by}', FAIRSCORE),
    ):
      for name in (theirs, ours):
        sets = contenders[name]['sets']
        own = sets.get(place, {}).get('quality', {})
        line[f'{title}, {name}'] = own.get(measure)
      line[f'{title}, difference'] = found.get((place, measure))
    lines.append(line)
  lead = '; '.join(
    said(what, found[at])
    for what, at in (
      ('fairscore', (f'{AVERAGE}, {by}', FAIRSCORE)),
      ('quality', (AVERAGE, QUALITY)),
    )
    if at in found
  )
  return section(
    'Fairtuning by task',
    text(f'Averaged over the tasks, {lead}.', 'lead'),
    table(lines, screen=True),
  )


def said(what: str, one: Mapping) -> str:
  """What fairtuning does to an average, in words."""
  if one['value'] is None:
    return f'the {what} is undefined'
  if one['low'] is None:
    return f'the {what} changes by {100 * one["value"]:+.1f} points'
  value, low, high = (f'{100 * one[k]:+.1f}' for k in ('value', 'low', 'high'))
  sure = one['low'] > 0 or one['high'] < 0
  way = 'raises' if one['value'] > 0 else 'lowers'
  return (
    f'fairtuning {way} the {what} by {value.lstrip("+-")} points'
    if sure
    else f'whether fairtuning changes the {what} is undecided: {value} points'
  ) + f' [{low}, {high}]'
