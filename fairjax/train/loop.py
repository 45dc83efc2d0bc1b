"""The one training loop: fit, and predict. Every recipe calls these two."""

import collections
import contextlib
import functools
import math
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from scipy.special import softmax

from fairjax.config import Config, seed_list
from fairjax.core import announce, backend, lock, memory
from fairjax.core.artefacts import atomic
from fairjax.core.errors import Interrupted, count
from fairjax.data.batching import batches as packing
from fairjax.data.batching.batches import Pool
from fairjax.models import Bundle
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers import layer_params
from fairjax.train import checkpoint, mesh, optim, step, watch

PATIENCE = 3  # evaluations without a gain that are no plateau yet
FACTOR = 0.01  # of the rate at a plateau, as of Qian et al. (2022, Table 5)
# Tokens of all epochs and seeds times width² above which a second compiled
# shape repays on a CPU: of MiniLM it is 4 s, and a step of 32 comments 3 s.
REPAID = 5e10
AHEAD = 4  # batches given to the device before the first result is awaited


class Fitted(NamedTuple):
  """What a training run leaves."""

  params: Any  # stacked over seeds, on the devices: the kept weights
  steps: int  # optimiser steps taken (fewer after an early stop)
  kept: list[int]  # for each seed, the step its weights are from
  history: list[dict]  # one row an evaluation and seed
  snapshots: dict[int, pathlib.Path]  # weights at the steps asked for
  tracks: dict[int, pathlib.Path]  # training-set logits after each epoch


def initial(model: Bundle, seeds: list[int]):
  """Stacked parameters, each seed's its own."""
  each = [model.init(seed) for seed in seeds]
  return jax.tree.map(lambda *leaves: np.stack(leaves), *each)


def predict(
  model: Bundle,
  params,
  pool: Pool,
  device_mesh,
  batch: int = 64,
  layout: packing.Layout | None = None,
) -> np.ndarray:
  """Logits [s, n, c] of every example, dropout off."""
  plain = np.ones(len(pool.label), np.float32)  # nothing is weighed here
  pool = pool._replace(weight=plain)
  forward = step.forward(model, device_mesh)
  params = layer_params.as_read(model.module, params, smallest(pool))
  return over_examples(
    forward, params, pool, device_mesh, batch=batch, layout=layout
  )


def smallest(pool: Pool) -> dict:
  """A batch of one example, to look at shapes with."""
  one = packing.layout(pool.tokens.lengths[:1], 1)
  return packing.sweep(pool, np.zeros(1, np.int32), one)[0]


def over_examples(
  function: Callable,
  params,
  pool: Pool,
  device_mesh,
  batch: int = 64,
  doing: str = 'predicting',
  layout: packing.Layout | None = None,
) -> np.ndarray:
  """function(params, batch) [s, b, …] of all batches, as [s, n, …] by row."""
  while True:
    try:
      with memory.retained():
        shapes = layout or packing.layout(
          pool.tokens.lengths, batch, rows_multiple=device_mesh.shape['data']
        )
        return _by_row(function, params, pool, device_mesh, shapes, doing)
    except jax.errors.JaxRuntimeError as error:
      if 'RESOURCE_EXHAUSTED' not in str(error) or batch < 2:
        raise
    batch, layout = batch // 2, None  # which changes nothing beyond rounding
    announce.note(
      f'{doing}: a batch does not fit in memory; {count(batch, "example")} at '
      'a time from here on'
    )


def _by_row(function, params, pool, device_mesh, layout, doing):
  n = len(pool.label)
  sweep = packing.sweep(pool, np.arange(n, dtype=np.int32), layout)
  out, waiting = None, collections.deque()
  # To place arrays on an only device takes a tenth of a short step.
  alone = device_mesh.size == 1 and mesh.is_alone()
  put = lambda host: host if alone else mesh.put_batch(device_mesh, host, False)
  every = announce.rounds(range(len(sweep)), len(sweep), doing)
  for i in every:
    host = sweep[i]
    result = function(params, put(host))
    waiting.append((host['example'], result))  # asynchronous: not read yet
    while len(waiting) > (AHEAD if i + 1 < len(sweep) else 0):
      example, result = waiting.popleft()
      result = np.asarray(result, np.float32)
      if out is None:
        out = np.empty((result.shape[0], n, *result.shape[2:]), np.float32)
      out[:, example[example >= 0]] = result[:, example >= 0]  # padding: -1
  return out


def losses(logits: np.ndarray, pool: Pool) -> np.ndarray:
  """Weighted mean cross-entropy of each seed."""
  top = logits.max(-1, keepdims=True)  # exp does not overflow
  norm = np.log(np.exp(logits - top).sum(-1)) + top[..., 0]
  own = np.take_along_axis(logits, pool.label[None, :, None], 2)[..., 0]
  return ((norm - own) * pool.weight).mean(-1)


def quality(
  logits: np.ndarray, pool: Pool, asked: str = ''
) -> dict[str, np.ndarray]:
  """What an evaluation during training looks at, one number a seed.

  A coefficient is computed where it is `asked`; it is 0 where undefined.
  """
  result = {
    'loss': losses(logits, pool),
    'accuracy': (logits.argmax(-1) == pool.label).mean(-1),
  }
  positive = pool.label == 1
  if logits.shape[2] == 2 and 0 < positive.sum() < len(positive):
    margin = logits[..., 1] - logits[..., 0]
    # Mann-Whitney's U over all pairs is the AUC; scipy.stats is slow to load.
    ranks = pd.DataFrame(margin.T).rank().to_numpy()[positive].sum(0)
    n1, n0 = positive.sum(), (~positive).sum()
    result['auc'] = (ranks - n1 * (n1 + 1) / 2) / (n1 * n0)
  eye, grades = np.eye(logits.shape[2]), np.arange(logits.shape[2])[:, None]
  if asked == 'mcc':
    result['mcc'] = correlation(eye[pool.label], eye[logits.argmax(-1)])
  if asked == 'pearson':
    chances = softmax(logits, axis=-1)
    result['pearson'] = correlation(grades[pool.label], chances @ grades)
  return result


def correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
  """r of x [n, k] and y [s, n, k]; of indicators of k classes Gorodkin's R_K,
  which is Matthews correlation. 0 where one side does not vary.
  """
  x, y = x - x.mean(0), y - y.mean(1, keepdims=True)
  width = (x * x).sum() * (y * y).sum((1, 2))
  # Over ∞, which is 0, where a side does not vary.
  return (x * y).sum((1, 2)) / np.sqrt(np.where(width > 0, width, np.inf))


def chosen(result: dict[str, np.ndarray], name: str) -> str:
  """The measure that weights are chosen by: the loss where `name` is not."""
  return name if name in result else 'loss'


def better(result: dict[str, np.ndarray], name: str) -> np.ndarray:
  """Its values, a number a seed, so that more is better."""
  name = chosen(result, name)
  return -result[name] if name == 'loss' else result[name]


class Job(NamedTuple):
  """What stays the same during a fit."""

  model: Bundle
  train: Any  # a Pool, or what the task reads
  valid: Any
  config: Config
  folder: pathlib.Path
  device_mesh: Any  # the device mesh
  log: Any
  seeds: list[int]
  snapshots: tuple[int, ...]  # steps whose weights are written to files
  task: 'Task'
  track: bool  # the training rows are predicted after each epoch
  shapes: Any = None  # of the stacked parameters, as files have them


class Task(NamedTuple):
  """What a fit is for; `train` and `valid` of the job are its data."""

  source: Callable  # source(job, rows) -> the batches of every step
  players: tuple[step.Player, ...]
  measure: Callable  # measure(job, params) -> {name: a number a seed}


def fit(
  model: Bundle,
  train: Any,
  valid: Any,
  config: Config,
  folder: pathlib.Path,
  device_mesh,
  log,
  rows: np.ndarray | None = None,
  snapshots: tuple[int, ...] = (),
  part: str = '',
  task: Task | None = None,
  track: bool = False,
) -> Fitted:
  """Trains all seeds side by side on the rows of `train` each was given.

  `rows` [s, n] says which rows of the pool each seed trains on (all of them
  by default). The state after a step is a function of (config, step) alone:
  killed at any moment, the run continues from its last checkpoint to the same
  bits (on a GPU with net.deterministic). `snapshots` are steps whose weights
  are written to files of their own. `part` names this fit where a run has
  several. The task is to classify unless another is given. With `track` the
  training rows are predicted after each epoch.
  """
  seeds, task = seed_list(config), task or CLASSIFY
  given = model, train, valid, config, folder, device_mesh, log
  job = Job(*given, seeds, snapshots, task, track)
  with contextlib.ExitStack() as stack:
    stack.enter_context(memory.retained())
    stack.enter_context(backend.repeatable(config.net.deterministic))
    if mesh.is_main():
      stack.enter_context(lock.hold(folder))
    checkpoints = stack.enter_context(
      checkpoint.manager(folder / 'checkpoints')
    )
    return train_to_the_end(job, rows, part, checkpoints)


def train_to_the_end(
  job: Job, rows: np.ndarray | None, part: str, checkpoints
) -> Fitted:
  """Every step from the newest checkpoint on."""
  config, device_mesh = job.config, job.device_mesh
  options, log = config.train, job.log
  params = initial(job.model, job.seeds)
  job = job._replace(shapes=jax.eval_shape(lambda: params))
  source = job.task.source(job, rows)
  epoch = source.steps_per_epoch
  total = max(1, round(options.epochs * epoch))  # epochs may be 0.01
  due = evaluation_steps(total, epoch, options.evals)
  train_step, start = step.compiled(
    job.model, options, device_mesh, config.mesh.fsdp, job.task.players
  )
  state, meta, done = begin(job, params, start, checkpoints)
  watch.check_room(job, state)
  log.resume(done, part)
  snapshot(job, done, state['params'])
  on_devices = mesh.replicate(device_mesh, np.asarray(job.seeds, np.uint32))
  recent = watch.Recent(job, meta, done, total)
  todo = () if meta['ended'] else packing.stream(source, done, total)
  live = log.progress(total, done, options.batch * len(job.seeds))
  compiled = set()
  with watch.Stop() as stop, live:
    for host in todo:
      program = program_key(job, host, done)
      if new := program not in compiled:
        live.say('compiling')
        compiled.add(program)
      trained = {'params': state['params'], 'opt': state['opt']}
      trained, values = train_step(
        trained,
        mesh.put_batch(device_mesh, host, stacked=True),
        on_devices,
        np.uint32(done),
        np.uint32(total),
      )
      state |= trained
      done += 1
      recent.add(values)
      tokens = real_tokens(host)
      live.update(done, tokens=tokens, compiled=new, **recent.shown(done))
      snapshot(job, done, state['params'])
      if job.track and done % epoch == 0:
        track(job, done // epoch, state['params'])
      if done in due:
        evaluate(job, state, meta, recent.means(), done, done / epoch)
      stop_requested = stop.asked_anywhere(done)
      meta['ended'] = all(meta['stopped']) or done == total
      save = options.save_every > 0
      regular = save and done % options.save_every == 0
      # The weights are written next: without `save_every` they are enough.
      if regular or stop_requested or (save and meta['ended']):
        meta['recent'] = recent.plain()
        checkpoint.save(checkpoints, done, state, meta)
        log.spent()
      if meta['ended']:
        break
      if stop_requested:
        checkpoint.finish(checkpoints)
        sentence = f'saved at step {done} of {total}; run again to go on'
        log.line(f'asked to stop: {sentence}')
        raise Interrupted(sentence)
  return fitted(job, state, meta, done, epoch)


def fitted(job: Job, state: dict, meta: dict, done: int, epoch: int) -> Fitted:
  """What a training of `done` steps leaves, an epoch of `epoch`."""
  epochs = range(1, done // epoch + 1) if job.track else ()
  return Fitted(
    layer_params.cut(_whole(job, state['best']), job.shapes),
    done,
    meta['kept'],
    meta['history'],
    {k: snapshot_path(job.folder, k) for k in job.snapshots if k <= done},
    {k: track_path(job.folder, k) for k in epochs},
  )


def batches(job: Job, rows: np.ndarray | None) -> packing.Batches:
  """The batch of every step, for all seeds."""
  seeds, accumulate = job.seeds, job.config.train.microbatches
  if rows is None:
    every = np.arange(len(job.train.label), dtype=np.int32)
    rows = np.broadcast_to(every, (len(seeds), len(every)))
  few, lengths = platform_traits().few, job.train.tokens.lengths
  if job.model.shape and not platform_traits().sparing:
    read = job.config.train.epochs * rows.size * lengths.mean()
    few = 1 if read * job.model.shape.width**2 > REPAID else few
  plan = packing.layout(
    lengths,
    job.config.train.batch,
    rows_multiple=job.device_mesh.shape['data'],
    accumulate=accumulate,
    seeds=len(seeds),
    epoch=rows.shape[1],
    few=few,
  )
  return packing.packed(job.train, rows, seeds, plan, accumulate)


def classified(job: Job, params) -> dict[str, np.ndarray]:
  """The quality of a classifier on the validation rows."""
  logits = predict(
    job.model, params, job.valid, job.device_mesh, job.config.train.batch
  )
  return quality(logits, job.valid, job.config.train.metric_for_best)


CLASSIFY = Task(batches, step.CLASSIFIER, classified)


def program_key(job: Job, host: dict, done: int) -> tuple:
  """What a step's program depends on, of all that differs between steps."""
  shapes = tuple(array.shape for array in host.values())
  return shapes, step.turn(job.task.players, done)


def real_tokens(host: dict) -> int:
  """Tokens of a batch that are not padding; 0 where it holds no text."""
  return int((host['segment_ids'] > 0).sum()) if 'segment_ids' in host else 0


def evaluation_steps(total: int, epoch: int, evals: float) -> set[int]:
  """Steps after which to evaluate: `evals` times an epoch, and at the end."""
  count = int(round(total * evals / epoch, 6))
  # Rounded, since 25 · (11 / 5) is a little more than 55.
  after = (round(k * epoch / evals, 6) for k in range(1, count + 1))
  return {math.ceil(steps) for steps in after} | {total}


def begin(job: Job, params, start, checkpoints):
  """The state and bookkeeping at step 0, or of the newest checkpoint."""
  device_mesh, fsdp = job.device_mesh, job.config.mesh.fsdp
  params = mesh.put_held(device_mesh, layer_params.padded(params), fsdp)
  # The kept weights are a copy of their own: the step donates its buffers.
  best = jax.tree.map(lambda leaf: leaf.copy(), params)
  state = {'params': params, 'opt': start(params), 'best': best}
  n = len(job.seeds)
  meta = {
    'best': [None] * n,  # the best value of each seed's evaluations
    'bad': [0] * n,  # evaluations since then
    'stopped': [False] * n,
    'kept': [0] * n,  # the step of each seed's kept weights
    'history': [],
    'recent': [],  # losses and terms since the last evaluation
    'ended': False,
  }
  like = jax.tree.map(
    lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), state
  )
  restored = checkpoint.restore(checkpoints, like, job.log)
  if restored is None:
    return state, meta, 0
  done, state, meta = restored
  return state, meta, done


def evaluate(
  job: Job, state: dict, meta: dict, trained: dict, done: int, epoch: float
) -> None:
  """Measures all seeds on the validation rows and keeps what got better."""
  train = job.config.train
  result = job.task.measure(job, _whole(job, state['params']))
  for i, seed in enumerate(job.seeds):
    row = {
      'step': done,
      'epoch': round(epoch, 6),
      'split': 'valid',
      'seed': seed,
      **{f'train_{k}': float(v[i]) for k, v in trained.items()},
      **{k: float(v[i]) for k, v in result.items()},
    }
    meta['history'].append(row)
    job.log.row(**row)
  value = better(result, train.metric_for_best)
  gains = improved(meta, value, done, train.load_best, train.patience)
  state['best'] = keep_better(gains, state['params'], state['best'])
  if train.schedule == 'plateau':
    state['opt'] = optim.lowered(state['opt'], plateau(meta))
  job.log.evaluated(done, {k: float(v.mean()) for k, v in result.items()})


def improved(
  meta: dict, value: np.ndarray, done: int, load_best: bool, patience: int
) -> np.ndarray:
  """Which seeds' weights are kept now; a seed that has stopped is left."""
  better = np.zeros(len(value), bool)
  for i, one in enumerate(value):
    if meta['stopped'][i]:
      continue
    gain = meta['best'][i] is None or one > meta['best'][i]
    meta['bad'][i] = 0 if gain else meta['bad'][i] + 1
    if gain:
      meta['best'][i] = float(one)
    better[i] = gain or not load_best
    if better[i]:
      meta['kept'][i] = done
    meta['stopped'][i] = bool(patience and meta['bad'][i] >= patience)
  return better


def plateau(meta: dict) -> np.ndarray:
  """What each seed's rate is multiplied by after an evaluation, [s].

  As PyTorch's ReduceLROnPlateau and so ParlAI: the factor after each
  PATIENCE + 1 evaluations in a row that are no better than the best.
  """
  every = PATIENCE + 1  # torch lowers when bad exceeds its patience
  low = [
    bad > 0 and bad % every == 0 and not stopped
    for bad, stopped in zip(meta['bad'], meta['stopped'])
  ]
  return np.where(low, FACTOR, 1.0).astype(np.float32)


@functools.partial(jax.jit, donate_argnums=2)
def keep_better(better, new, old):
  """Each seed's new weights where they are better, else the old."""
  # `old` is donated: a third copy would be the most that a fit holds.
  return jax.tree.map(
    lambda a, b: jax.numpy.where(better.reshape(-1, *[1] * (a.ndim - 1)), a, b),
    new,
    old,
  )


def _whole(job: Job, params):
  """What a fit holds, on the devices that read it."""
  return mesh.whole(job.device_mesh, params, job.config.mesh.fsdp)


def snapshot_path(folder: pathlib.Path, done: int) -> pathlib.Path:
  return folder / 'snapshots' / f'step_{done}.safetensors'


def snapshot(job: Job, done: int, params) -> None:
  """Writes the stacked weights at a step that was asked for."""
  if done not in job.snapshots:
    return
  params = mesh.to_host(layer_params.cut(_whole(job, params), job.shapes))
  path = snapshot_path(job.folder, done)
  if mesh.is_main():
    checkpoint.write_weights(path, params)


def track_path(folder: pathlib.Path, epoch: int) -> pathlib.Path:
  return folder / 'tracks' / f'epoch_{epoch}.npy'


def track(job: Job, epoch: int, params) -> None:
  """Writes the logits [s, n, c] of all training rows after an epoch."""
  params = _whole(job, params)
  logits = predict(job.model, params, job.train, job.device_mesh)
  if mesh.is_main():
    with atomic(track_path(job.folder, epoch)) as part:
      np.save(part, logits)
