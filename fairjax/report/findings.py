"""The first sentences of a page where no groups' decisions were compared.

Benchmarks, dictionaries of pairs, rewriters, language models: what the leading
measures say in words that need no paper, and one picture of them.
"""

import math
from collections.abc import Mapping

from fairjax.config.axes import AXES
from fairjax.metrics import measures
from fairjax.report import tables
from fairjax.report.blocks import beside, bullets, text
from fairjax.report.names import named, of_set
from fairjax.report.parts import Pictures
from fairjax.report.pictures import plots
from fairjax.report.tables import defined, printable
from fairjax.results import Results

MOST = 5  # sentences of the first screen

# By the start of a measure's name: {0} is the value, {1} a share of 100, {2}
# what it is the log of, {3} and {4} the two values of an axis.
WORDS = {
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
  'bbq_accuracy': 'it answers {0:.0f} of 100 questions rightly',
  'bbq_bias': 'its answers lean to the stereotype by {0:+.2f}, from −1 '
  '(against it) to 1',
  'weat_mean': 'words of two groups are nearer to stereotyped words by an '
  'effect of {0:.2f} on average (0 is none, 0.8 is large)',
  'twins_log_odds': 'a text’s {3} version is {2:.2g} times as likely as its '
  '{4} one, on the mean of logs',
  'different': 'of 100 texts in which one person becomes another {1:.0f} are '
  'decided otherwise',
  'perplexity': 'it is as unsure of a token as if it drew from {0:,.0f} that '
  'are equally likely',
  'transfer_accuracy': 'of 100 texts {1:.0f} are taken for the other '
  'group’s when they are rewritten',
  'group_tprd': 'a classifier trained on its texts finds the groups’ positives '
  '{1:.0f} points apart',
  'exact': '{1:.0f} of 100 texts are rewritten just as the reference has them',
  'top_vote': 'of 100 known words {1:.0f} become their partner in most of the '
  'sentences that they stand in',
  'precision': 'of 100 of its pairs that known words tell, {1:.0f} are right',
  'recall': 'of 100 known pairs it finds {1:.0f}',
}
GUESSED = ('bbq_accuracy', 'stereoset_lm', 'sembias_definition')


def html_of(results: Results, pictures: Pictures) -> str:
  """Sentences and a picture; '' where no measure leads.

  The first is of one number: those of the others stand in the picture.
  """
  found = [*lines(results, False)[:1], *lines(results)[1:]]
  if not found:
    return _of_corpus(results, pictures)
  words = text(found[0], kind='lead')
  if found[1:]:
    words += bullets(found[1:MOST])
  return beside(words, _picture(results, pictures))


def _of_corpus(results: Results, pictures: Pictures) -> str:
  """How many texts of a folder were changed, and by what."""
  count = results.facts.get
  rows, changed, files = count('rows'), count('changed'), count('shards')
  if not rows or not all(isinstance(n, int) for n in (changed, files)):
    return ''
  done = {'generate': 'are written anew'}.get(results.recipe, 'are changed')
  share = 100 * changed / rows
  share = f'{share:.0f}' if share >= 1 else f'{share:.2g}'
  said = (
    f'Of 100 texts {share} {done}: {changed:,} of {rows:,}, in '
    f'{tables.plural(files, "file")}.'
  )
  words = text(said, kind='lead')
  shown = {
    axis.replace('_', ' '): {'value': count(axis)}
    for axis in AXES
    if count(axis)
  }
  if shown:
    each = [f'{k} {v["value"]:,}' for k, v in shown.items()]
    words += bullets([f'What was turned: {", ".join(each)}.'])
  if failed := count('shards failed'):
    words += bullets([f'{tables.plural(failed, "file")} failed: see below.'])
  shown |= {'not changed': {'value': rows - changed}}
  if len(shown) == 1:
    shown = {done.removeprefix('are '): {'value': changed}} | shown
  numbers = {'texts': [one['value'] for one in shown.values()]}
  plot = plots.bars([*shown], numbers, 'texts')
  caption = (
    f'Texts of {printable(named(results.data))}, by what became of them.'
  )
  return beside(words, pictures.add('answer', plot, caption))


def lines(results: Results, others: bool = True) -> list[str]:
  """What the first contender's leading measures say, a set after another, and
  what the `others` have."""
  first = _ours(results)
  who = printable(
    named(first if len(results.contenders) > 1 else results.model)
  )
  out = []
  for name in results.set_names():
    values = results.measured(first, name)
    said = [_words(key, values[key]) for key in _leading(values)[: 1 + others]]
    rest = _others(results, first, name, values) if others else ''
    if said:
      where = f'On {of_set(name)}, {who or "the model"}: '
      out.append(where + '; '.join(said) + f'{rest}.')
  return out


def _ours(results: Results) -> str:
  """Who the sentences are about: beside original texts, the whole rewriter."""
  names = [*results.contenders]
  if results.focus or not names:
    return results.focus
  return names[-1] if names[0] == 'original' else names[0]


def _leading(values: Mapping) -> list[str]:
  """Measures that people can read first, without twins of other forms."""
  keys = [k for k in measures.leading(values) if defined(values[k])]
  keys = [k for k in keys if not measures.is_rate(k)] or keys
  shown: dict[str, str] = {}
  for key in keys:
    shown.setdefault(_start(key) or key, key)
  known = [key for start, key in shown.items() if start in WORDS]
  if 'recall' in known and defined(values.get('precision')):
    known.insert(0, 'precision')  # neither says anything alone
  return known or [*shown.values()]


def _start(key: str) -> str:
  own = [start for start in WORDS if measures.bare(key).startswith(start)]
  return max(own, key=len, default='')


def _words(key: str, one: Mapping) -> str:
  value = one['value']
  words, log = WORDS.get(_start(key)), False
  if words is None:
    said = f'{measures.label(key)} is {tables.estimate(one)}'
  else:
    value = abs(value) if key == 'group_tprd' else value  # its size is meant
    sides = map(printable, one.get('of', ('male', 'female')))
    said = words.format(value, 100 * value, math.exp(min(value, 700)), *sides)
    log = '{2' in words
  null, low, high = (one.get(k) for k in ('null', 'low', 'high'))
  if not defined({'value': null}):
    return said
  sure = ''
  if low is not None and high is not None:
    beyond = null < low or null > high
    sure = '; beyond chance' if beyond else '; chance alone can do this'
  what = 'guessing gives' if _start(key) in GUESSED else 'no preference gives'
  null = math.exp(null) if log else null
  return f'{said} ({what} {null:.3g}{sure})'


def _others(results: Results, first: str, name: str, values: Mapping) -> str:
  """How the other contenders do on what leads."""
  keys = _leading(values)
  rest = {
    c: results.measured(c, name).get(keys[0])
    for c in results.contenders
    if keys and c != first
  }
  digits = tables.of_measure(keys[0], {}).get('digits') if keys else None
  value = lambda one: tables.number(one['value'], digits)
  shown = [
    f'{printable(named(c))} {value(one)}'
    for c, one in rest.items()
    if defined(one)
  ]
  if not shown:
    return ''
  own = value(values[keys[0]])
  return f' ({measures.label(keys[0])} {own}; of {", ".join(shown[:6])})'


def _picture(results: Results, pictures: Pictures) -> str:
  """What leads first: of every contender, or the measures of the only one."""
  first = _ours(results)
  for name in results.set_names():
    values = results.measured(first, name)
    keys = _leading(values)
    if not keys:
      continue
    null = values[keys[0]].get('null')
    if null is None and measures.measure(keys[0]).ideal == 0:
      null = 0.0
    if len(results.contenders) > 1:
      shown = {
        named(c): results.measured(c, name)[keys[0]]
        for c in results.contenders
        if defined(results.measured(c, name).get(keys[0]))
      }
      label = measures.label(keys[0])
    else:
      shown = {measures.label(k): values[k] for k in keys}
      label = f'on {of_set(name)}'
    caption = f'{measures.label(keys[0])} on {of_set(name)}'
    if defined({'value': null}):
      caption += f'; the line at {null:.3g} is no preference'
    caption = caption[:1].upper() + caption[1:] + '.'
    return pictures.add(
      'answer', plots.forest(shown, label, zero=null), caption
    )
  return ''
