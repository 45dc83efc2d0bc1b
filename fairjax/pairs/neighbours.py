"""Sets of words that the rules of context.py look for beside a pronoun."""


def words_of(text: str) -> frozenset[str]:
  return frozenset(text.split())


# A word that cannot begin what her/his possesses: the pronoun ends its phrase.
ENDERS = words_of("""
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
afterward thereafter lol omg smh btw tho thru cuz cause bc rt
""")
# Possessive when a noun follows, else the pronoun ends its phrase: "her later
# works" against "met her later".
ADVERBS = words_of("""
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
family belly bully jelly lily reply ally assembly daily early weekly only
lovely elderly deadly friendly ugly holy monthly lonely lively curly silly
yearly fly supply anomaly monopoly homily motherly fatherly kindly worldly
costly scholarly bodily heavenly earthly womanly manly cowardly orderly homely
""")
# Words in -ing that are nouns or adjectives after a possessive.
ING_NOUNS = words_of("""
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
