"""Perturbations and the fairscore as functions of a column of texts."""

import os
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.config import Config, doors, validate
from fairjax.core import announce
from fairjax.core.errors import UserError, count
from fairjax.data.tables import inputs
from fairjax.metrics import warn
from fairjax.metrics.inference import intervals
from fairjax.metrics.texts import fairscore as metric
from fairjax.models.families import chances
from fairjax.pairs.axes import exchange
from fairjax.pairs.persons import perturb as persons
from fairjax.pairs.swapping import english
from fairjax.recipes.perturbation import paired_file, perturbing
from fairjax.stages import asking

# The knobs that have another name as arguments.
ARGUMENTS = {'perturb.axes': 'axis'}
OF_A_MODEL = {'perturb.model': 'perturber', 'audit.batch': 'batch_size'}


@doors.door(ARGUMENTS)
def perturb(
  texts: str | Sequence[str],
  *,
  axis: str | Sequence[str] = 'gender',
  attribute: str | Sequence[str] = (),
  by: str = 'rules',
  model: str | os.PathLike = '',
  random_state: int = 0,
) -> Any:
  """One person of a text, or of each of a column, with another identity.

  Where `swap` exchanges everybody, this turns one word's person, drawn by the
  seed and the text, and leaves the others (Qian et al. 2022).

  Args:
    {arguments}

  >>> perturb('An Asian nurse met a doctor.', axis='race', attribute='white')
  'A white nurse met a doctor.'
  """
  column = [texts] if isinstance(texts, str) else list(texts)
  table = perturbing.perturbed(
    _config(axis, attribute, by, model, random_state), inputs.texts(column)
  )
  written = table['perturbed'].tolist()
  if over := int(table['too_long'].sum()):
    announce.note(
      f'{count(over, "text")} of {len(table)} have parts that are too long for '
      'the perturber and stay as they are'
    )
  _tell(column, written, axis, by)
  return inputs.as_given(texts, written)


def _tell(column: list[str], written: list[str], axis, by: str) -> None:
  """Says of texts that rules turn where they seem to be no English."""
  remedy = 'fairjax.swap takes words= of another language'
  if by != 'model' and column:
    if doubt := english.doubt(column, written, axis, remedy):
      announce.note(doubt)


@doors.door(ARGUMENTS | OF_A_MODEL)
def fairscore(
  model: Any,
  texts: Sequence[str],
  *,
  axis: str | Sequence[str] = 'gender',
  attribute: str | Sequence[str] = (),
  by: str = 'rules',
  perturber: str | os.PathLike = '',
  batch_size: int = 64,
  confidence_level: float = 0.95,
  n_resamples: int = 10000,
  random_state: int = 0,
) -> dict[str, Any]:
  """How many decisions change where one person of a text is another.

  Args:
    {arguments}

  Returns:
    'fairscore', its 'floor' (a neutral rewrite of as many words) and 'excess'
    row by row, each {value, low, high}; 'offered' and 'texts', how many could
    be perturbed of how many, of which 'too_long' for a trained perturber were
    left; 'by_attribute', a table; and 'pairs', the texts.
  """
  how = intervals.RowSample(confidence_level, n_resamples, random_state)
  inputs.options(0.5, confidence_level, n_resamples, random_state)
  for note in warn.of_resamples(how):
    announce.note(note)
  config = _config(axis, attribute, by, perturber, random_state)
  column = inputs.texts(list(texts))
  config.audit.batch = batch_size
  predict = predictor(model, column, config)
  table = perturbing.perturbed(config, column)
  pairs = table[table['changed']].reset_index(drop=True)
  if not len(pairs):
    axes = ' or '.join(map(exchange.called, _names(axis)))
    raise UserError(
      f'none of {len(column)} texts has a word of somebody whose {axes} our '
      'rules can turn, which are of English, so there is no fairscore; give '
      'texts that do, or another axis'
    )
  _tell(column, table['perturbed'].tolist(), axis, by)
  pairs = pairs.assign(text_pair='', perturbed_pair='')
  pairs = paired_file.controlled(pairs, random_state)
  have = (pairs['control'] != '').to_numpy()
  before, after, neutral = (
    np.asarray(predict(list(some)), float)
    for some in (
      *(pairs['text'], pairs['perturbed']),
      pairs['control'].where(have, pairs['text']),
    )
  )
  made = {
    name: metric.changed(before, other)
    for name, other in (('flips', after), ('floor', neutral))
  }
  some = paired_file.Some(pairs, {'model': made}, how)
  rows = []
  for name in ('axis', 'attribute'):
    for value in sorted({*pairs[name]}):
      part = some.where((pairs[name] == value).to_numpy())
      found = part.share(part.decided['model']['flips'])
      row = {'axis': '', 'attribute': '', name: value, 'rows': len(part.pairs)}
      rows.append(row | {k: found[k] for k in ('value', 'low', 'high')})
  return {
    'fairscore': some.share(made['flips']),
    'floor': some.share(made['floor'], rows=have),
    'excess': some.share(made['flips'], made['floor'], have),
    'offered': int(table['offered'].sum()),
    'too_long': int(table['too_long'].sum()),
    'texts': len(column),
    'by_attribute': pd.DataFrame(rows),
    'pairs': pairs[['text', 'perturbed', 'control', 'axis', 'attribute']],
  }


def _names(one: str | Sequence[str]) -> tuple[str, ...]:
  return (one,) if isinstance(one, str) else tuple(one)


def _config(axis, attribute, by, model, seed) -> Config:
  for one in _names(axis):
    if one not in persons.AXES:
      raise UserError(
        f'axis is {one!r}; persons are perturbed by {", ".join(persons.AXES)} '
        '(a file of your own axis is for fairjax.swap)'
      )
  for one in _names(attribute):
    if one and (own := persons.AXIS.get(one, 'no axis')) not in _names(axis):
      raise UserError(
        f'attribute is {one!r}, which is of {own}, and axis is '
        f'{", ".join(_names(axis))}: nobody could become that'
      )
  if (by == 'model') != bool(model):
    raise UserError(
      "by is 'model' where the folder of a trained perturber is named, and "
      'rules perturb where none is; give both or neither'
    )
  config = Config(seed=inputs.seed(seed))
  config.perturb.axes, config.perturb.by = _names(attribute or axis), by
  config.perturb.model = os.fspath(model)
  config.data.path = 'texts'
  validate(config)
  return config


def predictor(model: Any, texts: list[str], config: Config):
  """texts -> chances of classes [s, n, c], as an audit asks a model."""
  from fairjax import api

  if isinstance(model, str | pathlib.Path):
    model = api.load(model)
  if isinstance(model, api.Classifier):
    bundle = model.bundle
    chances.require_one(bundle.config, bundle.classes, model.name)
    return lambda texts: model.predict_proba(texts, config.audit.batch)[None]
  ask = getattr(model, 'predict_proba', model)
  if not callable(ask):
    raise UserError(
      f'model is {type(model).__name__}; give a classifier of fairjax.load, '
      'its folder, or a function of a list of texts to probabilities'
    )
  table = pd.DataFrame({'text': texts})
  return asking.function(ask, 'model', config, table).predict
