"""The beginning and end of a run: config, versions, results."""

import contextlib
import copy
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess
import sys
from collections.abc import Callable

import pandas as pd

import fairjax
from fairjax.config import Config, doors, ignored_knobs, seed_list
from fairjax.core import artefacts, ended, knobs, lock, paths, strict_json
from fairjax.core.errors import UserError, need
from fairjax.data.tables import labels, published
from fairjax.data.tables.schema import Tables
from fairjax.metrics import warn
from fairjax.metrics.inference.intervals import options_of
from fairjax.report import page, run_archive, terminal
from fairjax.report.verdict import verdict_named
from fairjax.results import Results
from fairjax.stages.assessment import clusters_of, prediction_table
from fairjax.train.progress import Log

ANSWERS = 'Probabilities are computed with'  # train/decisions.py
# By these jax finds other processes.
JOINED = {'JAX_COORDINATOR_ADDRESS', 'SLURM_NTASKS'}
PACKAGES = ('jax', 'jaxlib', 'flax', 'optax', 'orbax-checkpoint', 'numpy')


def begin(
  config: Config, folder, address='', count=0, index=-1, join=False
) -> None:
  """Joins the processes and writes down what is about to run."""
  published.check(config)
  row = ignored_knobs.row(config.recipe)
  several = address or count or join or JOINED & {*os.environ}
  knob_of = row and row.computes
  if several or not knob_of or knobs.value(config, knob_of):
    from fairjax.train import mesh

    mesh.start(address, count, index, join)
  if not is_main():
    return
  # Only the cells of a grid may be run side by side in one folder.
  alone = not config.grid.cells
  with lock.hold(folder) if alone else contextlib.nullcontext():
    artefacts.sweep(folder)
    ended.settle(folder, refused=True)
    path, own = folder / 'versions.json', copy.deepcopy(config)
    ended.describe(_keep, path, own, versions(config))


def _keep(path: pathlib.Path, config: Config, made: dict) -> None:
  """config.json, and versions.json, which knows of earlier commands here."""
  keep_config(config, path.parent)
  known = {'seconds': 0.0, 'answers': []}
  with contextlib.suppress(UserError):  # there is none, or a torn one
    before = artefacts.read_json(path)
    known |= {key: before[key] for key in known if key in before}
  artefacts.write_json(path, made | known)


def is_main() -> bool:
  """Whether this process writes; one that needs no devices is alone."""
  mesh = sys.modules.get('fairjax.train.mesh')
  return mesh is None or mesh.is_main()


def keep_config(config: Config, folder: pathlib.Path) -> None:
  """config.json; that of an earlier run here stays in configs/, by content."""
  path = folder / 'config.json'
  if path.exists():
    earlier = artefacts.read_text(path)
    with contextlib.suppress(ValueError):  # one that is torn was no run's
      strict_json.parse(earlier)
      name = f'{artefacts.fingerprint(earlier)}.json'
      artefacts.write_text(folder / 'configs' / name, earlier)
  artefacts.write_json(path, config)
  name = f'{artefacts.fingerprint(artefacts.read_text(path))}.json'
  artefacts.remove_file(folder / 'configs' / name)  # it is config.json again


@doors.door()
def leave(
  folder: str | os.PathLike,
  config: Config,
  results: Results,
  keep: Callable[[pathlib.Path], None],
) -> pathlib.Path:
  """What a result of the library leaves in a folder; returns its page.

  `keep` writes what only this kind of result has.
  """
  need(
    isinstance(folder, str | os.PathLike),
    *('folder', folder, 'the path of a folder is needed'),
  )
  folder = paths.at_home(folder)
  paths.refuse_pipe(folder)
  if folder.exists() and not folder.is_dir():
    raise UserError(f'{folder} is a file; name a folder')
  with Log(folder) as log:
    keep_config(config, folder)
    artefacts.write_json(folder / 'versions.json', software())
    keep(folder)
    page.publish(folder, results)
    log.line(f'the report is {folder / "report.html"}')
  return folder / 'report.html'


def software() -> dict:
  """The versions that numbers depend on; what needs no jax to be asked."""
  root = pathlib.Path(fairjax.__file__).parent.parent
  git = lambda *words: subprocess.check_output(
    ['git', '-C', str(root), *words], text=True, stderr=subprocess.DEVNULL
  ).strip()
  try:
    commit, changed = git('rev-parse', 'HEAD'), bool(git('status', '--short'))
  except (OSError, subprocess.CalledProcessError):
    commit, changed = '', False
  return {
    'fairjax': fairjax.__version__,
    'python': platform.python_version(),
    **{name: importlib.metadata.version(name) for name in PACKAGES},
    'git': {'commit': commit, 'changed': changed},
  }


def versions(config: Config) -> dict:
  """What the run's numbers depend on beside its config."""
  made = {**software(), 'command': sys.argv}
  if mesh := sys.modules.get('fairjax.train.mesh'):
    from fairjax.core import backend

    row = ignored_knobs.row(config.recipe)
    of = backend.inference if row and row.writes else backend.resolved
    made['precision'] = of(config.net.precision)
    made |= mesh.layout()
  return made


def data_of(config: Config) -> str:
  """What the data are called: a file by its own name."""
  own = config.data.name == 'file' and pathlib.Path(config.data.path).name
  return own or config.data.name


def results(config: Config, **parts) -> Results:
  """Results of this config; too few resamples for its level are noted."""
  own = {
    'recipe': config.recipe,
    'data': config.data.name,
    'model': config.model,
    'seeds': seed_list(config),
    'level': config.measures.confidence_level,
    'pos_label': config.measures.positive,
    'primary': list(config.measures.primary),
  }
  out = Results(**{**own, **parts})
  sets = [s for one in out.contenders.values() for s in one['sets'].values()]
  shown = {w for one in sets for w in one.get('warnings', ())} | {*out.notes}
  few = warn.of_resamples(options_of(config)) if sets else []
  row = ignored_knobs.row(config.recipe)
  always = row.notes.splitlines() if row else []
  out.notes = [*out.notes, *always, *(n for n in few if n not in shown)]
  decisions = sys.modules.get('fairjax.train.decisions')  # where it was used
  out.notes += decisions.note() if decisions else []
  return out


def keep_predictions(
  folder: pathlib.Path, sets: Tables, chances: dict[str, dict], focus: str
) -> None:
  """What each contender predicted of the sets, as `write_predictions` does."""
  if is_main():
    sets = {n: t.assign(cluster=clusters_of(t)[0]) for n, t in sets.items()}
    of = lambda own: [prediction_table(n, t, own[n]) for n, t in sets.items()]
    frames = {name: pd.concat(of(own)) for name, own in chances.items()}
    write_predictions(folder, frames, focus)


def write_predictions(
  folder: pathlib.Path, frames: dict[str, pd.DataFrame], focus: str
) -> None:
  """predictions.parquet of the contender in focus, predictions/ of others."""
  taken, others = set(), set()
  for k, (name, rows) in enumerate(frames.items()):
    stem = file_name(name)
    # No two names are one where files of either case are the same.
    stem = f'{stem}-{k}' if stem.casefold() in taken else stem
    taken.add(stem.casefold())
    path = folder / 'predictions.parquet'
    if name != focus:
      path = folder / 'predictions' / f'{stem}.parquet'
      others.add(path.name)
    artefacts.write_table(path, rows)
  artefacts.keep_only(folder / 'predictions', '.parquet', others)


def file_name(name: str) -> str:
  """A contender's name as that of a file or folder."""
  safe = re.sub(r'[^\w.=+-]+', '-', name)
  short = f'{safe[:50]}-{artefacts.fingerprint(name)}'
  return safe if len(safe.encode()) <= 200 else short  # systems take 255 bytes


def keep_note(folder: pathlib.Path, results: Results) -> None:
  """What was said of answers is said again where they are only read."""
  path = folder / 'versions.json'
  if not path.exists():
    return
  made = artefacts.read_json(path)
  notes = [note for note in results.notes if note.startswith(ANSWERS)]
  if notes:
    artefacts.write_json(path, made | {'answers': notes})
  else:
    results.notes = [*results.notes, *made.get('answers', [])]


def publish(folder: pathlib.Path, results: Results, log: Log) -> Results:
  """results.json, the page made of it, and the summary on the screen."""
  if not is_main():
    return results
  ended.settle(folder)
  known = folder / 'hygiene.json'
  if not results.classes and known.exists():
    names = artefacts.read_json(known).get('classes', [])
    made = run_archive.described(folder, run_archive.CONFIG)
    column = made.get('data', {}).get('label', 'label')
    results.classes = labels.titles(names, column)
  log.spent()
  if results.tests:  # else it is a part of a run that compares
    unmade = (c for c in results.primary if not verdict_named(c, results))
    absent = 'measures.primary names no comparison of this run: '
    results.notes = [*map(absent.__add__, unmade), *results.notes]
  keep_note(folder, results)
  results = page.publish(folder, results)
  log.line(terminal.summary(results))
  log.line(f'the report is {folder / "report.html"}')
  return results


def finish(config: Config, folder: pathlib.Path, found: object) -> None:
  """Publishes Results that a recipe only returned; cells of a grid wait."""
  made = (folder / ended.RESULTS).exists() and not ended.waits(folder)
  if isinstance(found, Results) and not (made or config.grid.cells):
    with Log(folder, config, main=is_main()) as log:
      publish(folder, found, log)
