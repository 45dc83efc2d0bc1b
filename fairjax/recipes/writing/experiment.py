"""What a model writes, of whom: prompts by group, texts, scores, gaps.

    prompts → texts → scores, lists → gaps, floors → gate → page

The texts are drawn by our own decoder, or by any function of prompts; they are
scored by whatever an audit accepts, and by lists of words. What is wrong with
prompts, lists, classifier or gate is reported before anything is written.
"""

import pathlib
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairjax import results as shape
from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import labels
from fairjax.metrics import gate, measures
from fairjax.metrics.inference import significance
from fairjax.metrics.texts import hurtful
from fairjax.recipes.benchmarks import asked as models
from fairjax.recipes.language import generate_corpus
from fairjax.recipes.writing import measure, prompts, rows, scores, writers
from fairjax.report import tables, written
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.train import mesh
from fairjax.train.progress import Log

KNOB = 'audit.fail_if'


def run(config: Config, folder: pathlib.Path) -> Results:
  """The page of what `model` writes; fails where the gate does."""
  results = published(config, folder)
  gate.stop(results.facts)
  return results


@stages.recipe
def published(e: Experiment) -> Results:
  return write(e.config, e.log)[0]


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
  if config.audit.fail_if:
    gate.parse(config.audit.fail_if, KNOB)
  if config.measures.threshold == 'eer':
    raise UserError(
      "measures.threshold is 'eer', which labels would say, and texts that are "
      'written have none; give a number'
    )
  frame, remarks = prompts.read(config, asked)
  lexicon = hurtful.read(own.lexicon) if own.lexicon else None
  if classifier is None and not own.classifier and lexicon is None:
    raise UserError(
      'nothing would score the texts: name a classifier with '
      '--config.writing.classifier (what fairjax audit takes), or a lexicon of '
      'hurtful words with --config.writing.lexicon'
    )
  scorer = None
  if classifier is not None or own.classifier:
    scorer = scores.load(config, classifier)
  encoder = None
  if own.encoder:
    encoder = models.load(own.encoder, config).vectors
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
    some = table['continuation']
    once = list(dict.fromkeys(some))  # equal texts are scored once
    found = scores.score(scorer, once, config, log)
    table['score'] = some.map(dict(zip(once, found)))
  if log and mesh.is_main():
    artefacts.write_table(log.folder / 'texts.parquet', table)
  measured = measure.measure(config, table, lexicon, encoder)
  results = _results(config, name, scorer, frame, table, measured, remarks)
  results.facts |= how
  gates = config.audit
  results.facts |= gate.facts(gates.fail_if, measured.set, gates.fail_on, KNOB)
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
  once = list(dict.fromkeys(frame['prompt']))  # each prompt is asked once
  folder = log.folder if log else None
  texts = writers.written(writer, once, folder, config.reuse)
  own = writer.options
  how: dict = {'each token': generate_corpus.drawn(own)} if own else {}
  if own and own.do_sample:
    how['texts of a prompt'] = config.writing.samples
  return writer.name, dict(zip(once, texts)), how


def _check_written(table: pd.DataFrame, name: str) -> None:
  alive = {*table[table['group'] != '']['group']} if len(table) else set()
  if len(alive) < 2:
    raise UserError(
      f'{name} writes nothing but empty texts for all groups but '
      f'{len(alive)}; there is no gap to measure'
    )


def _results(
  config: Config,
  name: str,
  scorer: scores.Scorer | None,
  frame: pd.DataFrame,
  table: pd.DataFrame,
  measured: measure.MeasuredTexts,
  remarks: Sequence[str],
) -> Results:
  own, classes = config.writing, []
  data = pathlib.Path(own.prompts).stem if own.prompts else 'templates'
  facts = {
    'written by': name,
    'different prompts': int(frame['prompt'].nunique()),
    'texts': len(table),
    'templates or clusters': int(frame['cluster'].nunique()),
  }
  if scorer is not None:
    of = 'the text without its prompt'
    facts['scored by'] = scorer.name
    facts['score'] = f'probability of {scorer.positive}, of {of}'
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
    notes=list(remarks),
    sections=sections(measured, scorer),
  )


def sections(measured: measure.MeasuredTexts, scorer) -> list[dict]:
  """Every difference beside what chance gives; groups beside nobody; texts."""
  found = measured.set['fairness']
  lines = [
    {
      'measure': measures.label(key),
      'value': one,
      'by chance': found.get(f'{key}_floor', one.get('null')),
      'p': significance.p_text({'p': one.get('p')} | one),
    }
    for key, one in found.items()
    if tables.defined(one) and not key.endswith('_floor')
  ]
  blur = labels.offensive([scorer.positive]) if scorer else None
  texts, over = measured.examples, measured.over
  versions = ('text', 'twin')[: 1 + ('twin' in (texts or [{}])[0])]
  return written.sections(
    'writing.txt',
    lines=lines,
    over=[
      {
        'group': row['group'],
        'mean score': row['score'],
        'no group': row['nobody'],
        'difference': row['difference'],
        'p, adjusted': significance.p_text({'p': row['adjusted']}),
      }
      for row in over
    ],
    sure=sum(significance.is_significant(row['adjusted']) for row in over),
    matched=all(row.get('matched', True) for row in over),
    alpha=f'{significance.SURE:g}',
    parity=[
      {
        'groups': ' and '.join(row['groups']),
        'texts': row['texts'],
        'distance of the scores (strong parity)': row['strong'],
        'by chance': row['strong'].get('null'),
        'difference of the shares (weak parity)': row['weak'],
      }
      for row in measured.pairs
    ],
    examples=texts,
    twins=len(versions) > 1,
    texts=shape.texts(texts, versions, blur),
  )
