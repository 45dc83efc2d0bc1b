"""Traffic lights of a first screen: quality, gap, flips.

A light says what the interval allows to be said, never the value alone; its
rule stands below it, and its shape says the same as its colour.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fairjax.core import escape
from fairjax.metrics import measures, warn
from fairjax.metrics.inference import significance
from fairjax.report import tables
from fairjax.report.tables import defined

LITTLE = 0.05  # a gap that is called small
RARE = 0.02  # flips that are called few
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
  # p of no gap, by Holm over all gaps of which this is the largest; None where
  # none was measured (an older file).
  p: float | None = None
  among: int = 1

  def sure(self, level: float = 0.95) -> bool:
    """More than chance, though it was chosen."""
    high = self.estimate.get('high')
    beyond = defined(high) and high < 1
    return beyond and (
      self.p is None or significance.is_significant(self.p, 1 - level)
    )


def html_of(one: Mapping, gap: Gap | None) -> str:
  """Quality, gap and flips: what the intervals allow to be said."""
  lights = [_quality(one), _gap_light(gap), _flip_light(one)]
  items = ''.join(
    f'<li class="{state}"><svg viewBox="0 0 16 16" aria-hidden="true">'
    f'{SHAPES[state]}</svg><b>{escape.html(title)}</b> '
    f'{escape.html(words)}<small>{escape.html(rule)}</small></li>'
    for title, state, words, rule in filter(None, lights)
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
    low, high = value.get('low'), value.get('high')
    state = 'unsure'
    if defined(low) and low >= 0.8:
      state = 'good'
    elif defined(low) and low <= chance:
      state = 'bad'
    reversed_ = defined(high) and high < chance
    words = {
      'good': 'sorts well',
      'unsure': 'sorts better than chance, not well',
      'bad': 'is worse than chance: labels or scores reversed?'
      if reversed_
      else 'is not told from chance',
    }[state]
    right = ''
    if defined(quality.get('accuracy')):
      right = f', right in {hundred(quality["accuracy"]["value"])} of 100'
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
  size = f'{points(1 - gap.estimate["value"])} points'
  if _constant(gap.estimate):
    state, words = 'unsure', 'means nothing: all decisions are alike'
  elif high <= LITTLE:
    state, words = 'good', f'at most {points(high)} points'
  elif gap.sure():
    state, words = 'bad', f'{size}, more than chance'
  elif low > 0:
    words = f'{size}, which the largest of {gap.among} gaps can be by chance'
    state = 'unsure'
  else:
    state, words = 'unsure', f'{size}, undecided: up to {points(high)}'
  rule = (
    f'largest difference in the {label}, interval '
    f'{points(low)} to {points(high)}; small is at most {LITTLE:.0%}'
  )
  return 'Gap', state, words, rule


def _flip_light(one: Mapping) -> tuple | None:
  fairness = one.get('fairness', {})
  keys = [k for k in fairness if measures.bare(k) == 'flips']
  # Of words that are not those of the groups compared nothing is said.
  keys = [k for k in keys if defined(fairness[k]) and fits(fairness[k])]
  if not keys:
    return None
  worst = max(keys, key=lambda k: fairness[k]['value'])
  flips = fairness[worst]
  if not (defined(flips.get('low')) and defined(flips.get('high'))):
    return None
  excess = fairness.get(f'{worst.removesuffix("flips")}excess_flips')
  sure = excess if defined(excess) and defined(excess.get('low')) else None
  if _constant(flips):
    state, words = 'unsure', 'means nothing: all decisions are alike'
  elif flips.get('note') == warn.NOISY:
    state, words = 'unsure', 'the same text is answered differently each time'
  elif flips['high'] <= RARE:
    state, words = 'good', f'at most {points(flips["high"])} of 100'
  elif sure and sure['low'] > 0:
    state = 'bad'
    words = f'{points(sure["value"])} of 100 more than a matched edit'
  elif sure is None and flips['low'] > RARE:
    state, words = 'bad', f'{points(flips["value"])} of 100 decisions'
  elif sure and sure['high'] < 0:
    state, words = 'good', 'no more than a matched edit changes'
  else:
    state = 'unsure'
    words = f'{points(flips["value"])} of 100, not told from a matched edit'
  rule = (
    f'decisions that exchanging {flips.get("of", "words that show a group")} '
    f'changes {tables.estimate(flips)}; few is at most {RARE:.0%}'
  )
  return 'Flips', state, words, rule


def fits(flips: Mapping) -> bool:
  """Whether the swap is about the groups that are compared."""
  return flips.get('fits', True)


def _constant(estimate: Mapping) -> bool:
  return estimate.get('note', '').startswith(warn.CONSTANT)


def hundred(share: float) -> str:
  count = 100 * share
  return f'{count:.0f}' if count >= 1 or not count else f'{count:.1f}'


def points(share: float) -> str:
  small = 0 < abs(share) < 0.01
  return f'{100 * share:.1f}' if small else f'{100 * share:.0f}'
