"""Help, made from what is declared: commands, knobs, configs, registries.

    fairjax help            the commands and the sections of knobs
    fairjax help audit      a command: what matters, then the rest
    fairjax help train.lr   a knob: its default, its values, what it changes

Nothing of it is written twice: a knob's help stands at the knob.
"""

import ast
import os
import pathlib
import textwrap
from typing import Any

from absl import flags

import fairjax
from fairjax.cli.commands import COMMANDS
from fairjax.config import (
  ALIASES,
  HELP,
  REMOVED,
  RENAMED,
  Config,
  config_folder,
  ignored_knobs,
  shipped,
)
from fairjax.core import knobs
from fairjax.core.errors import UserError, nearest
from fairjax.core.registry import meant

WIDTH = 80
EXITS = (
  'Exit codes: 0 done, 1 a gate failed, 2 a mistake in the call or the data '
  '(one line says which), 3 a gate could not be measured, 75 asked to stop and '
  'saved (run the same command again to go on), 130 stopped at once.'
)


def answer(words: list[str]) -> str:
  """What `help WORD`, `COMMAND --help` or `--version` prints."""
  if words[0] != 'help' and '--version' in words:
    return f'fairjax {fairjax.__version__}'
  names = [w for w in words if not w.startswith('-')]
  files = [w.removeprefix('--config=') for w in words if '--config=' in w]
  if names[:1] == ['help']:
    names = names[1:]
  if len(names) > 1 and words[0] == 'help':
    raise UserError('write fairjax help NAME, of one name')
  return explain(names[0] if names else files[0] if files else '')


def explain(name: str) -> str:
  """The help of a name, or a sentence with the nearest."""
  name = name.removeprefix('--').removeprefix('config.')
  if not name:
    return overview()
  if name in COMMANDS:
    return command(name)
  leaves = {leaf.name: leaf for leaf in knobs.leaves(Config)}
  name = RENAMED.get(name, name)
  if name in REMOVED:
    raise UserError(f'there is no --config.{name} any more: {REMOVED[name]}')
  if name in leaves:
    return knob(leaves[name])
  if name in sections():
    return section(name)
  stem = pathlib.PurePath(name.replace('\\', '/')).stem
  if os.path.isfile(config_folder() / f'{stem}.py'):
    return config(stem)
  found = _listed(name) + _meant(name.replace('-', '_'), leaves)
  if found := found or _listed(name, 1):
    return '\n'.join(found)
  known = [*COMMANDS, *sections(), *leaves, *(p.stem for p in configs())]
  for entries in registries().values():
    known.extend(entries)
  hint = nearest(name, known, 'see fairjax help, or --list')
  raise UserError(f'there is no help of {name!r}; {hint}')


def _listed(name: str, *least: int) -> list[str]:
  """What --list has under a name, and where its files are published."""
  lines = []
  for title, entries in registries().items():
    known = {}
    for key in meant(name, entries, *least):
      origin = getattr(entries[key], 'origin', '')
      files = f'; its files: {origin}' if origin else ''
      known[key] = entries[key].about + files
    lines += [title, *rows(known)] if known else []
  return lines


def _meant(name: str, leaves: dict) -> list[str]:
  """The knobs that a word may mean: by another program's name, or a part."""
  theirs = ALIASES.get(name.rpartition('.')[2], '').removeprefix('--')
  if theirs.startswith('config.'):
    return [knob(leaves[theirs.removeprefix('config.')])]
  if theirs:
    return rows({f'--{theirs}': flags.FLAGS[theirs].help})
  found = [one for one in leaves if name in one] or [
    one for one in leaves if name in HELP[one].lower()
  ]
  if len(found) == 1:
    return [knob(leaves[found[0]])]
  return knob_rows([leaves[one] for one in found], Config())


def overview() -> str:
  """The commands, the flags and the sections."""
  uses = {f'fairjax {name}': one.about for name, one in COMMANDS.items()}
  uses['fairjax --config=FILE'] = flags.FLAGS['config'].help
  count = len(list(knobs.leaves(Config)))
  return _filled('overview', uses, count, sections(), own_flags(), EXITS)


def command(name: str) -> str:
  """A command: how it is called, the knobs that matter, the rest."""
  one = COMMANDS[name]
  settings = shipped(one.config) if one.config else Config()
  leaves = {leaf.name: leaf for leaf in knobs.leaves(Config)}
  return _filled(
    *('command', name, one),
    '\n'.join(knob_rows([leaves[leaf] for leaf in one.matter], settings)),
    flags.FLAGS['workdir'].help,
    [section(other, settings, but=one.matter) for other in one.sections],
    [other for other in sections() if other not in one.sections],
  )


def _filled(macro: str, *values: Any) -> str:
  """A macro of help.txt with these values."""
  import jinja2

  loader = jinja2.FileSystemLoader(pathlib.Path(__file__).parent)
  made = jinja2.Environment(loader=loader, trim_blocks=True)
  made.filters['wrapped'] = lambda text, first='': '\n'.join(
    _wrapped(' '.join(text.split()), first)
  )
  made.globals |= {
    'version': fairjax.__version__,
    'rows': lambda entries: '\n'.join(rows(entries)),
  }
  module = made.get_template('help.txt').module
  return getattr(module, macro)(*values).rstrip()


def section(name: str, settings: Config | None = None, but=()) -> str:
  """The knobs of a section; of a config those it reads, with its values."""
  but = {
    *but,
    *(ignored_knobs.row(settings.recipe).ignores if settings else ()),
  }
  leaves = [
    leaf
    for leaf in knobs.leaves(Config)
    if (leaf.name.rpartition('.')[0] or 'run') == name and leaf.name not in but
  ]
  title = f'{name}: {sections()[name]}'
  return '\n'.join([*_wrapped(title), *knob_rows(leaves, settings or Config())])


def knob(leaf: knobs.Leaf) -> str:
  """All that is declared of a knob."""
  kinds = {
    **{bool: 'true or false', int: 'a whole number', float: 'a number'},
    str: 'text',
  }
  allowed = knobs.wanted(leaf.rule)
  if not allowed:
    allowed = kinds.get(leaf.type, 'a list with commas')
  elif leaf.type is int:
    allowed = allowed.replace('a number', 'a whole number')
  changed = ', '.join(leaf.changes)
  facts = {
    'default': written(leaf.default) or 'none',
    'values': allowed,
    'changes': f'{changed}, and what is made of it'
    if changed
    else 'nothing that is kept from an earlier run',
  }
  theirs = [name for name, ours in ALIASES.items() if ours == flag(leaf)]
  if theirs:
    facts['also called'] = ', '.join(theirs)
  head = f'{flag(leaf)}={leaf.name.rpartition(".")[2].upper()}'
  return '\n'.join([head, *_wrapped(HELP[leaf.name], '  '), *rows(facts)])


def config(stem: str) -> str:
  """A shipped config: its own words, and what it sets."""
  lines = [docstring(config_folder() / f'{stem}.py').rstrip(), '']
  settings = shipped(stem)
  changed = [
    leaf
    for leaf in knobs.leaves(Config)
    if knobs.value(settings, leaf.name) != leaf.default
  ]
  return '\n'.join([*lines, 'It sets', *knob_rows(changed, settings)])


def everything() -> str:
  """`--list`: a line or two of all that can be named."""
  lines = ['configs']
  lines += rows(
    {path.name: docstring(path).partition('\n')[0] for path in configs()}
  )
  for title, entries in registries().items():
    lines += [title, *rows({name: one.about for name, one in entries.items()})]
  return '\n'.join(lines)


def sections() -> dict[str, str]:
  """Each section of the config, with its first line; 'run' has none."""
  found = {'run': 'what is run'}
  for name, kind in knobs.sections(Config).items():
    about = (kind.__doc__ or '').strip().partition('\n')[0]
    first = about[:1] if about[1:2].isupper() else about[:1].lower()
    found[name] = first + about[1:].rstrip('.')
  return found


def configs() -> list[pathlib.Path]:
  """The shipped configs."""
  return sorted(config_folder().glob('[a-z]*.py'))


def registries() -> dict[str, dict]:
  """Titles of --list → names → entries."""
  from fairjax import benchmarks, data, methods, metrics, recipes, scores

  return {
    **{'recipes': recipes.RECIPES, 'data sets': data.DATASETS},
    **{'test sets': data.TEST_SETS, 'methods': methods.METHODS},
    **{'scores': scores.SCORES, 'measures': metrics.MEASURES},
    'benchmarks': benchmarks.BENCHMARKS,
    'mitigations of language models': recipes.MITIGATIONS,
  }


def own_flags() -> dict[str, str]:
  """The flags of main.py that are no knobs."""
  module = flags.FLAGS.find_module_defining_flag('workdir') or ''
  own = flags.FLAGS.flags_by_module_dict().get(module, [])
  return {
    '--help': 'this, or the help of the command or config before it',
    '--version': 'the version of fairjax',
    **{f'--{one.name}': one.help for one in own if one.name != 'config'},
  }


def flag(leaf: knobs.Leaf) -> str:
  return f'--config.{leaf.name}'


def written(value) -> str:
  """A value as it is written on the command line."""
  if isinstance(value, tuple):
    return ','.join(map(written, value))
  if isinstance(value, bool):
    return str(value).lower()
  return f'{value:g}' if isinstance(value, float) else str(value)


def knob_rows(leaves: list[knobs.Leaf], settings: Config) -> list[str]:
  """A line or two of each: name, help, and its value in brackets."""
  shown = {}
  for leaf in leaves:
    value = written(knobs.value(settings, leaf.name))
    shown[leaf.name] = HELP[leaf.name] + (f' [{value}]' if value else '')
  return rows(shown)


def rows(entries: dict[str, str]) -> list[str]:
  """Name and text in two columns, wrapped."""
  width = min(max(map(len, entries), default=0), 28)
  lines = []
  for name, text in entries.items():
    lead = f'  {name:{width}}  '
    if len(name) > width:
      lines.append(f'  {name}')
      lead = ' ' * (width + 4)
    lines += _wrapped(text, lead, ' ' * (width + 4))
  return lines


def _wrapped(text: str, first: str = '', rest: str | None = None) -> list[str]:
  return textwrap.wrap(
    text,
    WIDTH,
    initial_indent=first,
    subsequent_indent=first if rest is None else rest,
    break_on_hyphens=False,
  ) or [first.rstrip()]


def docstring(path: pathlib.Path) -> str:
  tree = ast.parse(path.read_text(encoding='utf-8'))
  return ast.get_docstring(tree) or ''
