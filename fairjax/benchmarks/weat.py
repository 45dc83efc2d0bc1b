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
from math import comb
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from fairjax.benchmarks import result_rows, sources
from fairjax.data import readers
from fairjax.errors import UserError
from fairjax.metrics import clusters, significance
from fairjax.metrics.estimates import of_value
from fairjax.metrics.intervals import IntervalOptions

ORIGIN = 'github.com/W4ngatang/sent-bias (tests/*.jsonl, CC BY-NC 4.0)'
PARTS = ('targ1', 'targ2', 'attr1', 'attr2')
# How a text becomes a vector, by name: `mean` over all places with [CLS] and
# [SEP] (bias-bench), the `first` piece of the text alone (sent-bias), `cls`.
ENCODINGS = ('mean', 'first', 'cls')
TABLE = 40  # most targets whose splits are all counted
SAMPLES = 100_000
LIMITS = (
  'Small lists chosen by hand: an effect speaks of these words, and a model '
  'can be far from neutral elsewhere where it is near 0 here.'
)
GRID = 2.0**40  # steps of the largest |s|
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


def association(
  targets: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
  """s of each target: encodings [n, d], [a, d], [b, d] → [n]."""

  def unit(x):
    x = np.asarray(x, np.float64)
    norm = np.linalg.norm(x, axis=-1, keepdims=True)
    if not norm.all():
      raise UserError(
        'a text has an encoding of length 0, so it has no cosine; choose '
        'another encoding with --config.benchmarks.encodings'
      )
    return x / norm

  targets = unit(targets)
  return targets @ unit(first).mean(0) - targets @ unit(second).mean(0)


def effect_size(x: np.ndarray, y: np.ndarray) -> float:
  """d; NaN where all s are equal."""
  spread = np.concatenate([x, y]).std(ddof=1)
  scale = np.abs(np.concatenate([x, y])).max()
  if not spread > 1e-12 * max(scale, 1e-300):
    return float('nan')
  return float((x.mean() - y.mean()) / spread)


class P(NamedTuple):
  """Of a permutation of the lists: as published, and in both directions."""

  one_sided: float
  two_sided: float
  exact: bool
  splits: int  # how many there are


def permutation(
  x: np.ndarray, y: np.ndarray, samples: int = SAMPLES, seed: int = 0
) -> P:
  """The p of the observed split; exact where all splits can be counted."""
  s = np.concatenate([x, y]).astype(np.float64)
  n, total = len(x), len(s)
  splits = comb(total, n)
  # Centred, so that far sums on either side are one threshold apart.
  s = s - s.mean()
  scale = np.abs(s).max()
  grid = np.rint(s / scale * GRID).astype(np.int64) if scale else s.astype(int)
  observed, slack = int(grid[:n].sum()), total
  # mean_X − mean_Y rises with Σ_X; under centring it is 0 at Σ_X = n/N Σ.
  middle = grid.sum() * n / total
  far = abs(observed - middle)
  if total <= TABLE:
    up = _at_least(grid, n, observed - slack)
    high = _at_least(grid, n, int(np.ceil(middle + far)) - slack)
    low = splits - _at_least(grid, n, int(np.floor(middle - far)) + slack + 1)
    two = splits if far <= slack else high + low
    return P(up / splits, min(two / splits, 1.0), True, splits)
  rng = np.random.default_rng([seed, 0xA7])
  ups = fars = 1  # the data are one of the splits
  batch = max((1 << 22) // total, 1)
  for start in range(0, samples - 1, batch):
    rows = min(batch, samples - 1 - start)
    order = rng.random((rows, total)).argpartition(n - 1, axis=1)[:, :n]
    sums = grid[order].sum(1)
    ups += int((sums >= observed - slack).sum())
    fars += int((np.abs(sums - middle) >= far - slack).sum())
  return P(ups / samples, fars / samples, False, splits)


def _at_least(values: np.ndarray, size: int, threshold: int) -> int:
  """How many subsets of `size` have a sum ≥ threshold (integers)."""
  half = len(values) // 2
  left, right = _subsets(values[:half]), _subsets(values[half:])
  count = 0
  for k, sums in enumerate(left):
    if not 0 <= size - k < len(right):
      continue
    other = right[size - k]
    count += int(
      (len(other) - np.searchsorted(other, threshold - sums, 'left')).sum()
    )
  return count


def _subsets(values: np.ndarray) -> list[np.ndarray]:
  """The sorted sums of all subsets, by the size of the subset."""
  sums = np.zeros(1, np.int64)
  size = np.zeros(1, np.int64)
  for value in values:
    sums = np.concatenate([sums, sums + value])
    size = np.concatenate([size, size + 1])
  return [np.sort(sums[size == k]) for k in range(len(values) + 1)]


def interval(
  x: np.ndarray,
  y: np.ndarray,
  options: IntervalOptions,
  x_words: Sequence | None = None,
  y_words: Sequence | None = None,
) -> dict:
  """d with the jackknife interval over words, on the scale of atanh(r)."""
  d = effect_size(x, y)
  if not np.isfinite(d):
    return of_value(None, note='all targets have the same s')
  x_words = np.arange(len(x)) if x_words is None else np.asarray(x_words)
  y_words = np.arange(len(y)) if y_words is None else np.asarray(y_words)
  sides, variance = ((x, x_words), (y, y_words)), 0.0
  counts = [len(np.unique(words)) for _, words in sides]
  if min(counts) < 3:
    return of_value(d, note='fewer than three words in a list')
  centre = _z(x, y)
  if not np.isfinite(centre):
    return of_value(d, note='the lists are apart without overlap')
  for i, (values, words) in enumerate(sides):
    without = []
    for word in np.unique(words):
      others = values[words != word]
      without.append(_z(others, y) if i == 0 else _z(x, others))
    m = counts[i]
    without = np.array(without)
    variance += (m - 1) / m * ((without - without.mean()) ** 2).sum()
  reach = stats.t.ppf((1 + options.level) / 2, sum(counts) - 2)
  reach *= np.sqrt(variance)
  scale = _largest(len(x), len(y))
  low, high = scale * np.tanh(centre - reach), scale * np.tanh(centre + reach)
  return of_value(d, low, high)


def _largest(nx: int, ny: int) -> float:
  """The largest d that lists of these lengths can have."""
  total = nx + ny
  return (total * (total - 1) / (nx * ny)) ** 0.5


def _z(x: np.ndarray, y: np.ndarray) -> float:
  d = effect_size(x, y)
  with np.errstate(divide='ignore', invalid='ignore'):
    return float(np.arctanh(np.clip(d / _largest(len(x), len(y)), -1, 1)))


def row(
  test: Test,
  s: np.ndarray,
  options: IntervalOptions,
  samples: int = SAMPLES,
  metric: str = 'weat_effect',
) -> dict:
  """One row of the battery: d, its interval, and the p values by name.

  `s` are the associations of X and then of Y. `p_published` is one-sided and
  shuffles sentences; `p` is two-sided and shuffles words where these are known.
  The floor is what d is by chance, by shuffling as `p` does.
  """
  n = len(test.targets[0])
  x, y = s[:n], s[n:]
  published = p = permutation(x, y, samples, options.seed)
  words = test.words
  sides = (words[:n], words[n:]) if words else ()
  value = interval(x, y, options, *sides)
  if words:
    p = permutation(
      by_word(x, words[:n]), by_word(y, words[n:]), samples, options.seed
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
    floor(x, y, options, *sides),
  )
  return out | {'p_published': published.one_sided, 'units': units}


def floor(
  x: np.ndarray,
  y: np.ndarray,
  options: IntervalOptions,
  x_words=None,
  y_words=None,
) -> tuple[float, float]:
  """Between which values d lies where whole words are dealt to the lists."""
  s = np.concatenate([x, y])
  names = [f'x{w}' for w in (range(len(x)) if x_words is None else x_words)]
  names += [f'y{w}' for w in (range(len(y)) if y_words is None else y_words)]
  _, word = np.unique(names, return_inverse=True)
  sums, counts = np.bincount(word, s), np.bincount(word)
  first = len(set(names[: len(x)]))
  rng = np.random.default_rng([options.seed, 0xA8])
  order = rng.random((1000, len(sums))).argsort(1)
  left, right = order[:, :first], order[:, first:]
  gap = sums[left].sum(1) / counts[left].sum(1)
  gap -= sums[right].sum(1) / counts[right].sum(1)
  spread = s.std(ddof=1)
  if not spread > 0:
    return 0.0, 0.0
  tail = (1 - options.level) / 2
  low, high = np.quantile(gap / spread, [tail, 1 - tail])
  return float(low), float(high)


def by_word(s: np.ndarray, words: Sequence[str]) -> np.ndarray:
  """The mean s of each word's sentences."""
  _, word = np.unique(np.asarray(words), return_inverse=True)
  return np.bincount(word, s) / np.bincount(word)


def battery(rows: list[dict]) -> list[dict]:
  """The rows with p adjusted by Holm over all of them."""
  adjusted = significance.adjusted([one['p'] for one in rows])
  return [one | {'p_holm': p} for one, p in zip(rows, adjusted)]


def difference(
  s_one: tuple[np.ndarray, np.ndarray],
  s_other: tuple[np.ndarray, np.ndarray],
  options: IntervalOptions,
  words: tuple[Sequence, Sequence] | None = None,
) -> tuple[dict, float | None]:
  """d of one model less d of another on the same words, drawn together.

  A resample weighs the words of either list (Exp(1)); both models see it.
  """
  sides = []
  for i in (0, 1):
    names = range(len(s_one[i])) if words is None else words[i]
    _, word = np.unique(np.asarray(names), return_inverse=True)
    word_weights = clusters.weights(word.max() + 1, options, stream=i + 1)
    sides.append(word_weights[:, word])
  draws = _weighted(s_one, sides) - _weighted(s_other, sides)
  value = effect_size(*s_one) - effect_size(*s_other)
  tail = (1 - options.level) / 2
  low, high = np.quantile(draws, [tail, 1 - tail])
  p = 2 * min((draws <= 0).mean(), (draws >= 0).mean())
  p = float(min(1.0, max(p, 1 / len(draws))))
  return of_value(value, low, high), p


def _weighted(s, weights) -> np.ndarray:
  """d under weights [resample, n] of the targets of either list."""
  (x, y), (wx, wy) = s, weights
  total = wx.sum(1) + wy.sum(1)
  mean = (wx @ x + wy @ y) / total
  square = (wx @ x**2 + wy @ y**2) / total
  n = len(x) + len(y)
  spread = np.sqrt((square - mean**2) * n / (n - 1))
  return (wx @ x / wx.sum(1) - wy @ y / wy.sum(1)) / spread


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
        association(of([*x, *y]), of(a), of(b))
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
        value, p = difference(*((s[:n], s[n:]) for s in sides), options, words)
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
