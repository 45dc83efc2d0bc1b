"""First names of persons among capitalised words, by rules.

A surname stays ("Emma Thomas", and every later "Thomas" of that text), a place
stays ("James Street", "San Jose"), and a name that is a common word (Will,
Hope, May, Virginia) is a person only where its neighbours say so. One mention
that says so counts for the whole text.
"""

from collections.abc import Container

from fairjax.pairs.cues import found
from fairjax.pairs.swapping import fixed_names
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

SPECIAL = SETS.name_words | SETS.places | SETS.offices
_NEVER_ALONE = (
  SETS.places - SETS.persons_too - SETS.offices
)  # without a title or surname


def choose(
  text: str,
  candidates: list[tuple],
  names: Container[str],
  others: bool = False,
) -> list[tuple]:
  """Those of (start, end, word, NAME) that are first names of persons.

  `others` says that the text has more words of gender: in a text of small
  letters, that is what tells a name.
  """
  sure, likely = set(), []
  surnames: set[str] = set()
  others = others and text[:1].islower()
  for hit in candidates:
    start, end, word, _ = hit
    low = word.lower()
    if low in SETS.awards and found('award', text, start, end):
      continue
    if fixed_names.has(text, start, low):
      surnames.add(low)
      continue
    if word == low:
      verdict = _small_letters(text, start, end, others)
    else:
      verdict = _by_context(text, start, end, low, names)
    if verdict == 'no':
      continue
    if verdict == 'surname':
      surnames.add(low)
      continue
    if verdict == 'person':
      sure.add(low)
    likely.append((low, hit))
  return [
    hit
    for low, hit in likely
    if low in sure or (low not in surnames and low not in SPECIAL)
  ]


def _capital(word: str) -> bool:
  return word[:1].isupper() and word.lower() not in SETS.enders


def _by_context(
  text: str, start: int, end: int, low: str, names: Container[str]
) -> str:
  """'person', 'maybe' (others of the text decide), 'surname' or 'no'."""
  after = next_word(text, end)[0]
  before = last_word(text, start)
  # Between two words and blanks it is part of nothing but a name.
  if before in SETS.particles or (
    not (before and after and text[start - 1] == ' ')
    and _inside(text, start, end, before)
  ):
    return 'no'
  then, since = after.lower(), before.lower()
  upper = before[:1].isupper()
  if upper and since in SETS.place_before:
    return 'no'
  family = after[:1].isupper()
  if family:
    if then in SETS.place_after:  # "Jane Hall said", but "the Crystal Palace"
      if low in SPECIAL or then not in SETS.surnames_too:
        return 'no'
    family = then not in SETS.enders and not (
      low in SETS.openers and then in names
    )
  titled = since in SETS.titles if before else _abbreviated(text, start)
  bare = not family and not titled
  if bare:
    if low in _NEVER_ALONE or (low in SETS.offices and then not in SETS.acts):
      return 'no'  # most dates and places
  if upper and bare and since not in SETS.enders and not before.isupper():
    starts_sentence = _opens(text, start - len(before) - 1)
    asks = starts_sentence and since in SETS.openers  # Will John come?
    known = since in names
    if (known or not starts_sentence) and not asks:
      return 'surname'
  if low not in SPECIAL:
    return 'person' if titled or family else 'maybe'
  if titled:  # "Mr Cooper" has his surname, "Mr Mark" may have not
    title = since or _dotted(text, start)
    surname = low in SETS.places and not family and title in SETS.courtesy
    return 'surname' if surname else 'person'
  if text[start:end].isupper():
    return 'no'
  # A word, a place, a season, an office: the neighbours must say a person.
  if _is_thing(text, start, low, before, after):
    return 'no'
  acts = then in SETS.acts
  if low in SETS.offices:
    if low in SETS.titles and then in names:
      return 'no'  # Justice Ruth Ginsburg
    return 'person' if family or acts else 'no'
  if low in SETS.places:
    if low in SETS.persons_too and (acts or _is_named(text, start, end, names)):
      return 'person'
    return 'person' if family and not _opens(text, start) else 'no'
  if _opens(text, start):
    if low in SETS.openers and not family:
      return 'person' if acts else 'no'
    return 'person' if family or acts else 'maybe'
  return 'person'


def _small_letters(text: str, start: int, end: int, others: bool) -> str:
  """A name in small letters: 'person' where the row's other words say so."""
  before, after = last_word(text, start).lower(), next_word(text, end)[0]
  if _inside(text, start, end, before):
    return 'no'
  if before in SETS.determiners or before in SETS.place_before:
    return 'no'
  if others or before in SETS.titles or before in SETS.addressed:
    return 'person'
  after = after.lower()
  acts = (
    after in SETS.acts or after in SETS.persons_adverbs or after.endswith('ed')
  )
  return 'person' if acts else 'no'


def _inside(text: str, start: int, end: int, before: str) -> bool:
  """Part of another word, name or tongue: Don't, D'Angelo, mère de Marie."""
  mark = text[end : end + 1]
  if mark and mark in "'’-":
    tail = text[end + 1 : end + 2]
    if tail.isupper() if mark == '-' else tail in ('t', 'T'):
      return True
  mark = text[start - 1] if start > 1 else ' '
  if mark in "'’-" and (mark == '-' or text[start - 2].isalpha()):
    return True
  if before:
    return before in SETS.particles
  # A dot or nothing stands before: St. Louis, St . Louis
  return text[start - 2 : start] == '. ' and bool(found('saint', text, start))


def _is_thing(text: str, start: int, low: str, before: str, after: str) -> bool:
  """2016 Summer Olympics, the Rose Bowl, Chief Justice, Christian Studies."""
  if before.isdigit() or before.lower() in SETS.determiners:
    return True
  if low not in SETS.offices and (
    low not in SETS.places or low in SETS.persons_too
  ):
    return False
  if _capital(before) and before.lower() not in SETS.pet:
    return _opens(text, start - len(before) - 1) and not _capital(after)
  plural = after.lower()
  if not _capital(after) or plural in SETS.places:
    return False
  return plural.endswith('s') and not plural.endswith(('ss', 'is', 'us', 'es'))


def _is_named(text: str, start: int, end: int, names: Container[str]) -> bool:
  """Whether people are told of it: told Charlotte, Charlotte and Harry."""
  if last_word(text, start).lower() in SETS.addressed:
    return True
  at = text, start, end
  context = found('with_behind', *at), found('with_before', *at)
  for other in (match[1] for match in context if match):
    low = other.lower()
    if other[0].isupper() and low in names and low not in SETS.places:
      return True
  return bool(found('of_kin', *at))


def _opens(text: str, start: int) -> bool:
  """Whether a sentence (or line, or quotation) begins at `start`."""
  before = text[max(0, start - 6) : start].rstrip(' \t"“‘\'(*_[')
  if _abbreviated(text, start):
    return False
  return not before or before[-1] in '.!?:;\n…-–—'


def _abbreviated(text: str, start: int) -> bool:
  """Whether a dotted title stands before: Mr. James, Dr. Ruth."""
  return '.' in text[max(0, start - 2) : start] and (
    _dotted(text, start) in SETS.titles
  )


def _dotted(text: str, start: int) -> str:
  words = text[max(0, start - 12) : start].rsplit(None, 1)
  return words[-1].rstrip('.').lower() if words else ''
