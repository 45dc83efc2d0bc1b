"""Fairtuning: a classifier tuned on perturbed text, and its fairscore.

    tables → perturbed training set → both fits → paired test file → fairscore

Two contenders share everything but the training text: `original` as it is, and
`fairtuned` with every row replaced by its perturbation, where it has one (Qian
et al. 2022, arXiv:2205.12586). The paired file is written once from the test
set and can be used for any other model; a model may also be scored on a file of
the user's. Beside each fairscore stands what a matched neutral rewrite of the
same rows changes. Of tasks of GLUE (fairscore.tasks) each is fairtuned by
itself, and their averages are the paper's Tables 2 and 3.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import changed
from fairjax.core.errors import UserError
from fairjax.data.tables import labels
from fairjax.data.tables.schema import Tables
from fairjax.metrics import grades
from fairjax.metrics.inference import intervals
from fairjax.models import Bundle
from fairjax.recipes.perturbation import glue, paired_file
from fairjax.results import Results, section, table
from fairjax.stages import Experiment
from fairjax.train import loop

ORIGINAL, FAIRTUNED = 'original', 'fairtuned'
SWEEP = (1e-5, 2e-5, 3e-5), (16, 32)  # rates and batches of Qian et al.


class Fits(NamedTuple):
  """A contender: its weights, and what a sweep chose."""

  params: dict
  lr: float
  batch: int


@stages.recipe
def run(e: Experiment) -> Results:
  """config → both fits, measured; or of each of the tasks, and averages."""
  if e.config.fairscore.tasks:
    return over_tasks(e)
  return measured(e)


def over_tasks(e: Experiment) -> Results:
  """Each task fairtuned in a folder of its own, side by side with averages."""
  config = e.config
  if config.fairscore.path:
    raise UserError(
      'fairscore.path is one paired file and each task needs its own; leave '
      'it empty, and each is written from the development set'
    )
  parts = {}
  facts: dict = {}
  for name in config.fairscore.tasks:
    own = glue.of_task(config, name)
    parts[name] = Experiment(own, e.folder / name, e.log)
  for part in parts.values():  # all are read before any is trained on
    part.load()
  for name, part in parts.items():
    e.log.line(f'{name}: {part.config.data.path or part.config.data.name}')
    found = stages.publish(part.folder, measured(part), e.log)
    facts |= {
      f'{name}, {key}': value
      for key, value in found.facts.items()
      if key.startswith(('training rows', 'share perturbed'))
    }
  glue.join(e, parts)
  tests = glue.tests(parts, config.measures.confidence_level)
  return e.results(
    data='GLUE',
    title=f'fairtuning of {config.model} on GLUE',
    focus=FAIRTUNED,
    tests=stages.adjusted(tests),
    facts=facts,
  )


def measured(e: Experiment) -> Results:
  """config → tables → two fits → paired file → fairscores, tests."""
  config, log = e.config, e.log
  tables = e.load()
  perturbed = paired_file.once(e, config, 'train', tables['train'])
  tuned = {**tables, 'train': replaced(tables['train'], perturbed)}
  log.line(paired_file.share_line(perturbed, 'training rows perturbed'))
  model = stages.prepare(config, tables, log)
  fits = {
    name: swept(e, model, own, name)
    for name, own in ((ORIGINAL, tables), (FAIRTUNED, tuned))
  }
  pairs = paired_file.read_pairs(e, next(iter(e.sets.values())))
  stages.export(config, model, fits[FAIRTUNED].params, e.folder, log)
  for name, fit in fits.items():
    e.answer(name, stages.of_sets(config, model, fit.params, e.sets))
  both = [(FAIRTUNED, ORIGINAL)]
  e.compare(both, FAIRTUNED, also=(config.train.metric_for_best,))
  graded(e)
  decided = {
    name: paired_file.decisions(config, model, fit.params, pairs)
    for name, fit in fits.items()
  }
  sections = paired_file.measure(e, pairs, decided)
  e.tests = stages.adjusted(e.tests)
  return e.results(
    title=f'fairtuning of {config.model} on {stages.data_of(config)}',
    facts=facts(e, tables, perturbed, pairs, fits),
    sections=[*shares(perturbed), *sections],
  )


def replaced(rows: pd.DataFrame, perturbed: pd.DataFrame) -> pd.DataFrame:
  """The table with perturbed texts in place of those that have one."""
  result = rows.copy()
  result['text'] = perturbed['perturbed'].to_numpy()
  if 'text_pair' in rows:
    result['text_pair'] = perturbed['perturbed_pair'].to_numpy()
  return result


def swept(e: Experiment, model: Bundle, tables: Tables, name: str) -> Fits:
  """The fit of the rate and batch with the best median over seeds on valid."""
  config, train, best = e.config, e.config.train, None
  sweep = config.fairscore.sweep
  rates, sizes = SWEEP if sweep else ((train.lr,), (train.batch,))
  pools = stages.pools(model, tables)
  for lr, batch in itertools.product(rates, sizes):
    own = changed(config, train={'lr': lr, 'batch': batch})
    part = f'{name} {lr:g} {batch}' if sweep else ''
    fit = e.of(own, name).fit(model, pools, part)
    logits = loop.predict(model, fit.params, pools[1], model.device_mesh, batch)
    result = loop.quality(logits, pools[1], train.metric_for_best)
    chosen = loop.chosen(result, train.metric_for_best)
    value = float(np.median(loop.better(result, chosen)))
    if part:
      median = float(np.median(result[chosen]))
      e.log.line(f'{part}: median validation {chosen} {median:.4f}')
    if best is None or value > best[0]:
      best = (value, Fits(fit.params, lr, batch))
  assert best is not None  # there is one rate and batch at least
  return best[1]


def shares(perturbed: pd.DataFrame) -> list[dict]:
  """What was perturbed of the training rows, by axis (as in Table 8)."""
  counts = perturbed[perturbed['changed']]['axis'].value_counts().to_dict()
  counts['all'] = int(perturbed['changed'].sum())
  lines = [
    {'axis': axis, 'rows': int(n), 'share of rows': n / len(perturbed)}
    for axis, n in counts.items()
  ]
  return [section('Training rows perturbed', table(lines))]


def graded(e: Experiment) -> None:
  """Pearson's r, where classes are rounded scores, and its test."""
  if e.config.data.labels.strip() != labels.ROUND:
    return
  how, who = intervals.options_of(e.config), (FAIRTUNED, ORIGINAL)
  for key, rows in e.sets.items():
    label = rows['label'].to_numpy(np.int64)
    own = how.over(stages.clusters_of(rows)[0])
    each = {name: grades.grades(e.chances[name][key]) for name in who}
    for name, predicted in each.items():
      r = grades.pearson(label, predicted, own)
      e.contenders[name]['sets'][key]['quality']['pearson'] = r
    ours, theirs = each.values()
    one = grades.compare(label, ours, theirs, own)
    e.test(key, *who, 'pearson', one)


def facts(
  e: Experiment,
  tables: Tables,
  perturbed: pd.DataFrame,
  pairs: pd.DataFrame,
  fits: dict[str, Fits],
) -> dict:
  """Counts, what the sweep chose, and the paper's share beside ours."""
  out = {
    'training rows': len(tables['train']),
    'training rows perturbed': int(perturbed['changed'].sum()),
    'perturbed by': e.config.perturb.by,
  }
  task = glue.TASKS.get(e.config.data.name.removeprefix('glue/'))
  if task and task.perturbed:
    out['share perturbed in the paper'] = task.perturbed
  for by, rows in pairs.groupby('perturber', sort=False):
    out[f'test rows perturbed by {by}'] = len(rows)
    out[f'of these, with a control ({by})'] = int((rows['control'] != '').sum())
  for name, fit in fits.items():
    if e.config.fairscore.sweep:
      out[f'{name}: rate and batch'] = f'{fit.lr:g}, {fit.batch}'
  return out
