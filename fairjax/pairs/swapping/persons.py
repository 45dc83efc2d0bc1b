"""First names of persons among capitalised words, by rules.

A surname stays ("Emma Thomas", and every later "Thomas" of that text), a place
stays ("James Street", "San Jose"), and a name that is a common word (Will,
Hope, May, Virginia) is a person only where its neighbours say so. One mention
that says so counts for the whole text.
"""

import re
from collections.abc import Container

from fairjax.pairs.swapping.neighbours import (
  ALONE,
  ENDERS,
  FAMILY,
  last_word,
  next_word,
  words_of,
)

# Names that are words as well: a person where they stand inside a sentence.
WORDS = words_of("""
amber angel archie art asher ashton autumn bailey bill bishop blair bob bonnie
brandy bridge brook buck carol cash celeste chance charity chase chip clay
cliff cole colt crystal daisy dale dawn dean destiny dick don drew duke earl
ebony ernest eve faith fern finn frank gale gene genie ginger glen grace grant
guy harmony harry hazel heath heather holly hope hunter iris ivy jack jade
jasmine jasper jay jean jewel joy jimmy josh justice justin lance laurel leo
lily luna mark marshall mason matt max maxine may mercy merle miles misty
melody mike nick nova norm olive opal pansy parker pat patience pearl penny
peter pierce piper polly poppy precious prudence ray reed reese rich river rob
robin rocky rod roman rose rosemary rowan ruby rusty ruth sage sandy sawyer
scarlett scott serenity sherry sidney sky skip skyler spencer star stella
stone sue summer tanner taylor tiffany trinity van vera victor viola violet
wade ward warren wayne will willow wren dominic cory tony valentine
""")
# Places, months, peoples, surnames above all: a person only with a title
# before or a surname after.
PLACES = words_of("""
adelaide alberta april asia august austin bethany brooklyn camden carolina
cheyenne charlotte chelsea china christian clayton clinton dakota dallas denver
florence franklin geneva georgia guadalupe hamilton houston india israel
jackson jordan jesus june kent kenya kingston lewis lincoln logan london
lourdes madison may milan montana moses nelson paris phoenix preston regina
savannah sierra solomon sydney troy vernon victoria vienna virginia washington
wesley will gordon lee luz santiago diego morgan kelly marshall marion smith
johnson jones miller davis anderson robinson walker young wright hill green
baker carter mitchell roberts turner phillips campbell evans edwards collins
stewart morris rogers cook murphy cooper bell gray watson sanders price
bennett wood barnes henderson coleman jenkins perry powell patterson hughes
butler simmons foster bryant griffin hayes myers ford sullivan woods west
owens reynolds fisher harrison gibson mcdonald gomez murray freeman wells webb
simpson stevens tucker porter hicks crawford boyd kennedy fox palmer nixon
robertson black holmes knight bishop king royal love major justice prince
baron america england ireland italy egypt rome boston berlin miami alabama
arizona texas cairo orlando memphis salem trenton denton kingsley roma
davis clarke clark ramsey merritt harper godfrey murray reid hudson griffin
perry fletcher cooper carson harrison brody brennan donovan dalton drake ellis
tate beckett sherman sherwood truman garrison jamison jameson sanford royce
lowell lyman linwood norris osborne prentice roosevelt samson sterling wayland
weldon dawson archer bentley braxton colton corbin gage maddox weston jarvis
garland barrett barton bradford brant brenton burton chadwick cornell cordell
cullen emory hollis hoyt lambert mervin millard reed tobin waldo warner wiley
wilton winfield jefferson napoleon mercedes carolina catalina lourdes elle
valencia catalina german roman dutch royalty general constantine
""") - {'will', 'may'}
# Names that small letters make another word.
SMALL = words_of("""
al della earnest ed alma andre buddy archer bud elle candy harper piers belle
beau dan raven una hind sterling ben garland kim marquise rex aria jo tad ty jan
bart carmine dee kay nell clement blanche ira liv kai bo gil hal deja dolly
salvador marina alberta donna ama yaa esi uma noa nan bea ana ali raj mei wei
jing min ling eko eden lane basil flora honor mercedes sierra skye sonny julius
chuck lou molly karen john randy don art van mar dina sabah nour juma musa
candice remy nova lux amparo rosario sol nino una ewa ken ron dag len lee
""")
# Auxiliaries that begin questions, verbs that begin wishes.
OPENERS = words_of('will may hope mark grace chase grant frank bill rob sue')

TITLES = words_of("""
mr mrs ms miss dr mister sir dame lady lord aunt auntie uncle king queen
prince princess president senator professor prof captain father mother sister
brother saint judge doctor pope emperor empress duke duchess cousin coach
officer minister secretary chairman congressman congresswoman
rabbi imam detective inspector nurse justice chancellor ambassador archbishop
cardinal count countess baron baroness private deputy actor actress singer
author writer poet
reverend rev sergeant general colonel major lieutenant governor mayor
named
""")
# Seasons, offices, creeds: a person only with a verb or a surname after.
OFFICES = words_of("""
justice summer autumn may april june august major bishop dean chase mercy
trinity
star destiny harmony serenity hunter van sky river brook bridge chance charity
patience prudence art guy duke earl drew genesis liberty journey
""") - {'drew'}
# Places that are women's or men's names as often.
PERSONS_TOO = words_of("""
charlotte victoria florence adelaide sydney madison austin jordan chelsea
savannah georgia bethany wesley logan kelly gordon troy camden brooklyn
cheyenne regina phoenix morgan marshall clinton jackson lee lewis nelson vernon
marion franklin hamilton milan london paris kennedy lincoln jesus moses solomon
israel diego
""") - words_of('london paris milan israel lincoln')
SPECIAL = WORDS | PLACES | OFFICES
_NEVER_ALONE = PLACES - PERSONS_TOO - OFFICES  # without a title or surname
# After a name these are surnames at least as often.
SURNAMES_TOO = words_of('hall hill hills park lake bridge day bay banks church')
DETERMINERS = words_of("""
the a an this that each every any some no our its these those his her my your
their another
""")
PET = words_of('young old little poor dear sweet miss aunt uncle saint cousin')
_PARTICLES = words_of("""
de du des la le les et di da del della dello von van der den zu und el los las y
""")
_SAINT = re.compile(r'\b(?:St|Ste|Mt|Ft|Pt)(?: ?\.)? $')
_ADDRESSED = words_of("""
told tell tells asked ask asks met meet meets married marry marries loved loves
kissed thanked thank thanks dear hi hello hey named called joined hated hates
helped invited interviewed phoned texted emailed hugged missed dated dating
""")
_ADVERBS = words_of('always often never really again also just still chose')
_WITH = re.compile(r'(?:,| and| &| or) (\w+)')
_WITH_BEFORE = re.compile(r'(\w+)(?:,| and| &| or) $')
_KIN = re.compile(
  r"['’]s (?:mother|father|mom|mum|dad|sister|brother|husband|wife|son|"
  r'daughter|boyfriend|girlfriend|face|eyes|hand|hands|hair|life|death|voice|'
  r'career|parents|friend|friends)\b'
)
# Titles before surnames; Queen Victoria and Aunt Charlotte have first names.
COURTESY = words_of("""
mr mrs ms miss dr mister professor prof senator president judge governor mayor
officer detective captain sergeant lieutenant general colonel major coach
secretary minister justice congressman congresswoman
""")
PLACE_BEFORE = words_of("""
san santa fort lake mount port st new los cape point north south east west
""")
PLACE_AFTER = words_of("""
street st avenue road university college church school day city park hall
island islands county river state beach house department lake mountain
mountains hill hills bay creek bridge station airport hospital stadium tech
institute company inc group bank act award awards prize cup court territory
square club hotel society society's press theatre theater center centre museum
valley falls
cross palace parliament government police army times post news daily records
pictures studios films magazine gazette herald tribune conference league
championship championships tour open festival games olympics series division
region province republic kingdom empire dynasty war battle treaty line railway
railroad lane drive boulevard highway parish cathedral abbey castle tower
gardens garden zoo lodge ranch farm cove harbor harbour port peninsula strait
sea ocean desert forest fund trust foundation association union party committee
commission council board agency bureau ministry office orchestra symphony
trio quartet band bowl show revolution arbor bridge banks brothers sisters
""")
_ACTS = words_of("""
said says was is has had went goes told tells asked asks replied smiled
laughed thought thinks knows knew wanted wants got gets came comes made makes
took takes gave gives looked looks walked ran sat stood loves loved likes
always never often really also just still will would could should did does
says said announced explained added insisted helped helps asked agreed argued
believed believes recalled laughs smiles grew returned moved joined finished
graduated served studied taught teaches wins loses needs tried tries decided
liked felt feels left lives lived works worked married died wrote became began
met saw plays played won loses lost who whose and's
""")

# Neighbours in small letters, and capitalised ones, that rules look at.
KNOWN_BEFORE = _PARTICLES | TITLES
KNOWN_BEFORE_FAMILIES = _PARTICLES | PLACE_BEFORE
KNOWN_AFTER = _ACTS
KNOWN_CAPITALS = PLACE_AFTER | ENDERS


def choose(
  text: str,
  candidates: list[tuple[int, int, str, int]],
  names: Container[str],
  others: bool = False,
) -> list[tuple[int, int, str, int]]:
  """Those of (start, end, word, flags) that are first names of persons.

  The flags say what an array tells of its neighbours (beside.py).
  `others` says that the text has more words of gender: in a text of small
  letters, that is what tells a name.
  """
  sure, likely = set(), []
  surnames: set[str] = set()
  others = others and text[:1].islower()
  for hit in candidates:
    start, end, word, flags = hit
    low = word.lower()
    if word == low:
      verdict = _small_letters(text, start, end, others)
    elif flags & (ALONE | FAMILY) and low not in SPECIAL:
      verdict = 'person' if flags & FAMILY else 'maybe'
    elif flags & ALONE and (low in _NEVER_ALONE or low in OFFICES):
      continue
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
  return word[:1].isupper() and word.lower() not in ENDERS


def _by_context(
  text: str, start: int, end: int, low: str, names: Container[str]
) -> str:
  """'person', 'maybe' (others of the text decide), 'surname' or 'no'."""
  after = next_word(text, end)[0]
  before = last_word(text, start)
  # Between two words and blanks it is part of nothing but a name.
  if before in _PARTICLES or (
    not (before and after and text[start - 1] == ' ')
    and _inside(text, start, end, before)
  ):
    return 'no'
  then, since = after.lower(), before.lower()
  upper = before[:1].isupper()
  if upper and since in PLACE_BEFORE:
    return 'no'
  family = after[:1].isupper()
  if family:
    if then in PLACE_AFTER:  # "Jane Hall said", but "the Crystal Palace"
      if low in SPECIAL or then not in SURNAMES_TOO:
        return 'no'
    family = then not in ENDERS and not (low in OPENERS and then in names)
  titled = since in TITLES if before else _abbreviated(text, start)
  bare = not family and not titled
  if bare:
    if low in _NEVER_ALONE or (low in OFFICES and then not in _ACTS):
      return 'no'  # most dates and places
  if upper and bare and since not in ENDERS and not before.isupper():
    starts_sentence = _opens(text, start - len(before) - 1)
    asks = starts_sentence and since in OPENERS  # Will John come?
    known = since in names
    if (known or not starts_sentence) and not asks:
      return 'surname'
  if low not in SPECIAL:
    return 'person' if titled or family else 'maybe'
  if titled:  # "Mr Cooper" has his surname, "Mr Mark" may have not
    title = since or _dotted(text, start)
    surname = low in PLACES and not family and title in COURTESY
    return 'surname' if surname else 'person'
  if text[start:end].isupper():
    return 'no'
  # A word, a place, a season, an office: the neighbours must say a person.
  if _is_thing(text, start, low, before, after):
    return 'no'
  acts = then in _ACTS
  if low in OFFICES:
    if low in TITLES and then in names:
      return 'no'  # Justice Ruth Ginsburg
    return 'person' if family or acts else 'no'
  if low in PLACES:
    if low in PERSONS_TOO and (acts or _is_named(text, start, end, names)):
      return 'person'
    return 'person' if family and not _opens(text, start) else 'no'
  if _opens(text, start):
    if low in OPENERS and not family:
      return 'person' if acts else 'no'
    return 'person' if family or acts else 'maybe'
  return 'person'


def _small_letters(text: str, start: int, end: int, others: bool) -> str:
  """A name in small letters: 'person' where the row's other words say so."""
  before, after = last_word(text, start).lower(), next_word(text, end)[0]
  if _inside(text, start, end, before):
    return 'no'
  if before in DETERMINERS or before in PLACE_BEFORE:
    return 'no'
  if others or before in TITLES or before in _ADDRESSED:
    return 'person'
  after = after.lower()
  acts = after in _ACTS or after in _ADVERBS or after.endswith('ed')
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
    return before in _PARTICLES
  # A dot or nothing stands before: St. Louis, St . Louis
  return text[start - 2 : start] == '. ' and bool(
    _SAINT.search(text, max(0, start - 6), start)
  )


def _is_thing(text: str, start: int, low: str, before: str, after: str) -> bool:
  """2016 Summer Olympics, the Rose Bowl, Chief Justice, Christian Studies."""
  if before.isdigit() or before.lower() in DETERMINERS:
    return True
  if low not in OFFICES and (low not in PLACES or low in PERSONS_TOO):
    return False
  if _capital(before) and before.lower() not in PET:
    return _opens(text, start - len(before) - 1) and not _capital(after)
  plural = after.lower()
  if not _capital(after) or plural in PLACES:
    return False
  return plural.endswith('s') and not plural.endswith(('ss', 'is', 'us', 'es'))


def _is_named(text: str, start: int, end: int, names: Container[str]) -> bool:
  """Whether people are told of it: told Charlotte, Charlotte and Harry."""
  if last_word(text, start).lower() in _ADDRESSED:
    return True
  left = text[max(0, start - 24) : start]
  context = (_WITH.match(text, end), _WITH_BEFORE.search(left))
  for other in (match[1] for match in context if match):
    low = other.lower()
    if other[0].isupper() and low in names and low not in PLACES:
      return True
  return bool(_KIN.match(text, end))


def _opens(text: str, start: int) -> bool:
  """Whether a sentence (or line, or quotation) begins at `start`."""
  before = text[max(0, start - 6) : start].rstrip(' \t"“‘\'(*_[')
  if _abbreviated(text, start):
    return False
  return not before or before[-1] in '.!?:;\n…-–—'


def _abbreviated(text: str, start: int) -> bool:
  """Whether a dotted title stands before: Mr. James, Dr. Ruth."""
  return '.' in text[max(0, start - 2) : start] and (
    _dotted(text, start) in TITLES
  )


def _dotted(text: str, start: int) -> str:
  words = text[max(0, start - 12) : start].rsplit(None, 1)
  return words[-1].rstrip('.').lower() if words else ''
