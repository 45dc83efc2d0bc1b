"""What a run found: numbers and verdicts, without a word of English.

A finding is about a subject (a contender), a measure, and what it is held
against: another contender, a control, chance, a bound. Its verdict is that of
its interval, corrected over the family of findings that it was looked at with;
report/words.py says it.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fairjax.data.word_tables import table_rows
from fairjax.metrics import measures, warn
from fairjax.metrics.inference import estimates, significance
from fairjax.report.tables import defined, has_ends
from fairjax.results import Results

# Verdicts: where the whole interval lies. SMALL is within what is called
# little, VOID what these data cannot say at all.
ABOVE, BELOW, SMALL, OPEN, VOID = 'above', 'below', 'small', 'open', 'void'
LITTLE = 0.05  # a gap that is called small
RARE = 0.02  # flips that are called few
WELL = 0.8  # an AUC from which on a model ranks well
OTHER = {'fpr': 'fnr', 'fnr': 'fpr'}  # the other error


@dataclasses.dataclass(frozen=True)
class Finding:
  kind: str  # gap, contest, flips, quality, score, count
  subject: str
  set: str
  measure: str  # its name in the results
  estimate: Mapping[str, Any]  # corrected: the interval that decides
  verdict: str
  comparison: str = ''  # what the subject is held against
  groups: tuple[str, ...] = ()
  bound: float | None = None
  p: float | None = None
  adjusted: float | None = None
  family: int = 1  # findings that p and interval are corrected over
  unit: str = ''
  beside: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def simultaneous(
  estimate: Mapping,
  level: float,
  tests: int,
  bounds: tuple[float, float],
  seeds: int = 0,
) -> dict:
  """The interval of one of several estimates that hold together.

  Bonferroni's: each end is farther from the value by the ratio of the
  quantiles, Student's of `seeds` − 1 where seeds alone made the interval, and
  none is beyond the `bounds` of what is estimated.
  """
  if not (defined(estimate) and has_ends(estimate)):
    return dict(estimate)
  value, low, high = (estimate[key] for key in ('value', 'low', 'high'))
  if tests > 1:
    wider = significance.wider(level, tests, seeds)
    low, high = (value + wider * (end - value) for end in (low, high))
  return {**estimate, 'low': max(low, bounds[0]), 'high': min(high, bounds[1])}


def side(estimate: Mapping, bound: float = 0.0) -> str:
  """On which side of a bound the whole interval lies."""
  low, high = estimate.get('low'), estimate.get('high')
  if defined(low) and low > bound:
    return ABOVE
  return BELOW if defined(high) and high < bound else OPEN


def decided(
  estimate: Mapping, bound: float, adjusted: float | None, level: float
) -> str:
  """`side`, unless the adjusted p does not reject; both have to."""
  sure = adjusted is None or significance.is_significant(adjusted, 1 - level)
  return side(estimate, bound) if sure else OPEN


def shown(results: Results) -> list[Finding]:
  """What a page says first, in its order: of each kind on the first set."""
  if not results.sets:
    each = (contests(results, name) for name in results.set_names())
    found = next(filter(None, each), [])
    for one in found[:1]:  # how good, and how fair, the first of them is
      own = results.contenders[one.subject]['sets'][one.set]
      of_one = gaps(own, results.level, one.set, one.subject)
      found = [*found, *leading(of_one, one.measure)[:1]]
      found += quality(one.subject, one.set, own)
    return [*found, *scores(results)] or count(results)
  who = results.focus or results.model

  def first(of_set) -> list[Finding]:
    each = (of_set(name, one) for name, one in results.sets.items())
    return next((found for found in each if found), [])

  found = first(lambda name, _: contests(results, name))
  like = found[0].measure if found else ''
  found += first(
    lambda name, one: leading(gaps(one, results.level, name, who), like)
  )
  found += first(lambda name, one: flips(results, name, one)[:1])
  ranks = first(lambda name, one: quality(who, name, one))
  # Reversed labels or scores would turn all of it around.
  worse = bool(ranks) and ranks[0].verdict == BELOW
  scored = scores(results)
  known = any(f.kind in ('contest', 'gap') for f in found)
  found = [*ranks, *found] if worse else [*found, *ranks]
  if known:  # a fairscore was asked for, so it leads
    scored = [f for f in scored if measures.bare(f.measure) == 'different']
  scored = [f for f in scored if not ranks or f.measure != ranks[0].measure]
  if ranks and found == ranks and not scored:
    beside = {**ranks[0].beside, 'alone': True}  # a sentence has it too
    found = [dataclasses.replace(ranks[0], beside=beside)]
  return [*scored, *found] or count(results)


def gaps(
  one: Mapping, level: float, name: str = '', subject: str = ''
) -> list[Finding]:
  """Every gap of a set between groups of one attribute, corrected by Holm."""
  fairness, by_group = one.get('fairness', {}), one.get('groups', {})
  adjusted = significance.of_gaps(fairness)
  out = []
  for rate, bare in measures.parities().items():
    for key, parity in fairness.items():
      if measures.bare(key) != bare or ' at ' in key or not defined(parity):
        continue
      if 'class' in parity and bare != 'eqopp1':
        continue  # of many classes the worst one's rate alone
      own = f'tpr_{parity["class"]}' if 'class' in parity else rate
      groups = of_attribute(key, by_group)
      rates = {
        g: values[own]['value']
        for g, values in groups.items()
        if defined(values.get(own)) and not values[own].get('few')
      }
      if len(rates) < 2:
        continue
      order = sorted(rates, key=rates.__getitem__)
      gap = gap_of(parity)
      base: Any = [groups[g].get('base_rate') for g in (order[-1], order[0])]
      labels = 0.0  # of decisions: what of their gap the labels have
      if own == 'selection_rate' and all(map(defined, base)):
        labels = base[0]['value'] - base[1]['value']
      out.append(
        Finding(
          *('gap', subject, name, key, gap),
          _of_gap(gap, adjusted.get(key), parity, level),
          groups=(order[-1], order[0]),
          bound=0.0,
          p=parity.get('p'),
          adjusted=adjusted.get(key),
          family=max(len(adjusted), 1),
          unit='points',
          beside={
            'rate': own,
            'rates': rates,
            'labels': labels if labels > LITTLE else 0.0,
            'few': any(_few(own, groups[g]) for g in (order[0], order[-1])),
            'p_at_floor': parity.get('p_at_floor', False),
          },
        )
      )
  return out


def _few(rate: str, group: Mapping) -> bool:
  """Whether fewer rows are behind a group's rate than a page warns of."""
  rows = group.get('effective_rows', group.get('rows', warn.FEW))
  share = group.get('base_rate')
  if rate in ('fpr', 'fnr', 'tpr') and defined(share):
    rows *= 1 - share['value'] if rate == 'fpr' else share['value']
  return rows < warn.FEW


def gap_of(parity: Mapping, by: float = 1) -> dict:
  """The difference between groups that a parity is 1 less."""
  turned = negated(parity)
  of = lambda v: by * (1 + v) if defined(v) else None
  gap = {k: of(turned[k]) for k in ('value', 'low', 'high')}
  note = {'note': parity['note']} if parity.get('note') else {}
  return gap | note | {'seeds': [of(v) for v in turned['seeds']]}


def is_void(estimate: Mapping) -> bool:
  """Whether it is of decisions that are all alike, or drawn anew."""
  return (estimate.get('note') or '').startswith(warn.VOID)


def _of_gap(
  gap: Mapping, adjusted: float | None, parity: Mapping, level: float
) -> str:
  if is_void(parity):
    return VOID
  if defined(gap['high']) and gap['high'] <= LITTLE:
    return SMALL
  return decided(gap, 0.0, adjusted, level)


def of_attribute(key: str, by_group: Mapping) -> dict[str, dict]:
  """The groups that a measure compares: those of its attribute."""
  attribute = key.rpartition('/')[0]
  if not attribute:
    return dict(by_group)
  if ' × ' in attribute:
    return {g: v for g, v in by_group.items() if ' × ' in g}
  return {
    g: v for g, v in by_group.items() if g.startswith(f'{attribute}: ')
  } or {g: v for g, v in by_group.items() if ': ' not in g and ' × ' not in g}


def leading(found: Sequence[Finding], like: str = '') -> list[Finding]:
  """The gap that the evidence supports most, and that in the other error.

  Of gaps that are more than chance the one whose lower end is largest, not the
  largest value, which small groups make, and one that a page warns of last;
  errors come before decisions, but beside a contest in one measure (`like`)
  stand gaps in that measure.
  """
  found = [one for one in found if one.measure == like] or found
  if not found:
    return []
  lead = max(
    found,
    key=lambda f: (
      f.verdict == ABOVE,
      not (f.verdict == ABOVE and f.beside['few']),
      f.beside['rate'] != 'selection_rate',
      0.0 if f.verdict == ABOVE or f.adjusted is None else -f.adjusted,
      f.estimate['low'] or 0.0,
      f.estimate['value'],
    ),
  )
  attribute = lead.measure.rpartition('/')[0]
  return [lead] + [
    f
    for f in found
    if f.beside['rate'] == OTHER.get(lead.beside['rate'])
    and f.measure.rpartition('/')[0] == attribute
  ]


def contests(results: Results, name: str) -> list[Finding]:
  """The contender in focus against each other one, by parity of the groups.

  Where none is in focus, each against the first, what changes most on top.
  """
  known: dict[tuple[str, str], Mapping] = {}
  few = lambda one: (one.get('note') or '').endswith(estimates.FEW)
  usable = [
    test
    for test in results.tests
    if 't-test' not in test['test']  # over seeds alone, a second one
    and (has_ends(test['difference']) or few(test['difference']))
  ]
  if who := results.focus:
    others = paired(usable, who).items()
    every = [((who, other), test) for (other, *_), test in others]
  else:
    base = next(iter(results.contenders))
    order = sorted(usable, key=lambda t: -t['difference']['value'])
    every = [((t['ours'], base), t) for t in order if t['theirs'] == base]
  for bare in ('dp', 'eqodd'):
    for pair, test in every:
      if test['set'] == name and measures.bare(test['measure']) == bare:
        known.setdefault(pair, test)
    if known:
      break
  p = significance.adjusted([test.get('p') for test in known.values()])
  out = []
  for ((ours, other), test), adjusted in zip(known.items(), p):
    key, both = test['measure'], {ours, other} & {*results.contenders}
    room = measures.apart(key)
    wide = simultaneous(test['difference'], results.level, len(known), room)
    of = (results.measured(c, name).get(key, {}) for c in both)
    why = [one['note'] for one in of if is_void(one)]
    verdict = decided(wide, 0.0, adjusted, results.level)
    out.append(
      Finding(
        *('contest', ours, name, test['measure'], wide),
        VOID if why else verdict,
        comparison=other,
        bound=0.0,
        p=test.get('p'),
        adjusted=adjusted,
        family=len(known),
        unit='points',
        beside={'why': ''.join(why[:1])}
        | {'p_at_floor': test.get('p_at_floor', False)},
      )
    )
  return sorted(out, key=lambda f: f.verdict == VOID)  # what is known leads


def against_first(tests: Sequence[Mapping], level: float) -> dict[str, str]:
  """{the other: verdict} of tests of one contender, corrected over them."""
  p = significance.adjusted([test['p'] for test in tests])
  wide = lambda test: simultaneous(
    test['difference'], level, len(tests), measures.apart(test['measure'])
  )
  return {
    test['theirs']: decided(wide(test), 0.0, adjusted, level)
    for test, adjusted in zip(tests, p)
  }


def flips(results: Results, name: str, one: Mapping) -> list[Finding]:
  """What exchanging words of the groups changes, the worst swap first.

  With a control edit flips are held against it, else against RARE; corrected
  over the swaps. A swap of other words than the groups' comes last.
  """
  fairness = one.get('fairness', {})
  keys = [k for k in fairness if measures.bare(k) == 'flips']
  keys = [k for k in keys if defined(fairness[k])]
  fit = [k for k in keys if fairness[k].get('fits', True)]
  out = []
  for key in sorted(fit, key=lambda k: -fairness[k]['value']) or keys[:1]:
    start = key.removesuffix('flips')
    wide = lambda one: simultaneous(
      fairness[one], results.level, len(fit), measures.bounds(one)
    )
    value = wide(key)
    beside = {'of': fairness[key].get('of', '')} | {
      part: wide(f'{start}{part}_flips')
      for part in ('control', 'excess')
      if defined(fairness.get(f'{start}{part}_flips'))
    }
    beside['fits'] = key in fit
    out.append(
      Finding(
        *('flips', results.focus or results.model, name, key, value),
        _of_flips(value, beside),
        comparison='control' if 'control' in beside else '',
        bound=RARE,
        family=max(len(fit), 1),
        unit='of 100 decisions',
        beside=beside,
      )
    )
  return out


def _of_flips(value: Mapping, beside: Mapping) -> str:
  if is_void(value) or not beside['fits']:
    return VOID
  if defined(value.get('high')) and value['high'] <= RARE:
    return SMALL
  against = side(beside['excess']) if 'excess' in beside else ABOVE
  # More than the control's, and more than few: as a gap's light has it.
  return against if against == BELOW else _both(against, side(value, RARE))


def _both(one: str, other: str) -> str:
  return ABOVE if one == other == ABOVE else OPEN


def quality(who: str, name: str, one: Mapping) -> list[Finding]:
  """How well scores rank, beside what a constant answer would get right."""
  known = one.get('quality', {})
  for key in ('auc', 'macro_auc', 'balanced_accuracy'):
    value = known.get(key)
    many = key == 'balanced_accuracy' and defined(known.get('macro_f1'))
    if not defined(value) or many:
      continue
    verdict = side(value, WELL)
    if verdict != ABOVE:  # above chance alone is OPEN, at chance VOID
      verdict = {ABOVE: OPEN, OPEN: VOID}.get(side(value, 0.5), BELOW)
    named = zip(
      ('accuracy', 'words', 'constant'),
      ('accuracy', 'words_accuracy', 'majority'),
    )
    beside = {n: known[k]['value'] for n, k in named if defined(known.get(k))}
    if 'constant' not in beside and defined(base := known.get('base_rate')):
      beside['constant'] = max(base['value'], 1 - base['value'])
    return [
      Finding(
        *('quality', who, name, key, value, verdict),
        comparison='chance',
        bound=0.5,
        beside=beside,
      )
    ]
  return []


MOST = 5  # sets of benchmarks on a first screen


class Saying(NamedTuple):
  """A row of scores.csv: how a benchmark's number is said."""

  name: str  # with it the measure's begins
  scale: str  # what the number is multiplied by; 'exp' of logs
  digits: str
  neutral: str  # what gives the bound
  better: str  # 1: more is better
  sentence: str  # {0} is the number, {1} and {2} two values of an axis


SCORES = {row[0]: Saying(*row) for row in table_rows(__file__, 'scores.csv')}


def subject(results: Results) -> str:
  """Who scores are said of: beside original texts, the whole rewriter."""
  names = [*results.contenders]
  if results.focus or not names:
    return results.focus
  return names[-1] if names[0] == 'original' else names[0]


def scores(results: Results) -> list[Finding]:
  """Leading measures of benchmarks, rewriters, dictionaries, language models.

  Held against what no preference, or guessing, gives where that is known;
  corrected over all that are said.
  """
  who, chosen = subject(results), []
  for name in results.set_names():
    values = results.measured(who, name)
    keys = led(values)
    both = 1 + any(keys[0] in beside(key) for key in keys)
    chosen += [(name, key, values) for key in keys[:both]]
  chosen = chosen[:MOST]
  family = sum(defined(v[k].get('null')) for _, k, v in chosen)
  out = []
  for name, key, values in chosen:
    null = values[key].get('null')
    value = values[key]
    if defined(null):
      room = measures.bounds(key)
      value = simultaneous(value, results.level, family, room)
    interval = has_ends(value)
    verdict = VOID
    if interval and defined(null):
      verdict = side(value, null)
    elif interval and measures.bare(key) == 'different':
      verdict = (
        SMALL if value['high'] <= RARE else _both(ABOVE, side(value, RARE))
      )
    out.append(
      Finding(
        *('score', who, name, key, value),
        verdict,
        comparison='chance',
        bound=null,
        family=max(family, 1),
        beside={
          c: results.measured(c, name)[key]['value']
          for c in results.contenders
          if c != who and defined(results.measured(c, name).get(key))
        },
      )
    )
  # What the evidence supports leads.
  apart = lambda t: side(t['difference']) != OPEN
  sure = lambda f: (
    f.verdict in (ABOVE, BELOW) or any(map(apart, tested(results, f).values()))
  )
  return sorted(out, key=sure, reverse=True)


def tested(results: Results, one: Finding, key: str = '') -> dict[str, Mapping]:
  """{another contender: the test of the finding's subject against it}."""
  return {
    other: test
    for (other, *at), test in paired(results.tests, one.subject).items()
    if at == [one.set, key or one.measure]
  }


def paired(tests: Sequence[Mapping], ours: str) -> dict[tuple, Mapping]:
  """{(theirs, set, measure): the first test}: over examples, and seeds.

  One of theirs against ours says the same with its sign turned.
  """
  first: dict[tuple, Mapping] = {}
  for test in tests:
    if test['theirs'] == ours:
      effect, other = negated(test['difference']), test['ours']
      test = {**test, 'ours': ours, 'theirs': other, 'difference': effect}
    if test['ours'] == ours:
      first.setdefault((test['theirs'], test['set'], test['measure']), test)
  return first


def led(values: Mapping) -> list[str]:
  """Measures that people can read first."""
  keys = [k for k in measures.leading(values) if defined(values[k])]
  keys = [k for k in keys if not measures.is_rate(k)] or keys
  for key in tuple(keys):
    keys[:0] = [k for k in beside(key) if defined(values.get(k))]
  return [k for k in keys if start(k)] or keys


def beside(key: str) -> tuple[str, ...]:
  """Measures without which one says nothing, as a recall without precision."""
  row = measures.measure(key)
  return row.of if row and row.kind == 'own' else ()


def start(key: str) -> str:
  """The name of the row of SCORES that says a measure; '' is of others."""
  own = [name for name in SCORES if measures.bare(key).startswith(name)]
  return max(own, key=len)


def count(results: Results) -> list[Finding]:
  """How many texts of a folder were changed."""
  rows, changed = (results.facts.get(k) for k in ('rows', 'changed'))
  if not rows or not all(isinstance(n, int) for n in (rows, changed)):
    return []
  share = {'value': changed / rows}
  beside = {'rows': rows, 'changed': changed}
  who = results.model or results.data
  return [
    Finding('count', who, results.data, 'changed', share, VOID, beside=beside)
  ]


def negated(effect: Mapping) -> dict:
  """An Estimate with its sign turned."""
  return scaled(effect, -1)


def scaled(effect: Mapping, by: float) -> dict:
  """An Estimate times a number, of which a negative one turns its ends."""
  times = lambda v: v * by if defined(v) else None
  low, high = ('low', 'high') if by > 0 else ('high', 'low')
  return {
    **effect,
    'value': times(effect.get('value')),
    'low': times(effect.get(low)),
    'high': times(effect.get(high)),
    'seeds': [times(v) for v in effect.get('seeds', ())],
  }


def as_rows(found: Iterable[Finding]) -> list[dict]:
  """As results.json keeps them: without values of seeds."""
  bare = lambda one: {k: v for k, v in one.items() if k != 'seeds'}
  rows = map(dataclasses.asdict, found)
  return [row | {'estimate': bare(row['estimate'])} for row in rows]
