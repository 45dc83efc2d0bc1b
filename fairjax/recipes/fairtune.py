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
from fairjax.data import paired
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.identity import identity
from fairjax.metrics import fairscore, intervals
from fairjax.models import Bundle
from fairjax.pairs import controls, perturb
from fairjax.recipes import perturbing
from fairjax.recipes.audit_edits import differences
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
  """config → tables → two fits → paired file → fairscores, tests → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    tables = stages.load(config, folder, log)
    sets = stages.test_sets(config, tables)
    tuned = dict(tables)
    made = once(config, folder, 'train', tables['train'], log)
    tuned['train'] = replaced(tables['train'], made)
    log.line(_share_line(made))
    model = stages.prepare(config, tables, log)
    fits = {
      name: swept(config, model, own, folder / name, log)
      for name, own in ((ORIGINAL, tables), (FAIRTUNED, tuned))
    }
    pairs = read_pairs(config, folder, next(iter(sets.values())), log)
    chances = {
      name: {
        key: stages.probabilities(config, model, fit.params, one)
        for key, one in sets.items()
      }
      for name, fit in fits.items()
    }
    contenders = {
      name: {'sets': stages.assess(config, sets, of)}
      for name, of in chances.items()
    }
    decided = {
      name: decisions(config, model, fit.params, pairs)
      for name, fit in fits.items()
    }
    scores, tests = scored(config, pairs, decided)
    for name, own in scores.items():
      contenders[name]['sets'] |= own
    stages.keep_predictions(folder, sets, chances, FAIRTUNED)
    results = stages.results(
      config,
      title=f'fairtuning of {config.model} on {config.data.name}',
      contenders=contenders,
      focus=FAIRTUNED,
      tests=stages.adjusted(
        stages.compare(config, sets, chances, [(FAIRTUNED, ORIGINAL)]) + tests,
        config.measures.adjust,
      ),
      facts=facts(config, tables, made, pairs, fits),
      notes=NOTES,
      sections=shares(made) + by_attribute(config, pairs, decided),
    )
    return stages.publish(folder, results, log)


NOTES = [
  'different is the fairscore: the share of perturbed rows whose prediction '
  'changes. floor is what a neutral rewrite of equal size changes, on the rows '
  'that have one; excess is the fairscore of those rows less their floor.',
]


def once(
  config: Config,
  folder: pathlib.Path,
  name: str,
  rows: pd.DataFrame,
  log: Log,
) -> pd.DataFrame:
  """The perturbations of a table, or what the same run left of them."""
  columns = [c for c in ('text', 'text_pair') if c in rows]
  made_from = identity(config, 'texts', config.seed, rows[columns].astype(str))
  return stages.stage(
    folder / 'perturbed' / f'{name}-{config.perturb.by}.parquet',
    made_from,
    lambda path: stages.write_table(path, of_table(config, rows)),
    pd.read_parquet,
    log,
    config.reuse,
  )


def of_table(config: Config, rows: pd.DataFrame) -> pd.DataFrame:
  """The perturbations of a table's texts, or of its pairs of texts."""
  if 'text_pair' in rows:
    return perturbing.pairs_perturbed(config, rows['text'], rows['text_pair'])
  return perturbing.perturbed(config, rows['text'])


def replaced(rows: pd.DataFrame, made: pd.DataFrame) -> pd.DataFrame:
  """The table with perturbed texts in place of those that have one."""
  result = rows.copy()
  result['text'] = made['perturbed'].to_numpy()
  if 'text_pair' in rows:
    result['text_pair'] = made['perturbed_pair'].to_numpy()
  return result


def _share_line(made: pd.DataFrame) -> str:
  text = (
    f'{made["changed"].mean():.1%} of {len(made):,} training rows perturbed'
  )
  if 'broken' in made:
    text += f', {int(made["broken"].sum())} left as they lost their joint'
  return text


def swept(
  config: Config, model: Bundle, tables: Tables, folder: pathlib.Path, log: Log
) -> Fits:
  """The fit of the rate and batch with the best median over seeds on valid."""
  train, best = config.train, None
  rates = config.fairscore.rates or (train.lr,)
  sizes = config.fairscore.batches or (train.batch,)
  pools = [stages.pool(model, tables[name]) for name in ('train', 'valid')]
  for lr, batch in itertools.product(rates, sizes):
    own = dataclasses.replace(
      config, train=dataclasses.replace(train, lr=lr, batch=batch)
    )
    part = (
      f'{folder.name} {lr:g} {batch}' if len(rates) * len(sizes) > 1 else ''
    )
    fit = stages.train(own, model, *pools, folder, log, part=part)
    logits = loop.predict(model, fit.params, pools[1], model.device_mesh, batch)
    value = float(np.median(loop.quality(logits, pools[1])['accuracy']))
    if part:
      log.line(f'{part}: median validation accuracy {value:.4f}')
    if best is None or value > best[0]:
      best = (value, Fits(fit.params, lr, batch))
  return best[1]


def read_pairs(
  config: Config, folder: pathlib.Path, rows: pd.DataFrame, log: Log
) -> pd.DataFrame:
  """The user's paired file, or one made of the test set by each perturber."""
  if config.fairscore.path:
    pairs = paired.read(config.fairscore.path)
    pairs['text_pair'] = pairs['text_pair'].astype(str)
    missing = pairs['control'] == ''
    if missing.all():
      pairs = controlled(pairs, config.seed)
    return pairs
  parts = []
  for by in config.fairscore.by:
    asked = dataclasses.replace(
      config, perturb=dataclasses.replace(config.perturb, by=by)
    )
    made = once(asked, folder, 'test', rows, log)
    parts.append(_pairs(rows, made, by))
  pairs = controlled(pd.concat(parts, ignore_index=True), config.seed)
  if not len(pairs):
    raise UserError(
      'no test row holds a word that can be perturbed, so there is no '
      'fairscore; name other axes with --config.perturb.axes'
    )
  pairs = paired.check(pairs, 'the paired file')
  stages.write_table(folder / 'paired.parquet', pairs)
  log.line(f'paired file: {folder / "paired.parquet"} ({len(pairs):,} rows)')
  return pairs


def _pairs(rows: pd.DataFrame, made: pd.DataFrame, by: str) -> pd.DataFrame:
  """The changed rows as data/paired.py has them."""
  keep = made['changed'].to_numpy(bool)
  result = pd.DataFrame(
    {
      'id': rows['id'].to_numpy()[keep],
      'perturber': by,
      'label': rows['label'].to_numpy()[keep],
    }
  )
  for name in (
    *('text', 'perturbed', 'text_pair', 'perturbed_pair'),
    *('word', 'attribute', 'axis'),
  ):
    result[name] = made[name].to_numpy()[keep] if name in made else ''
  return result


def controlled(pairs: pd.DataFrame, seed: int) -> pd.DataFrame:
  """The pairs with a neutral rewrite of as many words, where there is one."""
  two = pairs['text_pair'] != ''
  join = lambda a, b: [
    perturb.join(x, y) if both else x for x, y, both in zip(a, b, two)
  ]
  texts = join(pairs['text'], pairs['text_pair'])
  twins = join(pairs['perturbed'], pairs['perturbed_pair'])
  spans = [differences(a, b) for a, b in zip(texts, twins)]
  written = controls.controls(texts, spans, seed).texts
  halves = [
    ('', '')
    if text is None
    else ((perturb.split(text) or ('', '')) if both else (text, ''))
    for text, both in zip(written, two)
  ]
  return pairs.assign(
    control=[a for a, _ in halves], control_pair=[b for _, b in halves]
  )


def decisions(
  config: Config, model: Bundle, params, pairs: pd.DataFrame
) -> dict[str, np.ndarray]:
  """Predicted classes [s, n] of the texts, their twins and their controls."""
  out = {}
  for name in ('text', 'perturbed', 'control'):
    second = {
      'text': 'text_pair',
      'perturbed': 'perturbed_pair',
      'control': 'control_pair',
    }[name]
    blank = pairs[name] == ''
    rows = pd.DataFrame(
      {
        'id': pairs['id'],
        'text': pairs[name].where(~blank, pairs['text']),
        'label': np.int32(0),
      }
    )
    if (pairs['text_pair'] != '').any():
      rows['text_pair'] = pairs[second].where(~blank, pairs['text_pair'])
    out[name] = stages.probabilities(config, model, params, rows).argmax(-1)
  return out


def scored(
  config: Config, pairs: pd.DataFrame, decided: dict[str, dict]
) -> tuple[dict[str, dict], list[dict]]:
  """{contender: {set: fairscore, floor, excess}}, and tests between the two."""
  how = intervals.options_of(config)
  sets: dict[str, dict] = {name: {} for name in decided}
  tests: list[dict] = []
  for by in pairs['perturber'].unique():
    rows = (pairs['perturber'] == by).to_numpy()
    flips = {}
    for name, made in decided.items():
      quality, flips[name] = _score(pairs, made, rows, how)
      sets[name][f'perturbed by {by}'] = {
        'rows': int(rows.sum()),
        'quality': quality,
      }
    if len(decided) == 2:
      tests.append(_test(by, flips, how))
  return sets, tests


def _score(
  pairs: pd.DataFrame,
  made: dict[str, np.ndarray],
  rows: np.ndarray,
  how: intervals.IntervalOptions,
) -> tuple[dict, np.ndarray]:
  """Measures of one model on some rows, and which of them it flips."""
  labels = pairs['label'].to_numpy(np.int32)[rows]
  one, two = made['text'][:, rows], made['perturbed'][:, rows]
  quality = fairscore.fairscore(labels, one, two, how)
  have = (pairs['control'] != '').to_numpy()[rows]
  control = made['control'][:, rows]
  floor, flips = (one != control)[:, have], (one != two)
  quality['floor'] = fairscore.share(floor, how)
  quality['excess'] = fairscore.excess(flips[:, have], floor, how)
  return quality, flips


def _test(by: str, flips: dict, how: intervals.IntervalOptions) -> dict:
  one = fairscore.compare(flips[FAIRTUNED], flips[ORIGINAL], how)
  return {
    'set': f'perturbed by {by}',
    'ours': FAIRTUNED,
    'theirs': ORIGINAL,
    'measure': 'different',
    'difference': one['difference'],
    'p': one['p'],
    'p_at_floor': False,
    'test': 'McNemar, exact (of the median seed)',
    'n': one['n'],
  }


def by_attribute(
  config: Config, pairs: pd.DataFrame, decided: dict[str, dict]
) -> list[dict]:
  """Fairscores by axis and attribute, of each perturber and contender."""
  how, lines = intervals.options_of(config), []
  for by in pairs['perturber'].unique():
    own = (pairs['perturber'] == by).to_numpy()
    for column in ('axis', 'attribute'):
      for value in sorted(set(pairs.loc[own, column]) - {''}):
        rows = own & (pairs[column] == value).to_numpy()
        line = {'perturber': by, column: value, 'rows': int(rows.sum())}
        for name, made in decided.items():
          quality, _ = _score(pairs, made, rows, how)
          line[f'{name} fairscore'] = quality['different']
          line[f'{name} excess'] = quality['excess']
        lines.append(line)
  if not lines:
    return []
  columns = {key: key for line in lines for key in line}
  return [section('Fairscore by axis and attribute', table(lines, columns))]


def shares(made: pd.DataFrame) -> list[dict]:
  """What was perturbed of the training rows, by axis (as in Table 8)."""
  changed = made[made['changed']]
  lines = [
    {'axis': axis, 'rows': int(n), 'share of rows': n / len(made)}
    for axis, n in changed['axis'].value_counts().items()
  ]
  lines.append(
    {
      'axis': 'all',
      'rows': len(changed),
      'share of rows': len(changed) / len(made),
    }
  )
  return [section('Training rows perturbed', table(lines))]


def facts(
  config: Config,
  tables: Tables,
  made: pd.DataFrame,
  pairs: pd.DataFrame,
  fits: dict[str, Fits],
) -> dict:
  """Counts, what the sweep chose, and the paper's share beside ours."""
  out = {
    'training rows': len(tables['train']),
    'training rows perturbed': int(made['changed'].sum()),
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
