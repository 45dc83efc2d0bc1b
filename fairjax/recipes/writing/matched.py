"""Matched prompts: one person, two groups; how alike is what is written?

The k-th text after a prompt of one group is held against the k-th after the
matched prompt of the other. How alike two texts are that were drawn after one
of these prompts is the floor: two draws are never the same, and a group that
changes nothing changes no more. What is measured of a pair of
prompts is a mean over its texts and groups, so a row is a pair of prompts, and
rows of one template belong together.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.metrics.inference import clusters, estimates, group_means
from fairjax.metrics.texts import similarity
from fairjax.recipes.writing import words
from fairjax.recipes.writing.rows import Encoder, GroupTexts

MOST = 6  # pairs of groups of which texts are compared word by word
MEASURES = {'bleu': similarity.bleu_both, 'rouge_l': similarity.rouge_l}


def measure(
  config: Config, rows: GroupTexts, encoder: Encoder | None, how
) -> tuple[list[dict], dict]:
  """Each pair of groups; and the measures of all."""
  if (rows.table['pair'] == '').all():
    return [], {}
  every = list(itertools.combinations(rows.groups.names, 2))
  table, found = _parities(config, rows, every, how), {}
  if table:
    found['sentiment_parity'] = _mean_parity(table)
  rng = np.random.default_rng([config.seed, len(every)])
  some = [every[k] for k in sorted(rng.permutation(len(every))[:MOST])]
  across, within = indices(rows.table, some)
  if not len(across):
    return table, found
  for name, values in _similar(rows, encoder, across, within).items():
    found |= _against_floor(name, rows, across, within, values, how)
  return table, found


def _parities(config, rows: GroupTexts, every, how) -> list[dict]:
  """Counterfactual sentiment parity of each pair: strong and weak."""
  if 'score' not in rows.table:
    return []
  score = rows.table['score'].to_numpy(float)
  above = (score >= float(config.measures.threshold)).astype(float)
  by_name, how = dict(rows.groups.each), how.over(rows.cluster)
  pair, out = rows.table['pair'].to_numpy(object), []
  for a, b in every:
    # The texts of the two groups whose prompts are matched.
    both = ({*pair[by_name[a]]} & {*pair[by_name[b]]}) - {''}
    known = np.array([p in both for p in pair], bool)
    one, other = by_name[a] & known, by_name[b] & known
    if not one.any():
      continue
    weak = group_means.difference(above, one, other, how)
    out.append(
      {
        'attribute': rows.attribute,
        'groups': (a, b),
        'texts': int(one.sum() + other.sum()),
        'strong': group_means.distance(score, one, other, how),
        'weak': weak,
      }
    )
  return out


def _mean_parity(table: list[dict]) -> dict:
  """The mean over pairs of groups; of one pair, that one."""
  parts = [row['strong'] for row in table]
  if len(parts) == 1:
    return parts[0]
  known = [one for one in parts if one['value'] is not None]

  def mean(key):
    of = [one.get(key) for one in known]
    return None if None in of else float(np.mean(of))

  # Each bound holds at its level and they move together: their mean is wider
  # than the mean's own bound.
  return estimates.of_value(mean('value'), mean('low'), mean('high')) | {
    'null': mean('null')
  }


def indices(
  table: pd.DataFrame, groups: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
  """Rows [m, 2] of texts of two groups, and of two texts of one prompt."""
  at = {
    key: row
    for row, key in enumerate(
      zip(table['pair'], table['group'], table['sample'])
    )
  }
  pairs = [p for p in dict.fromkeys(table['pair']) if p]
  samples = range(int(table['sample'].max()) + 1)
  across = [
    (at[p, a, k], at[p, b, k])
    for p in pairs
    for a, b in groups
    for k in samples
    if (p, a, k) in at and (p, b, k) in at
  ]
  own = dict.fromkeys(itertools.chain(*groups))
  within = [
    (at[p, g, k], at[p, g, k + 1])
    for p in pairs
    for g in own
    for k in samples
    if (p, g, k) in at and (p, g, k + 1) in at
  ]
  shape = lambda found: np.array(found, int).reshape(-1, 2)
  return shape(across), shape(within)


def _similar(rows: GroupTexts, encoder, across, within) -> dict[str, tuple]:
  """{measure: (of texts across groups, of texts of one prompt)}."""
  mask = words.masker(rows.attribute)
  texts = [mask(text) for text in rows.table['continuation']]
  each = lambda of, pairs: np.array([of(texts[i], texts[j]) for i, j in pairs])
  out = {
    name: (each(of, across), each(of, within)) for name, of in MEASURES.items()
  }
  if encoder is not None:
    vectors = encoder(list(rows.table['continuation']))
    of = lambda pairs: similarity.cosines(vectors[pairs[:, 0]],
                                          vectors[pairs[:, 1]])  # fmt: skip
    out['cosine'] = of(across), of(within)
  return out


def _against_floor(name, rows: GroupTexts, across, within, values, how) -> dict:
  """The mean similarity across groups, of one prompt, and the difference."""
  low = -1.0 if name == 'cosine' else 0.0
  bounds, width = (low, 1.0), 1.0 - low
  pair = rows.table['pair'].to_numpy(object)
  means = [
    pd.Series(x).groupby(pair[rows_[:, 0]], sort=False).mean()
    for rows_, x in zip((across, within), values)
  ]
  code = dict(zip(pair, rows.cluster))
  of = lambda series: np.array([code[p] for p in series.index])
  out = {
    f'paired_{name}': clusters.mean(
      means[0].to_numpy(), of(means[0]), how, bounds=bounds
    )[0]
  }
  if len(within):
    out[f'paired_{name}_floor'] = clusters.mean(
      means[1].to_numpy(), of(means[1]), how, bounds=bounds
    )[0]
    loss = (means[1] - means[0]).dropna()
    if len(loss):
      one, p = clusters.mean(
        loss.to_numpy(), of(loss), how, null=0.0, bounds=(-width, width)
      )
      out[f'paired_{name}_loss'] = one | {'p': p}
  return out


def examples(parts: Sequence[GroupTexts], most: int) -> list[dict]:
  """Matched texts whose scores differ most; of unmatched ones, the highest.

  Each part in turn, so that none is crowded out.
  """
  turns = itertools.zip_longest(*(_examples(one, most) for one in parts))
  return [one for turn in turns for one in turn if one][:most]


def _examples(rows: GroupTexts, most: int) -> list[dict]:
  groups = list(itertools.combinations(rows.groups.names, 2))
  across, _ = indices(rows.table, groups)
  score, whole = rows.table['score'].to_numpy(float), rows.table['whole']
  group = rows.table['group'].to_numpy(object)
  if not len(across):
    return [
      {'text': whole[k], 'group': group[k], 'score': f'{score[k]:.2f}'}
      for k in np.argsort(-score, kind='stable')[:most]
    ]
  apart = np.abs(score[across[:, 0]] - score[across[:, 1]])
  return [
    {
      'text': whole[i],
      'twin': whole[j],
      'groups': f'{group[i]}, {group[j]}',
      'scores': f'{score[i]:.2f}, {score[j]:.2f}',
    }
    for i, j in across[np.argsort(-apart, kind='stable')[:most]]
  ]
