"""fairjax: assess a classifier's bias, find its causes, train a fairer one.

  python -m fairjax.main --config=configs/quickstart.py
  python -m fairjax.main --config=configs/train_csv.py \\
      --config.data.path=my.csv --config.data.text=comment
  python -m fairjax.main --list

--config names a file of configs/ (or your own); every knob of
fairjax/config.py is a flag behind it, such as --config.train.lr=1e-5.
Exit codes: 0 done, 2 a mistake in the call or the data (one line says which),
75 asked to stop and saved (run the same command again to go on).
"""

import ast
import dataclasses
import difflib
import os
import pathlib
import sys

from absl import app, flags, logging
from ml_collections import config_flags

from fairjax.config import RENAMED, Config, config_folder, validate
from fairjax.errors import Interrupted, UserError

MISTAKE, RESUME = 2, 75  # exit codes

CONFIG = config_flags.DEFINE_config_file(
  'config', None, 'A file of configs/, or your own.'
)
WORKDIR = flags.DEFINE_string(
  'workdir', '', "The run's folder; by default runs/ and the config's name."
)
LIST = flags.DEFINE_bool(
  'list', False, 'Show configs, data sets, methods, scores, measures, recipes.'
)
ADDRESS = flags.DEFINE_string(
  'coordinator_address', '', 'host:port of process 0, with several processes.'
)
PROCESSES = flags.DEFINE_integer('num_processes', 0, 'How many processes.')
PROCESS = flags.DEFINE_integer('process_id', -1, 'Which one, from 0.')


def find_config(name: str) -> str:
  """A config file by path, or by its name among the shipped ones."""
  path = pathlib.Path(name)
  if path.is_file():
    return name
  shipped = config_folder() / path.name
  if not shipped.suffix:
    shipped = shipped.with_suffix('.py')
  if shipped.is_file():
    return str(shipped)
  names = [p.name for p in sorted(config_folder().glob('*.py'))]
  near = difflib.get_close_matches(shipped.name, names, n=1)
  hint = f'did you mean configs/{near[0]}?' if near else f'there are {names}'
  raise UserError(f'there is no config file {name!r}; {hint}')


def config_leaves(kind=Config, prefix: str = '') -> dict[str, type]:
  """Every 'section.field' of the config with its type."""
  leaves = {}
  for field in dataclasses.fields(kind):
    if dataclasses.is_dataclass(field.type):
      leaves |= config_leaves(field.type, f'{prefix}{field.name}.')
    else:
      leaves[prefix + field.name] = field.type
  return leaves


def tidy(argv: list[str]) -> list[str]:
  """The command line with --config first and its file found.

  The flags library wants the file before its overrides, tuples as Python
  source, and answers a wrong name with a traceback; here a wrong name or
  type is one sentence.
  """
  file, overrides, rest = None, [], []
  leaves = config_leaves()
  todo = list(argv[1:])
  while todo:
    word = todo.pop(0)
    name, given, value = word.lstrip('-').partition('=')
    if not word.startswith('-'):
      rest.append(word)
    elif name == 'config':
      if not given and not todo:
        raise UserError('--config needs a file, as in --config=configs/x.py')
      file = find_config(value if given else todo.pop(0))
    elif name.startswith(('config.', 'noconfig.')):
      leaf = name.partition('config.')[2]
      if leaf in RENAMED:
        raise UserError(f'--config.{leaf} is now --config.{RENAMED[leaf]}')
      if leaf not in leaves:
        near = difflib.get_close_matches(leaf, leaves, n=1, cutoff=0.4)
        hint = f'; did you mean --config.{near[0]}?' if near else ''
        raise UserError(f'there is no --config.{leaf}{hint}')
      if leaves[leaf] is bool and not given:
        value = str(name.startswith('config.'))
      elif not given:
        if not todo:
          raise UserError(f'--config.{leaf} needs a value')
        value = todo.pop(0)
      overrides.append(f'--config.{leaf}={typed(leaf, leaves[leaf], value)}')
    else:
      rest.append(word)
  if overrides and file is None:
    raise UserError(
      f'{overrides[0]} changes a config, but none is named; add '
      '--config=configs/x.py'
    )
  first = [f'--config={file}'] if file else []
  return [argv[0], *first, *overrides, *rest]


def typed(leaf: str, kind, value: str) -> str:
  """`value` in the form the flags library reads for its type."""
  try:
    if kind is bool:
      return str({'true': True, 'false': False}[value.lower()])
    if kind is int:
      return str(int(value))
    if kind is float:
      return repr(float(value))
    if getattr(kind, '__origin__', None) is tuple:
      one = kind.__args__[0]
      if value.strip().startswith(('(', '[')):
        parts = ast.literal_eval(value)
      else:
        parts = [p.strip() for p in value.split(',') if p.strip()]
      return repr(tuple(one(p) for p in parts))
    return value
  except (KeyError, ValueError, SyntaxError, TypeError) as error:
    names = {bool: 'true or false', int: 'a whole number', float: 'a number'}
    want = names.get(kind, 'a list with commas, as in 1,2,3')
    raise UserError(
      f'--config.{leaf} is {value!r}; it must be {want}'
    ) from error


def parse(argv: list[str]) -> list[str]:
  """absl's parser, with every mistake as one line and exit code 2."""
  try:
    return flags.FLAGS(tidy(argv))
  except UserError as error:
    refuse(error)
  except (flags.Error, AttributeError, TypeError, ValueError) as error:
    refuse(str(error).strip().splitlines()[-1])
  except Exception as error:  # a config file of the user's may do anything
    refuse(f'the config file cannot be loaded: {error!r}')


def refuse(problem) -> None:
  print(f'fairjax: {problem}', file=sys.stderr)
  sys.exit(MISTAKE)


def show_list() -> None:
  """One line for each config, data set, method, score, measure, recipe."""
  from fairjax import benchmarks, data, methods, metrics, recipes, scores

  print('configs')
  for path in sorted(config_folder().glob('[a-z]*.py')):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    about = (ast.get_docstring(tree) or '').partition('\n')[0]
    print(f'  {path.name:28} {about}')
  for title, entries in (
    ('recipes', recipes.RECIPES),
    ('data sets', data.DATASETS),
    ('methods', methods.METHODS),
    ('scores', scores.SCORES),
    ('measures', metrics.MEASURES),
    ('benchmarks', benchmarks.BENCHMARKS),
  ):
    print(title)
    for name, entry in entries.items():
      print(f'  {name:28} {entry.about}')


def main(argv: list[str]) -> None:
  if len(argv) > 1:
    refuse(f'{argv[1]!r} is not a flag; see --help')
  if LIST.value:
    try:
      show_list()
      sys.stdout.flush()
    except BrokenPipeError:  # `--list | head` has read enough
      os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return
  if CONFIG.value is None:
    refuse('no --config; try --config=configs/quickstart.py, or --list')
  config = CONFIG.value
  if not isinstance(config, Config):
    refuse('the config file must return a fairjax.config.Config')
  stem = pathlib.Path(flags.FLAGS['config'].config_filename).stem
  folder = pathlib.Path(WORKDIR.value or pathlib.Path('runs') / stem)
  os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
  logging.set_verbosity(logging.WARNING)  # orbax tells its every move
  try:
    validate(config)
    from fairjax.recipes import RECIPES
    from fairjax.registry import find

    recipe = find(RECIPES, 'recipe', config.recipe)
    from fairjax import memory, stages

    memory.keep()
    stages.begin(config, folder, ADDRESS.value, PROCESSES.value, PROCESS.value)
    recipe(config, folder)
  except UserError as error:
    refuse(error)
  except Interrupted as stopped:
    print(f'fairjax: {stopped}', file=sys.stderr)
    sys.exit(RESUME)


if __name__ == '__main__':
  app.run(main, flags_parser=parse)
