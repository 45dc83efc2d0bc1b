"""How right a swap is: changed words against files of known twins.

Each test is pairs (text, twin). Words are compared by place: precision is the
share of the words we changed that equal the twin's, recall the share of the
words the twin changed that equal ours. Where a twin gives a person another
name than we do, only the place can be right, so names are scored apart.
"""

import difflib
import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from fairjax.pairs import context, lists
from fairjax.pairs.words import match_case, swap

Pairs = list[tuple[str, str]]
_WORD = re.compile(r'\w+|[^\w\s]')


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


def gap(folder: str | os.PathLike) -> Pairs:
  """GAP's development and validation texts and their flipped twins."""
  folder = pathlib.Path(folder)
  read = lambda name: pd.read_csv(
    folder / name, sep='\t', quoting=3, keep_default_na=False, dtype=str
  ).set_index('ID')['Text']
  texts = pd.concat([read('gap-development.tsv'), read('gap-validation.tsv')])
  twins = read('gap_flipped_dev_val.tsv')
  return [(texts[i], twins[i]) for i in texts.index if i in twins.index]


def winobias(folder: str | os.PathLike) -> Pairs:
  """WinoBias: line i of the pro- and the anti-stereotyped files, both ways."""
  pairs: Pairs = []
  for kind in ('type1', 'type2'):
    sides = []
    for bias in ('pro', 'anti'):
      path = pathlib.Path(folder) / f'{bias}_stereotyped_{kind}.dev.txt'
      lines = path.read_text(encoding='utf-8').splitlines()
      sides.append(
        [re.sub(r'^\d+ |[\[\]]', '', line).strip() for line in lines]
      )
    for a, b in zip(*sides):
      pairs += [(a, b), (b, a)]
  return pairs


def winogender(folder: str | os.PathLike, to: str = 'opposite') -> Pairs:
  """Winogender: the male and female form of each sentence, both ways.

  With `to='neutral'` both forms are paired with the neutral one.
  """
  table = pd.read_csv(
    pathlib.Path(folder) / 'all_sentences.tsv', sep='\t', quoting=3
  )
  names = table['sentid'].str.removesuffix('.txt').str.rsplit('.', n=1)
  wide = pd.DataFrame(
    {'key': names.str[0], 'sex': names.str[1], 'text': table['sentence']}
  ).pivot(index='key', columns='sex', values='text')
  male, female = wide['male'].tolist(), wide['female'].tolist()
  if to == 'neutral':
    neutral = wide['neutral'].tolist()
    return [*zip(male, neutral), *zip(female, neutral)]
  return [*zip(male, female), *zip(female, male)]


def plain(text: str, words: Mapping[str, str]) -> str:
  """What a dictionary gives that knows no context."""

  def one(match: re.Match) -> str:
    new = words.get(match[0].lower())
    return match[0] if new is None else match_case(match[0], new)

  return re.sub(r'\w+', one, text)


def dictionary() -> dict[str, str]:
  """Our own list as one word for each word: her -> his, his -> her."""
  known = lists.gender()
  words = {a: b for m, f, *_ in known.rows for a, b in ((m, f), (f, m))}
  words |= known.to_male | known.to_female
  return words | {'his': 'her', 'her': 'his', 'him': 'her', 'hers': 'his'}


def compare(folder: str | os.PathLike) -> dict[str, dict[str, Score]]:
  """Scores of our swap and of a plain dictionary on every set in `folder`.

  `folder` holds gap/, winobias/ and winogender/. Listed words are scored by
  what they became; names, in GAP, by whether the twin changed them too.
  """
  folder = pathlib.Path(folder)
  words = dictionary()
  listed = lambda word: word.lower() in words or word.lower() in context.RULES
  scores: dict[str, dict[str, Score]] = {}
  for name, read in (
    ('gap', gap),
    ('winobias', winobias),
    ('winogender', winogender),
  ):
    pairs = read(folder / name)
    texts = [text for text, _ in pairs]
    scores[name] = {
      'rules': score(pairs, swap(texts).texts, listed),
      'dictionary': score(pairs, [plain(t, words) for t in texts], listed),
    }
    if name == 'gap':
      named = swap(texts, names=True).texts
      other = lambda word: not listed(word)
      scores['gap names'] = {'rules': score(pairs, named, other, places=True)}
  pairs = winogender(folder / 'winogender', 'neutral')
  neutral = swap([text for text, _ in pairs], 'neutral').texts
  scores['winogender neutral'] = {'rules': score(pairs, neutral)}
  return scores


def _changes(old: list[str], new: list[str]) -> dict[int, str]:
  """place in `old` -> what stands there in `new`, where it differs."""
  if len(old) == len(new):
    return {
      i: b.lower()
      for i, (a, b) in enumerate(zip(old, new))
      if a.lower() != b.lower()
    }
  found = {}
  matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
  for tag, a, b, c, d in matcher.get_opcodes():
    if tag == 'equal':
      continue
    for i in range(a, b):
      inside = new[c:d] if i == b - 1 and b - a == 1 else new[c + i - a :][:1]
      found[i] = ' '.join(inside).lower()
  return found


def score(
  pairs: Pairs,
  ours: Sequence[str],
  counts: Callable[[str], bool] = lambda word: True,
  places: bool = False,
) -> Score:
  """Changed words of `ours` against the twins.

  `counts` says which (original) words are scored; with `places` a changed
  word is right wherever the twin changed it too, to whatever it did.
  """
  changed = wanted = right = whole = 0
  for (text, twin), own in zip(pairs, ours):
    old = _WORD.findall(text)
    gold = _changes(old, _WORD.findall(twin))
    mine = _changes(old, _WORD.findall(own))
    gold = {i: w for i, w in gold.items() if counts(old[i])}
    mine = {i: w for i, w in mine.items() if counts(old[i])}
    changed += len(mine)
    wanted += len(gold)
    right += sum(
      i in gold and (places or gold[i] == word) for i, word in mine.items()
    )
    whole += mine == gold
  return Score(changed, wanted, right, whole, len(pairs))
