"""The first screen of a page: an answer in people's numbers, one picture, and
three lights.

    Of 100 texts about women labelled 'no blame', 51 are decided 'blame'; of
    those about men, 9. The gap is 42 points [34, 50]: more than chance.

The answer speaks of the rate that differs most between groups: false alarms,
misses or, without labels, decisions. A light says what the *interval* allows
to be said, never the value alone; its rule stands below it.
"""

import html
from collections.abc import Mapping
from typing import Any, NamedTuple

from fairjax.metrics import measures
from fairjax.report import group_plots, plots, tables
from fairjax.report.blocks import text
from fairjax.report.parts import Pictures
from fairjax.report.tables import defined, plural, printable
from fairjax.results import Results

MOST = 24  # groups in the picture
LITTLE = 0.05  # a gap that is called small
RARE = 0.02  # flips that are called few
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
RATES = {'fpr': 'eqopp0', 'fnr': 'eqopp1', 'selection_rate': 'dp'}
SHAPES = {  # told by shape as well as by colour
  'good': '<circle cx="8" cy="8" r="7"/>',
  'unsure': '<path d="M8 1 15 15H1Z"/>',
  'bad': '<rect x="1" y="1" width="14" height="14"/>',
}


class Gap(NamedTuple):
  """The gap that the answer speaks of."""

  rate: str
  key: str  # of fairness
  high: str  # the group with the most
  low: str
  estimate: Mapping[str, Any]  # of 1 − gap
  groups: dict[str, dict]


def html_of(results: Results | None, pictures: Pictures) -> str:
  """The whole first screen; '' where nothing of the kind was measured."""
  if results is None or not results.sets:
    return ''
  name, one = next(iter(results.sets.items()))
  gap = headline(one)
  lines = answer(results, name, one, gap)
  if not lines:
    return ''
  body = [text(lines[0], kind='lead'), text(*lines[1:])]
  body.append(lights(results, one, gap))
  body.append(_picture(results, name, gap, pictures))
  body.append(text(_made_of(results, name, one), kind='quiet'))
  return '\n'.join(part for part in body if part)


def headline(one: Mapping) -> Gap | None:
  """The largest gap between groups of one attribute that can be told."""
  fairness, by_group = one.get('fairness', {}), one.get('groups', {})
  best: tuple[float, Gap] | None = None
  for rate, bare in RATES.items():
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
      known = {
        g: values[rate]
        for g, values in own.items()
        if defined(values.get(rate)) and not values[rate].get('few')
      }
      if len(known) < 2:
        continue
      order = sorted(known, key=lambda g: known[g]['value'])
      gap = Gap(rate, key, order[-1], order[0], fairness[key], own)
      size = 1 - fairness[key]['value']
      # Decisions speak only where no error rate does.
      if rate == 'selection_rate' and best is not None:
        continue
      if best is None or size > best[0]:
        best = size, gap
  return best[1] if best else None


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
  known = PEOPLE.get(short.casefold())
  return f'about {known}' if known else f'of group {printable(short)}'


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
  lines = list(_compared(results, name))
  if gap:
    lines.append(f'{_who(results, gap)} {_how_sure(gap)}')
  elif defined(one.get('fairness', {}).get('dp')):
    return []
  flips = _flips(one)
  if flips:
    lines.append(flips)
  return lines


def _compared(results: Results, name: str) -> list[str]:
  """The contender in focus against each other one, by parity of the groups."""
  out = []
  for test in results.tests:
    known = measures.bare(test['measure']) in ('dp', 'eqodd')
    mine = results.focus in (test['ours'], test['theirs'])
    if not known or not mine or test['set'] != name or 't-test' in test['test']:
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
    out.append(
      f'{results.focus} is {word or "not told from"} {other}: '
      f'{measures.label(test["measure"])} differs by '
      f'{sign * one["value"]:+.2f} [{low:+.2f}, {high:+.2f}]{sure}.'
    )
  return [' '.join(out[:4])] if out else []


def _who(results: Results, gap: Gap) -> str:
  negative, positive = sides(results)
  label, decided = {
    'fpr': (f' labelled {negative}', f'decided {positive}'),
    'fnr': (f' labelled {positive}', f'decided {negative}'),
    'selection_rate': ('', f'decided {positive}'),
  }.get(gap.rate) or (f' labelled {_class(results, gap)}', 'recognised')
  count = lambda g: _hundred(gap.groups[g][gap.rate]['value'])
  high, low = count(gap.high), count(gap.low)
  lead = f'{results.focus}: of' if len(results.contenders) > 1 else 'Of'
  other = people(gap.low)
  return (
    f'{lead} 100 texts {people(gap.high)}{label}, {high} are {decided}; '
    f'of those {other}, {low}.'
  )


def _class(results: Results, gap: Gap) -> str:
  """The class that a gap of many classes is worst in."""
  k = int(gap.rate.rpartition('_')[2])
  name = results.classes[k] if k < len(results.classes) else str(k)
  return f'‘{printable(name)}’'


def _hundred(share: float) -> str:
  count = 100 * share
  return f'{count:.0f}' if count >= 1 or not count else f'{count:.1f}'


def _points(share: float) -> str:
  small = 0 < abs(share) < 0.01
  return f'{100 * share:.1f}' if small else f'{100 * share:.0f}'


def _how_sure(gap: Gap) -> str:
  one = gap.estimate
  size = 1 - one['value']
  if not (defined(one.get('low')) and defined(one.get('high'))):
    return f'The gap is {_points(size)} points.'
  low, high = 1 - one['high'], 1 - one['low']
  words = f'The gap is {_points(size)} points [{_points(low)}, {_points(high)}]'
  if low > 0:
    return f'{words}: more than chance.'
  return f'{words}: these rows cannot tell it from chance.'


def _flips(one: Mapping) -> str:
  fairness = one.get('fairness', {})
  for key in fairness:
    if measures.bare(key) != 'flips' or not defined(fairness[key]):
      continue
    prefix = key.rpartition('/')[0]
    of = f' of the swap {prefix!r}' if prefix else ' that show a group'
    words = (
      f'Exchanging the words{of} changes '
      f'{_hundred(fairness[key]["value"])} of 100 decisions on the texts that '
      'have such words'
    )
    start = f'{prefix}/' if prefix else ''
    control = fairness.get(f'{start}control_flips')
    excess = fairness.get(f'{start}excess_flips')
    if defined(control) and defined(excess):
      words += (
        f'; editing as many other words changes {_hundred(control["value"])}'
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
      f'. That is {_points(excess["value"])} more '
      f'[{_points(low)}, {_points(high)}]'
    )
  if high < 0:
    return ': group words change no more than others do'
  return f': at most {_points(high)} more, or none'


def lights(results: Results, one: Mapping, gap: Gap | None) -> str:
  """Quality, gap and flips: what the intervals allow to be said."""
  three = [_quality(one), _gap_light(gap), _flip_light(one)]
  items = ''.join(
    f'<li class="{state}"><svg viewBox="0 0 16 16" aria-hidden="true">'
    f'{SHAPES[state]}</svg><b>{html.escape(title)}</b> '
    f'{html.escape(printable(words))}<small>{html.escape(rule)}</small></li>'
    for title, state, words, rule in filter(None, three)
  )
  return f'<ul class="lights">{items}</ul>' if items else ''


def _quality(one: Mapping) -> tuple | None:
  quality = one.get('quality', {})
  for key, name in (
    ('auc', 'AUC'),
    ('macro_auc', 'AUC over pairs of classes'),
    ('balanced_accuracy', 'balanced accuracy'),
  ):
    value = quality.get(key)
    if not defined(value):
      continue
    chance = 0.5
    if key == 'balanced_accuracy' and defined(quality.get('macro_f1')):
      continue
    low = value.get('low')
    state = 'unsure'
    if defined(low) and low >= 0.8:
      state = 'good'
    elif defined(low) and low <= chance:
      state = 'bad'
    words = {
      'good': 'sorts well',
      'unsure': 'sorts better than chance, not well',
      'bad': 'is not told from chance',
    }[state]
    right = ''
    if defined(quality.get('accuracy')):
      right = f', right in {_hundred(quality["accuracy"]["value"])} of 100'
    rule = (
      f'{name} {tables.estimate(value)}; well is an interval from .8 up, '
      'chance is .5'
    )
    return 'Quality', state, words + right, rule
  return None


def _gap_light(gap: Gap | None) -> tuple | None:
  if gap is None or not defined(gap.estimate.get('high')):
    return None
  low, high = 1 - gap.estimate['high'], 1 - gap.estimate['low']
  label = {
    'fpr': 'false positive rate',
    'fnr': 'false negative rate',
    'selection_rate': 'share decided positive',
  }.get(gap.rate, 'true positive rate of the worst class')
  size = f'{_points(1 - gap.estimate["value"])} points'
  if 'note' in gap.estimate and 'constant' in gap.estimate['note']:
    state, words = 'unsure', 'means nothing: all decisions are alike'
  elif high <= LITTLE:
    state, words = 'good', f'at most {_points(high)} points'
  elif low > 0:
    state, words = 'bad', f'{size}, more than chance'
  else:
    state, words = 'unsure', f'{size}, undecided: up to {_points(high)}'
  rule = (
    f'largest difference in the {label} ({gap.key}), interval '
    f'{_points(low)} to {_points(high)}; small is at most {LITTLE:.0%}'
  )
  return 'Gap', state, words, rule


def _flip_light(one: Mapping) -> tuple | None:
  fairness = one.get('fairness', {})
  keys = [k for k in fairness if measures.bare(k) == 'flips']
  known = [k for k in keys if defined(fairness[k])]
  if not known:
    return None
  worst = max(known, key=lambda k: fairness[k]['value'])
  flips = fairness[worst]
  if not (defined(flips.get('low')) and defined(flips.get('high'))):
    return None
  excess = fairness.get(f'{worst.removesuffix("flips")}excess_flips')
  sure = excess if defined(excess) and defined(excess.get('low')) else None
  if flips['high'] <= RARE:
    state, words = 'good', f'at most {_points(flips["high"])} of 100'
  elif sure and sure['low'] > 0:
    state = 'bad'
    words = f'{_points(sure["value"])} of 100 more than a matched edit'
  elif sure is None and flips['low'] > RARE:
    state, words = 'bad', f'{_points(flips["value"])} of 100 decisions'
  elif sure and sure['high'] < 0:
    state, words = 'good', 'no more than a matched edit changes'
  else:
    state = 'unsure'
    words = f'{_points(flips["value"])} of 100, not told from a matched edit'
  rule = (
    f'decisions that an exchange of group words changes '
    f'{tables.estimate(flips)}; few is at most {RARE:.0%}'
  )
  return 'Flips', state, words, rule


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
  shown = {
    g: {**values[gap.rate], 'rows': values.get('rows', 0)}
    for g, values in gap.groups.items()
    if isinstance(values.get(gap.rate), Mapping)
  }
  everyone = results.sets[name].get('quality', {}).get(gap.rate, {})
  middle = everyone.get('value') or 0.0
  level = lambda g: shown[g]['value'] if defined(shown[g]) else -1
  # Of many groups those that differ most, whatever their size.
  far = lambda g: (not shown[g].get('few'), abs(level(g) - middle))
  most = sorted(shown, key=far, reverse=True)[:MOST]
  order = sorted(most, key=level, reverse=True)
  plot = group_plots.scale(
    {g: shown[g] for g in order}, words, everyone.get('value')
  )
  caption = (
    f'{measures.label(gap.rate).capitalize()} ({gap.rate}) of each group '
    f'with {results.level:.0%} intervals; equal groups would share one place. '
    'In brackets: rows.'
  )
  if len(shown) > MOST:
    caption += (
      f' Of {len(shown)} groups the {MOST} that differ most from everyone.'
    )
  if any(v.get('few') for v in shown.values()):
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
      plot = plots.forest(
        {c: values[c] for c in order}, f'{label}; right is fairer', zero=None
      )
      caption = (
        f'{label.capitalize()} ({key}) of every contender on {name}, the '
        f'fairest first; 1 is equal. {results.level:.0%} intervals.'
        if key != 'auc'
        else f'AUC of every contender on {name}; right is better.'
      )
      return pictures.add('answer', plot, caption)
  return ''


def _made_of(results: Results, name: str, one: Mapping) -> str:
  """What it was run on."""
  parts = [results.focus or results.model or 'the model']
  parts.append(
    f'on {plural(one["rows"], "row")} of {name}' if 'rows' in one else name
  )
  if one.get('threshold') not in (None, 'argmax'):
    parts.append(f'decision threshold {tables.limits(one["threshold"])}')
  groups = one.get('groups', {})
  if groups:
    parts.append(plural(len(groups), 'group'))
  if len(results.seeds) > 1:
    parts.append(plural(len(results.seeds), 'seed'))
  parts.append(f'{results.level:.0%} intervals')
  return ' · '.join(map(printable, parts))
