"""A gate: a rule over measures by which an audit fails, for use in CI.

    eqodd<0.8 or excess_flips>0.02

Comparisons joined by `or` and `and` (which binds tighter). A rule
fails where the whole interval is beyond the bound, passes where none of it is,
and is not decided where the interval holds the bound; the exit code is then by
`fail_on`: whole (0), part (1), or value.

A comparison of what could not be measured (no rows behind it, or a predictor
that decides all alike) holds neither way: it is undecided, and so is a rule
that depends on it (Kleene's three values), since a gate that nobody measured at
has kept nothing out.
"""

import re
from collections.abc import Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from fairjax.core.errors import Failed, Undecided, UserError, nearest
from fairjax.metrics import measures, warn
from fairjax.metrics.inference.estimates import Estimate

COMPARISON = re.compile(
  r'\s*([A-Za-z_][\w/. ×-]*?)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*'
)
SIGNS = dict(zip(('<', '<=', '>', '>='), (lt, le, gt, ge)))


class Condition(NamedTuple):
  measure: str
  sign: str
  bound: float


FAILED, PASSED, UNDECIDED = 'failed', 'passed', 'not measured'
OPEN = 'not decided'  # the interval holds the bound
CODES = {FAILED: 1, PASSED: 0, UNDECIDED: 3}


class Verdict(NamedTuple):
  state: str
  reasons: list[str]  # of each comparison that it fails or is undecided by


def parse(rule: str, knob: str = 'audit.fail_if') -> list[list[Condition]]:
  """[any of [all of]]."""
  out = []
  for either in re.split(r'\bor\b', rule):
    every = []
    for part in re.split(r'\band\b', either):
      match: Any = COMPARISON.fullmatch(part)
      try:
        every.append(Condition(match[1], match[2], float(match[3])))
      except (TypeError, ValueError) as error:
        raise UserError(
          f'{knob} has {part.strip()!r}, which is no comparison; write '
          "MEASURE<NUMBER or MEASURE>NUMBER, joined by 'or' and 'and', as in "
          "'eqodd<0.8 or excess_flips>0.02'"
        ) from error
    out.append(every)
  return out


def asks(rule: str, measure: str) -> bool:
  """Whether a rule compares a measure, of any attribute."""
  conditions = [c for every in parse(rule) for c in every] if rule else []
  called = (one.measure.rpartition('/')[2] for one in conditions)
  return any(measures.meant(name, [measure]) for name in called)


def names(
  rule: str, known: Mapping[str, Estimate], knob: str = 'audit.fail_if'
) -> None:
  """One sentence where a comparison names no measure of this run."""
  for one in (c for every in parse(rule, knob) for c in every):
    keys(one.measure, known, knob)


def keys(
  name: str, known: Mapping[str, Estimate], knob: str = 'audit.fail_if'
) -> list[str]:
  """The measures that a name means: itself, or that of every attribute."""
  found = measures.meant(name, known)
  if len({key.rpartition('/')[2] for key in found}) == 1:
    return found
  choices = measures.leading(known) or list(known)
  otherwise = f'there are {", ".join(choices[:12])}, …'
  if 'flip' in name:
    otherwise = 'flips need a model, or its scores of edited texts'
  hint = nearest(name, known, otherwise)
  if found:
    hint = f'did you mean {" or ".join(found)}?'
  raise UserError(
    f'{knob} names {name!r}, which this run does not measure; {hint}'
  )


def check(rule: str, known: Mapping[str, Estimate], side: str) -> Verdict:
  """Whether the rule holds for these estimates, and by which comparisons."""
  results = []
  for every in parse(rule):
    each = []
    for one in every:
      own = [_holds(k, one, known[k], side) for k in keys(one.measure, known)]
      each.append((_or([state for state, _ in own]), own))
    results.append((_and([state for state, _ in each]), each))
  found = _or([state for state, _ in results])
  if found is False:
    return Verdict(PASSED, [])
  reasons = [
    why
    for whole, each in results
    if whole is found
    for state, own in each
    if state is found
    for one, why in own
    if one is found
  ]
  return Verdict(FAILED if found else UNDECIDED, list(dict.fromkeys(reasons)))


def facts(
  rule: str, measured: Mapping[str, Any], side: str, knob: str = 'audit.fail_if'
) -> dict[str, str]:
  """What a page says of the gate over a set's measures; {} without a rule."""
  if not rule:
    return {}
  known = {**measured['quality'], **measured['fairness']}
  names(rule, known, knob)
  whole, part, chosen = (check(rule, known, s) for s in ('whole', 'part', side))
  state, verdict = chosen.state, chosen
  if whole.state == PASSED and part.state == FAILED:
    state, verdict = OPEN, part
  why = {'gate, because': '; '.join(verdict.reasons)} if verdict.reasons else {}
  code = {'gate, exit code': str(CODES[chosen.state])}
  return {'gate': state, 'gate, rule': rule, **why, **code}


def stop(facts: Mapping[str, str]) -> None:
  """Says what came of the gate; it ends a run where it failed, or could not be
  measured."""
  state, why = facts.get('gate'), facts.get('gate, because', '')
  words = f'the gate {facts.get("gate, rule")!r} is {state}: {why}'
  code = facts.get('gate, exit code')
  if code == str(CODES[FAILED]):
    raise Failed(words.replace('is failed', 'failed'))
  if code == str(CODES[UNDECIDED]):
    raise Undecided(words)
  if state:
    print(words.replace('is passed: ', 'passed'))


def _or(states: Sequence[bool | None]) -> bool | None:
  return True if True in states else None if None in states else False


def _and(states: Sequence[bool | None]) -> bool | None:
  return False if False in states else None if None in states else True


def _holds(
  key: str, one: Condition, estimate: Estimate, side: str
) -> tuple[bool | None, str]:
  """Whether the comparison holds (None: it was not measured), and a phrase."""
  value = estimate.get('value')
  low, high = estimate.get('low'), estimate.get('high')
  note = estimate.get('note', '')
  if value is None:
    return None, f'{key} is undefined ({note or "no rows"})'
  if note.startswith(warn.VOID):
    return None, f'{key} means nothing ({note})'
  fact = f'{key} is {value:.3f}'
  if low is not None and high is not None:
    fact += f' [{low:.3f}, {high:.3f}]'
  fact += f', and {one.sign} {one.bound:g} fails'
  if side == 'value' or (low is None and high is None):
    tested = value
  else:
    below = one.sign[0] == '<'
    # The end that decides: whole takes the far one, part the near one.
    tested = high if below == (side == 'whole') else low
    if tested is None:  # an open end reaches as far as can be
      tested = float('inf') if below == (side == 'whole') else float('-inf')
  return bool(SIGNS[one.sign](tested, one.bound)), fact
