"""A synthetic corpus with an invented attribute: two clans, and their words.

Sentences tell of members of two clans, first and second. Almost every word
that shows the clan has a partner in the same role (as queen and king have),
with frequencies that fall from role to role; some have none; some look like
words of a clan and are used of both; names show the clan and belong to no
pair. Roles have acts and things of their own, clans have none: what a member
does tells the role, never the clan. So the right dictionary is known, and
everything a method says can be marked.

All words are made of syllables, those of a pair independently, so
that neither spelling nor any dictionary helps.
"""

import pathlib
from typing import NamedTuple

import numpy as np

from fairjax.core import artefacts

STREAM = 23  # of this file's random numbers
ROLES = 24  # pairs of nouns
ALONE = 4  # roles of one clan only, each
SHARED = 6  # roles of both clans with one word
NAMES = 10  # of each clan
SYLLABLES = [c + v for c in 'bdfgklmnprstvz' for v in 'aeiou']
PLAIN = """
old young tall quiet clever tired famous strange poor kind busy lonely
""".split()
PLACES = """
river market tower garden harbour forest bridge temple valley kitchen
""".split()
TIMES = 'today often never again once yesterday'.split()


class Gold(NamedTuple):
  """What is true of the words of the corpus."""

  pairs: tuple[tuple[str, str], ...]  # of nouns, (first, second)
  seeds: tuple[str, str]  # the pronouns, a pair too
  forms: tuple[tuple[str, str], ...]  # other pronouns: possessive, object
  alone: tuple[tuple[str, int], ...]  # (word, side): no partner
  both: tuple[str, ...]  # used of both clans
  names: tuple[tuple[str, int], ...]  # (name, side)

  @property
  def known(self) -> tuple[tuple[str, str], ...]:
    """Every pair that a dictionary should have."""
    return (self.seeds, *self.forms, *self.pairs)


def words(count: int, draw: np.random.Generator) -> list[str]:
  """Distinct invented words of two or three syllables."""
  out: dict[str, None] = {}
  while len(out) < count:
    n = int(draw.integers(2, 4))
    out[''.join(draw.choice(SYLLABLES, n))] = None
  return list(out)


def gold() -> tuple[Gold, list[str]]:
  """The clans' words, and what is left for acts and things."""
  draw = np.random.default_rng([0, STREAM])
  pool = iter(words(700, draw))
  pair = lambda: (next(pool), next(pool))
  result = Gold(
    tuple(pair() for _ in range(ROLES)),
    pair(),
    (pair(), pair()),
    tuple((next(pool), side) for side in (-1, 1) for _ in range(ALONE)),
    tuple(next(pool) for _ in range(SHARED)),
    tuple((next(pool), side) for side in (-1, 1) for _ in range(NAMES)),
  )
  return result, list(pool)


def sentences(count: int) -> tuple[list[str], Gold]:
  """`count` sentences and the truth about their words."""
  known, rest = gold()
  draw = np.random.default_rng([0, STREAM, 1])
  # (word of the first clan, of the second); '' where a clan has none.
  roles = [*known.pairs, *((w, w) for w in known.both)]
  roles += [(w, '') if side < 0 else ('', w) for w, side in known.alone]
  acts = [rest[4 * k : 4 * k + 2] for k in range(len(roles))]
  things = [rest[4 * k + 2 : 4 * k + 4] for k in range(len(roles))]
  # Zipf: the k-th role is 1/(k + 3) as frequent; kinds of role are mixed.
  rank = np.random.default_rng([0, STREAM, 2]).permutation(len(roles))
  weight = 1.0 / (rank + 3)
  for k, both in enumerate(roles):
    weight[k] *= 0.5 if '' in both else 1
  weight /= weight.sum()
  called = [[n for n, side in known.names if side == s] for s in (-1, 1)]
  one = lambda options: options[int(draw.integers(len(options)))]
  out = []
  for _ in range(count):
    k = int(draw.choice(len(roles), p=weight))
    able = [side for side in (0, 1) if roles[k][side]]
    side = one(able)
    noun = roles[k][side]
    subject, whose, whom = (pair[side] for pair in (known.seeds, *known.forms))
    act, thing, other = one(acts[k]), one(things[k]), one(things[k])
    name, plain, place = one(called[side]), one(PLAIN), one(PLACES)
    some = (
      f'the {noun} {act} the {thing} and {subject} {act} {whose} {other}',
      f'{subject} is the {noun} who {act} {whose} {thing} at the {place}',
      f'{name} the {noun} {act} the {thing} {one(TIMES)}',
      f'at the {place} we saw {whom} , the {plain} {noun} of the {thing}',
      f'a {noun} {act} a {thing} , so {name} took {whose} {other}',
      f'{name} said that {subject} {act} the {thing} as a {noun}',
      f'{subject} {one(TIMES)} {act} {whose} {thing} for the {noun}',
      f'the {noun} saw {name} and {whose} {plain} {thing}',
    )
    out.append(f'{one(some)} .')
  return out, known


def write(folder: pathlib.Path, count: int, shards: int = 4) -> Gold:
  """The corpus as .txt shards, a sentence a line."""
  texts, known = sentences(count)
  for k in range(shards):
    some = texts[k::shards]
    artefacts.write_text(folder / f'part_{k}.txt', '\n'.join(some) + '\n')
  return known
