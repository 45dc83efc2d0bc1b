"""Fairtuning: a classifier tuned on perturbed text, and its fairscore.

    tables → perturbed training set → both fits → paired test file → fairscore

Two contenders share everything but the training text: `original` as it is, and
`fairtuned` with every row replaced by its perturbation, where it has one (Qian
et al. 2022, arXiv:2205.12586). The paired file is written once from the test
set and can be used for any other model; a model may also be scored on a file of
the user's. Beside each fairscore stands what a matched neutral rewrite of the
same rows changes.
"""

import dataclasses
import itertools
import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.data.tables import labels
from fairjax.data.tables.schema import Tables
from fairjax.metrics import grades
from fairjax.metrics.inference import intervals
from fairjax.models import Bundle
from fairjax.recipes.perturbation import paired_file
from fairjax.results import Results, section, table
from fairjax.train import loop, mesh
from fairjax.train.progress import Log

ORIGINAL, FAIRTUNED = 'original', 'fairtuned'
# Shares of GLUE's training rows that PANDA's perturber changed (Table 8).
PAPER = {
  'cola': 0.456,
  'sst2': 0.225,
  'stsb': 0.369,
  'qqp': 0.205,
  'rte': 0.470,
  'qnli': 0.312,
}


class Fits(NamedTuple):
  """A contender: its weights, and what a sweep chose."""

  params: dict
  lr: float
  batch: int


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → both fits, measured → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    return stages.publish(folder, measured(config, folder, log), log)


def measured(config: Config, folder: pathlib.Path, log: Log) -> Results:
  """config → tables → two fits → paired file → fairscores, tests."""
  tables = stages.load(config, folder, log)
  sets = stages.test_sets(config, tables)
  tuned = dict(tables)
  perturbed = paired_file.once(config, folder, 'train', tables['train'], log)
  tuned['train'] = replaced(tables['train'], perturbed)
  log.line(paired_file.share_line(perturbed, 'training rows perturbed'))
  model = stages.prepare(config, tables, log)
  fits = {
    name: swept(config, model, own, folder / name, log)
    for name, own in ((ORIGINAL, tables), (FAIRTUNED, tuned))
  }
  pairs = paired_file.read_pairs(config, folder, next(iter(sets.values())), log)
  stages.export(config, model, fits[FAIRTUNED].params, folder, log)
  chances = {
    name: stages.of_sets(config, model, fit.params, sets)
    for name, fit in fits.items()
  }
  contenders = {
    name: {'sets': stages.assess(config, sets, of)}
    for name, of in chances.items()
  }
  of_grades = graded(config, sets, chances, contenders)
  decided = {
    name: paired_file.decisions(config, model, fit.params, pairs)
    for name, fit in fits.items()
  }
  scores, tests = paired_file.scored(config, pairs, decided)
  for name, own in scores.items():
    contenders[name]['sets'] |= own
  stages.keep_predictions(folder, sets, chances, FAIRTUNED)
  chosen = (config.train.metric_for_best,)
  return stages.results(
    config,
    title=f'fairtuning of {config.model} on {config.data.name}',
    contenders=contenders,
    focus=FAIRTUNED,
    tests=stages.adjusted(
      stages.compare(
        config, sets, chances, [(FAIRTUNED, ORIGINAL)], also=chosen
      )
      + of_grades
      + tests,
      config.measures.adjust,
    ),
    facts=facts(config, tables, perturbed, pairs, fits),
    notes=paired_file.NOTES,
    sections=[
      *shares(perturbed),
      *paired_file.preservation(config, pairs, decided),
      *paired_file.by_attribute(config, pairs, decided),
    ],
  )


def replaced(rows: pd.DataFrame, perturbed: pd.DataFrame) -> pd.DataFrame:
  """The table with perturbed texts in place of those that have one."""
  result = rows.copy()
  result['text'] = perturbed['perturbed'].to_numpy()
  if 'text_pair' in rows:
    result['text_pair'] = perturbed['perturbed_pair'].to_numpy()
  return result


def swept(
  config: Config, model: Bundle, tables: Tables, folder: pathlib.Path, log: Log
) -> Fits:
  """The fit of the rate and batch with the best median over seeds on valid."""
  train, best = config.train, None
  rates = config.fairscore.rates or (train.lr,)
  sizes = config.fairscore.batches or (train.batch,)
  pools = stages.pools(model, tables)
  for lr, batch in itertools.product(rates, sizes):
    own = dataclasses.replace(
      config, train=dataclasses.replace(train, lr=lr, batch=batch)
    )
    part = (
      f'{folder.name} {lr:g} {batch}' if len(rates) * len(sizes) > 1 else ''
    )
    fit = stages.train(own, model, *pools, folder, log, part=part)
    logits = loop.predict(model, fit.params, pools[1], model.device_mesh, batch)
    result = loop.quality(logits, pools[1], train.metric_for_best)
    name = loop.chosen(result, train.metric_for_best)
    value = float(np.median(loop.better(result, name)))
    if part:
      median = float(np.median(result[name]))
      log.line(f'{part}: median validation {name} {median:.4f}')
    if best is None or value > best[0]:
      best = (value, Fits(fit.params, lr, batch))
  return best[1]


def shares(perturbed: pd.DataFrame) -> list[dict]:
  """What was perturbed of the training rows, by axis (as in Table 8)."""
  changed = perturbed[perturbed['changed']]
  lines = [
    {'axis': axis, 'rows': int(n), 'share of rows': n / len(perturbed)}
    for axis, n in changed['axis'].value_counts().items()
  ]
  lines.append(
    {
      'axis': 'all',
      'rows': len(changed),
      'share of rows': len(changed) / len(perturbed),
    }
  )
  return [section('Training rows perturbed', table(lines))]


def graded(
  config: Config, sets: Tables, chances: dict[str, dict], contenders: dict
) -> list[dict]:
  """Pearson's r, where classes are rounded scores: added, and its tests."""
  if config.data.labels.strip() != labels.ROUND:
    return []
  how, tests = intervals.options_of(config), []
  for key, rows in sets.items():
    label, hang = rows['label'].to_numpy(np.int64), stages.clusters_of(rows)[0]
    each = {name: grades.grades(of[key]) for name, of in chances.items()}
    for name, predicted in each.items():
      r = grades.pearson(label, predicted, how, hang)
      contenders[name]['sets'][key]['quality']['pearson'] = r
    one = grades.compare(label, each[FAIRTUNED], each[ORIGINAL], how, hang)
    who = {'ours': FAIRTUNED, 'theirs': ORIGINAL}
    tests.append({'set': key, **who, 'measure': 'pearson', **one})
  return tests


def facts(
  config: Config,
  tables: Tables,
  perturbed: pd.DataFrame,
  pairs: pd.DataFrame,
  fits: dict[str, Fits],
) -> dict:
  """Counts, what the sweep chose, and the paper's share beside ours."""
  out = {
    'training rows': len(tables['train']),
    'training rows perturbed': int(perturbed['changed'].sum()),
    'perturbed by': config.perturb.by,
  }
  task = config.data.name.removeprefix('glue/')
  if task in PAPER:
    out['share perturbed in the paper'] = PAPER[task]
  for by, rows in pairs.groupby('perturber', sort=False):
    out[f'test rows perturbed by {by}'] = len(rows)
    out[f'of these, with a control ({by})'] = int((rows['control'] != '').sum())
  for name, fit in fits.items():
    if config.fairscore.rates or config.fairscore.batches:
      out[f'{name}: rate and batch'] = f'{fit.lr:g}, {fit.batch}'
  return out
