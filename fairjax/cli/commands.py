"""The subcommands of `fairjax`: the config and the knobs each stands for.

    fairjax audit MODEL my.csv   is   --config=configs/audit.py
      --config.audit.model=MODEL --config.data.path=my.csv …

A command adds nothing that flags could not say.
"""

import difflib
import re
from typing import NamedTuple

from fairjax.core.errors import Surface, UserError, in_config


class Command(NamedTuple):
  """What a word stands for, and what its help shows first."""

  about: str
  usage: str  # what may stand behind it
  config: str = ''  # the shipped file that it stands for
  bare: str = ''  # that of the command without words; '' needs some
  places: tuple[tuple[str, ...], ...] = ()  # the knobs of 1, 2 … words
  matter: tuple[str, ...] = ()  # knobs that most people want
  sections: tuple[str, ...] = ()  # others that have a say


PORT = 8765
SERVE = re.compile(r'--serve(?:=(.*))?$')
_DATA = ('data.text', 'data.label', 'data.group')
_TRAINED = ('data', 'tokens', 'net', 'train', 'measures', 'mesh')

COMMANDS = {
  'audit': Command(
    'how unfair a classifier is, or what its predictions show',
    'MODEL_OR_PREDICTIONS DATA, or DATA that holds its predictions',
    'audit',
    places=(('data.path',), ('audit.model', 'data.path')),
    matter=(
      *('data.text', 'data.label', 'data.id', 'audit.groups'),
      'audit.scores',
      'audit.weight',
      *('measures.pos_label', 'measures.threshold', 'audit.against'),
      *('audit.controls', 'audit.swaps', 'audit.equalize', 'audit.hiring'),
      *('audit.fail_if', 'audit.serve'),
    ),
    sections=('audit', 'measures', 'data', 'method'),
  ),
  'train': Command(
    'a classifier, and how unfair it is',
    '[DATA]; without it, made sentences with a planted bias',
    'train_csv',
    'quickstart',
    (('data.path',),),
    matter=(
      *(*_DATA, 'data.labels', 'model', 'seeds', 'method.name'),
      *('train.lr', 'train.epochs', 'train.batch', 'train.export'),
      'measures.groups',
    ),
    sections=(*_TRAINED, 'method'),
  ),
  'diet': Command(
    'a fairer classifier, of few examples chosen by score',
    '[DATA]; without it, made sentences with a planted bias',
    'diet_csv',
    'quickstart_diet',
    (('data.path',),),
    matter=(
      *(*_DATA, 'model', 'seeds', 'diet.ranking', 'diet.factual'),
      *('diet.counterfactual', 'diet.compare', 'scoring.epochs'),
      *('train.lr', 'train.epochs'),
    ),
    sections=('diet', 'scoring', *_TRAINED, 'method'),
  ),
  'weights': Command(
    'a fairer classifier, by instance weights',
    '[DATA]; without it, made sentences with a planted bias',
    'weighting_csv',
    'weighting_planted',
    (('data.path',),),
    matter=(
      *(*_DATA, 'model', 'seeds', 'weighting.z', 'method.terms'),
      *('weighting.estimator', 'weighting.max_weight', 'measures.groups'),
      *('train.lr', 'train.epochs'),
    ),
    sections=('weighting', *_TRAINED),
  ),
  'norms': Command(
    'exact gradient norms, GE and EL2N of rows, by a classifier',
    'MODEL DATA',
    'norms',
    places=(('model',), ('model', 'data.path')),
    matter=(
      *(*_DATA[:2], 'data.id', 'data.twin', 'scoring.names', 'train.batch'),
    ),
    sections=('data', 'scoring'),
  ),
  'compare': Command(
    'two logs of lm-evaluation-harness or inspect, sample by sample',
    'SAMPLES_A SAMPLES_B',
    'compare',
    places=(('audit.model',), ('audit.model', 'audit.against')),
    matter=(
      *('audit.groups', 'measures.resamples', 'measures.confidence_level'),
      *('audit.model', 'audit.against', 'seed'),
    ),
    sections=('measures',),
  ),
  'swap': Command(
    'a sentence as it is of people of another gender, or of another axis',
    '[TEXT]',
    'swap',
    'swap',
    (('text',),),
    matter=(
      *('method.axis', 'method.direction', 'method.names', 'method.scope'),
      *('method.words', 'method.tagger'),
    ),
    sections=('method',),
  ),
  'benchmarks': Command(
    'bias benchmarks of a language model',
    'MODEL [FOLDER_OF_BENCHMARK_FILES]',
    'benchmarks',
    places=(('model',), ('model', 'benchmarks.data')),
    matter=(
      *('benchmarks.names', 'benchmarks.data', 'audit.against'),
      *('benchmarks.mitigations', 'benchmarks.encodings'),
      *('data.limit', 'benchmarks.templates'),
      *('benchmarks.descriptors', 'data.path', 'method.axis'),
      'measures.resamples',
    ),
    sections=('benchmarks', 'measures', 'data'),
  ),
  'write': Command(
    'what a language model writes, of whom, and how it scores',
    'MODEL CLASSIFIER [FILE_OF_PROMPTS]',
    'writing',
    places=(
      *(('model',), ('model', 'writing.classifier')),
      ('model', 'writing.classifier', 'writing.prompts'),
    ),
    matter=(
      *('writing.prompts', 'writing.axes', 'writing.values'),
      *('writing.samples', 'data.positive', 'writing.bound'),
      *('writing.lexicon', 'generate.temperature', 'generate.top_p'),
      *('generate.max_new_tokens', 'generate.prompt', 'audit.fail_if'),
    ),
    sections=('writing', 'generate', 'measures'),
  ),
  'report': Command(
    "the page of a run's folder, made again",
    'FOLDER …; --claims FOLDER … for what runs say of the papers; --keep RUN '
    'FOLDER to keep the results of a run without its rows',
  ),
  'help': Command(
    'of a command, a config, a section, a knob, or anything of --list',
    '[NAME]',
  ),
}


def flags_of(words: list[str]) -> list[str]:
  """`COMMAND WORDS --flags` as `--config=… --flags`; all else as it is."""
  if not words or words[0].startswith('-'):
    return words
  name, *rest = words
  if name not in COMMANDS:
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f'did you mean {near[0]}?' if near else 'see fairjax help'
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
  if 'data.path' in knobs:
    named.append('--config.data.name=file')
  if name == 'audit':
    rest = [SERVE.sub(_served, word) for word in rest]
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


def positive_by_name(words: list[str]) -> list[str]:
  """`measures.pos_label=toxic` as `data.positive`: that knob is a number.

  >>> positive_by_name(['--config.measures.pos_label', 'toxic'])
  ['--config.data.positive', 'toxic']
  """
  out = list(words)
  for k, word in enumerate(words):
    flag, equals, value = word.partition('=')
    if flag.lstrip('-') != 'config.measures.pos_label' or flag[:1] != '-':
      continue
    value = value if equals else (words[k + 1 : k + 2] or [''])[0]
    if value and not re.fullmatch(r'[-+]?\d+', value.strip()):
      out[k] = word.replace('measures.pos_label', 'data.positive', 1)
  return out


def _served(match: re.Match) -> str:
  return f'--config.audit.serve={match[1] or PORT}'
