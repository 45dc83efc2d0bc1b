"""Progress of a run: a live line, log.txt, metrics, events.

`Log` is the one voice of a run. It writes

- metrics.jsonl: one row an evaluation and seed. Rows are functions of the
  step alone (no clock in them), and those after a resumed step are cut off,
  so the file of a resumed run equals that of an uninterrupted one;
- log.txt: every line that it said, with the time;
- tensorboard/: the same numbers as events, through tensorboardX;
- a Weights & Biases project and an MLflow experiment, where the config names
  one;
- the screen: lines, and on a terminal one live line of progress.

Only the main process of a run speaks; elsewhere `Log` is silent.
"""

import collections
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Self, TextIO

from fairjax.config import Config
from fairjax.core import announce, artefacts, ended, lock, paths
from fairjax.core.errors import UserError

REDRAW = 0.2  # seconds between two drawings of the live line
TELL = 60.0  # seconds between two lines where there is no terminal
FIRST = 5.0  # seconds before the first of them
WINDOW = 20.0  # seconds over which the speed is taken


def _appended(path: pathlib.Path) -> TextIO:
  if path.is_fifo():  # which would be waited for
    paths.refuse_pipe(path)
  try:
    return open(path, 'a', encoding='utf-8')
  except OSError as error:  # as of too many open files; trial 209
    raise artefacts.cannot_write(path, error) from error


class Log:
  """The voice of a run; `with Log(folder, config) as log: …`."""

  def __init__(
    self,
    folder: str | os.PathLike | None,
    config: Config | None = None,
    main: bool = True,
    screen: TextIO | None = None,
  ):
    self.folder = pathlib.Path(folder or os.curdir)
    self.main = main
    # A program without a console (pythonw, a service) has no stderr.
    self.screen = screen or sys.stderr or open(os.devnull, 'w')
    self.part, self.start = '', time.monotonic()
    self.noted: set[str] = set()
    self.live: list[Progress] = []  # the innermost last
    self.rows: Any = None
    self.text: Any = None
    self.events: Any = None
    self.trackers: list[Any] = []  # each with log() and finish()
    self.held = contextlib.ExitStack()
    if not main or folder is None:
      return
    self.held.enter_context(lock.hold(self.folder))
    self.text = _appended(self.folder / 'log.txt')
    self.size = self.text.tell()
    if config is not None and config.wandb:
      self.trackers.append(open_wandb(self.folder, config.wandb))
    if config is not None and config.mlflow:
      self.trackers.append(_MLflow(self.folder, config.mlflow))

  def __enter__(self) -> Self:
    announce.LISTENERS.append(self._listen)
    announce.NOTED.append(self.note)
    return self

  def __exit__(self, kind, *_) -> None:
    announce.LISTENERS.remove(self._listen)
    announce.NOTED.remove(self.note)
    refused = kind is not None and issubclass(kind, UserError)
    self.close(kind is not None, refused and ended.waits(self.folder))

  def spent(self) -> None:
    """Adds the seconds since it was last asked to those in versions.json."""
    path = self.folder / 'versions.json'
    if not self.text or not path.exists():  # a run of the library has none
      return
    made, now = artefacts.read_json(path), time.monotonic()
    # A run that was taken up again has the hours of all its parts.
    seconds = made.get('seconds', 0.0) + now - self.start
    artefacts.write_json(path, made | {'seconds': round(seconds, 1)})
    self.start = now

  def close(self, failed: bool = False, refused: bool = False) -> None:
    """Ends it; what a refused call said goes, if it had trained nothing."""
    with contextlib.suppress(OSError, UserError):  # the run's end is said
      if refused and self.rows is None:
        self.text.truncate(self.size)
      elif not refused:
        self.spent()
    for sink in filter(None, (self.rows, self.events, self.text)):
      with contextlib.suppress(OSError):  # a failed write is reported
        sink.close()
    for tracker in self.trackers:
      tracker.finish(exit_code=int(failed))
    self.rows = self.text = self.events = None
    self.trackers = []
    self.held.close()

  def resume(self, step: int, part: str = '') -> None:
    """Goes on from `step`: rows after it (all, at 0) and a torn one go.

    A run that fits several models gives each a name, `part`: it stands in
    their rows, and only rows of that part go.
    """
    self.part = part
    if not self.main:
      return
    for sink in filter(None, (self.rows, self.events)):
      sink.close()
    path = self.folder / 'metrics.jsonl'
    rows = [
      row
      for row in artefacts.read_rows(path)
      if row.get('part', '') != part or (step and row['step'] <= step)
    ]
    artefacts.write_text(path, ''.join(map(_line, rows)))
    self.rows = _appended(path)
    self.events = _events(self.folder / 'tensorboard' / part, step)

  def row(self, *, step: int, split: str, **values: Any) -> None:
    """One row of metrics.jsonl: numbers on the host, nothing of the clock."""
    if not self.main:
      return
    if self.rows is None:
      self.resume(0)
    part = {'part': self.part} if self.part else {}
    row = {'step': step, 'split': split, **part, **values}
    self.write(self.rows, _line(row))
    seed = f'/seed {values["seed"]}' if 'seed' in values else ''
    scalars = {
      f'{split}/{name}{seed}': float(value)
      for name, value in values.items()
      if name not in ('seed', 'epoch')
      and _is_number(value)
      and math.isfinite(value)  # a curve has no place for others
    }
    self._scalars(scalars, step)

  def _scalars(self, scalars: dict[str, float], step: int) -> None:
    if self.events:
      for name, value in scalars.items():
        one = self.events.scalar(name.replace(' ', '_'), value)
        self.events.add(step, summary=one)
    part = f'{self.part}/' if self.part else ''
    scalars = {part + name: value for name, value in scalars.items()}
    for tracker in self.trackers:
      tracker.log(scalars | {'step': step})

  def evaluated(self, step: int, means: dict[str, float]) -> None:
    """Says one line: the means over seeds of an evaluation, and the speed."""
    # Undefined, for one: a measure of changed words, where none changes.
    known = {k: v for k, v in means.items() if not math.isnan(v)}
    parts = [f'step {step:,}'] + [f'{k} {v:.4g}' for k, v in known.items()]
    if self.live and self.live[0].examples:
      speed = self.live[0].speed(step)
      parts.append(f'{speed:,.0f} examples/s')
      self._scalars({'speed/examples a second': speed}, step)
    self.line(' · '.join(parts))
    if self.events:
      self.write(self.events)

  def write(self, file: Any, text: str = '') -> None:
    """To a file, or what events wait to be written."""
    try:
      if text:
        file.write(text)
      file.flush()
    except OSError as error:
      name = getattr(file, 'name', self.folder / 'tensorboard')
      raise UserError(
        f'cannot write {name}: {error.strerror}; free some space or '
        'choose another folder with --workdir, then run again to go on'
      ) from error

  def line(self, text: str) -> None:
    """Says a line: to log.txt with the time, and to the screen."""
    if not self.main:
      return
    if self.text:
      now = time.strftime('%Y-%m-%d %H:%M:%S')
      self.write(self.text, f'{now}  {text}\n')
    for live in self.live:
      live.erase()
    self.speak(f'{text}\n')

  def speak(self, text: str) -> None:
    """To the screen; where nobody listens any more, the run goes on unheard."""
    try:
      self.screen.write(text)
      self.screen.flush()
    except (OSError, ValueError):  # `2>&1 | head`, or a terminal that is gone
      unheard(self.screen)
      self.screen = open(os.devnull, 'w', encoding='utf-8')

  def note(self, sentence: str) -> None:
    """A line, however often it is asked for."""
    if sentence not in self.noted:
      self.noted.add(sentence)
      self.line(f'note: {sentence}')

  def progress(
    self, total: int, first: int = 0, examples: int = 0, what: str = 'step'
  ) -> 'Progress':
    """The live line of a loop over steps of `examples` examples each."""
    return Progress(self, total, first, examples, what)

  @contextlib.contextmanager
  def _listen(self, total: int, what: str) -> Iterator[Callable[[int], None]]:
    with self.progress(total, what=what) as line:

      def update(done: int) -> None:
        # A loop that is over at once would only make the line flicker.
        if not line.draws or line.clock() - line.began[0] >= REDRAW:
          line.update(done)

      yield update


@contextlib.contextmanager
def shown() -> Iterator[None]:
  """The live line of what takes long, for a call of the library."""
  if announce.LISTENERS:  # inside a run, which shows it
    yield
    return
  log = Log(None)
  announce.LISTENERS.append(log._listen)
  try:
    yield
  finally:
    announce.LISTENERS.remove(log._listen)


def unheard(stream: TextIO) -> None:
  """Leads a closed stream to nowhere, so that its last flush fails no run."""
  with contextlib.suppress(OSError, ValueError, AttributeError):
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Progress:
  """One live line on a terminal: step, speed, rate, loss, time left.

  Off a terminal it is a line of its own, soon and then each minute. What
  `update` is given is looked at only then, or when the line is drawn, five
  times a second:
  a loss that still lives on a device is passed as a function of no arguments,
  so that nobody waits for it.
  """

  def __init__(
    self, log: Log, total: int, first: int, examples: int, what: str
  ):
    self.log, self.total, self.what = log, total, what
    self.done = first
    self.examples = examples  # of one step
    self.tokens = 0  # so far
    self.shown = ''
    self.clock: Callable[[], float] = time.monotonic
    screen = log.screen
    self.draws = (
      log.main and screen.isatty() and os.environ.get('TERM') != 'dumb'
    )
    self.began = (self.clock(), first)
    self.last = (*self.began, 0)  # when, and how far, at the last update
    self.drawn = -math.inf if self.draws else self.began[0]
    self.wait = FIRST  # a sign of life soon, then rarely
    self.past: Any = collections.deque([(*self.began, 0)])

  def __enter__(self) -> Self:
    self.log.live.append(self)
    return self

  def __exit__(self, *_) -> None:
    self.erase()
    self.log.live.remove(self)

  def speed(self, done: int) -> float:
    """Examples a second since the loop began."""
    then, first = self.began
    seconds = max(self.clock() - then, 1e-9)  # begun and asked in one tick
    return (done - first) * self.examples / seconds

  def update(
    self, done: int, tokens: int = 0, compiled: bool = False, **values: Any
  ) -> None:
    """After step `done`, which read `tokens` tokens."""
    self.done = done
    self.tokens += tokens
    if not self.log.main:
      return
    now = self.clock()
    here = now, done, self.tokens
    if compiled:
      # Not part of the speed: of a GPU's minute hours were foretold.
      apart = [a - b for a, b in zip(here, self.last)]
      moved = [[a + b for a, b in zip(one, apart)] for one in self.past]
      self.past = collections.deque(map(tuple, moved))
    self.last = here
    if self.draws:
      due = now - self.drawn >= REDRAW or done >= self.total
    else:
      due = now - self.drawn >= min(self.wait, TELL)
    if not due:
      return
    self.past.append(here)
    while len(self.past) > 2 and now - self.past[1][0] > WINDOW:
      self.past.popleft()
    self.drawn = now
    text = self.describe(
      {k: v() if callable(v) else v for k, v in values.items()}
    )
    if self.draws:
      self.draw(text)
    else:
      self.log.line(text)
      self.wait = TELL

  def say(self, doing: str) -> None:
    """Redraws at once, before the next step is done."""
    if self.draws:
      self.draw(f'{self.what} {self.done:,}/{self.total:,} · {doing}')

  def draw(self, text: str) -> None:
    """Puts the text in the place of the live line."""
    # A full line would wrap, and could not be drawn over.
    text = text[: shutil.get_terminal_size().columns - 1]
    blank = ' ' * (len(self.shown) - len(text))  # covers a longer line before
    self.log.speak('\r' + text + blank)
    self.shown = text

  def describe(self, numbers: dict[str, float]) -> str:
    """`step 120/900 · 1,234 examples/s · 25,000 tokens/s · loss 0.51 · …`."""
    (then, first, before), (now, done, tokens) = self.past[0], self.past[-1]
    seconds = max(now - then, 1e-9)
    speed = (done - first) / seconds
    parts = [*self.around(), f'{self.what} {done:,}/{self.total:,}']
    if self.examples and speed:
      parts.append(f'{speed * self.examples:,.0f} examples/s')
    if self.tokens and speed:
      parts.append(f'{(tokens - before) / seconds:,.0f} tokens/s')
    parts += [f'{name} {value:.4g}' for name, value in numbers.items()]
    if speed:
      parts.append(f'{duration((self.total - done) / speed)} left')
    return ' · '.join(parts)

  def around(self) -> list[str]:
    """Where the loops around this one are: `shards 4/23`."""
    live = self.log.live
    outer = live[: live.index(self)] if self in live else []
    return [f'{one.what} {one.done:,}/{one.total:,}' for one in outer]

  def erase(self) -> None:
    """Clears the live line; the next update draws it again."""
    if self.shown:
      self.log.speak('\r' + ' ' * len(self.shown) + '\r')
      self.shown, self.drawn = '', -math.inf  # due at once


def duration(seconds: float) -> str:
  """`42 s`, `3 min 05 s`, `2 h 07 min`, `3 d 4 h`."""
  s = math.ceil(seconds)
  if s < 60:
    return f'{s} s'
  if s < 3600:
    return f'{s // 60} min {s % 60:02d} s'
  if s < 48 * 3600:
    return f'{s // 3600} h {s % 3600 // 60:02d} min'
  return f'{s // 86400} d {s % 86400 // 3600} h'


def _line(row: dict[str, Any]) -> str:
  return json.dumps({k: _plain(v) for k, v in row.items()}) + '\n'


def _plain(value: Any) -> Any:
  """A JSON value; a number that is not finite becomes null."""
  if hasattr(value, 'item'):
    value = value.item()
  if isinstance(value, float) and not math.isfinite(value):
    return None
  return value


def _is_number(value: Any) -> bool:
  value = value.item() if hasattr(value, 'item') else value
  return isinstance(value, int | float) and not isinstance(value, bool)


class _Events:
  """TensorBoard's scalars, written by whoever flushes them.

  A thread, as tensorboardX has one, would print what a full disk says.
  """

  def __init__(self, folder: pathlib.Path, step: int):
    from tensorboardX import event_file_writer, summary

    self.kind, self.scalar = event_file_writer.event_pb2.Event, summary.scalar
    self.waiting: list[Any] = []
    try:
      folder.mkdir(parents=True, exist_ok=True)
      self.file = event_file_writer.EventsWriter(str(folder / 'events'))
    except OSError as error:
      raise artefacts.cannot_write(folder, error) from error
    if step:  # a viewer drops what an interrupted run wrote after it
      self.add(step + 1, session_log={'status': 1})  # START

  def add(self, step: int, **what: Any) -> None:
    self.waiting.append(self.kind(wall_time=time.time(), step=step, **what))

  def flush(self) -> None:
    while self.waiting:
      self.file.write_event(self.waiting.pop(0))
    self.file.flush()

  def close(self) -> None:
    self.flush()
    self.file.close()


def _events(folder: pathlib.Path, step: int) -> _Events | None:
  """None where tensorboardX is not installed."""
  modules: dict[str, Any] = sys.modules
  torch = modules.setdefault('torch')  # else it is loaded too, in 1.5 s
  try:
    return _Events(folder, step)
  except ImportError:
    return None
  finally:
    if torch is None:
      del modules['torch']


def open_wandb(folder: pathlib.Path, project: str):
  try:
    import wandb
  except ImportError as error:
    raise UserError(
      f'wandb is {project!r}, but the package is not installed; '
      "run pip install 'fairjax[wandb]' or leave --config.wandb empty"
    ) from error
  run = wandb.init(
    project=project,
    name=folder.name,
    id=artefacts.fingerprint(str(folder.resolve())),
    dir=str(folder),
    resume='allow',
  )
  run.define_metric('*', step_metric='step')
  return run


class _MLflow:
  """A run of an MLflow experiment, with the calls of W&B's.

  A run that is taken up again goes on in its own, known by the folder. Where
  it is kept is MLflow's to say (MLFLOW_TRACKING_URI).
  """

  def __init__(self, folder: pathlib.Path, experiment: str):
    try:
      from mlflow import MlflowClient
    except ImportError as error:
      raise UserError(
        f'mlflow is {experiment!r}, but the package is not installed; '
        "run pip install 'fairjax[mlflow]' or leave --config.mlflow empty"
      ) from error
    self.client = MlflowClient()
    known = self.client.get_experiment_by_name(experiment)
    create = self.client.create_experiment
    where = known.experiment_id if known else create(experiment)
    tag = artefacts.fingerprint(str(folder.resolve()))
    runs = self.client.search_runs([where], f"tags.fairjax_folder = '{tag}'")
    run = runs[0] if runs else None
    if run is None:
      tags = {'fairjax_folder': tag}
      run = self.client.create_run(where, tags=tags, run_name=folder.name)
    self.id = run.info.run_id
    self.client.update_run(self.id, 'RUNNING')

  def log(self, scalars: dict[str, float]) -> None:
    step = int(scalars.pop('step'))
    for name, value in scalars.items():
      # In its file store a name is a path, and no file is a folder too; of
      # other signs it takes few.
      path = name.replace('/seed ', ' seed ')
      safe = re.sub(r'[^\w./: -]', '_', path)
      self.client.log_metric(self.id, safe, value, step=step)

  def finish(self, exit_code: int = 0) -> None:
    self.client.set_terminated(self.id, 'FAILED' if exit_code else 'FINISHED')
