"""fairjax: assess a classifier's bias, find its causes, train a fairer one.

  fairjax help                          python -m fairjax.main help
  fairjax audit model/ my.csv           a command, see commands.py
  fairjax --config=configs/quickstart.py --config.train.lr=1e-3

--config names a file of configs/ (or your own); every knob of
fairjax/config/ is a flag behind it, which `fairjax help NAME` explains.
Exit codes: 0 done, 1 a gate failed, 2 a mistake in the call or the data (one
line says which), 3 a gate could not be measured, 75 asked to stop and saved
(run the same command again to go on), 130 stopped at once.
"""

import ast
import atexit
import contextlib
import difflib
import errno
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from absl import app, flags, logging
from ml_collections import config_flags

from fairjax.cli import commands
from fairjax.config import (
  ALIASES,
  REMOVED,
  RENAMED,
  Config,
  config_folder,
  ignored_knobs,
  validate,
)
from fairjax.core import announce, knobs, paths
from fairjax.core.errors import (
  Failed,
  Interrupted,
  Undecided,
  UserError,
  asked_to_stop,
  nearest,
  worded,
)

# Exit codes.
FAILED, MISTAKE, UNDECIDED, RESUME, INTERRUPTED = 1, 2, 3, 75, 130
ENDS = {Failed: FAILED, Undecided: UNDECIDED, Interrupted: RESUME}
AGAIN = 0.2  # seconds until a stop that nobody heard is said again
HELP = {'-h', '--help', '-help', '-?'}
LEAVES = {leaf.name: leaf.type for leaf in knobs.leaves(Config)}
TYPED: list[str] = []  # the call's own words, in which it is answered

CONFIG = config_flags.DEFINE_config_file(
  'config', None, 'A file of configs/, or your own.'
)
WORKDIR = flags.DEFINE_string(
  'workdir', '', "The run's folder; by default runs/ and the config's name."
)
LIST = flags.DEFINE_bool(
  'list',
  False,
  'Show all that has a name: configs, recipes, data and test sets, methods, '
  'scores, measures, benchmarks, mitigations.',
)
ADDRESS = flags.DEFINE_string(
  'coordinator_address', '', 'host:port of process 0, with several processes.'
)
PROCESSES = flags.DEFINE_integer('num_processes', 0, 'How many processes.')
PROCESS = flags.DEFINE_integer('process_id', -1, 'Which one, from 0.')
DISTRIBUTED = flags.DEFINE_bool(
  'distributed', False, 'Join the other hosts, where jax can find them itself.'
)


def find_config(name: str) -> str:
  """A config file by path, or by its name among the shipped ones."""
  if os.path.isfile(name):
    return name
  shipped = config_folder() / pathlib.Path(name).name
  if not shipped.suffix:
    shipped = shipped.with_name(shipped.name + '.py')
  if os.path.isfile(shipped):
    return str(shipped)
  names = [p.name for p in sorted(config_folder().glob('*.py'))]
  hint = nearest(shipped.name, names, '--list shows all')
  raise UserError(f'there is no config file {short(name)}; {hint}')


def refuse_missing(config: Config) -> None:
  """Says what is not there, seconds before jax would."""
  path = config.data.path
  own = config.data.name == 'file' and not config.data.sources
  if own and path and not os.path.exists(path):
    paths.place(path)
  for name in ('model', 'audit.model', 'audit.against'):
    model = knobs.value(config, name)
    if paths.is_path(model) and (expected := knobs.existing(model)):
      raise UserError(where=name, got=model, expected=expected)


def check_folder(folder: pathlib.Path) -> None:
  """Refuses a run's folder that cannot be written, before any work."""
  remedy = 'name another folder with --workdir'
  name = short(str(folder))
  if odd := paths.unwritable(str(folder)):
    raise UserError(f'{name} {odd}; {remedy}')
  parent = folder.absolute()
  while not os.path.lexists(parent):
    if len(parent.name.encode()) > 255 or len(str(parent)) > 4000:
      raise UserError(f'{name} is too long for the name of a folder; {remedy}')
    parent = parent.parent
  if not parent.is_dir():
    raise UserError(f'{short(str(parent))} is a file, no folder; {remedy}')
  if not os.access(parent, os.W_OK | os.X_OK):
    raise UserError(f'{short(str(parent))} cannot be written to; {remedy}')


def short(value: str, most: int = 120) -> str:
  """A value as a sentence shows it."""
  text = repr(value)
  return text if len(text) <= most else f'{text[:most]}…'


def tidy(argv: list[str]) -> list[str]:
  """The command line with --config first and its file found.

  The flags library wants the file before its overrides, tuples as Python
  source, and answers a wrong name with a traceback; here a wrong name or
  type is one sentence, and so is a flag with two values.
  """
  given: dict[str, str] = {}
  rest, todo = [], list(argv[1:])
  while todo:
    word = todo.pop(0)
    name, equals, value = word.lstrip('-').partition('=')
    if not word.startswith('-'):
      rest.append(word)
      continue
    off = name[:2] == 'no' and (name[2:] in flags.FLAGS or 'config.' in name)
    name = name[2:] if off else name
    known: Any = flags.FLAGS
    start, leaf = 'flag --', name
    if name.startswith('config.'):
      known, start, leaf = LEAVES, '--config.', name[7:]
    if leaf not in known:
      raise UserError(f'there is no {start}{leaf}{instead(leaf, LEAVES)}')
    kind = known[leaf]
    if not equals and (kind is bool or getattr(kind, 'boolean', False)):
      value = str(not off)
    elif not (equals or todo):
      hint = ', as in --config=configs/x.py' * (name == 'config')
      raise UserError(f'--{name} needs a value{hint}')
    elif not equals:
      value = todo.pop(0)
    if known is LEAVES:
      value = typed(leaf, kind, value)
    once(given, name, find_config(value) if name == 'config' else value)
  path, flag = given.pop('config', ''), '--{}={}'.format
  overrides = [flag(*one) for one in given.items() if 'config.' in one[0]]
  if overrides and not path:
    raise UserError(
      f'{overrides[0]} changes a config, but none is named; '
      'add --config=configs/x.py'
    )
  model = given.get('config.model', '')
  own = pathlib.Path(path).read_text('utf-8') if path and model else ''
  if 'def get_config(model' in own:
    path += f':{model}'  # whose other values suit the model
  given = {'config': path} | given if path else given
  return [argv[0], *(flag(*one) for one in given.items()), *rest]


def once(given: dict[str, str], flag: str, value: str) -> None:
  """Keeps a flag; of two values one would be lost without a word."""
  both = given.setdefault(flag, value), value
  if both[0] == value:
    return
  kind = LEAVES.get(flag.removeprefix('config.'))
  if getattr(kind, '__origin__', None) is tuple:
    every = ','.join(str(x) for one in both for x in ast.literal_eval(one))
    raise UserError(f'--{flag} is given twice; write --{flag}={every}')
  values = ' and as '.join(map(short, both))
  raise UserError(f'--{flag} is given twice, as {values}; keep one of the two')


def instead(name: str, leaves) -> str:
  """What a wrong flag was meant to be, where that can be known."""
  name = name.replace('-', '_')
  last = name.rpartition('.')[2]
  own = [*commands.short(TYPED[0] if TYPED else '').values()]
  if near := difflib.get_close_matches(f'--{name}', own, n=1, cutoff=0.75):
    return f'; did you mean {near[0]}?'
  if f'{name}.name' in leaves:
    return f'; did you mean --config.{name}.name?'
  if name in RENAMED:
    return f'; it is now --config.{RENAMED[name]}'
  if name in REMOVED:
    return f' any more: {REMOVED[name]}'
  if last in ALIASES:
    return f'; did you mean {ALIASES[last]}?'
  same = [leaf for leaf in leaves if leaf.rpartition('.')[2] == last]
  if not same:
    alone = ('workdir', 'config', 'list')
    near = difflib.get_close_matches(name, [*leaves, *alone], n=1, cutoff=0.7)
    if near and near[0] in alone:
      return f'; did you mean --{near[0]}?'
    lasts = dict.fromkeys(leaf.rpartition('.')[2] for leaf in leaves)
    word = difflib.get_close_matches(last, lasts, n=1, cutoff=0.75)
    same = near or [leaf for leaf in leaves if leaf.rpartition('.')[2] in word]
  if not same:
    return '; fairjax/config/ has all of them'
  flags = ' or '.join(f'--config.{leaf}' for leaf in same[:3])
  return f'; did you mean {flags}?'


# What a text that is no value may raise where it is read as one.
_NO_VALUE = (
  *(KeyError, ValueError, SyntaxError, TypeError),
  *(MemoryError, RecursionError, OverflowError),
)


def typed(leaf: str, kind, value: str) -> str:
  """`value` in the form the flags library reads for its type."""
  try:
    if kind is bool:
      return str({'true': True, 'false': False}[value.lower()])
    if kind in (int, float):
      return repr(kind(value))
    if getattr(kind, '__origin__', None) is tuple:
      one = kind.__args__[0]
      if value.strip().startswith(('(', '[')):
        parts = ast.literal_eval(value)
      else:
        parts = [p.strip() for p in value.split(',') if p.strip()]
      return repr(tuple(one(p) for p in parts))
    return repr(value.strip()) if kind is object else value
  except _NO_VALUE as error:
    names = {bool: 'true or false', int: 'a whole number', float: 'a number'}
    want = names.get(kind, 'a list with commas, as in 1,2,3')
    raise UserError(
      f'--config.{leaf} is {short(value)}; it must be {want} (fairjax help '
      f'{leaf})'
    ) from error


def misspelt(error: AttributeError) -> str:
  """The sentence for a field that a config file names and we do not have."""
  found = re.search(r"'(\w+)' object has no attribute '(\w+)'", str(error))
  if not found:
    return str(error)
  kind, name = found.groups()
  sections = {k.__name__: n for n, k in knobs.sections(Config).items()}
  start = f'{sections[kind]}.' if kind in sections else ''
  leaves = {k: v for k, v in LEAVES.items() if k.startswith(start)}
  return f'a config.{kind} has no {name}{instead(start + name, leaves)}'


def parse(argv: list[str]) -> list[str]:
  """absl's parser, with every mistake as one line and exit code 2."""
  forget()
  try:
    return flags.FLAGS(tidy(argv))
  except UserError as error:
    refuse(error)
  except AttributeError as error:
    refuse(f'the config file cannot be loaded: {misspelt(error)}')
  except (flags.Error, TypeError, ValueError) as error:
    refuse(str(error).strip().splitlines()[-1])
  except KeyboardInterrupt:
    end('interrupted', INTERRUPTED)
  except BaseException as error:  # a config file of the user's may do anything
    *_, last = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SystemExit) and 'absl' in last.filename:
      raise  # --help
    refuse(f'the config file cannot be loaded: {error!r}')


def forget() -> None:
  """Drops what an earlier call in this process has set: absl keeps flags."""
  own = flags.FLAGS
  for name in [name for name in own if name.startswith('config.')]:
    delattr(own, name)
  own.unparse_flags()


def refuse(problem) -> NoReturn:
  end(problem, MISTAKE)


def end(sentence, code: int) -> NoReturn:
  """The last words, if anybody still listens, and the exit code."""
  alarm(0)
  try:
    surface = commands.surface(TYPED)
    if isinstance(sentence, UserError):
      sentence.surface = surface
    text = worded(str(sentence), surface)
    print(f'fairjax: {text}', file=sys.stderr, flush=True)
  except OSError:  # `2>&1 | head` has read enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
  leave_others(code)
  sys.exit(code)


def leave_others(code: int) -> None:
  """Ends one of several processes; jax would wait for the others."""
  peers = sys.modules.get('fairjax.train.peers')
  if peers and peers.has_joined():
    sys.stdout.flush()
    os._exit(code)


def alarm(seconds: float, ring: Callable = lambda number, frame: None) -> None:
  """Asks for SIGALRM in some time (0: never), where it exists (not Windows)."""
  if hasattr(signal, 'setitimer'):
    signal.signal(signal.SIGALRM, ring)  # first: one may be on its way already
    signal.setitimer(signal.ITIMER_REAL, seconds)


def stop_when_asked() -> None:
  """SIGTERM ends a run as it ends a fit: what is made is kept, and said.

  So does the end of the terminal (SIGHUP), but under nohup. A second one ends
  the process at once. An import is not disturbed (that of an extension would
  abort), and what somebody's bare `except:` takes is raised again.
  """
  raised: Callable = lambda: None  # the exception, while it is on its way

  def stop(number, frame) -> None:
    nonlocal raised
    if number != getattr(signal, 'SIGALRM', None):
      signal.signal(number, signal.SIG_DFL)
    alarm(AGAIN, stop)
    if raised() is None and not importing(frame):
      stopped = Interrupted(
        'asked to stop; what was finished is kept, run again to go on'
      )
      raised = weakref.ref(stopped)
      try:
        raise stopped
      finally:
        del stopped  # its traceback would keep it

  # As the interpreter ends, names of this module are None before the hook is.
  def ignored(
    one, kind=Interrupted, show=sys.__unraisablehook__, ring=alarm, wait=AGAIN
  ) -> None:
    if isinstance(one.exc_value, KeyboardInterrupt):
      ring(wait, signal.default_int_handler)
    elif not isinstance(one.exc_value, kind):
      show(one)

  # Where nothing can be raised (__del__, a callback of gc) the interpreter
  # shows a traceback and goes on, and the stop is said again.
  sys.unraisablehook = ignored
  for number in asked_to_stop():
    if signal.getsignal(number) is not signal.SIG_IGN:
      signal.signal(number, stop)


def importing(frame) -> bool:
  """Whether a module is being imported under this frame."""
  while frame is not None:
    if frame.f_code.co_filename.startswith('<frozen importlib'):
      return True
    frame = frame.f_back
  return False


def open_streams() -> None:
  """Streams that the caller closed lead nowhere.

  A file of the run would get their numbers else, and what a library says
  would be written into it.
  """
  for number, name in enumerate(('stdin', 'stdout', 'stderr')):
    try:
      os.fstat(number)
    except OSError:
      os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if getattr(sys, name) is None:
      how = 'w' if number else 'r'
      setattr(sys, name, open(number, how, encoding='utf-8', closefd=False))
  if hasattr(sys.stdout, 'reconfigure'):  # a terminal without our signs
    sys.stdout.reconfigure(errors='replace')


@contextlib.contextmanager
def told() -> Iterator[None]:
  """The system's refusals as one sentence; a reader may leave early, as
  `--list | head` does."""
  try:
    try:
      yield
    finally:  # absl ends by an exception
      sys.stdout.flush()
  except KeyboardInterrupt:  # of `report`; a run ends by itself
    end('interrupted', INTERRUPTED)
  except OSError as error:
    full = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO
    left = isinstance(error, BrokenPipeError)
    if not (left or error.filename or error.errno in full):
      raise
    if not error.filename:  # what is left to print leads nowhere
      os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if left:
      sys.exit()
    what = f'use {error.filename}' if error.filename else 'print the answer'
    refuse(f'cannot {what}: {error.strerror}; give it another place')


def _behind() -> str:
  if not (one := commands.COMMANDS.get(TYPED[0] if TYPED else '')):
    return 'see --help'
  return (
    f'write fairjax {TYPED[0]} {one.usage.partition(";")[0]}, and behind it '
    'flags, as --NAME=VALUE'
  )


def greet(recipe: str, folder: pathlib.Path) -> None:
  """On a terminal, a line before what takes seconds to load."""
  if ignored_knobs.row(recipe).reads_text:
    return
  if PROCESS.value < 1 and sys.stderr is not None and sys.stderr.isatty():
    print(f'fairjax {recipe}: starts; results go to {folder}', file=sys.stderr)


def main(argv: list[str]) -> None:
  if len(argv) > 1:
    refuse(f'{argv[1]!r} is not a flag; {_behind()}')
  if LIST.value:
    from fairjax.cli import manual

    print(manual.everything())
    return
  if CONFIG.value is None:
    refuse(
      'no command and no --config; try --config=configs/quickstart.py, or '
      'fairjax help'
    )
  sys.argv[1:] = TYPED or sys.argv[1:]  # as the run's folder remembers it
  config = CONFIG.value
  if not isinstance(config, Config):
    refuse('the config file must return a fairjax.config.Config')
  flag: Any = flags.FLAGS['config']
  stem = pathlib.Path(flag.config_filename.partition('.py:')[0]).stem
  folder = pathlib.Path(WORKDIR.value or pathlib.Path('runs') / stem)
  row = ignored_knobs.row(config.recipe)
  if row and row.reads_text and not WORKDIR.value:  # the answer is printed
    folder = pathlib.Path(tempfile.mkdtemp(prefix='fairjax-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
  os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
  logging.set_verbosity(logging.WARNING)  # orbax tells its every move
  try:
    stop_when_asked()
    validate(config)
    refuse_missing(config)
    folder = paths.at_home(folder)
    check_folder(folder)
    greet(config.recipe, folder)
    from fairjax import stages
    from fairjax.core import memory
    from fairjax.core.registry import find
    from fairjax.recipes import RECIPES

    with memory.uncollected():  # modules stay
      recipe = find(RECIPES, 'recipe', config.recipe)
      memory.keep()
    if check := getattr(recipe, 'check', None):
      check(config)
    others = ADDRESS.value, PROCESSES.value, PROCESS.value, DISTRIBUTED.value
    stages.begin(config, folder, *others)
    stages.finish(config, folder, recipe(config, folder))
  except (UserError, Failed, Undecided, Interrupted) as error:
    end(error, ENDS.get(type(error), MISTAKE))
  except KeyboardInterrupt:
    end('interrupted', INTERRUPTED)
  except Exception:
    peers = sys.modules.get('fairjax.train.peers')
    if peers and peers.has_joined():
      peers.last_words()
      traceback.print_exc()
      leave_others(1)
    raise


# Until a run has a log.
@announce.noted(lambda one: print(f'note: {one}', file=sys.stderr))
@told()
def command() -> None:
  """The console script: `fairjax COMMAND …`, or `fairjax --config=…`."""
  open_streams()
  # Threads that are done with a product wait for the next at full speed: a
  # fifth of a small audit. Read as numpy is loaded.
  os.environ.setdefault('OPENBLAS_THREAD_TIMEOUT', '4')
  os.environ['MPLBACKEND'] = 'agg'  # one that is not there would end it
  TYPED[:] = words = sys.argv[1:]
  name = words[0] if words else ''
  try:
    os.getcwd()
  except FileNotFoundError:
    refuse('the folder of this call is gone; cd to another')
  try:
    for word in words:
      if odd := paths.unwritable(word):
        raise UserError(f'the argument {short(word, 60)} {odd}; write it anew')
    if name == 'help' or HELP & {*words} or '--version' in words:
      from fairjax.cli import manual

      print(manual.answer(words))
      return
    if name == 'report':
      from fairjax.report.__main__ import main as report

      sys.exit(report(words[1:]))
    sys.argv[1:] = commands.flags_of(words)
  except UserError as error:
    refuse(error)
  app.run(main, flags_parser=parse)


if __name__ == '__main__':
  command()
