"""Neighbouring words: where they are, and the sets that rules test for."""

import re

# The next word, if only blanks, one line end and opening marks are between: a
# quotation mark or bracket (also of tokenised text), a sign of currency or
# number, the bracket of a mask; or an ellipsis before a small letter.
_NEXT = re.compile(
  r'(?:(?: ?\.{3}| ?…)(?=[ \n]?[a-z]) ?|[\]*_]*(?:[ \t\xa0]+\n?|\n)[ \t]*)'
  r"[(\[\"“‘«'`*_<#$£€]*(?:(?<=[(\[\"“‘«]) )?(?:(?<= )\.(?=\d))?"
  r"(\w(?:\w|['’]\w)*)(-?)"
)
_OPENING = '("“‘\'`*_['
_CLOSING = frozenset(',.;:!?)')  # no word reaches over these
_LEADING = frozenset(' \t\xa0\n.…]*_')  # the first characters of _NEXT

# What arrays tell of a word and its neighbours (beside.py).
ALONE = 1  # no title before a name; no surname, place or verb after it
FAMILY = 2  # a capitalised word after a name, no particle or place before
NOUN = 4  # what is possessed after his or her
FREE = 8  # neither a verb nor a preposition before it


def next_word(text: str, end: int) -> tuple[str, int, bool]:
  """The word after `end`, where it ends, and whether a hyphen follows.

  '' where a mark or an empty line stands between.
  """
  mark = text[end : end + 1]
  if mark == ' ':  # most often a word between two blanks
    stop = text.find(' ', end + 1)
    if stop < 0:
      stop = len(text)
    word = text[end + 1 : stop]
    if word.isalnum():
      return word, stop, False
    if word[-1:] in _CLOSING and word[:-1].isalnum():
      return word[:-1], stop - 1, False
  elif mark not in _LEADING:
    return '', end, False
  result = _NEXT.match(text, end)
  if result is None:
    return '', end, False
  return result[1], result.end(1), bool(result[2])


def last_word(text: str, start: int) -> str:
  """The word before `start`, '' where a mark stands between."""
  if text[start - 1 : start] == ' ':
    blank = text.rfind(' ', start - 24 if start > 24 else 0, start - 1)
    word = text[blank + 1 : start - 1]
    if word.isalnum() and (blank >= 0 or start < 25):
      return word
    if word[-1:] in _CLOSING:
      return ''
  words = text[max(0, start - 24) : start].rstrip(_OPENING).rsplit(None, 1)
  if not words or text[start - 1 : start] == '-':
    return ''
  word = words[-1].lstrip(_OPENING)
  return word if word[-1:].isalnum() else ''


def words_of(text: str) -> frozenset[str]:
  return frozenset(text.split())


# A word that cannot begin what her/his possesses: the pronoun ends its phrase.
ENDERS = words_of("""
thus till became becomes remained remains seemed seems consisted consists
altogether whatsoever throughout online
a an the this that these those some any no each either neither both such
another it its i me my mine you your yours he she him his her hers we us our
ours they them their theirs himself herself itself myself yourself themselves
and or but nor so yet if because although though while whilst until unless
when whenever where wherever whether since as than lest except who whom whose
which what why how to of in on at by for with from into onto upon off out up
down over under about above across after against along alongside amid among
around before behind below beneath beside besides between beyond despite
during inside like near outside through throughout toward towards underneath
unlike until via within without per regarding concerning is was are were be
been am has had does did do would could should must cannot can't isn't wasn't
won't wouldn't couldn't didn't doesn't hadn't hasn't not again away apart
aside forever together alone anyway anymore instead there here today yesterday
tonight tomorrow everywhere anywhere somewhere everything anything something
nothing everyone anyone someone nobody too also maybe perhaps else afterwards
afterward thereafter lol omg smh btw tho thru cuz bc rt
""")
# Possessive when a noun follows, else the pronoun ends its phrase: "her later
# works" against "met her later".
ADVERBS = words_of("""
sometimes somewhat rather indeed otherwise afresh closer earlier
later more most less least better worse very much so even still already always
never often just now then once soon well all hard twice almost quite really ever
far close enough anew alike abroad upstairs downstairs indoors overseas
overboard inward forward
""")
ADJECTIVES = words_of("""
long happy sad angry crazy mad free ill sick dead alive unconscious pregnant
famous rich poor safe sorry proud afraid ashamed jealous nervous uncomfortable
comfortable uneasy responsible guilty innocent available capable aware unable
able eligible popular unhappy furious wealthy wild ready busy speechless
homeless penniless helpless powerless unharmed unfit fit breathless blind deaf
bad wrong attractive upset conscious accountable due one two three four five
many several
""")
EITHER = ADVERBS | ADJECTIVES
# Words in -ly that are adjectives or nouns.
LY_NOUNS = words_of("""
bubbly cuddly jolly chilly silly prickly wobbly smelly woolly burly surly
wrinkly sparkly stately shapely comely homely timely untimely unruly likely
unlikely leisurely beastly ghostly ghastly grisly princely queenly sisterly
brotherly neighborly neighbourly saintly knightly courtly soldierly wifely
husbandly girly hilly oily pearly sickly unfriendly ungodly unholy unsightly
sprightly hourly nightly quarterly fortnightly folly dolly rally ally tally
family belly bully jelly lily reply ally assembly daily early weekly only
lovely elderly deadly friendly ugly holy monthly lonely lively curly silly
yearly fly supply anomaly monopoly homily motherly fatherly kindly worldly
costly scholarly bodily heavenly earthly womanly manly cowardly orderly homely
""")
# Words in -ing that are nouns or adjectives after a possessive.
ING_NOUNS = words_of("""
tutoring ruling posting blessing rating shooting
wedding writing writings training painting paintings building singing acting
recording recordings meeting clothing engineering being feeling feelings
upbringing offering drawing drawings teaching teachings thinking hearing
housing lodging dwelling savings earnings findings surroundings ring king
thing things spring wing string evening morning ceiling earring darling
sibling siblings offspring beginning opening ending reading breathing coming
passing voting living leading remaining existing ongoing outstanding striking
amazing loving dying aging growing crowning winning running mate boxing
wrestling coaching cooking bring understanding standing undying burning
following screening filming directing dancing swimming skating reasoning
ranking rating parenting nursing missing surviving
""")
# Forms that are verbs far more often than nouns, after "let her", "saw her".
BARE_VERBS = words_of("""
go be become know feel think believe see understand realize realise get have do
say tell come stay leave keep eat sleep live die lose win find forget remember
want need take give put sit stand lie speak talk sing write read pay seem appear
look laugh cry smile weep scream enter join learn continue begin grow move pass
finish borrow wait choose decide act perform dance breathe make forgive sound
happen escape survive succeed achieve accept admit suffer fall rise run walk
drive swim play work use try help hide wear wonder bring buy hear meet follow
carry adjust overcome recover regain gain earn raise settle avoid prepare build
obtain develop solve discover reach in out cross climb open close kill marry
quit fight fly visit chase translate dismount elevate evolve enroll enrol cheer
plead serve receive retain return rebuild rediscover renew reveal ride save
secure seek sell sign skip spend step strike struggle study swing teach tend
throw touch train travel treat trust turn undergo unite vote wake wander warn
wash watch wave wish withdraw yell express explore establish endure embrace edit
drop drink drag describe defeat defend deliver deal dig crawl create confront
compete complete communicate compose collect celebrate carve capture call break
bear beat beg behave belong argue appreciate apply adapt advance score produce
attend arrive depart remain
""")
# Things given, not owned: "gave her money", "told her stories".
GIFTS = words_of("""
feedback thanks fidelity nothing food roses gifts books flowers
more mercy
money permission advice access credit comfort strength courage hope time space
shelter refuge attention pleasure joy pain trouble food water flowers candy
chocolates tea coffee medicine custody instructions directions lessons tips
information details news stories lies props shit hell crap help support
encouragement leave exposure recognition entry entrance assistance asylum orders
goods immunity citizenship insight inspiration fame promotion victory success
wealth fortune happiness peace luck nominations awards praise acclaim respect
admiration
""")
TIMES = words_of("""
ages years months weeks days hours minutes seconds forever
""")
NUMBERS = words_of(
  'two three four five six seven eight nine ten twelve several many'
)
TAKE = words_of("""
took take takes taking cost costs costing
""")
LET = words_of("""
let lets letting make makes made making help helps helped helping see sees saw
seen seeing watch watches watched watching hear hears heard hearing feel felt
have had having bid bade
""")
CATCH = words_of("""
keep keeps kept keeping find finds found finding catch catches caught catching
leave leaves left leaving spot spots spotted notice notices noticed imagine
imagined remember remembers remembered picture
""")
SEE = words_of("""
see sees saw seen seeing hear hears heard hearing watch watches watched watching
get gets got getting send sends sent sending set sets stop stops stopped start
started had have has having want wants wanted show shows showed showing shown
depict depicts depicting depicted feature features featuring involve involving
mind
""")
KEEP = CATCH | SEE
GIVE = words_of("""
give gives gave given giving tell tells told telling offer offers offered
offering show shows showed showing hand handed send sends sent sending buy
buys bought buying bring brings brought bringing teach teaches taught teaching
ask asks asked asking grant grants granted granting deny denied denies owe
owes owed promise promised promises lend lent loan loaned pay pays paid paying
cost allow allows allowed allowing feed fed award awarded awards cause caused
causing afford afforded earn earned gain gained win won charge charged
""")
NAME = words_of("""
call calls called calling name names named naming christen christened dub dubbed
nickname nicknamed rename renamed crown crowned declare declared appoint
appoints appointed elect elects elected ordain ordains ordained proclaim
proclaimed consecrated pronounced voted make makes made
""")
ROLES = words_of("""
bishop archbishop president secretary governor captain king queen chairman
chairwoman director minister ambassador professor priest heir emperor empress
chancellor commander colonel general chief leader head mayor abbot abbess pope
cardinal duke duchess earl count countess baron baroness knight regent guardian
successor executor editor manager coach dean captain judge consul
""")
CAPTIVE = words_of('captive hostage prisoner')
WISH = words_of('wish wishes wished wishing')
MOVE = words_of("""
bring brings brought bringing take takes took taken taking drive drives drove
driving send sends sent sending walk walks walked walking follow follows
followed following get gets got getting call calls called calling want wants
wanted hold holds held holding win wins won pull pulls pulled pulling push
pushed pushes carry carries carried carrying invite invited let lets welcome
welcomed hit hits kiss kissed love loved text texted pay paid have had put
puts
""")


NOUNS_TOO = words_of("""
need look cry smile dance walk run play work use help fall rise drive fight move
act pass hope laugh sound finish try find start escape scream read visit study
vote wish call break touch step turn wave return ride drink travel watch throw
train score drop wake stop struggle swing save chase cheer deal trust strike
settle produce advance beat defeat
""")

MAKE = words_of('make makes made making')

# Verbs after which `her` may be an object though a noun-like word follows.
VERBS = LET | GIVE | TAKE | KEEP | WISH | MOVE | NAME | {'with'}
ED_NOUNS = words_of('beloved red bed seed breed feed deed need sacred hatred')

# The rules of pronouns.py about what can only be said of a person.
PREPOSITIONS = words_of("""
to of by despite from with for without about against after before upon on
through due
""")
TELL = words_of("""
tell tells told telling show shows showed assure assures assured inform informs
informed remind reminds reminded convince convinces convinced warn warns warned
""")
FINITE = words_of("""
is was are were has had will would can could may might must should does did
""")
ALLOW = words_of('let lets letting bid bids bade bidding')
SHOWN = words_of(
  'support gratitude admiration respect appreciation attention affection'
)
HELD = words_of('hair guard guests eyes voice heart imagination feelings hand')
AMOUNTS = words_of("""
dollars dollar pounds pound euros euro rubles roubles francs marks yen rupees
cents pence shillings shilling percent votes vote points point bucks quid grand
years months weeks days hours minutes million billion thousand hundred
""")
RANK = words_of("""
rank ranks ranked ranking place places placed placing put puts putting seed
seeded rate rated list listed
""")
ORDINALS = words_of("""
first second third fourth fifth sixth seventh eighth ninth tenth eleventh
twelfth last
""")
JUDGE = words_of("""
consider considers considered considering think thinks thought find finds found
finding deem deems deemed render renders rendered rendering believe believed
call calls called calling declare declared pronounce pronounced leave leaves
left leaving keep keeps kept keeping feel felt turn turned
""")
PERCEIVE = words_of("""
see sees saw seen seeing hear hears heard hearing watch watches watched
watching catch catches caught catching find finds found spot spotted notice
noticed
""")
ACTIVITIES = words_of("""
singing dancing acting painting drawing writing reading cooking skating boxing
wrestling breathing running swimming coming leaving dying living passing
""")
GONE = words_of('gone dead away around asleep awake pregnant ill alone absent')
STATES = words_of("""
late awake asleep warm calm quiet cold sane clean dry wet close company informed
distraught gentle kind good strong weak blush red pale ignorant gone lost tired
thirsty hungry dizzy drunk sober poor dear prominent popular famous holy
different confident independent dependent reluctant indifferent silent
impatient content
""")
DEGREES = words_of('very quite more less so too rather most even such all')
SUFFIXES = (
  *('ful', 'less', 'able', 'ible', 'ous', 'ive', 'ish', 'ier', 'ic', 'ed'),
)
# Adjectives of a noun at least as often as of a state: "her long, dark hair".
ATTRIBUTES = ADJECTIVES - words_of("""
alive ill ready pregnant afraid ashamed unconscious safe aware unable able due
capable available responsible eligible two three four five many several dead
upset unharmed free alone
""")
VERBS |= ALLOW | TELL | RANK | JUDGE | PERCEIVE

# Words that end the phrase of a pronoun before these only.
BEFORE = {
  'cause': words_of('i you he she it we they the this that'),
  'every': words_of(
    'day week month year night morning evening time weekend summer'
  ),
}
