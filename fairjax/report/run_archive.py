"""Kept runs: the results that a table of claims is made of, and their origin.

  fairjax report --keep RUN FOLDER

A run's folder is large and holds rows of data. What is kept of it is
results.json without sections, groups, values of seeds and anybody's folders,
and run.json: the command, the versions, the processor and the seconds, so that
a stranger sees what was run and can run it again.
"""

import pathlib
import re
import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairjax import results
from fairjax.config import ignored_knobs
from fairjax.core import artefacts, paths
from fairjax.core.errors import UserError
from fairjax.data.tables import answers
from fairjax.report import tables
from fairjax.results import Results

RUN = 'run.json'
CONFIG, VERSIONS, HYGIENE = 'config.json', 'versions.json', 'hygiene.json'
METRICS, PREDICTIONS = 'metrics.jsonl', 'predictions.parquet'
# A path from a root or a home, in a sentence too; no part of an address.
ROOTED = re.compile(r'(?<![^\s\'"(=])~?(?:/[^\s/]+){2,}')
FACTS = 'seconds', 'backend', 'device', 'python', 'jax', 'git'


def keep(run: pathlib.Path, folder: pathlib.Path) -> None:
  """Writes what is kept of a run."""
  found = results.read(run)
  results.write(folder, slim(found))
  artefacts.write_json(folder / RUN, origin(run, found))


def origin(folder: pathlib.Path, found: Results) -> dict:
  """How a run was made: data, command and, where known, FACTS and processor."""
  if kept := described(folder, RUN):
    return kept
  versions = described(folder, VERSIONS)
  machine = versions.get('processor', {})
  named = {'primary': found.primary} if found.primary else {}
  # How it was started, without the folders it read from and wrote to.
  flags = [w.partition('=') for w in versions.get('command', [])[1:]]
  flags = [one for one in flags if one[0] != '--workdir']
  return {
    **named,
    'data': _data(folder, found),
    'command': shlex.join(_short(k) + is_ + _short(v) for k, is_, v in flags),
    **{name: versions[name] for name in FACTS if name in versions},
    **{name: machine[name] for name in ('cpu', 'class') if name in machine},
  }


def described(folder: pathlib.Path, name: str) -> dict:
  """What a file of a run's folder says of the run; {} where it is not."""
  path = folder / name
  if not path.exists():
    return {}
  return _as_left(artefacts.read_json(path), results.FORMS[name], path)


def _as_left(tree: Any, form: Any, path: pathlib.Path) -> Any:
  wrong = next(results.problems(tree, form), '')
  if wrong:
    raise UserError(
      f'{path} is not as a run leaves it: {wrong.strip()}; run the command '
      'again, or take the file away'
    )
  return tree


def steps(folder: pathlib.Path) -> list[dict]:
  """The rows of metrics.jsonl, [] where it is not."""
  path = folder / METRICS
  return _as_left(artefacts.read_rows(path), [results.FORMS[METRICS]], path)


def predicted(folder: pathlib.Path) -> pd.DataFrame | None:
  """predictions.parquet, None where it is not."""
  path = folder / PREDICTIONS
  if not path.exists():
    return None
  table = artefacts.read_table(path)
  lost = [name for name in ('set', 'group') if name not in table]
  numbers = [name for name in table if answers.SEED.fullmatch(name)]
  wrong = [n for n in numbers if not pd.api.types.is_float_dtype(table[n])]
  if lost or wrong:
    why = f'no column {lost[0]!r}' if lost else f'no numbers in {wrong[0]!r}'
    raise UserError(
      f'{path} has {why}, so no run of ours left it; run the command again, or '
      'take the file away'
    )
  return table


def _data(folder: pathlib.Path, found: Results) -> str:
  """The data by name, or the file's own; the model; the seeds."""
  data, seeds = found.data, len(found.seeds)
  config = described(folder, CONFIG)

  def set_to(at: str, other: Any) -> Any:
    section, key = at.split('.')
    return config.get(section, {}).get(key, other)

  if data == 'file':
    data = _short(set_to('data.path', data))
  row = ignored_knobs.row(config.get('recipe', ''))
  if row and row.data_at:  # parallel text, and not that of data.name
    own = set_to(row.data_at, '') or data
    data = own if isinstance(own, str) else ' and '.join(own)
  if row and row.seeds_at:  # as many generators
    seeds = set_to(row.seeds_at, seeds)
  parts = [data, _short(found.model)]
  parts += [tables.plural(seeds, 'seed')] if seeds else []
  return ', '.join(filter(None, parts))


def _short(path: str) -> str:
  """The last two names of a path from the root; others as they are."""
  if not path.startswith(('/', '~')):
    return path
  return str(pathlib.PurePosixPath(*pathlib.PurePosixPath(path).parts[-2:]))


def slim(whole: Results) -> Results:
  """Contenders' measures with intervals, tests, verdicts, facts and notes."""
  contenders = {
    name: {k: v for k, v in one.items() if k == 'facts'}
    | {'sets': _bare(one['sets'])}
    for name, one in whole.contenders.items()
  }
  return Results(
    **vars(whole)
    | {key: _bare(vars(whole)[key]) for key in ('tests', 'verdicts')}
    | {'contenders': contenders, 'sections': [], 'model': _short(whole.model)}
    | {key: _unrooted(vars(whole)[key]) for key in ('title', 'notes', 'facts')}
  )


def _bare(tree: Any) -> Any:
  """Numbers without those of groups and seeds."""
  if isinstance(tree, dict):
    gone = 'seeds' if tables.is_estimate(tree) else 'groups'
    return {key: _bare(one) for key, one in tree.items() if key != gone}
  return [_bare(one) for one in tree] if isinstance(tree, list) else tree


def _unrooted(tree: Any) -> Any:
  """Every sentence without the folders of whoever ran it."""
  if isinstance(tree, str):
    return ROOTED.sub(lambda path: _short(path[0]), tree)
  if isinstance(tree, dict):
    return {key: _unrooted(value) for key, value in tree.items()}
  return [_unrooted(one) for one in tree] if isinstance(tree, list) else tree


def runs(folders: Sequence[str | pathlib.Path]) -> list[pathlib.Path]:
  """The folders of runs among these, or in them, by name."""
  out = []
  for name in folders:
    folder = paths.at_home(name)
    paths.refuse_pipe(folder)
    inside = sorted(path.parent for path in folder.glob(f'*/{results.FILE}'))
    alone = (folder / results.FILE).exists() or not inside
    out += [folder] if alone else inside
  return out
