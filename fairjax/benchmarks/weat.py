"""WEAT and SEAT: are two sets of targets closer to one of two attributes?

Caliskan et al. 2017 (arXiv:1608.07187) for words, May et al. 2019
(arXiv:1903.10561) for sentences. With cosines of the encodings,

  s(w) = mean_a cos(w, a) − mean_b cos(w, b)
  d    = (mean_X s − mean_Y s) / std_{X ∪ Y} s      (n − 1 in the variance)

and p is the share of all splits of X ∪ Y into lists of these sizes whose sum
over the first is at least the observed one, ties included. The count is exact
up to TABLE targets: the targets are halved, the sums of all subsets of each
half are sorted by size of the subset, and pairs above the threshold are
counted by bisection: 2 · 2^(N/2) sums instead of C(N, n). Sums are of
integers, so a tie is a tie. Lists of different lengths keep their lengths,
which makes the permutation valid for them too.

A SEAT file puts each word into many sentences. Its published p shuffles these
as if they were independent, so beside it stands a p that shuffles whole words
(their mean s), where the sentences show their words. The interval of d is a
jackknife over words: with c = sqrt(N(N−1)/(n_x n_y)), d = c r for the
correlation r of s with the list, and atanh(r) is taken ± Student's t.
"""

import json
import pathlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.benchmarks import association, result_rows, sources
from fairjax.data import readers
from fairjax.errors import UserError
from fairjax.metrics import significance
from fairjax.metrics.estimates import of_value
from fairjax.metrics.intervals import IntervalOptions

ORIGIN = 'github.com/W4ngatang/sent-bias (tests/*.jsonl, CC BY-NC 4.0)'
PARTS = ('targ1', 'targ2', 'attr1', 'attr2')
# How a text becomes a vector, by name: `mean` over all places with [CLS] and
# [SEP] (bias-bench), the `first` piece of the text alone (sent-bias), `cls`.
ENCODINGS = ('mean', 'first', 'cls')
LIMITS = (
  'Small lists chosen by hand: an effect speaks of these words, and a model '
  'can be far from neutral elsewhere where it is near 0 here.'
)
# The battery of bias-bench, by what it speaks of.
TOPICS = {
  'gender': ('6', '6b', '7', '7b', '8', '8b'),
  'race': ('3', '3b', '4', '5', '5b'),
}


class Test(NamedTuple):
  """One file: two lists of targets, two of attributes, by name."""

  name: str
  categories: tuple[str, str, str, str]
  targets: tuple[list[str], list[str]]
  attributes: tuple[list[str], list[str]]
  words: list[str] | None = None  # of each target sentence, X then Y
  notes: tuple[str, ...] = ()


def read(path: str | pathlib.Path) -> Test:
  """One file; lists are checked, texts that are there twice are said."""
  path = pathlib.Path(path)
  text = readers.text(path)
  try:
    tree = json.loads(text)
    lists = [[str(w) for w in tree[part]['examples']] for part in PARTS]
    names = tuple(str(tree[part]['category']) for part in PARTS)
  except (ValueError, KeyError, TypeError) as error:
    raise UserError(
      f'{path} is not a WEAT file ({error!r}); it must hold targ1, targ2, '
      'attr1 and attr2, each with category and examples'
    ) from error
  notes = []
  for part, name, texts in zip(PARTS, names, lists):
    if not texts:
      raise UserError(f'{path} has no examples in {part} ({name}); give some')
    twice = len(texts) - len(set(texts))
    if twice:
      notes.append(
        f'{path.stem}: {twice} of the {len(texts)} texts of {name} are there '
        'twice and count once, as in the reference'
      )
  x, y, a, b = (list(dict.fromkeys(texts)) for texts in lists)
  both = set(x) & set(y)
  if both:
    raise UserError(
      f'{path} has {sorted(both)[0]!r} among both targets; a text can be in one'
    )
  if len(x) < 2 or len(y) < 2:
    raise UserError(f'{path} needs two targets in either list at least')
  words = None
  plain = path.with_name(path.name.removeprefix('sent-'))
  if path.name.startswith('sent-') and plain.is_file():
    words = words_of(x, y, read(plain))
  return Test(path.stem, names, (x, y), (a, b), words, tuple(notes))


def words_of(
  x: Sequence[str], y: Sequence[str], test: Test
) -> list[str] | None:
  """The target word of each sentence, or None where one shows none."""
  out = []
  for texts, words in zip((x, y), test.targets):
    # Later words win, so a word itself is never taken for a form of another.
    known = {form: word for word in words for form in _forms(word.lower())}
    known |= {word.lower(): word for word in words}
    longest = sorted(known, key=len, reverse=True)
    pattern = re.compile(r'\b(' + '|'.join(map(re.escape, longest)) + r')\b')
    for text in texts:
      hit = pattern.search(text.lower())
      if hit is None:
        return None
      out.append(known[hit.group(1)])
  return out


def _forms(word: str) -> list[str]:
  """Its plural, and its singular where it is one."""
  out = [f'{word}s', f'{word}es']
  if word.endswith('y'):
    out.append(f'{word[:-1]}ies')
  if word.endswith('man'):
    out.append(f'{word[:-3]}men')
  if word.endswith('s'):
    out.append(word[:-1])
  return out


def row(
  test: Test,
  s: np.ndarray,
  options: IntervalOptions,
  samples: int = association.SAMPLES,
  metric: str = 'weat_effect',
) -> dict:
  """One row of the battery: d, its interval, and the p values by name.

  `s` are the associations of X and then of Y. `p_published` is one-sided and
  shuffles sentences; `p` is two-sided and shuffles words where these are known.
  The floor is what d is by chance, by shuffling as `p` does.
  """
  n = len(test.targets[0])
  x, y = s[:n], s[n:]
  published = p = association.permutation(x, y, samples, options.seed)
  words = test.words
  sides = (words[:n], words[n:]) if words else ()
  value = association.interval(x, y, options, *sides)
  if words:
    p = association.permutation(
      association.by_word(x, words[:n]),
      association.by_word(y, words[n:]),
      samples,
      options.seed,
    )
  units = len(set(words[:n])) + len(set(words[n:])) if words else len(s)
  out = result_rows.row(
    metric,
    test.name,
    len(s),
    value,
    0.0,
    p.two_sided,
    f'{"exact" if p.exact else "sampled"} permutation of '
    + ('words' if words else 'texts'),
    association.floor(x, y, options, *sides),
  )
  return out | {'p_published': published.one_sided, 'units': units}


def battery(rows: list[dict]) -> list[dict]:
  """The rows with p adjusted by Holm over all of them."""
  adjusted = significance.adjusted([one['p'] for one in rows])
  return [one | {'p_holm': p} for one, p in zip(rows, adjusted)]


# As a benchmark: an item is a target of a test.


def items(config) -> pd.DataFrame:
  """The targets of every test of the user's folder; tests in attrs."""
  first = sources.locate(
    config.benchmarks.data, ('*weat*.jsonl',), 'weat', ORIGIN
  )
  # Other tests, such as heilman and religion, have names of their own.
  tests = [
    read(path)
    for path in sorted(first.parent.glob('*.jsonl'))
    if 'weat' in path.name or '"targ1"' in readers.text(path)
  ]
  out = []
  for test in tests:
    for side, texts in zip('XY', test.targets):
      out += [(f'{test.name}:{side}:{t}', test.name, side, t) for t in texts]
  table = pd.DataFrame(out, columns=['id', 'test', 'side', 'text'])
  absent = [t.name for t in tests if t.name.startswith('sent-') and not t.words]
  notes = [note for test in tests for note in test.notes]
  if absent:
    notes.append(
      f'{", ".join(absent)}: the sentences do not show their words (the file '
      'without sent- is missing), so sentences are shuffled as in the paper'
    )
  table.attrs = {'notes': notes, 'tests': [t._asdict() for t in tests]}
  return table


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """s of each target by each encoding; every text is encoded once."""
  tests = [Test(**one) for one in items.attrs['tests']]
  texts = dict.fromkeys(
    text
    for test in tests
    for part in (*test.targets, *test.attributes)
    for text in part
  )
  place = {text: i for i, text in enumerate(texts)}
  out = pd.DataFrame({'id': items['id']})
  for how in config.benchmarks.encodings:
    if how == 'cls' and judge.kind == 'write':
      continue
    vectors = judge.vectors(list(texts), how)
    of = lambda part: vectors[[place[text] for text in part]]
    out[how] = np.concatenate(
      [
        association.association(of([*x, *y]), of(a), of(b))
        for (x, y), (a, b) in ((t.targets, t.attributes) for t in tests)
      ]
    )
  return out


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  """Every test by every encoding; the whole is the mean |d| of the battery."""
  options, out, whole = how, [], []
  tests = [Test(**one) for one in items.attrs['tests']]
  for name in ENCODINGS:
    if name not in scores:
      continue
    metric = f'weat_effect_{name}'
    of = dict(list(scores[name].groupby(items['test'], sort=False)))
    some = [
      row(test, of[test.name].to_numpy(), options, metric=metric)
      for test in tests
    ]
    out += battery(some)
    sizes = [abs(one['value']['value'] or 0.0) for one in some]
    chance = [
      max(abs(one['floor_low']), abs(one['floor_high'])) for one in some
    ]
    mean = of_value(
      np.mean(sizes),
      note='mean |d| over the tests; by chance one test reaches up to '
      f'{np.mean(chance):.2f}',
    )
    whole.append(result_rows.row(f'weat_mean_{name}', 'all', len(some), mean))
  return result_rows.as_set([*whole, *out], 'all', [LIMITS])


def compared(
  items: pd.DataFrame,
  ours: pd.DataFrame,
  theirs: pd.DataFrame,
  options: IntervalOptions,
) -> list[dict]:
  """d of one model less that of another, test by test, by each encoding."""
  out = []
  for one in items.attrs['tests']:
    test = Test(**one)
    real = (items['test'] == test.name).to_numpy()
    n = len(test.targets[0])
    words = (test.words[:n], test.words[n:]) if test.words else None
    for name in ENCODINGS:
      if name in ours and name in theirs:
        sides = [t[name].to_numpy()[real] for t in (ours, theirs)]
        value, p = association.difference(
          *((s[:n], s[n:]) for s in sides), options, words
        )
        out.append(
          {
            'metric': f'weat_effect_{name}',
            'part': test.name,
            'items': int(real.sum()),
            'difference': value,
            'p': p,
            'test': 'Bayesian bootstrap of words',
          }
        )
  adjusted = significance.adjusted([one['p'] for one in out])
  return [one | {'p_holm': p} for one, p in zip(out, adjusted)]
