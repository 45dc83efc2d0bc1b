"""Harm against cost: one picture and one table of all mitigations.

Harm is the mean over the benchmarks of how far each number is from no
preference, as a share of how far it can be; cost is the perplexity of texts
that no mitigation was fitted on. Of WinoBias it is the log-odds x, as the
difference tanh |x/2| of the two pronouns' probabilities: the share of wins is
50 % for a model that likes one pronoun everywhere. A benchmark counts where all
models have it by one measure: CrowS-Pairs of a masked model and of one from
left to right are different numbers.
"""

import math
from collections.abc import Mapping

from fairjax import results
from fairjax.benchmarks import BENCHMARKS
from fairjax.metrics import measures
from fairjax.report import written

WITHOUT = ('sembias',)  # some of its rows go by chance to the stereotype
LOG_ODDS = ('winobias_log_odds',)


def distances(sets: Mapping[str, Mapping]) -> dict[str, float]:
  """How far each benchmark's number is from no preference, 0 to 1."""
  out = {}
  for name, (key, one) in headlines(sets).items():
    row, value = measures.MEASURES[key], one.get('value')
    if value is not None and row.ideal is not None:
      far = abs(value - row.ideal)
      largest = max(row.high - row.ideal, row.ideal - row.low)
      share = min(far, 1.0) if math.isinf(largest) else far / largest
      out[name] = math.tanh(far / 2) if key in LOG_ODDS else share
  return out


def headlines(sets: Mapping[str, Mapping]) -> dict[str, tuple[str, Mapping]]:
  """{benchmark: (the measure that stands for it, its Estimate)}."""
  out = {}
  for name, benchmark in BENCHMARKS.items():
    whole = sets.get(name, {}).get('fairness', {})
    keys = [key for key in benchmark.headline if key in whole]
    if keys and name not in WITHOUT:
      out[name] = keys[0], whole[keys[0]]
  return out


def shared(contenders: Mapping[str, Mapping]) -> tuple[list[str], list[str]]:
  """The benchmarks that all have by one measure, and those by several."""
  each = [one['sets'] for one in contenders.values()]
  keys = [
    {name: key for name, (key, _) in headlines(sets).items()} for sets in each
  ]
  all_ = sorted(set.intersection(*(set(distances(sets)) for sets in each)))
  alike = [name for name in all_ if len({one[name] for one in keys}) == 1]
  return alike, [name for name in all_ if name not in alike]


def harm(contenders: Mapping[str, Mapping]) -> dict[str, float | None]:
  """The mean distance of each contender, over what all of them have."""
  each = {t: distances(one['sets']) for t, one in contenders.items()}
  alike, _ = shared(contenders)
  return {
    title: sum(d[name] for name in alike) / len(alike) if alike else None
    for title, d in each.items()
  }


def section(contenders: Mapping[str, Mapping], called: str = 'gender') -> dict:
  """The part of the page that says what each mitigation does and costs.

  `called` is the axis that mitigations are fitted on and the probe reads.
  """
  harms, points, rows = harm(contenders), {}, []
  alike, apart = shared(contenders)
  for title, one in contenders.items():
    sets = one['sets']
    quality = sets.get('texts', {}).get('quality', {})
    cost = quality.get('perplexity_token_weighted', {'value': None})
    row = {'model': title, 'harm': harms[title], 'perplexity': cost}
    if quality := sets.get('probe', {}).get('quality', {}):
      row[f'{called} read by a probe'] = quality['probe_accuracy']
    if 'task' in sets:
      row['task accuracy'] = sets['task']['quality']['accuracy']
    row |= {measures.label(k): value for k, value in headlines(sets).values()}
    rows.append(row)
    if cost['value'] is not None and harms[title] is not None:
      points[title] = [(cost, harms[title])]
  picture = results.figure(
    *('front', 'harm_and_cost', ''),
    series=points,
    x_label='perplexity of held-out texts',
    y_label='harm',
    less=True,
  )
  return written.sections(
    'front.txt',
    **{'alike': alike, 'apart': apart, 'called': called, 'rows': rows},
    front=points and picture,
  )[0]
