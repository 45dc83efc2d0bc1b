"""Measures of counterfactual texts, with intervals and paired tests.

Each is a ratio (or a function of ratios) of sums over texts: `Sums` holds the
rows of those sums, one line a text and one plane a seed, and what is computed
of their total. Resampling draws texts; contenders that rewrite the same texts
are resampled alike, so their differences are paired.

  group_tprd, group_fprd   TPR(a) − TPR(a') of the texts of either group, each
    as it was written: the papers' TPRD and FPRD (FairFlow, MBCDA)
  content_tprd, content_fprd   the part of it that is what else the texts say
  tprd, fprd   the gap of the same texts in two versions: that of the wording
  group_tprd_size, …   |TPRD| and |FPRD|, which contenders are ordered by
  transfer_accuracy   texts that a classifier takes for the other attribute
  changed, distance   texts that differ from their source; words per word
  source_bleu   BLEU-4 against the source
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Integer
from rapidfuzz.distance import Levenshtein

from fairjax.metrics import paired
from fairjax.metrics.inference import intervals, ratios
from fairjax.metrics.inference.estimates import Estimates
from fairjax.metrics.inference.ratios import Values
from fairjax.metrics.inference.sample import RowSample
from fairjax.metrics.texts import rewrites


class Sums(NamedTuple):
  """Rows that are summed, and what is computed of a total."""

  rows: Float[np.ndarray, 's n k']
  compute: Callable[[Float[np.ndarray, '*b k']], Values]
  bounds: tuple[float, float] = intervals.SHARES
  edges: ratios.Edges | None = None  # rows at the ends of the range (ratios.py)
  absolute: bool = False  # the measures are sizes: |compute|


class Drawn(NamedTuple):
  """The values of each seed, and those of every resample."""

  values: dict[str, np.ndarray]  # [s]
  draws: dict[str, np.ndarray]  # [resample, s]
  bounds: tuple[float, float]
  absolute: bool = False


def drawn(sums: Sums, how: RowSample) -> Drawn:
  """The measures of the texts, and of texts drawn with replacement.

  The draws of a size |x| are those of x on its own side of 0: sign(x) x*.
  """
  values, draws = ratios.drawn(
    sums.rows, sums.compute, how, sums.edges, sums.bounds
  )
  if sums.absolute:
    # A difference of 0 has no side; either will do.
    side = {name: np.where(x < 0, -1, 1) for name, x in values.items()}
    draws = {name: side[name] * x for name, x in draws.items()}
    values = {name: np.abs(value) for name, value in values.items()}
  return Drawn(values, draws, sums.bounds, sums.absolute)


def estimates(one: Drawn, how: RowSample) -> Estimates:
  """Each measure with its interval over texts and seeds."""
  return {
    name: (intervals.of_size if one.absolute else intervals.of_mean)(
      value,
      one.draws[name] if how.resamples else None,
      how,
      note='' if np.isfinite(value).any() else 'no text of the kind is there',
      bounds=one.bounds,
    )
    for name, value in one.values.items()
  }


def tests(ours: Drawn, theirs: Drawn, how: RowSample) -> list[dict[str, Any]]:
  """Paired tests of ours − theirs, measure by measure."""
  return [
    paired.of_draws(
      name,
      (value, theirs.values[name]),
      (ours.draws[name], theirs.draws[name]),
      how,
      ours.absolute,
    )
    for name, value in ours.values.items()
    if name in theirs.values and len(value) == len(theirs.values[name])
  ]


def _share(top: np.ndarray, below: np.ndarray) -> np.ndarray:
  with np.errstate(divide='ignore', invalid='ignore'):
    return np.asarray(top / below)


def rates(
  label: Integer[np.ndarray, ' n'],
  first: Float[np.ndarray, 's n'],
  second: Float[np.ndarray, 's n'],
  threshold: float = 0.5,
) -> Sums:
  """TPRD and FPRD: the rates of texts' first versions less their second's.

  Both versions of a text have its label; `first` and `second` are a
  classifier's scores of them, where the first shows attribute 1 in every row.
  """
  positive = np.broadcast_to(label == 1, first.shape)
  one, two = first >= threshold, second >= threshold
  columns = (
    *(positive, positive & one, positive & two),
    *(~positive, ~positive & one, ~positive & two),
  )
  rows = np.stack(columns, -1).astype(np.float64)
  edges = (np.array([1, 1, 0] * 2), np.array([1, 0, 1] * 2))
  return Sums(rows, _rate_gaps, (-1.0, 1.0), edges)


def _rate_gaps(sums: np.ndarray) -> Values:
  p, p1, p2, n, n1, n2 = np.moveaxis(sums, -1, 0)
  return {'tprd': _share(p1 - p2, p), 'fprd': _share(n1 - n2, n)}


def group_rates(
  label: Integer[np.ndarray, ' n'],
  shows: Integer[np.ndarray, ' n'],
  own: Float[np.ndarray, 's n'],
  twin: Float[np.ndarray, 's n'],
  threshold: float = 0.5,
) -> Sums:
  """TPRD and FPRD of the papers: those of texts of attribute 1 less the rest.

  Every text is decided in its `own` wording. `content` takes from the same
  rows, in which its `twin` is decided too, what is not the wording's.
  """
  chosen = own >= threshold, twin >= threshold
  columns = [
    part
    for value in (1, 0)
    for group in (1, 0)
    for mine in [
      np.broadcast_to((label == value) & (shows == group), own.shape)
    ]
    for part in (mine, mine & chosen[0], mine & chosen[1])
  ]
  rows = np.stack(columns, -1).astype(np.float64)
  high = np.array([1, 1, 1, 1, 0, 0] * 2)
  low = np.array([1, 0, 0, 1, 1, 1] * 2)
  return Sums(rows, _group_gaps, (-1.0, 1.0), (high, low))


def _group_gaps(
  sums: np.ndarray, name: str = 'group', wordings: tuple[int, ...] = (1,)
) -> Values:
  # Label 1 or 0, group 1 or 0; texts, those chosen, those chosen as the twin.
  cells = np.moveaxis(sums, -1, 0).reshape(2, 2, 3, *sums.shape[:-1])
  chosen = cells[:, :, wordings].sum(2)
  rate = _share(chosen, len(wordings) * cells[:, :, 0])
  gap = rate[:, 0] - rate[:, 1]
  return {f'{name}_tprd': gap[0], f'{name}_fprd': gap[1]}


def content(groups: Sums) -> Sums:
  """What is left of `group_rates` where both groups are worded both ways.

    gap = ½[(own₁ − twin₁) + (twin₀ − own₀)]
        + ½[(own₁ + twin₁) − (own₀ + twin₀)]

  Of the rates of groups 1 and 0: the first half is the wording's, the second
  that of the rest of the texts (other occupations, other persons), as Oaxaca
  and Blinder part a gap of wages.
  """
  both = functools.partial(_group_gaps, name='content', wordings=(1, 2))
  return groups._replace(compute=both)


def sizes(gaps: Sums) -> Sums:
  """|TPRD| and |FPRD| of `rates` or `group_rates`, which are shares."""
  compute = lambda sums: {
    f'{name}_size': gap for name, gap in gaps.compute(sums).items()
  }
  return gaps._replace(compute=compute, absolute=True)


def quality(
  label: Integer[np.ndarray, ' n'],
  score: Float[np.ndarray, 's n'],
  threshold: float = 0.5,
) -> Sums:
  """Accuracy and F1 of the positive class."""
  positive = np.broadcast_to(label == 1, score.shape)
  chosen = score >= threshold
  columns = (
    np.ones_like(chosen),
    positive == chosen,
    positive & chosen,
    positive,
    chosen,
  )
  # A wrong row is of label 1 or decided 1, not both.
  edges = np.ones(5), np.array([1, 0, 0, 0.5, 0.5])
  return Sums(np.stack(columns, -1).astype(np.float64), _quality, edges=edges)


def _quality(sums: np.ndarray) -> Values:
  n, right, hits, positive, chosen = np.moveaxis(sums, -1, 0)
  return {
    'accuracy': _share(right, n),
    'f1': _share(2 * hits, positive + chosen),
  }


def transfer(
  attribute: Integer[np.ndarray, ' n'], chance: Float[np.ndarray, ' n']
) -> Sums:
  """The share of rewrites that a classifier takes for the other attribute.

  `attribute` is the source's, `chance` P(attribute 1) of the rewrite.
  """
  other = (chance >= 0.5) != (attribute == 1)
  return means({'transfer_accuracy': other})


def changes(sources: Sequence[str], rewrites: Sequence[str]) -> Sums:
  """Texts that differ from their source, and by how many words per word."""
  rows = []
  for old, new in zip(sources, rewrites, strict=True):
    one, two = old.split(), new.split()
    rows.append([1, one != two, Levenshtein.distance(one, two), len(one)])
  return Sums(
    np.array(rows, np.float64).reshape(1, -1, 4),
    lambda s: {
      'changed': _share(s[..., 1], s[..., 0]),
      'distance': _share(s[..., 2], s[..., 3]),
    },
    intervals.POSITIVE,
    (np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0])),
  )


def source_bleu(sources: Sequence[str], written: Sequence[str]) -> Sums:
  """BLEU-4 of rewrites against their sources: how much of a text stays."""
  order = rewrites.ORDER
  rows = np.array(
    [
      rewrites.bleu_counts(new.split(), old.split())
      for old, new in zip(sources, written, strict=True)
    ],
    np.float64,
  )
  all_kept = rows.mean(0)
  all_kept[:order] = all_kept[order : 2 * order]
  none_kept = np.where(np.arange(len(all_kept)) < order, 0, all_kept)
  return Sums(
    rows[None],
    lambda s: {'source_bleu': rewrites.bleu(s)},
    edges=(all_kept, none_kept),
  )


def means(columns: Mapping[str, np.ndarray]) -> Sums:
  """The mean of each column over texts, by its name; shares or in [0, 1]."""
  first = next(iter(columns.values()))
  rows = np.stack([np.ones(len(first)), *columns.values()], -1)[None]
  rows = rows.astype(np.float64)
  return Sums(
    rows,
    lambda s: {
      name: _share(s[..., k + 1], s[..., 0]) for k, name in enumerate(columns)
    },
    edges=ratios.extremes(rows[0]),
  )


def recall(counts: Integer[np.ndarray, 'n 5']) -> Sums:
  """The share of words that the twin changed which are changed alike.

  `counts` as of `gold`, of some words alone: those that no list had.
  """
  rows = np.asarray(counts, np.float64)[None][..., 1:3]
  return Sums(
    rows,
    lambda s: {'unlisted_recall': _share(s[..., 1], s[..., 0])},
    edges=(np.array([1, 1]), np.array([1, 0])),
  )


def perplexity(
  log: Float[np.ndarray, ' n'], count: Integer[np.ndarray, ' n']
) -> Sums:
  """Both perplexities of texts of log-likelihood `log` over `count` tokens."""
  real = count > 0
  each = np.divide(-log, count, out=np.zeros(len(log)), where=real)
  rows = np.stack([each, real, np.where(real, -log, 0), count], -1)[None]
  return Sums(
    rows.astype(np.float64),
    lambda s: {
      'perplexity_per_text': np.exp(_share(s[..., 0], s[..., 1])),
      'perplexity_token_weighted': np.exp(_share(s[..., 2], s[..., 3])),
    },
    intervals.POSITIVE,
  )


def gold(counts: Integer[np.ndarray, 'n 5']) -> Sums:
  """Exact texts, precision and recall of changed words.

  `counts` are of each text: words we changed, words the known twin changed,
  words changed alike, whether all are, and 1 (pairs/swap_eval:text_counts).
  """
  return Sums(
    np.asarray(counts, np.float64)[None],
    lambda s: {
      'exact': _share(s[..., 3], s[..., 4]),
      'changed_precision': _share(s[..., 2], s[..., 0]),
      'changed_recall': _share(s[..., 2], s[..., 1]),
    },
    edges=(np.ones(5), np.array([1, 1, 0, 0, 1])),
  )
