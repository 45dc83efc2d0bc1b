"""Measures of what was written: texts and scores in, numbers out.

Rows are texts. Those of one template (or cluster of a user's) are dependent,
whatever group they are of, so every interval is over templates; what is said of
prompts (the highest of their scores) has a row a prompt. Groups of one
attribute are compared with each other, and with nobody: the matched prompts
that name no group.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import Groups, of_columns
from fairjax.metrics.inference import clusters, group_means, significance
from fairjax.metrics.inference.intervals import RowSample, options_of
from fairjax.metrics.texts import cooccurrence, hurtful
from fairjax.recipes.audit import measure as audit_measure
from fairjax.recipes.writing import matched, words
from fairjax.recipes.writing.rows import Encoder, GroupTexts, of_attributes

EXAMPLES = 6  # texts shown in the page, those with the highest scores


@dataclasses.dataclass
class MeasuredTexts:
  """The set of results.json, and what its page shows beside."""

  set: dict
  pairs: list[dict]  # of matched prompts of two groups
  over: list[dict]  # groups against nobody, with adjusted p
  examples: list[dict]


def measure(
  config: Config,
  table: pd.DataFrame,
  lexicon: frozenset[str] | None,
  encoder: Encoder | None = None,
) -> MeasuredTexts:
  """Everything; `table` has a column score where there is a classifier."""
  how, parts = options_of(config), of_attributes(table)
  several = len(parts) > 1
  one: dict = {'rows': len(table), 'quality': {}, 'fairness': {}, 'groups': {}}
  one |= {'texts': table['continuation'].nunique(), 'warnings': []}
  out = MeasuredTexts(one, [], [], [])
  if 'score' in table:
    _above(config, parts, one)
  for rows in parts:
    shown = rows.groups.titles if several else rows.groups.names
    prefix = f'{rows.attribute}/' if several else ''
    by_group = {
      g: one['groups'].setdefault(title, {'rows': int(m.sum())})
      for title, (g, m) in zip(shown, rows.groups.each)
    }
    found: dict[str, dict] = {}
    if 'score' in table:
      found |= _scores(config, rows, by_group, how)
      out.over += _over_nobody(rows, by_group, how)
    if lexicon is not None:
      texts = list(rows.table['continuation'])
      hurts = hurtful.found(texts, lexicon).astype(float)
      sides = rows.groups, rows.cluster, by_group, how
      found |= _gap_of('honest', hurts, *sides)
    pairs, similar = matched.measure(config, rows, encoder, how)
    out.pairs += pairs
    found |= similar
    found |= _cooccurring(rows, how)
    one['fairness'] |= {prefix + key: value for key, value in found.items()}
    one['warnings'] += clusters.warnings(rows.cluster)
  adjusted = significance.adjusted([row['p'] for row in out.over], 'holm')
  for row, p in zip(out.over, adjusted):
    row['adjusted'] = p
  if 'score' in table:
    out.examples = matched.examples(parts, EXAMPLES)
  one['warnings'] = [*dict.fromkeys(one['warnings'])]
  return out


def _above(config: Config, parts: Sequence[GroupTexts], one: dict) -> None:
  """The share of texts at or above the bound: a decision, as an audit's."""
  somebody = [rows.table[~rows.nobody] for rows in parts]
  joined = pd.concat(somebody, ignore_index=True)
  kind, group = joined['attribute'], joined['group']
  own = {one.attribute: group.where(kind == one.attribute) for one in parts}
  cluster = clusters.distinct(joined['cluster'].to_numpy(object))
  if cluster is not None and len(np.unique(cluster)) < 2:
    cluster = None  # one template cannot be resampled
  found = assess(
    np.zeros(len(joined), np.int64),  # no labels: nothing is right or wrong
    joined['score'].to_numpy(float)[None],
    of_columns(own),
    threshold=float(config.measures.threshold),
    options=options_of(config).over(cluster),
    min_group=config.measures.min_group,
  )
  audit_measure.without_labels(found)
  for key in ('quality', 'fairness', 'groups'):
    one[key] |= found[key]
  one['warnings'] += found['warnings']
  one['threshold'] = found['threshold']


def _scores(config, rows: GroupTexts, by_group, how: RowSample) -> dict:
  """Means of scores and, prompt by prompt, of the highest."""
  score = rows.table['score'].to_numpy(float)
  prompts = rows.table.assign(code=rows.cluster)
  prompts = prompts.groupby(
    ['group', 'prompt'], sort=False, as_index=False
  ).agg({'score': 'max', 'code': 'first'})
  cluster = prompts['code'].to_numpy()
  highest = prompts['score'].to_numpy(float)
  above = (highest >= float(config.measures.threshold)).astype(float)
  own = of_columns({rows.attribute: prompts['group']})
  found: dict[str, dict] = {}
  for key, values, who, code in (
    ('mean_score', score, rows.groups, rows.cluster),
    ('expected_max', highest, own, cluster),
    ('any_above', above, own, cluster),
  ):
    found |= _gap_of(key, values, who, code, by_group, how)
  return found


def _gap_of(key, values, groups: Groups, code, by_group, how) -> dict:
  """The mean of each group, in its place, and the gap between them."""
  for group, member in groups.each:
    by_group[group][key], _ = clusters.mean(
      values[member], code[member], how, bounds=(0.0, 1.0)
    )
  draws = group_means.drawn(values, groups.members, how.over(code))
  return {f'{key}_gap': group_means.gap(*draws, how)}


def _over_nobody(rows: GroupTexts, by_group, how) -> list[dict]:
  """Each group against the matched prompts of nobody."""
  out: list[dict] = []
  if not rows.nobody.any():
    return out
  score = rows.table['score'].to_numpy(float)
  level, _ = clusters.mean(
    score[rows.nobody], rows.cluster[rows.nobody], how, bounds=(0.0, 1.0)
  )
  for group, member in rows.groups.each:
    own = how.over(rows.cluster)
    one = group_means.difference(score, member, rows.nobody, own)
    by_group[group]['over_no_group'] = one
    out.append(
      {
        'attribute': rows.attribute,
        'group': group,
        'score': by_group[group]['mean_score'],
        'nobody': level,
        'difference': one,
        'matched': bool((rows.table['pair'] != '').any()),
        'p': one.get('p'),
      }
    )
  return out


def _cooccurring(rows: GroupTexts, how) -> dict:
  """Targets beside words of the groups, in the texts with their prompts."""
  own = words.of_groups(rows.attribute, rows.groups.names)
  if len(own) < 2:
    return {}
  targets = words.targets()
  somebody = ~rows.nobody
  whole = list(rows.table['whole'][somebody])
  how = how.over(rows.cluster[somebody])
  out = {'association_bias': cooccurrence.association(whole, own, targets, how)}
  if len(own) == 2:
    out['cooccurrence_bias'] = cooccurrence.cooccurrence(
      whole, own, targets, how
    )
  return {k: v for k, v in out.items() if v['value'] is not None}
