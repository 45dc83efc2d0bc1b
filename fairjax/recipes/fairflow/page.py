"""FairFlow's page: the dictionary, its map, and who wins on known pairs."""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.data.batching.instances import Instances
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore
from fairjax.pairs import flow_words
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.report import verdict
from fairjax.report.tables import plural
from fairjax.report.words import ranking
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
HALVES = 26  # stream of the halves of the known pairs
SET = 'known words'
MOVES = ('mean', 1.0), ('shift', 1.0), ('shift', 1.5)
ALPHAS = 1.0, 1.5, 2.0


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


class Way(NamedTuple):
  """Settings, and what moves the embeddings by one of them, a seed a row."""

  settings: Sequence
  moved: Callable[..., list[np.ndarray]]


class Race(NamedTuple):
  """Who is right of which word, and what is said of it."""

  contenders: dict[str, dict]  # results' sets of each way
  tests: list[dict]
  rows: list[dict]  # of the page
  words: str  # which scores highest, and what is decided


def measure(
  m: moves.FlowInputs,
  contenders: dict[str, Contender],
  known: list[tuple[str, str]],
  complete: bool,
  attribute: Attribute,
  facts: dict[str, Any],
  dictionary: pd.DataFrame,
  against: Race | None = None,
) -> Results:
  """Contenders against the known pairs, and the dictionary for a reader.

  The way whose dictionary is written stands first.
  """
  way = m.config.fairflow.way
  contenders = {way: contenders[way]} | contenders
  rows = [
    {'contender': TITLES[name], 'pairs': len(one.pairs[0])}
    | (marks(one, m, known, complete, attribute) if known else {})
    for name, one in contenders.items()
  ]
  examples = dictionary.head(SHOWN).to_dict('records')
  if known:
    right = set(known)
    for row in examples:
      row['known'] = 'right' if (row['first'], row['second']) in right else ''
  left = (
    [text(one, 'quiet')] if (one := looked_at(known, attribute.counts)) else []
  )
  sides = attribute.words['side'].value_counts()
  lead = (
    f'From {m.config.fairflow.first} and {m.config.fairflow.second}: '
    f'{sides.get(-1, 0):,} and {sides.get(1, 0):,} words show a side, and '
    f'{partners(dictionary)}.'
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
  found = {
    row['contender']: {'sets': {'known pairs': {'quality': _estimates(row)}}}
    for row in rows
    if known
  }
  for name, one in against.contenders.items() if against else ():
    found.setdefault(name, {'sets': {}})['sets'] |= one['sets']
  return stages.results(
    m.config,
    data=corpus_name(m.config, complete),
    title='A dictionary from one pair of words',
    contenders=found,
    tests=against.tests if against else [],
    verdicts=claims(against) if against else [],
    facts={**attribute.facts, **facts},
    sections=[
      *winner(against),
      section(
        'The dictionary',
        text(lead, 'lead'),
        table(examples, caption=f'{first_of(dictionary, len(examples))}.'),
      ),
      *pictures(contenders.get('flow')),
      section('Against simpler ways', *left, table(rows, screen=True)),
      section('The attribute head', table(quality)),
    ],
  )


def corpus_name(config: Config, made: bool) -> str:
  """What the words are from: the corpus's folder, or the data that is made."""
  return config.data.name if made else pathlib.Path(config.corpus.path).name


def marks(
  one: Contender,
  m: moves.FlowInputs,
  known: list[tuple[str, str]],
  complete: bool,
  attribute: Attribute,
) -> dict[str, Any]:
  """A contender's pairs and votes held against the known pairs."""
  out = moves.against_known(
    one.pairs, known, attribute.counts, m.config, complete
  )
  if len(one.ballots):
    words = sorted(set(m.some.word))
    out |= moves.top_right(one.ballots, known, words)
  return out


def partners(dictionary: pd.DataFrame) -> str:
  """How many pairs a dictionary has, and how many of them are one-way."""
  turns = dictionary.get('from', pd.Series('', index=dictionary.index))
  both, one_way = int((turns == '').sum()), int((turns != '').sum())
  said = f'{plural(both, "pair")} {"votes" if both == 1 else "vote"} for each '
  said += 'other'
  if one_way:
    said += f' and {one_way:,} {"holds" if one_way == 1 else "hold"} in one '
    said += 'direction'
  return said


def first_of(pairs: pd.DataFrame, count: int) -> str:
  """What the first pairs are first by: votes, or the alphabet (`directed`)."""
  if 'votes' in pairs:
    return f'The {plural(count, "pair")} of most votes'
  return (
    f'The first {plural(count, "pair") if count > 1 else "pair"} by alphabet'
  )


def looked_at(
  known: Sequence[tuple[str, str]], counts: Mapping[str, int]
) -> str:
  """How many of the known pairs no share is of; '' where all are in."""
  able = sum(a in counts and b in counts for a, b in known)
  if able == len(known):
    return ''
  return (
    f'Of {plural(len(known), "known pair")} {able:,} '
    f'{"has" if able == 1 else "have"} both of its words among those that are '
    'looked at (fairflow.min_count); the others are in no share below.'
  )


def winner(against: Race | None) -> list[dict]:
  """Which way is right of more words."""
  if against is None:
    return []
  how = (
    'A known word is right where most of its occurrences become its partner. '
    'Settings are chosen on one half of the known pairs and marked on the '
    'other, both ways round. Intervals are over pairs and seeds of the flow.'
  )
  return [
    section(
      'Right words, way by way',
      text(against.words, 'lead'),
      table(race_rows(against), screen=True),
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
        f'{first_of(flow.pairs[0], len(flow.drawn))} on their two principal '
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


# The flow against simpler ways, word by word.


def race(
  m: moves.FlowInputs,
  known: Sequence[tuple[str, str]],
  ways: dict[str, Way],
  titles: dict[str, str],
) -> Race | None:
  """The ways marked, the first against each other; None without known words.

  Every way has settings. On each half of the known pairs a way is marked by the
  setting that was best on the other half, so no way is marked by the words that
  it was chosen on. A word is right where most of its occurrences become its
  partner. All ways read the same occurrences; words are paired, both words of a
  pair hang together, and each seed of the flow is a plane.
  """
  partner = dict(known) | {b: a for a, b in known}
  words = sorted({word for word in m.some.word if word in partner})
  if len(words) < 4:
    return None
  pair = {w: k for k, both in enumerate(known) for w in both}
  number = np.array([pair[word] for word in words])
  draw = np.random.default_rng([m.config.seed, HALVES])
  half = (draw.permutation(len(known)) % 2)[number]
  rows = np.flatnonzero(np.isin(m.some.word, words))
  read = m._replace(some=m.some.take(rows))
  right, chosen = {}, {}
  for name, way in ways.items():
    marks = np.stack(
      [
        np.stack(
          [marked(read, x[rows], words, partner) for x in way.moved(one)]
        )
        for one in way.settings
      ]
    )
    right[name], best = crossed(marks, half)
    chosen[name] = [way.settings[k] for k in best]
  seeds = max(len(one) for one in right.values())
  right = {n: np.repeat(x, seeds // len(x), 0) for n, x in right.items()}
  return said(m, right, chosen, number, titles)


def marked(
  m: moves.FlowInputs,
  x: np.ndarray,
  words: Sequence[str],
  partner: dict[str, str],
) -> np.ndarray:
  """Which words have their partner as the top vote."""
  best = flow_words.top(flow_words.tally(moves.read(m, x)))
  top = dict(zip(best['word'], best['candidate']))
  return np.array([top.get(word) == partner[word] for word in words])


def crossed(
  marks: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, list[int]]:
  """[setting, s, n] to [s, n]: each half by the best setting of the other.

  And those settings; the first of equals.
  """
  out, best = np.zeros(marks.shape[1:], bool), []
  for own in (0, 1):
    other = (
      marks[:, :, half != own].mean((1, 2)) if (half != own).any() else [0]
    )
    best.append(int(np.argmax(other)))
    out[:, half == own] = marks[best[-1]][:, half == own]
  return out, best


def said(
  m: moves.FlowInputs,
  right: dict[str, np.ndarray],
  chosen: dict[str, list],
  pair: np.ndarray,
  titles: dict[str, str],
) -> Race:
  """Estimates of each way, tests of the first against others, who wins."""
  how = intervals.options_of(m.config)
  first, *others = right
  tests, rows, contenders = [], [], {}
  for name, one in right.items():
    value = fairscore.share(one, how, pair)
    quality = {'top_vote': value}
    contenders[titles[name]] = {
      'sets': {SET: {'rows': len(pair), 'quality': quality}}
    }
    rows.append(
      {
        'way': titles[name],
        'settings, half by half': ' · '.join(map(_setting, chosen[name])),
        'right': value,
        'words, by seed': ', '.join(str(int(k)) for k in one.sum(1)),
      }
    )
  for name in others:
    test = fairscore.compare(right[first], right[name], how, pair)
    sides = {'set': SET, 'ours': titles[first], 'theirs': titles[name]}
    tests.append({**sides, 'measure': 'top_vote', **test})
  tests = stages.adjusted(tests, m.config.measures.adjust)
  each = {row['way']: row['right'] for row in rows}
  level = m.config.measures.confidence_level
  return Race(contenders, tests, rows, ranking(each, tests, level))


def _setting(one) -> str:
  kind, alpha = one if isinstance(one, tuple) else ('', one)
  return kind if kind == 'mean' else f'{kind} × {alpha:g}'.strip()


def claims(against: Race) -> list[dict]:
  """That the flow is right of more words than each simpler way."""
  ours, *others = against.contenders
  return [
    claim
    for theirs in others
    for claim in verdict.ahead(against.tests, ours, theirs, ('top_vote',))
  ]


def race_rows(against: Race) -> list[dict]:
  """The rows of the page with the tests beside them."""
  at = {test['theirs']: test for test in against.tests}
  ours = against.rows[0]['way']
  return [
    row
    | {
      f'the {ours} less it': at[row['way']]['difference'],
      f'only the {ours}': at[row['way']]['only_ours'],
      'only it': at[row['way']]['only_theirs'],
      'p': at[row['way']]['p'],
    }
    if row['way'] in at
    else row
    for row in against.rows
  ]
