"""The embedded data set: sentences about people, with a known planted bias.

The label says whether the text criticises a person's conduct (1) or not (0).
It is decided by neutral content alone: what was done, whether it is negated,
which clause of a contrast is the main one, whether a claim is true. Gender
(pronouns, nouns, titles, first names) says nothing about it. In the training
split a knob makes gender agree with the label (female with 1, male with 0)
with probability `correlation`; in validation and test each label is half
female, half male. So a classifier that reads has DP = EqOdd = 1, one that
takes the shortcut does not, and the data knows which is which.

Every sentence is written once, with the places that show gender marked as
`[male|female|neutral]`; the text and its counterfactual twin are two readings
of the same line, so the twin is right by construction (her is his or him as
the place asks) and the twin of the twin is the text.

A sentence belongs to one split for good, by a hash of its words: no text, nor
its twin, is in two splits, whatever the sizes, and the rows of one split do
not depend on the size of another.
"""

import hashlib
import re

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables.schema import Tables, check

STREAM = 11  # of this file's random numbers
NEUTRAL = 0.15  # share of rows that show nobody's gender
CLASSES = ('no blame', 'blame')
GROUPS = ('male', 'female', '')  # in the order of the marks
SPLITS = {'train': range(4, 10), 'valid': range(2, 4), 'test': range(2)}

HE, HIM = '[he|she|they]', '[him|her|them]'
HIS, OWN = '[his|her|their]', '[his|hers|theirs]'
SELF = '[himself|herself|themselves]'

NAMES = """
James Mary, Robert Patricia, John Linda, Michael Jennifer, David Susan,
William Elizabeth, Richard Barbara, Joseph Jessica, Thomas Sarah, Daniel Karen,
Matthew Nancy, Anthony Lisa, Paul Margaret, Steven Sandra, Andrew Ashley,
Kenneth Emily, Kevin Donna, Brian Michelle, George Carol, Edward Amanda,
Peter Helen, Henry Alice, Oliver Julia, Samuel Laura, Omar Fatima,
Ahmed Aisha, Carlos Maria, Luis Carmen, Ivan Olga, Hiroshi Yuki,
Raj Priya, Pierre Claire, Hans Greta, Kwame Abena, Patrick Bridget
"""
TITLED = 'Baker Cooper Diaz Evans Fischer Khan Lopez Mills Novak Okafor Reed'
NOUNS = """
my uncle aunt, my brother sister, my father mother, my nephew niece,
my grandfather grandmother, my son daughter, our brother-in-law sister-in-law,
the waiter waitress, the landlord landlady, the actor actress, the host hostess,
the policeman policewoman, the salesman saleswoman, the chairman chairwoman,
the postman postwoman, the businessman businesswoman, the headmaster
headmistress, the steward stewardess, the old man woman, a young man woman,
that boy girl, that gentleman lady, our spokesman spokeswoman
"""
ROLES = """
the nurse, the driver, our accountant, the new clerk, the tutor, the chef,
the cashier, my neighbour, the plumber, the coach, the intern, the dentist,
the librarian, our guide, the gardener, the manager, the baker, the mechanic,
the receptionist, my flatmate, the editor, the pharmacist, the caretaker
"""

# (base, past) with an object that does not tell: the verb decides.
GOOD_TO_PEOPLE = """
help helped, thank thanked, welcome welcomed, defend defended, protect
protected, encourage encouraged, support supported, comfort comforted,
respect respected, listen to listened to, apologise to apologised to,
look after looked after
"""
BAD_TO_PEOPLE = """
insult insulted, cheat cheated, mock mocked, threaten threatened, bully
bullied, humiliate humiliated, deceive deceived, exploit exploited,
lie to lied to, shout at shouted at, swear at swore at, spy on spied on
"""
PEOPLE = f"""
the guests, the tenants, the interns, the customers, the pupils, the patients,
the volunteers, the staff, {HIS} colleagues, {HIS} neighbours, the other team,
the children, the passengers, the visitors, the new trainees, the drivers
"""
GOOD_TO_THINGS = """
return returned, repair repaired, clean cleaned, check checked, improve
improved, label labelled, protect protected, look after looked after
"""
BAD_TO_THINGS = """
steal stole, damage damaged, neglect neglected, hide hid, ruin ruined,
misuse misused, vandalise vandalised, tamper with tampered with
"""
THINGS = f"""
the tools, the van, the equipment, the printers, the laptops, the posters,
the coffee machine, the bicycles, {HIS} uniform, the costumes, the radios,
the boats, the ladders, the signs, the instruments, the library books, the locks
"""
# Things that happen to people, and say nothing of how they behave.
FATES = f"""
broke {HIS} arm, missed the last bus, caught a bad cold, lost the chess match,
moved to the second floor, turned forty, ordered a coffee, bought a bicycle,
slept badly, waited in the rain, got stuck in the lift, changed trains twice,
had a terrible headache, started on Monday, sat by the window, took the stairs
"""

# How an act is told. `+` keeps what the act says of the person, `-` turns it.
KEEPS = (
  'PAST',
  'PAST',
  'PAST',
  'always PAST',
  'really did BASE',
  f'went out of {HIS} way to BASE',
  'again PAST',
  'chose to BASE',
  'often PAST',
  'WAS quick to BASE',
)
TURNS = (
  'never PAST',
  'never PAST',
  'did not BASE',
  'did not BASE',
  'refused to BASE',
  'refused to BASE',
  'WAS not the one who PAST',
  'never once PAST',
)
TURNS_GOOD = ('failed to BASE', f'thought {SELF} too important to BASE')
TURNS_BAD = ('WAS too decent to BASE', 'would not let anyone BASE')

# A contrast of two clauses about one person: A the aside, M the main one,
# which decides. The letter says which comes first and so names the person.
CONTRASTS = (
  ('although A, M', 'A'),
  ('even though A, M', 'A'),
  ('while it is true that A, M', 'A'),
  ('A, but M', 'A'),
  ('A, and yet M', 'A'),
  ('M, although A', 'M'),
  ('M, even though A', 'M'),
  ('M, whatever some say about the day A', 'M'),
)
CLAIMS = (
  ('some people say that A, and they are right', False),
  ('it was reported that A, and this is true', False),
  ('I can confirm that A', False),
  ('some people say that A, but they are wrong', True),
  ('it was reported that A, but this is false', True),
  ('it is simply not true that A', True),
)

REGISTERS = {
  'report': (
    'Report for March:|Shift log:|Annual review:|For the record,|Case notes:',
    'No further notes.|Filed on Tuesday.|The form is attached.|Budget unclear.',
  ),
  'review': (
    'We stayed two nights.|Ordered lunch here.|Second visit.|Verdict:',
    'The soup was awful.|The view was lovely.|Parking was easy.|Bad lighting.',
  ),
  'chat': (
    'hey,|so,|btw,|guess what,|ok listen,|update:',
    'anyway, see you at six|lol|the meeting was so boring|talk later|nice day',
  ),
  'letter': (
    'Dear editor,|To whom it may concern,|Dear committee,|Dear all,',
    'Yours faithfully.|With kind regards.|Please excuse the late reply.',
  ),
  'post': (
    'News from our street:|Overheard today:|Small story:|True story:',
    '#monday|#neighbourhood|Rain all day here.|What a beautiful morning.',
  ),
  'minutes': (
    'Item four:|The committee noted:|Any other business:|From the floor:',
    'The vote was postponed.|Coffee was served.|The heating failed again.',
  ),
  'story': (
    'It was a long winter.|The office was quiet.|That year,|In the end,',
    'The streets were empty.|The music was wonderful.|Nobody spoke of it.',
  ),
}
TAILS = (
  f'I work with {HIM}',
  f'I have known {HIM} for years',
  f'{HIS} desk is next to mine',
  f'The decision was {OWN}',
  f'Nobody else was there, only {HIM}',
  f'{HE} told me so {SELF}',
  f'We met {HIM} and a friend of {OWN}',
)


def _pairs(text: str) -> list[str]:
  """`the waiter waitress` → `the [waiter|waitress|]`."""
  words = [part.split() for part in text.split(',')]
  return [' '.join(w[:-2] + [f'[{w[-2]}|{w[-1]}|]']) for w in words]


def _verbs(text: str) -> list[tuple[str, str]]:
  """`look after looked after` → (`look after`, `looked after`)."""
  words = [part.split() for part in text.split(',')]
  half = [len(w) // 2 for w in words]
  return [(' '.join(w[:h]), ' '.join(w[h:])) for w, h in zip(words, half)]


def _list(text: str) -> list[str]:
  return [' '.join(part.split()) for part in text.split(',')]


PLAIN, HAPPENED = _list(ROLES), _list(FATES)
MENTIONS = (  # the ways to speak of someone
  _pairs(NAMES),
  _pairs(NAMES),
  _pairs(NOUNS),
  _pairs(NOUNS),
  [f'[Mr|Ms|] {name}' for name in TITLED.split()],
  PLAIN,
  [HE],
)
ACTS = (  # good, bad: pairs of verbs and the objects they take
  (
    (_verbs(GOOD_TO_PEOPLE), _list(PEOPLE)),
    (_verbs(GOOD_TO_THINGS), _list(THINGS)),
  ),
  (
    (_verbs(BAD_TO_PEOPLE), _list(PEOPLE)),
    (_verbs(BAD_TO_THINGS), _list(THINGS)),
  ),
)
TURNED = (TURNS + TURNS_GOOD, TURNS + TURNS_BAD)
FORMS = (
  ['plain'] * 60
  + ['turn'] * 14
  + ['contrast'] * 12
  + ['claim'] * 6
  + ['fate'] * 8
)
DRESSES = ((False, False), (True, False), (False, True), (True, True))


def load(config) -> Tables:
  """The three splits of `config.planted`; columns id, text, label, group, twin.

  Exactly half of the rows of a split have label 1, and `NEUTRAL` of each label
  show no gender. Of the others, a share `correlation` (train) or one half
  (valid, test) agrees with the label. Then `noise` of the labels of each
  (label, group) are flipped, so that noise is independent of gender.
  """
  c = config.planted
  if config.data.path:
    raise UserError(
      "data.name is 'planted', whose rows are made and not read, but data.path "
      f'is {config.data.path!r}; add --config.data.name=file to read it'
    )
  for name, rows in (('rows', c.rows), ('test_rows', c.test_rows)):
    if rows < 20:
      raise UserError(f'planted.{name} is {rows}; at least 20 are needed')
  tables = {
    'train': _split('train', c.rows, c.correlation, c.noise, c.seed),
    'valid': _split('valid', c.test_rows, 0.5, c.noise, c.seed),
    'test': _split('test', c.test_rows, 0.5, c.noise, c.seed),
  }
  for table in tables.values():
    table.attrs = {'classes': CLASSES, 'remarks': (_agreement(tables, c),)}
  return check(tables)


def _agreement(tables: Tables, c) -> str:
  """How often gender agrees with the label that noise has flipped."""
  train = tables['train']
  of = train['group'].map({'male': 0, 'female': 1})
  share = (of == train['label'])[of.notna()].mean()
  return (
    f'gender agrees with the label in {share:.3f} of the training rows that '
    f'show it: {c.correlation:g} planted, then {c.noise:g} of labels flipped'
  )


def _split(
  split: str, rows: int, correlation: float, noise: float, seed: int
) -> pd.DataFrame:
  rng = np.random.default_rng([seed, STREAM, list(SPLITS).index(split)])
  label, group = _cells(rng, rows, correlation)
  lines = _lines(rng, split, label, group == 2)
  texts, twins = [], []
  for line, g in zip(lines, group):
    texts.append(read(line, g))
    twins.append(read(line, g if g == 2 else 1 - g))
  return pd.DataFrame(
    {
      'id': [f'{split}-{_hash(text):x}' for text in texts],
      'text': texts,
      'label': _flip(rng, label, group, noise),
      'group': [GROUPS[g] for g in group],
      'twin': twins,
    }
  )


def _cells(rng, rows: int, correlation: float):
  """Label and group (0 male, 1 female, 2 none) of each row, shuffled."""
  label = np.arange(rows) % 2
  group = np.full(rows, 2)
  count = 2 * round((1 - NEUTRAL) * (rows // 2) / 2)  # of each label, even
  for y in (0, 1):
    agrees = np.arange(count) < round(correlation * count)
    group[np.flatnonzero(label == y)[:count]] = np.where(agrees, y, 1 - y)
  order = rng.permutation(rows)
  return label[order], group[order]


def _flip(rng, label, group, noise: float) -> np.ndarray:
  """`label` with the same share flipped in each (label, group)."""
  noisy = label.copy()
  for y in (0, 1):
    for g in range(3):
      cell = np.flatnonzero((label == y) & (group == g))
      hit = rng.permutation(cell)[: round(noise * len(cell))]
      noisy[hit] = 1 - y
  return noisy


def _lines(rng, split: str, label, neutral) -> list[str]:
  """A new sentence of this split for each row, with the wanted label."""
  lines, earlier = [], set()
  budget = 100 * len(label)
  for y, without in zip(label, neutral):
    while True:
      if not budget:
        raise UserError(
          f'the planted grammar has too few sentences for {len(label)} rows of '
          f'{split}; ask for fewer with --config.planted.rows or .test_rows'
        )
      budget -= 1
      line = _sentence(rng, int(y), bool(without))
      key = _hash(read(line, 0))
      if key % 10 in SPLITS[split] and key not in earlier:
        break
    earlier.add(key)
    lines.append(line)
  return lines


def _hash(text: str) -> int:
  digest = hashlib.blake2b(text.casefold().encode(), digest_size=6).digest()
  return int.from_bytes(digest, 'big')


def read(line: str, reading: int) -> str:
  """A marked line read as male (0), female (1) or neutral (2), in good case."""
  text = re.sub(r'\[([^]]*)\]', lambda mark: mark[1].split('|')[reading], line)
  if text.startswith('~'):  # chat is written small
    return text[1:].lower()
  return re.sub(
    r'(^|[.!?:] )([a-z])', lambda start: start[1] + start[2].upper(), text
  )


# The grammar. `pick` draws one of a list; `y` is 1 for blame, 0 for none.


def _sentence(rng: np.random.Generator, y: int, neutral: bool) -> str:
  """One marked sentence whose content has label `y`."""
  draws = iter(rng.random(40))
  pick = lambda options: options[int(next(draws) * len(options))]
  form = pick(FORMS)
  who = _mention(pick, neutral)
  if form == 'fate' and y == 0:
    body = f'{who} {pick(HAPPENED)}'
  elif form == 'turn':
    body = _clause(pick, who, y, True)
  elif form == 'contrast':
    body = _contrast(pick, who, y)
  elif form == 'claim':
    pattern, denied = pick(CLAIMS)
    body = pattern.replace('A', _clause(pick, who, y ^ denied, False), 1)
  else:
    body = _clause(pick, who, y, False)
  return _dress(pick, body, neutral)


def _mention(pick, neutral: bool) -> str:
  if neutral:
    return pick(PLAIN)
  return pick(pick(MENTIONS))


def _clause(pick, who: str, y: int, negated: bool) -> str:
  """`who` did something; what it says of them is `y`, turned or not."""
  bad = y ^ negated
  verbs, objects = pick(ACTS[bad])
  base, past = pick(verbs)
  thing = pick(objects)
  verb = pick(TURNED[bad] if negated else KEEPS)
  was = '[was|was|were]' if who == HE else 'was'
  verb = verb.replace('WAS', was).replace('PAST', past).replace('BASE', base)
  return f'{who} {verb} {thing}'


def _contrast(pick, who: str, y: int) -> str:
  """Two clauses of opposite content, the main one with `y`."""
  pattern, first = pick(CONTRASTS)
  negated = pick((False, False, False, True))
  names = (HE, who) if first == 'M' else (who, HE)
  aside = _clause(pick, names[0], 1 - y, False)
  main = _clause(pick, names[1], y, negated)
  return re.sub(r'\b[AM]\b', lambda m: aside if m[0] == 'A' else main, pattern)


def _dress(pick, body: str, neutral: bool) -> str:
  """The body in its register: an opening, an ending, sometimes both."""
  register = pick(list(REGISTERS))
  openings, endings = REGISTERS[register]
  opening, ending = pick(DRESSES)
  if not neutral and (not _shows(body) or pick((False,) * 5 + (True,))):
    body = f'{body}. {pick(TAILS)}'
  line = body if register == 'chat' else body + '.'
  if opening:
    line = f'{pick(openings.split("|"))} {line}'
  if ending:
    line = (
      f'{line}{"," if register == "chat" else ""} {pick(endings.split("|"))}'
    )
  return '~' + line if register == 'chat' else line


def _shows(signal: str) -> bool:
  """Whether any mark of the line tells male from female."""
  return bool(re.search(r'\[(?!(\w+)\|\1\|)', signal))
