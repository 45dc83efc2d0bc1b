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
from fairjax.metrics import measures

# Of each benchmark the number that stands for it, what it is without a
# preference, and how far from there it can be.
HEADLINES = {
  'weat': ('weat_mean_mean', 0.0, 2.0),
  'crows': ('crows_original', 50.0, 50.0),
  'stereoset': ('stereoset_ss_log', 50.0, 50.0),
  'winobias': ('winobias_log_odds', 0.0, math.inf),
  'winogender': ('winogender_rho', 0.0, 1.0),
  'bbq': ('bbq_bias_mean', 0.0, 1.0),
  'holistic': ('holistic_pairs_fdr', 0.0, 100.0),
}
CAUSAL = {'crows': 'crows_total'}


def distances(sets: Mapping[str, Mapping]) -> dict[str, float]:
  """How far each benchmark's number is from no preference, 0 to 1."""
  out = {}
  for name, (measure, null, largest) in HEADLINES.items():
    value = _value(sets, name, measure)
    if value is not None:
      far = abs(value - null)
      open_ended = math.isinf(largest)
      out[name] = math.tanh(far / 2) if open_ended else far / largest
  return out


def _value(sets: Mapping, name: str, measure: str) -> float | None:
  whole = sets.get(name, {}).get('fairness', {})
  key = measure if measure in whole else CAUSAL.get(name, measure)
  return whole.get(key, {}).get('value')


def harm(contenders: Mapping[str, Mapping]) -> dict[str, float | None]:
  """The mean distance of each contender, over what all of them have."""
  each = {t: distances(one['sets']) for t, one in contenders.items()}
  shared = set.intersection(*map(set, each.values()))
  return {
    title: sum(d[name] for name in shared) / len(shared) if shared else None
    for title, d in each.items()
  }


def section(contenders: Mapping[str, Mapping]) -> dict:
  """The part of the page that says what each mitigation does and costs."""
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
      row['gender read by a probe'] = told['probe_accuracy']
    if 'task' in sets:
      row['task accuracy'] = sets['task']['quality']['accuracy']
    for name, (measure, _, _) in HEADLINES.items():
      whole = sets.get(name, {}).get('fairness', {})
      key = measure if measure in whole else CAUSAL.get(name, measure)
      if key in whole:
        row[measures.label(key)] = whole[key]
    rows.append(row)
    if cost['value'] is not None and harms[title] is not None:
      points[title] = [(cost, harms[title])]
  parts = [
    results.text(
      'Harm is the mean, over the benchmarks that every model could be asked '
      f'({", ".join(sorted(shared)) or "none"}), of how far a number is from '
      'no preference, as a share of how far it can be; perplexity is of texts '
      'that no mitigation was fitted on, and so are those whose gender a '
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
