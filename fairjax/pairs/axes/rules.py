"""Where a word of an axis means people, and which form of it stands there.

Black is a colour, a child is somebody's, French is a tongue, and Christian a
first name. A word is exchanged where its neighbours say that it is of people:
a word for people follows (black men, black and white kids), or it is said of
somebody (he is black), or an article makes it one (an Asian who …). The rest
is left alone: counterfactuals should be right before they are many.
"""

import functools
import re
from collections.abc import Callable, Sequence

from fairjax.data.axes.table import Axis, Row, Word
from fairjax.pairs.axes import people
from fairjax.pairs.swapping.neighbours import (
  ENDERS,
  LY_NOUNS,
  NUMBERS,
  last_word,
  next_word,
  words_of,
)

Rule = Callable[[str, int, int], str | None]

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
# Plurals before these say what a thing is for: a girls basketball team.
THINGS = words_of("""
basketball football soccer hockey volleyball sports sport team teams league
school schools club clubs clothes toys toy book books movie movie's movies film
films show shows choir home homes party hospital section side cricket cup
high literature programme program programs
flick flicks flck horror bathroom bathrooms locker room rooms dorm college tweet
tweets night day trip
magazine group groups ward choir
""")
# What one is poor at: of a skill, no purse.
SKILLS = words_of("""
candidate candidates driver drivers musician musicians actor actors actress
singer singers writer writers player players teacher teachers leader leaders
coach coaches manager managers president presidents judge judges director
directors editor editors speaker speakers loser losers choice student students
host sport sports governor mayor politician politicians parent
""")
# A tongue is taught and written: an English teacher, Chinese characters.
TAUGHT = words_of("""
teacher teachers professor professors lecturer lecturers instructor instructors
tutor tutors major majors student students scholar scholars translator
translators character characters speaker speakers author editor editors
""")
_PITIED = words_of('those these you my your our his her their')
KIN = words_of("""
son sons daughter daughters brother brothers sister sisters child children
mother father nephew nephews niece nieces cousin cousins
""")
# Blind with anger, deaf to reason: where an insult or a fault stands beside.
FIGURATIVE = words_of('blind deaf crippled cripple paralyzed paralysed')
_FAULT = re.compile(
  r'\b(?:stupid\w*|idiot\w*|fools?|foolish|ignoran\w+|retard\w*|dumb|morons?|'
  r'sheep|emotionally|wil+fully|faith|hate|trump|partisan|so|too|either|mute|'
  r'unless|obvious\w*|truth|facts?)\b',
  re.IGNORECASE,
)
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
# Written with a capital by many, as of people: Black students.
CAPITAL = words_of("""
black blacks white whites brown deaf indigenous aboriginal
""")
# Straight is not what one comes out as, nor what has rights to win.
_OUT = re.compile(
  r'\b(?:openly|c[ao]me out|coming out|comes out|rights|slurs?|bashing|'
  r'closet\w*|marriages?|pride|agenda|scene|same-sex)\b',
  re.IGNORECASE,
)
_JOINED = re.compile(r'(?:,? (?:and|or|&)|,|/) ?(\w[\w-]*)')
_OWNER = re.compile(
  r"(?:\w['’]s?|\b(?:my|your|his|her|its|our|their|own|whose|ur))$", re.I
)
# ex-Muslim and anti-gay are of people still, Judeo-Christian is one word.
PREFIXES = words_of('anti ex non pro')
# What may stand behind "the poor and": else an adjective of a noun to come.
PAIRED = words_of("""
the powerful famous infirm sick weak vulnerable needy middle working disabled
helpless elderly young old poor rich
""")
AGES = words_of('young old older younger elderly teenage little small aged')
_YEARS = re.compile(r'\b(?:years?|yrs?)[- ]$', re.IGNORECASE)
_HAVING = words_of('have has had having raise raising raised bear want no with')
_PEOPLE = ('People', 'Men', 'Women', 'Person')
# As a child she sang, while still a teenager: a time of a life.
_STAGES = words_of("""
child kid boy girl teenager teen adolescent youngster toddler children kids boys
girls teenagers
""")
_STAGE = re.compile(
  r'\b(?:as|since|while|when|still|was)(?: (?:he|she|i|they) (?:was|were))?'
  r'(?: still| only| just)?(?: an?| the)?(?: small| little| young| mere)? $',
  re.IGNORECASE,
)
_OF_AGE = re.compile(r'\b(?:under|over|at|ages?) (?:the age of )?\d+\b(?! ?%)')
_SENTENCE = re.compile(r'[.!?\n]+(?:\s|$)')


def entries(
  axis: Axis, to: Callable[[int], int], strict: bool = False
) -> dict[str, object]:
  """word -> the rule that says what it becomes; `to` of its value.

  Where the target has no word of a form, the next value's is written, or,
  `strict`, nothing.
  """
  found: dict[str, tuple[int, dict[str, tuple[Word, Row]]]] = {}
  for word, value, one, row in axis.words():
    found.setdefault(word, (value, {}))[1].setdefault(row.form, (one, row))
  out: dict[str, object] = {}
  for word, (value, forms) in found.items():
    target = to(value)
    if target != value:
      out[word] = _rule(axis, word, (value, target), forms, strict)
  for phrase in axis.no:
    out[phrase] = _nothing
  return out


def _nothing(text: str, start: int, end: int) -> None:
  return None


def _rule(
  axis: Axis, low: str, way: tuple[int, int], forms: dict, strict: bool
) -> Rule:
  """What one word becomes where it stands; None leaves it, '' is unsure."""
  value = way[0]
  stays = pattern(axis.stays[value]) if axis.stays[value] else None
  described, own = _adjectives(axis), _singles(axis)

  def rule(text: str, start: int, end: int) -> str | None:
    form = _form(text, start, end, low, forms, described, own)
    if form is None:
      return None
    if stays is not None and stays.search(sentence(text, start)):
      return ''
    one, row = forms[form]
    new = _written(row, way, text, (start, end), strict)
    if not new:
      return ''
    return cased(text, start, text[start:end], one.text, new)

  return rule


@functools.cache
def pattern(words: frozenset[str]) -> re.Pattern:
  body = '|'.join(map(re.escape, sorted(words, key=len, reverse=True)))
  return re.compile(rf'(?<!\w)(?:{body})(?!\w)', re.IGNORECASE)


@functools.cache
def _adjectives(axis: Axis) -> frozenset[str]:
  return frozenset(
    w for w, _, _, row in axis.words() if row.form == 'adjective'
  )


@functools.cache
def _singles(axis: Axis) -> frozenset[str]:
  """Single words for people of one value: a young girl says it twice."""
  return frozenset(
    word
    for word, _, one, row in axis.words()
    if row.form in ('noun', 'nouns') and one.people and ' ' not in word
  )


def sentence(text: str, at: int) -> str:
  """The sentence that holds a place, as marks cut it."""
  before = [m.end() for m in _SENTENCE.finditer(text, 0, at)]
  after = _SENTENCE.search(text, at)
  return text[before[-1] if before else 0 : after.start() if after else None]


def cased(text: str, start: int, old: str, listed: str, new: str) -> str:
  """`new` as somebody writes it who wrote `old` for the listed word.

  Muslim → atheist and black → Asian, but where a text has muslim, asian.
  """
  if len(old) > 1 and old.isupper() and not (listed.isupper()):
    return new.upper()
  if old[0].islower():
    return new.lower() if listed[0].isupper() else new
  if (
    listed[0].isupper() and not opens(text, start) and not _titled(text, start)
  ):
    return new
  return new[:1].upper() + new[1:]


def opens(text: str, start: int) -> bool:
  """Whether a sentence begins at a place."""
  before = text[:start].rstrip(' \t"“‘\'(*_[')
  return not before or before[-1] in '.!?:;\n…'


def _titled(text: str, start: int) -> bool:
  """Whether words that need none have a capital too: Gay Men in Church."""
  before = last_word(text, start)
  return (
    before[:1].isupper()
    and before.lower() in ENDERS
    and (before not in ('I',) and not opens(text, start - len(before) - 1))
  )


def _form(
  text: str, start: int, end: int, low: str, forms: dict, described, own
) -> str | None:
  """The form that stands here; None where the word is not of people."""
  word = text[start:end]
  if text[end : end + 1] in ('-', '–') and text[end + 1 : end + 2].isalnum():
    return None
  if _YEARS.search(text, max(0, start - 7), start):  # eleven years old
    return None
  hyphen = start > 1 and text[start - 1] in '-–' and text[start - 2].isalnum()
  if (
    hyphen
    and re.split(r'\W', text[max(0, start - 6) : start - 1])[-1].lower()
    not in PREFIXES
  ):
    return None
  before = '' if hyphen else last_word(text, start)
  after, stop, _ = next_word(text, end)
  if _is_name(text, start, word, before, after, forms):
    return None
  next_low = after.lower()
  is_free = not after or is_no_noun(next_low, before.lower())
  if low in _STAGES and _STAGE.search(text, max(0, start - 40), start):
    return None
  if 'nouns' in forms:
    one = forms['nouns'][0]
    if (hyphen and one.people) or next_low in THINGS:
      return None
    if before.lower() in ('a', 'an') or next_low in ('was', 'is', 'has'):
      return None  # a girls tweet; Brits was selected
    if re.match(r" ?['’]", text[end : end + 2]) and one.people:
      return None  # children's books
    return (
      'nouns'
      if not one.people or _are_people(text, start, end, before)
      else None
    )
  if 'group' in forms and before.lower() == 'the' and is_free:
    if next_low in ('and', 'or'):
      second = next_word(text, stop)[0].lower()
      return 'group' if second in PAIRED else None
    if next_low.endswith('ly') or re.match(r', (?!and|or|the)\w+', text[end:]):
      return None  # the poor falsely accused; the old, worn-out jokes
    return None if next_low == 'saying' else 'group'
  if 'name' in forms:
    return 'name'
  if 'noun' in forms:
    one = forms['noun'][0]
    if 'adjective' not in forms:
      okay = (
        _is_child(text, start, before)
        if one.people
        else _is_counted(text, start, before)
      )
      okay &= next_low != 'of' and not _OF_AGE.search(sentence(text, start))
      okay &= is_free or next_low.endswith(('ing', 'ed'))
      okay &= not _OWNER.search(before)
      return 'noun' if okay and not hyphen else None
    if is_free and not hyphen and _is_counted(text, start, before):
      return 'noun' if _is_person(text, end, before, after, one) else None
  if 'adjective' not in forms:
    return None
  one = forms['adjective'][0]
  if hyphen and (one.people or one.no_thing):
    return None
  if low in FIGURATIVE and _FAULT.search(sentence(text, start)):
    return None
  if noun := before_people(text, end, described):
    return 'adjective' if _fits(text, start, low, one, noun, own) else None
  if low in AGES:  # since I was young
    return None
  if one.people:
    said = _is_said(text, start, before, next_low)
    of_all = low in FIGURATIVE and re.search(
      r"\b(?:you|they|who|we)(?:['’]re)?\b[^.]*$", text[:start], re.I
    )
    return 'adjective' if said and not of_all else None
  if one.no_thing:  # the British, in Korean
    return 'adjective' if is_free and _is_predicate(text, start) else None
  return 'adjective'


def _fits(text: str, start: int, low: str, one: Word, noun: str, own) -> bool:
  """Whether a word before one for people says what they are."""
  before = last_word(text, start).lower()
  if noun in own or (low in AGES and noun in KIN):
    return False
  if low in FIGURATIVE and noun in _FOLLOWERS:
    return False
  if low == 'poor':  # poor drivers; those poor cops; my poor, innocent …
    if before in _PITIED or text[start + len(low)] == ',':
      return False
    several = noun.endswith('s') or noun in ('people', 'men', 'women', 'folk')
    several |= noun == 'children'
    one_of = before in ('a', 'an', 'another', 'every', 'each')
    return noun not in SKILLS and (several or one_of)
  tongue = one.people and one.text[:1].isupper()
  return not (tongue and noun in TAUGHT)


def _is_person(text: str, end: int, before: str, after: str, one: Word) -> bool:
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


def _is_predicate(text: str, start: int) -> bool:
  """She is (also) Canadian: behind a form of be."""
  words = text[max(0, start - 60) : start].lower().replace('’', "'").split()
  while words and words[-1] in HEDGES:
    words.pop()
  return bool(words) and (
    words[-1] in BE or words[-1].endswith(("'s", "'m", "'re"))
  )


def _is_name(text, start, word, before, after, forms) -> bool:
  """Part of a name: Christian Bale, Black Panther, Catholic University."""
  if word.isupper() or not word[0].isupper():
    return False
  opening = opens(text, start)
  proper = any(one.text[0].isupper() for one, _ in forms.values())
  if not opening and ' ' in word and word.istitle() and not proper:
    return True
  if not opening and ' ' in word and word.split()[-1] in _PEOPLE:
    return True
  if after[:1].isupper() and not after.isupper():
    if not opening:
      return after.lower() not in ENDERS or after in ('Is', 'Are')
    return after.lower() not in people.nouns() and after.lower() not in ENDERS
  if not proper and not opening and word.lower() not in CAPITAL:
    return True
  if before[:1].isupper() and before.lower() not in ENDERS:
    opening = opens(text, start - len(before) - 1)
    if not proper:
      return not opening
    return (
      not opening
      and not before.isupper()
      and (
        before.lower() not in people.DESCRIBING
        and before.lower() not in people.nouns()
      )
    )
  # A capital inside a sentence makes a name of a word that needs none.
  return (
    not proper
    and bool(before)
    and before[0].islower()
    and not after
    and (
      word.lower() in ('black', 'white', 'young', 'rich', 'poor', 'straight')
    )
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


def _is_said(text: str, start: int, before: str, after: str) -> bool:
  """He is black, they were poor: of somebody, and nothing follows."""
  if after and after not in AFTER_PREDICATE:
    return False
  words = text[max(0, start - 60) : start].lower().replace('’', "'").split()
  while words and words[-1] in HEDGES:
    words.pop()
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


def _is_counted(text: str, start: int, before: str) -> bool:
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


def _are_people(text: str, start: int, end: int, before: str) -> bool:
  """Plurals that are things or offspring too: whites, kids."""
  low = before.lower()
  if low in BEFORE_NOUNS or low in _HAVING or _owned(text, start):
    return False
  if low in AGES or re.match(r' (?:and \w+ )?of\b', text[end : end + 16]):
    return False
  if not AGES.isdisjoint(text[max(0, start - 24) : start].lower().split()[-2:]):
    return False
  if _OF_AGE.search(sentence(text, start)):
    return False
  if any(low in known for known in (ENDERS, people.DESCRIBING, ACTS, ('',))):
    return True
  return low.endswith(('ing', 'ed', 'ly'))


def _is_child(text: str, start: int, before: str) -> bool:
  """A boy that is nobody's: behind an article, and no exclamation."""
  low = before.lower()
  if _owned(text, start) or low in _HAVING or low in AGES:
    return False
  far = last_word(text, text.rfind(before, 0, start)).lower() if low else ''
  if low in people.DESCRIBING:
    return far not in AGES
  if far in _HAVING:
    return False
  return low in people.DETERMINERS or low in ('and', 'or', 'like', 'as', 'of')


def _owned(text: str, start: int) -> bool:
  """My kids, her two children, Anna's boys: offspring."""
  words = text[max(0, start - 40) : start].split()
  for word in reversed(words[-3:]):
    if _OWNER.search(word):
      return True
    low = word.lower()
    if low not in people.DESCRIBING and low not in NUMBERS:
      return False
  return False


def _written(
  row: Row, way: tuple[int, int], text: str, span: tuple[int, int], strict: bool
) -> str:
  """The word of the target; where it has none that agrees, of the next."""
  (value, target), size = way, len(row.cells)
  for step in range(1 if strict else size):
    at = (target + step) % size
    cell = row.cells[at]
    if at == value or not cell or not cell[0].text:
      continue
    behind = text[span[1] : span[1] + 12].lower()
    twice = behind.startswith(f' {cell[0].text.split()[-1].lower()}')
    if not twice and _agrees(cell[0].only, text, *span):
      return cell[0].text
  return ''


def _agrees(only: str, text: str, start: int, end: int) -> bool:
  """lesbian is said of women, straight of people, nonbinary of neither sex."""
  if not only:
    return True
  low = next_word(text, end)[0].lower()
  if only == 'a':
    return low in people.nouns() or low in people.DESCRIBING
  if only == 'n':
    return low not in people.sided()
  around = sentence(text, start)
  if only == 'p':
    said = is_no_noun(low) or before_people(text, end)
    return bool(said) and not _OUT.search(around)
  words = re.findall(r'[a-z]+', around.lower())
  if is_no_noun(low) and people.feminine().isdisjoint(words):
    return False
  return people.masculine().isdisjoint(words)
