"""Pronoun rules: her is his or him; his is her or, alone, hers.

Rules on the words beside the pronoun. They read `his` and `her` in one place
alike, so that a swap of a swap leads back wherever the sentence itself tells.
"""

from fairjax.pairs.cues import found
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS

Row = tuple[str, str, str]  # male, female, neutral

POSSESSIVE: Row = ('his', 'her', 'their')
OBJECT: Row = ('him', 'her', 'them')
ALONE: Row = ('his', 'hers', 'theirs')


EITHER = SETS.adverbs | SETS.adjectives
KEEP = SETS.catch | SETS.see
# Verbs after which `her` may be an object though a noun-like word follows.
VERBS = {'with'}.union(
  *(SETS.let, SETS.give, SETS.take, KEEP, SETS.wish, SETS.move, SETS.naming),
  *(SETS.allow, SETS.tell, SETS.rank, SETS.judge, SETS.perceive),
  SETS.filming,
)
_SEEN = SETS.let | SETS.perceive
_CHANGED = SETS.let | KEEP | SETS.judge
_MOVED = KEEP | SETS.move
_NAMED = SETS.naming - SETS.make
_JUDGED = SETS.make | SETS.judge
_PAST = SETS.past_forms - SETS.past_forms_too - {'thought', 'felt', 'saw'}
_BARE = SETS.bare_verbs - SETS.nouns_too
_BEFORE_OBJECTS = SETS.determiners - {'that', 'this'}
_STATES = SETS.adjectives | SETS.states
_ONWARD = SETS.directions | SETS.numbers | {'to'}
_ATTRIBUTES = SETS.adjectives - SETS.states_only
_NOUNS = SETS.ed_nouns | SETS.suffix_nouns
_SUFFIXES = tuple('ful less able ible ous ive ish ier ic ed'.split())


def his(text: str, start: int, end: int) -> Row:
  """her for a possessive, hers where it stands alone."""
  after = next_word(text, end)
  if _acts(text, start, *after):
    return ALONE
  return ALONE if _stands_alone(text, start, end, 'her', after) else POSSESSIVE


def her(text: str, start: int, end: int) -> Row:
  """his for a possessive, him for an object."""
  after = next_word(text, end)
  if _stands_alone(text, start, end, 'his', after):
    return OBJECT
  before = last_word(text, start).lower()
  if before == 'to' and last_word(text, start - 3).lower().startswith('listen'):
    before = 'hear'
  if before in ('and', 'or') and (cue := found('with_him', text, start)):
    before = cue[1].lower()  # saw him and her arguing
  if before == 'from' and found('apart', text, start):
    before = 'except'
  if after[0] == 'best' and found('liked', text, start):
    return OBJECT if found('at_best', text, start, end) else POSSESSIVE
  if before in SETS.excepting and _goes_on(before, text, start, after):
    return OBJECT
  if before in SETS.prepositions:
    return OBJECT if _in_clause(before, text, after) else POSSESSIVE
  if before in VERBS and _object_of(before, text, end, after):
    return OBJECT
  return POSSESSIVE


def _acts(text: str, start: int, word: str, stop: int, hyphen: bool) -> bool:
  """his mentioned the strike; hers was gone, his untouched: no noun follows."""
  done = word.endswith('ed') and word not in SETS.ed_nouns
  acts = done or word in _PAST
  if hyphen or not (acts or word in _STATES):
    return False
  after, then, _ = next_word(text, stop)
  if acts and after in _BEFORE_OBJECTS:
    return True
  if acts and _graded(after) and not next_word(text, then)[0]:
    after, stop = '', then  # his rose beautifully.
  before = last_word(text, start).lower()
  joined = not before or before in SETS.contrasting
  if not joined or text[stop : stop + 1] == ',' or not _closes(text, stop):
    return False
  if acts and not after:  # but his thrived.
    return True
  return after not in ('and', 'or') and bool(found('ellipse', text, start))


def _paired(text: str, start: int, end: int, partner: str, word: str) -> bool:
  """Whether `/`, `and` or `or` joins it to another owner: his or her, Kate's.

  With `/` alone the partner must be the other pronoun. `word` is the next one
  in small letters.
  """
  if text[start - 1 : start] == '/' or text[start - 2 : start - 1] in 'dDrR&':
    before = found('both_before', text, start)
    if before and before[1].lower() == partner:
      return True
  if word not in ('', 'and', 'or'):
    return False
  after = found('both', text, start, end)
  other = after and after[1].lower() == partner
  return bool(other or found('owners', text, start, end))


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
  if low in SETS.enders or low.replace('’', "'").split("'")[0] in SETS.enders:
    return not _paired(text, start, end, partner, low)
  if text[start - 2] == 'f' and _is_reduced(text, start, low, stop):
    return True
  if low in SETS.before:  # "his every whim", but "met her every day"
    return next_word(text, stop)[0].lower() in SETS.before[low] or None
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
  if low in ('and', 'or') and skipped in SETS.adjectives:
    return None  # "his long and active life", but "made her happy and rich"
  if text[start - 3 : start].lower() == 'of ' and skipped in SETS.adverbs:
    if low in SETS.finite or low.removesuffix('s') in SETS.bare_verbs - {low}:
      return True  # a student of his now runs
  if not low and skipped in _ATTRIBUTES:
    enumeration = found('enumerated', text, start, place)
    if (
      enumeration
      and enumeration[1] not in SETS.enders
      and not _either(enumeration[1])
    ):
      return None
  return not low or low in SETS.enders


def _is_reduced(text: str, start: int, word: str, stop: int) -> bool:
  """a friend of his named Lola, a photo of her taken in May."""
  if text[start - 3 : start].lower() != 'of ' or word in SETS.ed_nouns:
    return False
  if word in ('named', 'called') or word in _PAST:  # a friend of his drove
    return True
  done = word in ('taken', 'written', 'known', 'made') or word.endswith('ed')
  return done and _closes(text, stop)


def _either(word: str) -> bool:
  """Whether the word after `word` tells what the pronoun is."""
  return word in EITHER or _graded(word)


def _graded(word: str) -> bool:
  """quietly, but no family."""
  return word.endswith('ly') and word not in SETS.ly_nouns


def _closes(text: str, end: int) -> bool:
  """Whether no noun can follow a word that ends at `end`."""
  after, stop, _ = next_word(text, end)
  if after in ('and', 'or', 'but'):  # found her battered but usable pen
    more, stop, _ = next_word(text, stop)
    told = more.endswith(_SUFFIXES[:-1]) and more not in SETS.bare_verbs
    if (more in _STATES or told) and not _closes(text, stop):
      return False
  return not after or after.lower() in SETS.enders


def _object_of(
  verb: str, text: str, end: int, following: tuple[str, int, bool]
) -> bool:
  """Whether her is what `verb` acts on, though a noun could follow."""
  word, stop, hyphen = following
  if hyphen or not word:
    return False
  after = next_word(text, stop)[0].lower()
  closes = _closes(text, stop)
  if word != word.lower():  # "called her Ada", not "her Majesty"
    if verb in SETS.tell and after in SETS.finite:
      return True
    taught = verb in SETS.give and word.lower() in SETS.tongues
    return (taught and closes) or verb in _NAMED
  if verb in _NAMED and found('quoted', text, end, end):
    return True
  if word in ('back', 'home'):
    if verb.startswith('help'):  # onto the pavement, but "her back and neck"
      return after in SETS.directions or after in ('to', 'in', 'on')
    given = verb in SETS.give and after in SETS.determiners
    return given or verb in SETS.move  # give her back her allotment
  if verb in SETS.wish:
    return True
  if verb in _SEEN and _graded(word):  # let her quietly finish
    act = next_word(text, stop)[1]
    if next_word(text, act)[0] in _BEFORE_OBJECTS:
      return True
    if after in SETS.bare_verbs:
      return after not in SETS.nouns_too or _is_act(after, text, act)
  thing = word in SETS.things_too and not closes  # let her phone ring
  if verb in SETS.allow and word not in SETS.held and not thing:
    return word in SETS.bare_verbs or (closes and not word.endswith('s'))
  if word.isdigit() or word in SETS.numbers:
    if verb in SETS.give:
      return word in SETS.numbers or after in SETS.amounts
    return verb in SETS.take and after in SETS.times
  if verb in SETS.give and not (verb in SETS.tell and word in SETS.shown):
    ended = word in SETS.gifts and closes
    if ended or (after in SETS.gifts and not word.endswith('est')):
      return True  # but her greatest fame
  if verb in SETS.take and word in SETS.times:
    return True
  named = verb in SETS.naming and word in SETS.roles
  if named or (verb in SETS.rank and word in SETS.ordinals):
    return closes
  if word in SETS.captive:
    return verb in _MOVED
  if verb in _SEEN and word in SETS.bare_verbs:
    helped = verb.startswith('help') and word not in SETS.things_too
    return helped or word not in SETS.nouns_too or _is_act(word, text, stop)
  if verb in SETS.filming and word in SETS.bare_verbs:
    return after in _BEFORE_OBJECTS
  if verb in _CHANGED and _is_state(verb, word, text, stop):
    return True
  return verb in KEEP and _does(verb, word, closes)


def _is_act(word: str, text: str, stop: int) -> bool:
  """Whether a word that is a noun too is what somebody was seen to do.

  "made her smile.", but "saw her smile on …" and "saw her work ethic".
  """
  after, end, _ = next_word(text, stop)
  low = after.lower()
  if low in SETS.possessive or low in SETS.after_acts:  # "tie her shoes"
    return True
  if (low in SETS.adverbs or _graded(low)) and word not in SETS.mostly_nouns:
    return True
  if low in _BEFORE_OBJECTS and not found('some_day', text, stop, stop):
    return True
  if word in SETS.seeming and low in _STATES:
    return True  # made her look old, saw her fall ill
  if word in SETS.things_too:  # "made her mark."
    return False
  if word in SETS.motions and (low in _ONWARD or low.isdigit()):
    return True
  if low == 'in' and word in SETS.sounds:
    return True
  if low == 'on':
    return word == 'knock'
  if low in ('and', 'or'):  # "her laugh and her cough"
    then = next_word(text, end)[0].lower()
    if then in SETS.possessive or then in SETS.determiners:
      return False
  closes = not low or low in SETS.enders
  return closes and low not in ('in', 'of', 'to') and word != 'return'


def _goes_on(
  before: str, text: str, start: int, following: tuple[str, int, bool]
) -> bool:
  """everyone but her left, people like her lie: a verb follows."""
  word, stop, hyphen = following
  while word.lower() in SETS.adverbs and not hyphen:
    word, stop, hyphen = next_word(text, stop)
  if hyphen or not word or word != word.lower():
    return False
  after = next_word(text, stop)[0].lower()
  closes = not after or after in SETS.enders or _either(after)
  if word in SETS.finite:
    return after != 'of'
  if word in SETS.past_forms:
    return closes or word not in SETS.past_forms_too
  if word.endswith('ed') and word not in SETS.ed_nouns:
    return closes
  forms = {word.removesuffix('s'), word.removesuffix('es')} - {word}
  if word in SETS.bare_verbs and after in _BEFORE_OBJECTS:
    return True
  if before != 'like':  # nobody but her speaks
    return not _BARE.isdisjoint(forms)
  subject = last_word(text, start - len(before) - 1).lower()
  if not subject or subject in SETS.wishers:
    return False
  return not _BARE.isdisjoint({word} if word in SETS.bare_verbs else forms)


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
    if word in SETS.gone:
      return _closes(text, stop)
    return word.endswith('ing') and _does('with', word, _closes(text, stop))
  if preposition == 'by' and word.endswith('ed'):
    return word not in SETS.ed_nouns and _closes(text, stop)
  return False


def _is_state(verb: str, word: str, text: str, stop: int) -> bool:
  """kept her late, made her extremely sad: an adjective ends the clause."""
  graded = word in SETS.degrees
  if graded or _graded(word):
    word, stop, hyphen = next_word(text, stop)
    if hyphen or not word:
      return False
  if not _closes(text, stop):
    return False
  if word in _STATES or (graded and verb in SETS.make):
    return True
  # A suffix tells an adjective only after verbs that ask for one.
  asked = verb in _JUDGED and word not in _NOUNS
  return asked and word.endswith(_SUFFIXES)


def _does(verb: str, word: str, closes: bool) -> bool:
  """kept her waiting, heard her singing; with her standing there."""
  if word.endswith('ing'):
    if word in SETS.activities:
      return closes and verb in SETS.perceive
    return word not in SETS.ing_nouns and (verb in SETS.catch or closes)
  return word.endswith('ed') and word not in SETS.ed_nouns and closes
