"""MBCDA's parallel text: swapped, repaired, filtered.

The filter drops pairs whose rewrite still shows the group of its source, by a
classifier that never saw the text and in which both groups weigh the same: by
the share of the groups it would drop what it cannot tell from one group alone.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, count
from fairjax.data.tables.schema import Tables
from fairjax.methods import attribute_texts
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.recipes.rewriting import contenders
from fairjax.recipes.rewriting import counterfactual_texts as texts
from fairjax.recipes.rewriting.counterfactual_texts import RewriteInputs
from fairjax.results import section, table, text

TITLES = {
  'filtered': 'repaired, filtered',
  'unfiltered': 'repaired',
  'dictionary': 'dictionary',
}


class Parallel(NamedTuple):
  """Texts and their targets, of every split, in one frame."""

  frame: pd.DataFrame  # split, source, group, dictionary, repaired, kept
  names: dict[int, str]  # of the groups
  accuracy: dict  # of the filter's classifier on sources


def parallel_text(m: RewriteInputs, tables: Tables) -> Parallel:
  """Swapped and repaired texts, and which of them turned their group."""
  swap = texts.swapper(m, 'dictionary')
  repairs = texts.repairs_of(m, tables, 'dictionary', swap) if m.helpers else {}
  frames = []
  for split, rows in tables.items():
    sources = rows['text'].tolist()
    swaps = swap(sources)
    repaired = list(repairs[split]['repair']) if repairs else swaps
    frames.append(
      pd.DataFrame(
        {
          'split': split,
          'source': sources,
          'group': contenders.attribute(m.config, rows),
          'dictionary': swaps,
          'repaired': repaired,
        }
      )
    )
  frame = pd.concat(frames, ignore_index=True)
  every = pd.concat([rows['group'] for rows in tables.values()])
  names = dict(zip(frame['group'].tolist(), every.astype(str)))
  if m.helpers is None:
    m.log.line(
      'no detector is named (repair.detector), so the repaired texts are '
      'those of the dictionary'
    )
  chances = attribute_texts.chances(
    frame['source'],
    frame['group'].to_numpy(),
    {name: list(frame[name]) for name in ('source', 'repaired')},
    np.arange(len(frame)),
    m.config.rewriters.folds,
  )
  other = lambda name: np.where(
    frame['group'] == 1, 1 - chances[name], chances[name]
  )
  frame['turned'] = other('repaired')
  frame['changed'] = frame['repaired'] != frame['source']
  frame['kept'] = frame['turned'] >= m.config.adversary.confidence
  right = other('source') < 0.5
  options = options_of(m.config)
  accuracy = clusters.share(int(right.sum()), len(right), options)
  one = Parallel(frame, names, accuracy)
  m.log.line(f'filter: {said(one)}')
  return one


def said(parallel: Parallel) -> str:
  """How many rewrites the filter drops, group by group."""
  frame = parallel.frame
  each = ' and '.join(
    f'{int((~own["kept"]).sum()):,} of {len(own):,} of {parallel.names[group]}'
    for group, own in frame.groupby('group')
  )
  return (
    f'{int((~frame["kept"]).sum()):,} of {len(frame):,} rewrites still show '
    f'the group of their source and are dropped ({each}); its classifier is '
    f'right on {parallel.accuracy["value"]:.3f} of the sources'
  )


def pairs_of(parallel: Parallel, labels: str) -> pd.DataFrame:
  """source, target, split, and the wanted group as label."""
  frame = parallel.frame
  column = 'dictionary' if labels == 'dictionary' else 'repaired'
  keep = frame['kept'] if labels == 'filtered' else np.ones(len(frame), bool)
  some = frame[keep & (frame[column].str.strip() != '')]
  for split in ('train', 'valid'):
    groups = some.loc[some['split'] == split, 'group'].nunique()
    if groups < 2:
      raise UserError(
        f'of the {TITLES[labels]} pairs, split {split} holds sources of '
        f'{count(groups, "group")}; a discriminator needs both (give more '
        'texts, or lower --config.adversary.confidence)'
      )
  return pd.DataFrame(
    {
      'source': some['source'],
      'target': some[column],
      'split': some['split'],
      'label': 1 - some['group'],
    }
  ).reset_index(drop=True)


def dropped(parallel: Parallel) -> list[dict]:
  """Examples of what the filter drops."""
  frame = parallel.frame
  rest = frame[~frame['kept']].sort_values('turned', kind='stable')
  words = (
    f'{said(parallel)} [{parallel.accuracy["low"]:.3f}, '
    f'{parallel.accuracy["high"]:.3f}], which it never saw. Both groups weigh '
    'the same in it, however many texts they have. A text that names both '
    'groups, or neither, can stay on its side: such pairs are dropped as well.'
  )
  columns = ['source', 'repaired', 'turned']
  rows = rest[columns].head(20).to_dict('records')
  return [
    section(
      'Dropped by the filter', text(words[:1].upper() + words[1:]), table(rows)
    )
  ]
