"""The papers' protocol: which texts a system learns from, and is judged by.

corpus → sentences of one gender → pairs (MBCDA trains on Wikipedia)
labelled texts → two labels, one gender ahead in each → training
               → as many of each → test (Table 1)
word list → half of its words withheld from the targets (beyond the list)
"""

import dataclasses
import pathlib
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.corpora import shard_map, shards
from fairjax.data.tables.schema import Tables
from fairjax.pairs import attributes
from fairjax.pairs.swapping import context, sides, word_lists
from fairjax.train import mesh

WITHHELD = 72  # stream of the words
WORDS = 5, 60  # of a sentence of a corpus
CHUNK = 4096  # sentences looked at together
POOL = 40  # sentences of which one is wanted, that are looked at most
_ENDS = re.compile(r'(?<=[.!?])\s+')


def halves(share: float, seed: int) -> tuple[list[tuple[str, str]], set[str]]:
  """Pairs of our list (male, female) that stay, and the words withheld.

  Words that hang together are withheld together; pronouns stay, since every
  text has them, and words whose partner has another go with the list's own.
  """
  known = word_lists.gender()
  pronouns = {w for side in word_lists.ENGLISH for w in side.split()}
  rows = [row[:2] for row in known.rows]
  draw = np.random.default_rng([seed, WITHHELD])
  out = draw.permutation(len(rows)) < round(share * len(rows))
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
  method = dataclasses.replace(config.method, words=str(path))
  return dataclasses.replace(config, method=method), words


def corpus(config: Config, tables: Tables) -> Tables:
  """Sentences of one gender of another corpus, as many of either: train, valid.

  Their group is that of the evaluated texts whose words they have.
  """
  options = config.adversary
  names = sorted({*tables['train']['group']} - {''})
  wanted = options.corpus_rows // 2
  found: dict[bool, list[str]] = {True: [], False: []}
  for texts in _sentences(options.corpus, POOL * options.corpus_rows, config):
    women = says_women(texts)
    for side, own in found.items():
      own += [t for t, w in zip(texts, women) if w is side][: wanted - len(own)]
    if min(map(len, found.values())) >= wanted:
      break
  least = min(map(len, found.values()))
  if least < 20:
    raise UserError(
      f'{options.corpus} has {least} sentences that speak of one gender alone '
      'of one side; give more text with --config.adversary.corpus'
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
  of = sides.of(texts, names=None)
  return [None if value < 0 else bool(value == 1) for value in of]


def women_first(tables: Tables, names: Sequence[str]) -> tuple[str, str]:
  """The two groups of the texts, the one with more women's words first."""
  some = tables['train'].head(2000)
  said = np.array([float(w or False) for w in says_women(list(some['text']))])
  share = {n: said[(some['group'] == n).to_numpy()].mean() for n in names[:2]}
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
    for block in shards.read(file, config.corpus.column):
      texts = [one for line in block for one in _ENDS.split(line)]
      at = number + np.arange(len(texts))
      number += len(texts)
      order = attributes.priority(config.seed, file.name, at).tolist()
      chosen += [
        (k, text)
        for k, text in zip(order, texts)
        if WORDS[0] <= len(text.split()) <= WORDS[1]
      ]
      if len(chosen) > 2 * most:
        chosen = sorted(chosen)[:most]
  texts = list(dict.fromkeys(text for _, text in sorted(chosen)[:most]))
  for k in range(0, len(texts), CHUNK):
    yield texts[k : k + CHUNK]
