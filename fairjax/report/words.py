"""The one module that says a finding in words.

Page, terminal, library and exports take their sentences, lights and verdicts
from here and from templates/words.txt, so each wording exists once.
"""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fairjax.config import ignored_knobs
from fairjax.metrics import measures, warn
from fairjax.metrics.inference import estimates, significance
from fairjax.report import findings, render, tables
from fairjax.report.findings import (
  ABOVE,
  BELOW,
  LITTLE,
  OPEN,
  RARE,
  SCORES,
  SMALL,
  VOID,
  WELL,
  Finding,
  Saying,
)
from fairjax.report.names import named, of_set, opened
from fairjax.report.tables import defined, printable
from fairjax.results import Results

CLAIM = {ABOVE: 'holds', BELOW: 'does not hold', OPEN: 'undecided'}
EXPLORATORY = 'exploratory'  # what was not named before a run
MANY = {'holds': 'hold', 'does not hold': 'do not hold'}
PEOPLE = {  # what a group of texts about persons is called
  **dict.fromkeys(('female', 'f', 'woman', 'women'), 'women'),
  **dict.fromkeys(('male', 'm', 'man', 'men'), 'men'),
}
STATES = {
  'quality': {ABOVE: 'good', BELOW: 'bad', OPEN: 'unsure', VOID: 'bad'},
  'gap': {ABOVE: 'bad', SMALL: 'good', OPEN: 'unsure', VOID: 'unsure'},
  'flips': {ABOVE: 'bad', OPEN: 'unsure', VOID: 'unsure'}
  | dict.fromkeys((SMALL, BELOW), 'good'),
  # Scores of which less, or more, is better; '' neither.
  '-1': {ABOVE: 'bad', SMALL: 'good', OPEN: 'unsure', BELOW: 'unsure'},
  '1': {ABOVE: 'good', OPEN: 'unsure', BELOW: 'bad'},
  '': {ABOVE: 'unsure', OPEN: 'unsure', BELOW: 'unsure'},
}
SIDES = 'negative', 'positive'
SIDE = re.compile(
  r'(?<= label )[01]\b|(?<=decides )[01](?= for every)|'
  r'(?<!alse )(?<!rue )(?<!label is )(?<![\w‘’\'"])(negative|positive)(s?)\b'
  r'(?! average| influence|[’\'"])'
)
ONE = re.compile(r'(?<![\d.,])1 points\b')
KINDS = 'quality', 'gap', 'flips'  # one light each


class Light(NamedTuple):
  title: str
  state: str  # good, unsure, bad
  words: str
  rule: str


def hundred(share: float) -> str:
  count = 100 * share
  return f'{count:.0f}' if count >= 1 or not count else f'{count:.1f}'


def points(share: float) -> str:
  small = 0 < abs(share) < 0.01
  return f'{100 * share:.1f}' if small else f'{100 * share + 0.0:.0f}'


def bracketed(estimate: Mapping, show=points) -> str:
  """' [34, 50]', or nothing where there is none."""
  if not tables.has_ends(estimate):
    return ''
  return f' [{show(estimate["low"])}, {show(estimate["high"])}]'


def group(name: str) -> str:
  """'group 3' of a bare number."""
  return f'group {name}' if name.replace('.', '').isdigit() else name


def people(group: str) -> str:
  """'about women', or 'of group ‘White: other’', which is not ‘other’."""
  persons = PEOPLE.get(group.rpartition(': ')[2].casefold())
  return f'about {persons}' if persons else f'of group ‘{group}’'


def said(part: str, *values, file: str = 'words.txt') -> str:
  """A macro of a template, on one line."""
  p_said = lambda f: significance.p_words(
    f.adjusted, bool(f.beside.get('p_at_floor'))
  )
  filters = {
    **{'points': points, 'hundred': hundred, 'bracketed': bracketed},
    **{'people': people, 'estimate': tables.estimate, 'p_said': p_said},
    **{'negated': findings.negated, 'side': findings.side},
    **{'shown': tables.number},
  }
  room = {'little': f'{LITTLE:.0%}', 'rare': f'{RARE:.0%}', 'well': WELL}
  template = render.template(file, filters)
  text = getattr(template.make_module(room), part)(*values)
  return printable(ONE.sub('1 point', ' '.join(text.split())))


def sides(results: Results) -> tuple[str, str]:
  """What the negative and the positive class are called."""
  if len(results.classes) == 2 and results.pos_label < 2:
    classes = [f'‘{printable(c)}’' for c in results.classes]
    if not all(c.isdigit() for c in results.classes):
      return classes[1 - results.pos_label], classes[results.pos_label]
  return SIDES


def in_classes(results: Results, text: str) -> str:
  """Our words about the two classes, by the names that these have.

  The names of measures stay, as the false positive rate.

  >>> two = Results(classes=['ok', 'toxic'])
  >>> in_classes(two, 'False positive rate: share of negatives found positive')
  'False positive rate: share of ‘ok’ rows found ‘toxic’'
  >>> in_classes(two, "the column 'positive', a positive average gap")
  "the column 'positive', a positive average gap"
  >>> in_classes(two, "'a' (9 of label 1); Seed 0 decides 0 for every row")
  "'a' (9 of label ‘toxic’); Seed 0 decides ‘ok’ for every row"
  """
  both = sides(results)
  if both == SIDES:
    return text

  def called(match: re.Match) -> str:
    one = both[SIDES.index(match[1]) if match[1] else int(match[0])]
    return f'{one} rows' if match[2] else one

  return SIDE.sub(called, text)


def label(results: Results, key: str) -> str:
  """What people call a measure."""
  return in_classes(results, measures.label(key))


def lines(results: Results, found: Sequence[Finding] | None = None) -> list:
  """The sentences of a first screen, what leads first."""
  found = [*_joined(findings.shown(results) if found is None else found)]
  lead = next((one for one in found if one.kind == 'contest'), None)
  for k, one in enumerate(found):  # which gap it is stands once
    if lead and one is not lead and one.kind == 'contest':
      again = one.measure == lead.measure
      again &= one.verdict in (lead.verdict, OPEN)
      beside = {**one.beside, 'again': again}
      found[k] = dataclasses.replace(one, beside=beside)
  out = [sentence(results, one) for one in found]
  first = [s for s, one in zip(out, found) if one.kind == 'contest']
  if len(first) > 1:
    rest = [s for s, one in zip(out, found) if one.kind != 'contest']
    out = [' '.join(first[:4]), *rest]
  # A recipe without contenders has its answer in a section without heading.
  own = [one for one in results.sections if not one['heading']]
  out = out or [part['text'] for one in own for part in one['parts']]
  return [line for line in dict.fromkeys(out) if line]


def _joined(found: Sequence[Finding]) -> Sequence[Finding]:
  """Contests of one subject that cannot be judged for one reason, as one."""
  void = [f for f in found if f.kind == 'contest' and f.verdict == VOID]
  if len({(f.subject, f.beside['why']) for f in void}) != 1:
    return found
  names = [named(f.comparison) for f in void]
  every = ', '.join(names[:3] + ['…'] * (len(names) > 3))
  one = dataclasses.replace(void[0], comparison=every)
  return [one if f is void[0] else f for f in found if f not in void[1:]]


def sentence(results: Results, one: Finding) -> str:
  """A finding of any kind; '' of what a light alone says."""
  return opened(said(one.kind, one, _facts(results, one)))


def lights(
  found: Sequence[Finding], results: Results | None = None
) -> list[Light]:
  """One a kind, of scores one each: what the interval allows to be said."""
  order = [
    next((one for one in found if one.kind == kind), None) for kind in KINDS
  ]
  scored = {
    f.measure: f
    for f in reversed(found)
    if f.kind == 'score' and f.verdict != VOID
  }
  first = [*reversed(scored.values()), *filter(None, order)]
  out = [_light(results or Results(), one) for one in first]
  return [light for light in out if light]


def _light(results: Results, one: Finding) -> Light | None:
  interval = bool(bracketed(one.estimate))
  fits = one.kind != 'flips' or one.beside['fits']
  if not fits or not (interval or one.kind == 'quality'):
    return None
  facts, scored = _facts(results, one), one.kind == 'score'
  states = STATES[score_of(one.measure).better if scored else one.kind]
  title = facts['label'] if scored else one.kind
  wide = one.kind == 'quality' and (one.estimate.get('high') or 0) >= WELL
  vague = not interval or (wide and one.verdict == VOID)
  labels = one.beside.get('labels', 0.0) if one.kind == 'gap' else 0.0
  vague |= 0 < labels >= one.estimate['value'] - LITTLE  # no more than those
  state = 'unsure' if vague else states[one.verdict]
  both = (said(f'{one.kind}_{part}', one, facts) for part in ('light', 'rule'))
  return Light(title[:1].upper() + title[1:], state, *both)


def score_of(key: str) -> Saying:
  """The row that says a measure."""
  return SCORES[findings.start(key)]


# What the template is given of each kind


def _facts(results: Results, one: Finding) -> dict:
  if one.kind in ('gap', 'score'):
    return {'gap': _of_gap, 'score': _of_score}[one.kind](results, one)
  if one.kind == 'contest':
    ours, theirs = named(one.subject), named(one.comparison)
    what = gap_called(results, one.measure)
    return {'ours': ours, 'theirs': theirs, 'what': what}
  if one.kind == 'count':
    share = 100 * one.estimate['value']
    return {'share': f'{share:.0f}' if share >= 1 else f'{share:.2g}'}
  if one.kind == 'flips':
    note = one.estimate.get('note') or ''
    return {'noisy': note.startswith(warn.NOISY)}
  name = {'auc': 'AUC'}.get(one.measure, measures.label(one.measure))
  who = named(one.subject)
  lead = who if len(results.contenders) > 1 else ''
  return {'name': name, 'set': of_set(one.set), 'who': who, 'lead': lead}


def rate_of(results: Results, one: Finding) -> tuple[str, str]:
  """(' labelled ‘blame’', 'decided ‘no blame’') of a gap's rate."""
  negative, positive = sides(results)
  rate = one.beside['rate']
  if rate.startswith('tpr_'):
    k = int(rate.rpartition('_')[2])
    name = results.classes[k] if k < len(results.classes) else str(k)
    return f' labelled ‘{printable(name)}’', 'recognised'
  return {
    'fpr': (f' labelled {negative}', f'decided {positive}'),
    'fnr': (f' labelled {positive}', f'decided {negative}'),
    'selection_rate': ('', f'decided {positive}'),
  }[rate]


def called(results: Results, name: str) -> str:
  """What the examples of a set are: 'texts', or 'rows' where it has none."""
  row = ignored_knobs.row(results.recipe)
  what = row.measures if row else 'texts'
  has = what == 'rows' and 'texts' in results.sets.get(name, {})
  return 'texts' if has else what


def _of_gap(results: Results, one: Finding) -> dict:
  label, done = rate_of(results, one)
  lead = one.subject if len(results.contenders) > 1 else ''
  if one.verdict == VOID:
    return {'lead': lead}
  high, low = (one.beside['rates'][group] for group in one.groups)
  # Where seeds differ in which group is ahead, the gap is a mean of theirs.
  averaged = abs(high - low - one.estimate['value']) >= 0.005
  return {
    **{'label': label, 'done': done, 'lead': lead},
    **{'high': hundred(high), 'low': hundred(low)},
    'texts': called(results, one.set),
    'same': not averaged or len(one.estimate.get('seeds', ())) < 2,
  }


def gap_called(results: Results, measure: str) -> str:
  """What a contest is about: 'gap in the share decided ‘blame’'."""
  if measures.bare(measure) != 'dp':
    return 'mean gap of the error rates'
  return f'gap in the share decided {sides(results)[1]}'


def _of_score(results: Results, one: Finding) -> dict:
  """The number of a benchmark in the unit of its sentence."""
  row, estimate = score_of(one.measure), one.estimate
  if row.scale.startswith('|') and estimate['value'] < 0:
    estimate = findings.negated(estimate)

  def show(value: float) -> str:
    if row.scale == 'exp':
      return f'{math.exp(min(value, 700)):.2g}'
    scaled = float(row.scale.strip('|')) * value
    return f'{scaled:,.{row.digits}f}' if row.digits else tables.number(scaled)

  # A difference of logs, or of absolute values, is in no such unit.
  same = row.scale != 'exp' and '|' not in row.scale
  tests = findings.tested(results, one) if same else {}

  def beside(other: str, value: float) -> str:
    few = len(one.beside) < 4  # of many the tables have it
    effect = tests[other]['difference'] if few and other in tests else {}
    ends = bracketed(effect, show)
    apart = ends and f' (difference to it {show(effect["value"])}{ends})'
    return f'{named(other)} {show(value)}{apart}'

  why = estimates.too_wide(estimate)
  number = show(estimate['value'])
  note = why or estimate.get('note')
  shown = '' if why else bracketed(estimate, show)
  number += shown or (f' ({note})' if note else '')
  label = in_classes(results, measures.label(one.measure))
  if row.scale == 'exp':  # as the number is shown
    label = label.replace('log-odds', 'odds')
  axis = map(printable, estimate.get('of', ('male', 'female')))
  values = results.measured(one.subject, one.set)
  forms = sorted(  # the same question, scored in other ways
    values[key]['value']
    for key in findings.led(values)
    if findings.start(key) == row.name and key != one.measure
  )
  forms = [show(value) for value in (forms[:1] + forms[1:][-1:])]
  null = show(one.bound) if defined(one.bound) else ''
  who = one.subject if len(results.contenders) > 1 else results.model
  return {
    **{'number': number, 'label': label, 'set': of_set(one.set)},
    'who': named(who) or 'The model',
    'sentence': row.sentence.format(number, *axis, label),
    'neutral': row.neutral,
    'null': null,
    'forms': ' to '.join(dict.fromkeys(forms)) if null else '',
    'limit': f'what {row.neutral} gives, {null}'
    if null
    else f'{100 * RARE:.0f} of 100',
    'others': [beside(*of) for of in [*one.beside.items()][:6]],
  }


# A contender in a race, claims


def ranking(
  each: Mapping[str, Mapping], tests: Sequence[Mapping], level: float
) -> str:
  """Which scores highest, and where the first differs from the others."""
  best = max(each, key=lambda name: each[name]['value'])
  found = findings.against_first(tests, level)
  out = [
    (words, [name for name, verdict in found.items() if verdict == side])
    for side, words in (
      (ABOVE, 'is above'),
      (BELOW, 'is below'),
      (OPEN, 'shows no detectable difference to'),
    )
  ]
  first = {**each[best], 'name': best}
  sentence = said('ranking', first, out, next(iter(each)))
  return sentence[:1].upper() + sentence[1:]


def of_claim(
  ours: str, theirs: str, measure: str, where: str, more: bool, bound: float
) -> str:
  """'a is below b in false positive equality difference on test'."""
  label = measures.label(measure)
  return said('claim', ours, theirs, label, where, more, bound)


def number_of(claim: Mapping) -> str:
  """'lower by 0.3 [0.2, 0.4], to be above -0.02' of a claim."""
  return said('number', claim)


def tally(verdicts: Sequence[str]) -> str:
  """'9 claims hold, 1 claim does not hold, 2 claims undecided'."""
  out = []
  for verdict in CLAIM.values():
    n = sum(one == verdict for one in verdicts)
    verb = verdict if n == 1 else MANY.get(verdict, verdict)
    out.append(f'{tables.plural(n, "claim")} {verb}')
  return ', '.join(out)


IMPACT = 'Impact ratio'  # the caption of the table, and its file's name


def impact(row: Mapping, bound: float = 0.8) -> str:
  """What the four-fifths rule says of a group, by its whole interval."""
  if row['few'] or row['highest']:
    return 'too few rows' if row['few'] else 'the highest'
  return {ABOVE: 'not below', BELOW: 'below', OPEN: 'undecided'}[
    findings.side(row['ratio'], bound)
  ]


def higher(difference: Mapping, p: float | None, level: float) -> str:
  """Which side of 0 a difference is on, by its interval and adjusted p."""
  return {ABOVE: 'higher', BELOW: 'lower', OPEN: 'undecided'}[
    findings.decided(difference, 0.0, p, level)
  ]
