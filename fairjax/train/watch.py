"""What a fit watches: losses, disk space, requests to stop."""

import os
import shutil
import signal
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from fairjax.core.errors import UserError, asked_to_stop
from fairjax.train import checkpoint, mesh, optim, step

AHEAD = 4  # steps that may run before a loss is looked at
AGREED = 20  # steps after which processes ask each other whether to stop


class Recent:
  """Losses and terms since the last evaluation, left on the devices."""

  def __init__(self, job, meta: dict, done: int, total: int):
    self.job, self.meta, self.done, self.total = job, meta, done, total
    # Of each step, one number a seed.
    self.parts = [
      {k: np.asarray(v, np.float32) for k, v in values.items()}
      for values in meta['recent']
    ]
    self.checked = len(self.parts)
    self.last: dict[str, Any] = {}

  def add(self, values: dict) -> None:
    self.done += 1
    self.parts.append(values)
    self.last |= values
    self.check(AHEAD)  # old enough: nobody waits for a device

  def check(self, ahead: int = 0) -> None:
    """Stops at the first loss or term that is not a finite number."""
    going = ~np.array(self.meta['stopped'])  # of others nothing more is kept
    while self.checked < len(self.parts) - ahead:
      for name, value in self.parts[self.checked].items():
        bad = ~np.isfinite(value) & going
        if bad.any():
          self.stop(name, int(np.flatnonzero(bad)[0]))
      self.checked += 1

  def stop(self, name: str, which: int) -> None:
    """At the step that is looked at, whose seed of that number fails."""
    at = self.done - len(self.parts) + self.checked + 1
    rates = self.rates(at)
    text = ', '.join(f'{k} {float(v()):.3g}' for k, v in rates.items())
    raise UserError(
      f'the {name.replace("_", " ")} of seed {self.job.seeds[which]} is not a '
      f'finite number at step {at:,} of {self.total:,} ({text}); choose a '
      'smaller rate with --config.train.lr, now '
      f'{self.job.config.train.lr:g}'
    )

  def rates(self, done: int) -> dict[str, Callable]:
    """The rate of each player in the step that led to `done`."""
    players, train = self.job.task.players, self.job.config.train
    rates: dict[str, Callable] = {}
    for i, player in enumerate(players):
      options = player.options or train
      rate = lambda options=options: float(
        optim.rate(options, done - 1, self.total)
      )
      rates |= step.labels(players, i, {'lr': rate})
    return rates

  def shown(self, done: int) -> dict[str, Callable]:
    """What the live line shows, looked at only when it is drawn."""
    # One process draws: a program of value[0] would wait for the others.
    first = lambda value: lambda: float(np.asarray(value)[0])
    return self.rates(done) | {k: first(v) for k, v in self.last.items()}

  def means(self) -> dict[str, np.ndarray]:
    """The mean of each since the last call, one number a seed."""
    self.check()
    names = dict.fromkeys(name for values in self.parts for name in values)
    every = lambda name: [v[name] for v in self.parts if name in v]
    means = {name: np.mean(np.stack(every(name)), 0) for name in names}
    self.parts, self.checked = [], 0
    return means

  def plain(self) -> list[dict]:
    """All of them for the checkpoint's notes."""
    self.check()
    return [
      {k: np.asarray(v).tolist() for k, v in values.items()}
      for values in self.parts
    ]


def check_room(job, state: dict) -> None:
  """Stops where the disk cannot hold what this fit is going to write."""
  if not mesh.is_main():
    return
  size = lambda tree: sum(leaf.nbytes for leaf in jax.tree.leaves(tree))
  files = checkpoint.KEPT + 1  # one is written before the oldest goes
  need = files * size(state)
  # The kept weights, and those of each snapshot.
  need += (1 + len(job.snapshots)) * size(state['params'])
  have = shutil.disk_usage(job.folder).free + checkpoint.held(job.folder)
  if need > have:
    gb = lambda count: f'{count / 1e9:,.2f} GB'
    raise UserError(
      f'training in {job.folder} may write {gb(need)} ({files} checkpoints '
      f'of {gb(size(state))}, and weights), but {gb(have)} are free; free '
      'some space or choose another folder with --workdir'
    )


class Stop:
  """Remembers SIGTERM, SIGHUP and Ctrl-C, so that the loop saves and leaves."""

  def __init__(self):
    self.asked = False

  def __enter__(self):
    self._old = {}
    for which in (*asked_to_stop(), signal.SIGINT):
      if signal.getsignal(which) is signal.SIG_IGN:
        continue  # nohup
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
    if number == signal.SIGINT:  # a second one ends a compilation too
      signal.signal(signal.SIGINT, signal.SIG_DFL)
      # Not print: a signal may come while another line is being written.
      os.write(2, b'\nsaving; Ctrl-C again stops at once\n')

  def asked_anywhere(self, done: int) -> bool:
    """Whether to leave after step `done`: processes agree, by a message."""
    if mesh.is_alone():
      return self.asked
    return done % AGREED == 0 and mesh.any_process(self.asked)
