"""Anybody's function of texts under audit: asked in batches, and checked.

A function may do anything: raise, exit, run out of memory, answer in words,
with too few numbers, in another form than before. Whatever it is, the user is
told in one sentence that names the row and the function's own last line.
"""

import importlib
import inspect
import os
import pathlib
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairjax.core import artefacts
from fairjax.core.errors import Interrupted, UserError
from fairjax.data.tables import predictions


def imported(name: str) -> Callable:
  """The function of 'module:function', looked for in this folder too."""
  module, _, path = name.partition(':')
  here = os.getcwd()
  if here not in sys.path:
    sys.path.insert(0, here)
  try:
    target = importlib.import_module(module)
    for part in path.split('.'):
      target = getattr(target, part)
  except (KeyboardInterrupt, Interrupted):
    raise
  except BaseException as error:  # a module may do anything on import
    raise UserError(
      f'audit.model is {name!r}, and that cannot be loaded: {_last(error)}'
    ) from error
  if inspect.isclass(target) or not callable(target):
    raise UserError(
      f'audit.model is {name!r}, which is no function of texts; name one that '
      'takes a list of texts and returns their probabilities'
    )
  return target


def made_from(name: str) -> str:
  """The bytes of the modules that the function came with.

  Those that are loaded and lie beside its own; a package that is installed
  is its own folder.
  """
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


def predictor(
  function: Callable,
  name: str,
  batch: int,
  positive: int,
  own: Sequence[str],
  classes: Sequence[str] = (),
) -> Callable[[Sequence[str]], np.ndarray]:
  """texts → [1, n, c] of the function; `own` are the texts of the rows.

  `classes` are the data's, for answers in words.
  """
  form: list[tuple] = []  # of its first answer

  def place(text: str) -> str:
    shown = repr(text if len(text) <= 60 else f'{text[:60]}…')
    at = next((k for k, one in enumerate(own) if one == text), None)
    return f'the edited text {shown}' if at is None else f'row {at}, {shown}'

  def predict(texts: Sequence[str]) -> np.ndarray:
    parts = []
    for low in range(0, len(texts), batch):
      some = list(texts[low : low + batch])
      said = _asked(function, some, name, place)
      where = lambda k, some=some: place(some[k])
      answer = predictions.of_answers(said, classes, name, where)
      if answer is None:
        answer = _numbers(said, some, name, place)
      form.append(answer.shape[1:])
      if form[0] != form[-1]:
        raise UserError(
          f'{name} returns {_form(form[-1])} from {place(some[0])} on, and '
          f'{_form(form[0])} before; return the same for every list of texts'
        )
      del form[1:]
      _check(answer, some, name, place)
      parts.append(answer)
    scores = np.concatenate(parts)
    if scores.ndim == 1:
      scores = np.stack([1 - scores, scores], -1)
      if positive == 0:
        scores = scores[:, ::-1]
    return scores[None]

  return predict


def _asked(function, texts: list[str], name: str, place) -> Any:
  try:
    return function(list(texts))
  except (KeyboardInterrupt, Interrupted):
    raise
  except BaseException as error:
    raise UserError(_ended(function, texts, name, place, error)) from error


def _ended(function, texts, name, place, error: BaseException) -> str:
  """How the function ended, and on which text it does so alone."""
  if isinstance(error, MemoryError) or 'out of memory' in str(error).lower():
    return (
      f'{name} ran out of memory on {len(texts)} texts at once: '
      f'{_last(error)}; give it fewer with --config.audit.batch'
    )
  where = f'one of the {len(texts)} texts from {place(texts[0])} on'
  for text in texts if isinstance(error, Exception) else ():
    try:
      function([text])
    except Exception as again:
      error, where = again, place(text)
      break
  return f'{name} ended on {where}: {_last(error)}'


def _last(error: BaseException) -> str:
  """What was raised, and the last line of the user's own that led there."""
  lines = str(error).strip().splitlines()
  said = f'{type(error).__name__}: {lines[0]:.200}' if lines else repr(error)
  if isinstance(error, SystemExit):
    said = f'it calls sys.exit({error.code!r})'
  if isinstance(error, SyntaxError):
    return f'{said} ({error.filename}, line {error.lineno})'
  frames = traceback.extract_tb(error.__traceback__)
  ours = str(pathlib.Path(__file__).parents[2])
  theirs = [
    frame
    for frame in frames
    if not frame.filename.startswith((ours, '<frozen', importlib.__file__))
  ]
  mine = [f for f in theirs if 'site-packages' not in f.filename] or theirs
  if not mine:
    return said
  last = mine[-1]
  file = pathlib.Path(last.filename).name
  return f'{said} ({file}, line {last.lineno}: {last.line or last.name})'


def _numbers(answer: Any, texts: list[str], name: str, place) -> np.ndarray:
  """[n] or [n, c] of any container of numbers, torch's too."""
  if hasattr(answer, 'detach'):
    answer = answer.detach().float().cpu().numpy()
  wanted = 'a probability, or one a class, is needed for each text'
  try:
    values = np.asarray(answer)
    if values.dtype.kind == 'O':
      values = values.astype(float)
  except (TypeError, ValueError, RuntimeError, AttributeError) as error:
    raise UserError(
      f'{name} returns {_shown(answer)} for {place(texts[0])}; {wanted}'
    ) from error
  if values.dtype.kind not in 'fiub' or not values.ndim:
    raise UserError(
      f'{name} returns {_shown(answer)} for {place(texts[0])}, which is no '
      f'number a text; {wanted}'
    )
  values = values.astype(float)
  if values.ndim == 2 and values.shape[1] == 1:
    values = values[:, 0]
  if values.ndim not in (1, 2) or len(values) != len(texts):
    raise UserError(
      f'{name} returns shape {values.shape} for {len(texts)} texts, the first '
      f'of them {place(texts[0])}; {wanted}'
    )
  return values


def _shown(answer: Any) -> str:
  """Its first item, or itself."""
  if isinstance(answer, list | tuple) and answer:
    answer = answer[0]
  text = repr(answer).replace('\n', ' ')
  return text if len(text) <= 80 else f'{text[:80]}…'


def _form(rest: tuple) -> str:
  return f'{rest[0]} numbers a text' if rest else 'a number a text'


def _check(answer: np.ndarray, texts: list[str], name: str, place) -> None:
  flat = answer.reshape(len(texts), -1)
  wrong = ~((flat >= 0) & (flat <= 1))
  if wrong.any():
    row, column = np.argwhere(wrong)[0]
    value = float(flat[row, column])
    remedy = 'a probability from 0 to 1 is needed'
    if np.isfinite(value):
      remedy += ' (of logits take the sigmoid or softmax first)'
    raise UserError(
      f'{name} returns {value!r} for {place(texts[row])}; {remedy}'
    )
  if answer.ndim == 2:
    sums = answer.sum(-1)
    wrong = np.abs(sums - 1) > predictions.SUM
    if wrong.any():
      row = int(wrong.argmax())
      raise UserError(
        f'{name} returns {answer.shape[1]} numbers for {place(texts[row])} '
        f'that sum to {float(sums[row])!r}, not to 1; give the probabilities '
        'of classes of which one is right, or of the positive class alone'
      )
