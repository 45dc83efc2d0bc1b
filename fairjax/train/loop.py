"""The one training loop: fit, and predict. Every recipe calls these two."""

import math
import pathlib
import signal
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.stats import rankdata

from fairjax.artefacts import atomic
from fairjax.config import Config
from fairjax.data import batches as packing
from fairjax.data.batches import Pool
from fairjax.errors import Interrupted
from fairjax.models import Model
from fairjax.train import checkpoint, mesh, step


class Fitted(NamedTuple):
  """What a training run leaves."""

  params: Any  # stacked over seeds, on the devices: the kept weights
  steps: int  # optimiser steps taken (fewer after an early stop)
  kept: list[int]  # for each seed, the step its weights are from
  history: list[dict]  # one row an evaluation and seed
  snapshots: dict[int, pathlib.Path]  # weights at the steps asked for
  tracks: dict[int, pathlib.Path]  # training-set logits after each epoch


def seed_list(config: Config) -> list[int]:
  return list(range(config.seed, config.seed + config.seeds))


def initial(model: Model, seeds: list[int]):
  """Stacked parameters, each seed's its own."""
  each = [model.init(seed) for seed in seeds]
  return jax.tree.map(lambda *leaves: np.stack(leaves), *each)


def predict(
  model: Model, params, pool: Pool, place, batch: int = 64, log=None
) -> np.ndarray:
  """Logits [s, n, c] of every example, dropout off."""
  forward = step.forward(model, place)
  rows = np.arange(len(pool.label), dtype=np.int32)
  layout = packing.layout(
    pool.tokens.lengths, batch, rows_multiple=place.shape['data']
  )
  sweep = packing.sweep(pool, rows, layout)
  parts, where = [], []
  for i in range(len(sweep)):
    host = sweep[i]
    on_device = mesh.place_batch(place, host, stacked=False)
    parts.append(forward(params, on_device))  # dispatched, not waited for
    where.append(host['example'])
    if log:
      log.step(i + 1, len(sweep))
  logits = np.concatenate([np.asarray(p, np.float32) for p in parts], axis=1)
  example = np.concatenate(where)
  out = np.empty((logits.shape[0], len(rows), logits.shape[2]), np.float32)
  out[:, example[example >= 0]] = logits[:, example >= 0]
  return out


def losses(logits: np.ndarray, pool: Pool) -> np.ndarray:
  """Weighted mean cross-entropy of each seed."""
  top = logits.max(-1, keepdims=True)
  norm = np.log(np.exp(logits - top).sum(-1)) + top[..., 0]
  own = np.take_along_axis(logits, pool.label[None, :, None], 2)[..., 0]
  return ((norm - own) * pool.weight).mean(-1)


def quality(logits: np.ndarray, pool: Pool) -> dict[str, np.ndarray]:
  """What an evaluation during training looks at, one number a seed."""
  found = {
    'loss': losses(logits, pool),
    'accuracy': (logits.argmax(-1) == pool.label).mean(-1),
  }
  positive = pool.label == 1
  if logits.shape[2] == 2 and 0 < positive.sum() < len(positive):
    margin = logits[..., 1] - logits[..., 0]
    ranks = rankdata(margin, axis=-1)[:, positive].sum(-1)
    n1, n0 = positive.sum(), (~positive).sum()
    found['auc'] = (ranks - n1 * (n1 + 1) / 2) / (n1 * n0)
  return found


def fit(
  model: Model,
  train: Pool,
  valid: Pool,
  config: Config,
  folder: pathlib.Path,
  place,
  log,
  rows: np.ndarray | None = None,
  snapshots: tuple[int, ...] = (),
  part: str = '',
) -> Fitted:
  """Trains all seeds side by side on the rows of `train` each was given.

  `rows` [s, n] says which rows of the pool each seed trains on (all of them
  by default). The state after a step is a function of (config, step) alone:
  killed at any moment, the run continues from its last checkpoint to the same
  bits. `snapshots` are steps whose weights are written to files of their own.
  `part` names this fit where a run has several.
  """
  options, seeds = config.train, seed_list(config)
  if rows is None:
    every = np.arange(len(train.label), dtype=np.int32)
    rows = np.broadcast_to(every, (len(seeds), len(every)))
  plan = packing.layout(
    train.tokens.lengths,
    options.batch,
    rows_multiple=place.shape['data'],
    accumulate=options.accumulate,
    seeds=len(seeds),
  )
  source = packing.Batches(train, rows, seeds, plan, options.accumulate)
  epoch = source.steps_per_epoch
  total = max(1, round(options.epochs * epoch))
  due = evaluation_steps(total, epoch, options.evals)
  train_step, start = step.compiled(model, options, place, config.mesh.fsdp)

  checkpoints = checkpoint.manager(folder / 'checkpoints')
  state, meta, first = begin(
    model, seeds, start, checkpoints, place, config.mesh.fsdp
  )
  log.resume(first, part)
  if first == 0:
    snapshot(folder, 0, state['params'], snapshots)
  on_devices = mesh.place_everywhere(place, np.asarray(seeds, np.uint32))
  stop = Stop()
  done = first
  ended = meta['ended']
  stream = () if ended else packing.stream(source, first, total)
  recent = [np.asarray(loss, np.float32) for loss in meta['recent']]
  with stop, log.progress(total, first, options.batch * len(seeds)) as live:
    for host in stream:
      batch = mesh.place_batch(place, host, stacked=True)
      live_state = {'params': state['params'], 'opt': state['opt']}
      live_state, loss = train_step(
        live_state, batch, on_devices, np.uint32(done), np.uint32(total)
      )
      state |= live_state
      done += 1
      recent.append(loss)
      live.update(
        done, tokens=int((host['owner'] > 0).sum()), loss=lambda: float(loss[0])
      )
      snapshot(folder, done, state['params'], snapshots)
      if options.track and done % epoch == 0:
        track(folder, done // epoch, model, state['params'], train, place)
      if done in due:
        evaluate(
          model,
          state,
          meta,
          valid,
          config,
          place,
          log,
          done,
          done / epoch,
          np.mean(np.stack([np.asarray(r) for r in recent]), 0),
          seeds,
        )
        recent = []
      asked = mesh.any_process(stop.asked) if stop.watches(done) else False
      ended = all(meta['stopped']) or done == total
      if done % options.save_every == 0 or asked or ended:
        meta['ended'] = ended
        meta['recent'] = [np.asarray(loss).tolist() for loss in recent]
        checkpoint.save(checkpoints, done, state, meta)
      if asked and not ended:
        checkpoints.wait_until_finished()
        log.line(f'asked to stop: saved at step {done} of {total}')
        raise Interrupted(
          f'saved at step {done} of {total}; run again to go on'
        )
      if ended:
        break
  checkpoints.wait_until_finished()
  checkpoints.close()
  return Fitted(
    state['best'],
    done,
    meta['kept'],
    meta['history'],
    {k: snapshot_path(folder, k) for k in snapshots if k <= done},
    {k: track_path(folder, k) for k in range(1, done // epoch + 1)}
    if options.track
    else {},
  )


def evaluation_steps(total: int, epoch: int, evals: float) -> set[int]:
  """Steps after which to evaluate: `evals` times an epoch, and at the end."""
  every = epoch / evals
  count = int(total / every)
  return {math.ceil((k + 1) * every) for k in range(count)} | {total}


def begin(model, seeds, start, checkpoints, place, fsdp):
  """The state and bookkeeping at step 0, or of the newest checkpoint."""
  params = mesh.place_state(place, initial(model, seeds), fsdp)
  # The kept weights are a copy of their own: the step donates its buffers.
  best = jax.tree.map(lambda leaf: leaf.copy(), params)
  opt = mesh.place_state(place, start(params), fsdp)
  state = {'params': params, 'opt': opt, 'best': best}
  n = len(seeds)
  meta = {
    'best': [None] * n,
    'bad': [0] * n,
    'stopped': [False] * n,
    'kept': [0] * n,
    'history': [],
    'recent': [],
    'ended': False,
  }
  like = jax.tree.map(
    lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), state
  )
  saved = checkpoint.restore(checkpoints, like)
  if saved is None:
    return state, meta, 0
  done, state, meta = saved
  return state, meta, done


def evaluate(
  model, state, meta, valid, config, place, log, done, epoch, train_loss, seeds
) -> None:
  """Measures all seeds on the validation rows and keeps what got better."""
  logits = predict(model, state['params'], valid, place, config.train.batch)
  found = quality(logits, valid)
  name = config.train.best if config.train.best in found else 'loss'
  value = -found[name] if name == 'loss' else found[name]
  better = []
  for i, seed in enumerate(seeds):
    row = {
      'step': done,
      'epoch': round(epoch, 6),
      'split': 'valid',
      'seed': seed,
      'train_loss': float(train_loss[i]),
      **{k: float(v[i]) for k, v in found.items()},
    }
    meta['history'].append(row)
    log.row(**row)
    gain = meta['best'][i] is None or value[i] > meta['best'][i]
    if meta['stopped'][i]:
      better.append(False)
      continue
    better.append(bool(gain or config.train.keep == 'last'))
    meta['bad'][i] = 0 if gain else meta['bad'][i] + 1
    if gain:
      meta['best'][i] = float(value[i])
    if better[-1]:
      meta['kept'][i] = done
    patience = config.train.patience
    meta['stopped'][i] = bool(patience and meta['bad'][i] >= patience)
  state['best'] = _keep(np.asarray(better), state['params'], state['best'])
  log.evaluated(done, {k: float(v.mean()) for k, v in found.items()})


@jax.jit
def _keep(better, new, old):
  """Each seed's new weights where they are better, else the old."""
  return jax.tree.map(
    lambda a, b: jax.numpy.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b),
    new,
    old,
  )


def snapshot_path(folder: pathlib.Path, done: int) -> pathlib.Path:
  return folder / 'snapshots' / f'step_{done}.safetensors'


def snapshot(folder, done, params, wanted) -> None:
  """Writes the stacked weights at a step that was asked for."""
  path = snapshot_path(folder, done)
  if done in wanted and mesh.is_main() and not path.exists():
    checkpoint.write_weights(path, params)


def track_path(folder: pathlib.Path, epoch: int) -> pathlib.Path:
  return folder / 'tracks' / f'epoch_{epoch}.npy'


def track(folder, epoch, model, params, train, place) -> None:
  """Writes the logits [s, n, c] of all training rows after an epoch."""
  path = track_path(folder, epoch)
  logits = predict(model, params, train, place)
  if mesh.is_main():
    with atomic(path) as part:
      np.save(part, logits)


class Stop:
  """Remembers SIGTERM (and SIGINT) so that the loop can save and leave."""

  def __init__(self):
    self.asked = False

  def __enter__(self):
    self._old = {}
    for which in (signal.SIGTERM, signal.SIGINT):
      try:
        self._old[which] = signal.signal(which, self._remember)
      except ValueError:  # not the main thread: nobody can ask us
        pass
    return self

  def __exit__(self, *_):
    for which, handler in self._old.items():
      signal.signal(which, handler)

  def _remember(self, number, frame):
    self.asked = True

  def watches(self, done: int) -> bool:
    """Whether to look now: processes must agree, which costs a message."""
    return jax.process_count() == 1 or done % 20 == 0
