"""Prints the command lines of a sweep; runs nothing.

  python launch/sweep.py --config=configs/train_csv.py \\
    --sweep train.lr=1e-5,1e-6 --sweep seed=0,5

One line for each combination (--zip: first with first, second with second).
What comes after `--` goes to every line. Give the lines to any scheduler:

  python launch/sweep.py ... | parallel -j 2
  python launch/sweep.py ... --index $SLURM_ARRAY_TASK_ID | bash

Values are apart by commas; commas within brackets or quotes belong to a value:

  --sweep "measures.sets='test,identity',test" --sweep "grid.factual=(0.3,0.4)"

Seeds of one run are trained side by side (config.seeds), so with seeds=5 sweep
seed=0,5,10.
"""

import argparse
import itertools
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from fairjax.core.errors import UserError
from fairjax.main import LEAVES, find_config, typed


def main(argv: list[str]) -> int:
  argv, extra = _divide(argv)
  parser = argparse.ArgumentParser(
    'launch/sweep.py',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
    allow_abbrev=False,
  )
  parser.add_argument('--config', required=True, help='a file of configs/')
  parser.add_argument(
    '--sweep', action='append', default=[], metavar='FIELD=V1,V2,…'
  )
  parser.add_argument('--zip', action='store_true', help='pair up the values')
  parser.add_argument('--index', type=int, help='print this line only, from 0')
  parser.add_argument('--workdir', default='', help='default: runs/CONFIG')
  chosen = parser.parse_args(argv)
  try:
    lines = commands(
      chosen.config, chosen.sweep, chosen.zip, chosen.workdir, extra
    )
    if chosen.index is not None:
      if not 0 <= chosen.index < len(lines):
        raise UserError(
          f'--index is {chosen.index}; the sweep has {len(lines)} lines, '
          'counted from 0'
        )
      lines = [lines[chosen.index]]
  except UserError as error:
    print(f'launch/sweep.py: {error}', file=sys.stderr)
    return 2
  print('\n'.join(lines))
  return 0


def commands(
  config: str,
  sweeps: list[str],
  zipped: bool = False,
  workdir: str = '',
  extra: list[str] | tuple = (),
) -> list[str]:
  """One shell-quoted command line for each point of the sweep."""
  find_config(config)
  fields = [values(sweep) for sweep in sweeps]
  names = [name for name, _ in fields]
  twice = [name for name in names if names.count(name) > 1]
  if twice:
    raise UserError(f'--sweep {twice[0]} is given twice; join its values')
  lengths = {name: len(some) for name, some in fields}
  if zipped and len(set(lengths.values())) > 1:
    raise UserError(f'--zip pairs up values, but there are {lengths} of them')
  join = zip if zipped else itertools.product
  points = list(join(*(some for _, some in fields))) if fields else [()]
  root = pathlib.Path(
    workdir or pathlib.Path('runs') / pathlib.Path(config).stem
  )
  lines = []
  for point in points:
    settings = list(zip(names, point))
    folder = root / _slug(settings) if settings else root
    words = ['python', '-m', 'fairjax.main', f'--config={config}']
    words += [f'--config.{name}={value}' for name, value in settings]
    lines.append(shlex.join([*words, *extra, f'--workdir={folder}']))
  return lines


def values(sweep: str) -> tuple[str, list[str]]:
  """'seed=0,5' as ('seed', ['0', '5']), each value of the field's type."""
  name, given, text = sweep.partition('=')
  name = name.removeprefix('--').removeprefix('config.')
  if name not in LEAVES:
    raise UserError(
      f'--sweep {sweep!r}: there is no config field {name!r}, see '
      'fairjax/config/'
    )
  found = _split(text) if given else []
  if not found:
    raise UserError(f'--sweep {name} has no values; write {name}=V1,V2')
  for value in found:
    typed(name, LEAVES[name], value)
  if len(set(found)) < len(found):
    raise UserError(f'--sweep {sweep!r} has a value twice')
  return name, found


def _split(text: str) -> list[str]:
  """Parts between the commas that are outside brackets and quotes."""
  found = re.findall(r"""(?:\([^)]*\)|\[[^]]*\]|"[^"]*"|'[^']*'|[^,])+""", text)
  parts = [re.sub(r"""^(['"])(.*)\1$""", r'\2', p.strip()) for p in found]
  return [part for part in parts if part]


def _slug(settings: list[tuple[str, str]]) -> str:
  """A folder's name for a point: 'train.lr=1e-5,seed=0'."""
  text = ','.join(f'{name}={value}' for name, value in settings)
  return re.sub(r'[^\w.=,+-]+', '_', text)


def _divide(argv: list[str]) -> tuple[list[str], list[str]]:
  if '--' not in argv:
    return argv, []
  at = argv.index('--')
  return argv[:at], argv[at + 1 :]


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
