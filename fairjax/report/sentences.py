"""A run's findings in plain words: the first paragraphs of its page."""

import re
from collections.abc import Callable, Mapping, Sequence

from fairjax.metrics import measures, warn
from fairjax.metrics.inference import significance
from fairjax.report import tables
from fairjax.report.blocks import bullets, details, text
from fairjax.report.names import named, of_set, opened
from fairjax.report.tables import plural
from fairjax.results import Results

# What two sentences of one kind may differ in: names, lists and numbers.
VARIES = re.compile(r"'[^']*'|‘[^’]*’|\([^)]*\)|^\w+(?=:| is )|[\d.,]+")
WARNED = 3  # kinds of warnings that stand open
QUALITY_WORDS = {  # of the first sentence
  'auc': 'has an AUC of {} (0.5 is chance, 1 is perfect)',
  'macro_auc': 'has an AUC of {}, averaged over pairs of classes',
  'accuracy': 'has an accuracy of {}',
}


def in_words(results: Results | None, answered: bool = False) -> str:
  """What was found: a paragraph for each test set, warnings, notes.

  `answered` says that a first screen stands above and leads.
  """
  if results is None:
    return text('results.json is missing: the run has not been measured.')
  several = len(results.contenders) > 1
  if results.sets:
    who = named(results.model) or 'the model'
    if several:
      same = who.endswith(results.focus)
      who = results.focus if same else f'{results.focus} ({who})'
    lines = [_sentence(n, one, who) for n, one in results.sets.items()]
  else:
    lines = [_range(results, name) for name in results.set_names()]
  lines = [line for line in lines if line]
  if answered:
    parts = [details('In more words', text(*lines))] if lines else []
  else:
    parts = [text(one, kind='' if k else 'lead') for k, one in enumerate(lines)]
  if not results.contenders and not results.sections and not results.facts:
    parts.append(text('No test set was measured.'))
  told = warnings(results)
  if answered:  # they lead there
    told = [one for one in told if f': {warn.REVERSED}' not in one[0]]
    name, first = next(iter(results.sets.items()), ('', {}))
    if warn.is_void(first.get('fairness', {})):
      led = f'{of_set(name)}: ', warn.CONSTANT
      told = [o for o in told if not (o[1] and all(x in o[0] for x in led))]
  # A kind stands once: above where it is the focus's too.
  kinds = {_kind(line) for line, first in told if first}
  leads = [line for line, first in told if first or _kind(line) in kinds]
  told_first = alike(sorted(leads, key=lambda line: (line, False) in told))
  parts += _warned(told_first)
  below = [line for line, _ in told if line not in leads]
  others = alike([*below, *(line for line, _ in warnings(results, 'notes'))])
  if results.contenders:
    seeds = plural(len(results.seeds), 'seed')
    parts.append(
      text(
        f'Values are means over {seeds}; brackets hold the '
        f'{tables.percent(results.level)} interval.'
        if len(results.seeds) > 1
        else f'Brackets hold the {tables.percent(results.level)} interval.',
        kind='quiet',
      )
    )
  if results.notes or others:
    notes = alike(results.notes, lambda note: VARIES.sub('#', note))
    parts.append(bullets(map(opened, [*notes, *others])))
  return '\n'.join(parts)


def warnings(
  results: Results, kind: str = 'warnings'
) -> list[tuple[str, bool]]:
  """Each warning once, with its contenders, and whether the focus is one.

  So the 'notes' of sets, which are told below the box of warnings.
  """
  about: dict[tuple[str, str], list[str]] = {}
  for contender, parts in results.contenders.items():
    for name, one in parts['sets'].items():
      for warning in one.get(kind, ()):
        about.setdefault((name, warning), []).append(contender)
  focus = results.focus or next(iter(results.contenders), '')
  return [
    (
      f'{of_set(name)}: {warning}'
      if len(names) == len(results.contenders)
      else f'{of_set(name)}, {_who(names)}: {warning}',
      focus in names,
    )
    for (name, warning), names in about.items()
  ]


def _who(names: Sequence[str]) -> str:
  return ', '.join(names) if len(names) < 3 else f'{len(names)} contenders'


def alike(
  lines: Sequence[str], kind: Callable[[str], str] | None = None
) -> list[str]:
  """Lines that differ in numbers and names alone are one, with their count."""
  kinds: dict[str, list[str]] = {}
  for line in lines:
    kinds.setdefault((kind or _kind)(line), []).append(line)
  return [
    first + (f' (and {len(rest)} more of this kind)' if rest else '')
    for first, *rest in kinds.values()
  ]


def _warned(lines: Sequence[str]) -> list[str]:
  """One box: the first kinds of warnings, and the others when asked for."""
  if len(lines) < 2:
    return [text(line, kind='warning') for line in lines]
  more = lines[WARNED:]
  box = bullets(lines[:WARNED])
  if more:
    box += details(f'{plural(len(more), "more warning")}', bullets(more))
  return [f'<div class="warning">{box}</div>']


def _kind(line: str) -> str:
  """What it says of a set, without names, numbers and the list behind it."""
  said, _, listed = line.partition(': ')[2].partition(': ')
  a_list = listed.count(', ') > 1 and len(said.split()) > 2
  return VARIES.sub('#', said if a_list else f'{said}: {listed}')


def daggers(results: Results) -> set[tuple[str, str, str]]:
  """(set, contender, measure) that a t-test over seeds tells from the base.

  There are none where a contender is compared with several others.
  """
  bases: dict[str, set[str]] = {}
  for test in results.tests:
    bases.setdefault(test['ours'], set()).add(test['theirs'])
  return {
    (test['set'], test['ours'], test['measure'])
    for test in results.tests
    if 't-test' in test['test']
    and len(bases[test['ours']]) == 1
    and tables.defined(test['p'])
    and test['p'] < 1 - results.level
  }


def side_by_side(results: Results, name: str) -> list[dict]:
  """A row a contender of a set, with its leading measures, or else all.

  Of a set that has numbers of its groups alone, those. Of none, no rows.
  """
  by_contender = {
    c: results.measured(c, name) or _of_groups(one['sets'][name])
    for c, one in results.contenders.items()
    if name in one['sets']
  }
  every = [key for one in by_contender.values() for key in one]
  keys = [key for key in measures.leading(every) if not measures.is_rate(key)]
  keys = keys or list(measures.in_order(dict.fromkeys(every)))
  if not keys:
    return []
  if {'recall', 'precision'} <= {*every}:  # of pairs: neither says much alone
    keys = ['precision', *keys]
  sure = daggers(results)
  return [
    {'contender': contender}
    | {
      key: tables.of_measure(key, values[key])
      | ({'mark': '†'} if (name, contender, key) in sure else {})
      for key in keys
      if key in values
    }
    for contender, values in by_contender.items()
  ]


def _of_groups(one: Mapping) -> dict[str, dict]:
  """{group/measure: Estimate}"""
  return {
    f'{group}/{key}': value
    for group, rates in one.get('groups', {}).items()
    for key, value in rates.items()
    if tables.is_estimate(value)
  }


def _sentence(name: str, one: Mapping, who: str) -> str:
  """How good and how unfair on one test set, on which evidence."""
  quality, fairness = one.get('quality', {}), one.get('fairness', {})
  rows = plural(one['rows'], 'row') if 'rows' in one else 'the rows'
  lines = [f'On {rows} of {of_set(name)}']
  if leads := _of_benchmark(quality, fairness):
    return f'On {rows} of {of_set(name)}, {who} has {leads}.'
  keys = [
    key
    for key in [*QUALITY_WORDS, *measures.leading(quality)]
    if tables.defined(quality.get(key))
  ]
  if keys:
    words = QUALITY_WORDS.get(
      keys[0], f'has a {measures.label(keys[0])} of {{}}'
    )
    lines.append(f', {who} {words.format(tables.estimate(quality[keys[0]]))}.')
  else:
    lines.append(f', the quality of {who} could not be measured.')
  gaps = [key for key in fairness if measures.bare(key) == 'dp']
  gaps = [key for key in gaps if ' at ' not in key]
  adjusted = significance.of_gaps(fairness)  # as on the first screen
  for key in gaps:
    p = adjusted.get(key, fairness[key].get('p'))
    lines.append(' ' + _parity(key, fairness, one.get('groups', {}), p))
  if not gaps and 'perplexity' not in ''.join(quality):
    lines.append(
      ' Nothing says which group a row speaks of, so fairness was not measured.'
      if not fairness
      else ' Demographic parity was not measured.'
    )
  return ''.join(lines)


def _of_benchmark(quality: Mapping, fairness: Mapping) -> str:
  """What leads where nothing but numbers of a benchmark was measured."""
  if quality or any(measures.bare(key) == 'dp' for key in fairness):
    return ''
  out = []
  for key in measures.leading(fairness):
    value = fairness[key]
    if tables.defined(value):
      one = tables.estimate(tables.of_measure(key, value))
      one = f'{measures.label(key)} {one}'
      null = value.get('null')
      out.append(
        one if null is None else f'{one} ({null:.3g} without a preference)'
      )
  return ', '.join(out)


def _range(results: Results, name: str) -> str:
  """The best and the worst contender of a set, by the first fairness gap."""
  values = {c: results.measured(c, name) for c in results.contenders}
  keys = measures.leading((k for v in values.values() for k in v), True)
  for key in ('dp', *keys):
    better = getattr(measures.measure(key), 'better', 0)
    ranked = sorted(
      (c for c in values if tables.defined(values[c].get(key)) and better),
      key=lambda c, key=key, better=better: -better * values[c][key]['value'],
    )
    if len(ranked) > 1:
      best, *_, worst = ranked
      return (
        f'On {of_set(name)}, {measures.label(key)} is best with {best}, '
        f'{tables.estimate(values[best][key])}, and worst with {worst}, '
        f'{tables.estimate(values[worst][key])}.'
      )
  return ''


def _parity(
  key: str, fairness: Mapping, groups: Mapping, p: float | None = None
) -> str:
  """Demographic parity in words, and whether the data show a gap.

  `p` is that of no gap, adjusted for all gaps that are looked at.
  """
  value = fairness[key]
  about = f' by {key.rpartition("/")[0]}' if '/' in key else ''
  if not tables.defined(value):
    why = f': {value["note"]}' if value.get('note') else ''
    return f'Demographic parity{about} is undefined{why}.'
  lines = f'Demographic parity{about} is {tables.estimate(value)} (1 is equal)'
  rates = {
    name: rate['selection_rate']['value']
    for name, rate in groups.items()
    if tables.defined(rate.get('selection_rate'))
    and not rate['selection_rate'].get('few')
  }
  if len(rates) > 1 and not about:
    least, *_, most = sorted(rates, key=rates.get)  # two groups if all tie
    lines += (
      f': the share decided positive is {rates[least]:.0%} for {least} and '
      f'{rates[most]:.0%} for {most}'
    )
  if value.get('note'):
    lines += f' ({value["note"]})'
  lines += '.'
  low, high = value.get('low'), value.get('high')
  sure = tables.defined(low) and tables.defined(high)
  if sure and high < 1 and (p is None or significance.is_significant(p)):
    lines += ' The interval lies below 1: the gap is more than chance.'
  elif sure and high < 1:
    lines += (
      ' The interval lies below 1, but of as many gaps one does so by chance '
      f'({significance.said(p, value.get("p_at_floor", False))}, Holm).'
    )
  elif sure:
    lines += (
      ' The interval reaches 1: these rows do not show a gap, which is no '
      'proof that there is none.'
    )
  floor = fairness.get(key + '_floor')
  if tables.defined(floor) and floor['value'] < 0.995:
    lines += (
      ' Since the groups’ labels differ, a perfect predictor would have '
      f'{floor["value"]:.3f} here'
    )
    inside = sure and low <= floor['value'] <= high
    lines += ', within the interval.' if inside else '.'
  return lines
