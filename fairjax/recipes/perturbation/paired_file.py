"""Fairscores of models on one paired file: written, read, predicted, tested.

The paired file holds test rows and their perturbations by each perturber, with
a neutral rewrite of as many words where there is one (tables/paired.py). It is
written once; every model is scored on the same rows.
"""

import dataclasses
import pathlib

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.tables import paired
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore
from fairjax.models import Bundle
from fairjax.pairs.persons import perturb
from fairjax.pairs.swapping import controls
from fairjax.recipes.audit.edits import differences
from fairjax.recipes.perturbation import perturbing
from fairjax.results import section, table
from fairjax.stages.identity import identity
from fairjax.train.progress import Log

NOTES = [
  'The fairscore is the share of perturbed rows whose prediction changes. A '
  'neutral rewrite of equal size changes some too, of the rows that have one: '
  'above that is the fairscore of those rows less what it changes.',
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


def read_pairs(
  config: Config, folder: pathlib.Path, rows: pd.DataFrame | None, log: Log
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
    own = dataclasses.replace(
      config, perturb=dataclasses.replace(config.perturb, by=by)
    )
    perturbed = once(own, folder, 'test', rows, log)
    log.line(share_line(perturbed, f'test rows perturbed by {by}'))
    parts.append(_pairs(rows, perturbed, by))
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


def share_line(perturbed: pd.DataFrame, what: str) -> str:
  """How many rows were perturbed, and what kept the perturber from others."""
  share = perturbed['changed'].mean()
  text = f'{share:.1%} of {len(perturbed):,} {what}'
  if perturbed['too_long'].any():
    text += f', {int(perturbed["too_long"].sum())} too long for the perturber'
  if 'broken' in perturbed:
    text += f', {int(perturbed["broken"].sum())} left as they lost their joint'
  return text


def _pairs(
  rows: pd.DataFrame, perturbed: pd.DataFrame, by: str
) -> pd.DataFrame:
  """The changed rows as tables/paired.py has them."""
  keep = perturbed['changed'].to_numpy(bool)
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
    result[name] = perturbed[name].to_numpy()[keep] if name in perturbed else ''
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
  config: Config,
  model: Bundle,
  params,
  pairs: pd.DataFrame,
) -> dict[str, np.ndarray]:
  """Predicted classes [s, n] of the texts, their twins and their controls.

  `flips` and `floor` say where the twin and the control change the prediction.
  """
  out, chances = {}, {}
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
    chances[name] = stages.probabilities(config, model, params, rows)
    out[name] = chances[name].argmax(-1)
  tolerance = config.fairscore.tolerance
  for name, other in (('flips', 'perturbed'), ('floor', 'control')):
    out[name] = fairscore.changed(chances['text'], chances[other], tolerance)
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
    for name, decisions in decided.items():
      quality, flips[name] = _score(pairs, decisions, rows, how)
      sets[name][f'perturbed by {by}'] = {
        'rows': int(rows.sum()),
        'quality': quality,
      }
    if len(decided) == 2:
      tests.append(_test(by, flips, how, _clusters(pairs, rows)))
  return sets, tests


def _score(
  pairs: pd.DataFrame,
  decisions: dict[str, np.ndarray],
  rows: np.ndarray,
  how: intervals.IntervalOptions,
) -> tuple[dict, np.ndarray]:
  """Measures of one model on some rows, and which of them it flips."""
  labels = pairs['label'].to_numpy(np.int32)[rows]
  one, two = decisions['text'][:, rows], decisions['perturbed'][:, rows]
  of = _clusters(pairs, rows)
  quality = fairscore.fairscore(labels, one, two, how, of)
  have = (pairs['control'] != '').to_numpy()[rows]
  flips, floor = (
    decisions['flips'][:, rows],
    decisions['floor'][:, rows][:, have],
  )
  quality['different'] = fairscore.share(flips, how, of)
  of = None if of is None else of[have]
  quality['floor'] = fairscore.share(floor, how, of)
  quality['excess'] = fairscore.excess(flips[:, have], floor, how, of)
  return quality, flips


def _clusters(pairs: pd.DataFrame, rows: np.ndarray) -> np.ndarray | None:
  """Perturbations of one text hang together, as equal texts do elsewhere."""
  return stages.clusters_of(pairs[rows])[0]


def _test(by: str, flips: dict, how: intervals.IntervalOptions, of) -> dict:
  """The last contender's flips against the first one's."""
  (theirs, floor), (ours, own) = flips.items()
  one = fairscore.compare(own, floor, how, of)
  return {
    'set': f'perturbed by {by}',
    'ours': ours,
    'theirs': theirs,
    'measure': 'different',
    **{k: v for k, v in one.items() if not k.startswith('only_')},
  }


def preservation(
  config: Config, pairs: pd.DataFrame, decided: dict[str, dict]
) -> list[dict]:
  """Whether perturbed texts keep their label: accuracy before and after.

  A perturber that spoils labels lowers the accuracy of every model on what it
  wrote, that of one trained on perturbed text too; one that keeps them lowers
  only that of a model which reads the attribute.
  """
  how, lines = intervals.options_of(config), []
  for by in pairs['perturber'].unique():
    rows = (pairs['perturber'] == by).to_numpy()
    labels = pairs['label'].to_numpy(np.int32)[rows]
    of = _clusters(pairs, rows)
    for name, made in decided.items():
      before, after = (
        made[k][:, rows] == labels for k in ('text', 'perturbed')
      )
      lines.append(
        {
          'perturber': by,
          'trained on': name,
          'rows': int(rows.sum()),
          'accuracy, original text': fairscore.share(before, how, of),
          'accuracy, perturbed text': fairscore.share(after, how, of),
          'difference': fairscore.excess(after, before, how, of),
        }
      )
  return [section('Labels after perturbation', table(lines, screen=True))]


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
        for name, decisions in decided.items():
          quality, _ = _score(pairs, decisions, rows, how)
          line[f'{name} fairscore'] = quality['different']
          line[f'{name} excess'] = quality['excess']
        lines.append(line)
  if not lines:
    return []
  columns = {key: key for line in lines for key in line}
  return [section('Fairscore by axis and attribute', table(lines, columns))]
