"""Size and duration of a pretraining run, estimated without running it.

One step of a small model of the same family goes through everything that the
full run would do. The full size is then traced, never allocated: parameters
are counted from their shapes, the FLOPs of a step from the program of one
micro-batch's gradient as XLA's cost analysis counts it before optimisation,
the memory of a micro-batch from the program that XLA compiles for it.
"""

import dataclasses
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from fairjax import data, stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, rows
from fairjax.data.corpora import texts
from fairjax.models import build, families, objectives
from fairjax.recipes.language import pretrain_objectives
from fairjax.results import Results
from fairjax.train import mesh, step
from fairjax.train.progress import Log

SMALL = 64  # tokens of a row in the small step
DAY = 86400.0


def run(config: Config, folder: pathlib.Path, rehearse: Callable) -> Results:
  """The small step by `rehearse`, the recipe; then the full run's numbers."""
  if not config.pretrain.steps:
    raise UserError(
      'pretrain.steps is 0; a dry run needs the number of steps, say '
      '--config.pretrain.steps=100000'
    )
  with Log(folder, config, main=mesh.is_main()) as log:
    log.line('dry run: one step of a small model')
    rehearsal(config, folder / 'rehearsal', rehearse)
    results = stages.results(
      config,
      title=f'The size of {config.pretrain.objective} pretraining of '
      f'{config.model}',
      facts={'objective': config.pretrain.objective, **size(config)},
      notes=[
        'FLOPs: cost analysis of the traced gradient of one micro-batch, times '
        'micro-batches; memory of activations: compiled for this backend'
      ],
    )
    return stages.publish(folder, results, log)


def rehearsal(config: Config, folder: pathlib.Path, run: Callable) -> None:
  """The same recipe on a few made sentences, at a size for any machine."""
  train, options = config.train, config.pretrain
  parts = min(2, train.microbatches)
  with tempfile.TemporaryDirectory() as name:
    path = pathlib.Path(name) / 'sentences.txt'
    little = dataclasses.replace(
      config,
      model='tiny',
      seeds=1,
      data=dataclasses.replace(
        config.data, name='planted', path='', positive=''
      ),
      planted=dataclasses.replace(config.planted, rows=200, test_rows=50),
      tokens=dataclasses.replace(config.tokens, tokenizer='', vocab_size=500),
      train=dataclasses.replace(train, batch=8, microbatches=parts),
      pretrain=dataclasses.replace(
        options,
        dry_run=False,
        length=min(SMALL, options.length),
        steps=1,
        held_out=0.2,
        document='line',
        samples=1,
      ),
    )
    tables, _, _ = data.load_tables(little)
    path.write_text('\n'.join(tables['train']['text']), encoding='utf-8')
    little.data.name, little.data.path = 'text', str(path)
    run(little, folder)


def size(config: Config) -> dict[str, Any]:
  """Parameters, memory, FLOPs and days of the full run."""
  options, train = config.pretrain, config.train
  objective = pretrain_objectives.OBJECTIVES[options.objective]
  words = vocabulary(config)
  batch = abstract_batch(config, words)

  # Unrolled, since a loop's body would be counted once; looped, since that
  # compiles in a moment and needs the same memory.
  def program(scan):
    return lowered(
      objective,
      dataclasses.replace(
        config, net=dataclasses.replace(config.net, scan=scan)
      ),
      words,
      batch,
    )

  flops = program(False).cost_analysis()['flops']
  memory = program(True).compile().memory_analysis()
  activations = memory.temp_size_in_bytes
  count = pretrain_objectives.parameters(objective.model(config, words))
  of_step = flops * train.microbatches
  seconds = of_step / (options.tflops * 1e12 * options.utilisation)
  return {
    'parameters': count,
    'state in GB (weights, kept weights, moments)': 4 * 4 * count / 1e9,
    'a micro-batch in GB (gradients and activations)': activations / 1e9,
    'rows of a micro-batch': train.batch // train.microbatches,
    'tokens of a step': train.batch * options.length,
    'TFLOPs of a step': of_step / 1e12,
    'steps': options.steps,
    f'days at {options.tflops:g} TFLOP/s and {options.utilisation:.0%}': (
      seconds * options.steps / DAY
    ),
  }


def vocabulary(config: Config) -> corruption.Vocabulary:
  """The tokenizer's where there is one, else as many tokens as the shape has.

  Only their number matters here.
  """
  if config.tokens.tokenizer or build.model_folder(config):
    return corruption.vocabulary(
      pretrain_objectives.find_tokenizer(config, None)
    )
  count = config.tokens.vocab_size
  if config.model not in families.SIZES:
    count = families.named(config.model).vocab
  special = np.arange(count) < 5
  return corruption.Vocabulary(
    count,
    4,
    1,
    (0,),
    (2,),
    special,
    np.ones(count, bool),
    np.zeros(count, bool),
    np.flatnonzero(~special).astype(np.int32),
  )


def abstract_batch(config: Config, words) -> dict:
  """Shapes of a micro-batch: made small of random tokens, then widened."""
  options = config.pretrain
  b = config.train.batch // config.train.microbatches
  length = options.length
  draw = np.random.default_rng(0)
  flat = draw.choice(words.ordinary, 4 * length).astype(np.int32)
  store = texts.Store(flat, np.array([0, len(flat)]), 0)
  objective = pretrain_objectives.OBJECTIVES[options.objective]
  one = rows.rows(
    store, np.array([0]), length, words.first, words.last, objective.closed
  )
  settings = {k: getattr(options, v) for k, v in objective.options.items()}
  if settings:
    settings['words'] = words
  corrupted = objective.corrupt(rows.read(one, np.array([0])), draw, **settings)
  batch = rows.finish(corrupted, one.pieces)
  return {
    name: jax.ShapeDtypeStruct(
      np.shape(value) and (np.shape(value)[0] * b, *np.shape(value)[1:]),
      np.asarray(value).dtype,
    )
    for name, value in batch.items()
  }


def lowered(objective, config: Config, words, batch: dict):
  """The gradient of one micro-batch as a program, nothing of it allocated."""
  model = objective.model(config, words)
  minimised = step.Loss(*objectives.loss(objective.terms))
  params = jax.eval_shape(lambda: model.init(0))
  key = jax.ShapeDtypeStruct((), np.uint32)
  gradient = jax.jit(
    lambda p, b, k: step.gradients(model, p, b, k, 1, minimised)
  )
  return gradient.lower(params, batch, key)
