"""FairFlow's page: the dictionary, its map, and what it is worth."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.data.batching.instances import Instances
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.recipes.fairflow import race
from fairjax.results import Results, figure, section, table, text

SHOWN = 50  # pairs on the page
MAPPED = 30  # and on the map
TITLES = {
  'flow': 'flow',
  'difference': 'difference of means',
  'discriminant': 'diagonal LDA',
  'procrustes': 'orthogonal map',
  'masked': 'masked LM in context',
  'no_factor': 'flow without a factor',
  'grown': 'seed pairs grown',
}


class Attribute(NamedTuple):
  """Stage 1: every occurrence looked at, and what the head says of words."""

  every: Instances
  words: pd.DataFrame
  counts: dict[str, int]
  quality: dict[str, dict]
  facts: dict[str, int]
  grown: Sequence[tuple[str, str]] = ()  # seed pairs besides the config's


class Contender(NamedTuple):
  """A way to counterfactual words: the pairs of each seed, and all ballots."""

  pairs: list[pd.DataFrame]
  ballots: pd.DataFrame
  drawn: Sequence[dict] = ()  # of a flow: its pairs on a plane
  history: Sequence[dict] = ()  # and the losses of its training


def measure(
  config: Config,
  m: moves.FlowInputs,
  contenders: dict[str, Contender],
  known: list[tuple[str, str]],
  complete: bool,
  attribute: Attribute,
  facts: dict[str, Any],
  dictionary: pd.DataFrame,
  against: race.Race | None = None,
) -> Results:
  """Contenders against the known pairs, and the dictionary for a reader."""
  rows = []
  for name, one in contenders.items():
    row = {'contender': TITLES[name], 'pairs': len(one.pairs[0])}
    if known:
      row |= moves.judged(one.pairs, known, attribute.counts, config, complete)
      if len(one.ballots):
        words = sorted(set(m.some.word))
        row |= moves.top_right(one.ballots, known, words)
    rows.append(row)
  examples = dictionary.head(SHOWN).to_dict('records')
  if known:
    right = set(known)
    for row in examples:
      row['known'] = 'right' if (row['first'], row['second']) in right else ''
  sides = attribute.words['side'].value_counts()
  lead = (
    f'From {config.fairflow.first} and {config.fairflow.second}: '
    f'{sides.get(-1, 0):,} and {sides.get(1, 0):,} words show a side, and '
    f'{len(dictionary):,} pairs vote for each other.'
  )
  quality = [
    {
      'measure': 'accuracy on held-out texts',
      'value': attribute.quality['accuracy'],
    },
    {
      'measure': 'the same, labels drawn by coin',
      'value': attribute.quality['control'],
    },
  ]
  judged = {
    row['contender']: {'sets': {'known pairs': {'quality': _estimates(row)}}}
    for row in rows
    if known
  }
  for name, one in against.contenders.items() if against else ():
    judged.setdefault(name, {'sets': {}})['sets'] |= one['sets']
  return stages.results(
    config,
    title='A dictionary from one pair of words',
    contenders=judged,
    tests=against.tests if against else [],
    verdicts=race.claims(against) if against else [],
    facts={**attribute.facts, **facts},
    sections=[
      section(
        'The dictionary',
        text(lead, 'lead'),
        table(examples, caption=f'The {len(examples)} pairs of most votes.'),
      ),
      *winner(against),
      *pictures(contenders.get('flow')),
      section('Against simpler ways', table(rows, screen=True)),
      section('The attribute head', table(quality)),
    ],
  )


def winner(against: race.Race | None) -> list[dict]:
  """Who wins, word by word."""
  if against is None:
    return []
  how = (
    'A known word is right where most of its occurrences become its partner. '
    'Settings are chosen on one half of the known pairs and marked on the '
    'other, both ways round. Intervals are over pairs and seeds of the flow.'
  )
  return [
    section(
      'Who wins',
      text(against.words, 'lead'),
      table(race.table(against), screen=True),
      text(how, 'quiet'),
    )
  ]


def pictures(flow: Contender | None) -> list[dict]:
  """Words before and after the move, and the losses of the flow's training."""
  if flow is None:
    return []
  parts = []
  if flow.drawn:
    parts.append(
      figure(
        'word_map',
        'word_map',
        f'The {len(flow.drawn)} pairs of most votes on their two principal '
        'axes: filled where they were found, hollow where the flow moved '
        'them; lines join partners.',
        pairs=list(flow.drawn),
      )
    )
  if len(flow.history):
    parts.append(
      figure(
        'curves',
        'flow_loss',
        'Loss of the flow on held-out words, mean and range over seeds.',
        series=learning_curve(flow.history),
        x_label='step',
        y_label='loss',
      )
    )
  return [section('What the flow does', *parts)] if parts else []


def learning_curve(history: Sequence[dict]) -> dict[str, dict]:
  """Mean and range over seeds of the held-out loss, step by step."""
  at: dict[int, list[float]] = {}
  for row in history:
    if row.get('loss') is not None:
      at.setdefault(row['step'], []).append(row['loss'])
  steps = sorted(at)
  over = lambda reduce: [float(reduce(at[step])) for step in steps]
  return {
    'held out': {
      'x': steps,
      'y': over(np.mean),
      'low': over(min),
      'high': over(max),
    }
  }


def _estimates(row: dict) -> dict:
  return {k: v for k, v in row.items() if isinstance(v, dict)}
