"""What is written of the program is so: files, addresses, flags, commands."""

import ast
import functools
import importlib.util
import io
import pathlib
import re
import runpy
import shlex
import tokenize

from fairjax import main
from fairjax.cli import commands, manual
from fairjax.config import HELP, Config, validate
from fairjax.core import knobs
from fairjax.core.errors import UserError

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('fairjax', 'configs', 'launch')
LEAVES = {leaf.name: leaf for leaf in knobs.leaves(Config)}
# Files of others that are spoken of, and the name that stands for any.
THEIRS = {'metric.py', 'evaluate.py', 'docs/gguf.md', 'model_card.md'}


@functools.cache
def written() -> dict[str, str]:
  """What a reader reads: place → text of pages, docstrings and comments."""
  top = ('README.md', 'CONTRIBUTING.md')
  texts = {name: (ROOT / name).read_text('utf-8') for name in top}
  for path in sorted(p for one in FOLDERS for p in (ROOT / one).rglob('*')):
    place = str(path.relative_to(ROOT))
    if 'results' in path.parts or not path.is_file():
      continue
    if path.suffix == '.md':
      texts[place] = path.read_text('utf-8')
    elif path.suffix == '.py':
      code = path.read_text('utf-8')
      for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
          line = getattr(node, 'lineno', 1)
          texts[f'{place}:{line}'] = ast.get_docstring(node) or ''
      for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
          texts[f'{place}:{token.start[0]}#'] = token.string[1:]
    elif path.suffix in ('.sh', '.sbatch', '.yaml'):
      lines = path.read_text('utf-8').splitlines()
      texts[place] = '\n'.join(one[1:] for one in lines if one[:1] == '#')
  return texts


def spoken() -> dict[str, str]:
  """What the program says: place → parts of helps and messages."""
  texts = {}
  for path in sorted((ROOT / 'fairjax').rglob('*.py')):
    for node in ast.walk(ast.parse(path.read_text('utf-8'))):
      match node:
        case ast.Constant(str(text)) if ' ' in text:
          texts[f'{path.relative_to(ROOT)}:{node.lineno} {id(node)}'] = text
  return texts


FILE = re.compile(
  r'(?<![\w./*{}<>$:@=-])((?:[\w-]+/)*[\w-]+\.(?:py|md|sh|sbatch|yaml))\b'
)


def test_each_file_that_is_named_is_there():
  """By the end of its path, as 'pairs/repair.py' of fairjax/pairs/repair.py."""
  ends = set(THEIRS)
  for folder in (*FOLDERS, 'tests'):
    for path in (ROOT / folder).rglob('*.*'):
      parts = path.relative_to(ROOT).parts
      ends |= {'/'.join(parts[k:]) for k in range(len(parts))}
  ends |= {path.name for path in ROOT.iterdir()}
  missing = [
    (place, name)
    for place, text in [*written().items(), *spoken().items()]
    for name in FILE.findall(text)
    if name not in ends and not name.rpartition('/')[2].startswith('NAME.')
  ]
  assert not missing


def test_each_address_leads_to_a_name():
  """'metrics.texts.flips.EditScores', from a room on: a module and its name."""
  rooms = {p.parent.name for p in (ROOT / 'fairjax').glob('*/__init__.py')}
  first = '|'.join(rooms - {'config'})  # whose names are those of knobs
  address = re.compile(rf'(?<![\w./-])((?:{first})(?:\.\w+)*\.\w+)\.(\w+)\b')
  seen = 0
  for place, text in written().items():
    for module, name in address.findall(text):
      if module in LEAVES or f'{module}.{name}' in LEAVES:
        continue
      spec = importlib.util.find_spec(f'fairjax.{module}')
      assert spec and spec.origin, (place, module)
      code = pathlib.Path(spec.origin).read_text('utf-8')
      assert re.search(rf'\b{name}\b', code), (place, module, name)
      seen += 1
  assert seen >= 4


FLAG = re.compile(
  r'--(?:no)?config\.([a-z_]+(?:\.[a-z_0-9]+)*)'
  r'=(\'[^\']*\'|"[^"]*"|[^\s\'"`]+)'
)


def stated(text):
  """Each flag, as it is written: its knob and its value, quotes and all."""
  for name, value in FLAG.findall(re.sub(r'\\\n\s*', ' ', text)):
    value = value.rstrip('.:;,')
    if value.endswith(')') and '(' not in value:
      value = value.rstrip(').;:,')
    if '…' not in value:
      yield name, value


def test_each_flag_that_is_written_is_read_so_by_a_shell():
  """`--config.data.labels=>=0.5` made a file named '=0.5'."""
  seen, sections = 0, {name.rpartition('.')[0] for name in LEAVES}
  for place, text in written().items():
    named = re.findall(r'--(?:no)?config\.([a-z_]+(?:\.[a-z_0-9]+)*)', text)
    assert {*named} <= {*LEAVES, *sections}, (place, named)
    for name, value in stated(text):
      bare = re.sub(r'\'[^\']*\'|"[^"]*"', '', value)
      assert not set(bare) & set('<>|&;()*$'), (place, name, value)
      assert name in LEAVES, (place, name)
      leaf = LEAVES[name]
      said = main.typed(name, leaf.type, shlex.split(value)[0])
      if leaf.rule is not knobs.existing:
        read = said if leaf.type is str else ast.literal_eval(said)
        assert not leaf.rule(read), (place, name, value, leaf.rule(read))
      seen += 1
  assert seen > 300


COMMAND = re.compile(r'^ *((?:fairjax|python -m fairjax\.main) [^\n]*)$', re.M)


def printed():
  """Each command of a page's block or a docstring, as a shell reads it."""
  for place, text in written().items():
    code = '#' not in place and not place.startswith('launch')
    for line in COMMAND.findall(re.sub(r'\\\n\s*', ' ', text) if code else ''):
      words = shlex.split(line, comments=True)
      words = words[1:] if words[0] == 'fairjax' else words[3:]
      known = words and (words[0][:1] == '-' or words[0] in commands.COMMANDS)
      whole = not {'…', 'is'} & {*words} and '   ' not in line.split(' #')[0]
      if known and whole and words[0] not in ('help', 'report', '--list'):
        yield place, words
  table = written()['README.md'].partition('| I have |')[2].partition('\n\n')[0]
  for cell in re.findall(r'`([^`]+)`', table.partition('---|\n')[2]):
    words = shlex.split(cell.replace(' [PROMPTS]', ''))
    if words[0] not in ('help', '--list'):
      yield 'README.md', words


def refused(words: list[str]) -> str:
  """Why a command is not taken, with files that are there; '' where it is."""
  try:
    tidy = main.tidy(['fairjax', *commands.flags_of(words)])
    path, *given = tidy[1].removeprefix('--config=').split(':')
    config = runpy.run_path(path)['get_config'](*given)
    for flag in tidy[2:]:
      name, _, value = flag.removeprefix('--config.').partition('=')
      if leaf := LEAVES.get(name):
        read = value if leaf.type is str else ast.literal_eval(value)
        read = str(ROOT) if leaf.rule is knobs.existing else read
        section, _, last = name.rpartition('.')
        setattr(getattr(config, section) if section else config, last, read)
    validate(config)
  except UserError as error:
    return str(error)
  return ''


def test_each_command_that_is_printed_is_taken(monkeypatch):
  monkeypatch.chdir(ROOT)
  seen = 0
  for place, words in printed():
    told = refused(words)
    assert not told, (place, words, told)
    seen += 1
  assert seen > 70


def test_what_shows_all_names_shows_them():
  """Test sets and rankings of diets were in no --list."""
  seen, page = 0, manual.everything()
  for name, leaf in LEAVES.items():
    if leaf.type not in (str, tuple[str, ...]):
      continue
    wrong = leaf.rule('zzz' if leaf.type is str else ('zzz',))
    names = knobs.wanted(leaf.rule).partition('one of ')[2]
    names = names.partition(', or several')[0].split(', ')
    if '; there are ' in wrong:
      assert len(names) > 2 and all(one in wrong for one in names), name
      seen += 1
    if 'of --list' in HELP[name]:
      assert all(one in page for one in names if one not in SAID), name
  assert seen > 8


# Words of such a knob that its help has, and no table.
SAID = {'text', 'none', 'random', 'train', 'valid', 'test'}


def test_each_exit_code_is_told():
  codes = (main.FAILED, main.MISTAKE, main.UNDECIDED)
  codes = {0, *codes, main.RESUME, main.INTERRUPTED}
  for text in (main.__doc__, manual.EXITS):
    told = ' '.join(text.partition('Exit codes: ')[2].split())
    assert {int(one) for one in re.findall(r'(?:^|, )(\d+) ', told)} == codes


def test_the_sweeps_that_are_shown_can_be_run():
  program = runpy.run_path(str(ROOT / 'launch' / 'sweep.py'))
  text = program['__doc__']
  shown = [shlex.split(one)[0] for one in re.findall(r'--sweep (\S+)', text)]
  assert len(shown) == 4
  for sweep in shown:
    name, values = program['values'](sweep)
    leaf = LEAVES[name]
    for value in values:
      said = main.typed(name, leaf.type, value)
      read = said if leaf.type is str else ast.literal_eval(said)
      assert not leaf.rule(read), (sweep, leaf.rule(read))
