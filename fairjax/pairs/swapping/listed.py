"""The listed words that a text holds, and what each becomes.

A scan (scan.py) gives candidates, whose hash a listed word has. Here they are
held to the list: phrases first, and words in rare forms, but no handles, links
or halves of words.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping

from fairjax.pairs.swapping import fixed_names
from fairjax.pairs.swapping import names as people
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

# start, end, word, entry: the new word ('' where none is sure), a rule of
# context.py, or NAME of a first name.
Hit = tuple[int, int, str, object]
# "old man" is no phrase of a 50-yr-old man.
_NO_AGE = r'(?<!year.)(?<!years.)(?<!yr.)(?<!yrs.)'
# s/he, (s)he, wo/man, fe(male): half a word is no word.
_HALF = re.compile(r'(?:\b(?:s|wo|fe)/|\((?:s|wo|fe)\))$', re.IGNORECASE)
_ADDRESS = re.compile(r'://|\bwww\.|\w@\w')  # left alone: links and mail


@functools.lru_cache(1 << 12)
def match_case(old: str, new: str) -> str:
  """`new` in the case of `old`: lower, UPPER or Title; word by word of phrases
  of as many words (der Lehrer, die Lehrerin)."""
  if len(old) > 1 and old.isupper():
    return new.upper()
  words = old.split(), new.split()
  if len(words[0]) == len(words[1]) > 1:
    return ' '.join(map(match_case, *words))
  return new[:1].upper() + new[1:] if old[0].isupper() else new


class Listed:
  """The listed words of one step or direction, and where texts hold them."""

  def __init__(
    self,
    entries: Mapping[str, object],
    called: people.Names,
    handles: bool,
    write: Callable = lambda new, word: new,
  ):
    self.entries = entries
    self.called = called
    self.handles = handles
    # Whole entries of the three usual cases; others are looked at one by one.
    self.forms = {
      form: match_case(form, entry)
      if entry and isinstance(entry, str)
      else entry
      for word, entry in entries.items()
      for form in (word, word.upper(), word[:1].upper() + word[1:])
      if form not in ('ms', 'MS')  # milliseconds, manuscripts
    }
    for word, rule in entries.items():
      if callable(rule) and word in getattr(rule, 'small', ()):
        new = write(rule(word, 0, len(word)), word)
        self.forms[word] = rule if new == word else new
    # Phrases and words with a mark in them are tried at their first word.
    bodies: dict[str, list[str]] = {}
    for word in sorted(entries, key=len, reverse=True):
      head, *rest = re.findall(r'[^\W_]+', word) or [word]
      if rest or _ends_in_mark(word):
        bodies.setdefault(head, []).append(word)
        for form in (head, head.upper(), head.title()):
          self.forms.pop(form, None)  # the longest phrase comes first
    self.phrases = {
      head: (_one_of(each, _NO_AGE if head == 'old' else ''), each)
      for head, each in bodies.items()
    }
    for name in self.called.keys() - self.entries.keys() - self.phrases.keys():
      if len(name) > 1:
        self.forms[name[:1].upper() + name[1:]] = people.NAME
        if name in self.called.small:
          self.forms[name] = people.NAME
    # Small letters make these another word: will, may, hope.
    self.plain = self.called.keys() - self.called.small - self.entries.keys()
    self.plain -= self.phrases.keys()

  def keys(self) -> set[str]:
    """Every word that a scan must stop at."""
    # Of a phrase the first word alone: "mr. speaker" asks for no speaker.
    phrases = {one for _, each in self.phrases.values() for one in each}
    words = self.entries.keys() - phrases | self.phrases.keys()
    words |= self.called.keys()
    return words | {unicodedata.normalize('NFD', word) for word in words}

  def hits(self, text: str, starts: list[int], ends: list[int]) -> list[Hit]:
    """(start, end, word, entry) of the candidates that are listed words."""
    result = []
    position = 0
    plain, known = self.plain, self.forms.get
    guarded = '#' in text or '@' in text or '_' in text or '/' in text
    closed = ')' in text
    inside = None
    for start, end in zip(starts, ends):
      if start < position:
        continue
      word = text[start:end]
      entry = known(word)
      if entry is None:
        if word in plain:
          continue
        end, word, entry = self._look(text, start, end)
        if entry is None:
          continue
      if guarded or (closed and text[start - 1] == ')'):
        inside = inside or _addressed(text)
        if _is_guarded(text, start, end, self.handles) or inside(start, end):
          continue
      result.append((start, end, word, entry))
      position = end
    return result

  def _look(self, text: str, start: int, end: int):
    """(end, word, entry) of a phrase, a name or a word in a rare form."""
    word = text[start:end]
    low = word.lower()
    if not low.isascii():
      low = unicodedata.normalize('NFC', low)
    pattern, phrases = self.phrases.get(low, (None, ()))
    match = pattern and pattern.match(text, start)
    fixed = match and fixed_names.has(text, start, low, small=False)
    if match and match.lastindex and not fixed:
      entry = self.entries[phrases[match.lastindex - 1]]
      if isinstance(entry, str):
        entry = match_case(match[0], entry)
      return match.end(), match[0], entry
    entry = self.entries.get(low)
    if entry is None and self.called:
      if self.called.has(word) or (word == low and low in self.called.small):
        return end, word, people.NAME
    if isinstance(entry, str) and entry:
      entry = match_case(word, entry)
      if not unicodedata.is_normalized('NFC', word):
        entry = unicodedata.normalize('NFD', entry)
    if low == 'ms' and not _is_title(text, start, end):
      entry = None
    return end, word, entry


def _one_of(phrases: list[str], before: str) -> re.Pattern:
  """Finds the first of the phrases that stands there, each a group."""
  # Of ladies' the mark is an owner's, but not of 'ladies'.
  free = lambda phrase: r'(?<![‘\x27])' if phrase[-1] in "'’" else ''
  each = '|'.join(f'({free(one)}{re.escape(one)})' for one in phrases)
  body = each.replace("'", "['’]")
  return re.compile(rf'{before}(?:{body})(?!\w)', re.IGNORECASE)


def _ends_in_mark(word: str) -> bool:
  """Whether a word is more than its letters: a$$, mr."""
  last = word[-1:]
  return bool(last) and not (last.isalnum() or unicodedata.combining(last))


def _is_title(text: str, start: int, end: int) -> bool:
  """Whether ms is the title of a name ("ms baker said"), no millisecond."""
  before, after = last_word(text, start), next_word(text, end)[0]
  if text[end : end + 1] == '.':
    after = next_word(text, end + 1)[0]
  return (
    text[start:end] == 'ms'
    and text[:1].islower()
    and not text[max(0, start - 24) : start].rstrip()[-1:].isdigit()
    and not before.isdigit()
    and after.isalpha()
    and after not in SETS.enders
  )


def _is_guarded(text: str, start: int, end: int, handles: bool) -> bool:
  """Whether a word is part of a handle or hashtag, or half of another."""
  if text[start - 1 : start] == '_' and text[start - 2 : start - 1].isalnum():
    return True
  if text[end : end + 1] == '_' and text[end + 1 : end + 2].isalnum():
    return True
  if start and text[start - 1] in '#@' and not handles:
    return True
  return text[start - 1 : start] in ('/', ')') and bool(
    _HALF.search(text, max(0, start - 4), start)
  )


def _addressed(text: str) -> Callable[[int, int], bool]:
  """Whether a word is part of a link or mail address; asked from left to right.

  Of what stands between two blanks it looks once, however many words it has.
  """
  right, verdict = 0, False

  def inside(start: int, end: int) -> bool:
    nonlocal right, verdict
    if end > right:
      begin = text.rfind(' ', 0, start) + 1
      right = text.find(' ', end)
      right = len(text) if right < 0 else right
      verdict = _ADDRESS.search(text, begin, right) is not None
      if ' ' in text[start:end]:  # a phrase: the next word has fewer neighbours
        right = start
    return verdict

  return inside
