"""Log probabilities of texts with a common prefix, which is read once.

The keys and values of a beginning are kept; each continuation is a few places
more, and only those have scores over the vocabulary.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from fairjax.core import announce
from fairjax.data.batching.tokens import Ragged
from fairjax.models import special
from fairjax.models.families import causal

GROUP = 32  # continuations a step


@functools.partial(jax.jit, static_argnames=('module', 'width'))
def read_prefix(module, params, ids: Int[Array, 'p q'], width: int):
  """The cache after the prefixes; no score is computed."""
  cache = module.apply(
    {'params': params}, ids.shape[0], width, method='blank_cache'
  )
  start = jnp.zeros(ids.shape[0], jnp.int32)
  _, cache = module.apply({'params': params}, ids, start, cache, method='step')
  return cache


@functools.partial(jax.jit, static_argnames='module')
def _continue(
  module,
  params,
  cache,
  owner: Int[Array, 'n'],
  ids: Int[Array, 'n q'],
  at: Int[Array, 'n'],
  label: Int[Array, 'n q'],
) -> Float[Array, 'n q']:
  cache = jax.tree.map(lambda a: a[owner], cache)
  scores, _ = module.apply({'params': params}, ids, at, cache, method='step')
  return -causal.token_losses(scores, label)


def logs(
  judge: Any, texts: Ragged, chosen: Bool[np.ndarray, ' tokens']
) -> Float[np.ndarray, ' tokens']:
  """log p of the chosen ends of texts; equal beginnings are read once.

  The chosen tokens of a text are its last ones. NaN elsewhere, and at a first
  token where no start token stands before it.
  """
  special.check_fits(judge.params, judge.module.shape.vocab)
  special.check_known(texts, judge.module.shape.vocab)
  flat, bos = texts.flat, judge.bos
  groups: dict[bytes, list[int]] = {}
  starts = np.empty(len(texts.lengths), np.int64)
  out = np.full(len(flat), np.nan, np.float32)
  before = [] if bos is None else [bos]
  for i in range(len(texts.lengths)):
    low, high = texts.offsets[i : i + 2]
    starts[i] = low + int(np.argmax(chosen[low:high]))
    if not chosen[low:high].any() or (starts[i] == low and bos is None):
      starts[i] = max(starts[i], low + (bos is None))
      if not chosen[low:high].any() or starts[i] >= high:
        continue
    prefix = np.array([*before, *flat[low : starts[i]]], np.int32)
    groups.setdefault(prefix.tobytes(), []).append(i)
  # Long prefixes together, so that little is padding.
  order = sorted(groups, key=lambda key: (len(key), key))
  lows = range(0, len(order), GROUP // 2)
  for low in announce.rounds(lows, len(lows), 'prefixes: group'):
    keys = order[low : low + GROUP // 2]
    _score_groups(judge, texts, starts, keys, groups, out)
  return np.where(chosen, out, np.nan)


def _score_groups(judge, texts, starts, keys, groups, out) -> None:
  prefixes = [np.frombuffer(key, np.int32) for key in keys]
  members = [(p, i) for p, key in enumerate(keys) for i in groups[key]]
  tails = [texts.flat[starts[i] : texts.offsets[i + 1]] for _, i in members]
  # The last token of a prefix is read with its continuations, which it scores.
  q = _power(max(len(t) for t in tails))
  longest = _power(max(max(len(p) for p in prefixes) - 1, 1))
  count = _power(len(keys))
  ids = np.zeros((count, longest), np.int32)
  for p, prefix in enumerate(prefixes):
    ids[p, : len(prefix) - 1] = prefix[:-1]
  limit = judge.module.shape.longest
  cache = read_prefix(
    judge.module, judge.params, ids[:, :limit], min(longest + q, limit)
  )
  for low in range(0, len(members), GROUP):
    some = members[low : low + GROUP]
    n = _power(len(some))
    owner, at = np.zeros(n, np.int32), np.zeros(n, np.int32)
    read, label = np.zeros((2, n, q), np.int32)
    for k, (p, _) in enumerate(some):
      tail = tails[low + k]
      owner[k], at[k] = p, len(prefixes[p]) - 1
      read[k, : len(tail)] = [prefixes[p][-1], *tail[:-1]]
      label[k, : len(tail)] = tail
    logs = _continue(judge.module, judge.params, cache, owner, read, at, label)
    logs = np.asarray(logs)
    for k, (_, i) in enumerate(some):
      out[starts[i] : texts.offsets[i + 1]] = logs[k, : len(tails[low + k])]


def _power(n: int) -> int:
  """The next power of two, so that few shapes are compiled."""
  return 1 << max(n - 1, 0).bit_length()
