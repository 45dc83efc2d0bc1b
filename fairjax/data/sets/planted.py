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
from fairjax.data.word_tables import table_rows

NEUTRAL = 0.15  # share of rows that show nobody's gender
NOISE = 0.02  # share of labels flipped in every split
CLASSES = ('no blame', 'blame')
GROUPS = ('male', 'female', '')  # in the order of the marks
SPLITS = {'train': range(4, 10), 'valid': range(2, 4), 'test': range(2)}

HE = '[he|she|they]'


def _grammar() -> dict[str, list]:
  """{kind: its entries}, of two columns where both are filled.

  Verbs stand with their past; acts are told by 'keeps', which keep what the
  act says of the person, or 'turns', which turn it. Of a 'contrast' M is the
  main clause, which decides; the letter is that of the first clause.
  """
  out: dict[str, list] = {}
  for kind, first, second in table_rows(__file__, 'planted.csv'):
    out.setdefault(kind, []).append((first, second) if second else first)
  return out


GRAMMAR = _grammar()
MENTIONS = (  # the ways to speak of someone; names and nouns are commonest
  *(GRAMMAR['name'], GRAMMAR['name'], GRAMMAR['noun'], GRAMMAR['noun']),
  *(GRAMMAR['titled'], GRAMMAR['role'], [HE]),
)
ACTS = tuple(  # good, bad: pairs of verbs and the objects they take
  (
    (GRAMMAR[f'{kind} to people'], GRAMMAR['people']),
    (GRAMMAR[f'{kind} to things'], GRAMMAR['thing']),
  )
  for kind in ('good', 'bad')
)
TURNED = GRAMMAR['turns good'], GRAMMAR['turns bad']
REGISTERS = 'report review chat letter post minutes story'.split()
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
  (valid, test) agrees with the label. Then `NOISE` of the labels of each
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
    'train': _split('train', c.rows, c.correlation, c.seed),
    'valid': _split('valid', c.test_rows, 0.5, c.seed),
    'test': _split('test', c.test_rows, 0.5, c.seed),
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
    f'show it: {c.correlation:g} planted, then {NOISE:g} of labels flipped'
  )


def _split(split: str, rows: int, correlation: float, seed: int):
  rng = np.random.default_rng([seed, 11, list(SPLITS).index(split)])
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
      'label': _flip(rng, label, group),
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


def _flip(rng, label, group) -> np.ndarray:
  """`label` with the same share flipped in each (label, group)."""
  noisy = label.copy()
  for y in (0, 1):
    for g in range(3):
      cell = np.flatnonzero((label == y) & (group == g))
      hit = rng.permutation(cell)[: round(NOISE * len(cell))]
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
  who = pick(GRAMMAR['role']) if neutral else pick(pick(MENTIONS))
  if form == 'fate' and y == 0:
    body = f'{who} {pick(GRAMMAR["fate"])}'
  elif form == 'turn':
    body = _clause(pick, who, y, True)
  elif form == 'contrast':
    body = _contrast(pick, who, y)
  elif form == 'claim':
    pattern, truth = pick(GRAMMAR['claim'])
    says = y ^ (truth == 'denied')
    body = pattern.replace('A', _clause(pick, who, says, False), 1)
  else:
    body = _clause(pick, who, y, False)
  return _dress(pick, body, neutral)


def _clause(pick, who: str, y: int, negated: bool) -> str:
  """`who` did something; what it says of them is `y`, turned or not."""
  bad = y ^ negated
  verbs, objects = pick(ACTS[bad])
  base, past = pick(verbs)
  thing = pick(objects)
  verb = pick(TURNED[bad] if negated else GRAMMAR['keeps'])
  was = '[was|was|were]' if who == HE else 'was'
  verb = verb.replace('WAS', was).replace('PAST', past).replace('BASE', base)
  return f'{who} {verb} {thing}'


def _contrast(pick, who: str, y: int) -> str:
  """Two clauses of opposite content, the main one with `y`."""
  pattern, first = pick(GRAMMAR['contrast'])
  negated = pick((False, False, False, True))
  names = (HE, who) if first == 'M' else (who, HE)
  aside = _clause(pick, names[0], 1 - y, False)
  main = _clause(pick, names[1], y, negated)
  return re.sub(r'\b[AM]\b', lambda m: aside if m[0] == 'A' else main, pattern)


def _dress(pick, body: str, neutral: bool) -> str:
  """The body in its register: an opening, an ending, sometimes both."""
  register = pick(REGISTERS)
  opening, ending = pick(DRESSES)
  # Whether any mark of the line tells male from female.
  shows = re.search(r'\[(?!(\w+)\|\1\|)', body)
  if not neutral and (not shows or pick((False,) * 5 + (True,))):
    body = f'{body}. {pick(GRAMMAR["tail"])}'
  line = body if register == 'chat' else body + '.'
  if opening:
    line = f'{pick(GRAMMAR[f"{register} opening"])} {line}'
  if ending:
    comma = ',' if register == 'chat' else ''
    line = f'{line}{comma} {pick(GRAMMAR[f"{register} ending"])}'
  return '~' + line if register == 'chat' else line
