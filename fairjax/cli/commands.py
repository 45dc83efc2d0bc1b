"""The subcommands of `fairjax`: the config and the knobs each stands for.

    fairjax audit MODEL my.csv   is   --config=configs/audit.py
      --config.audit.model=MODEL --config.data.path=my.csv …

A command adds nothing that flags could not say.
"""

import re
from typing import Any, NamedTuple

from fairjax.core.errors import Surface, UserError, in_config, nearest
from fairjax.core.registry import table


class Command(NamedTuple):
  """What a word stands for, and what its help shows first."""

  about: str
  usage: str  # what may stand behind it
  config: str = ''  # the shipped file that it stands for
  bare: str = ''  # that of the command without words; '' needs some
  places: tuple[Any, ...] = ()  # the knobs of 1, 2 … words
  matter: tuple[str, ...] = ()  # knobs that most people want
  sections: tuple[str, ...] = ()  # others that have a say


PORT = 8765
SERVE = re.compile(r'--serve(?:=(.*))?$')


def _groups(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
  """Words of a cell, apart at each |."""
  return tuple(tuple(one.split()) for one in ' '.join(words).split('|') if one)


COMMANDS = {
  name: one._replace(places=_groups(one.places))
  for name, one in table(__file__, 'commands', Command).items()
}


def flags_of(words: list[str]) -> list[str]:
  """`COMMAND WORDS --flags` as `--config=… --flags`; all else as it is."""
  if not words or words[0].startswith('-'):
    return words
  name, *rest = words
  if name not in COMMANDS:
    hint = nearest(name, COMMANDS, 'see fairjax help')
    raise UserError(f'{name!r} is no command; {hint}')
  command = COMMANDS[name]
  behind = []
  while rest and not rest[0].startswith('-'):
    behind.append(rest.pop(0))
  if len(behind) > len(command.places) or not (behind or command.bare):
    flags = '; its flags stand behind' if rest else ''
    raise UserError(f'write fairjax {name} {command.usage}{flags}')
  if not behind:
    return [f'--config=configs/{command.bare}.py', *rest]
  knobs = command.places[len(behind) - 1]
  named = [f'--config.{k}={word}' for k, word in zip(knobs, behind)]
  if 'data.path' in knobs and '--config.data.name' not in ' '.join(rest):
    named.append('--config.data.name=file')
  if name == 'audit':
    served = lambda match: f'--config.audit.serve={match[1] or PORT}'
    rest = [SERVE.sub(served, word) for word in rest]
  known = {flag: knob for knob, flag in short(name).items()}
  rest = [_long(word, known) for word in rest]
  return [f'--config=configs/{command.config}.py', *named, *rest]


def short(name: str) -> dict[str, str]:
  """{knob: `--weight`} of the knobs that matter to a command.

  Of two with one last word the later one has it (`--epochs` of a diet is
  train.epochs).
  """
  one = COMMANDS.get(name) or Command('', '')
  each = (*(k for ks in one.places for k in ks), *one.matter)
  flags = {f'--{knob.rpartition(".")[2]}': knob for knob in each}
  return {knob: flag for flag, knob in flags.items()}


def _long(word: str, known: dict[str, str]) -> str:
  flag, equals, value = word.partition('=')
  knob = known.get(flag)
  return f'--config.{knob}{equals}{value}' if knob else word


def surface(words: list[str]) -> Surface:
  """How a call names leaves: by the short flags of its command.

  A leaf that the call spells out stays so.

  >>> called = surface(['audit', 'd.csv', '--config.audit.groups=age'])
  >>> called('audit.weight', 'age'), called('audit.groups', '')
  ('--weight=age', '--config.audit.groups')
  """
  given = {word.partition('=')[0] for word in words}
  known = {
    leaf: flag
    for leaf, flag in short(words[0] if words else '').items()
    if f'--config.{leaf}' not in given
  }

  def called(leaf: str, value: str | None) -> str:
    if leaf not in known:
      return in_config(leaf, value)
    return known[leaf] + (f'={value}' if value else '')

  return called
