"""Verdicts on claims.

A claim is about one number, that it is above a bound; the whole interval of the
number decides, and of a count the count. What was named before a run
(`measures.primary`) is one family: its intervals hold together and its p are
Holm's. Anything else is exploratory, and no verdict of its own.
"""

import re
import statistics
from collections.abc import Mapping, Sequence

from fairjax import results
from fairjax.metrics import measures
from fairjax.metrics.inference import estimates, significance
from fairjax.report import findings, tables, words, written

HOLDS, FAILS, OPEN = words.CLAIM.values()
EXPLORATORY, PRIMARY = words.EXPLORATORY, 'primary'
# 'OURS against THEIRS: MEASURE on SET', and 'above' or 'below' a BOUND.
SPEC = re.compile(
  r'(?P<ours>.+) against (?P<theirs>.+): (?P<measure>\S+( at \S+)?) on '
  r'(?P<set>.+?)(?: (?P<side>above|below) (?P<bound>-?[\d.]+))?'
)
COUNT = 'count'  # decides without chance
OVER_SEEDS = 't interval over seeds'  # of what differs by the seed alone
POWER = 0.8  # how often a claim of the smallest effect that is said is decided


def of_interval(effect: Mapping, bound: float = 0.0) -> str:
  """What an Estimate says of the claim that it is above `bound`."""
  return words.CLAIM[findings.side(effect, bound)]


def settled(found: results.Results) -> list[dict]:
  """The verdicts of a run: those of its primary claims, and the others.

  The primary ones are held to intervals that hold together and to Holm's p;
  both have to decide. A count decides itself. Others are exploratory.
  """
  if all('family' in one for one in found.verdicts) and found.verdicts:
    return found.verdicts
  each = ((verdict_named(spec, found), spec) for spec in found.primary)
  named = [(one, SPEC.fullmatch(spec)) for one, spec in each if one]
  p = [p_of(one, found.level) for one, _ in named]
  out = []
  for (one, match), adjusted in zip(named, significance.adjusted(p)):
    seeds = len(found.seeds) if one['test'].endswith('over seeds') else 0
    room = measures.apart(match['measure'] if match else '')
    family = found.level, len(named), room, seeds
    wide = findings.simultaneous(one['effect'], *family)
    side = findings.decided(wide, one['bound'], adjusted, found.level)
    wording = words.CLAIM[side] if one['test'] != COUNT else one['verdict']
    more = {'adjusted': adjusted, 'family': PRIMARY, 'of': len(named)}
    out.append({**one, 'effect': wide, 'verdict': wording, **more})
  claims = {one['claim'] for one in out}
  others = [one for one in found.verdicts if one['claim'] not in claims]
  return out + [
    {
      **one,
      'verdict': one['verdict'] if one['test'] == COUNT else EXPLORATORY,
      'adjusted': None,
      'family': EXPLORATORY,
    }
    for one in others
  ]


def verdict_named(spec: str, found: results.Results) -> dict | None:
  """The claim that a line of `measures.primary` names; None without a test."""
  match = SPEC.fullmatch(spec)
  if not match:
    return next((v for v in found.verdicts if v['claim'] == spec), None)
  ours, theirs, name, where = match.group('ours', 'theirs', 'measure', 'set')
  bound = float(match['bound'] or 0)
  row = measures.measure(name)
  more = row is None or row.better > 0
  if match['side']:
    more = more if bound else match['side'] == 'above'
  for test in over_examples(found.tests, ours, theirs):
    if (test['measure'], test['set']) == (name, where):
      return claim(
        words.of_claim(ours, theirs, name, where, more, bound),
        test['difference'] if more else findings.negated(test['difference']),
        bound,
        test['test'],
        None if bound else test['p'],
        'difference' if more else 'lower by',
        bool(test.get('p_at_floor')),
      )
  return None


def p_of(one: Mapping, level: float) -> float | None:
  """That of the test; of another bound than 0 by its interval's width."""
  effect = one['effect']
  if one['p'] is not None or one['test'] == COUNT:
    return one['p']
  if decided_from(effect, level) is None:
    return None
  away = {k: effect[k] - one['bound'] for k in ('value', 'low', 'high')}
  return estimates.p_of(away, level)


def decided_from(effect: Mapping, level: float) -> float | None:
  """The distance from a bound that such an interval decides 4 times of 5.

  (z_{(1+level)/2} + z_{POWER}) σ of a normal estimate, whose σ is half the
  interval over z. Where few seeds widened the interval (Student's t) it is
  more than that: what is said is then too much, not too little.
  """
  if not tables.has_ends(effect):
    return None
  normal = statistics.NormalDist()
  z = normal.inv_cdf((1 + level) / 2)
  return (z + normal.inv_cdf(POWER)) / z * (effect['high'] - effect['low']) / 2


def times_larger(effect: Mapping, bound: float, level: float) -> float | None:
  """How many times the rows and seeds decide `effect`, if it is as measured.

  σ falls as 1/√n, so (distance that is decided / distance that there is)².
  """
  decided = decided_from(effect, level)
  away = abs(effect['value'] - bound)
  return (decided / away) ** 2 if decided is not None and away else None


def claim(
  text: str,
  effect: Mapping,
  bound: float,
  test: str,
  p: float | None = None,
  what: str = 'difference',
  p_at_floor: bool = False,
) -> dict:
  """A row of the verdict page: the claim is that `effect` is above `bound`.

  `what` says what number the effect is.
  """
  return {
    'claim': text,
    'verdict': of_interval(effect, bound),
    'what': what,
    'effect': dict(effect),
    'side': 'above',
    'bound': bound,
    'test': test,
    'p': p,
    'p_at_floor': p_at_floor,
  }


def over_examples(
  tests: Sequence[Mapping], ours: str, theirs: str
) -> list[Mapping]:
  """The tests of one contender against another, one a set and measure."""
  every = findings.paired(tests, ours).items()
  return [test for (other, *_), test in every if other == theirs]


def sections(found: results.Results) -> list[dict]:
  """The claims with their numbers: primary ones, and exploratory ones apart."""
  claims = settled(found)
  primary = [one for one in claims if one['family'] == PRIMARY]
  others = [one for one in claims if one['family'] != PRIMARY]
  return written.sections(
    'claims.txt',
    primary=[_row(one) for one in primary],
    others=[_row(one) for one in others],
    tally=words.tally([one['verdict'] for one in primary]),
    plural=tables.plural,
    over_examples=any(c['test'].endswith('over examples') for c in claims),
  )


def _row(one: Mapping) -> dict:
  row = {
    'claim': one['claim'],
    'verdict': one['verdict'],
    one['what'] if one['test'] == COUNT else 'effect': one['effect'],
    'must be': f'{one["side"]} {one["bound"]:g}',
    'p, adjusted': tables.p_value({**one, 'p': one.get('adjusted')}),
    'test': one['test'],
  }
  if one['family'] != PRIMARY:
    del row['p, adjusted']
  if one['verdict'] == EXPLORATORY:
    del row['verdict']
  return row
