"""Example scores as a stage: a probe trained, its rows scored, scores.parquet.

The frame is described in data/tables/score_table.py.
"""

import functools
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config, changed, seed_list
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.data.tables.score_table import names, rank, read
from fairjax.models import Bundle
from fairjax.scores import SCORES, TRACKED
from fairjax.stages import fits, reuse
from fairjax.stages.experiment import Experiment
from fairjax.stages.identity import identity
from fairjax.stages.model_outputs import Predictions
from fairjax.train import checkpoint, loop, mesh
from fairjax.train.progress import Log


def compute(config: Config, *of: Any) -> pd.DataFrame:
  """The frame of `config.scoring.names`; `of` is what Predictions are of."""
  predictions = Predictions(config, *of)
  ids = list(predictions.table['id'])
  columns: dict = {'id': ids}
  for name in config.scoring.names:
    values = find(SCORES, 'score', name)(predictions, config).astype(np.float64)
    columns[name] = values.mean(0)
    columns[f'{name}_rank'] = rank(columns[name], ids)
    for seed, row in zip(seed_list(config), values):
      columns[f'{name}_s{seed}'] = row
  scores = pd.DataFrame(columns)
  predicted = predictions.logits.argmax(-1)
  classes = predictions.logits.shape[2]
  quality = loop.quality(predictions.logits, predictions.pool)
  scores.attrs = {
    'model': config.model,
    'seeds': seed_list(config),
    'predicted': [
      np.bincount(p, minlength=classes).tolist() for p in predicted
    ],
    **{name: value.tolist() for name, value in quality.items()},
  }
  return scores


def _content(table: pd.DataFrame) -> pd.DataFrame:
  known = [*schema.REQUIRED, 'text_pair', 'twin', 'twin_pair', 'weight']
  return table[[c for c in known if c in table]]


def _stage(folder, made_from, make, earlier='') -> pd.DataFrame:
  return reuse.stage(
    pathlib.Path(folder) / 'scores.parquet',
    made_from,
    lambda path: reuse.write_table(path, make()),
    artefacts.read_table,
    reuse=earlier,
  )


def moment(at: str, epochs: float | int) -> float | None:
  """The epoch that `scoring.at` names; None is the end of the probe's run."""
  if at in ('end', 'start'):
    return 0.0 if at == 'start' else None
  word, _, number = at.partition(' ')
  try:
    epoch = float(number) if word == 'epoch' else math.nan
  except ValueError:
    epoch = math.nan
  if not 0 <= epoch <= epochs:
    raise UserError(
      f"scoring.at is {at!r}; it must be 'end', 'start' or 'epoch K' with K "
      f'from 0 to train.epochs ({epochs:g})'
    )
  return epoch


def schedule(config: Config, epochs: float | int) -> Config:
  """The config of a scoring run: all its epochs, the last weights kept."""
  own = {'epochs': epochs, 'load_best': False, 'patience': 0}
  return changed(config, train=own)


def probe(
  config: Config, model: Bundle, tables: Tables, folder: pathlib.Path, log: Log
) -> pd.DataFrame:
  """folder/scores.parquet of the training rows: read, or trained and scored.

  `scoring.at` is the end of a run of `scoring.epochs` whose rate decays over
  just that run (the paper's commands), the start, or an epoch of a run of
  `train.epochs`. Scores over epochs need at least two: where the scored run is
  shorter they come from a run of `train.epochs`.
  """
  table, folder = tables['train'], pathlib.Path(folder)
  for name in config.scoring.names:
    find(SCORES, 'score', name)
  if config.scoring.path:
    scores = read(config.scoring.path, table, config.scoring.names)
    log.line(f'scores: taken from {config.scoring.path}')
    return _stage(folder, artefacts.fingerprint(scores), lambda: scores)
  epoch = moment(config.scoring.at, config.train.epochs)
  run = schedule(
    config, config.scoring.epochs if epoch is None else config.train.epochs
  )
  tracked = tracked_run(config, run)
  if tracked is not None and tracked.train.epochs == run.train.epochs:
    run = tracked
  runs = [run] if tracked is None else [run, tracked]
  made_from = identity(
    config,
    'scores',
    _content(table),
    _content(tables['valid']),
    *(identity(one, 'training') for one in runs),
  )

  def make():
    log.line(cost(config, run, tracked))
    fit, step = None, 0
    if epoch is not None:
      step = steps(config, len(table), epoch)
    if epoch is None or step or run is tracked:
      snapshots = (step,) if step else ()
      how = snapshots, run is tracked
      fit = _fit(run, model, tables, folder / 'probe', log, *how)
    params, step = _weights(config, model, fit, epoch, step)
    follow = fit
    if tracked is not None and tracked is not run:
      at = folder / 'probe_epochs'
      follow = _fit(tracked, model, tables, at, log, track=True)
    tracks = {} if tracked is None else follow.tracks
    scores = compute(config, model, params, table, tracks)
    scores.attrs |= {
      'step': step,
      'at': config.scoring.at,
      'made_from': made_from,
    }
    return scores

  scores = _stage(folder, made_from, make, config.reuse)
  log.line(f'scores {", ".join(names(scores))}: {folder / "scores.parquet"}')
  return scores


def cost(config: Config, run: Config, tracked: Config | None) -> str:
  """What there is to train before the scores are known."""
  text = f'scores {", ".join(config.scoring.names)}: '
  if config.scoring.at == 'start':
    text += 'of the model before any training'
  else:
    epochs = run.train.epochs
    text += f'from a probe of {epochs:g} epoch{"s"[: epochs != 1]}'
  if tracked is not None and tracked is not run:
    every = [name for name in config.scoring.names if name in TRACKED]
    text += (
      f', and {", ".join(every)} from a run of {tracked.train.epochs:g} epochs'
    )
  return text


def tracked_run(config: Config, run: Config) -> Config | None:
  """The run whose epochs are predicted, if any score asks for that."""
  names = [name for name in config.scoring.names if name in TRACKED]
  if not names:
    return None
  longest = max(run.train.epochs, config.train.epochs)
  if longest < 2:
    raise UserError(
      f'score {names[0]!r} compares epochs, but scoring.epochs is '
      f'{config.scoring.epochs:g} and train.epochs {config.train.epochs:g}; '
      'let one of them be at least 2'
    )
  epochs = run.train.epochs if run.train.epochs >= 2 else longest
  return schedule(config, epochs)


def _fit(
  config, model, tables, folder, log, snapshots=(), track=False
) -> loop.Fitted:
  """A scoring run, with a log and learning curves of its own."""
  with Log(folder, main=log.main, screen=log.screen) as own:
    e, pools = Experiment(config, folder, own), fits.pools(model, tables)
    return e.fit(model, pools, snapshots=snapshots, track=track)


def _weights(config, model, fit, epoch, step):
  """(stacked parameters, step) of the end of a run, or after `step` steps."""
  if epoch is None:
    return fit.params, fit.steps
  if step == 0:  # nothing has to be trained to know where training starts
    params = loop.initial(model, seed_list(config))
  else:
    params = checkpoint.read_weights(fit.snapshots[step])
  return mesh.put_state(model.device_mesh, params, config.mesh.fsdp), step


def over_epochs(
  config: Config,
  model: Bundle,
  tables: Tables,
  folder: pathlib.Path,
  log: Log,
  epochs: Sequence[float] = (1, 2, 3, 4, 5),
) -> dict[str, pd.DataFrame]:
  """Scores after several epochs of one run of `train.epochs`, by epoch."""
  at = [moment(f'epoch {e:g}', config.train.epochs) or 0.0 for e in epochs]
  run = schedule(config, config.train.epochs)
  track = tracked_run(config, run) is not None
  table, folder = tables['train'], pathlib.Path(folder)
  when = [steps(config, len(table), epoch) for epoch in at]
  snapshots = tuple(step for step in when if step)
  own = folder / 'probe_epochs'
  fit = _fit(run, model, tables, own, log, snapshots, track)
  tracked = [artefacts.read_arrays(x) for _, x in sorted(fit.tracks.items())]
  result = {}
  for epoch, step in zip(epochs, when):
    params, _ = _weights(config, model, fit, epoch, step)
    made_from = identity(
      config,
      'scores',
      _content(table),
      [config.model, seed_list(config)],
      *(np.asarray(leaf) for leaf in checkpoint.flatten(params).values()),
      *tracked,
    )
    make = functools.partial(compute, config, model, params, table, fit.tracks)
    target = own / f'epoch_{epoch:g}'
    result[f'{epoch:g}'] = _stage(target, made_from, make, config.reuse)
  return result


def steps(config: Config, rows: int, epoch: float | int) -> int:
  """The number of steps after so many epochs of so many rows."""
  return round(epoch * -(-rows // config.train.batch))  # the last may be short
