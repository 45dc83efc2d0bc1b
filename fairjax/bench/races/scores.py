"""All example scores (GE, EL2N, GraNd, forgetting) for all seeds.

Planted rows under a model of random weights: the time does not depend on what
it has learned. A part's time is for all rows and all seeds; EL2N is the
forward pass, which GE then needs for the twins only; forgetting is the forward
pass of one epoch more. The last line says how many hours a million rows take.
"""

import dataclasses
import pathlib
import tempfile

import numpy as np

from fairjax.bench import race
from fairjax.core import memory


def run(args: list[str]) -> dict:
  known = {'model': 'mini', 'rows': 512, 'seeds': 5, 'epochs': 5, 'batch': 64}
  chosen = race.options('scores', __doc__, args, **known)
  memory.keep()
  with tempfile.TemporaryDirectory() as folder:
    times = measure(chosen, pathlib.Path(folder))
  # The whole table: the forward pass, the twins, the gradients, the epochs.
  whole = [
    a + b + c + chosen.epochs * a + d
    for a, b, c, d in zip(*(times[k] for k in PARTS))
  ]
  items = chosen.rows * chosen.seeds
  parts = {name: items / float(np.median(one)) for name, one in times.items()}
  hours = float(np.median(whole)) / chosen.rows * 1e6 / 3600
  facts = {'parts': parts, 'hours_per_million': hours}
  facts |= {'unit': 'examples/s', 'items': items}
  title, times = f'scores {chosen.model}', {'whole table': whole}
  result = race.report(title, times, chosen, **facts)
  for name, speed in parts.items():
    print(f'{name:28} {speed:16.5g}')
  print(
    f'{hours:.2f} hours for a million rows, {chosen.seeds} seeds and '
    f'{chosen.epochs} epochs of forgetting'
  )
  return result


PARTS = ('forward (EL2N)', 'twins (GE)', 'gradients (GraNd)', 'forgetting')


def measure(chosen, folder: pathlib.Path) -> race.Times:
  from fairjax import stages
  from fairjax.config import Config
  from fairjax.data.sets import planted
  from fairjax.scores import cartography, error_scores, forgetting
  from fairjax.stages.model_outputs import Predictions
  from fairjax.train import loop, mesh
  from fairjax.train.progress import Log

  config = Config(model=chosen.model, seeds=chosen.seeds)
  config.train = dataclasses.replace(config.train, batch=chosen.batch)
  config.planted.rows, config.planted.test_rows = chosen.rows, 20
  tables = planted.load(config)
  with Log(folder, main=False) as log:
    model = stages.prepare(config, tables, log)
  params = loop.initial(model, loop.seed_list(config))
  params = mesh.put_state(model.device_mesh, params)
  predictions = Predictions(config, model, params, tables['train'])
  correct = predictions.logits.argmax(-1) == predictions.label
  correct = np.stack([correct] * chosen.epochs, 1)

  def forward():
    predictions.__dict__.pop('logits', None)
    error_scores.el2n(predictions.logits, predictions.label)

  def twins():
    predictions.__dict__.pop('twins', None)
    error_scores.ge(predictions.logits, predictions.twins)

  def gradients():
    predictions.__dict__.pop('norms', None)
    return predictions.norms

  def count():
    forgetting.forgetting(correct)
    cartography.correctness(correct)

  sides = dict(zip(PARTS, (forward, twins, gradients, count)))
  return race.interleave(sides, chosen.rounds, clock=chosen.clock)
