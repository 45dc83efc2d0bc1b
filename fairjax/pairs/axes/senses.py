"""Whether a word of an axis is said of people, by its neighbours.

Poor drivers are bad at it, blind faith is no disability, an English teacher
teaches a tongue, and my kids are offspring.
"""

import re
from collections.abc import Sequence

from fairjax.data.axes.table import Word
from fairjax.pairs.axes import people
from fairjax.pairs.swapping.neighbours import (
  ENDERS,
  LY_NOUNS,
  NUMBERS,
  last_word,
  next_word,
  words_of,
)

ACTS = words_of("""
say says said go goes went come comes came get gets got make makes made take
takes took give gives gave think thinks thought know knows knew want wants
wanted need needs live lives lived work works worked tell tells told ask asks
feel feels felt kill kills killed run runs ran vote votes voted believe believes
believed try tries tried lose loses lost win wins won keep keeps kept let lets
find finds found use uses see sees saw commit commits hate hates hated love
loves loved support supports become pay pays paid die dies died left left suffer
suffers deserve deserves speak speaks spoke write writes wrote ain't who'd
convicted accused attacked arrested fired living trying going being having
getting saying making committing coming moving claiming elected appointed
remain remains seem seems look looks face faces hold holds held drive drives
blow blows shoot shoots shot attack attacks murder murders rape rapes marry
marries practise practice worship pray prays please everywhere only
bought told met brought led began felt stood sat ate drank slept heard fell
fought grew drew spent taught built sent caught chose wore broke rode sang
""")
BE = words_of("""
am is are was were be been being i'm you're he's she's we're they're who's
isn't aren't wasn't weren't im ur youre hes shes theyre become becomes became
""")
HEDGES = words_of("""
not also just so too very really openly actually both all only even still now
probably clearly obviously half part originally a bit totally completely
themselves himself herself myself yourself legally either neither
""")
SUBJECTS = words_of("""
i you he she we they who everyone everybody someone somebody anyone anybody
nobody
""")
AFTER_PREDICATE = words_of("""
and or but because so who too as than if when while since like though although
nor yet then myself now anyway
""")
BEFORE_NOUNS = words_of("""
egg tooth teeth tennis dress
""")
# What one is poor at: of a skill, no purse.
SKILLS = words_of("""
candidate candidates driver drivers musician musicians actor actors actress
singer singers writer writers player players teacher teachers leader leaders
coach coaches manager managers president presidents judge judges director
directors editor editors speaker speakers loser losers choice student students
host sport sports governor mayor politician politicians parent
crowd crowds audience audiences scholar scholars workman workmen
""")
# Who does a thing, and may do it poorly: a poor surgeon.
_DOER = re.compile(r'.*(?:er|or|ist|ian|eon|ess)s?')
_NO_DOER = words_of("""
laborer laborers labourer labourers villager villagers voter
voters settler settlers renter renters sharecropper sharecroppers prisoner
prisoners foreigner foreigners teenager teenagers mother mothers father fathers
brother brothers sister sisters daughter daughters neighbor neighbors neighbour
neighbours commoner commoners
""")
# What one has more or less of, and may be said to be for that alone.
GRADED = words_of("""
poor impoverished penniless destitute needy low-income lower-income rich wealthy
affluent well-off well-to-do moneyed
""")
# Severely disabled, developmentally and physically disabled, the very rich; and
# words cut in two: the middle and upper class.
DEGREE = re.compile(
  r'\b(?:very|too|extremely|incredibly|fairly|quite|severely|profoundly|'
  r'completely|totally|partially|legally|mildly|highly|seriously|mentally|'
  r'physically|developmentally|intellectually|cognitively|emotionally|visually|'
  r'newly|recently|chronically|terminally|permanently|temporarily|'
  r'congenitally|adventitiously|educationally|socially|genetically|learning)'
  r'(?:,? (?:and|or|and/or|&))? $|'
  r'\b(?:lower|middle|upper|working|low|moderate|high)-?,? (?:and|or|to) $',
  re.IGNORECASE,
)
MORE = re.compile(
  r'\b(?:more|most|less|least|so|as|how|relatively|increasingly|'
  r'comparatively|\w+ingly|super|obscenely) $',
  re.IGNORECASE,
)
# A tongue is taught and written: an English teacher, Chinese characters.
TAUGHT = words_of("""
teacher teachers professor professors lecturer lecturers instructor instructors
tutor tutors major majors student students scholar scholars translator
translators character characters speaker speakers author editor editors
""")
_PITIED = words_of('those these you my your our his her their')
KIN = words_of("""
son sons daughter daughters brother brothers sister sisters child children
mother father nephew nephews niece nieces cousin cousins twin twins sibling
siblings stepson stepdaughter
""")
# Blind with anger, deaf to reason: where an insult or a fault stands beside.
FIGURATIVE = words_of('blind deaf crippled cripple paralyzed paralysed')
# Who follows blindly.
_FOLLOWERS = words_of("""
supporter supporters follower followers believer believers fan fans voter voters
democrat democrats republican republicans liberal liberals conservative
conservatives american americans loyalist loyalists partisan partisans
""")
# Words for people that are adjectives as well: a disabled American tank.
_BOTH = words_of("""
american canadian conservative liberal radical moderate male female minority
human native
""")
_JOINED = re.compile(r'(?:,? (?:and|or|&)|,|/) ?(\w[\w-]*)')
OWNER = re.compile(
  r"(?:\w['’]s?|\b(?:my|your|his|her|its|our|their|own|whose|ur))$", re.I
)
AGES = words_of('young old older younger elderly teenage little small aged')
_HAVING = words_of("""
have has had having raise raising raised bear bore keep keeping want no with
get gets got getting expecting
""")
# An old family is no aged one.
_LASTS = words_of("""
family families tribe tribes race races gang gangs generation generations
community communities household households
""")
# Where these are named, children are somebody's.
_COUPLE = re.compile(
  r'\b(?:husbands?|wife|wives|spouses?|marriages?|married|divorces?|divorced|'
  r'survived by|pregnan\w+|babies|stepmother|stepfather|in-laws?)\b',
  re.IGNORECASE,
)
OF_AGE = re.compile(
  r'\b(?:under|over|at|ages?|between) (?:only )?(?:the )?(?:ages? )?(?:of )?'
  r'\d+\b(?! ?%)|\b(?:are|be) (?:like|about|only|just) \d{1,2}\b|'
  r'\b(?:was|is|were|turned) (?:only |just )?\d{1,2}(?=[,.;]| and\b| when\b)',
  re.IGNORECASE,
)
# One of six children, the youngest of them, a mother of two children.
_OF_THEM = words_of("""
one two three youngest oldest eldest first second third mother father parent
parents stepmother stepfather couple
""")
_OWNED = ("'", "'s", '’', '’s')  # celebrities ' children, in corpora
_WED = words_of('wife husband spouse wives husbands')
_SENTENCE = re.compile(r'[.!?\n]+(?:\s|$)')


def sentence(text: str, at: int) -> str:
  """The sentence that holds a place, as marks cut it."""
  before = [m.end() for m in _SENTENCE.finditer(text, 0, at)]
  after = _SENTENCE.search(text, at)
  return text[before[-1] if before else 0 : after.start() if after else None]


def fits(text: str, start: int, low: str, one: Word, noun: str, own) -> bool:
  """Whether a word before one for people says what they are."""
  before = last_word(text, start).lower()
  if noun in own or (low in AGES and (noun in KIN or noun in _LASTS)):
    return False
  if low in FIGURATIVE and noun in _FOLLOWERS:
    return False
  if low == 'poor':  # poor drivers; those poor cops; my poor, innocent …
    if before in _PITIED or text[start + len(low)] == ',':
      return False
    several = noun.endswith('s') or noun in ('people', 'men', 'women', 'folk')
    several |= noun == 'children'
    one_of = before in ('a', 'an', 'another', 'every', 'each')
    doer = noun in SKILLS or (_DOER.fullmatch(noun) and noun not in _NO_DOER)
    return not doer and (several or one_of)
  tongue = one.people and one.text[:1].isupper()
  return not (tongue and noun in TAUGHT)


def is_person(text: str, end: int, before: str, after: str, one: Word) -> bool:
  """A counted word that is a noun: no tongue, and no first of adjectives."""
  if after.lower() == 'of' or (after[:1].isupper() and not after.isupper()):
    return False  # the most American of cities, the Australian Under 23
  tongue = one.people and one.text[:1].isupper()
  if tongue and before.lower() in people.POSSESSIVE:
    return False  # my German is rusty
  # The Italian, French and Slavic operas.
  listed = _JOINED.match(text, end)
  return not listed or not (
    listed[1][0].isupper() or listed[1].lower() in people.DESCRIBING
  )


def _before(text: str, start: int) -> list[str]:
  """The words before a place, but for HEDGES right before it."""
  words = text[max(0, start - 60) : start].lower().replace('’', "'").split()
  while words and words[-1] in HEDGES:
    words.pop()
  return words


def is_predicate(text: str, start: int) -> bool:
  """She is (also) Canadian: behind a form of be."""
  words = _before(text, start)
  return bool(words) and (
    words[-1] in BE or words[-1].endswith(("'s", "'m", "'re"))
  )


def is_no_noun(low: str, before: str = '') -> bool:
  """Whether a word ends the phrase before it: no noun, as far as we know."""
  if not low or low in ENDERS or low in ACTS or low in NUMBERS:
    return True
  if low.endswith(("n't", 'n’t')) or low in AFTER_PREDICATE:
    return True
  if low.endswith('ly') and low not in LY_NOUNS:
    return True
  one = before in ('a', 'an', 'another', 'every', 'each', 'one')
  return one and low.endswith('s') and not low.endswith('ss')


def before_people(text: str, end: int, described=frozenset()) -> str:
  """The word for people that follows, behind others that describe; or ''."""
  at = end
  for _ in range(4):
    joined = _JOINED.match(text, at)
    word, stop, _ = next_word(text, at)
    low = word.lower()
    if low in people.nouns() and low not in ENDERS:
      follows = next_word(text, stop)[0].lower()
      if low not in _BOTH or is_no_noun(follows, ''):
        return low
      at = stop
      continue
    if joined and (
      joined[1].lower() in described or joined[1].lower() in people.DESCRIBING
    ):
      at = joined.end()
      continue
    if not low or (low not in people.DESCRIBING and low not in described):
      return ''
    at = stop
  return ''


def is_said(text: str, start: int, before: str, after: str) -> bool:
  """He is black, they were poor: of somebody, and nothing follows."""
  if (after and after not in AFTER_PREDICATE) or before.lower() in ('a', 'an'):
    return False  # he is a poor, pallid wretch
  words = _before(text, start)
  if not words or words[-1] not in BE:
    return False
  verb = words.pop()
  if "'" in verb or verb in ('am', 'im', 'hes', 'shes', 'youre', 'theyre'):
    return not verb.startswith(('is', 'are', 'was', 'were')) or _who(words)
  while words and words[-1] in HEDGES:
    words.pop()
  return _who(words)


def _who(words: Sequence[str]) -> bool:
  return bool(words) and (
    words[-1].strip('"(') in SUBJECTS or words[-1].strip('"(') in people.nouns()
  )


def is_counted(text: str, start: int, before: str) -> bool:
  """Whether an article, behind others that describe, makes it a noun."""
  low = before.lower()
  at = start
  for _ in range(2):
    if low in people.DETERMINERS or low in people.POSSESSIVE:
      return low not in ('some', 'no', 'all', 'either', 'neither')
    if low not in people.DESCRIBING:
      return False
    at = text.rfind(before, 0, at)
    before = last_word(text, at)
    low = before.lower()
  return low in people.DETERMINERS


def are_people(text: str, start: int, end: int, before: str) -> bool:
  """Plurals that are things or offspring too: whites, kids."""
  low = before.lower()
  if low in BEFORE_NOUNS or is_offspring(text, start):
    return False
  if low in AGES or re.match(r' (?:and \w+ )?of\b', text[end : end + 16]):
    return False
  if not AGES.isdisjoint(text[max(0, start - 24) : start].lower().split()[-2:]):
    return False
  if OF_AGE.search(sentence(text, start)):
    return False
  if any(low in known for known in (ENDERS, people.DESCRIBING, ACTS, ('',))):
    return True
  return low.endswith(('ing', 'ed', 'ly'))


def is_child(text: str, start: int, before: str) -> bool:
  """A boy that is nobody's: behind an article, and no exclamation."""
  low = before.lower()
  if is_offspring(text, start) or low in AGES:
    return False
  far = last_word(text, text.rfind(before, 0, start)).lower() if low else ''
  if low in people.DESCRIBING:
    return far not in AGES
  if far in _HAVING:
    return False
  return low in people.DETERMINERS or low in ('and', 'or', 'like', 'as', 'of')


_SKIPPED = words_of('following and or out up the a an any some more many')


def is_offspring(text: str, start: int) -> bool:
  """My kids, her two children, Anna's boys, they have two young children."""
  words = text[max(0, start - 60) : start].replace(',', ' ').split()
  for at, word in reversed([*enumerate(words)][-6:]):
    low = word.lower()
    if OWNER.search(word) or word in _OWNED or low in _HAVING or low in _WED:
      return True
    if low == 'of':
      return at > 0 and words[at - 1].lower() in _OF_THEM
    if low in _SKIPPED or low in NUMBERS or low.endswith('ed'):
      continue
    if low not in people.DESCRIBING and 'and' not in words[at + 1 : at + 3]:
      break  # has a life and children
  return bool(_COUPLE.search(sentence(text, start)))
