"""Counterfactual flips: how an edit of a text changes the decision on it.

A *swap* exchanges the words that show a group (she → he, Mary → Robert); a
*control* edits as many words of the same text that show none (a name of the
same gender, a synonym). With decisions d of a text, d′ of its swap and d″ of
its control, over the rows that were edited:

  flips         mean [d ≠ d′]                     (Prabhakaran et al. 2019)
  control_flips mean [d ≠ d″]
  excess_flips  mean [d ≠ d′] − [d ≠ d″]          on rows that have a control
  score_change  mean |p − p′|, the counterfactual token fairness gap
                (Garg et al. 2019, arXiv:1809.10610)
  tprd, fprd    share decided positive of the rows of label 1, or 0, in their
                female wording less that in their male wording (Czarnowska et
                al. 2021, arXiv:2106.14574, on pairs)

A classifier reacts to any edit: without the control a flip rate says little.
With three or more classes a decision is the likeliest class, and |p − p′| is
the total variation, half the sum over classes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Integer

from fairjax.metrics import counts, measures
from fairjax.metrics.counts import Case
from fairjax.metrics.inference import (
  clusters,
  intervals,
  row_means,
  row_weights,
  significance,
  tails,
)
from fairjax.metrics.inference.estimates import (
  Estimate,
  Estimates,
  Row,
  estimate,
)
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import fairscore

NAMES = tuple(measures.of_kind('flips'))
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NO_CONTROL = 'no row has a control edit'


class EditScores(NamedTuple):
  """The scores of the texts after a swap, and after its control."""

  edited: np.ndarray  # bool [n]: the swap changed the text
  scores: np.ndarray  # [s, n] or [s, n, c]; of rows not edited, anything
  controlled: np.ndarray  # bool [n]: edited, and there is a control
  control: np.ndarray  # like scores
  # 1: the text is in its female wording (the second side of a list), −1: in
  # its male one, 0: in both, in neither, or the list has no sides.
  side: np.ndarray


def of_rows(edit: EditScores, rows: Integer[np.ndarray, ' m']) -> EditScores:
  """The edit of some of the rows; scores have the seeds before them."""
  return EditScores(*(x[rows] if x.ndim == 1 else x[:, rows] for x in edit))


class Flips(NamedTuple):
  """What `measure` gives."""

  measures: Estimates  # of everyone
  groups: dict[str, Estimates]
  quantiles: list[Row]  # of the change of score


def decisions(
  scores: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  limits: float | Sequence[float],
) -> Integer[np.ndarray, 's n']:
  """The decisions at the thresholds (one, or one a seed) of the originals."""
  if scores.ndim == 3:
    return np.asarray(scores.argmax(-1))
  line = np.broadcast_to(np.asarray(limits, np.float64), len(scores))
  return (scores >= line.astype(scores.dtype)[:, None]).astype(np.int64)


def change(
  before: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
  after: Float[np.ndarray, 's n'] | Float[np.ndarray, 's n c'],
) -> Float[np.ndarray, 's n']:
  """|p − p′|; of many classes the total variation."""
  apart = np.abs(after - before)
  return np.asarray(apart.sum(-1) / 2 if apart.ndim == 3 else apart)


def measure(
  case: Case, edit: EditScores, limits: float | Sequence[float]
) -> Flips:
  """Every measure of the header, each with its interval.

  Args:
    case: the texts as they are.
    edit: the same rows after the swap and after its control.
    limits: the threshold of its decisions, or one a seed.
  """
  labels, scores, d, groups, options, _ = case
  swapped = decisions(edit.scores, limits)
  known = edit.edited
  flip = (d != swapped)[:, known]
  binary = scores.ndim == 2
  y = labels[known] if labels is not None and binary else None
  own = options.of(known)
  out, by_group = _rates('flips', flip, y, groups.members[:, known], own)
  if binary:
    up = (d < swapped)[:, known]
    for name, one in (('flips_up', up), ('flips_down', flip & ~up)):
      out |= _rates(name, one, None, groups.members[:0, known], own)[0]
  out |= _against_control(d, swapped, edit, limits, options)
  shift = change(scores, edit.scores)
  out['score_change'] = row_means.mean(shift[:, known], own, intervals.SHARES)
  both = edit.controlled
  apart = shift - change(scores, edit.control)
  out['excess_change'] = row_means.mean(
    apart[:, both], options.of(both), (-1.0, 1.0), NO_CONTROL
  )
  if labels is not None and binary and edit.side.any():
    out |= _by_wording(d, swapped, edit, labels, options)
  each = {name: {'flips': one} for name, one in zip(groups.names, by_group)}
  return Flips(out, each, quantiles(scores, edit, options.weight))


def _rates(
  name: str,
  flip: np.ndarray,
  labels: np.ndarray | None,
  members: np.ndarray,
  options: RowSample,
) -> tuple[Estimates, Sequence[Estimate]]:
  """A share of rows, of each label and of each group: a flip is a decision."""
  seeds, n = flip.shape
  if not options.rows(np.ones(n, bool)):
    empty = estimate(np.full(seeds, np.nan), note='no row was edited')
    return {name: empty}, [empty] * len(members)
  truth = None if labels is None else (labels > 0).astype(np.int64)
  table, rates = counts.decided(truth, flip.astype(np.int64), members, options)
  everyone = counts.of_group(table, rates, -1, options)
  out = {name: everyone['selection_rate']}
  if labels is not None:
    out[f'{name}_positive'] = everyone['tpr']
    out[f'{name}_negative'] = everyone['fpr']
  return out, [
    counts.of_group(table, rates, g, options)['selection_rate']
    for g in range(len(members))
  ]


def _against_control(
  d: np.ndarray,
  swapped: np.ndarray,
  edit: EditScores,
  limits: float | Sequence[float],
  options: RowSample,
) -> Estimates:
  """Flips under the control, and by how much the swap flips more."""
  rows = edit.controlled
  after = decisions(edit.control, limits)[:, rows]
  flip = d[:, rows] != swapped[:, rows]
  under = d[:, rows] != after
  none = np.zeros((0, int(rows.sum())), bool)
  own = options.of(rows)
  control = _rates('control_flips', under, None, none, own)[0]
  if not rows.any():
    control['control_flips']['note'] = NO_CONTROL
  excess = row_means.difference(flip.astype(float) - under, own, NO_CONTROL)
  return {**control, 'excess_flips': excess}


def _by_wording(
  d: np.ndarray,
  swapped: np.ndarray,
  edit: EditScores,
  labels: np.ndarray,
  options: RowSample,
) -> Estimates:
  """TPRD and FPRD: the female wording less the male one, row by row."""
  female = np.where(edit.side > 0, d, swapped)
  male = np.where(edit.side > 0, swapped, d)
  apart = (female - male).astype(float)
  known = edit.edited & (edit.side != 0)
  out = {}
  for name, value in (('tprd', 1), ('fprd', 0)):
    rows = known & (labels == value)
    own, note = options.of(rows), f'no edited row of label {value} has one side'
    out[name] = row_means.difference(apart[:, rows], own, note)
    # What a person reads: of 100 such rows, how many in either wording.
    if rows.any():
      for side, x in (('female', female), ('male', male)):
        out[name][side] = float(own.mean(x[:, rows]).mean())
      out[name]['rows'] = int(rows.sum())
  return out


def by_value(
  labels: Integer[np.ndarray, ' n'],
  scores: Float[np.ndarray, 's n'],
  edit: EditScores,
  wording: Integer[np.ndarray, '2 n'],
  values: Sequence[str],
  limits: float | Sequence[float],
  options: RowSample,
  least: int = 10,
) -> list[Row]:
  """TPRD and FPRD of each value of an axis: rows in its wording less others.

  `wording` is the place in `values` of the one value that a text names, and
  its twin; rows of each label whose text or twin alone names a value are in it,
  values of fewer than `least` rows are not shown. Pairwise comparisons against
  the rest, as Czarnowska et al. 2021 have them of many groups; p by Holm over
  the rows of the table.
  """
  d, swapped = decisions(scores, limits), decisions(edit.scores, limits)
  own, twin = wording
  out: list[Row] = []
  for k, value in enumerate(values):
    sign = np.where(edit.edited, (own == k) * 1 - (twin == k), 0)
    sure = (own >= 0) & (twin >= 0)
    for label, name in ((1, 'positive'), (0, 'negative')):
      rows = (sign != 0) & sure & (labels == label)
      if options.rows(rows) < least:
        continue
      of = np.where(sign > 0, d, swapped)[:, rows].astype(float)
      other = np.where(sign > 0, swapped, d)[:, rows].astype(float)
      each = options.of(rows)
      out.append(
        {
          'wording': value,
          'rows labelled': name,
          'how many': int(rows.sum()),
          'decided positive': float(each.mean(of).mean()),
          'in other wordings': float(each.mean(other).mean()),
          'difference': row_means.difference(of - other, each),
        }
      )
  adjusted = significance.adjusted([one['difference']['p'] for one in out])
  return [one | {'p (Holm)': p} for one, p in zip(out, adjusted)]


def quantiles(
  scores: np.ndarray,
  edit: EditScores,
  weight: Float[np.ndarray, ' n'] | None = None,
) -> list[Row]:
  """Of the signed change of score: all seeds of the edited rows together."""
  if scores.ndim == 3:
    return []
  out = []
  for name, rows, after in (
    ('swap', edit.edited, edit.scores),
    ('control', edit.controlled, edit.control),
  ):
    changes = (after - scores)[:, rows]
    own = row_weights.taken(weight, rows)
    if changes.size and (own is None or own.any()):
      values = np.quantile(changes, QUANTILES)
      if own is not None:
        flat, each = (
          changes.ravel(),
          np.broadcast_to(own, changes.shape).ravel(),
        )
        values = np.quantile(
          flat, QUANTILES, method='inverted_cdf', weights=each
        )
      row = {f'{q:.0%}': float(v) for q, v in zip(QUANTILES, values)}
      out.append({'edit': name, 'rows': int(rows.sum()), **row})
  return out


def by_word(
  words: Sequence[Sequence[str]],
  scores: np.ndarray,
  edit: EditScores,
  limits: float | Sequence[float],
  options: RowSample,
  least: int = 10,
) -> list[Row]:
  """Which words carry the flips: rows of each word, its flips, and a test.

  `words` are those that the swap exchanged in each row. The test of a word is
  McNemar's, exact: among its rows where just one of swap and control flips
  the decision (in most seeds), the swap is as often the one; without a control
  Fisher's, of its rows against the others. Where rows belong together a cluster
  counts once, for the one that more of its rows speak for; without a control p
  is the larger of Fisher's and Student's over clusters. p is adjusted for the
  number of words (Benjamini and Hochberg).
  """
  cluster, code = options.cluster, None
  if cluster is not None:
    code = options.of(edit.edited).units(0)
  d = decisions(scores, limits)
  flip = (d != decisions(edit.scores, limits)).mean(0) >= 0.5
  under = (d != decisions(edit.control, limits)).mean(0) >= 0.5
  changes = (edit.scores - scores).mean(0) if scores.ndim == 2 else None
  rows_of: dict[str, list[int]] = {}
  for row in np.flatnonzero(edit.edited).tolist():
    for word in dict.fromkeys(words[row]):
      rows_of.setdefault(word, []).append(row)
  total, flipped = int(edit.edited.sum()), int(flip[edit.edited].sum())
  out: list[Row] = []
  for word, listed in rows_of.items():
    if len(listed) < least:
      continue
    rows = np.array(listed)
    paired = rows[edit.controlled[rows]]
    if len(paired):
      own = row_weights.taken(cluster, paired)
      p = fairscore.mcnemar(flip[paired], under[paired], own)['p']
    else:
      hits, n = int(flip[rows].sum()), len(rows)
      rest = total - n
      p = 1.0
      if rest:
        other = flipped - hits
        p = tails.fisher([[hits, n - hits], [other, rest - other]])
      if rest and code is not None:
        inside = np.isin(np.flatnonzero(edit.edited), rows)
        bad = flip[edit.edited].astype(float)
        p = max(p, clusters.excess(bad, inside, code)[1])
    one: Row = {
      'word': word,
      'rows': len(rows),
      'flips': float(flip[rows].mean()),
      'control flips': float(under[paired].mean()) if len(paired) else None,
      'p': p,
    }
    if changes is not None:
      one['mean change of score'] = row_means.mean(
        changes[None, rows], options.of(rows), (-1.0, 1.0)
      )
    out.append(one)
  adjusted = significance.adjusted([one['p'] for one in out], 'bh')
  for one, each in zip(out, adjusted):
    one['adjusted'] = each
  return sorted(out, key=lambda r: (r['adjusted'], -r['flips'], r['word']))


def compare(
  ours: tuple[np.ndarray, EditScores, float | Sequence[float]],
  theirs: tuple[np.ndarray, EditScores, float | Sequence[float]],
  options: RowSample,
) -> list[Row]:
  """Flips of two models under the same swap: ours − theirs, a row a pair.

  Each of `ours` and `theirs` is (scores, edit, limits) of the same rows.
  """
  sides = []
  for scores, edit, limits in (ours, theirs):
    d = decisions(scores, limits)
    flip = d != decisions(edit.scores, limits)
    sides.append((flip, d != decisions(edit.control, limits)))
  edited, both = ours[1].edited, ours[1].controlled
  plain = [one.astype(float)[:, edited] for one, _ in sides]
  over = [(one.astype(float) - two)[:, both] for one, two in sides]
  out = []
  for name, (a, b), scale, rows in (
    ('flips', plain, 1, edited),
    ('excess_flips', over, 2, both),
  ):
    if not a.shape[1] or a.shape != b.shape:
      continue
    # Excesses differ by up to 2; halved, they are shares again.
    one = row_means.difference((a - b) / scale, options.of(rows))
    for key in ('value', 'low', 'high'):
      one[key] = None if one[key] is None else one[key] * scale
    one['seeds'] = [v * scale for v in one['seeds']]
    test = {key: one.pop(key, False) for key in ('p', 'p_at_floor')}
    out.append(
      {
        'measure': name,
        'difference': one,
        **test,
        'test': 'paired bootstrap over examples'
        + (' and seeds' if len(a) > 1 else ''),
        'n': a.shape[1],
      }
    )
  return out
