"""A model under audit, and its answers: asked, checked, kept, and aligned.

A function may do anything: raise, exit, run out of memory, answer in words,
with too few numbers, in another form than before. Whatever it is, the user is
reported in one sentence that names the row and the function's own last line.

Inference is nearly all of an audit's time, so scores are a stage: pieces of
texts, each sealed with the identity of the model and of its texts. After a
kill, or a second time, only what is missing is asked for. A folder's model is
known by its bytes; a function by those of its modules and by what it answers
to some texts now.

A function is asked for these texts again at the end: where it answers
differently, what it says of an edit is in part its own noise.
"""

import dataclasses
import functools
import importlib
import inspect
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config
from fairjax.core import announce, artefacts
from fairjax.core.errors import Interrupted, UserError, nearest
from fairjax.data.tables import answers, labels
from fairjax.data.tables.answers import Asked
from fairjax.metrics import warn
from fairjax.metrics.texts import flips

# Texts of a piece, of a function a batch; a 64th of them where there are many.
PIECE = 1024
MODEL = ('predict_proba', 'predict')
SAMPLE = 32  # texts that a function is asked for again
APART = 1e-3  # more than what other batches and rounding do


@dataclasses.dataclass(frozen=True)
class AuditedModel:
  """A model under audit: scores of the rows, and maybe of any text."""

  name: str
  scores: np.ndarray | None = None  # [s, n, c] of the rows
  predict: Callable[[Sequence[str]], np.ndarray] | None = None  # -> [s, n, c]
  classes: tuple[str, ...] = ()  # the model's own names of them
  hard: bool = False  # decisions, not probabilities
  kind: str = 'predictions'
  bundle: Any = None  # a Flax model, for gradients
  # The identity of what its answers depend on, where that can be known.
  made_from: Callable[[], str] | None = None
  label: int | None = None  # that is audited, of labels that each hold or not
  positive: int = 1  # the class of the data that such a label is held against
  remarks: tuple[str, ...] = ()  # how its predictions were read
  by_scores: bool = False  # read from a table, whose columns audit.scores names
  edited: str = ''  # the column of audit.edited that its edits are read from
  # Of a function that was asked: some rows, and its answers to their texts.
  first: tuple[np.ndarray, np.ndarray] | None = None


def imported(
  name: str,
  knob: str = 'audit.model',
  what: str = 'texts and returns their probabilities',
) -> Callable:
  """The function of 'module:function', looked for in this folder too."""
  module, _, path = name.partition(':')
  here = os.getcwd()
  if here not in sys.path:  # a console script's path lacks it
    sys.path.insert(0, here)
  try:
    target: Any = importlib.import_module(module)
    for part in path.split('.'):
      target = getattr(target, part)
  except (KeyboardInterrupt, Interrupted):
    raise
  except BaseException as error:  # a module may do anything on import
    lost = isinstance(error, AttributeError)
    names = dir(sys.modules.get(module)) if lost else ()
    hint = nearest(path, names, f'check {module}')
    raise UserError(
      f'{knob} is {name!r}, and that cannot be loaded: {last(error)}; {hint}'
    ) from error
  model = any(map(functools.partial(hasattr, target), MODEL))
  if inspect.isclass(target) or not (callable(target) or model):
    raise UserError(
      f'{knob} is {name!r}, which is no function of texts; name one that '
      f'takes a list of {what}, or a model that has predict_proba or predict'
    )
  return target


def made_from(name: str) -> str:
  """The bytes of the modules that the function came with."""
  # Those that are loaded and lie beside its own: what it may call.
  module = sys.modules[name.partition(':')[0]]
  own = pathlib.Path(getattr(module, '__file__', None) or '.').parent.resolve()
  files = sorted(
    {
      pathlib.Path(file).resolve()
      for one in list(sys.modules.values())
      if isinstance(file := getattr(one, '__file__', None), str)
    }
  )
  near = [str(f) for f in files if f.is_relative_to(own) and f.is_file()]
  return artefacts.fingerprint(name, [artefacts.content(f) for f in near])


def function(
  source: Callable,
  name: str,
  config: Config,
  table: pd.DataFrame,
  classes: tuple[str, ...] = (),
  made_from: Callable[[], str] | None = None,
  answered: Sequence[str] = (),
) -> AuditedModel:
  """Any function of a list of texts, as a model of [1, n, c].

  `answered` are the data's classes, for answers in words. A fraction a text is
  the probability of the positive class; a whole number is the class itself.
  """
  own = list(table['text']) if 'text' in table else []
  batch, positive = max(config.audit.batch, 1), config.measures.positive
  forms: list[tuple[int, bool]] = []  # how many classes; whether decided

  def place(text: str) -> str:
    shown = repr(text if len(text) <= 60 else f'{text[:60]}…')
    at = next((k for k, one in enumerate(own) if one == text), None)
    return f'the edited text {shown}' if at is None else f'row {at}, {shown}'

  def predict(texts: Sequence[str]) -> np.ndarray:
    parts = []
    for low in range(0, len(texts), batch):
      some = list(texts[low : low + batch])
      answer = _asked(source, some, name, place)
      where = lambda k, some=some: place(some[k])
      asked = Asked(answered, positive, f'{name} returns', where, False)
      one = answers.of_values(answer, len(some), asked)
      # Where class 0 is positive, 1 is either a decision or a probability.
      forms.append((one.scores.shape[2], positive == 0 and one.hard))
      if forms[0] != forms[-1]:
        raise UserError(
          f'{name} returns answers of another form from {place(some[0])} on '
          'than before; return the same for every list of texts'
        )
      del forms[1:]
      parts.append(one.scores)
    return np.concatenate(parts, 1)

  return AuditedModel(
    *(name, None, predict, classes), kind='function', made_from=made_from
  )


def _asked(function, texts: list[str], name: str, place) -> Any:
  try:
    return function(list(texts))  # a copy, which it may change
  except (KeyboardInterrupt, Interrupted, UserError):
    raise
  except BaseException as error:
    raise UserError(_ended(function, texts, name, place, error)) from error


def _ended(function, texts, name, place, error: BaseException) -> str:
  """How the function ended, and on which text it does so alone."""
  if isinstance(error, MemoryError) or 'out of memory' in str(error).lower():
    return (
      f'{name} ran out of memory on {len(texts)} texts at once: '
      f'{last(error)}; give it fewer with --config.audit.batch'
    )
  where = f'one of the {len(texts)} texts from {place(texts[0])} on'
  for text in texts if isinstance(error, Exception) else ():
    try:
      function([text])
    except Exception as again:
      error, where = again, place(text)
      break
  return (
    f'{name} ended on {where}: {last(error)}{_remedy(function, error, texts)}'
  )


def _remedy(function, error: BaseException, texts: list[str]) -> str:
  """What to do where a function of something else was given."""
  if not isinstance(error, Exception):
    return ''
  if 'Expected 2D array' in str(error):
    return (
      '; it takes numbers, not texts: put what makes them before it '
      '(sklearn.pipeline.make_pipeline), or give its probabilities'
    )
  try:
    one = function(texts[0])
  except Exception:
    return ''
  if not isinstance(one, str | float | int | Mapping | np.number):
    return ''
  return (
    '; it takes one text and is given a list: give a function of lists, as '
    'lambda texts: [function(text) for text in texts]'
  )


def last(error: BaseException) -> str:
  """What was raised, and the last line of the user's own that led there."""
  lines = str(error).strip().splitlines()
  message = f'{type(error).__name__}: {lines[0]:.200}' if lines else repr(error)
  if isinstance(error, SystemExit):
    message = f'it calls sys.exit({error.code!r})'
  if isinstance(error, SyntaxError):
    return f'{message} ({error.filename}, line {error.lineno})'
  frames = traceback.extract_tb(error.__traceback__)
  ours = str(pathlib.Path(__file__).parents[1])  # fairjax
  theirs = [
    frame
    for frame in frames
    if not frame.filename.startswith((ours, '<frozen', importlib.__file__))
  ]
  mine = [f for f in theirs if 'site-packages' not in f.filename] or theirs
  if not mine:
    return message
  last = mine[-1]
  file = pathlib.Path(last.filename).name
  return f'{message} ({file}, line {last.lineno}: {last.line or last.name})'


def sampled(model: AuditedModel, texts: Sequence[str]) -> AuditedModel:
  """A first look at a function: mistakes in its answers are reported here."""
  if model.kind != 'function' or model.predict is None:
    return model
  rows = np.unique(np.linspace(0, len(texts) - 1, SAMPLE).round().astype(int))
  answers = model.predict([texts[row] for row in rows])
  return dataclasses.replace(model, first=(rows, answers))


class AnswerCache(NamedTuple):
  """Where answers are kept."""

  folder: pathlib.Path
  reuse: str = ''  # a folder to look in too
  # Also those of functions that are known by their name and answers alone.
  of_any: bool = False


def cached(
  model: AuditedModel,
  place: AnswerCache | None,
  batch: int,
  say: Callable[[str], None],
) -> AuditedModel:
  """The model asked piece by piece, which says how far it is.

  Its answers are read where they are kept. Pieces are whole batches: they
  change no answer.
  """
  if model.predict is None:
    return model
  ask, size = model.predict, batch if model.kind == 'function' else PIECE
  source, home, reuse = '', pathlib.Path(), ''
  if place:
    home = place.folder / 'scores' / stages.file_name(model.name)
    reuse = place.reuse
    # What its answers depend on, as far as is known.
    if model.made_from or (place.of_any and model.first):
      known = model.made_from() if model.made_from else model.name
      answered: Any = np.round(model.first[1], 4) if model.first else []
      source = artefacts.fingerprint(known, answered)

  def predict(texts: Sequence[str]) -> np.ndarray:
    rows = size * max(1, -(-len(texts) // (64 * size)))
    pieces = [texts[low : low + rows] for low in range(0, len(texts), rows)]
    out, again = [], 0
    with announce.counting(len(texts), f'scoring by {model.name}') as add:
      for piece in pieces:
        if source:
          made_from = artefacts.fingerprint(source, list(piece))
          path = home / f'{made_from}.npy'
          found = artefacts.finished(path, made_from, reuse) is not None
          again += found
          make = lambda path, piece=piece: write(path, piece)
          own = path, made_from, make, artefacts.read_arrays
          out.append(stages.stage(*own, reuse=reuse))
        else:
          out.append(ask(piece))
        add(len(piece))
    if again:
      say(_taken(model, home, again, len(pieces)))
    return np.concatenate(out, 1)

  def write(path: pathlib.Path, piece: Sequence[str]) -> None:
    from fairjax.train import mesh

    scores = ask(piece)
    if mesh.is_main():
      with artefacts.atomic(path) as part:
        np.save(part, scores)

  return dataclasses.replace(model, predict=predict)


def _taken(model: AuditedModel, place, again: int, pieces: int) -> str:
  words = f'{again} of {pieces} pieces of scores are those kept in {place}'
  if model.kind == 'function':
    modules = f'the modules beside {model.name} and its answers to {SAMPLE} '
    if model.made_from is None:
      modules = f'the name {model.name} and its answers to {SAMPLE} '
    words += (
      f': {modules}texts are as before; remove that folder if anything else '
      'has changed'
    )
  return words


def tell_noise(
  model: AuditedModel,
  texts: Sequence[str],
  classes: Sequence[str],
  chances: np.ndarray,
  found: dict,
) -> None:
  """Asks a function again; a warning where the same texts got other answers."""
  if model.first is None or model.predict is None:
    return
  rows, first = model.first
  last = model.predict([texts[row] for row in rows])
  before, after = (aligned(x, model, classes) for x in (first, last))
  others = np.stack([after, chances[:, rows]])
  apart = np.abs(others - before).max((0, 1, 3))
  if not (apart > APART).any():
    return
  found['warnings'].insert(
    0,
    f'{model.name} was asked for the same {len(apart)} texts again, and '
    f'answered {int((apart > APART).sum())} of them differently, by up to '
    f'{apart.max():.2g}: its answers change from call to call or with the '
    'other texts of a batch, so what an edit changes is in part its own noise.',
  )
  for name, one in found['fairness'].items():
    if name.rpartition('/')[2] in flips.NAMES:
      one['note'] = warn.NOISY


def _worded(names: Sequence[str]) -> bool:
  """Whether some name of a class is more than its number."""
  return not all(re.fullmatch(r'(?i)(label_?)?\d+', n.strip()) for n in names)


def turned(model: AuditedModel, ours: Sequence[str]) -> bool:
  """Whether its names say that its class 0 is the one to detect.

  Labels of the data that are numbers have 1 for that class (tables/labels.py).
  """
  names = list(model.classes)
  if model.label is not None or len(names) != 2 or not _worded(names):
    return False
  if _worded([*filter(None, ours)]) or labels.only_negated(names):
    return False
  return labels.class_order(names) == names[::-1]


def class_names(model: AuditedModel, ours: Sequence[str]) -> list[str]:
  """The names of the data's classes: those of the model, where the data has
  numbers alone and the model words."""
  names, other = list(model.classes), ours and len(ours) != len(model.classes)
  if model.label is not None or not _worded(names) or _worded(ours) or other:
    return list(ours)
  return names[::-1] if turned(model, ours) else names


def read_as(model: AuditedModel, ours: Sequence[str]) -> list[str]:
  """What is said of a model whose classes are held against numbers."""
  names = list(model.classes)
  if not ours or class_names(model, ours) == list(ours):
    return []
  if not turned(model, ours):
    shown = ', '.join(f'{k} is {name!r}' for k, name in enumerate(names))
    return [f'labels are named by the classes of {model.name}: {shown}']
  return [
    f'{model.name} calls its classes {", ".join(names)}, and the labels of the '
    f'data are numbers: its class {names[0]!r} is read as label 1, the class '
    'to detect. If label 1 is the other one, say so with --config.data.labels='
    "'0=1,1=0'"
  ]


def aligned(
  scores: np.ndarray, model: AuditedModel, classes: Sequence[str]
) -> np.ndarray:
  """The scores [s, n, c] in the order of the data's classes."""
  low = lambda names: [n.strip().casefold() for n in names]
  theirs, ours = list(model.classes), list(classes)
  if model.label is not None:
    if len(ours) > 2:
      raise UserError(
        f'{model.name} is a label that holds or not, and the labels of the '
        f'data are {", ".join(ours)}; map them to two with '
        '--config.data.labels=NAME=NUMBER,NAME=NUMBER'
      )
    p, at = scores[..., model.label], model.positive
    if theirs and len(ours) == 2 and theirs[1].casefold() in low(ours):
      # The data calls the label as the model does, and its absence otherwise.
      at = low(ours).index(theirs[1].casefold())
    return np.stack([1 - p, p] if at == 1 else [p, 1 - p], -1)
  if not ours:
    return scores
  named = [*filter(None, ours)]
  if len(named) < 2 and scores.shape[-1] == 2:  # rows of one class
    same = not turned(model, ours)
    if len(theirs) == 2 and low(named)[0] in low(theirs):
      same = low(theirs).index(low(named)[0]) == ours.index(named[0])
    return scores if same else scores[..., ::-1]
  if theirs and sorted(low(theirs)) == sorted(low(ours)):
    return scores[..., [low(theirs).index(n) for n in low(ours)]]
  many = len(ours) == 2 < scores.shape[-1]
  if (
    many
    or len(ours) > scores.shape[-1]
    or len(theirs or ours) != max(len(ours), 2)
  ):
    raise UserError(
      f'{model.name} has {scores.shape[-1]} classes'
      + (f' ({", ".join(theirs)})' if theirs else '')
      + f', and the labels of the data are {", ".join(ours)}; map them with '
      '--config.data.labels=NAME=NUMBER,NAME=NUMBER'
    )
  words = lambda names: {part for n in low(names) for part in n.split('/')}
  if not theirs or not _worded(theirs):
    return scores
  if not _worded(ours):
    return scores[..., ::-1] if turned(model, ours) else scores
  if any(words([a]) & words([b]) for a, b in zip(theirs, ours)):
    return scores
  raise UserError(
    f'{model.name} calls its classes {", ".join(theirs)}, and the labels of '
    f'the data are {", ".join(ours)}; say which is which with '
    f'--config.data.labels={",".join(f"{n}=NUMBER" for n in ours)}, where '
    f'{", ".join(f"{k} is {n}" for k, n in enumerate(theirs))}'
  )
