"""What people call models and contenders.

results.json, the terminal and every exported file keep the names that commands
take; the page gives them once, beside what each contender is.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from fairjax.data.word_tables import table_rows
from fairjax.report.tables import printable
from fairjax.results import Results

# Only where the name stands for the same thing in every recipe; what is added
# to a model stands behind '+'.
NAMES, ADDED, SETS, SCORES = (
  {
    name: shown
    for of, name, shown in table_rows(__file__, 'names.csv')
    if of == kind
  }
  for kind in ('contender', 'added', 'set', 'score')
)
PATH = re.compile(r'(?:[A-Za-z]:)?[\w.~-]*(?:[/\\][\w.@+~=-]+){2,}[/\\]?')
# module:function; no option (balance:how=up), no file (terms:FILE.txt).
CODE = re.compile(r'(?<![\w.:/])([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?![\w.:/=])')
USUAL = re.compile(r'(predict|classif|score|generat|complet|answer|main)\w*')
INNER = re.compile(r'seed_\d+|export|models?|runs?|checkpoint(-\d+)?')


def named(words: str) -> str:
  """A model as people call it: the folder that a path ends in, and a function
  without its module.

  >>> named('gpt2 (/home/me/runs/gpt2/export/seed_0)'), named('models:biased')
  ('gpt2', 'biased')
  """

  def last(match: re.Match) -> str:
    parts = [p for p in re.split(r'[/\\]', match[0]) if p]
    kept = [p for p in parts if not INNER.fullmatch(p)]
    return (kept or parts)[-1]

  def called(match: re.Match) -> str:
    module, function = match.groups()
    own = module.rpartition('.')[2] if USUAL.fullmatch(function) else function
    return own.strip('_').replace('_', ' ') or match[0]

  bare = CODE.sub(called, PATH.sub(last, words))
  match = re.fullmatch(r'(.+) \((.+)\)', bare)
  return match[1] if match and match[1] == match[2] else bare


def of_set(name: str) -> str:
  """What a set of texts is called in a sentence."""
  return SETS.get(name, printable(name))


def opened(words: str) -> str:
  """A sentence with a capital, if it opens with a name that we gave.

  >>> opened('healthy diet is fairer'), opened('gpt2 is fairer')
  ('Healthy diet is fairer', 'gpt2 is fairer')
  """
  ours = *(name.partition(' {}')[0] for name in NAMES.values()), 'fairtun'
  return words[:1].upper() + words[1:] if words.startswith(ours) else words


def _called(contender: str) -> str:
  """What people call it, by its value too where its row has a place for one."""
  model, plus, added = contender.rpartition(' + ')
  if plus and added in ADDED:
    return f'{model} + {ADDED[added]}'
  name, _, value = contender.rpartition(' ')
  return NAMES.get(contender, NAMES.get(f'{name} {{}}', '').format(value))


def by_people(results: Results) -> Results:
  """The results with people's names in contenders, tests and tables.

  Alone, a contender is no choice among several, and keeps its name, as do
  models that a user named; but a function is called without its module.
  """
  of_user = results.model in results.contenders
  several = len(results.contenders) > 1 and not of_user
  names = {c: n for c in results.contenders if several and (n := _called(c))}
  functions = {c: named(c) for c in results.contenders if CODE.fullmatch(c)}
  if len(set(functions.values())) == len(functions):
    names |= functions
  # Somebody's own run may be called so.
  if not names or {*names.values()} & {*results.contenders}:
    return results
  every = '|'.join(map(re.escape, sorted(names, key=len, reverse=True)))
  spelt = re.compile(rf'(?<!\S)({every})(?!\S)')
  # A note begins with the contender it is about; later it may be a word.
  shown = lambda words: names.get(words, words)
  opens = re.compile(rf'^(?:diet )?({every})(?=[:,])')
  contenders = {}
  for name, one in results.contenders.items():
    facts = dict(one.get('facts') or {})
    if name in names:
      where = 'in Python' if name in functions else 'in configs'
      facts = {where: name} | facts
    contenders[names.get(name, name)] = one | {'facts': facts}
  return dataclasses.replace(
    results,
    contenders=contenders,
    focus=names.get(results.focus, results.focus),
    tests=[
      t | {side: names.get(t[side], t[side]) for side in ('ours', 'theirs')}
      for t in results.tests
    ],
    verdicts=[
      one | {'claim': spelt.sub(lambda m: names[m[0]], one['claim'])}
      for one in results.verdicts
    ],
    notes=[opens.sub(lambda m: names[m[1]], n) for n in results.notes],
    sections=worded(results.sections, lambda _, v: shown(v), shown),
  )


def worded(part: Any, text, key=lambda k: k, under: str = '') -> Any:
  """Parts in other words: text(k, words) of what is under k, key(k) of k."""
  if isinstance(part, Mapping):
    return {key(k): worded(v, text, key, k) for k, v in part.items()}
  if isinstance(part, list | tuple):
    return [worded(one, text, key, under) for one in part]
  return text(under, part) if isinstance(part, str) else part
