"""What each stage of a run would take on a target, counted and never run.

    config, --target → stages → traced by shape → tokens, FLOPs, bytes, hours

Neither weights nor data are needed: a model's shape is that of its name (or of
its folder's config.json), and --rows, --length and --tokens say how much text
there is. Gradients and forward passes are the run's own programs, traced for
shapes alone (train/traced.py); the state is what the run's own optimiser makes,
laid over devices by the rule of train/mesh.py. What a recipe counts is in
stages.py.
"""

import math
import pathlib
from typing import Any

import numpy as np

from fairjax import data, stages
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks.shared import measure
from fairjax.config import Config
from fairjax.core import backend, chips
from fairjax.core.errors import UserError
from fairjax.data.tables import files
from fairjax.models import families
from fairjax.recipes.benchmarks.recipe import check as check_files
from fairjax.recipes.dry.costs import EVALUATION, STEP, Amount, Goal, Stage
from fairjax.recipes.dry.stages import STAGES
from fairjax.results import Results, section, table
from fairjax.train import mesh
from fairjax.train.progress import Log

HOUR, GB = 3600.0, 1e9
# The share of a chip's rates that a program reaches, and what a dispatch costs:
# assumed of accelerators, on which our programs have not run. Of a CPU the
# rates are measured: 188 steps of quickstart_diet's nano, five seeds, took 23 s
# beside other work, where 7 to 68 were counted.
REACHED = {'cpu': (1.0, 0.1), 'gpu': (0.6, 0.1), 'tpu': (0.6, 0.1)}
DISPATCH = (1e-4, 5e-3)  # seconds
PIECES = 1.4  # tokens of a word of running English


def estimate(
  config: Config, folder: pathlib.Path, target: str, given: dict[str, int]
) -> Results:
  """config → stages → results of a run that was not made."""
  chip, count = chips.named(target)
  if config.recipe not in STAGES:
    raise UserError(
      f'recipe {config.recipe!r} has no dry run; there is one of '
      f'{", ".join(STAGES)}'
    )
  goal = Goal(config, amount(config, given), chip, count)
  with Log(folder, config, main=mesh.is_main()) as log:
    with backend.made_for(chip.platform):
      every = STAGES[config.recipe](goal)
    rows = [line(goal, one) for one in every]
    memory = [
      {'stage': one.name} | {k: f'{n / GB:.3f} GB' for k, n in one.memory}
      for one in every
      if one.memory
    ]
    for row in rows:
      log.line(', '.join(f'{k}: {v}' for k, v in row.items()))
    results = stages.results(
      config,
      data=said(goal.amount),
      seeds=[],
      title=f'{config.recipe} on {target}: a dry run',
      facts=facts(goal, every),
      notes=notes(goal, every),
      sections=[
        section('Stages', table(rows)),
        section('Memory of a device, part by part', table(memory)),
      ],
    )
    return stages.publish(folder, results, log)


def amount(config: Config, given: dict[str, int]) -> Amount:
  """What the flags say; of what they leave out, what the data say."""
  train, length, corpus = (
    given.get(k, 0) for k in ('rows', 'length', 'tokens')
  )
  held, recipe = train // 8, config.recipe
  if recipe == 'fairflow' and not corpus:
    raise UserError(
      'a dry run of fairflow needs the size of the corpus; give the number of '
      'its tokens, say --tokens=30000000'
    )
  of_corpus = recipe == 'fairflow' and not config.data.path
  if recipe in ('pretrain', 'fairberta') or of_corpus or (train and length):
    return Amount(train, held, length, corpus)
  try:
    some, others = texts_here(config)
  except UserError as error:
    raise UserError(
      f'{error}; or, for a dry run, say how much there is with --rows=ROWS and '
      '--length=TOKENS_OF_A_TEXT'
    ) from error
  words = np.mean([len(one.split()) for one in some])
  limit = config.tokens.max_length or families.PLACES
  length = length or min(limit, math.ceil(PIECES * words) + 2)
  return Amount(*((train, held) if train else (len(some), others)), length, 0)


def texts_here(config: Config) -> tuple[list[str], int]:
  """The texts that are read, and how many beside them are held out."""
  if config.recipe == 'benchmarks':
    check_files(config)
    names = config.benchmarks.names
    tables = {name: measure.read(name, config) for name in names}
    columns = [(tables[n][c], n) for n in names for c in BENCHMARKS[n].texts]
    return [str(one) for column, _ in columns for one in column.dropna()], 0
  if config.recipe == 'generate':
    return list(files.texts(config.data)['text']), 0
  tables, _, _ = data.load_tables(config)
  return list(tables['train']['text']), len(tables['test'])


def said(amount: Amount) -> str:
  rows = f'{amount.train:,} texts of {amount.length} tokens'
  corpus = f'a corpus of {amount.corpus:,} tokens'
  parts = [rows] * bool(amount.train) + [corpus] * bool(amount.corpus)
  return ' and '.join(parts) or 'rows of the length that is trained on'


def seconds(goal: Goal, one: Stage) -> tuple[float, float]:
  """From … to: the roof of the chip's two rates, and the dispatches."""
  chip, devices = goal.chip, 1 if one.alone else goal.count
  roof = max(one.flops / chip.flops, one.moved / chip.bandwidth) / devices
  each = zip(REACHED[chip.platform], DISPATCH, one.host)
  low, high = (roof / r + one.dispatches * d + host for r, d, host in each)
  return low, high


def peak(one: Stage) -> float:
  """Bytes on a device: what a fit evaluates with, its step does not hold."""
  held = dict(one.memory)
  either = held.pop(STEP, 0.0), held.pop(EVALUATION, 0.0)
  return sum(held.values()) + max(either)


def line(goal: Goal, one: Stage) -> dict[str, Any]:
  low, high = (float(f'{s / HOUR:.2g}') for s in seconds(goal, one))
  return {
    'stage': one.name,
    'of': one.what,
    'tokens': round(one.tokens),
    'TFLOP': round(one.flops / 1e12, 3),
    'GB at its peak': round(peak(one) / GB, 3),
    'hours from': low,
    'to': high,
  }


def facts(goal: Goal, every: list[Stage]) -> dict[str, Any]:
  low, high = np.sum([seconds(goal, one) for one in every], 0) / HOUR
  return {
    'devices': f'{goal.count} of {goal.chip.memory / GB:.1f} GB',
    'TFLOP in all': sum(one.flops for one in every) / 1e12,
    'GB of a device at the peak': max(map(peak, every)) / GB,
    'hours in all, from': low,
    'to': high,
  }


def notes(goal: Goal, every: list[Stage]) -> list[str]:
  best, worst = REACHED[goal.chip.platform]
  rates = goal.chip.rates
  out = [
    f'Hours: FLOPs of products and bytes they move over {best:.0%} to '
    f'{worst:.0%} of the rates {rates}, and {DISPATCH[0] * 1e3:g} to '
    f'{DISPATCH[1] * 1e3:g} ms a dispatch; compiling comes on top, and early '
    'stops make fits shorter.'
  ]
  large = [one.name for one in every if peak(one) > goal.chip.memory]
  if large:
    out.append(
      f'{", ".join(large)}: more than the {goal.chip.memory / GB:.1f} GB of a '
      'device; try --config.train.microbatches, net.remat or mesh.fsdp'
    )
  return out
