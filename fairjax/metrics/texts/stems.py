"""Stems of English words by Porter's algorithm (1980), as ROUGE takes them.

With the departures of NLTK, whose stemmer ROUGE's usual code calls: a few
irregular words, y after a consonant, and -fulli and -logi.
"""

import functools
import itertools

VOWELS = frozenset('aeiou')
IRREGULAR = {
  word: stem
  for stem, words in {
    'sky': 'sky skies',
    'die': 'dying',
    'lie': 'lying',
    'tie': 'tying',
    'news': 'news',
    'inning': 'innings inning',
    'outing': 'outings outing',
    'canning': 'cannings canning',
    'howe': 'howe',
    'proceed': 'proceed',
    'exceed': 'exceed',
    'succeed': 'succeed',
  }.items()
  for word in words.split()
}
STEP2 = (
  ('ational', 'ate'), ('tional', 'tion'), ('enci', 'ence'), ('anci', 'ance'),
  ('izer', 'ize'), ('bli', 'ble'), ('alli', 'al'), ('entli', 'ent'),
  ('eli', 'e'), ('ousli', 'ous'), ('ization', 'ize'), ('ation', 'ate'),
  ('ator', 'ate'), ('alism', 'al'), ('iveness', 'ive'), ('fulness', 'ful'),
  ('ousness', 'ous'), ('aliti', 'al'), ('iviti', 'ive'), ('biliti', 'ble'),
  ('fulli', 'ful'),
)  # fmt: skip
STEP3 = (
  ('icate', 'ic'), ('ative', ''), ('alize', 'al'), ('iciti', 'ic'),
  ('ical', 'ic'), ('ful', ''), ('ness', ''),
)  # fmt: skip
STEP4 = (
  'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive '
  'ize'
).split()


def _consonant(word: str, i: int) -> bool:
  if word[i] in VOWELS:
    return False
  return word[i] != 'y' or i == 0 or not _consonant(word, i - 1)


def _size(stem: str) -> int:
  """m of [C](VC)^m[V]."""
  kinds = [_consonant(stem, i) for i in range(len(stem))]
  return sum(not a and b for a, b in itertools.pairwise(kinds))


def _has_vowel(stem: str) -> bool:
  return any(not _consonant(stem, i) for i in range(len(stem)))


def _doubled(word: str) -> bool:
  return (
    len(word) > 1 and word[-1] == word[-2] and _consonant(word, len(word) - 1)
  )


def _short(word: str) -> bool:
  """Ends with consonant, vowel, consonant, the last not w, x or y."""
  last = len(word) - 1
  if last == 1:
    return not _consonant(word, 0) and _consonant(word, 1)
  return (
    last > 1
    and _consonant(word, last - 2)
    and not _consonant(word, last - 1)
    and _consonant(word, last)
    and word[-1] not in 'wxy'
  )


@functools.lru_cache(1 << 16)
def stem(word: str) -> str:
  """The stem of a word in small letters.

  >>> [stem(word) for word in ('worked', 'happily', 'relational', 'skies')]
  ['work', 'happili', 'relat', 'sky']
  """
  if word in IRREGULAR:
    return IRREGULAR[word]
  if len(word) <= 2:
    return word
  for step in (_step1a, _step1b, _step1c, _step2, _step3, _step4, _step5):
    word = step(word)
  return word


def _step1a(word: str) -> str:
  if word.endswith('ies') and len(word) == 4:
    return word[:-1]
  for suffix, by in (('sses', 'ss'), ('ies', 'i'), ('ss', 'ss'), ('s', '')):
    if word.endswith(suffix):
      return word[: -len(suffix)] + by
  return word


def _step1b(word: str) -> str:
  if word.endswith('ied'):
    return word[:-3] + ('ie' if len(word) == 4 else 'i')
  if word.endswith('eed'):
    return word[:-1] if _size(word[:-3]) > 0 else word
  own = next(
    (word[: -len(s)] for s in ('ed', 'ing')
     if word.endswith(s) and _has_vowel(word[: -len(s)])), None
  )  # fmt: skip
  if own is None:
    return word
  if own.endswith(('at', 'bl', 'iz')):
    return own + 'e'
  if _doubled(own):
    return own if own[-1] in 'lsz' else own[:-1]
  return own + 'e' if _size(own) == 1 and _short(own) else own


def _step1c(word: str) -> str:
  own = word[:-1]
  if word.endswith('y') and len(own) > 1 and _consonant(own, len(own) - 1):
    return own + 'i'
  return word


def _step2(word: str) -> str:
  if word.endswith('alli') and _size(word[:-4]) > 0:
    return _step2(word[:-4] + 'al')
  for suffix, by in STEP2:
    if word.endswith(suffix):
      own = word[: -len(suffix)]
      return own + by if _size(own) > 0 else word
  if word.endswith('logi'):
    return word[:-1] if _size(word[:-3]) > 0 else word
  return word


def _step3(word: str) -> str:
  for suffix, by in STEP3:
    if word.endswith(suffix):
      own = word[: -len(suffix)]
      return own + by if _size(own) > 0 else word
  return word


def _step4(word: str) -> str:
  for suffix in STEP4:
    if word.endswith(suffix):
      own = word[: -len(suffix)]
      fits = _size(own) > 1 and (suffix != 'ion' or own[-1] in 'st')
      return own if fits else word
  return word


def _step5(word: str) -> str:
  if word.endswith('e'):
    own = word[:-1]
    if _size(own) > 1 or (_size(own) == 1 and not _short(own)):
      word = own
  if word.endswith('ll') and _size(word[:-1]) > 1:
    word = word[:-1]
  return word
