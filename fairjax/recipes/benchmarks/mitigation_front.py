"""Harm against cost: one picture and one table of all mitigations.

Harm is the mean over the benchmarks of how far each number is from no
preference, as a share of how far it can be; cost is the perplexity of texts
that no mitigation was fitted on. Of WinoBias it is the log-odds x, as the
difference tanh |x/2| of the two pronouns' probabilities: the share of wins is
50 % for a model that likes one pronoun everywhere.
"""

import math
from collections.abc import Mapping

from fairjax import results
from fairjax.benchmarks import BENCHMARKS
from fairjax.metrics import measures

WITHOUT = ('sembias',)  # some of its rows go by chance to the stereotype


def distances(sets: Mapping[str, Mapping]) -> dict[str, float]:
  """How far each benchmark's number is from no preference, 0 to 1."""
  out = {}
  for name, (key, one) in headlines(sets).items():
    row, value = measures.MEASURES[key], one.get('value')
    if value is not None:
      far = abs(value - row.ideal)
      largest = max(row.high - row.ideal, row.ideal - row.low)
      out[name] = math.tanh(far / 2) if math.isinf(largest) else far / largest
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


def harm(contenders: Mapping[str, Mapping]) -> dict[str, float | None]:
  """The mean distance of each contender, over what all of them have."""
  each = {t: distances(one['sets']) for t, one in contenders.items()}
  shared = set.intersection(*map(set, each.values()))
  return {
    title: sum(d[name] for name in shared) / len(shared) if shared else None
    for title, d in each.items()
  }


def section(contenders: Mapping[str, Mapping], called: str = 'gender') -> dict:
  """The part of the page that says what each mitigation does and costs.

  `called` is the axis that mitigations are fitted on and the probe reads.
  """
  harms, points, rows = harm(contenders), {}, []
  shared = set.intersection(
    *(set(distances(one['sets'])) for one in contenders.values())
  )
  for title, one in contenders.items():
    sets = one['sets']
    quality = sets.get('texts', {}).get('quality', {})
    cost = quality.get('perplexity_token_weighted', {'value': None})
    row = {'model': title, 'harm': harms[title], 'perplexity': cost}
    if told := sets.get('probe', {}).get('quality', {}):
      row[f'{called} read by a probe'] = told['probe_accuracy']
    if 'task' in sets:
      row['task accuracy'] = sets['task']['quality']['accuracy']
    row |= {measures.label(k): value for k, value in headlines(sets).values()}
    rows.append(row)
    if cost['value'] is not None and harms[title] is not None:
      points[title] = [(cost, harms[title])]
  parts = [
    results.text(
      'Harm is the mean, over the benchmarks that every model could be asked '
      f'({", ".join(sorted(shared)) or "none"}), of how far a number is from '
      'no preference, as a share of how far it can be; perplexity is of texts '
      f'that no mitigation was fitted on, and so are those whose {called} a '
      'linear probe reads. `continued` is the control: the same '
      'training without a mitigation.'
    ),
    results.table(rows),
  ]
  if points:
    parts.append(
      results.figure(
        'front',
        'harm_and_cost',
        'Harm against perplexity; lower and further left is better.',
        series=points,
        x_label='perplexity of held-out texts',
        y_label='harm',
        less=True,
      )
    )
  return results.section('Harm against cost', *parts)
