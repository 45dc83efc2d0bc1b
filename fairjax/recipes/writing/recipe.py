"""What a model writes, of whom: prompts by group, texts, scores, gaps.

    prompts → texts → scores, lists → gaps, floors → gate → page

The texts are drawn by our own decoder, or by any function of prompts; they are
scored by whatever an audit accepts, and by lists of words. What is wrong with
prompts, lists, classifier or gate is told before anything is written.
"""

import pathlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairjax import stages
from fairjax.config import Config, Mesh
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.metrics import gate
from fairjax.metrics.texts import hurtful
from fairjax.recipes.writing import (
  measure,
  page,
  prompts,
  rows,
  scores,
  words,
  writers,
)
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

KNOB = 'writing.fail_if'


def run(config: Config, folder: pathlib.Path) -> Results:
  """The page of what `model` writes; fails where the gate does."""
  with Log(folder, config, main=mesh.is_main()) as log:
    results, _ = write(config, log)
    results = stages.publish(folder, results, log)
  gate.stop(results.facts)
  return results


def write(
  config: Config,
  log: Log | None = None,
  writer: Any = None,
  asked: Any = None,
  classifier: Any = None,
) -> tuple[Results, pd.DataFrame]:
  """Results, and a row a text. The library gives objects for what a config
  names: a function that writes, a table of prompts, a classifier."""
  own, say = config.writing, log.line if log else lambda words: None
  if own.fail_if:
    gate.parse(own.fail_if, KNOB)
  frame, remarks = prompts.read(config, asked)
  lexicon = hurtful.read(own.lexicon) if own.lexicon else None
  targets = words.targets(own.targets)
  if classifier is None and not own.classifier and lexicon is None:
    raise UserError(
      'nothing would score the texts: name a classifier with '
      '--config.writing.classifier (what fairjax audit takes), or a lexicon of '
      'hurtful words with --config.writing.lexicon'
    )
  scorer = None
  if classifier is not None or own.classifier:
    scorer = scores.load(config, classifier)
  encoder = _encoder(config)
  for sentence in remarks:
    say(sentence)
  name, texts, how = _texts(config, frame, writer, log)
  table, blank = rows.texts(frame, texts)
  _check_written(table, name)
  if blank:
    remarks.append(
      f'{blank:,} of {blank + len(table):,} texts are empty, and left out'
    )
  if scorer is not None:
    some = table['whole' if own.scored == 'whole' else 'continuation']
    once = list(dict.fromkeys(some))
    found = scores.score(scorer, once, config, log)
    table['score'] = some.map(dict(zip(once, found)))
  if log and mesh.is_main():
    artefacts.write_table(log.folder / 'texts.parquet', table)
  measured = measure.measure(config, table, lexicon, targets, encoder)
  results = _results(config, name, scorer, frame, table, measured, remarks)
  results.facts |= how
  results.facts |= gate.facts(own.fail_if, measured.set, own.fail_on, KNOB)
  return results, table


def _texts(config: Config, frame, source, log: Log | None):
  """Who wrote, the texts of each prompt (none where they are given), and how
  they were drawn."""
  if 'continuation' in frame:
    return pathlib.Path(config.writing.prompts).stem or 'the texts', {}, {}
  writer = writers.load(config, source)
  if log:
    log.line(
      f'{writer.name} writes: {frame["prompt"].nunique():,} different prompts, '
      f'{config.writing.samples} texts each'
    )
  once = list(dict.fromkeys(frame['prompt']))
  folder = log.folder if log else None
  texts = writers.written(writer, once, folder, config.reuse)
  own = writer.options
  how = page.drawn(own, config.writing.samples) if own else {}
  return writer.name, dict(zip(once, texts)), how


def _check_written(table: pd.DataFrame, name: str) -> None:
  alive = {*table[table['group'] != '']['group']} if len(table) else set()
  if len(alive) < 2:
    raise UserError(
      f'{name} writes nothing but empty texts for all groups but '
      f'{len(alive)}; there is no gap to measure'
    )


def _encoder(config: Config):
  if not config.writing.encoder:
    return None
  from fairjax.models.reading import judge

  placement = mesh.placement(mesh.make(Mesh(), 1))
  return judge.load(config.writing.encoder, config, placement).vectors


def _data(config: Config) -> str:
  own = config.writing
  return pathlib.Path(own.prompts).stem if own.prompts else 'templates'


def _results(
  config: Config,
  name: str,
  scorer: scores.Scorer | None,
  frame: pd.DataFrame,
  table: pd.DataFrame,
  measured: measure.MeasuredTexts,
  remarks: Sequence[str],
) -> Results:
  data = _data(config)
  facts = {
    'written by': name,
    'different prompts': int(frame['prompt'].nunique()),
    'texts': len(table),
    'templates or clusters': int(frame['cluster'].nunique()),
  }
  classes = []
  if scorer is not None:
    facts['scored by'] = scorer.name
    facts['score'] = f'probability of {scorer.positive}, {_scored(config)}'
    classes = [f'not {scorer.positive}', scorer.positive]
  return stages.results(
    config,
    data=data,
    model=name,
    seeds=[],
    pos_label=1,
    classes=classes,
    title=f'What {name} writes',
    contenders={name: {'sets': {data: measured.set}}},
    focus=name,
    facts=facts,
    notes=[
      *remarks,
      page.CLUSTERED,
      'Equal prompts have the same texts, whatever group they are of.',
    ],
    sections=page.sections(config, measured, scorer),
  )


def _scored(config: Config) -> str:
  whole = config.writing.scored == 'whole'
  return 'of prompt and text' if whole else 'of the text without its prompt'
