"""Logits in bfloat16 whose decisions are float32's.

All rows are computed with bfloat16 products, and a few of them in float32 too.
The largest difference there, widened, is the bound. A row that lies within it
of a threshold, or of a tie of its two likeliest classes, is computed again in
float32; what is found there may widen the bound, and this is repeated until no
row is left within it.
"""

import functools
import threading
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import logit

from fairjax.config import Config
from fairjax.core import backend
from fairjax.data.batching import batches, tokens
from fairjax.data.batching.batches import Pool
from fairjax.models import Bundle, of_module
from fairjax.models.families import chances
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers import layer_params
from fairjax.train import loop

FEW = 512  # rows: compiling a second program takes longer than it saves
# Computed in both: one row of so many, and as many of those nearest a decision.
EVERY, LEAST, MOST = 64, 32, 256
# The largest of 64 differences is about 2.4 standard deviations of them; the
# largest of MiniLM's on 2,000 tweets was 3.8.
WIDER = 2.0

_lock = threading.Lock()
_taken = {'rows': 0, 'again': 0, 'bound': 0.0}


class Reading(NamedTuple):
  """How answers are computed: products, and the thresholds of decisions."""

  precision: str = 'float32'
  thresholds: tuple[float, ...] = (0.5,)


def predict(
  model: Bundle,
  params,
  pool: Pool,
  batch: int,
  how: Reading,
  kind: str = chances.ONE,
) -> np.ndarray:
  """Logits [s, n, c] of every example.

  Decisions are the likeliest of the classes, and of two classes or of labels
  that each hold or not (`kind`) also those by thresholds of a probability.
  """
  fast = narrow(model, how.precision)
  if fast is None or len(pool.label) <= FEW:
    return loop.predict(model, params, pool, model.device_mesh, batch)
  device_mesh, lengths = model.device_mesh, pool.tokens.lengths
  multiple = device_mesh.shape['data']
  if platform_traits().step:
    layout = batches.layout_of_steps(
      lengths, batch, platform_traits().step, multiple
    )
  else:
    layout = batches.layout(lengths, batch, multiple)
  run = functools.partial(
    loop.predict, device_mesh=device_mesh, batch=batch, layout=layout
  )
  out = run(fast, params, pool)
  n, bound = len(pool.label), np.zeros(len(out))
  count = int(np.clip(n // EVERY, LEAST, MOST))
  spread = np.linspace(0, n - 1, count).round().astype(np.int64)
  near = margins(out, kind, how.thresholds).min(0)
  rows = np.union1d(spread, np.argsort(near, kind='stable')[:count])
  done = np.zeros(n, bool)
  while len(rows):
    exact = run(model, params, part(pool, rows))
    apart = differences(exact - out[:, rows], kind).max(1)
    bound = np.fmax(bound, WIDER * apart)
    out[:, rows], done[rows] = exact, True
    # Not `<=`: a row without a number is computed again, too.
    far = margins(out, kind, how.thresholds) > bound[:, None]
    rows = np.flatnonzero(~far.all(0) & ~done)
  with _lock:
    _taken['rows'] += n
    _taken['again'] += int(done.sum())
    _taken['bound'] = max(_taken['bound'], float(bound.max()))
  return out


def narrow(model: Bundle, precision: str) -> Bundle | None:
  """The float32 model with products of `precision`; None if it is no other."""
  own = getattr(model.module, 'dtype', None)
  # Models of words, which have no shape, spend their time elsewhere.
  if precision != 'bfloat16' or own != jnp.float32 or model.shape is None:
    return None
  module = layer_params.with_products(model.module, jnp.bfloat16)
  return of_module(
    module, model.init, device_mesh=model.device_mesh, longest=model.longest
  )


def part(pool: Pool, rows: np.ndarray) -> Pool:
  weight = np.ones(len(rows), np.float32)
  states = None if pool.states is None else pool.states[rows]
  return Pool(tokens.take(pool.tokens, rows), pool.label[rows], weight, states)


def differences(
  change: Float[np.ndarray, 's n c'], kind: str
) -> Float[np.ndarray, 's n']:
  """By how much a change of the logits moves any decision of a row."""
  if kind == chances.EACH:
    return np.abs(change).max(-1)
  return np.ptp(change, axis=-1)


def margins(
  logits: Float[np.ndarray, 's n c'], kind: str, thresholds: Sequence[float]
) -> Float[np.ndarray, 's n']:
  """How far a row is from having another decision, in logits."""
  classes = logits.shape[-1]
  if kind != chances.EACH and classes > 2:
    top = np.partition(logits, classes - 2, axis=-1)
    return top[..., -1] - top[..., -2]
  score = logits if kind == chances.EACH else np.diff(logits, axis=-1)
  # A threshold of either class.
  both = {float(t) for one in thresholds for t in (one, 1 - one) if 0 < t < 1}
  cuts = logit(np.array(sorted(both | {0.5})))
  return np.abs(score[..., None] - cuts).min((-1, -2))


def note() -> list[str]:
  """What is to be said of the answers since it was last asked for."""
  with _lock:
    rows, again, bound = _taken.values()
    _taken.update(rows=0, again=0, bound=0.0)
  if not rows:
    return []
  return [
    # A logit's slope is a probability's at most times four.
    f'Probabilities are computed with bfloat16 products and lie within '
    f'{bound / 4:.1g} of those in float32; {again} of {rows} '
    'rows, all those near a decision among them, are computed in float32, so '
    'decisions and rates are those of float32 '
    '(--config.net.precision=float32 computes every row so).'
  ]


def reading(config: Config) -> Reading:
  """What the config asks for."""
  threshold, audit = config.measures.threshold, config.audit
  chosen = threshold == 'eer' or audit.choose or audit.equalize
  precision = backend.inference(config.net.precision)
  if chosen and config.net.precision == 'auto':  # known too late to read again
    precision = backend.resolved('auto')
  thresholds = () if threshold == 'eer' else (float(threshold),)
  return Reading(precision, thresholds)
