"""MBCDA's parallel text: sentences of one gender, swapped, repaired, filtered.

corpus → sentences of one gender → pairs (MBCDA trains on Wikipedia)
word list → half of its words withheld from the targets (beyond the list)

The filter drops pairs whose rewrite still shows the group of its source, by a
classifier that never saw the text and in which both groups weigh the same: by
the share of the groups it would drop what it cannot tell from one group alone.
"""

import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, changed
from fairjax.core import artefacts
from fairjax.core.errors import UserError, count
from fairjax.data.corpora import shard_map, shards
from fairjax.data.tables.schema import Tables
from fairjax.methods import attribute_texts
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.pairs import attributes
from fairjax.pairs.swapping import axis_values, context, word_lists
from fairjax.recipes.rewriting import contenders
from fairjax.recipes.rewriting import counterfactual_texts as texts
from fairjax.train import mesh

# a rewrite is kept where the other group is likelier than its own
CONFIDENCE = 0.5
CORPUS_ROWS = 10_000  # sentences of corpus.path, half of either gender
WITHHELD = 72  # stream of the words
WORDS = 5, 60  # of a sentence of a corpus
CHUNK = 4096  # sentences looked at together
POOL = 40  # sentences of which one is wanted, that are looked at most
_ENDS = re.compile(r'(?<=[.!?])\s+')
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


def parallel_text(m: texts.RewriteInputs, tables: Tables) -> Parallel:
  """Swapped and repaired texts, and which of them turned their group."""
  swap = texts.swapper(m, 'dictionary')
  repairs = {}
  if m.helpers:
    repairs = texts.repairs_of(m, tables, 'dictionary', swap)
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
          'group': contenders.attribute(m.e.config, rows),
          'dictionary': swaps,
          'repaired': repaired,
        }
      )
    )
  frame = pd.concat(frames, ignore_index=True)
  every = pd.concat([rows['group'] for rows in tables.values()])
  names = dict(zip(frame['group'].tolist(), every.astype(str)))
  if m.helpers is None:
    m.e.log.line(
      'no detector is named (repair.detector), so the repaired texts are '
      'those of the dictionary'
    )
  chances = attribute_texts.chances(
    frame['source'],
    frame['group'].to_numpy(),
    {name: list(frame[name]) for name in ('source', 'repaired')},
    np.arange(len(frame)),
  )
  other = lambda name: np.where(
    frame['group'] == 1, 1 - chances[name], chances[name]
  )
  frame['turned'] = other('repaired')
  frame['changed'] = frame['dictionary'] != frame['source']
  frame['kept'] = frame['turned'] >= CONFIDENCE
  right = other('source') < 0.5  # a source still shows its own group
  # Clusters of the rows of all splits; ids are of their split.
  every = [
    rows.assign(id=[f'{split}/{one}' for one in rows['id']])
    for split, rows in tables.items()
  ]
  cluster = stages.clusters_of(pd.concat(every, ignore_index=True))[0]
  accuracy = clusters.share_right(right, cluster, options_of(m.e.config))
  one = Parallel(frame, names, accuracy)
  m.e.log.line(f'filter: {described(one)}')
  return one


def described(parallel: Parallel) -> str:
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


def counted(parallel: Parallel) -> dict[str, int]:
  """How many pairs there are, which the filter drops, and which are no swap."""
  frame = parallel.frame
  gone = ~frame['kept']
  return {
    'pairs': len(frame),
    'pairs that the filter drops': int(gone.sum()),
    **{
      f'pairs of {parallel.names[group]} that the filter drops': int(n)
      for group, n in gone.groupby(frame['group']).sum().items()
    },
    'pairs that the swap leaves as they are': int((~frame['changed']).sum()),
  }


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
        'texts)'
      )
  return pd.DataFrame(
    {
      'source': some['source'],
      'target': some[column],
      'split': some['split'],
      'label': 1 - some['group'],
    }
  ).reset_index(drop=True)


def halves(share: float, seed: int) -> tuple[list[tuple[str, str]], set[str]]:
  """Pairs of our list (male, female) that stay, and the words withheld.

  Both words of a pair are withheld, unless another pair keeps one; pronouns
  stay, since every text has them.
  """
  known = word_lists.gender()
  pronouns = {w for side in word_lists.ENGLISH for w in side.split()}
  rows = [(row[0], row[1]) for row in known.rows]
  draw = np.random.default_rng([seed, WITHHELD])
  out = draw.permutation(len(rows)) < round(share * len(rows))  # so many
  kept = [
    row
    for row, gone in zip(rows, out)
    if not gone or not pronouns.isdisjoint(row)
  ]
  every = {w for row in rows for w in row} | {*known.to_male, *known.to_female}
  stay = {w for row in kept for w in row}
  return kept, every - stay - pronouns - context.RULES.keys()


def withheld(config: Config, folder: pathlib.Path) -> tuple[Config, set[str]]:
  """The config whose list lacks the withheld words, and these."""
  share = config.adversary.withheld
  if not share:
    return config, set()
  kept, words = halves(share, config.seed)
  path = folder / 'kept_words.csv'
  if mesh.is_main():
    lines = ['male,female', *(','.join(row) for row in kept)]
    artefacts.write_text(path, '\n'.join(lines) + '\n')
  mesh.wait_for_all(str(path))
  return changed(config, method={'words': str(path)}), words


def corpus(config: Config, tables: Tables) -> Tables:
  """Sentences of one gender of another corpus, as many of either: train, valid.

  Their group is that of the evaluated texts whose words they have.
  """
  names = sorted({*tables['train']['group']} - {''})
  wanted = CORPUS_ROWS // 2
  found: dict[bool, list[str]] = {True: [], False: []}
  for some in _sentences(config.corpus.path, POOL * CORPUS_ROWS, config):
    women = says_women(some)
    for side, own in found.items():
      own += [t for t, w in zip(some, women) if w is side][: wanted - len(own)]
    if min(map(len, found.values())) >= wanted:
      break
  least = min(map(len, found.values()))
  if least < 20:
    raise UserError(
      f'{config.corpus.path} has {least} sentences that speak of women alone, '
      'or of men alone, and at least 20 of either are needed; give more text '
      'with --config.corpus.path'
    )
  groups = dict(zip((True, False), women_first(tables, names)))
  rows = pd.DataFrame(
    [
      (f'corpus:{side:d}:{k}', text, 0, groups[side])
      for side, own in found.items()
      for k, text in enumerate(own[:least])
    ],
    columns=['id', 'text', 'label', 'group'],
  )
  held = rows['id'].str.endswith('0')  # a tenth
  return {
    'train': rows[~held].reset_index(drop=True),
    'valid': rows[held].reset_index(drop=True),
  }


def says_women(texts: Sequence[str]) -> list[bool | None]:
  """True where a text has women's words alone, False where men's; else None."""
  of = axis_values.single(texts, names=None)
  return [None if value < 0 else bool(value == 1) for value in of]


def women_first(tables: Tables, names: Sequence[str]) -> tuple[str, str]:
  """The two groups of the texts, the one with more women's words first."""
  some = tables['train'].head(2000)
  women = np.array([float(w or False) for w in says_women(list(some['text']))])
  share = {n: women[(some['group'] == n).to_numpy()].mean() for n in names[:2]}
  one, two = sorted(names[:2], key=lambda name: -share[name])
  return one, two


def _sentences(path: str, most: int, config: Config) -> Iterator[list[str]]:
  """Sentences of the corpus in an order by seed, some at a time."""
  root = pathlib.Path(path)
  files = [root]
  if root.is_dir():
    files = [root / name for name in shard_map.find_shards(root)]
  chosen: list[tuple[int, str]] = []
  for file in files:
    number = 0
    for block in shards.read(file, config.data.text):
      texts = [one for line in block for one in _ENDS.split(line)]
      at = number + np.arange(len(texts))
      number += len(texts)
      order = attributes.priority(config.seed, file.name, at).tolist()
      chosen += [
        (k, text)
        for k, text in zip(order, texts)
        if WORDS[0] <= len(text.split()) <= WORDS[1]
      ]
      if len(chosen) > 2 * most:  # bounded memory, and few sorts
        chosen = sorted(chosen)[:most]
  texts = list(dict.fromkeys(text for _, text in sorted(chosen)[:most]))
  for k in range(0, len(texts), CHUNK):
    yield texts[k : k + CHUNK]
