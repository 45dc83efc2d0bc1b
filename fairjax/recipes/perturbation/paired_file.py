"""Fairscores of models on one paired file: written, read, predicted, tested.

The paired file holds test rows and their perturbations by each perturber, with
a neutral rewrite of as many words where there is one (tables/paired.py). It is
written once; every model is scored on the same rows.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.data.tables import paired
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore
from fairjax.models import Bundle
from fairjax.pairs.persons import perturb
from fairjax.pairs.swapping import controls
from fairjax.recipes.audit.edits import differences
from fairjax.recipes.perturbation import perturbing
from fairjax.results import fold, section, table
from fairjax.stages import Experiment
from fairjax.stages.identity import identity


def once(
  e: Experiment, config: Config, name: str, rows: pd.DataFrame
) -> pd.DataFrame:
  """The perturbations of a table, or what the same run left of them."""
  columns = [c for c in ('text', 'text_pair') if c in rows]
  made_from = identity(config, 'texts', config.seed, rows[columns].astype(str))
  made = lambda: of_table(config, rows)
  return e.stage(
    f'perturbed/{name}-{config.perturb.by}.parquet', made_from, made
  )


def of_table(config: Config, rows: pd.DataFrame) -> pd.DataFrame:
  """The perturbations of a table's texts, or of its pairs of texts."""
  if 'text_pair' in rows:
    return perturbing.pairs_perturbed(config, rows['text'], rows['text_pair'])
  return perturbing.perturbed(config, rows['text'])


def read_pairs(e: Experiment, rows: pd.DataFrame | None) -> pd.DataFrame:
  """The user's paired file, or one made of the test set by each perturber."""
  config = e.config
  if config.fairscore.path:
    pairs = paired.read(config.fairscore.path)
    pairs['text_pair'] = pairs['text_pair'].astype(str)
    if (pairs['control'] == '').all():
      pairs = controlled(pairs, config.seed)
    return pairs
  parts = []
  for by in config.fairscore.by:
    own = changed(config, perturb={'by': by})
    perturbed = once(e, own, 'test', rows)
    e.log.line(share_line(perturbed, f'test rows perturbed by {by}'))
    parts.append(_pairs(rows, perturbed, by))
  pairs = controlled(pd.concat(parts, ignore_index=True), config.seed)
  if not len(pairs):
    raise UserError(
      'no test row holds a word that can be perturbed, so there is no '
      'fairscore; name other axes with --config.perturb.axes'
    )
  pairs = paired.check(pairs, 'the paired file')
  path = e.folder / 'paired.parquet'
  stages.write_table(path, pairs)
  e.log.line(f'paired file: {path} ({len(pairs):,} rows)')
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
  own = {name: rows[name].to_numpy()[keep] for name in ('id', 'label')}
  names = ('text', 'perturbed', 'text_pair', 'perturbed_pair')
  for name in (*names, 'word', 'attribute', 'axis'):
    own[name] = perturbed[name].to_numpy()[keep] if name in perturbed else ''
  return pd.DataFrame({'perturber': by, **own})


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
  """Predicted classes [s, n] of the texts, their twins and their controls.

  `flips` and `floor` say where the twin and the control change the prediction.
  """
  out, chances = {}, {}
  for name, second in (
    *(('text', 'text_pair'), ('perturbed', 'perturbed_pair')),
    ('control', 'control_pair'),
  ):
    blank = pairs[name] == ''
    text = pairs[name].where(~blank, pairs['text'])  # no control: no change
    rows = pd.DataFrame({'id': pairs['id'], 'text': text, 'label': np.int32(0)})
    if (pairs['text_pair'] != '').any():
      rows['text_pair'] = pairs[second].where(~blank, pairs['text_pair'])
    chances[name] = stages.probabilities(config, model, params, rows)
    out[name] = chances[name].argmax(-1)
  tolerance = config.fairscore.tolerance
  for name, other in (('flips', 'perturbed'), ('floor', 'control')):
    out[name] = fairscore.changed(chances['text'], chances[other], tolerance)
  return out


class Some(NamedTuple):
  """Some rows of a paired file, and what is needed to measure them."""

  pairs: pd.DataFrame
  decided: dict[str, dict[str, np.ndarray]]  # {contender: its decisions}
  how: intervals.RowSample

  def where(self, rows: np.ndarray) -> 'Some':
    own = {
      name: {k: v[:, rows] for k, v in of.items()}
      for name, of in self.decided.items()
    }
    return self._replace(pairs=self.pairs[rows], decided=own)

  @property
  def sample(self) -> intervals.RowSample:
    return self.how.over(stages.clusters_of(self.pairs)[0])

  def share(
    self, right: np.ndarray, less: np.ndarray | None = None, rows=slice(None)
  ):
    """The share of rows, or less another, over texts and seeds."""
    how = self.sample.of(rows)  # perturbations of one text are dependent
    if less is None:
      return fairscore.share(right[:, rows], how)
    return fairscore.excess(right[:, rows], less[:, rows], how)


def measure(
  e: Experiment, pairs: pd.DataFrame, decided: dict[str, dict]
) -> list[dict]:
  """Fairscores, floors and excesses by perturber, and tests between the two.

  Returns the tables of the page: labels after perturbation, and fairscores by
  axis and attribute.
  """
  every = Some(pairs, decided, intervals.options_of(e.config))
  kept, by_part = [], []
  for by in pairs['perturber'].unique():
    some = every.where((pairs['perturber'] == by).to_numpy())
    where = f'perturbed by {by}'
    for name in decided:
      quality = _score(some, name)
      e.add(name, where, {'rows': len(some.pairs), 'quality': quality})
      kept.append(preserved(some, by, name))
    if len(decided) == 2:  # the last contender's flips against the first's
      theirs, ours = decided
      a, b = (some.decided[name]['flips'] for name in (ours, theirs))
      one = fairscore.compare(a, b, some.sample)
      e.test(where, ours, theirs, 'different', one)
    by_part += _by_part(some, by)
  out = [section('Labels after perturbation', table(kept, screen=True))]
  if by_part:
    columns = {key: key for line in by_part for key in line}
    least = e.config.measures.min_group
    few = [line for line in by_part if line['rows'] < least]
    shown = [line for line in by_part if line not in few]
    parts = [table(shown, columns)] if shown else []
    if few:
      title = f'Of fewer than {least} rows each, which say little'
      parts.append(fold(title, table(few, columns)))
    out.append(section('Fairscore by axis and attribute', *parts))
  return out


def _score(some: Some, name: str) -> dict:
  """Measures of one contender on some rows."""
  own = some.decided[name]
  labels = some.pairs['label'].to_numpy(np.int32)
  both = own['text'], own['perturbed']
  have = (some.pairs['control'] != '').to_numpy()
  return fairscore.fairscore(labels, *both, some.sample) | {
    'different': some.share(own['flips']),
    'floor': some.share(own['floor'], rows=have),
    'excess': some.share(own['flips'], own['floor'], have),
  }


def preserved(some: Some, by: str, name: str) -> dict:
  """Whether perturbed texts keep their label: accuracy before and after.

  A perturber that spoils labels lowers the accuracy of every model on what it
  wrote, that of one trained on perturbed text too; one that keeps them lowers
  only that of a model which reads the attribute.
  """
  labels = some.pairs['label'].to_numpy(np.int32)
  made = some.decided[name]
  before, after = (made[k] == labels for k in ('text', 'perturbed'))
  return {
    'perturber': by,
    'model': name,
    'rows': len(labels),
    'accuracy, original text': some.share(before),
    'accuracy, perturbed text': some.share(after),
    'difference': some.share(after, before),
  }


def _by_part(some: Some, by: str) -> list[dict]:
  """Fairscores by axis and attribute, of each contender."""
  lines = []
  for column in ('axis', 'attribute'):
    for value in sorted({*some.pairs[column]} - {''}):
      part = some.where((some.pairs[column] == value).to_numpy())
      line = {'perturber': by, 'axis': '', 'attribute': '', column: value}
      line['rows'] = len(part.pairs)
      for name, own in part.decided.items():
        have = (part.pairs['control'] != '').to_numpy()
        line[f'{name} fairscore'] = part.share(own['flips'])
        line[f'{name} excess'] = part.share(own['flips'], own['floor'], have)
      lines.append(line)
  return lines
