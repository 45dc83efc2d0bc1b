"""FairFlow (Tokpo and Calders 2024): from one pair of words to a dictionary.

    1  seed pair → words that show the attribute  (attribute_words.py)
    2  their embeddings → a flow with a factor    (flow_training.py)
    3  factor replaced → T⁻¹ → words → votes      (counterfactual_words.py)
       mutual votes → dictionary.csv

The dictionary is a word list for --config.method.words, so that augment_corpus,
swap and every method take it. Without --config.corpus.path the corpus is the
invented one (sets/invented.py), whose right dictionary is known. Each stage is
an artefact of the run's folder.
"""

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax import config as configs
from fairjax import stages
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import instances
from fairjax.data.batching.instances import Instances
from fairjax.data.sets import invented
from fairjax.data.word_tables import table_rows
from fairjax.models import families, flow
from fairjax.pairs import attributes, flow_words
from fairjax.pairs.swapping import names, word_lists
from fairjax.recipes.fairflow import attribute_words, flow_training
from fairjax.recipes.fairflow import counterfactual_words as moves
from fairjax.recipes.language import pretrain
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import mesh

MAPPED = 30  # pairs on the map
TITLES = dict(table_rows(__file__, 'titles.csv'))


class Attribute(NamedTuple):
  """Stage 1: every occurrence looked at, and what the head says of words."""

  every: Instances
  words: pd.DataFrame
  counts: dict[str, int]
  quality: dict[str, dict]
  facts: dict[str, Any]
  grown: Sequence[tuple[str, str]] = ()  # seed pairs besides the config's


class Contender(NamedTuple):
  """A way to counterfactual words: the pairs of each seed, and all ballots."""

  pairs: list[pd.DataFrame]
  ballots: pd.DataFrame
  drawn: Sequence[dict] = ()  # of a flow: its pairs on a plane
  history: Sequence[dict] = ()  # and the losses of its training


def inputs(e: Experiment) -> tuple[moves.FlowInputs, Attribute]:
  """Stage 1 by the corpus and the masked LM of `e`, read for stages 2 and 3."""
  attribute = attribute_of(e)
  m = moves.material(
    e.config,
    attribute_words.language_model(e.config),
    attribute.every,
    attribute.words,
    attribute.grown,
  )
  for side, name in ((-1, 'first'), (1, 'second')):
    if (m.some.side == side).sum() < 4:
      raise UserError(
        f'fewer than four occurrences show the {name} side at threshold '
        f'{e.config.fairflow.threshold:g}; lower --config.fairflow.threshold '
        'or --config.fairflow.word_share, or give more text'
      )
  return m, attribute


def corpus_of(e: Experiment) -> tuple[list[tuple[str, str]], bool]:
  """Gives the config a corpus and seed words; known pairs, and if all are."""
  config, options = e.config, e.config.fairflow
  if config.corpus.path:
    attributes.seed_words(options.first, options.second)
    known = word_lists.read(options.known).rows if options.known else []
    return [(row[0], row[1]) for row in known], False
  if options.known:
    raise UserError(
      f'fairflow.known is {options.known!r}, but without a corpus of yours one '
      'is made, whose pairs are known; name one with --config.corpus.path, or '
      'leave fairflow.known out'
    )
  path = e.folder / 'corpus'
  made_from = identity(config, 'data', 'invented')
  make = lambda path: invented.write(path, config.planted.rows)
  stages.stage(path, made_from, make, lambda path: None)
  gold, _ = invented.gold()
  first, second = gold.seeds
  sides = {'first': first, 'second': second}
  e.config = configs.changed(config, corpus={'path': str(path)}, fairflow=sides)
  return list(gold.known), True


def model_of(e: Experiment) -> None:
  """Gives the config a masked LM: a folder's, or of a size, trained here."""
  config = e.config
  if config.model not in families.SIZES:
    return
  chosen = configs.shipped('pretrain_mlm_mini')
  chosen.model, chosen.seed = config.model, config.seed
  chosen.net, chosen.pretrain = config.net, config.pretrain
  chosen.data.path, chosen.data.text = config.corpus.path, config.data.text
  chosen.tokens = config.tokens
  chosen.train.batch, chosen.measures = 32, config.measures
  chosen.train.save_every = config.train.save_every
  e.log.line(f'a masked LM of size {config.model} is trained on the corpus')
  pretrain.trained(chosen, e.folder / 'pretraining')
  export = e.folder / 'pretraining' / 'export' / f'seed_{config.seed}'
  e.config = configs.changed(config, model=str(export))


def attribute_of(e: Experiment) -> Attribute:
  """Stage 1, or what it left in attribute/ of the folder."""
  config, folder, log = e.config, e.folder, e.log

  def make(path: pathlib.Path) -> None:
    walk = folder / 'corpus_walk'
    chosen = attribute_words.sample(config, walk)
    for name, value in chosen.facts.items():
      log.line(f'corpus: {value:,} {name}')
    every = attribute_words.embed(config, walk, chosen)
    seeds, pairs = attribute_words.seeds(config, every)
    for one, other in pairs:
      log.line(f'grown seeds: {one}, {other}')
    if config.fairflow.grow and not pairs:
      log.line("no pair repeats the seeds' difference: they stand alone")
    rows, label = attribute_words.labelled(config, every, seeds)
    head = flow_training.fit_head(e, every.take(rows), label)
    logit = head.logit(every.vector)
    phi = config.fairflow.threshold
    side = attributes.signs(logit, phi)
    words = attributes.word_table(
      every.word, logit, side, chosen.counts, config.fairflow.word_share
    )
    if mesh.is_main():
      instances.write(
        path / 'instances.parquet', every._replace(logit=logit, side=side)
      )
      artefacts.write_table(path / 'words.parquet', words)
      artefacts.write_json(
        path / 'attribute.json',
        {
          'right': {name: own.tolist() for name, own in head.right.items()},
          'texts': None if head.texts is None else head.texts.tolist(),
          'facts': chosen.facts,
          'grown': pairs,
        },
      )

  def read(path: pathlib.Path) -> Attribute:
    words = artefacts.read_table(path / 'words.parquet')
    notes = artefacts.read_json(path / 'attribute.json')
    counts = dict(zip(words['word'], words['count'].tolist()))
    every = instances.read(path / 'instances.parquet')
    grown = [tuple(pair) for pair in notes['grown']]
    # Intervals are of this run's level, whichever run fitted the head.
    texts = notes['texts'] and np.array(notes['texts'])
    quality = {
      name: flow_training.share(np.array(own), texts, config)
      for name, own in notes['right'].items()
    }
    return Attribute(every, words, counts, quality, notes['facts'], grown)

  content = artefacts.content(config.corpus.path)
  made_from = identity(config, 'attributes', content, 'right')
  return stages.stage(
    folder / 'attribute', made_from, make, read, log, config.reuse
  )


class FittedFlow(NamedTuple):
  """A flow of each seed, and the whitening of what it reads."""

  model: Any
  params: list[dict]
  white: flow.Whitening
  fit: Any

  def moved(self, m: moves.FlowInputs, move: str = '', alpha=1.0) -> list:
    """What each seed's flow moves the embeddings to."""
    return [
      moves.by_flow(
        m, self.model, one, self.white, m.config.seed + s, move, alpha
      )
      for s, one in enumerate(self.params)
    ]


def fit(e: Experiment, m: moves.FlowInputs, part: str = 'flow') -> FittedFlow:
  """Stage 2."""
  options = m.config.fairflow
  white = flow.whitening(m.some.vector, options.whiten)
  out = attributes.held_out(m.some.id, m.config.seed, flow_training.HELD_OUT)
  x, side = learned(m, white)
  out = out if m.typical is None else out[m.typical]
  own = e.of(m.config)
  model, params, one = flow_training.fit_flow(own, x, side, out, part)
  return FittedFlow(model, moves.seeds_params(params), white, one)


def learned(
  m: moves.FlowInputs, white: flow.Whitening
) -> tuple[np.ndarray, np.ndarray]:
  """The whitened embeddings that a flow learns from, and their sides."""
  # Over partners the sides differ in nothing but the attribute.
  rows = slice(None) if m.typical is None else m.typical
  return white(m.some.vector)[rows], m.some.side[rows]


def contend(
  e: Experiment,
  m: moves.FlowInputs,
  fitted: FittedFlow | None,
  grown: Sequence[tuple[str, str]],
) -> tuple[dict[str, Contender], dict[str, Any]]:
  """Every contender's votes and pairs; what the flow's latents look like."""
  options, out = m.config.fairflow, {}
  facts: dict[str, Any] = {}
  if fitted:
    out['flow'], facts = flow_ballots(m, fitted)
  asked = {*options.rivals, options.way}
  # These draw nothing, so one result stands for all seeds.
  alone = lambda ballots: Contender([moves.entries(m, ballots)], ballots)
  if {'difference', 'procrustes'} & asked:
    x = moves.by_difference(m)
    out['difference'] = alone(moves.read(m, x))
  if 'discriminant' in asked:
    x = moves.by_discriminant(m)
    out['discriminant'] = alone(moves.read(m, x))
  if 'procrustes' in asked:
    x = moves.by_procrustes(m, out['difference'].pairs[0])
    out['procrustes'] = alone(moves.read(m, x))
  if 'masked' in asked:
    out['masked'] = alone(moves.by_masked_lm(m))
  if 'no_factor' in asked:
    plain = dict.fromkeys(('rho', 'margin', 'leak'), 0.0)  # K is in no term
    without = m._replace(config=configs.changed(m.config, fairflow=plain))
    other = fit(e, without, 'flow without factor')
    out['no_factor'], _ = flow_ballots(without, other)
  if grown:
    pairs = pd.DataFrame(grown, columns=['first', 'second'])
    nobody = [np.zeros(0, object)] * 3  # nothing votes: the pairs are given
    out['grown'] = Contender([pairs], flow_words.ballots(*nobody))
    facts['seed pairs grown'] = len(grown)
  for name, one in out.items():
    e.log.line(f'{TITLES[name]}: {len(one.pairs[0])} pairs')
  return out, facts


def flow_ballots(
  m: moves.FlowInputs, fitted: FittedFlow
) -> tuple[Contender, dict[str, Any]]:
  """Stage 3: the ballots of each seed's flow."""
  ballots, pairs, gaps, drawn = [], [], [], []
  for s, moved in enumerate(fitted.moved(m)):
    ballots.append(moves.read(m, moved.x))
    pairs.append(moves.entries(m, ballots[-1]))
    gaps.append((moved.gap, moved.leak))
    if not s:  # one seed is enough for a picture
      drawn = moves.word_map(m, moved.x, pairs[0], MAPPED)
  x, side = learned(m, fitted.white)
  factor, estimate = flow_training.factor_size(m.config, x, side)
  facts = {
    'dimensions of the factor': factor,
    "Esser et al.'s estimate of them": estimate,
    'gap of the sides inside the factor': float(np.mean([g for g, _ in gaps])),
    'and outside of it': float(np.mean([g for _, g in gaps])),
    'steps of the flow': fitted.fit.steps,
  }
  every = pd.concat(ballots, ignore_index=True)
  return Contender(pairs, every, drawn, fitted.fit.history), facts


def write(
  e: Experiment, m: moves.FlowInputs, contender: Contender
) -> pd.DataFrame:
  """dictionary.csv: the pairs that the votes of all seeds make."""
  options = e.config.fairflow
  pairs = moves.entries(m, contender.ballots)
  seeds = attributes.seed_words(options.first, options.second)
  sides, left = word_lists.sides_of(*seeds), 0
  if sides:  # gender: first names are left to `names=`, as by hand
    chosen = e.config.method.names_file or True
    pairs, left = flow_words.without_names(pairs, names.load(chosen))
  about = (
    f'Counterfactual words from {options.first} and '
    f'{options.second}, by fairjax (recipe fairflow)'
  )
  if mesh.is_main():
    path = e.folder / 'dictionary.csv'
    flow_words.write(path, pairs, about, sides)
    votes = flow_words.tally(contender.ballots)
    artefacts.write_table(e.folder / 'votes.parquet', votes)
    e.log.line(f'{len(pairs)} pairs: {path}')
    if left:
      e.log.line(f'{left} pairs of first names are left to method.names')
  return pairs
