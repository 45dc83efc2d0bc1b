"""FairFlow's stages 2 and 3: embeddings moved, read as words, voted on.

A contender is a way to move the embedding of an occurrence to the other side:
the flow (its factor replaced), the difference of the sides' means, an
orthogonal map; or it asks a masked LM for another word in the same place.
What comes after, reading and voting, is the same for all.
"""

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.data.batching import corruption, tokens
from fairjax.data.batching.instances import Instances
from fairjax.data.corpora import shards
from fairjax.metrics.inference import intervals, ratios
from fairjax.metrics.texts import similarity
from fairjax.models import flow
from fairjax.models.reading import contextual, fill, masked
from fairjax.pairs import attributes, flow_words
from fairjax.recipes.fairflow import attribute_words
from fairjax.train import mesh

MASKED_CAP = 8  # occurrences of a word that a masked LM is asked about


class FlowInputs(NamedTuple):
  """What every contender reads."""

  config: Config
  model: Any  # of a masked LM: module, params, tokenizer
  words: corruption.Vocabulary
  some: Instances  # occurrences that show a side
  table: pd.DataFrame  # a row a word (pairs/attributes.py)
  mean: np.ndarray  # float32 [w, d]: the embedding of each word of `table`
  typical: np.ndarray | None  # bool: occurrences that the sides' means are of


def material(
  config: Config,
  model: Any,
  every: Instances,
  table: pd.DataFrame,
  pairs: Sequence[tuple[str, str]] = (),
) -> FlowInputs:
  """The occurrences that show the side which their word shows.

  The sides' means are those of the words of `pairs` where there are some:
  over partners everything but the attribute is balanced.
  """
  own = dict(zip(table['word'], table['side']))
  sides = np.array([own[word] for word in every.word], np.int8)
  rows = np.flatnonzero((every.side != 0) & (every.side == sides))
  names, means = attribute_words.word_means(every)
  mean = means[np.searchsorted(names, table['word'].to_numpy(object))]
  return FlowInputs(
    config,
    model,
    corruption.vocabulary(model.tokenizer),
    every.take(rows),
    table,
    mean.astype(np.float32),
    np.isin(every.word[rows], [*sum(pairs, ())]) if pairs else None,
  )


def token_words(m: FlowInputs) -> np.ndarray:
  """The word that each token is by itself; '' for pieces and marks."""
  out = np.full(m.words.size, '', object)
  for token in m.words.ordinary:
    if m.words.begins[token]:
      name = m.model.tokenizer.decode([int(token)]).strip()
      out[token] = name if attributes.is_word(name) else ''
  return out


def read(m: FlowInputs, x: np.ndarray) -> pd.DataFrame:
  """What moved embeddings of all occurrences are read as (their ballots)."""
  options = m.config.fairflow
  candidate = np.full(len(x), '', object)
  chance = np.zeros(len(x), np.float32)
  sided = dict(zip(m.table['word'], m.table['side']))
  names = token_words(m)
  for side in (-1, 1):
    rows = np.flatnonzero(m.some.side == side)
    if options.decoder == 'head':
      own, allowed = _tokens(m, names, sided, rows, side)
      best, p = contextual.decode(
        m.model.module, m.model.params, x[rows], allowed, own
      )
      candidate[rows], chance[rows] = names[best[:, 0]], p[:, 0]
    else:
      candidate[rows], chance[rows] = _nearest(m, x[rows], rows, side)
  out = flow_words.ballots(
    m.some.word, m.some.side, candidate, chance, m.some.logit
  )
  return out.assign(along=_along(m, x, candidate))


def _along(m: FlowInputs, x: np.ndarray, candidate: np.ndarray) -> np.ndarray:
  """The cosine of a word's mean move with its difference to the candidate."""
  number = {word: k for k, word in enumerate(m.table['word'])}
  own = np.array([number[word] for word in m.some.word])
  other = np.array([number.get(word, -1) for word in candidate])
  move = np.zeros(m.mean.shape)
  np.add.at(move, own, x - m.some.vector)  # a sum: cosines know no scale
  cosine = similarity.cosines(m.mean[other] - m.mean[own], move[own])
  return np.where(other < 0, -1.0, cosine)  # no mean: it was not looked at


def _tokens(m, names, sided, rows, side) -> tuple[np.ndarray, np.ndarray]:
  """The token of each occurrence's word that it may not be; those it may."""
  kind = m.config.fairflow.candidates
  allowed = names != ''
  if kind == 'side':
    allowed &= np.array([sided.get(name) == -side for name in names])
  number = {name: k for k, name in enumerate(names) if name}
  own = [number.get(word, -1) for word in m.some.word[rows]]  # -1: of pieces
  return np.array(own if kind != 'all' else [-1] * len(rows), np.int32), allowed


def _nearest(m, x, rows, side) -> tuple[np.ndarray, np.ndarray]:
  """The nearest extracted word, of the other side or any but itself."""
  kind, sides = m.config.fairflow.candidates, m.table['side'].to_numpy()
  able = np.flatnonzero(sides == -side if kind == 'side' else sides != 0)
  if not len(able):
    return np.full(len(rows), '', object), np.zeros(len(rows), np.float32)
  words = m.table['word'].to_numpy(object)[able]
  best, cosine = contextual.nearest(x, m.mean[able], min(2, len(able)))
  first = np.zeros(len(rows), int)
  if kind == 'others' and len(able) > 1:
    first = (words[best[:, 0]] == m.some.word[rows]) * 1  # itself: the second
  at = np.arange(len(rows))
  return words[best[at, first]], cosine[at, first]


def entries(m: FlowInputs, ballots: pd.DataFrame) -> pd.DataFrame:
  """The pairs that ballots make."""
  options = m.config.fairflow
  if options.votes != 'mutual':
    first = set(ballots['word'][ballots['side'] < 0])
    pairs = flow_words.directed(flow_words.paper(ballots), first)
    return flow_words.two_way(pairs) if options.votes == 'paper' else pairs
  votes = flow_words.tally(ballots)
  return flow_words.mutual(votes, options.min_along)


def by_difference(m: FlowInputs, alpha: float = 1.0) -> np.ndarray:
  """x ± α times the difference of the sides' means."""
  x, side = m.some.vector, m.some.side
  width = x.shape[1]
  return flow_words.moved(x, side, 'shift', alpha, width, typical=m.typical)


def by_discriminant(m: FlowInputs, alpha: float = 1.0) -> np.ndarray:
  """x whose coordinate along a diagonal LDA becomes the other side's.

    x + (α m_other − w·x) / (w·δ) δ,   w = δ / σ²,   δ = μ₁ − μ₋₁

  with σ² the variance of each dimension about its side's mean (diagonal linear
  discriminant analysis, Dudoit et al. 2002), w·x from the midpoint of the
  sides and m_other = ±w·δ / 2: a factor of one dimension without a flow.
  """
  x, side = np.asarray(m.some.vector, np.float64), m.some.side
  known = np.ones(len(x), bool) if m.typical is None else m.typical
  mean = {s: x[(side == s) & known].mean(0) for s in (-1, 1)}
  gap, middle = mean[1] - mean[-1], (mean[1] + mean[-1]) / 2
  own = np.where((side > 0)[:, None], mean[1], mean[-1])
  w = gap / np.maximum(np.square(x - own).mean(0), 1e-9)
  along = (x - middle) @ w / (w @ gap)  # ±½ at the sides' means
  return (x - (along + alpha * side / 2)[:, None] * gap).astype(np.float32)


def by_procrustes(m: FlowInputs, pairs: pd.DataFrame) -> np.ndarray:
  """x mapped by the rotation that takes the first words of pairs to the second.

  R = U Vᵀ of the product of the centred embeddings (Schönemann 1966).
  """
  number = {word: k for k, word in enumerate(m.table['word'])}
  x, side = m.some.vector, m.some.side
  mean = {s: x[side == s].mean(0) for s in (-1, 1)}
  known = [
    (number[a], number[b])
    for a, b in zip(pairs['first'], pairs['second'])
    if a in number and b in number
  ]
  a, b = (
    m.mean[[pair[k] for pair in known]] - mean[s] if known else x[:0]
    for k, s in ((0, -1), (1, 1))
  )
  product = np.float64(a.T @ b)
  spread = np.square(x - x.mean(0)).mean()
  # The identity: no turn where the pairs say nothing.
  u, _, v = np.linalg.svd(product + spread * np.eye(x.shape[1]))
  turn = {-1: u @ v, 1: (u @ v).T}  # a rotation's transpose turns back
  out = np.empty_like(x)
  for s in (-1, 1):
    out[side == s] = (x[side == s] - mean[s]) @ turn[s] + mean[-s]
  return out


def by_masked_lm(m: FlowInputs) -> pd.DataFrame:
  """Ballots of a masked LM that reads the text with the word masked.

  Of the words of the other side it takes the likeliest; of each word the
  first MASKED_CAP occurrences are asked.
  """
  rank = pd.Series(m.some.word).groupby(m.some.word).cumcount().to_numpy()
  rows = np.flatnonzero(rank < MASKED_CAP)
  names = token_words(m)
  sided = dict(zip(m.table['word'], m.table['side']))
  _, mask = fill.mask_of(m.model.tokenizer)
  candidate = np.full(len(rows), '', object)
  ids, place, size = _windows(m, m.some.id[rows])
  for side in (-1, 1):
    mine = np.flatnonzero(m.some.side[rows] == side)
    never = [k for k, n in enumerate(names) if sided.get(n) != -side or not n]
    if len(never) == len(names) or not len(mine):
      continue
    part = tokens.take(ids, mine)
    for i, at in enumerate(place[mine]):
      start = part.offsets[i] + at
      part.flat[start : start + size[mine[i]]] = mask
    copies = masked.Copies(np.arange(len(mine)), place[mine])
    best = masked.best_tokens(
      m.model.module, m.model.params, part, copies, np.array(never, np.int32)
    )
    candidate[mine] = names[best]
  some = m.some.take(rows)
  return flow_words.ballots(some.word, some.side, candidate, logit=some.logit)


def _windows(
  m: FlowInputs, id: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
  """The window of text that each occurrence stands in, its place and size."""
  where = [one.rsplit(':', 2) for one in id]  # a shard's name may have colons
  shard = np.array([w[0] for w in where], object)
  row, start = (np.array([int(w[k]) for w in where]) for k in (1, 2))
  root, column = pathlib.Path(m.config.corpus.path), m.config.data.text
  texts = np.full(len(where), '', object)
  for name in np.unique(shard):
    mine, before = np.flatnonzero(shard == name), 0
    for block in shards.read(root / name, column):
      here = mine[(row[mine] >= before) & (row[mine] < before + len(block))]
      texts[here] = [block[row[i] - before] for i in here]
      before += len(block)
  ids = tokens.encode(m.model.tokenizer, list(texts), None, special=False)
  inner = attribute_words.inner_length(m.config, m.model, m.words)
  pieces, first = attribute_words.windows(ids, inner, m.words)
  result = attributes.spans(ids, m.words.begins, m.words.special)
  size = {(t, s): n for t, s, n in zip(result.text, result.start, result.size)}
  return (
    tokens.take(pieces, first + start // inner),
    start % inner + len(m.words.first),
    np.array([size.get((i, s), 1) for i, s in enumerate(start)]),
  )


class MovedEmbeddings(NamedTuple):
  """Embeddings after the flow's factor was replaced, and what leaked."""

  x: np.ndarray
  gap: float  # distance of the sides' means inside the factor
  leak: float  # and outside of it


def by_flow(
  m: FlowInputs,
  model: Any,
  params: dict,
  white: flow.Whitening,
  seed: int,
  move: str = '',
  alpha: float = 1.0,
) -> MovedEmbeddings:
  """T⁻¹ of the latents whose factor is the other side's.

  By the config's `move`, or another; a shift is of `alpha` gaps.
  """
  shape, dtype = model.module
  options = m.config.fairflow
  how = move or options.move, alpha

  def over(function, rows):
    parts = [
      np.asarray(function(shape, params, rows[k : k + 4096], dtype))
      for k in range(0, len(rows), 4096)
    ]
    return np.concatenate(parts)

  params = jax.device_put(params)
  forward = jax.jit(flow.forward, static_argnums=(0, 3))
  inverse = jax.jit(flow.inverse, static_argnums=(0, 3))
  z = over(lambda *args: forward(*args)[0], white(m.some.vector))
  side = m.some.side
  difference = z[side > 0].mean(0) - z[side < 0].mean(0)
  k = shape.factor
  new = flow_words.moved(z, side, *how, k, seed, m.typical)
  x = white.inverse(over(inverse, new))
  norm = np.linalg.norm
  return MovedEmbeddings(
    x, float(norm(difference[:k])), float(norm(difference[k:]))
  )


def word_map(
  m: FlowInputs, x: np.ndarray, pairs: pd.DataFrame, shown: int
) -> list[dict]:
  """The `shown` first pairs on the plane of their two principal axes.

  `x` are the moved embeddings of all occurrences; a word stands at the mean
  of its occurrences, before and after.
  """
  words = {w: np.flatnonzero(m.some.word == w) for w in set(m.some.word)}
  rows = [
    (a, b)
    for a, b in zip(pairs['first'], pairs['second'])
    if a in words and b in words
  ][:shown]
  if not rows:
    return []
  means = {
    (w, name): v[words[w]].mean(0)
    for pair in rows
    for w in pair
    for name, v in (('', m.some.vector), ('moved_', x))
  }
  every = np.stack(list(means.values()))
  centre = every.mean(0)
  axes = np.linalg.svd(every - centre, full_matrices=False)[2][:2]
  # The sign of an axis is free: its largest weight is positive.
  at = np.abs(axes).argmax(1)
  axes = axes * np.sign(axes[np.arange(len(axes)), at])[:, None]
  flat = {key: ((v - centre) @ axes.T).tolist() for key, v in means.items()}
  return [
    {'words': [a, b]}
    | {
      name + side: flat[w, name]
      for side, w in (('first', a), ('second', b))
      for name in ('', 'moved_')
    }
    for a, b in rows
  ]


def seeds_params(params: Any) -> list[dict]:
  """The parameters of each seed, on the host."""
  params = mesh.to_host(params)
  count = len(jax.tree.leaves(params)[0])
  return [jax.tree.map(lambda a, s=s: a[s], params) for s in range(count)]


def against_known(
  dictionaries: Sequence[pd.DataFrame],
  known: Sequence[tuple[str, str]],
  counts: dict[str, int],
  config: Config,
  complete: bool,
) -> dict[str, dict]:
  """Estimates of precision, recall and coverage of each seed's pairs.

  Over words of the first side and over seeds; one-way pairs over the words that
  they turn. A pair is judged if one of its words is in a known pair; where the
  known pairs are `complete` every pair is. Coverage is recall weighed by the
  occurrences of both words.
  """
  # What the corpus lacks nothing could find.
  known = [(a, b) for a, b in known if a in counts and b in counts]
  firsts, seconds = {a for a, _ in known}, {b for _, b in known}
  truth = set(known)
  each = [flow_words.turned(one) for one in dictionaries]
  units = sorted(firsts | {word for pairs in each for word, _, _ in pairs})
  at = {word: k for k, word in enumerate(units)}
  n, zeros = len(units), lambda: np.zeros((len(each), len(units)))
  entry, right, heard = zeros(), zeros(), np.zeros(n)
  for a, b in known:
    heard[at[a]] = counts.get(a, 0) + counts.get(b, 0)
  for s, pairs in enumerate(each):
    for word, a, b in pairs:
      if complete or a in firsts or b in seconds:
        entry[s, at[word]], right[s, at[word]] = 1, (a, b) in truth
  labels = np.array([word in firsts for word in units], float)
  labels, heard = (np.broadcast_to(v, entry.shape) for v in (labels, heard))
  ratios = {
    'precision': (right, entry),
    'recall': (right * labels, labels),
    'coverage': (right * heard, heard),
  }
  return {name: _ratio(*both, config) for name, both in ratios.items()}


def _ratio(above: np.ndarray, below: np.ndarray, config: Config) -> dict:
  """Σ above / Σ below of each seed over units; the ends are a mean unit's."""
  how, some = intervals.options_of(config), below[below > 0]
  size = some.mean() if len(some) else 1.0
  edges = np.array([size, size]), np.array([0.0, size])
  rows = np.stack([above, below], -1)
  with np.errstate(invalid='ignore'):  # 0 / 0: no pair to judge
    share = lambda sums: {'share': sums[..., 0] / sums[..., 1]}
    values, draws = ratios.drawn(rows, share, how, edges)
  known = np.isfinite(values['share'])
  return intervals.of_mean(
    values['share'],
    np.where(known, draws['share'], np.nan) if draws else None,
    how,
    '' if known.any() else 'no pair to judge',
    intervals.SHARES,
  )
