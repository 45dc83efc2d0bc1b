"""Accuracy of a swap: changed words against files of known twins.

Each test is pairs (text, twin). Words are compared by place: precision is the
share of the words we changed that equal the twin's, recall the share of the
words the twin changed that equal ours. Where a twin gives a person another
name than we do, only the place can be right, so names are scored apart.
"""

import os
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core import alignment, paths
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.pairs.swapping import context, fixed_names, word_lists
from fairjax.pairs.swapping.dictionary import swap
from fairjax.pairs.swapping.listed import match_case

Pairs = list[tuple[str, str]]
_WORD = re.compile(r'\w+|[^\w\s]')
# Precision of the shipped rules, which pages state; a test measures it again.
MEASURED = {'GECO': 0.979, 'WinoBias': 0.989, 'Winogender': 1.0, 'GAP': 0.946}


class Score(NamedTuple):
  """Counts over all places: ours changed, twin changed, both and equal."""

  ours: int
  twins: int
  right: int
  whole: int  # texts that equal their twin in every word
  texts: int

  @property
  def precision(self) -> float:
    return self.right / self.ours if self.ours else float('nan')

  @property
  def recall(self) -> float:
    return self.right / self.twins if self.twins else float('nan')


def tsv(path: pathlib.Path) -> pd.DataFrame:
  return pd.read_csv(
    paths.place(path), sep='\t', quoting=3, keep_default_na=False, dtype=str
  )


def gap(folder: str | os.PathLike) -> Pairs:
  """GAP's development and validation texts and their flipped twins."""
  folder = pathlib.Path(folder)
  load = lambda name: tsv(folder / name).set_index('ID')['Text']
  texts = pd.concat([load('gap-development.tsv'), load('gap-validation.tsv')])
  twins = load('gap_flipped_dev_val.tsv')
  return [(texts[i], twins[i]) for i in texts.index if i in twins.index]


def winobias(folder: str | os.PathLike) -> Pairs:
  """WinoBias: line i of the pro- and the anti-stereotyped files, both ways."""
  pairs: Pairs = []
  for kind in ('type1', 'type2'):
    sides = []
    for bias in ('pro', 'anti'):
      path = pathlib.Path(folder) / f'{bias}_stereotyped_{kind}.dev.txt'
      plain = re.sub(r'(?m)^\d+ |[\[\]]', '', readers.text(path))
      sides.append([*map(str.strip, plain.splitlines())])
    for a, b in zip(*sides):
      pairs += [(a, b), (b, a)]
  return pairs


def winogender(folder: str | os.PathLike, to: str = 'opposite') -> Pairs:
  """Winogender: the male and female form of each sentence, both ways.

  With `to='neutral'` both forms are paired with the neutral one.
  """
  table = tsv(pathlib.Path(folder) / 'all_sentences.tsv')
  names = table['sentid'].str.removesuffix('.txt').str.rsplit('.', n=1)
  wide = pd.DataFrame(
    {'key': names.str[0], 'sex': names.str[1], 'text': table['sentence']}
  ).pivot(index='key', columns='sex', values='text')
  male, female = wide['male'].tolist(), wide['female'].tolist()
  if to == 'neutral':
    neutral = wide['neutral'].tolist()
    return [*zip(male, neutral), *zip(female, neutral)]
  return [*zip(male, female), *zip(female, male)]


def geco(folder: str | os.PathLike) -> Pairs:
  """GECO: sentences whose every word about a person is turned, both ways."""
  path = pathlib.Path(folder) / 'binary_gender_all_train.jsonl'
  words = lambda side: ' '.join(side['sentence'])
  both = [
    (words(sides['male']), words(sides['female']))
    for sides in geco_sides(path).values()
  ]
  return [*both, *((female, male) for male, female in both)]


def geco_sides(path: str | os.PathLike) -> dict[int, dict[str, dict]]:
  """The records of a GECO file: of each sentence, 'male' and 'female'."""
  sides: dict[int, dict[str, dict]] = {}
  for place, row in enumerate(readers.read(str(path)).to_dict('records')):
    number, gender = row.get('sentence_idx'), row.get('gender')
    words = row.get('sentence')
    if (
      not isinstance(number, int)
      or gender not in ('male', 'female')
      or not isinstance(words, list)
      or not all(isinstance(word, str) for word in words)
    ):
      raise UserError(
        f'{readers.shown(path)} has no sentence_idx, gender (male or female) '
        f'and sentence (a list of words) in record {place} (from 0); give the '
        'file as it was published'
      )
    sides.setdefault(number, {})[gender] = row
  single = [n for n, both in sides.items() if len(both) < 2]
  if single:
    raise UserError(
      f'{readers.shown(path)} has one gender only of sentence {single[0]}; '
      'give the file as it was published'
    )
  return sides


def plain(text: str, words: Mapping[str, str]) -> str:
  """What a dictionary gives that knows no context."""

  def one(match: re.Match) -> str:
    new = words.get(match[0].lower())
    return match[0] if new is None else match_case(match[0], new)

  return re.sub(r'\w+', one, text)


def dictionary() -> dict[str, str]:
  """Our own list as one word for each word: her -> his, his -> her."""
  known = word_lists.gender()
  words = {a: b for m, f, *_ in known.rows for a, b in ((m, f), (f, m))}
  words |= known.to_male | known.to_female
  return words | {'his': 'her', 'her': 'his', 'him': 'her', 'hers': 'his'}


SETS: dict[str, Callable[[pathlib.Path], Pairs]] = {
  'gap': gap,
  'winobias': winobias,
  'winogender': winogender,
  'geco': geco,
}


def find(*folders: str | os.PathLike) -> dict[str, pathlib.Path]:
  """name -> the folder of each known set, in `folders` or one level below."""
  places = [
    place
    for folder in map(pathlib.Path, folders)
    for place in (folder, *sorted(folder.glob('*/')))
  ]
  at = {
    name: [place / name for place in places if (place / name).is_dir()]
    for name in SETS
  }
  known = {name: where[0] for name, where in at.items() if where}
  if not known:
    raise UserError(
      f'no known twins in {", ".join(map(str, folders))}; name a folder '
      f'that holds {", ".join(SETS)}'
    )
  return known


class Run(NamedTuple):
  """What a swap wrote for one set, and which (original) words are scored."""

  pairs: Pairs
  ours: list[str]
  counts: Callable[[str], bool] = lambda word: True
  places: bool = False


def runs(*folders: str | os.PathLike) -> Iterator[tuple[str, str, Run]]:
  """(set, side, run) of our rules, and of a dictionary, on every set found.

  Listed words are scored by what they became; names, in GAP, by whether the
  twin changed them too: those that no twin ever changes (Arjun, Zoya) are not
  scored, nor are texts with a name that stays (fixed_names.py).
  """
  words = dictionary()
  is_listed = lambda word: (
    word.lower() in words or word.lower() in context.RULES
  )
  for name, folder in find(*folders).items():
    pairs = SETS[name](folder)
    texts = [text for text, _ in pairs]
    yield name, 'rules', Run(pairs, swap(texts).texts, is_listed)
    plains = [plain(text, words) for text in texts]
    yield name, 'dictionary', Run(pairs, plains, is_listed)
    if name == 'gap':
      reversals = {old for old, gold, _ in compared(pairs, texts) if gold}
      other = lambda word, known=reversals: (
        word in known and not is_listed(word)
      )
      free = [pair for pair in pairs if not fixed_names.any_in(pair[0])]
      with_names = swap([text for text, _ in free], names=True).texts
      yield 'gap names', 'rules', Run(free, with_names, other, places=True)
    if name == 'winogender':
      pairs = winogender(folder, 'neutral')
      ours = swap([text for text, _ in pairs], 'neutral').texts
      yield 'winogender neutral', 'rules', Run(pairs, ours)


def _changes(old: list[str], new: list[str]) -> dict[tuple[int, int], str]:
  """(place in `old`, 1) -> what stands there in `new`, where it differs.

  (place, 0) -> what `new` has before that place, in the place of nothing. Case
  is no difference.
  """
  old, new = ([word.lower() for word in words] for words in (old, new))
  if len(old) == len(new):
    each = enumerate(zip(old, new))
    return {(i, 1): b for i, (a, b) in each if a != b}
  result = {}
  for tag, a, b, c, d in alignment.changes(old, new):
    if tag == 'insert':
      result[a, 0] = ' '.join(new[c:d])
    elif tag != 'equal':
      for i in range(a, b):
        last = d if i == b - 1 else c + i - a + 1
        result[i, 1] = ' '.join(new[c + i - a : min(last, d)])
  return result


def compared(
  pairs: Pairs, ours: Sequence[str]
) -> Iterator[tuple[str, str | None, str | None]]:
  """(word, its twin's, ours) where a twin or we change a word, None: not so.

  Words that are put in stand for the word ''.
  """
  for (text, twin), own in zip(pairs, ours):
    old = _WORD.findall(text)
    gold = _changes(old, _WORD.findall(twin))
    mine = _changes(old, _WORD.findall(own))
    for place in sorted({*gold, *mine}):
      i, stands = place
      yield old[i] if stands else '', gold.get(place), mine.get(place)


def score(pairs: Pairs, ours: Sequence[str], *how) -> Score:
  """Changed words of `ours` against the twins; `how` as for `text_counts`."""
  return Score(*text_counts(pairs, ours, *how).sum(0).tolist())


def text_counts(
  pairs: Pairs,
  ours: Sequence[str],
  counts: Callable[[str], bool] = lambda word: True,
  places: bool = False,
) -> np.ndarray:
  """The counts of a Score of each text by itself: [n, 5].

  `counts` says which (original) words are scored; with `places` a changed
  word is right wherever the twin changed it too, to whatever it did.
  """
  rows = []
  for pair, own in zip(pairs, ours):
    here = [p for p in compared([pair], [own]) if counts(p[0])]
    rows.append(
      (
        sum(mine is not None for _, _, mine in here),
        sum(gold is not None for _, gold, _ in here),
        sum(None not in (g, m) and (places or g == m) for _, g, m in here),
        all(gold == mine for _, gold, mine in here),
        1,
      )
    )
  return np.array(rows, np.int64).reshape(-1, 5)
