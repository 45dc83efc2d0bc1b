"""Which capitalised words of a text are first names of persons, by rules.

A surname stays ("Emma Thomas", and every later "Thomas" of that text), a place
stays ("James Street", "San Jose"), and a name that is a common word (Will,
Hope, May, Virginia) is a person only where its neighbours say so. One mention
that says so counts for the whole text.
"""

from collections.abc import Container

from fairjax.pairs.neighbours import ENDERS, last_word, next_word, words_of

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
valencia catalina german roman dutch royalty general constantine
""") - {'will', 'may'}
# Auxiliaries that begin questions, verbs that begin wishes.
OPENERS = words_of('will may hope mark grace chase grant frank bill rob sue')

TITLES = words_of("""
mr mrs ms miss dr mister sir dame lady lord aunt auntie uncle king queen
prince princess president senator professor prof captain father mother sister
brother saint judge doctor pope emperor empress duke duchess cousin coach
officer reverend rev sergeant general colonel major lieutenant governor mayor
named
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
""")
_ACTS = words_of("""
said says was is has had went goes told tells asked asks replied smiled
laughed thought thinks knows knew wanted wants got gets came comes made makes
took takes gave gives looked looks walked ran sat stood loves loved likes
liked felt feels left lives lived works worked married died wrote became began
met saw plays played won loses lost who whose and's
""")


def choose(
  text: str,
  found: list[tuple[int, int, str]],
  names: Container[str],
) -> list[tuple[int, int, str]]:
  """Those of `found` (start, end, word) that are first names of persons."""
  sure, likely = set(), []
  surnames: set[str] = set()
  for start, end, word in found:
    verdict = _judge(text, start, end, word, names)
    low = word.lower()
    if verdict == 'surname':
      surnames.add(low)
    elif verdict == 'person':
      sure.add(low)
      likely.append((start, end, word))
    elif verdict == 'maybe':
      likely.append((start, end, word))
  return [
    hit
    for hit in likely
    if hit[2].lower() in sure
    or (
      hit[2].lower() not in surnames
      and hit[2].lower() not in WORDS
      and hit[2].lower() not in PLACES
    )
  ]


def _capital(word: str) -> bool:
  return word[:1].isupper() and word.lower() not in ENDERS


def _judge(
  text: str, start: int, end: int, word: str, names: Container[str]
) -> str:
  """'person', 'maybe' (others of the text decide), 'surname' or 'no'."""
  low = word.lower()
  after, _, _ = next_word(text, end)
  before = last_word(text, start)
  if before.lower() in PLACE_BEFORE and before[:1].isupper():
    return 'no'
  if after.lower() in PLACE_AFTER and after[:1].isupper():
    return 'no'
  if text[start - 1 : start] == '-' and start > 1:
    return 'no'  # Lloyd-George
  if text[end : end + 1] == '-' and text[end + 1 : end + 2].isupper():
    return 'no'  # Mary-Jane
  titled = before.lower() in TITLES or _abbreviated(text, start)
  family = _capital(after) and not (low in OPENERS and after.lower() in names)
  if _capital(before) and not titled and not before.isupper():
    known = before.lower() in names
    opened = _opens(text, start - len(before) - 1)
    asks = opened and before.lower() in OPENERS  # Will John come?
    if (known or not opened) and not asks and not family:
      return 'surname'
  common = low in WORDS
  if low in PLACES:
    return 'person' if titled or (family and not _opens(text, start)) else 'no'
  if not common:
    return 'person' if titled or family else 'maybe'
  if word.isupper():
    return 'no'
  if titled:
    return 'person'
  if _opens(text, start):
    if low in OPENERS and not family:
      return 'person' if after.lower() in _ACTS else 'no'
    return 'person' if family or after.lower() in _ACTS else 'maybe'
  if low == 'may':  # the month, except before a surname or a verb
    return 'person' if family or after.lower() in _ACTS else 'no'
  return 'person'


def _opens(text: str, start: int) -> bool:
  """Whether a sentence (or line, or quotation) begins at `start`."""
  left = text[max(0, start - 6) : start].rstrip(' \t"“‘\'(*_[')
  if _abbreviated(text, start):
    return False
  return not left or left[-1] in '.!?:;\n…-–—'


def _abbreviated(text: str, start: int) -> bool:
  """Whether a dotted title stands before: Mr. James, Dr. Ruth."""
  words = text[max(0, start - 12) : start].split()
  return bool(words) and words[-1].rstrip('.').lower() in TITLES
