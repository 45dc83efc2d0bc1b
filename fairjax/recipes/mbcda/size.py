"""MBCDA at full size: memory, FLOPs and hours, estimated.

One step of the generator against its discriminator is traced for shapes alone.
FLOPs are XLA's cost analysis of the traced gradient, memory that of the
program it compiles for this backend: with the discriminator folded and the
token loss in chunks (models/discriminator.py, layers/linear_loss.py), and with
the logits [places, vocabulary] made at once, as they were published.
"""

import pathlib
from typing import Any

import jax
import numpy as np

from fairjax import stages
from fairjax.config import Config
from fairjax.data.batching import seq2seq
from fairjax.data.batching.tokens import Ragged
from fairjax.models import adversary, build, families, of_module
from fairjax.models.layers.linear_loss import CHUNK
from fairjax.models.layers.places import blank_batch
from fairjax.results import Results
from fairjax.train import mesh, step
from fairjax.train.progress import Log

HOUR, FLOAT = 3600.0, 4
FEW = 4  # pairs that are made; a batch's shapes are theirs, widened


def run(config: Config, folder: pathlib.Path) -> Results:
  """Counts, and no artefact but the report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    log.line('dry run: traced and compiled, not run')
    facts = size(config)
    for name, value in facts.items():
      log.line(f'{name}: {value:,}')
    results = stages.results(
      config,
      data=f'{config.adversary.dry_run:,} pairs',
      model=config.rewriters.generator,
      seeds=[],
      title='MBCDA: a dry run',
      facts=facts,
      notes=[
        'FLOPs: cost analysis of the traced gradient; memory: temporaries of '
        'the program compiled for this backend. Hours are of one generator, '
        'at the peak and share that pretrain.tflops and pretrain.utilisation '
        'say.'
      ],
    )
    return stages.publish(folder, results, log)


def size(config: Config) -> dict[str, Any]:
  """Parameters, memory of a step either way, FLOPs and hours."""
  chosen, options = config.rewriters, config.pretrain
  batch = abstract_batch(chosen.batch, config.tokens.max_length)
  places = int(np.prod(batch['target'].shape))
  program = lambda folded, chunk, scan: lowered(
    config, batch, folded, chunk, scan
  )
  # A loop's body is counted once: chunks of everything, layers unrolled.
  flops = {
    kind: program(folded, places, False).cost_analysis()['flops']
    for kind, folded in (('folded', True), ('with logits', False))
  }
  memory = {
    kind: program(folded, chunk, True).compile().memory_analysis()
    for kind, folded, chunk in (
      ('folded', True, CHUNK),
      ('with logits', False, places),
    )
  }
  model = players(config, True, False)
  shapes = jax.eval_shape(lambda: model.init(0))
  count = {
    name: sum(leaf.size for leaf in jax.tree.leaves(part))
    for name, part in shapes.items()
  }
  steps = round(config.adversary.dry_run / chosen.batch * chosen.epochs)
  rate = options.tflops * 1e12 * options.utilisation
  return {
    'parameters of the generator': count['generator'],
    'parameters of the discriminator': count['discriminator'],
    'pairs of a step': chosen.batch,
    'tokens of a target': config.tokens.max_length,
    'logits of a step in GB, were they made': places
    * model.shape.vocab
    * FLOAT
    / 1e9,
    **{
      f'a step in GB, {kind} (gradients and activations)': (
        one.temp_size_in_bytes / 1e9
      )
      for kind, one in memory.items()
    },
    **{f'TFLOPs of a step, {kind}': n / 1e12 for kind, n in flops.items()},
    'steps of a generator': steps,
    f'hours at {options.tflops:g} TFLOP/s and {options.utilisation:.0%}': (
      steps * flops['folded'] / rate / HOUR
    ),
  }


def players(config: Config, folded: bool, scan: bool, chunk: int = CHUNK):
  """Both players with the shape that is named; nothing is allocated."""
  shape = families.named(config.rewriters.generator, 0, 'bart', 'write')
  module = families.module(
    build.with_dropout(shape, config),
    'write',
    build.precision(config),
    scan,
    config.net.remat,
  )
  init = lambda seed: module.init(jax.random.key(seed), blank_batch())['params']
  generator = of_module(module, init, can='write', longest=shape.longest)
  options = config.adversary
  return adversary.model(
    generator,
    rate=options.dropout,
    centred=options.centred,
    folded=folded,
    chunk=chunk,
  )


def abstract_batch(pairs: int, length: int) -> dict:
  """Shapes of a batch of whole rows: a few made pairs, widened."""
  flat = np.zeros(FEW * length, np.int32)
  texts = Ragged(flat, np.arange(FEW + 1, dtype=np.int64) * length)
  pool = seq2seq.pool(texts, texts)
  batch = next(iter(seq2seq.sweep(pool, FEW)))
  wide = lambda shape: (
    (-(-shape[0] * pairs // FEW), *shape[1:]) if shape else shape
  )
  return {
    name: jax.ShapeDtypeStruct(wide(np.shape(value)), np.asarray(value).dtype)
    for name, value in (batch | {'push': np.float32(1)}).items()
  }


def lowered(
  config: Config, batch: dict, folded: bool, chunk: int, scan: bool
) -> Any:
  """The generator's gradient against a frozen discriminator, as a program."""
  model = players(config, folded, scan, chunk)
  params = jax.eval_shape(lambda: model.init(0))

  def gradient(generator, discriminator, batch, key):
    def total(model, own, batch, key):
      both = {'generator': own, 'discriminator': discriminator}
      return adversary.generator_loss(model, both, batch, key, chunk)

    minimised = step.Loss(total, adversary.one)
    return step.gradients(model, generator, batch, key, 1, minimised)

  key = jax.ShapeDtypeStruct((), np.uint32)
  return jax.jit(gradient).lower(
    params['generator'], params['discriminator'], batch, key
  )
