"""The scores of an audit: kept by content as they are made, and asked twice.

Inference is nearly all of an audit's time, so scores are a stage: pieces of
texts, each sealed with the identity of the model and of its texts. After a
kill, or a second time, only what is missing is asked for. A folder's model is
known by its bytes; a function by those of its modules and by what it answers
to some texts now.

A function is asked for these texts again at the end: where it answers
differently, what it says of an edit is in part its own noise.
"""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairjax import stages
from fairjax.core import announce, artefacts
from fairjax.metrics import warn
from fairjax.metrics.texts import flips
from fairjax.recipes.audit.measure import Measured
from fairjax.recipes.audit.models import Audited, aligned
from fairjax.train.progress import Log

PIECE = 1024  # texts, or a 64th of them where there are many
SAMPLE = 32  # texts that a function is asked for again
APART = 1e-3  # more than what other batches and rounding do


class Sample(NamedTuple):
  """Some rows, and what the model answers to their texts."""

  rows: np.ndarray
  scores: np.ndarray  # [s, k, c]


def sample(model: Audited, texts: Sequence[str]) -> Sample | None:
  """A first look at a function: mistakes in its answers are told here."""
  if model.kind != 'function' or model.predict is None:
    return None
  rows = np.unique(np.linspace(0, len(texts) - 1, SAMPLE).round().astype(int))
  return Sample(rows, model.predict([texts[row] for row in rows]))


def kept(
  model: Audited,
  first: Sample | None,
  folder: pathlib.Path,
  log: Log,
  reuse: str = '',
) -> Audited:
  """The model, whose answers are read where they are kept."""
  if model.made_from is None or model.predict is None:
    return model
  answers = None if first is None else np.round(first.scores, 4)
  source = artefacts.fingerprint(
    model.made_from(), [] if answers is None else answers
  )
  place = folder / 'scores' / stages.file_name(model.name)
  ask = model.predict

  def predict(texts: Sequence[str]) -> np.ndarray:
    size = max(PIECE, -(-len(texts) // 64))
    pieces = [texts[low : low + size] for low in range(0, len(texts), size)]
    out, again = [], 0
    with announce.counting(len(texts), f'scoring by {model.name}') as add:
      for piece in pieces:
        made_from = artefacts.fingerprint(source, list(piece))
        path = place / f'{made_from}.npy'
        again += artefacts.finished(path, made_from, reuse) is not None
        out.append(
          stages.stage(
            *(path, made_from, lambda path, piece=piece: write(path, piece)),
            np.load,
            reuse=reuse,
          )
        )
        add(len(piece))
    if again:
      log.line(_taken(model, place, again, len(pieces)))
    return np.concatenate(out, 1)

  def write(path: pathlib.Path, piece: Sequence[str]) -> None:
    from fairjax.train import mesh

    scores = ask(piece)
    if mesh.is_main():
      with artefacts.atomic(path) as part:
        np.save(part, scores)

  return dataclasses.replace(model, predict=predict)


def _taken(model: Audited, place, again: int, pieces: int) -> str:
  words = f'{again} of {pieces} pieces of scores are those kept in {place}'
  if model.kind == 'function':
    words += (
      f': the modules beside {model.name} and its answers to {SAMPLE} texts '
      'are as before; remove that folder if anything else has changed'
    )
  return words


def tell_noise(
  model: Audited,
  first: Sample | None,
  texts: Sequence[str],
  classes: Sequence[str],
  measured: Measured,
) -> None:
  """Asks a function again; a warning where the same texts got other answers."""
  if first is None:
    return
  last = model.predict([texts[row] for row in first.rows])
  before, after = (aligned(x, model, classes) for x in (first.scores, last))
  others = np.stack([after, measured.chances[:, first.rows]])
  apart = np.abs(others - before).max((0, 1, 3))
  if not (apart > APART).any():
    return
  measured.set['warnings'].insert(
    0,
    f'{model.name} was asked for the same {len(apart)} texts again, and '
    f'answered {int((apart > APART).sum())} of them differently, by up to '
    f'{apart.max():.2g}: its answers change from call to call or with the '
    'other texts of a batch, so what an edit changes is in part its own noise.',
  )
  for name, one in measured.set['fairness'].items():
    if name.rpartition('/')[2] in flips.NAMES:
      one['note'] = warn.NOISY
