"""Counterfactual text by dictionary: each text with the other group's words.

`swap(column)` returns the texts, and for each row the spans (start, end, old,
new) in the original text, so reports and scores know which rows have a twin.
A word is looked up once for each distinct chunk between blanks and remembered;
only ambiguous words (her, his, lady, …) look at their neighbours (context.py).
Counterfactual data augmentation as in Zhao et al. 2018 (arXiv 1804.06876) and
Hall Maudslay et al. 2019 (arXiv 1909.00871), with our own lists and rules.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairjax.errors import UserError
from fairjax.pairs import context, lists, neutral, tags
from fairjax.pairs import names as people

Span = tuple[int, int, str, str]  # start, end, old, new; in the original text
DIRECTIONS = ('opposite', 'male', 'female', 'neutral')

_MARKS = '.,;:!?()[]{}"“”‘’\'*…'
_TOKEN = r"[#@]?(?:ma['’]am\b|[^\W_](?:\w|[\u0300-\u036f])*)"
_ADDRESS = re.compile(r'://|\bwww\.|\w@\w')  # left alone: links and mail
_REMEMBER = 300_000  # chunks held at a time


class Swapped(NamedTuple):
  """Texts in the order given, and what was changed in each."""

  texts: list[str]
  spans: list[list[Span]]
  left: list[int]  # words of a row that have no sure counterpart


def swap(
  texts: Sequence[str],
  direction: str = 'opposite',
  words: str | os.PathLike | Sequence[Sequence[str]] | None = None,
  names: bool | str | os.PathLike | dict[str, str] | None = None,
  seed: int = 0,
  tagger: str | Callable | None = None,
  handles: bool = False,
) -> Swapped:
  """The counterfactual of each text of a column.

  Args:
    texts: any sequence of str; a row without a listed word comes back as it is.
    direction: 'opposite', 'male', 'female' or 'neutral' (singular they).
    words: None for our own gender list, else a file of word groups (or the
      groups): each text turns to one other member, the same step along each
      group, drawn from the seed and the text.
    names: True swaps first names by our own list, a path by the user's counts,
      a dict by that map; None leaves names alone.
    seed: of the draw among more than two groups.
    tagger: 'spacy:MODEL' or a function text -> {start: tag}, asked only about
      texts with `her` or `his`; None decides by rules.
    handles: also swap hashtags and @handles that are a listed word.
  """
  return swapper(direction, words, names, seed, tagger, handles)(texts)


def swap_one(text: str, **options) -> tuple[str, list[Span]]:
  """One text and its spans; options as for `swap`."""
  swapped = swap([text], **options)
  return swapped.texts[0], swapped.spans[0]


def swap_every(texts: Sequence[str], words, **options) -> list[Swapped]:
  """All alternatives of groups with more than two members, one column each."""
  size = max(len(row) for row in lists.load(words).rows)
  return [
    swapper(words=words, step=step, **options)(texts) for step in range(1, size)
  ]


def swapper(
  direction: str = 'opposite',
  words=None,
  names=None,
  seed: int = 0,
  tagger=None,
  handles: bool = False,
  step: int = 0,
) -> Callable[[Sequence[str]], Swapped]:
  """`swap` made ready once, for many columns; it remembers chunks."""
  if direction not in DIRECTIONS:
    raise UserError(
      f'direction is {direction!r}; it must be one of {DIRECTIONS}'
    )
  known = lists.load(words)
  called = people.load(names)
  tag = tags.load(tagger)
  if known.sides:
    rows = [_gender_row(known, called, direction, tag, handles)]
  else:
    if direction != 'opposite':
      raise UserError(
        f'direction {direction!r} needs a gender list; begin the word file '
        "with the line 'male,female' or 'male,female,neutral'"
      )
    size = max(len(row) for row in known.rows)
    steps = [step] if step else range(1, size)
    rows = [_group_row(known, called, k, handles) for k in steps]

  def run(texts: Sequence[str]) -> Swapped:
    if isinstance(texts, str):
      raise UserError('swap takes a column of texts; use swap_one for one text')
    out = Swapped([], [], [])
    for number, text in enumerate(texts):
      if not isinstance(text, str):
        raise UserError(
          f'row {number} is not a text but {text!r}; drop the row or write a '
          'text in it'
        )
      row = rows[0] if len(rows) == 1 else rows[_draw(seed, text, len(rows))]
      new, spans, left = row(text)
      out.texts.append(new)
      out.spans.append(spans)
      out.left.append(left)
    return out

  return run


def _draw(seed: int, text: str, size: int) -> int:
  """A uniform draw that depends on nothing but the seed and the text."""
  digest = hashlib.blake2b(f'{seed}:{text}'.encode(errors='surrogatepass'))
  return int.from_bytes(digest.digest()[:8], 'big') % size


def match_case(old: str, new: str) -> str:
  """`new` in the case of `old`: lower, UPPER or Title."""
  if len(old) > 1 and old.isupper():
    return new.upper()
  return new[:1].upper() + new[1:] if old[0].isupper() else new


class _Chunks(dict):
  """What each distinct chunk holds, found once and remembered."""

  def __init__(self, find: Callable):
    super().__init__()
    self.find = find

  def __missing__(self, chunk: str):
    if len(self) >= _REMEMBER:
      self.clear()
    found = self[chunk] = self.find(chunk)
    return found


def _finder(
  entries: dict[str, object], called: people.Names, handles: bool
) -> Callable[[str], tuple | None]:
  """chunk -> ((start, end, word, entry), …) of its listed words, or None.

  An entry is the new word, a rule of context.py, or `people.NAME`.
  """
  phrases = [w for w in entries if re.search(r'[^\w]', w) and w != "ma'am"]
  token = re.compile(
    ''.join(
      rf'(?i:\b{re.escape(phrase)}\b)|'
      for phrase in sorted(phrases, key=len, reverse=True)
    )
    + _TOKEN
  )

  def entry_of(word: str):
    low = word.lower()
    if not low.isascii():
      low = unicodedata.normalize('NFC', low).replace('’', "'")
    if handles and low[0] in '#@':
      low = low[1:]
    entry = entries.get(low)
    if entry is None and called:
      entry = people.NAME if called.has(word) else None
    if entry is None or (low == 'ms' and word != 'Ms'):
      return None
    if isinstance(entry, str):
      new = match_case(word.lstrip('#@'), entry)
      if not word.isascii() and unicodedata.normalize('NFC', word) != word:
        new = unicodedata.normalize('NFD', new)
      return word[0] + new if word[0] in '#@' else new
    return entry if word[0] not in '#@' else None

  def find(chunk: str):
    bare = chunk.strip(_MARKS)
    if bare.isalpha() and bare.isascii():
      entry = entry_of(bare)
      if entry is None:
        return None
      start = chunk.index(bare)
      return ((start, start + len(bare), bare, entry),)
    if not bare or (not phrases and _ADDRESS.search(chunk)):
      return None
    found = []
    for match in token.finditer(chunk):
      word = match[0].rstrip('_')
      entry = entry_of(word)
      if entry is not None:
        start = match.start()
        found.append((start, start + len(word), word, entry))
    return tuple(found) or None

  find.whole = bool(phrases)
  return find


def _scan(text: str, chunks: _Chunks) -> list[tuple[int, int, str, object]]:
  """(start, end, word, entry) of every listed word of a text."""
  if chunks.find.whole:
    return list(chunks.find(text) or ())
  parts = text.split(' ')
  found = list(map(chunks.__getitem__, parts))
  if not any(found):
    return []
  hits = []
  at = 0
  for part, entries in zip(parts, found):
    if entries is not None:
      for start, end, word, entry in entries:
        hits.append((at + start, at + end, word, entry))
    at += len(part) + 1
  return hits


def _apply(text: str, spans: list[Span]) -> str:
  pieces = []
  last = 0
  for start, end, _, new in spans:
    pieces.append(text[last:start])
    pieces.append(new)
    last = end
  pieces.append(text[last:])
  return ''.join(pieces)


def _gender_row(
  known: lists.Lists,
  called: people.Names,
  direction: str,
  tag: Callable | None,
  handles: bool,
) -> Callable[[str], tuple[str, list[Span], int]]:
  """text -> (text, spans, left) for a gender list."""
  entries = _gender_entries(known, direction)
  chunks = _Chunks(_finder(entries, called, handles))
  pick = _PICK[direction]

  def row(text: str):
    hits = _scan(text, chunks)
    if not hits:
      return text, [], 0
    spans: list[Span] = []
    persons = []
    left = 0
    told = tag(text) if tag and tags.needed(hits) else {}
    for start, end, word, entry in hits:
      if isinstance(entry, str):
        if entry:
          spans.append((start, end, word, entry))
        else:
          left += 1
      elif entry is people.NAME:
        persons.append((start, end, word))
      else:
        low = word.lower()
        sense = tags.sense(low, told.get(start)) or entry(text, start, end)
        if sense is None:
          continue
        new = pick(sense, low)
        if not new:
          left += 1
        elif new != low:
          spans.append((start, end, word, match_case(word, new)))
    if persons:
      spans += called.swap(text, persons, direction)
      spans.sort()
    if direction == 'neutral':
      verbs, unsure = neutral.agree(text, spans)
      spans = sorted(spans + verbs)
      left += unsure
    return _apply(text, spans), spans, left

  return row


_PICK: dict[str, Callable[[tuple[str, ...], str], str]] = {
  'opposite': lambda row, word: row[word == row[0]],
  'male': lambda row, word: row[0],
  'female': lambda row, word: row[1],
  'neutral': lambda row, word: row[2],
}


def _gender_entries(known: lists.Lists, direction: str) -> dict[str, object]:
  """word -> new word, '' where none is sure, or a rule."""
  if direction == 'neutral' and len(known.sides) < 3:
    raise UserError(
      "direction 'neutral' needs a word list whose first line is "
      "'male,female,neutral'"
    )
  pick = _PICK[direction]
  entries: dict[str, object] = {}
  for row in known.rows:
    for word in row[:2]:
      entries.setdefault(word, pick(row, word))
  side = 0 if direction in ('opposite', 'male') else 1
  for here, one_way in enumerate((known.to_male, known.to_female)):
    for word, partner in one_way.items():
      if direction == 'neutral':
        entries[word] = entries.get(partner, '')
      elif direction == 'opposite' or here == side:
        entries[word] = partner
  for word in [w for w, new in entries.items() if w == new]:
    del entries[word]
  rules = context.rules(known.rows)
  entries.update({w: r for w, r in rules.items() if _moves(w, direction)})
  return entries


def _moves(word: str, direction: str) -> bool:
  """Whether a word with a rule can change in this direction."""
  male = word in (
    'his',
    'him',
    'lord',
    'lords',
    'mister',
    'sir',
    'count',
    'god',
  )
  female = word in ('her', 'hers', 'lady', 'ladies', 'miss', 'dame')
  return not (
    (direction == 'male' and male) or (direction == 'female' and female)
  )


def _group_row(
  known: lists.Lists, called: people.Names, step: int, handles: bool
) -> Callable[[str], tuple[str, list[Span], int]]:
  """text -> (text, spans, left): each group turned by `step` places."""
  entries: dict[str, object] = {}
  for group in known.rows:
    turn = 1 + (step - 1) % (len(group) - 1)
    for place, word in enumerate(group):
      entries[word] = group[(place + turn) % len(group)]
  chunks = _Chunks(_finder(entries, called, handles))

  def row(text: str):
    hits = _scan(text, chunks)
    spans = [hit for hit in hits if hit[3] is not people.NAME]
    persons = [hit[:3] for hit in hits if hit[3] is people.NAME]
    if persons:
      spans = sorted(spans + called.swap(text, persons, 'opposite'))
    return (_apply(text, spans) if spans else text), spans, 0

  return row
