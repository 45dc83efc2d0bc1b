"""Word swap of a column, against plain dictionaries by `re`.

--text names files of text, a row a line; without it a column is drawn from our
own list. How right the swap is says swap_eval.MEASURED.
"""

import functools
import re

import numpy as np

from fairjax.bench import race
from fairjax.data.tables import readers
from fairjax.pairs.swapping import (
  context,
  dictionary,
  listed,
  swap_eval,
  word_lists,
)
from fairjax.pairs.word_sets import SETS


def run(args: list[str]) -> dict:
  """MB of text a second on one core: words, and words and first names."""
  chosen = race.options(
    *('swap', __doc__, args), text=[], megabytes=20.0, rounds=5
  )
  texts = _column(chosen.text, chosen.megabytes)
  size = sum(len(text.encode()) for text in texts) / 1e6
  ours = lambda names: lambda: dictionary.swapper(names=names)(texts).texts
  sides = {
    'fairjax': ours(False),
    'with names': ours(True),  # as the library does unless told otherwise
    'split': lambda: _split(texts),
  }
  _agree(texts[:20_000])
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  report = functools.partial(race.report, unit='MB/s', items=size)
  own = {'with names': times.pop('with names'), 'split': times['split']}
  with_names = report('swap with names', own, chosen)
  named = {k: with_names[k] for k in ('ours', 'ratio')}
  return report('swap', times, chosen, rows=len(texts), with_names=named)


def _column(files: list[str], megabytes: float) -> list[str]:
  """Lines of the files, up to so many MB; or lines drawn from our words."""
  rows: list[str] = []
  for file in files:
    rows += readers.text(file).split('\n')
  if not files:
    rng = np.random.default_rng([0, 0x5A])
    gendered = [
      word for row in word_lists.gender().rows[:60] for word in row[:2]
    ]
    others = ['the', 'of', 'and', 'was', 'in', 'year', 'city', 'later', 'film']
    pool = np.array(others * 120 + gendered + ['her', 'his'] * 10)
    rows = [' '.join(line) for line in rng.choice(pool, (40_000, 45))]
  sizes = np.cumsum([len(row.encode()) + 1 for row in rows])
  return rows[: int(np.searchsorted(sizes, megabytes * 1e6)) + 1]


_TOKEN = re.compile(r'[^\W_]+')
_TOKENS = re.compile(r'([^\W_]+)')


def _split(texts: list[str]) -> list[str]:
  """`re.split` and a look-up, the fastest plain way."""
  known = {
    form: listed.match_case(form, new)
    for word, new in swap_eval.dictionary().items()
    for form in (word, word.capitalize(), word.upper())
  }
  out = []
  for text in texts:
    parts = _TOKENS.split(text)
    parts[1::2] = [known.get(word, word) for word in parts[1::2]]
    out.append(''.join(parts))
  return out


def _agree(texts: list[str]) -> None:
  """Where no word is ambiguous, the sides must write the same text."""
  rules = context.rules(word_lists.gender().rows)
  special = {*rules, 'ms', 'ma', 'mr', 'mrs', 'madam', *SETS.mankind}
  swapped = dictionary.swap(texts)
  odd = re.compile(r'[#@_/]')
  compared = [
    (new, old)
    for text, new, old in zip(texts, swapped.texts, _split(texts))
    if not odd.search(text)
    and special.isdisjoint(map(str.lower, _TOKEN.findall(text)))
  ]
  differ = sum(new != old for new, old in compared)
  race.same(differ, 0, f'{differ} of {len(compared)} texts')
