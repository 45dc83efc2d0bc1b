"""Kept runs: the results that a table of claims is made of, and their origin.

  fairjax report --keep RUN FOLDER

A run's folder is large and holds rows of data. What is kept of it is
results.json without sections, groups and values of seeds, and run.json: the
command, the versions, the processor and the seconds, so that a stranger sees
what was run and can run it again.
"""

import pathlib
import shlex

from fairjax import results
from fairjax.core import artefacts
from fairjax.report import tables
from fairjax.results import Results

RUN = 'run.json'
FACTS = ('seconds', 'cpu', 'class', 'backend', 'python', 'jax', 'git')


def keep(run: pathlib.Path, folder: pathlib.Path) -> None:
  """Writes what is kept of a run."""
  found = results.read(run)
  results.write(folder, slim(found))
  artefacts.write_json(folder / RUN, origin(run, found))


def origin(folder: pathlib.Path, found: Results) -> dict:
  """How a run was made: data, command and, where known, FACTS."""
  kept = folder / RUN
  if kept.exists():
    return artefacts.read_json(kept)
  path = folder / 'versions.json'
  versions = artefacts.read_json(path) if path.exists() else {}
  return {
    'data': _data(folder, found),
    'command': _command(versions.get('command', [])),
    **{name: versions[name] for name in FACTS if name in versions},
  }


def _data(folder: pathlib.Path, found: Results) -> str:
  """The data by name, or the file's own; the model; the seeds."""
  data, seeds = found.data, len(found.seeds)
  path = folder / 'config.json'
  config = artefacts.read_json(path) if path.exists() else {}
  if data == 'file' and config:
    data = _short(config['data']['path'])
  if config.get('recipe') == 'perturber':  # of parallel text, not of data.name
    data = ' and '.join(config['perturb']['sources'])
  if config.get('recipe') in ('mbcda', 'counterfactual_texts'):  # generators'
    seeds = config['rewriters']['generators']
  parts = [data, _short(found.model)]
  parts += [tables.plural(seeds, 'seed')] if seeds else []
  return ', '.join(filter(None, parts))


def _short(path: str) -> str:
  """The last two names of a path from the root; others as they are."""
  if not path.startswith('/'):
    return path
  return '/'.join(pathlib.PurePosixPath(path).parts[-2:])


def _command(words: list[str]) -> str:
  """How the run was started, without the folders it read from and wrote to."""
  flags = (w.partition('=') for w in words[1:])
  return shlex.join(
    f'{name}{equals}{_short(value)}'
    for name, equals, value in flags
    if name != '--workdir'
  )


def slim(whole: Results) -> Results:
  """Contenders' measures with intervals, tests, verdicts, facts and notes."""
  estimate = lambda one: {k: v for k, v in one.items() if k != 'seeds'}
  contenders = {
    name: {
      'sets': {
        of: {
          key: {k: estimate(v) for k, v in value.items()}
          if key in ('quality', 'fairness')
          else value
          for key, value in measured.items()
          if key != 'groups'
        }
        for of, measured in one['sets'].items()
      },
      **({'facts': one['facts']} if 'facts' in one else {}),
    }
    for name, one in whole.contenders.items()
  }
  tests = [t | {'difference': estimate(t['difference'])} for t in whole.tests]
  verdicts = [v | {'effect': estimate(v['effect'])} for v in whole.verdicts]
  parts = {'tests': tests, 'verdicts': verdicts, 'sections': []}
  return Results(**(vars(whole) | {'contenders': contenders} | parts))


def runs(folders: list[str]) -> list[pathlib.Path]:
  """The folders of runs among these, or in them, by name."""
  out = []
  for name in folders:
    folder = pathlib.Path(name)
    inside = sorted(path.parent for path in folder.glob(f'*/{results.FILE}'))
    alone = (folder / results.FILE).exists() or not inside
    out += [folder] if alone else inside
  return out
