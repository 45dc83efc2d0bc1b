"""The first screen of a page: an answer in people's numbers, one picture, and
three lights.

    Of 100 texts about women labelled 'no blame', 51 are decided 'blame'; of
    those about men, 9. The gap is 42 points [34, 50]: more than chance.

The answer speaks of the rate that differs most between groups: false alarms,
misses or, without labels, decisions. The lights are in report/lights.py.
"""

from collections.abc import Mapping

from fairjax.metrics import measures, warn
from fairjax.metrics.inference import significance
from fairjax.report import findings, lights, names, tables
from fairjax.report.blocks import beside, text
from fairjax.report.lights import Gap, hundred, points
from fairjax.report.parts import Pictures
from fairjax.report.pictures import group_plots, plots
from fairjax.report.tables import defined, plural, printable
from fairjax.results import Results

MOST = 24  # groups in the picture
PEOPLE = {  # what a group of texts about persons is called
  'female': 'women',
  'f': 'women',
  'woman': 'women',
  'male': 'men',
  'm': 'men',
  'man': 'men',
  'women': 'women',
  'men': 'men',
}


def html_of(results: Results | None, pictures: Pictures) -> str:
  """The whole first screen; '' where nothing of the kind was measured."""
  if results is None:
    return ''
  if not results.sets:
    return findings.html_of(results, pictures)
  name, one = next(iter(results.sets.items()))
  gap = headline(one)
  lines = answer(results, name, one, gap)
  if not lines:
    grouped = defined(one.get('fairness', {}).get('dp'))
    return '' if grouped else findings.html_of(results, pictures)
  words = text(lines[0], kind='lead') + text(*lines[1:])
  body = [beside(words, _picture(results, name, gap, pictures))]
  body.append(lights.html_of(one, gap))
  body.append(text(_made_of(results, name, one), kind='quiet'))
  return '\n'.join(part for part in body if part)


def headline(one: Mapping) -> Gap | None:
  """The largest gap between groups of one attribute that can be told."""
  fairness, by_group = one.get('fairness', {}), one.get('groups', {})
  best: tuple[float, Gap] | None = None
  for rate, bare in measures.parities().items():
    for key in fairness:
      if measures.bare(key) != bare or ' at ' in key:
        continue
      if not defined(fairness[key]):
        continue
      own = _of_attribute(key, by_group)
      if 'class' in fairness[key]:  # of many classes the worst
        if bare != 'eqopp1':
          continue
        rate = f'tpr_{fairness[key]["class"]}'
      rates = {
        g: values[rate]
        for g, values in own.items()
        if defined(values.get(rate)) and not values[rate].get('few')
      }
      if len(rates) < 2:
        continue
      order = sorted(rates, key=lambda g: rates[g]['value'])
      gap = Gap(rate, key, order[-1], order[0], fairness[key], own)
      size = 1 - fairness[key]['value']
      # Decisions speak only where no error rate does.
      if rate == 'selection_rate' and best and best[1].rate != rate:
        continue
      if best is None or size > best[0]:
        best = size, gap
  if best is None:
    return None
  # It is the largest of several, so its p is that of a choice.
  p = significance.of_gaps(fairness)
  return best[1]._replace(p=p.get(best[1].key), among=max(len(p), 1))


def _other_error(one: Mapping, gap: Gap) -> Gap | None:
  """The gap in the other error: who is blamed, and whose blame is missed."""
  rate, bare = {
    'fpr': ('fnr', 'eqopp1'),
    'fnr': ('fpr', 'eqopp0'),
  }.get(gap.rate, ('', ''))
  if not rate:
    return None
  prefix = gap.key.rpartition('/')[0]
  key = f'{prefix}/{bare}' if prefix else bare
  estimate = one.get('fairness', {}).get(key)
  rates = {
    g: values[rate]['value']
    for g, values in gap.groups.items()
    if defined(values.get(rate)) and not values[rate].get('few')
  }
  if not defined(estimate) or len(rates) < 2:
    return None
  order = sorted(rates, key=rates.get)
  own = Gap(rate, key, order[-1], order[0], estimate, gap.groups)
  p = estimate.get('p')
  # It was looked at among the others, and is corrected for all of them.
  p = None if p is None else min(1.0, p * gap.among)
  return own._replace(p=p, among=gap.among)


def _of_attribute(key: str, by_group: Mapping) -> dict[str, dict]:
  """The groups that a measure compares: those of its attribute."""
  attribute = key.rpartition('/')[0]
  if not attribute:
    return dict(by_group)
  if ' × ' in attribute:
    return {g: v for g, v in by_group.items() if ' × ' in g}
  return {
    g: v for g, v in by_group.items() if g.startswith(f'{attribute}: ')
  } or {g: v for g, v in by_group.items() if ': ' not in g and ' × ' not in g}


def people(group: str) -> str:
  """'about women', or 'of group X'."""
  short = group.rpartition(': ')[2]
  persons = PEOPLE.get(short.casefold())
  return f'about {persons}' if persons else f'of group {printable(short)}'


def of_people(results: Results, group: str) -> str:
  """'about women'; of texts that a model wrote 'after prompts about women'."""
  after = 'after prompts ' if results.recipe == 'writing' else ''
  return after + people(group)


def sides(results: Results) -> tuple[str, str]:
  """What the negative and the positive class are called."""
  if len(results.classes) == 2 and results.pos_label < 2:
    names = [f'‘{printable(c)}’' for c in results.classes]
    if not all(c.isdigit() for c in results.classes):
      return names[1 - results.pos_label], names[results.pos_label]
  return 'negative', 'positive'


def answer(
  results: Results, name: str, one: Mapping, gap: Gap | None
) -> list[str]:
  """The answer, and what else is worth a sentence."""
  worse = warn.of_reversed(one.get('quality', {}))
  if warn.is_void(one.get('fairness', {})):
    worse += [w for w in one.get('warnings', ()) if warn.CONSTANT in w][:1]
  worse += [line for line in findings.lines(results) if 'fairscore' in line]
  lines = [*worse, *_compared(results, name)]
  if gap:
    lines.append(f'{_who(results, gap)} {_how_sure(gap)}')
    if other := _other_error(one, gap):
      lines.append(f'{_who(results, other)} {_how_sure(other)}')
  elif defined(one.get('fairness', {}).get('dp')):
    return worse
  flips = _flips(one)
  if flips:
    lines.append(flips)
  return lines


def _compared(results: Results, name: str) -> list[str]:
  """The contender in focus against each other one, by parity of the groups."""
  out = []
  for test in results.tests:
    parity = measures.bare(test['measure']) in ('dp', 'eqodd')
    mine = results.focus in (test['ours'], test['theirs'])
    if (
      not parity or not mine or test['set'] != name or 't-test' in test['test']
    ):
      continue
    if measures.bare(test['measure']) != 'dp' and out:
      continue
    one, sign = test['difference'], 1 if test['ours'] == results.focus else -1
    other = test['theirs'] if sign == 1 else test['ours']
    if not all(map(defined, (one, one.get('low'), one.get('high')))):
      continue
    if any(f' {other}:' in line for line in out):
      continue
    low, high = sorted((sign * one['low'], sign * one['high']))
    word = 'fairer than' if low > 0 else 'less fair than' if high < 0 else ''
    sure = '' if word else ', which chance can do'
    said = (
      f'{results.focus} is {word or "not told from"} {other}: '
      f'{measures.label(test["measure"])} differs by '
      f'{sign * one["value"]:+.2f} [{low:+.2f}, {high:+.2f}]{sure}.'
    )
    out.append(names.opened(said))
  return [' '.join(out[:4])] if out else []


def _who(results: Results, gap: Gap) -> str:
  negative, positive = sides(results)
  label, decided = {
    'fpr': (f' labelled {negative}', f'decided {positive}'),
    'fnr': (f' labelled {positive}', f'decided {negative}'),
    'selection_rate': ('', f'decided {positive}'),
  }.get(gap.rate) or (f' labelled {_class(results, gap)}', 'recognised')
  count = lambda g: hundred(gap.groups[g][gap.rate]['value'])
  high, low = count(gap.high), count(gap.low)
  who = names.opened(results.focus)
  lead = f'{who}: of' if len(results.contenders) > 1 else 'Of'
  other = of_people(results, gap.low)
  return (
    f'{lead} 100 texts {of_people(results, gap.high)}{label}, {high} are '
    f'{decided}; '
    f'of those {other}, {low}.'
  )


def _class(results: Results, gap: Gap) -> str:
  """The class that a gap of many classes is worst in."""
  k = int(gap.rate.rpartition('_')[2])
  name = results.classes[k] if k < len(results.classes) else str(k)
  return f'‘{printable(name)}’'


def _how_sure(gap: Gap) -> str:
  one = gap.estimate
  size = 1 - one['value']
  is_ = 'is' if _told_by_means(gap, size) else 'of a seed is on average'
  if not (defined(one.get('low')) and defined(one.get('high'))):
    return f'The gap {is_} {points(size)} points.'
  low, high = 1 - one['high'], 1 - one['low']
  words = f'The gap {is_} {points(size)} points [{points(low)}, {points(high)}]'
  if gap.sure():
    return f'{words}: more than chance.'
  if low > 0:
    return (
      f'{words}: the largest of {gap.among} gaps, which chance can do '
      f'({significance.said(gap.p, one.get("p_at_floor", False))}, Holm).'
    )
  return f'{words}: these rows cannot tell it from chance.'


def _told_by_means(gap: Gap, size: float) -> bool:
  """Whether the two rates are as far apart as the gap: not where seeds differ
  in which group is ahead, since the gap is the mean of theirs."""
  if len(gap.estimate.get('seeds', ())) < 2:
    return True
  high, low = (gap.groups[g][gap.rate]['value'] for g in (gap.high, gap.low))
  return abs(high - low - size) < 0.005


def _flips(one: Mapping) -> str:
  fairness = one.get('fairness', {})
  flips = [k for k in fairness if measures.bare(k) == 'flips']
  for key in sorted(flips, key=lambda k: not lights.fits(fairness[k])):
    if not defined(fairness[key]):
      continue
    prefix = key.rpartition('/')[0]
    if fairness[key].get('note', '').startswith(warn.VOID):
      return f'Of the words nothing is said: {fairness[key]["note"]}.'
    what = fairness[key].get('of', 'words that show a group')
    if not lights.fits(fairness[key]):
      return (
        f'What words of the groups compared do to decisions is not known: '
        f'only {what} were exchanged.'
      )
    words = (
      f'Exchanging {what} changes {hundred(fairness[key]["value"])} of 100 '
      'decisions on the texts that have such words'
    )
    start = f'{prefix}/' if prefix else ''
    control = fairness.get(f'{start}control_flips')
    excess = fairness.get(f'{start}excess_flips')
    if defined(control) and defined(excess):
      words += (
        f'; editing as many other words changes {hundred(control["value"])}'
      )
      words += _beyond(excess)
    return words + '.'
  return ''


def _beyond(excess: Mapping) -> str:
  """What the excess over the control says."""
  low, high = excess.get('low'), excess.get('high')
  if not (defined(low) and defined(high)):
    return ''
  if low > 0:
    return (
      f'. That is {points(excess["value"])} more '
      f'[{points(low)}, {points(high)}]'
    )
  if high < 0:
    return ': no more than others do'
  return f': at most {points(high)} more, or none'


def _picture(
  results: Results, name: str, gap: Gap | None, pictures: Pictures
) -> str:
  if len(results.contenders) > 1:
    return _contenders(results, name, pictures)
  if gap is None:
    return ''
  _, positive = sides(results)
  negative = sides(results)[0]
  words = {
    'fpr': f'of 100 labelled {negative}, decided {positive}',
    'fnr': f'of 100 labelled {positive}, decided {negative}',
    'selection_rate': f'of 100, decided {positive}',
  }.get(gap.rate) or f'of 100 labelled {_class(results, gap)}, recognised'
  rates = {
    g: {**values[gap.rate], 'rows': values.get('rows', 0)}
    for g, values in gap.groups.items()
    if isinstance(values.get(gap.rate), Mapping)
  }
  everyone = results.sets[name].get('quality', {}).get(gap.rate, {})
  middle = everyone.get('value') or 0.0
  level = lambda g: rates[g]['value'] if defined(rates[g]) else -1
  # Of many groups those that differ most, whatever their size.
  far = lambda g: (not rates[g].get('few'), abs(level(g) - middle))
  most = sorted(rates, key=far, reverse=True)[:MOST]
  order = sorted(most, key=level, reverse=True)
  plot = group_plots.scale(
    {g: rates[g] for g in order}, words, everyone.get('value')
  )
  caption = (
    f'{measures.label(gap.rate).capitalize()} ({gap.rate}) of each group '
    f'with {tables.percent(results.level)} intervals; equal groups would share '
    'one place. In brackets: rows.'
  )
  if len(rates) > MOST:
    caption += (
      f' Of {len(rates)} groups the {MOST} that differ most from everyone.'
    )
  if any(v.get('few') for v in rates.values()):
    caption += ' Grey: too few rows to count in a gap.'
  return pictures.add('answer', plot, caption)


def _contenders(results: Results, name: str, pictures: Pictures) -> str:
  """The contenders on the measure that leads; those that lack it are left."""
  for key in ('dp', 'eqodd', 'auc'):
    values = {
      c: v
      for c in results.contenders
      for k, v in results.measured(c, name).items()
      if measures.bare(k) == key and ' at ' not in k and defined(v)
    }
    if len(values) > 1:
      order = sorted(values, key=lambda c: -values[c]['value'])
      label = measures.label(key)
      side = 'better' if key == 'auc' else 'fairer'
      plot = plots.forest(
        {c: values[c] for c in order}, f'{label}; right is {side}', zero=None
      )
      caption = (
        f'{label.capitalize()} ({key}) of every contender on {name}, the '
        f'fairest first; 1 is equal. {tables.percent(results.level)} intervals.'
        if key != 'auc'
        else f'AUC of every contender on {name}; right is better.'
      )
      return pictures.add('answer', plot, caption)
  return ''


def _made_of(results: Results, name: str, one: Mapping) -> str:
  """What it was run on."""
  parts = [results.focus or results.model or 'the model']
  words = (
    f'on {plural(one["rows"], "row")} of {name}' if 'rows' in one else name
  )
  if 'effective_rows' in one:
    words += f', weighted: as sure as {one["effective_rows"]:,.0f}'
  if one.get('texts', one.get('rows')) != one.get('rows'):
    words += f' ({plural(one["texts"], "different text")})'
  parts.append(words)
  if one.get('threshold') not in (None, 'argmax'):
    parts.append(f'decision threshold {tables.limits(one["threshold"])}')
  groups = one.get('groups', {})
  if groups:
    parts.append(plural(len(groups), 'group'))
  if len(results.seeds) > 1:
    parts.append(plural(len(results.seeds), 'seed'))
  parts.append(f'{tables.percent(results.level)} intervals')
  return ' · '.join(map(printable, parts))
