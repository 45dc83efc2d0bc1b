"""The one module that says a finding in words.

Page, terminal, library and exports take their sentences, lights and verdicts
from here, so each wording exists once.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fairjax.metrics import measures, warn
from fairjax.metrics.inference import significance
from fairjax.report import findings, tables
from fairjax.report.findings import (
  ABOVE,
  BELOW,
  LITTLE,
  OPEN,
  RARE,
  SMALL,
  VOID,
  Finding,
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
RATES = {
  'fpr': 'false positive rate',
  'fnr': 'false negative rate',
  'selection_rate': 'share decided positive',
}
# By findings.READ: {0} is the value, {1} a share of 100, {2} what it is the
# log of, {3} and {4} the two values of an axis.
SCORES = {
  'crows': 'in {0:.0f} of 100 pairs the sentence with the stereotype is the '
  'likelier',
  'stereoset_ss': 'in {0:.0f} of 100 items the stereotype is likelier than its '
  'opposite',
  'stereoset_lm': 'in {0:.0f} of 100 items a sensible word is likelier than a '
  'senseless one',
  'sembias_definition': 'asked for a pair like he and she, it takes a right '
  'one in {0:.0f} of 100',
  'sembias_stereotype': 'asked for a pair like he and she, it takes a '
  'stereotype in {0:.0f} of 100',
  'winogender_rho': 'its pronouns follow who holds an occupation with a rank '
  'correlation of {0:.2f}',
  'bbq_accuracy': 'it answers {0:.0f} of 100 questions correctly',
  'bbq_bias': 'its answers lean to the stereotype by {0:+.2f}, from −1 '
  '(against it) to 1',
  'weat_mean': 'words of two groups are nearer to stereotyped words by an '
  'effect of {0:.2f} on average (0 is none, 0.8 is large)',
  'twins_log_odds': 'a text’s {3} version is {2:.2g} times as likely as its '
  '{4} one, on the mean of logs',
  'different': 'the fairscore is {1:.1f}: of 100 texts in which one person '
  'becomes another, so many are decided differently',
  'perplexity': 'a perplexity of {0:,.0f}: it is as unsure of a token as among '
  'that many equally likely ones',
  'transfer_accuracy': 'of 100 texts {1:.0f} are taken for the other '
  'group’s when they are rewritten',
  'group_tprd': 'a classifier trained on its texts finds the groups’ positives '
  '{1:.0f} points apart',
  'exact': '{1:.0f} of 100 texts are rewritten exactly as the reference has '
  'them',
  'top_vote': 'of 100 known words {1:.0f} become their partner in most of the '
  'sentences that they stand in',
  'precision': 'of 100 of its pairs whose words are known, {1:.0f} are right',
  'recall': 'it finds {1:.0f} of 100 known pairs',
}
GUESSED = ('bbq_accuracy', 'stereoset_lm', 'sembias_definition')


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
  return f'{100 * share:.1f}' if small else f'{100 * share:.0f}'


def bracketed(estimate: Mapping, show=points) -> str:
  """' [34, 50]', or nothing where there is none."""
  ends = [estimate.get(end) for end in ('low', 'high')]
  if not all(map(defined, ends)):
    return ''
  return f' [{", ".join(map(show, ends))}]'


def people(group: str) -> str:
  """'about women', or 'of group X'."""
  short = group.rpartition(': ')[2]
  persons = PEOPLE.get(short.casefold())
  return f'about {persons}' if persons else f'of group {printable(short)}'


def sides(results: Results) -> tuple[str, str]:
  """What the negative and the positive class are called."""
  if len(results.classes) == 2 and results.pos_label < 2:
    classes = [f'‘{printable(c)}’' for c in results.classes]
    if not all(c.isdigit() for c in results.classes):
      return classes[1 - results.pos_label], classes[results.pos_label]
  return 'negative', 'positive'


def lines(results: Results, found: Sequence[Finding] | None = None) -> list:
  """The sentences of a first screen, what leads first."""
  found = findings.of(results) if found is None else found
  out = [sentence(results, one) for one in found]
  if len([one for one in found if one.kind == 'contest']) > 1:
    first = [s for s, one in zip(out, found) if one.kind == 'contest']
    rest = [s for s, one in zip(out, found) if one.kind != 'contest']
    out = [' '.join(first[:4]), *rest]
  return [line for line in dict.fromkeys(out) if line]


def sentence(results: Results, one: Finding) -> str:
  """A finding of any kind; '' of what a light alone says."""
  say = {
    'gap': _gap,
    'contest': _contest,
    'flips': _flips,
    'quality': _reversed,
    'score': _score,
    'count': _count,
  }
  return say[one.kind](results, one)


def lights(found: Sequence[Finding]) -> list[Light]:
  """One a kind: what the interval allows to be said, never the value alone."""
  say = {'quality': _quality_light, 'gap': _gap_light, 'flips': _flips_light}
  out = []
  for kind, light in say.items():
    first = next((one for one in found if one.kind == kind), None)
    out.append(first and light(first))
  return [light for light in out if light]


# Gaps between groups


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


def _gap(results: Results, one: Finding) -> str:
  if one.verdict == VOID:
    why = one.estimate.get('note') or 'all decisions are alike'
    return f'Nothing can be said of gaps between groups: {why}.'
  label, done = rate_of(results, one)
  after = 'after prompts ' if results.recipe == 'writing' else ''
  high, low = (hundred(one.beside['rates'][g]) for g in one.groups)
  first, other = (after + people(group) for group in one.groups)
  lead = f'{opened(one.subject)}: of' if len(results.contenders) > 1 else 'Of'
  return (
    f'{lead} 100 texts {first}{label}, {high} are {done}; of those {other}, '
    f'{low}. {_how_sure(one)}'
  )


def _how_sure(one: Finding) -> str:
  gap = one.estimate
  words = f'The gap is {points(gap["value"])} points'
  if not _means_differ_as_much(one):
    words = f'Averaged over seeds, t{words[1:]}'
  words += bracketed(gap)
  if not bracketed(gap):
    return f'{words}, without an interval.'
  if one.verdict == OPEN and gap['low'] > 0:
    p = significance.said(one.adjusted, one.beside['p_at_floor'])
    return f'{words}: undecided, as one of {one.family} gaps ({p}, Holm).'
  return (
    words
    + {
      ABOVE: ': more than chance.',
      SMALL: f': at most {LITTLE:.0%}.',
      OPEN: ': undecided, it can be chance.',
    }[one.verdict]
  )


def _means_differ_as_much(one: Finding) -> bool:
  """Not where seeds differ in which group is ahead: the gap is their mean."""
  if len(one.estimate.get('seeds', ())) < 2:
    return True
  high, low = (one.beside['rates'][group] for group in one.groups)
  return abs(high - low - one.estimate['value']) < 0.005


def _gap_light(one: Finding) -> Light | None:
  gap, size = one.estimate, f'{points(one.estimate["value"])} points'
  if not bracketed(gap):
    return None
  if one.verdict == VOID:
    return Light('Gap', 'unsure', 'means nothing: all decisions are alike', '')
  state, words = {
    ABOVE: ('bad', f'{size}, more than chance'),
    SMALL: ('good', f'at most {points(gap["high"])} points'),
    OPEN: ('unsure', f'{size}, undecided: up to {points(gap["high"])}'),
  }[one.verdict]
  label = RATES.get(one.beside['rate'], 'true positive rate of the worst class')
  rule = (
    f'difference in the {label}, interval {points(gap["low"])} to '
    f'{points(gap["high"])}; small is at most {LITTLE:.0%}'
  )
  if one.family > 1:
    rule += f'; p corrected over {one.family} gaps'
  return Light('Gap', state, words, rule)


# A contender against others


def _contest(results: Results, one: Finding) -> str:
  """'Healthy diet is fairer than no mitigation: its gap in … is … smaller.'"""
  effect, ours, theirs = one.estimate, named(one.subject), named(one.comparison)
  what = {'dp': 'gap in the share decided positive'}.get(
    measures.bare(one.measure), 'mean gap of the error rates'
  )
  size = f'{points(abs(effect["value"]))} points'
  if one.verdict == OPEN:
    return (
      f'No detectable difference in fairness between {ours} and {theirs}: the '
      f'{what} differs by {points(effect["value"])} points{bracketed(effect)}.'
    )
  fairer = one.verdict == ABOVE
  shown = effect if fairer else findings.negated(effect)
  return opened(
    f'{ours} is {"fairer" if fairer else "less fair"} than {theirs}: its {what}'
    f' is {size}{bracketed(shown)} {"smaller" if fairer else "larger"}.'
  )


def ranking(
  each: Mapping[str, Mapping], tests: Sequence[Mapping], level: float
) -> str:
  """Which scores highest, and where the first differs from the others."""
  best = max(each, key=lambda name: each[name]['value'])
  found = findings.against_first(tests, level)
  said = (
    f'{best} scores highest: {hundred(each[best]["value"])} of 100'
    f'{bracketed(each[best])}.'
  )
  for side, words in (
    (ABOVE, 'is above'),
    (BELOW, 'is below'),
    (OPEN, 'shows no detectable difference to'),
  ):
    own = [name for name, verdict in found.items() if verdict == side]
    if own:
      said += f' {next(iter(each))} {words} {", ".join(own)}.'
  return said[:1].upper() + said[1:]


# Exchanged words


def _flips(results: Results, one: Finding) -> str:
  flips, beside = one.estimate, one.beside
  what = beside['of'] or 'words that show a group'
  if not beside['fits']:
    return (
      f'Only {what} were exchanged, so nothing is known of words of the groups '
      'compared.'
    )
  if one.verdict == VOID:
    return f'The swap results cannot be interpreted: {flips["note"]}.'
  words = (
    f'Exchanging {what} changes {hundred(flips["value"])} of 100 decisions'
    f'{bracketed(flips)} on texts with such words'
  )
  if 'control' in beside:
    words += (
      '; editing as many other words changes '
      f'{hundred(beside["control"]["value"])}'
    )
  return words + beyond(beside.get('excess', {})) + '.'


def beyond(excess: Mapping) -> str:
  """What the excess over the control says."""
  if not bracketed(excess):
    return ''
  return {
    ABOVE: f'. That is {points(excess["value"])} more{bracketed(excess)}',
    BELOW: ': no more than other words do',
    OPEN: f': undecided, at most {points(excess["high"])} more',
  }[findings.side(excess)]


def _flips_light(one: Finding) -> Light | None:
  flips, beside = one.estimate, one.beside
  if not beside['fits'] or not bracketed(flips):
    return None
  note, control = flips.get('note') or '', 'excess' in beside
  size = f'{points(flips["value"])} of 100'
  if one.verdict == VOID:
    why = 'the same text is answered differently each time'
    if not note.startswith(warn.NOISY):
      why = 'means nothing: all decisions are alike'
    return Light('Flips', 'unsure', why, '')
  more = f'{points(beside["excess"]["value"])} of 100 more' if control else ''
  state, words = {
    SMALL: ('good', f'at most {points(flips["high"])} of 100'),
    ABOVE: ('bad', f'{more} than a matched edit' if control else size),
    BELOW: ('good', 'no more than a matched edit changes'),
    OPEN: (
      'unsure',
      f'{size}, undecided' + (' beside a matched edit' if control else ''),
    ),
  }[one.verdict]
  rule = (
    f'decisions that exchanging {beside["of"] or "words that show a group"} '
    f'changes{bracketed(flips)} of 100; few is at most {RARE:.0%}'
  )
  return Light('Flips', state, words, rule)


# Quality


def _reversed(results: Results, one: Finding) -> str:
  """Said first where scores rank the wrong way round for sure."""
  if one.verdict != BELOW:
    return ''
  return (
    f'The scores rank worse than chance (AUC '
    f'{tables.estimate(one.estimate)}): are labels or scores reversed? Say '
    'which label is positive, and of which label the score is the probability.'
  )


def _quality_light(one: Finding) -> Light:
  name = {
    'auc': 'AUC',
    'macro_auc': 'AUC over pairs of classes',
  }.get(one.measure, measures.label(one.measure))
  state, words = {
    ABOVE: ('good', 'ranks well'),
    OPEN: ('unsure', 'ranks better than chance, but not well'),
    VOID: ('bad', 'is indistinguishable from chance'),
    BELOW: ('bad', 'is worse than chance: labels or scores reversed?'),
  }[one.verdict]
  if not bracketed(one.estimate):
    state, words = 'unsure', 'no interval, so undecided'
  if 'accuracy' in one.beside:
    words += f'; right in {hundred(one.beside["accuracy"])} of 100'
  if 'constant' in one.beside:
    words += f', a constant answer in {hundred(one.beside["constant"])}'
  rule = (
    f'{name} {tables.estimate(one.estimate)}; well is an interval from .8 up, '
    'chance is .5'
  )
  return Light('Quality', state, words, rule)


# Benchmarks, rewriters, language models, corpora


def _score(results: Results, one: Finding) -> str:
  start, value = findings.start(one.measure), one.estimate['value']
  said = f'{measures.label(one.measure)} is {tables.estimate(one.estimate)}'
  if start:
    value = abs(value) if one.measure == 'group_tprd' else value
    axis = map(printable, one.estimate.get('of', ('male', 'female')))
    said = SCORES[start].format(
      value, 100 * value, math.exp(min(value, 700)), *axis
    )
  if defined({'value': one.bound}):
    what = 'guessing' if start in GUESSED else 'no preference'
    log = start and '{2' in SCORES[start]
    null = math.exp(one.bound) if log else one.bound
    more = {ABOVE: '; more than chance', BELOW: '; less than chance'}
    more[OPEN] = '; undecided, it can be chance'
    said += f' ({what} gives {null:.3g}{more.get(one.verdict, "")})'
  shown = tables.of_measure(one.measure, one.estimate)
  label = f'{measures.label(one.measure)} {tables.estimate(shown)}'
  rest = [
    f'{printable(named(c))} {tables.number(float(v), shown.get("digits"))}'
    for c, v in one.beside.items()
  ]
  more = [label] * bool(start) + [', '.join(rest[:6])] * bool(rest)
  said += f' ({"; ".join(more)})' if more else ''
  who = one.subject if len(results.contenders) > 1 else results.model
  who = printable(named(who)) or 'the model'
  return f'On {of_set(one.set)}, {who}: {said}.'


def _count(results: Results, one: Finding) -> str:
  share = 100 * one.estimate['value']
  share = f'{share:.0f}' if share >= 1 else f'{share:.2g}'
  done = 'written anew' if results.recipe == 'generate' else 'changed'
  return (
    f'Of 100 texts {share} are {done}: {one.beside["changed"]:,} of '
    f'{one.beside["rows"]:,}.'
  )


# Claims


def of_claim(
  ours: str,
  theirs: str,
  measure: str,
  where: str,
  more: bool | None = None,
  bound: float = 0.0,
) -> str:
  """'a is below b in false positive equality difference on test'."""
  more = measures.measure(measure).better >= 0 if more is None else more
  label = measures.label(measure)
  if bound:
    return (
      f'{ours} is at most {abs(bound):g} worse than {theirs} in {label} on '
      f'{where}'
    )
  side = 'above' if more else 'below'
  return f'{ours} is {side} {theirs} in {label} on {where}'


def number_of(claim: Mapping) -> str:
  """'lower by 0.3 [0.2, 0.4], to be above -0.02' of a claim."""
  number = f'{claim["what"]} {tables.estimate(claim["effect"])}'
  if claim['bound'] or claim['side'] != 'above':
    number += f', to be {claim["side"]} {claim["bound"]:g}'
  return number


def tally(verdicts: Sequence[str]) -> str:
  """'9 claims hold, 1 claim does not hold, 2 claims undecided'."""
  out = []
  for said in CLAIM.values():
    n = sum(one == said for one in verdicts)
    verb = said if n == 1 else MANY.get(said, said)
    out.append(f'{tables.plural(n, "claim")} {verb}')
  return ', '.join(out)


def ratio(estimate: Mapping, bound: float = 0.8) -> str:
  """The four-fifths rule, by the whole interval."""
  return {ABOVE: 'not below', BELOW: 'below', OPEN: 'undecided, around'}[
    findings.side(estimate, bound)
  ]
