"""Scores of what was written: a classifier's, and which of its classes it is.

Whatever an audit reads is a classifier here (stages/audited.py). The
score of a text is the probability of one class: `measures.pos_label`, or the
one that its names say is to be detected (toxic, not the others). Where neither
tells it, that is asked; a guess would turn a page around.
"""

import contextlib
import pathlib
from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax.config import Config, changed
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import answers, labels
from fairjax.stages import asking, audited
from fairjax.stages.asking import AuditedModel
from fairjax.train.progress import Log

PROBE = ('A text.', 'Another one, of more words.')


class Scorer(NamedTuple):
  name: str
  positive: str  # what its class is called
  model: AuditedModel
  place: int  # of that class
  answered: Set[str] = frozenset()  # labels that a function has answered


def load(config: Config, source: Any = None) -> Scorer:
  """The classifier, asked once for two short texts, so that mistakes show."""
  own = config.writing
  given = config.measures.pos_label
  named = given if isinstance(given, str) else ''
  # It names the class: one number of a text is its chance.
  config = changed(config, measures={'pos_label': 1})
  source = own.classifier if source is None else source
  name = own.classifier
  made_from = None
  if isinstance(source, str) and audited.FUNCTION.fullmatch(source):
    if not pathlib.Path(source).exists():
      made_from = lambda: artefacts.fingerprint(asking.made_from(name), named)
      source = asking.imported(source, 'writing.classifier')
  blank, answered = pd.DataFrame({'text': list(PROBE)}), set[str]()
  if callable(source) and not hasattr(source, 'predict_proba'):
    name = name or getattr(source, '__name__', type(source).__name__)
    _refuse_nameless(source, name, named)
    function = _numbered(source, name, named, answered)
    found = [asking.function(function, name, config, blank, (), made_from)]
  else:
    found = audited.load(source, config, blank, ())
  model = _one(found, named)
  if model.predict is None:
    raise UserError(
      f'writing.classifier is {name!r}, which holds predictions of texts that '
      'are known; new texts are scored, so name a model folder or '
      "'module:function'"
    )
  place = positive_class(model, named)
  chances = model.predict(list(PROBE))
  if place is None:
    place = _by_number(model, chances.shape[-1], named)
  label = model.classes[place] if model.classes else named
  return Scorer(model.name, label or 'positive', model, place, answered)


def score(
  scorer: Scorer, texts: Sequence[str], config: Config, log: Log | None
) -> np.ndarray:
  """The score of each text [n]; with a log, kept in scores/ of its folder."""
  model = scorer.model
  if log is not None:
    place = asking.AnswerCache(log.folder, config.reuse)
    model = asking.sampled(model, texts)
    model = asking.cached(model, place, config.audit.batch, log.line)
  assert model.predict is not None  # `load` has looked
  chances = np.asarray(model.predict(list(texts)))[..., scorer.place].mean(0)
  if len(scorer.answered) > 1 and not chances.any():
    raise UserError(
      f'{scorer.name} answers {_names(scorer.answered)} of {len(texts):,} texts'
      f', never {scorer.positive!r}; if it calls that class otherwise, give '
      'its own word with --config.measures.pos_label'
    )
  return chances


def _refuse_nameless(function: Callable, name: str, positive: str) -> None:
  """Answers in words, and nothing says which of them is scored."""
  label = None
  with contextlib.suppress(Exception):  # which is reported where it is read
    label = None if positive else answers.labelled(function(list(PROBE)))
  if label is not None:
    raise UserError(
      f'{name} answers in words, such as {str(label.columns[0])[:60]!r}, and '
      'nothing says which of them is scored; name it with '
      '--config.measures.pos_label'
    )


def _numbered(
  source: Callable, name: str, positive: str, seen: set[str]
) -> Callable:
  """A function whose answers in words are numbers: is it the positive one?

  `seen` are the labels that it has answered, so far.
  """

  def numbers(texts: Sequence[str]):
    given = source(list(texts))
    labelled = answers.labelled(given)
    if labelled is None:
      return given
    labelled.columns = [_plain(label) for label in labelled]
    seen.update(labelled.columns)
    known, scores = labelled.notna(), labelled.fillna(0.0)
    alone = bool((known.sum(axis=1) == 1).all())
    if alone and not all(isinstance(one, str) for one in given):
      _refuse_others(scores.max(axis=1), name, positive, seen)
    elif not alone and len(seen) > 1 and _plain(positive) not in seen:
      _refuse_unknown(name, positive, seen)
    own = scores.get(_plain(positive), 0.0 * scores.iloc[:, 0])
    if not alone:
      return own.to_numpy(float)
    here = known.get(_plain(positive), own > 0)
    other = 1.0 - scores.max(axis=1)
    return own.where(here, other).to_numpy(float)

  return numbers


def _refuse_others(scores, name: str, positive: str, seen: set[str]) -> None:
  """Labels with scores of which none is the positive one, or one alone is said
  of three: what is left to the positive one is not known then."""
  if len(seen) > 1 and _plain(positive) not in seen:
    _refuse_unknown(name, positive, seen)
  if len(seen) > 2 or scores.min() < 0.5:
    raise UserError(
      f'{name} answers with one of several labels ({_names(seen)}) and its '
      f'score, which does not say the score of {positive!r}; let it return all '
      'labels with theirs (top_k=None of a pipeline)'
    )


def _refuse_unknown(name: str, positive: str, seen: set[str]) -> None:
  raise UserError(
    where='measures.pos_label',
    got=positive,
    expected=f'{name} answers {_names(seen)}; name one of these',
  )


def _plain(label: str) -> str:
  return str(label).strip().casefold()


def _names(seen: Set[str]) -> str:
  some = sorted(seen)
  return ', '.join(map(repr, some[:6])) + (', …' if len(some) > 6 else '')


def _one(found: Sequence[AuditedModel], positive: str) -> AuditedModel:
  """Of labels that may hold together, the one that is scored."""
  if len(found) == 1:
    return found[0]
  named = {model.classes[-1] if model.classes else m: model
           for m, model in enumerate(found)}  # fmt: skip
  low = {str(name).casefold(): model for name, model in named.items()}
  if positive.casefold() in low:
    return low[positive.casefold()]
  raise UserError(
    f'the labels {", ".join(map(str, named))} of the classifier may hold '
    'together; name the one that is scored with --config.measures.pos_label'
  )


def positive_class(model: AuditedModel, positive: str) -> int | None:
  """The place of the positive class by the names of classes, if they say."""
  names = list(model.classes)
  if model.label is not None:
    return model.label
  if not names:
    return None
  low = [name.casefold() for name in names]
  if positive:
    if positive.casefold() not in low:
      raise UserError(
        f'measures.pos_label is {positive!r}, and the classes of {model.name} '
        f'are {", ".join(names)}; name one of them'
      )
    return low.index(positive.casefold())
  order = labels.class_order(names)
  if not order:
    raise UserError(
      f'the classes of {model.name} are {", ".join(names)}, which do not say '
      'whose probability is the score; name it with --config.measures.pos_label'
    )
  return names.index(order[1])


def _by_number(model: AuditedModel, count: int, positive: str) -> int:
  """Of a function that gives numbers: one a text, or one a class."""
  if positive.isdigit() and int(positive) < count:
    return int(positive)
  if count == 2:
    return 1
  raise UserError(
    f'{model.name} returns {count} numbers a text, and nothing says whose '
    'probability is the score; give its column with '
    f'--config.measures.pos_label=0 to {count - 1}'
  )
