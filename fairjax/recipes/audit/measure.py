"""Measures of one audited model: rows and edits in, numbers out."""

import dataclasses
import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax.config import Config, changed
from fairjax.core.errors import UserError
from fairjax.data.tables import group_names
from fairjax.data.tables.files import column
from fairjax.metrics import (
  calibration,
  contrasts,
  gate,
  measures,
  slices,
  thresholds,
  warn,
)
from fairjax.metrics.assess import assess
from fairjax.metrics.counts import Case
from fairjax.metrics.groups import Groups, of_columns
from fairjax.metrics.inference import resampling, row_weights, significance
from fairjax.metrics.inference.intervals import RowSample, options_of
from fairjax.metrics.texts import flips
from fairjax.recipes.audit import edits as audit_edits
from fairjax.recipes.audit import groups as audit_groups
from fairjax.recipes.audit.what_if import WhatIf
from fairjax.stages.asking import AuditedModel, aligned

# These mean nothing where there are decisions.
OF_SCORES = measures.of_kind('scores', 'rank', 'rank gap')


class AuditInputs(NamedTuple):
  """What every model is measured on."""

  config: Config
  table: pd.DataFrame
  valid: pd.DataFrame | None
  classes: Sequence[str]
  groups: Groups
  columns: audit_groups.Columns  # that the groups are of
  controls: audit_groups.Columns
  edits: Sequence[audit_edits.Edits]
  clusters: audit_groups.Clusters

  @property
  def sample(self) -> RowSample:
    """How the rows were drawn, as measures take it."""
    own, of = options_of(self.config), self.clusters
    return own._replace(weight=of.weight).over(of.cluster)

  @property
  def least(self) -> int:
    return self.config.measures.min_group

  @property
  def text(self) -> list[str]:
    """The texts of the rows; none where there are none."""
    return list(self.table['text']) if 'text' in self.table else []


@dataclasses.dataclass(repr=False, eq=False)
class Measured:
  """One model: its set of results.json, and what its page shows beside."""

  given: AuditInputs
  scores: np.ndarray  # [s, n] of the positive label, or [s, n, c]
  chances: np.ndarray  # [s, n, c]
  labels: np.ndarray | None  # [n], 1 is positive of two
  set: dict  # of results.json

  def __post_init__(self) -> None:
    self.limit = self.set['threshold']  # one a seed, or 'argmax'
    self.cut = 0.0 if self.limit == 'argmax' else self.limit
    self.decisions = flips.decisions(self.scores, self.cut)  # [s, n]
    # Of each swap: as it was made with its scores, and what it changed.
    self.edits: dict[str, tuple[audit_edits.Edits, flips.EditScores]] = {}
    self.quantiles: dict[str, list[dict]] = {}
    self.words: dict[str, list[dict]] = {}
    self.wordings: dict[str, list[dict]] = {}  # of an axis, by value
    self.contrasts: list[dict] = []
    self.impact: list[dict] = []
    self.within: list[dict] = []  # gaps inside the levels of the controls
    self.left_out: list[str] = []
    self.reliability: dict[str, list[dict]] = {}
    self.slices: list[dict] = []
    self.sweep: dict[str, np.ndarray] = {}
    self.swept = ''  # the attribute whose gaps those are, of several
    self.equalized: Any = None  # thresholds of groups (causes.py)
    given = self.given
    self.case = Case(
      *(self.labels, self.scores, self.decisions, given.groups),
      *(given.sample, given.least),
    )
    # Where it can be asked.
    self.what_if: Callable[[str], WhatIf] | None = None


def of_positive(config: Config, chances: np.ndarray) -> np.ndarray:
  """[s, n] of the positive label where there are two classes, else all."""
  if chances.shape[2] > 2:
    return chances
  return chances[..., config.measures.positive]


def truth(config: Config, table: pd.DataFrame, classes: int):
  """The labels, 1 positive of two; None where there are none."""
  if 'label' not in table:
    return None
  labels = table['label'].to_numpy(np.int64)
  two = (labels == config.measures.positive).astype(np.int64)
  return two if classes == 2 else labels


def chances_of(
  model: AuditedModel,
  given: AuditInputs,
  texts: Sequence[str],
  scores: np.ndarray | None = None,
) -> np.ndarray:
  """[s, n, c] of any texts, in the order of the data's classes."""
  config = given.config
  if scores is None:
    if model.predict is None or not len(texts):
      raise UserError(
        f'{model.name} reads texts, and the data has no column '
        f'{config.data.text!r}; name it with --config.data.text'
      )
    scores = model.predict(texts)
  chances = aligned(np.asarray(scores, np.float64), model, given.classes)
  if chances.shape[2] == 2 and config.measures.positive > 1:
    raise UserError(
      f'measures.pos_label is {config.measures.positive}, but {model.name} '
      'has the classes 0 and 1'
    )
  return chances


def scored(
  model: AuditedModel, given: AuditInputs, texts: Sequence[str]
) -> np.ndarray:
  """Scores [s, n], or [s, n, c], of any texts."""
  return of_positive(given.config, chances_of(model, given, texts))


def decided(model: AuditedModel, chances: np.ndarray) -> AuditedModel:
  """The model, known to decide only where a function answers 0 or 1."""
  only = model.kind == 'function' and bool(np.isin(chances, (0, 1)).all())
  return dataclasses.replace(model, hard=True) if only else model


def threshold_of(model: AuditedModel, given: AuditInputs) -> float | str:
  """The threshold that was asked for, perhaps chosen on validation rows."""
  config, valid = given.config, given.valid
  rule = config.audit.choose
  if not rule:
    limit = config.measures.threshold
    return limit if limit == 'eer' else float(limit)
  if valid is None or 'label' not in valid:
    raise UserError(
      f'audit.choose is {rule!r}, but there are no validation rows with a '
      'label; name a file with --config.data.valid_path'
    )
  if model.predict is None:
    raise UserError(
      f'audit.choose is {rule!r}, but {model.name} is predictions of the '
      'audited rows only; name the model itself, or give the threshold with '
      '--config.measures.threshold'
    )
  scores = scored(model, given, given._replace(table=valid).text)
  if scores.ndim == 3:
    raise UserError(
      'a threshold is chosen for two classes; leave --config.audit.choose'
    )
  weight = None
  if config.audit.weight:
    own = column(valid, config.audit.weight, 'audit.weight')
    name = f'the weight {config.audit.weight!r} of validation rows'
    weight = row_weights.given(own.to_numpy(object), len(valid), name)
  return thresholds.choose(truth(config, valid, 2), scores, rule, weight)


def measure(model: AuditedModel, given: AuditInputs) -> Measured:
  """Everything of one model."""
  config, table, groups = given.config, given.table, given.groups
  chances = chances_of(model, given, given.text, model.scores)
  model = decided(model, chances)
  scores = of_positive(config, chances)
  labels = truth(config, table, chances.shape[2])
  wanted = threshold_of(model, given)
  one = assess(
    np.zeros(scores.shape[1], np.int64) if labels is None else labels,
    scores,
    groups,
    threshold=0.5 if labels is None and wanted == 'eer' else wanted,
    options=given.sample,
    min_group=given.least,
  )
  one['warnings'] += warn.of_chosen(config.audit.choose and 'validation rows')
  if 'text' in table:
    texts = given.clusters.texts
    one['texts'] = len(table if texts is None else np.unique(texts))
  if labels is None:
    without_labels(one)
  if model.hard:
    for part in (one['quality'], one['fairness'], *one['groups'].values()):
      for key in [k for k in part if k.rpartition('/')[2] in OF_SCORES]:
        del part[key]
  out = Measured(given, scores, chances, labels, one)
  first = out.case._replace(groups=groups.first)
  if labels is not None and not model.hard:
    drawn = resampling.weights(len(table), given.sample)
    _add(out, lambda case: calibration.measure(case, drawn))
    out.reliability = calibration.reliability(first)
  _beside_reference(out)
  _impact(out)
  _given_controls(out)
  price = prices(config.audit.costs)
  if price is not None and labels is not None and scores.ndim < 3:
    _add(out, lambda case: contrasts.costs(case, price))
  if labels is not None:
    once, found = given.clusters.once(len(table)), conditions(given)
    out.slices = slices.worst(
      (out.decisions != labels).mean(0)[once],
      found._replace(members=found.members[:, once]),
      cluster=given.clusters.among(once),
    )
  if scores.ndim == 2 and not model.hard:
    out.swept = groups.kinds[0] if len(groups.kinds) > 1 else ''
    out.sweep = thresholds.sweep(first)
  if model.predict is not None:
    for edits in given.edits:
      if edits.edited.any():
        _edited(out, edits, model)
  return out


def rehearsed(model: AuditedModel, given: AuditInputs) -> dict[str, dict]:
  """The measures that an audit of this model has, from made-up scores.

  The same code runs without the model and without resamples: whatever it
  would refuse after hours of inference it refuses now.
  """
  config = given.config
  width = len(model.classes) or max(len(given.classes), 2)
  if model.label is not None:
    width = max(width, model.label + 1)

  def made_up(texts: Sequence[str]) -> np.ndarray:
    rng = np.random.default_rng([config.seed, len(texts)])
    return rng.dirichlet(np.ones(width), len(texts))[None]

  plain = changed(config, measures={'resamples': 0})
  asked = dataclasses.replace(model, predict=made_up)
  one = measure(asked, given._replace(config=plain))
  return {**one.set['quality'], **one.set['fairness']}


def without_labels(one: dict) -> None:
  """What needs no label, of a set that was assessed with made-up ones."""

  def is_free(name: str) -> bool:
    plain = name.rpartition('/')[2]
    return plain == 'dp' or plain.startswith('selection_rate')

  for part in ('quality', 'fairness'):
    one[part] = {k: v for k, v in one[part].items() if is_free(k)}
  for group in one['groups'].values():
    measured = [k for k, v in group.items() if isinstance(v, Mapping)]
    for key in (k for k in measured if not is_free(k)):
      del group[key]
  one['warnings'] = [
    w for w in one['warnings'] if 'label' not in w and 'AUC' not in w
  ]


def _add(out: Measured, measured: Callable) -> None:
  """Measures of everyone, of each group, and between those of an attribute.

  `measured(case)` gives the three of some groups.
  """
  groups = out.given.groups
  everyone, by_group, fair = measured(out.case)
  out.set['quality'] |= everyone
  for name, one in zip(groups.names, by_group):
    out.set['groups'][name] |= one
  for kind in groups.kinds:
    if len(groups.kinds) > 1:
      fair = measured(out.case.of(kind))[2]
    out.set['fairness'] |= {groups.key(kind, k): v for k, v in fair.items()}


def _beside_reference(out: Measured) -> None:
  """Each group against the reference; of many classes only who is right."""
  given, labels = out.given, out.labels
  groups, reference = given.groups, given.config.audit.reference
  binary = out.scores.ndim == 2
  for kind in groups.kinds:
    case, own = out.case.of(kind), reference
    names = case.groups.names
    if own not in ('', 'rest', 'largest') and own not in names:
      own = 'rest'  # a reference of another attribute
    if len(names) < 2 and own not in ('', 'rest'):
      continue
    if not binary:
      if labels is None:
        continue
      # "Positive" is here that the decision is right.
      right = (out.decisions == labels).astype(np.int64)
      case = case._replace(labels=None, decisions=right)
    rows = contrasts.differences(case, own)
    out.contrasts += [{**row, 'attribute': kind} for row in rows]
  # The page counts the tests of all attributes, so all are corrected together.
  contrasts.correct(out.contrasts)
  for kind in groups.kinds:
    rows = [row for row in out.contrasts if row['attribute'] == kind]
    significance.gated(rows, out.set['fairness'], groups.key(kind, ''))
  if not binary:
    for row in out.contrasts:
      row['rate'] = 'accuracy'


def _impact(out: Measured) -> None:
  """Impact ratios of each attribute, where the task is hiring or a gate asks.

  Where there are scores, also of the share above the sample's median.
  """
  groups, config = out.given.groups, out.given.config
  asked = config.audit.hiring or gate.asks(
    config.audit.fail_if, 'selection_rate_ratio'
  )
  if not asked or out.scores.ndim == 3:
    return
  of = {'selection rate': out.decisions}
  source = config.data.path or config.data.name
  origin = {'source': source, 'date': f'{datetime.date.today()}'}
  if len(np.unique(out.scores)) > 2:
    median = np.median(out.scores, axis=1, keepdims=True)
    of['scoring rate'] = (out.scores > median).astype(np.int64)
  for kind in groups.kinds:
    own = out.case.of(kind)
    unknown = int((~own.groups.members.any(0)).sum())
    about = {'attribute': kind, 'unknown': unknown}
    for name, chosen in of.items():
      rows = contrasts.impact_ratios(own._replace(decisions=chosen))
      out.impact += [{**about, **origin, 'of': name, **row} for row in rows]


def _given_controls(out: Measured) -> None:
  """Gaps at equal values of the controls, and inside each of their levels."""
  given, groups = out.given, out.given.groups
  if not given.controls or not given.columns or out.scores.ndim == 3:
    return
  levels = of_columns(given.controls, intersections=True)
  levels = levels.of(' × '.join(given.controls))
  for kind in given.columns:
    case = out.case.of(kind)
    # As of every gap: a group of few rows would empty the levels too.
    large = case.groups.taken(case.large())
    if len(large.names) < 2:
      continue
    case = case._replace(groups=large)
    fair, within, left = contrasts.conditional(case, levels)
    out.set['fairness'] |= {groups.key(kind, k): v for k, v in fair.items()}
    out.within += [{'attribute': kind, **row} for row in within]
    out.left_out += left


def prices(text: str) -> tuple[float, float] | None:
  """(of a false positive, of a false negative) of 'fp=1,fn=5'."""
  if not text:
    return None
  price = {'fp': 0.0, 'fn': 0.0}
  for part in text.split(','):
    name, _, value = part.partition('=')
    try:
      price[name.strip()] += float(value)
    except (KeyError, ValueError) as error:
      raise UserError(
        f"audit.costs is {text!r}; write it as 'fp=1,fn=5'"
      ) from error
  finite = all(map(math.isfinite, price.values()))
  if not finite or min(price.values()) < 0 or not max(price.values()) > 0:
    raise UserError(
      f'audit.costs is {text!r}; costs are finite, 0 or more, and one above 0'
    )
  return price['fp'], price['fn']


def conditions(given: AuditInputs) -> Groups:
  """What slices are made of: groups, terms, controls, length of the text."""
  kinds = audit_edits.kinds(given.groups)
  more: dict[str, Any] = {**given.controls}
  at = [g for kind in kinds for g in given.groups.at(kind)]
  if given.text:
    # Not .str.split(): a million lists of words take 1.2 GB.
    words = np.array([len(text.split()) for text in given.text])
    edges = np.unique(np.quantile(words, [0.25, 0.5, 0.75]).round())
    more['words'] = group_names.bands(pd.Series(words), [*edges])
  more = {kind: values for kind, values in more.items() if kind not in kinds}
  others = of_columns(more, len(given.table))
  return given.groups.taken(at).with_more(others)


def _edited(
  out: Measured, edits: audit_edits.Edits, model: AuditedModel
) -> None:
  """Flips of one swap, with the measures' names led by it if there are more."""
  given, groups, labels = out.given, out.given.groups, out.labels
  predict = lambda texts: scored(model, given, texts)
  edit = audit_edits.score(edits, given.text, out.scores, predict)
  end = out.cut, given.sample
  result = flips.measure(out.case, edit, out.cut)
  prefix = f'{edits.name}/' if len(given.config.audit.swaps) > 1 else ''
  note = warn.note_of_constant(out.decisions)
  if note and not result.measures['flips']['value']:
    for one in result.measures.values():
      one.setdefault('note', note)
  out.set['fairness'] |= {prefix + k: v for k, v in result.measures.items()}
  fits = not groups.kinds or bool(audit_edits.fitting(edits, groups))
  for one in (result.measures['flips'], result.measures['excess_flips']):
    one |= {'of': edits.what, 'fits': fits}
  for name, one in result.groups.items():
    out.set['groups'][name] |= {prefix + k: v for k, v in one.items()}
  out.edits[edits.name] = edits, edit
  out.quantiles[edits.name] = result.quantiles
  if labels is not None and out.scores.ndim == 2:
    out.wordings[edits.name] = flips.by_value(
      *(labels, out.scores, edit, edits.wording, edits.values, *end)
    )
  once, words_of = (
    given.clusters.once(len(given.text)),
    edits.exchanged.by_row(),
  )
  spelt = {
    pair: '{} → {}'.format(*pair).lower() for pair in edits.exchanged.pairs
  }
  out.words[edits.name] = flips.by_word(
    [[spelt[pair] for pair in words_of(row)] for row in once],
    out.scores[:, once],
    flips.of_rows(edit, once),
    *(out.cut, options_of(given.config).over(given.clusters.among(once))),
    given.least,
  )
