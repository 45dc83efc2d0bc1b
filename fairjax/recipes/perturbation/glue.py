"""GLUE's tasks, and averages over them: Tables 2 and 3 of Qian et al. (2022).

CoLA's quality is Matthews' correlation, STS-B's Pearson's r, that of the others
accuracy; STS-B is in no average of fairscores, as in Table 3.
"""

import pathlib
from collections.abc import Mapping
from typing import NamedTuple

from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.core.registry import table
from fairjax.data.tables.labels import ROUND
from fairjax.metrics.inference import estimates
from fairjax.stages import Experiment

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
  # Share of the training rows that PANDA's perturber changed (Table 8).
  perturbed: float | None = None


TASKS: dict[str, GlueTask] = table(__file__, 'glue', GlueTask)


def of_task(config: Config, name: str) -> Config:
  """The config of a task: its files, or GLUE's by tensorflow-datasets."""
  task, data = TASKS[name], config.data
  if data.path:
    place = pathlib.Path(data.path).expanduser() / task.folder
    own = {'name': 'file', 'path': _file(place, 'train')}
    own['test_path'] = _file(place, 'dev')
    for name in ('text', 'text_pair', 'label', 'labels'):
      own[name] = getattr(task, name)
  else:
    rule = task.labels if task.labels == ROUND else data.labels
    own = {'name': f'glue/{name}', 'labels': rule}
  return changed(config, data=own, train={'metric_for_best': task.metric})


def _file(place: pathlib.Path, name: str) -> str:
  for kind in KINDS:
    if (place / f'{name}{kind}').is_file():
      return str(place / f'{name}{kind}')
  raise UserError(
    f'{place} has no {name}.tsv, .csv, .parquet or .jsonl; put it there with '
    "GLUE's columns, name other tasks with --config.fairscore.tasks, or leave "
    'data.path empty to download GLUE'
  )


def join(e: Experiment, parts: Mapping[str, Experiment]) -> None:
  """The averages of the tasks, and each task's numbers as a set of its own."""
  for name in next(iter(parts.values())).contenders:
    quality: list[dict] = []
    shares: dict[str, list[dict]] = {}
    sets: dict[str, dict] = {}
    for key, part in parts.items():
      task, own = TASKS[key], part.contenders[name]['sets']
      tested = next(iter(own.values()))
      quality.append(tested['quality'][task.metric])
      one = {task.metric: quality[-1]}
      sets[key] = {'rows': tested['rows'], 'quality': one}
      for by, scores in own.items():
        if FAIRSCORE in scores.get('quality', {}):
          sets[f'{key}, {by}'] = scores
          if task.averaged:
            shares.setdefault(by, []).append(scores['quality'][FAIRSCORE])
    for by, of in shares.items():
      mean = {FAIRSCORE: estimates.mean(of)}
      e.add(name, f'{AVERAGE}, {by}', {'quality': mean})
    e.add(name, AVERAGE, {'quality': {QUALITY: estimates.mean(quality)}})
    for where, one in sets.items():
      e.add(name, where, one)


def tests(parts: Mapping[str, Experiment], level: float) -> list[dict]:
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
  for (named, measure), own in whole.items():
    one = estimates.mean([test['difference'] for test in own])
    sides = {k: own[0][k] for k in ('ours', 'theirs')}
    out.append(
      {'set': named, **sides, 'measure': measure, 'difference': one}
      | {'p': estimates.p_of(one, level), 'p_at_floor': False}
      | {'test': "mean of the tasks' differences, independent"}
    )
  return out
