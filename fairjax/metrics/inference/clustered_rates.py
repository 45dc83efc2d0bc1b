"""Draws of the rates of groups whose rows belong together, by the jackknife.

On the logit scale a rate θ of rows in G clusters, with half a row of either
kind in it, moves by dᵢ = g(θ) − g(θ₋ᵢ) where cluster i is left out. A draw is
g(θ) + Σᵢ zᵢ (dᵢ − mean) √(1 − hᵢ) with normal zᵢ, times the √ of f over a χ² of
f = G − 1 degrees of freedom. hᵢ is the share of the rows that cluster i has,
its own part of θ, for which the root makes up (CR2, Bell and McCaffrey 2002);
it is the jackknife's (G − 1)/G where all are of one size. All groups, rates and
seeds have the same zᵢ and χ², so whatever is made of several rates (a gap, or a
difference of two models) has the variance that their clusters have in common.

A rate varies at least as it would over as many independent rows. What is
missing to that is known and not estimated, so it is added as a normal draw:
each group for itself, and to each seed as much as it lacks. Where all rows of a
group agree, its clusters do not say how alike their rows are: they may be
copies, so there a cluster counts as one row, and half a cluster of either kind
is in θ.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from fairjax.metrics import groups
from fairjax.metrics.inference import resampling, row_weights
from fairjax.metrics.inference.sample import RowSample

CLUSTERS = 0xC1  # random stream


def drawn(
  counts: Float[np.ndarray, 'm s k g1 four'],
  options: RowSample,
  unit: Float[np.ndarray, 's k g1 rate'] | float = 1.0,
) -> Float[np.ndarray, 'resample s k g1 rate']:
  """Rates of every resample, from the counts of every cluster.

  `unit` is the weight of a row where rows have weights (row_weights.py); their
  clusters are then as many as they are effectively.
  """
  above, below = groups.fractions(counts.astype(np.float64))
  row = _row(above, below, unit)
  top, all_ = above.sum(0) + 0.5 * row, below.sum(0) + row
  centre = _logit(top / all_)
  without = _logit((top - above) / (all_ - below))
  here = below > 0
  # Clusters without a row of the kind leave everything as it is.
  apart = np.where(here, centre - without, 0)
  apart = np.where(here, apart - apart.sum(0) / np.maximum(here.sum(0), 2), 0)
  apart *= np.sqrt(1 - below / all_)
  variance = (apart**2).sum(0)
  least = 1 / (top / all_ * (1 - top / all_) * (all_ / row))
  missing = np.sqrt(np.maximum(least - variance, 0))  # s, k, g1, rate
  number = np.minimum(row_weights.equal_clusters(below), resampling.BLOCKS)
  scale = heavy(number.min((0, 1)), options)  # resample, g1, rate
  rng = np.random.default_rng([options.seed, CLUSTERS])
  shape = centre.shape
  flat = apart.reshape(len(counts), -1)
  if isinstance(unit, np.ndarray):  # each row is a cluster: there are many
    flat = fewest(flat)
  flat = flat.astype(np.float32)
  undefined = np.where(below.sum(0) > 0, 0, np.float32(np.nan))
  out = np.empty((options.resamples, *shape), np.float32)
  for some in resampling.chunks(options.resamples):
    z = rng.standard_normal((some.stop - some.start, len(flat)), np.float32)
    line = (z @ flat).reshape(-1, *shape)
    own = rng.standard_normal((len(z), *shape[1:]), np.float32)
    # 1 − rate is drawn as the rate is: tnr with fpr, fnr with tpr.
    own = own[..., groups.PSEUDO_OF] * np.where(groups.SWAPPED, -1, 1)
    line *= scale[some, None, None]
    line += own[:, None] * missing
    line += centre + undefined
    out[some] = 1 / (1 + np.exp(-np.clip(line, -80, 80)))
  return out


def _row(
  above: Float[np.ndarray, 'm s k g1 rate'],
  below: Float[np.ndarray, 'm s k g1 rate'],
  unit: Float[np.ndarray, 's k g1 rate'] | float,
) -> Float[np.ndarray, 's k g1 rate']:
  """The weight of a row; where all of a group agree, that of a cluster."""
  hits, rows = above.sum(0), below.sum(0)
  agree = (rows > 0) & ((hits <= 0) | (hits >= rows))
  number = row_weights.effective(rows, (below * below).sum(0))
  cluster = rows / np.maximum(number, 1)
  return np.where(agree, np.maximum(cluster, unit), unit)


def straight(
  draws: Float[np.ndarray, 'resample s k g1 rate'],
  counts: Float[np.ndarray, 'm s k g1 four'],
  unit: Float[np.ndarray, 's k g1 rate'] | float = 1.0,
) -> Float[np.ndarray, 'resample s k g1 rate']:
  """The same deviations on the scale of rates: θ (1 − θ) times those of logits.

  A difference of two rates has no end near 0, so its draws are as symmetric
  as Student's t: of two rates of .02 over 8 clusters the logit's long tails
  made every interval hold 0.
  """
  above, below = groups.fractions(counts.astype(np.float64))
  row = _row(above, below, unit)
  above, below = above.sum(0), below.sum(0)
  centre = (above + 0.5 * row) / (below + row)
  values = np.divide(
    above, below, out=np.full(above.shape, np.nan), where=below > 0
  )
  least = np.float32(1e-7)
  out = _logit(np.clip(draws, least, 1 - least))
  out -= _logit(centre).astype(np.float32)
  out *= (centre * (1 - centre)).astype(np.float32)
  out += values.astype(np.float32)
  return out


def fewest(flat: Float[np.ndarray, 'm q']) -> Float[np.ndarray, 'p q']:
  """A matrix of at most q rows whose normal draws are those of m rows.

  zF with normal z has the covariance FᵀF = RᵀR of F = QR: there are thousands
  of clusters, and a few rates.
  """
  triangle: Any = np.linalg.qr  # of mode 'r', which numpy's types leave out
  return triangle(flat, 'r') if len(flat) > flat.shape[1] else flat


def _logit(x: np.ndarray) -> np.ndarray:
  return np.asarray(np.log(x) - np.log1p(-x))


def heavy(number: np.ndarray | np.floating, options: RowSample) -> np.ndarray:
  """√(f / χ²_f), f = G − 1: what makes normal draws Student's t."""
  from scipy import special

  rng = np.random.default_rng([options.seed, CLUSTERS, 1])
  part = (rng.permutation(options.resamples) + 0.5) / max(options.resamples, 1)
  number = np.asarray(number)
  kinds, where = np.unique(number, return_inverse=True)
  free = np.maximum(kinds - 1.0, 1.0)
  each = np.sqrt(free / (2 * special.gammaincinv(free / 2, part[:, None])))
  return np.asarray(each.astype(np.float32)[:, where.reshape(number.shape)])
