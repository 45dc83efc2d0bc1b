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

import itertools
import pathlib
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.benchmarks.shared import association, forms, result_rows, sources
from fairjax.core.errors import UserError, quoted
from fairjax.data.tables import readers
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.sample import RowSample
from fairjax.results import ANY

PARTS = ('targ1', 'targ2', 'attr1', 'attr2')
FORM = {
  part: {'category': forms.TEXT, 'examples': forms.filled(forms.TEXT), '*': ANY}
  for part in PARTS
} | {'*': ANY}
# How a text becomes a vector, by name: `mean` over all places with [CLS] and
# [SEP] (bias-bench), the `first` piece of the text alone (sent-bias), `cls`.
ENCODINGS = ('mean', 'first', 'cls')
# The topics of bias-bench's battery, by the tests' names without `sent-`.
TOPICS = {
  'gender': 'weat6 weat6b weat7 weat7b weat8 weat8b'.split(),
  'race': 'angry_black_woman_stereotype angry_black_woman_stereotype_b weat3 '
  'weat3b weat4 weat5 weat5b'.split(),
  'religion': 'religion1 religion1b religion2 religion2b'.split(),
}
ALPHA = 0.01  # of a test, as May et al. mark significant ones


class Test(NamedTuple):
  """One file: two lists of targets, two of attributes, by name."""

  name: str
  targets: tuple[list[str], list[str]]
  attributes: tuple[list[str], list[str]]
  words: list[str] | None = None  # of each target sentence, X then Y
  notes: tuple[str, ...] = ()


def read(path: str | pathlib.Path) -> Test:
  """One file; lists are checked, texts that are there twice are said."""
  path = pathlib.Path(path)
  tree = forms.tree(path, FORM)
  lists = [tree[part]['examples'] for part in PARTS]
  notes = []
  for part, texts in zip(PARTS, lists):
    if twice := len(texts) - len(set(texts)):
      notes.append(
        f'{path.stem}: {twice} of the {len(texts)} texts of '
        f'{tree[part]["category"]} are there twice and count once, as in the '
        'reference'
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
  return Test(path.stem, (x, y), (a, b), words, tuple(notes))


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


def scored(test: Test, ids: Collection[str]) -> Test:
  """The test with those targets that a model could score."""
  n = len(test.targets[0])
  known = [
    [f'{test.name}:{side}:{text}' in ids for text in texts]
    for side, texts in zip('XY', test.targets)
  ]
  x, y = (
    list(itertools.compress(texts, real))
    for texts, real in zip(test.targets, known)
  )
  words = test.words
  if words:
    halves = (words[:n], words[n:])
    words = [w for p in zip(halves, known) for w in itertools.compress(*p)]
  return test._replace(targets=(x, y), words=words)


def row(
  test: Test,
  s: np.ndarray,
  options: RowSample,
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
    p.two_sided,
    0.0,
    f'{"exact" if p.exact else "sampled"} permutation of '
    + ('words' if words else 'texts'),
    association.floor(x, y, options, *sides),
  )
  return out | {'p_published': published.one_sided, 'units': units}


# As a benchmark: an item is a target of a test.


def items(config) -> pd.DataFrame:
  """The targets of every test of the user's folder; tests in attrs."""
  first = sources.locate(config.benchmarks.data, 'weat')
  # Other tests, such as heilman and religion, have names of their own.
  places = [
    path
    for path in sorted(first.parent.glob('*.jsonl'))
    if 'weat' in path.name or '"targ1"' in readers.text(path)
  ]
  tests, out = [read(path) for path in places], []
  for test in tests:
    for side, texts in zip('XY', test.targets):
      out += [(f'{test.name}:{side}:{t}', test.name, side, t) for t in texts]
  table = pd.DataFrame(out, columns=['id', 'test', 'side', 'text'])
  absent = [t.name for t in tests if t.name.startswith('sent-') and not t.words]
  notes = [_versions(places), *(n for test in tests for n in test.notes)]
  if absent:
    notes.append(
      f'{", ".join(absent)}: the sentences do not show their words (the file '
      'without sent- is missing), so sentences are shuffled as in the paper'
    )
  table.attrs = {'notes': notes, 'tests': [t._asdict() for t in tests]}
  return table


def _versions(places: Sequence[pathlib.Path]) -> str:
  """One sentence: which of the files are the published ones, by md5."""
  digests = {path.name: sources.md5(path)[:8] for path in places}
  known = sources.VERSIONS['weat']
  other = [f'{n} ({d})' for n, d in digests.items() if d not in known]
  if not other:
    return sources.Known(
      f'the battery is {len(digests)} published files (md5 of each known)'
    )
  return (
    f'{len(other)} of {len(digests)} files differ (by md5) from the published '
    f'ones, so their numbers may not compare: {", ".join(other[:8])}'
    + (' …' if len(other) > 8 else '')
  )


def score(judge, items: pd.DataFrame, config) -> pd.DataFrame:
  """s of each target by each encoding; every text is encoded once."""
  tests = [Test(**one) for one in items.attrs['tests']]
  texts = dict.fromkeys(
    text
    for test in tests
    for part in (*test.targets, *test.attributes)
    for text in part
  )
  known = dict(zip(texts, ~judge.unknown(list(texts))))  # others: left out
  place = {text: i for i, text in enumerate(texts)}
  out = pd.DataFrame({'id': items['id']})
  out.attrs['attributes'] = sorted(
    {
      t
      for one in tests
      for part in one.attributes
      for t in part
      if not known[t]
    }
  )
  for how in config.benchmarks.encodings:
    if how == 'cls' and judge.kind in ('write', 'words'):
      continue
    vectors = judge.vectors(list(texts), how)
    of = lambda part: vectors[[place[text] for text in part]]
    each = []
    for test in tests:
      targets = [text for part in test.targets for text in part]
      attributes = [[t for t in part if known[t]] for part in test.attributes]
      each.append(
        association.association(of(targets), *map(of, attributes))
        if all(attributes)
        else np.full(len(targets), np.nan)
      )
    out[how] = np.concatenate(each)
  return out


def estimate(items: pd.DataFrame, scores: pd.DataFrame, how) -> dict:
  """Every test by every encoding; the whole is the mean |d| of the battery."""
  options, out, whole, warnings = how, [], [], []
  ids = set(items['id'])
  tests = [scored(Test(**one), ids) for one in items.attrs['tests']]
  short = [t.name for t in tests if min(map(len, t.targets)) < 2]
  if short:
    warnings.append(
      f'{", ".join(short)} left out: the model knows none of a list of '
      'attributes, or fewer than two targets'
    )
  if unknown := scores.attrs.get('attributes'):
    warnings.append(
      f'{len(unknown)} attributes hold a token that the vocabulary does not '
      f'know and are left out: {quoted(unknown, 8)}'
    )
  tests = [test for test in tests if test.name not in short]
  for name in ENCODINGS:
    if name not in scores:
      continue
    metric = f'weat_effect_{name}'
    of = dict(list(scores[name].groupby(items['test'], sort=False)))
    some = [
      row(test, of[test.name].to_numpy(), options, metric=metric)
      for test in tests
    ]
    out += result_rows.by_holm(some)
    whole += summary(name, 'all', some, options)
    for topic, names in TOPICS.items():
      own = [x for x in some if x['part'].removeprefix('sent-') in names]
      if 1 < len(own) < len(some):
        out += summary(name, topic, own, options)
  return result_rows.as_set([*whole, *out], 'all', warnings)


def summary(
  encoding: str, part: str, tests: list[dict], options: RowSample
) -> list[dict]:
  """The mean |d| of some tests, and how many of 100 are significant.

  By the published p of each alone, at ALPHA (May et al. 2019); Qian et al.
  2022, Table 1, have this share.
  """
  mean = result_rows.mean_size(tests, 'tests', 'one test')
  hits = sum(one['p_published'] < ALPHA for one in tests)
  share = result_rows.percent(clusters.share(hits, len(tests), options))
  share['note'] = 'tests share words, so the interval may be too narrow'
  count = len(tests)
  row = result_rows.row
  return [
    row(f'weat_mean_{encoding}', part, count, mean),
    row(f'weat_significant_{encoding}', part, count, share, None, 100 * ALPHA),
  ]


def compared(
  items: pd.DataFrame,
  ours: pd.DataFrame,
  theirs: pd.DataFrame,
  options: RowSample,
) -> list[dict]:
  """d of one model less that of another, test by test, by each encoding."""
  out = []
  both = ours.merge(theirs, on='id', suffixes=('', ' of theirs'))
  both = both.merge(items[['id', 'test']], on='id')
  ids = set(both['id'])
  for one in items.attrs['tests']:
    test = scored(Test(**one), ids)
    if min(map(len, test.targets)) < 2:
      continue
    some = both[both['test'] == test.name]
    n = len(test.targets[0])
    words = (test.words[:n], test.words[n:]) if test.words else None
    for name in ENCODINGS:
      if name in ours and name in theirs:
        s, t = (some[k].to_numpy() for k in (name, f'{name} of theirs'))
        value, p = association.difference(
          (s[:n], s[n:]), (t[:n], t[n:]), options, words
        )
        out.append(
          result_rows.difference(
            f'weat_effect_{name}', test.name, len(some), value, p, 'words'
          )
        )
  return result_rows.by_holm(out)
