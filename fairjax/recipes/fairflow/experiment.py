"""FairFlow beside simpler ways, word by word, and the texts of its dictionary.

    dictionary.csv, and pairs of every way → held against known pairs
    dictionary.csv → swaps → repairs → generator → texts, judged

Stages 4 to 6 (rewriting/counterfactual_texts.py) follow where
--config.data.path names texts with a label and a group; recipe
counterfactual_texts runs them alone.
"""

import pathlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore
from fairjax.pairs import flow_words
from fairjax.recipes.fairflow import algorithm
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.recipes.fairflow.algorithm import TITLES, Attribute, Contender
from fairjax.recipes.rewriting import counterfactual_texts
from fairjax.report import written
from fairjax.report.names import NAMES
from fairjax.report.pictures import plots
from fairjax.report.tables import plural
from fairjax.report.words import ranking
from fairjax.results import Results, figure, section, text
from fairjax.stages import Experiment

SHOWN = 50  # pairs on the page
HALVES = 26  # stream of the halves of the known pairs
KNOWN, WORDS = 'known pairs', 'known words'  # sets
MOVES = ('mean', 1.0), ('shift', 1.0), ('shift', 1.5)
ALPHAS = 1.0, 1.5, 2.0
MADE = (
  'The corpus is made: a program drew its words, the seed pair among them, in '
  'pairs that stand for two sides, so that the right answers are known.'
)
HOW = (
  'A known word is right where most of its occurrences become its partner. '
  'Settings are chosen on one half of the known pairs and marked on the other, '
  'both ways round. Intervals are over pairs and seeds of the flow.'
)
# Settings, and what moves the embeddings by one of them, a seed a row.
Way = tuple[Sequence, Callable[..., list[np.ndarray]]]


@stages.recipe
def run(e: Experiment) -> Results:
  """corpus → attribute → flow → counterfactual words → dictionary → report."""
  if e.config.data.path:
    counterfactual_texts.look(e.config)
  known, complete = algorithm.corpus_of(e)
  algorithm.model_of(e)
  m, attribute = algorithm.inputs(e)
  # Asked for another way alone, nothing needs a flow.
  options = e.config.fairflow
  flows = options.way == 'flow' or options.rivals
  fitted = algorithm.fit(e, m) if flows else None
  found, facts = algorithm.contend(e, m, fitted, attribute.grown)
  dictionary = algorithm.write(e, m, found[options.way])
  # The way whose dictionary is written stands first.
  for name in dict.fromkeys((options.way, *found)) if known else ():
    marks = moves.against_known(
      found[name].pairs, known, attribute.counts, e.config, complete
    )
    e.add(TITLES[name], KNOWN, {'quality': marks})
  raced = race(e, m, known, ways(m, fitted, found)) if known else []
  corpus = (
    e.config.data.name if complete else pathlib.Path(e.config.corpus.path).name
  )
  sections = [
    *raced,
    *shown(e, dictionary, known, attribute, found.get('flow')),
  ]
  facts = {**attribute.facts, **facts}
  if e.config.data.path:
    texts = Experiment(e.config, e.folder, e.log)
    path = e.folder / 'dictionary.csv'
    more = counterfactual_texts.report(
      counterfactual_texts.material(texts, path)
    )
    e.take(texts)
    facts |= more['facts']
    sections += more['sections']
  return e.results(
    data=corpus,
    notes=[*e.notes, MADE] if complete else e.notes,
    title='A dictionary from one pair of words',
    facts=facts,
    sections=sections,
  )


def ways(
  m: moves.FlowInputs,
  fitted: algorithm.FittedFlow | None,
  found: Mapping[str, Contender],
) -> dict[str, Way]:
  """The flow and the ways beside it that have settings to choose."""
  out: dict[str, Way] = {}
  if fitted:
    flows = lambda how: [one.x for one in fitted.moved(m, *how)]
    out['flow'] = MOVES, flows
  for name, by in (
    ('difference', moves.by_difference),
    ('discriminant', moves.by_discriminant),
  ):
    if name in found:
      out[name] = ALPHAS, lambda alpha, by=by: [by(m, alpha)]
  if 'procrustes' in found:
    pairs = found['difference'].pairs[0]
    out['procrustes'] = (1.0,), lambda _: [moves.by_procrustes(m, pairs)]
  return out


def race(
  e: Experiment,
  m: moves.FlowInputs,
  known: Sequence[tuple[str, str]],
  ways: Mapping[str, Way],
) -> list[dict]:
  """The ways marked, the first tested against each other.

  Every way has settings. On each half of the known pairs a way is marked by the
  setting that was best on the other half, so no way is marked by the words that
  it was chosen on. A word is right where most of its occurrences become its
  partner. All ways read the same occurrences; words are paired, both words of a
  pair are one cluster, and each seed of the flow is a plane.
  """
  partner = dict(known) | {b: a for a, b in known}
  words = sorted({word for word in m.some.word if word in partner})
  if len(words) < 4:  # two pairs, one in each half
    return []
  number = {w: k for k, both in enumerate(known) for w in both}
  pair = np.array([number[word] for word in words])
  draw = np.random.default_rng([m.config.seed, HALVES])
  half = (draw.permutation(len(known)) % 2)[pair]
  rows = np.flatnonzero(np.isin(m.some.word, words))
  read = m._replace(some=m.some.take(rows))
  right, chosen = {}, {}

  def called(one) -> str:
    kind, alpha = one if isinstance(one, tuple) else ('', one)
    return kind if kind == 'mean' else f'{kind} × {alpha:g}'.strip()

  for name, (settings, moved) in ways.items():
    marks = np.stack(
      [
        np.stack([marked(read, x[rows], words, partner) for x in moved(one)])
        for one in settings
      ]
    )
    right[name], best = crossed(marks, half)
    chosen[name] = ' · '.join(called(settings[k]) for k in best)
  seeds = max(len(one) for one in right.values())
  right = {n: np.repeat(x, seeds // len(x), 0) for n, x in right.items()}
  return top_votes(e, right, chosen, pair)


def marked(
  m: moves.FlowInputs,
  x: np.ndarray,
  words: Sequence[str],
  partner: Mapping[str, str],
) -> np.ndarray:
  """Which words have their partner as the top vote."""
  best = flow_words.top(flow_words.tally(moves.read(m, x)))
  top = dict(zip(best['word'], best['candidate']))
  return np.array([top.get(word) == partner[word] for word in words])


def crossed(
  marks: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, list[int]]:
  """[setting, s, n] to [s, n]: each half by the best setting of the other."""
  out, best = np.zeros(marks.shape[1:], bool), []
  for own in (0, 1):
    other = (
      marks[:, :, half != own].mean((1, 2)) if (half != own).any() else [0]
    )
    best.append(int(np.argmax(other)))  # the first of equals
    out[:, half == own] = marks[best[-1]][:, half == own]
  return out, best


def top_votes(
  e: Experiment,
  right: Mapping[str, np.ndarray],
  chosen: Mapping[str, str],
  pair: np.ndarray,
) -> list[dict]:
  """Estimates of each way, tests of the first against others, who wins."""
  how = intervals.options_of(e.config)
  first, *others = right
  each = {}
  for name, one in right.items():
    title, value = TITLES[name], fairscore.share(one, how.over(pair))
    each[NAMES.get(title, title)] = value
    e.add(title, WORDS, {'rows': len(pair), 'quality': {'top_vote': value}})
    seeds = ', '.join(str(int(k)) for k in one.sum(1))
    facts = {'settings, half by half': chosen[name], 'words right': seeds}
    e.contenders[title].setdefault('facts', {}).update(facts)
  tests = [
    {'set': WORDS, 'ours': TITLES[first], 'theirs': TITLES[name]}
    | {'measure': 'top_vote'}
    | fairscore.compare(right[first], right[name], how.over(pair))
    for name in others
  ]
  e.tests += stages.adjusted(tests)
  won = ranking(each, e.tests, e.config.measures.confidence_level)
  e.log.line(won)
  return [section('Right words', text(won, 'lead'), text(HOW, 'quiet'))]


def shown(
  e: Experiment,
  dictionary: pd.DataFrame,
  known: Sequence[tuple[str, str]],
  attribute: Attribute,
  flow: Contender | None,
) -> list[dict]:
  """The dictionary for a reader, and which of its pairs are known to be right;
  words before and after the move, and the losses of the flow; the head."""
  rows, right = dictionary.head(SHOWN).to_dict('records'), set(known)
  for row in rows if known else ():
    row['known'] = 'right' if (row['first'], row['second']) in right else ''
  turns = dictionary.get('from', pd.Series('', index=dictionary.index))
  counts, heads = attribute.counts, attribute.quality
  line = plots.learning_series(flow.history).get('loss') if flow else None
  return written.sections(
    'fairflow.txt',
    plural=plural,
    options=e.config.fairflow,
    sides=attribute.words['side'].value_counts(),
    both=int((turns == '').sum()),
    one_way=int((turns != '').sum()),
    dictionary=dictionary,
    rows=rows,
    known=len(known),
    able=sum(a in counts and b in counts for a, b in known),
    moved=flow and flow.pairs[0],
    map=flow
    and flow.drawn
    and figure(*('word_map', 'word_map', ''), pairs=list(flow.drawn)),
    loss=line
    and figure(
      *('curves', 'flow_loss', ''),
      series={'held out': line['valid']},
      x_label='step',
      y_label='loss',
    ),
    head=[
      {'accuracy on': 'held-out texts', 'value': heads['accuracy']},
      {'accuracy on': 'labels drawn by coin', 'value': heads['control']},
    ],
  )
