"""Bias scenarios: what a run says of each hazard to a group, as a record.

The unit of the draft prEN 18283: group, hazard, measure, threshold, value with
its interval, mitigation tried, review trigger. A working record of one run's
results; what only people can say is left empty, by name.
"""

import functools
import json
from typing import Any

from fairjax.metrics import gate, measures
from fairjax.metrics.inference import significance
from fairjax.report import findings, render, tables, verdict, words
from fairjax.report.findings import Finding
from fairjax.results import Results, plain

EMPTY = (
  *('context of use', 'harm, and how severe it is', 'owner', 'decision'),
  'date of the next review',
)
ENDS = 'value', 'low', 'high'
macro = functools.partial(words.said, file='scenarios.txt')


def records(results: Results) -> list[dict[str, Any]]:
  """A record of each gap and each swap, those above the threshold first."""
  who, found = results.focus or results.model, []
  for name, one in results.sets.items():
    found += findings.gaps(one, results.level, name, who)
    found += findings.flips(results, name, one)
  rows = [_row(results, one) for one in found]
  order = [words.CLAIM[s] for s in (findings.ABOVE, findings.OPEN)]
  rank = {text: k for k, text in enumerate(order)}
  return sorted(rows, key=lambda r: rank.get(r['above_threshold'], len(rank)))


def _row(results: Results, one: Finding) -> dict[str, Any]:
  rule = _rule(results, one)
  ours = findings.LITTLE if one.kind == 'gap' else findings.RARE
  bound = rule[1] if rule else ours
  # Where all decisions are alike nothing is known of either side.
  void = one.verdict == findings.VOID
  side = findings.OPEN if void else findings.side(one.estimate, bound)
  rate = one.beside.get('rate', one.measure)
  label, done = words.rate_of(results, one) if one.groups else ('', '')
  value = {end: one.estimate.get(end) for end in ENDS}
  return {
    'set': one.set,
    'group': ' against '.join(one.groups) or one.beside['of'] or one.measure,
    'hazard': macro('hazard', one, label, done, words.called(results, one.set)),
    'found': words.sentence(results, one),
    'measure': {
      'name': one.measure,
      'value_is': macro('measure', one, measures.label(rate)),
    },
    'threshold': {'value': bound, 'from': macro('threshold', rule)},
    'value': {**value, 'level': results.level, 'p_adjusted': one.adjusted},
    'above_threshold': words.CLAIM[side],
    'mitigation_tried': _tried(results, one),
    'review_when': _triggers(results, one, bound, side),
    'to_be_filled_in': list(EMPTY),
  }


def _rule(results: Results, one: Finding) -> tuple[str, float] | None:
  """(the run's gate, its bound), where it speaks of the measure.

  A gate says where it fails: a parity below 1 − gap, flips above their bound.
  """
  rule = results.facts.get('gate, rule', '')
  parity = one.kind == 'gap'
  for asked in (c for every in gate.parse(rule) for c in every) if rule else ():
    own = one.measure, measures.bare(one.measure)
    fails = asked.sign.startswith('<' if parity else '>')
    if fails and measures.meant(asked.measure, own):
      return rule, round(1 - asked.bound if parity else asked.bound, 12)
  return None


def _tried(results: Results, one: Finding) -> list[dict[str, Any]]:
  """How the subject differs in the measure from the run's other contenders."""
  out, key = [], one.measure
  if one.kind == 'gap' and not findings.tested(results, one):
    key = key.replace('eqopp0', 'fped')  # what contenders are tested in
  for other, test in findings.tested(results, one, key).items():
    apart = test['difference']
    if one.kind == 'gap' and key == one.measure:  # 1 - the parity tested
      apart = findings.negated(apart)
    ends = {end: apart.get(end) for end in ENDS}
    p, sure = {k: test.get(k) for k in ('p', 'p_adjusted')}, ''
    label = measures.label(key) if key != one.measure else ''
    if p['p_adjusted'] is not None:
      sure = significance.p_words(p['p_adjusted'])
    found = macro('tried', other, label, ends, sure)
    measured = {'against': other, 'measure': key, 'difference': ends}
    out.append({**measured, **p, 'found': found})
  return out


def _triggers(
  results: Results, one: Finding, bound: float, side: str
) -> list[str]:
  out = [macro('changed')]
  if side == findings.OPEN and one.verdict != findings.VOID:
    times = verdict.times_larger(one.estimate, bound, results.level)
    if times and times > 1:
      out.insert(0, macro('rows', tables.number(times, 0)))
  if rule := results.facts.get('gate, rule'):
    out.insert(0, macro('fails', rule))
  return out


def documents(results: Results) -> dict[str, str]:
  """The records as json and as a page of markdown, if there are any."""
  if not (rows := records(results)):
    return {}
  draft = macro('draft')
  record = plain({'draft': draft, 'scenarios': rows})
  page = render.template('bias_scenarios.md', {'estimate': tables.estimate})
  return {
    'bias_scenarios.json': json.dumps(record, ensure_ascii=False, indent=2),
    'bias_scenarios.md': page.render(rows=rows, results=results, draft=draft),
  }
