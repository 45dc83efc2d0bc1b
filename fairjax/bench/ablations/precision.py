"""bfloat16 products against float32: seconds, losses and gradient norms.

Both train the same model on the same planted rows from the same weights, with
the same order and dropout, so that what differs is rounding. The race prints
how far the validation losses drift apart, beside how far seeds do, and, of the
rows' gradient norms under the float32 weights, how far they are apart and their
rank correlation (Spearman; near ties, which a model that has learned one class
by heart makes by the hundred, lower it at errors of 1e-4). Worth it on an
accelerator, and on a CPU that has AVX512_BF16 or AMX; of others the run says
that they emulate bfloat16 (backend.py).
"""

import dataclasses
import pathlib
import tempfile
import time

import numpy as np
from scipy.stats import spearmanr

from fairjax.bench import race
from fairjax.core import memory

TYPES = ('bfloat16', 'float32')


def run(args: list[str]) -> dict:
  known = {'model': 'mini', 'rows': 512, 'seeds': 3, 'epochs': 4.0}
  known |= {'batch': 64, 'lr': 5e-4}
  chosen = race.options('precision', __doc__, args, **known)
  memory.keep()
  with tempfile.TemporaryDirectory() as folder:
    result = measure(chosen, pathlib.Path(folder))
  losses = {name: one['losses'] for name, one in result.items()}
  drift = np.abs(losses['bfloat16'] - losses['float32']).max(1)
  spread = losses['float32'].std(1, ddof=1) if chosen.seeds > 1 else None
  rough, exact = (result[name]['norms'] for name in TYPES)
  ranks = [float(spearmanr(a, b).statistic) for a, b in zip(rough, exact)]
  far = np.quantile(np.abs(rough / exact - 1), [0.5, 0.9, 1.0], axis=1).T
  print(f'{"evaluation":28} {"losses apart":>16} {"seeds apart":>16}')
  for i, one in enumerate(drift):
    of_seeds = '' if spread is None else f'{spread[i]:16.5g}'
    print(f'{i + 1:<28} {one:16.5g} {of_seeds}')
  print(f'{"gradient norms of seed":28} {"rank correlation":>16} (apart: …)')
  for i, (rank, (half, most, worst)) in enumerate(zip(ranks, far)):
    apart = f'median {half:.1e}, 90 % {most:.1e}, worst {worst:.1e}'
    print(f'{i:<28} {rank:16.5f} ({apart})')
  return race.report(
    'precision',
    {name: [result[name]['seconds']] for name in TYPES},
    chosen,
    unit='seconds',
    losses={name: one.tolist() for name, one in losses.items()},
    rank_correlation=ranks,
    norms_apart=far.tolist(),
  )


def measure(chosen, folder: pathlib.Path) -> dict[str, dict]:
  """Losses [evaluations, s], seconds and norms [s, n] of each type."""
  from fairjax import stages
  from fairjax.config import Config, Net, Train
  from fairjax.data.sets import planted
  from fairjax.stages.model_outputs import Predictions
  from fairjax.train import loop
  from fairjax.train.progress import Log

  config = Config(
    model=chosen.model,
    seeds=chosen.seeds,
    train=Train(
      lr=chosen.lr, batch=chosen.batch, epochs=chosen.epochs, patience=0
    ),
  )
  config.planted.rows, config.planted.test_rows = chosen.rows, 20
  tables = planted.load(config)
  result, params = {}, None
  for name in reversed(TYPES):  # the norms are those of float32's weights
    own = dataclasses.replace(config, net=Net(precision=name))
    with Log(folder / name, main=False) as log:
      model = stages.prepare(own, tables, log)
      pools = stages.pools(model, tables)
      began = time.perf_counter()
      fit = loop.fit(model, *pools, own, folder / name, model.device_mesh, log)
      seconds = time.perf_counter() - began
    params = fit.params if params is None else params
    rows = np.array([row['loss'] for row in fit.history])
    result[name] = {
      'losses': rows.reshape(-1, chosen.seeds),
      'seconds': seconds,  # compiling included
      'norms': Predictions(own, model, params, tables['train']).norms,
    }
  return result
