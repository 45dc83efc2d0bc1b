"""What a run found, in plain words: the first paragraphs of its page."""

from collections.abc import Mapping

from fairjax.report import tables
from fairjax.report.blocks import bullets, text


def in_words(results: Mapping | None, level: float) -> str:
  """What was found, in plain words: a paragraph for each test set."""
  if not results:
    return text('results.json is missing: the run has not been measured.')
  sets = results.get('sets', {})
  if not sets:
    return text('No test set was measured.')
  parts = [
    text(_sentence(name, found, results), kind='lead' if k == 0 else '')
    for k, (name, found) in enumerate(sets.items())
  ]
  warnings = [
    f'{name}: {w}' for name, s in sets.items() for w in s.get('warnings', ())
  ]
  parts += [text(w, kind='warning') for w in warnings]
  seeds = len(results.get('seeds') or ())
  parts.append(
    text(
      f'Values are means over {seeds} seed{"s" * (seeds != 1)}; brackets hold '
      f'the {level:.0%} interval.',
      kind='quiet',
    )
  )
  if results.get('notes'):
    parts.append(bullets(results['notes']))
  return '\n'.join(parts)


def _sentence(name: str, found: Mapping, results: Mapping) -> str:
  """How good and how unfair on one test set, on which evidence."""
  quality, fairness = found.get('quality', {}), found.get('fairness', {})
  rows = f'{found["rows"]:,} rows' if 'rows' in found else 'the rows'
  said = [f'On {rows} of {name}']
  model = results.get('model') or 'the model'
  for key, words in (
    ('auc', 'has an AUC of {} (0.5 is chance, 1 is perfect)'),
    ('macro_auc', 'has an AUC of {}, averaged over the classes'),
    ('accuracy', 'is right in a share of {}'),
  ):
    if tables.defined(quality.get(key)):
      said.append(
        f', {model} ' + words.format(tables.estimate(quality[key])) + '.'
      )
      break
  else:
    said.append(f', the quality of {model} could not be measured.')
  several = [key for key in fairness if key.split('/')[-1] == 'dp']
  for key in several:
    said.append(' ' + _parity(key, fairness, found.get('groups', {})))
  if not several:
    said.append(
      ' Nothing says which group a row speaks of, so fairness was not measured.'
      if not fairness
      else ' Demographic parity was not measured.'
    )
  return ''.join(said)


def _parity(key: str, fairness: Mapping, groups: Mapping) -> str:
  """Demographic parity in words, and whether the data show a gap."""
  value = fairness[key]
  about = f' by {key.rpartition("/")[0]}' if '/' in key else ''
  if not tables.defined(value):
    why = f': {value["note"]}' if value.get('note') else ''
    return f'Demographic parity{about} is undefined{why}.'
  said = f'Demographic parity{about} is {tables.estimate(value)} (1 is equal)'
  rates = {
    name: rate['selection_rate']['value']
    for name, rate in groups.items()
    if tables.defined(rate.get('selection_rate'))
  }
  if len(rates) > 1 and not about:
    least, *_, most = sorted(rates, key=rates.get)  # two groups if all tie
    said += (
      f': the share decided positive is {rates[least]:.0%} for {least} and '
      f'{rates[most]:.0%} for {most}'
    )
  if value.get('note'):
    said += f' ({value["note"]})'
  said += '.'
  low, high = value.get('low'), value.get('high')
  sure = tables.defined(low) and tables.defined(high)
  if sure and high < 1:
    said += ' The interval lies below 1: the gap is more than chance.'
  elif sure:
    said += (
      ' The interval reaches 1: these rows do not show a gap, which is no '
      'proof that there is none.'
    )
  floor = fairness.get(key + '_floor')
  if tables.defined(floor) and floor['value'] < 0.995:
    said += (
      ' Since the groups’ labels differ, a perfect predictor would have '
      f'{floor["value"]:.3f} here'
    )
    inside = sure and low <= floor['value'] <= high
    said += ', within the interval.' if inside else '.'
  return said
