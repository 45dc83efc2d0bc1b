"""Pronoun rules: her is his or him; his is her or, alone, hers.

Rules on the words beside the pronoun. They read `his` and `her` in one place
alike, so that a swap of a swap leads back wherever the sentence itself tells.
"""

import re

from fairjax.pairs.swapping import neighbours as near
from fairjax.pairs.swapping.neighbours import ENDERS, last_word, next_word

Row = tuple[str, str, str]  # male, female, neutral

POSSESSIVE: Row = ('his', 'her', 'their')
OBJECT: Row = ('him', 'her', 'them')
ALONE: Row = ('his', 'hers', 'theirs')

_BOTH = re.compile(r'\s*(?:/|\band\b|\bor\b|&)\s*(\w+)', re.IGNORECASE)
_BOTH_BEFORE = re.compile(r'\b(his|her)(?:/| and | or | & )$', re.IGNORECASE)
# "her and Katie's divorce": both are owners. A pronoun's 's is a verb.
_OWNERS = re.compile(
  r' (?:and|or|&) (?:(?:the|my|your|our|their|his|her) )?(?:[\w-]+ ){0,2}'
  r"(?!(?:he|she|it|that|who|what|there|here|let)['’])[\w-]+"
  r"(?:['’]s|s['’]) [^\W\d]",
  re.IGNORECASE,
)
_QUOTED = re.compile(r' (?:["“‘]|``)')
_LISTED = re.compile(r', ?(?:(?:and|but) )?([a-z]+(?:-[a-z]+)*)\b(?=,? [a-z])')

# Words before and after a pronoun that rules look at, beside those in -ly.
KNOWN_BEFORE = near.PREPOSITIONS | near.VERBS
KNOWN_AFTER = ENDERS | near.EITHER | near.BEFORE.keys()


def his(text: str, start: int, end: int) -> Row:
  """her for a possessive, hers where it stands alone."""
  after = next_word(text, end)
  return ALONE if _stands_alone(text, start, end, 'her', after) else POSSESSIVE


def her(text: str, start: int, end: int) -> Row:
  """his for a possessive, him for an object."""
  after = next_word(text, end)
  if _stands_alone(text, start, end, 'his', after):
    return OBJECT
  before = last_word(text, start).lower()
  if before in near.PREPOSITIONS:
    return OBJECT if _in_clause(before, text, after) else POSSESSIVE
  if before in near.VERBS and _object_of(before, text, end, after):
    return OBJECT
  return POSSESSIVE


def _paired(text: str, start: int, end: int, partner: str, word: str) -> bool:
  """Whether `/`, `and` or `or` joins it to another owner: his or her, Kate's.

  With `/` alone the partner must be the other pronoun. `word` is the next one
  in small letters.
  """
  if text[start - 1 : start] == '/' or text[start - 2 : start - 1] in 'dDrR&':
    before = _BOTH_BEFORE.search(text[max(0, start - 8) : start])
    if before and before[1].lower() == partner:
      return True
  if word not in ('', 'and', 'or'):
    return False
  after = _BOTH.match(text, end)
  if after and after[1].lower() == partner:
    return True
  return bool(_OWNERS.match(text, end))


def _stands_alone(
  text: str, start: int, end: int, partner: str, after: tuple[str, int, bool]
) -> bool | None:
  """Whether the phrase ends with the pronoun; None where a verb must tell.

  `after` is the next word.
  """
  word, stop, hyphen = after
  if not word:
    if text[end : end + 1] == '-' and text[end + 1 : end + 2].isalpha():
      return False
    if text[end : end + 2].lower() in ("'s", '’s'):
      return False
    return not _paired(text, start, end, partner, '')
  low = word.lower()
  if hyphen:
    return False
  if word != low and text[start + 1 : end].islower():  # "her Majesty", not HER
    return low == 'i'
  if low in ENDERS:
    return not _paired(text, start, end, partner, low)
  if text[start - 2] == 'f' and _is_reduced(text, start, low, stop):
    return True
  if low in near.BEFORE:  # "his every whim", but "met her every day"
    return next_word(text, stop)[0].lower() in near.BEFORE[low] or None
  if not _either(low):
    return None
  if text[start].isupper() and text[start + 1 : end].islower():
    return False  # "Her long, quiet life": no object begins a sentence
  while _either(low):
    skipped, place = low, stop
    word, stop, hyphen = next_word(text, stop)
    low = word.lower()
    if hyphen:
      return False
  if low in ('and', 'or') and skipped in near.ADJECTIVES:
    return None  # "his long and active life", but "made her happy and rich"
  if not low and skipped in near.ATTRIBUTES:
    enumeration = _LISTED.match(text, place)  # "his long, beautiful hair"
    if (
      enumeration
      and enumeration[1] not in ENDERS
      and not _either(enumeration[1])
    ):
      return None
  return not low or low in ENDERS


def _is_reduced(text: str, start: int, word: str, stop: int) -> bool:
  """a friend of his named Lola, a photo of her taken in May."""
  if text[start - 3 : start].lower() != 'of ' or word in near.ED_NOUNS:
    return False
  if word in ('named', 'called'):
    return True
  if word in ('taken', 'written', 'known', 'made') or word.endswith('ed'):
    return _closes(text, stop)
  return False


def _either(word: str) -> bool:
  """Whether the word after `word` tells what the pronoun is."""
  if word in near.EITHER:
    return True
  return word.endswith('ly') and word not in near.LY_NOUNS


def _closes(text: str, end: int) -> bool:
  """Whether no noun can follow a word that ends at `end`."""
  after = next_word(text, end)[0]
  return not after or after.lower() in ENDERS


def _object_of(
  verb: str, text: str, end: int, following: tuple[str, int, bool]
) -> bool:
  """Whether her is what `verb` acts on, though a noun could follow."""
  word, stop, hyphen = following
  if hyphen or not word:
    return False
  after = next_word(text, stop)[0].lower()
  closes = not after or after in ENDERS
  if word != word.lower():  # "called her Ada", not "her Majesty"
    if verb in near.TELL and after in near.FINITE:
      return True
    return verb in near.NAME and verb not in near.MAKE
  if verb in near.NAME - near.MAKE and _QUOTED.match(text, end):
    return True
  if word in ('back', 'home'):
    return verb in near.MOVE
  if verb in near.WISH:
    return True
  if verb in near.ALLOW and word not in near.HELD:
    return word in near.BARE_VERBS or (closes and not word.endswith('s'))
  if word.isdigit() or word in near.NUMBERS:
    if verb in near.GIVE:
      return word in near.NUMBERS or after in near.AMOUNTS
    return verb in near.TAKE and after in near.TIMES
  if verb in near.GIVE and not (verb in near.TELL and word in near.SHOWN):
    if word in near.GIFTS and closes:
      return True
    if after in near.GIFTS and not word.endswith('est'):  # her greatest fame
      return True
  if verb in near.TAKE and word in near.TIMES:
    return True
  if verb in near.NAME and (word in near.ROLES or word == 'names'):
    return closes
  if verb in near.RANK and word in near.ORDINALS:
    return closes
  if word in near.CAPTIVE:
    return verb in near.KEEP | near.MOVE
  if verb in near.LET and word in near.BARE_VERBS:
    # "made her smile.", but "saw her smile on …" and "saw her work ethic"
    return word not in near.NOUNS_TOO or (
      closes and after not in ('in', 'of', 'on', 'to') and word != 'return'
    )
  if verb in near.LET | near.KEEP | near.JUDGE:
    if _is_state(verb, word, text, stop):
      return True
  return verb in near.KEEP and _does(verb, word, closes)


def _in_clause(
  preposition: str, text: str, following: tuple[str, int, bool]
) -> bool:
  """of her being, by her taken; with her gone: a clause, not a noun."""
  word, stop, hyphen = following
  if hyphen:
    return False
  if word == 'being':
    return not _closes(text, stop)
  if preposition == 'with':
    if word in near.GONE:
      return _closes(text, stop)
    return word.endswith('ing') and _does('with', word, _closes(text, stop))
  if preposition == 'by' and word.endswith('ed'):
    return word not in near.ED_NOUNS and _closes(text, stop)
  return False


def _is_state(verb: str, word: str, text: str, stop: int) -> bool:
  """kept her late, made her extremely sad: an adjective ends the clause."""
  graded = word in near.DEGREES
  if graded or (word.endswith('ly') and word not in near.LY_NOUNS):
    word, stop, hyphen = next_word(text, stop)
    if hyphen or not word:
      return False
  if not _closes(text, stop):
    return False
  if graded and verb in near.MAKE:
    return True
  if word in near.ADJECTIVES or word in near.STATES:
    return True
  # A suffix tells an adjective only after verbs that ask for one.
  asked = verb in near.MAKE | near.JUDGE and word not in near.ED_NOUNS
  return asked and word.endswith(near.SUFFIXES)


def _does(verb: str, word: str, closes: bool) -> bool:
  """kept her waiting, heard her singing; with her standing there."""
  if word.endswith('ing'):
    if word in near.ACTIVITIES:
      return closes and verb in near.PERCEIVE
    return word not in near.ING_NOUNS and (verb in near.CATCH or closes)
  return word.endswith('ed') and word not in near.ED_NOUNS and closes
