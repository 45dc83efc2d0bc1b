"""Word vectors of a set of texts, and what WEAT says of them.

Skip-gram with negative sampling (Mikolov et al. 2013, arXiv:1310.4546), as
gensim trains it: how the words of texts, or of their rewrites, are associated
with each other, whatever language model wrote them. One worker, so that the
same texts and seed give the same vectors.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fairjax.benchmarks import weat
from fairjax.benchmarks.shared import association, result_rows
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def _tests() -> tuple[weat.Test, ...]:
  """Those of word_tests.csv, whose first row has the attributes of all."""
  rows = [
    (name, (ones.split(), others.split()))
    for name, ones, others in table_rows(__file__, 'word_tests.csv')
  ]
  (_, people), *rows = rows
  return tuple(weat.Test(name, targets, people) for name, targets in rows)


TESTS = _tests()
METRIC = 'weat_effect_words'
FEWEST = 3  # words of a list that a test needs


class WordVectors(NamedTuple):
  words: dict[str, int]  # word -> its row
  table: np.ndarray  # float32 [v, d]


def sentences(texts: Iterable[str]) -> list[list[str]]:
  """The words of each text, in lower case, without numbers."""
  return [_WORD.findall(str(text).lower()) for text in texts]


def fit(
  texts: Sequence[str],
  width: int,
  seed: int = 0,
  epochs: int = 5,
  least: int = 5,
) -> WordVectors:
  """Vectors of the words that occur `least` times or more."""
  try:
    from gensim.models import Word2Vec
  except ImportError as error:
    raise UserError(
      "word vectors need gensim; run pip install 'fairjax[vectors]'"
    ) from error
  lines = sentences(texts)
  try:
    model = Word2Vec(
      lines,
      vector_size=width,
      sg=1,
      negative=5,
      window=5,
      min_count=least,
      epochs=epochs,
      seed=seed,
      workers=1,
    )
  except RuntimeError as error:  # gensim: you must first build vocabulary
    raise UserError(
      f'no word occurs {least} times in {len(lines)} texts, so there are no '
      'word vectors; give more text'
    ) from error
  return WordVectors(dict(model.wv.key_to_index), model.wv.vectors)


def known(test: weat.Test, words: Iterable[str]) -> tuple[weat.Test, list[str]]:
  """The test with the words that have a vector, and those that have none."""
  words = set(words)
  missing = [w for part in (*test.targets, *test.attributes) for w in part]
  missing = [w for w in missing if w.lower() not in words]
  x, y, a, b = (
    [w.lower() for w in part if w.lower() in words]
    for part in (*test.targets, *test.attributes)
  )
  return test._replace(targets=(x, y), attributes=(a, b), words=None), missing


def associations(test: weat.Test, vectors: WordVectors) -> np.ndarray:
  """s of each target of X and then of Y, in one space."""
  of = lambda part: vectors.table[[vectors.words[w] for w in part]]
  x, y = test.targets
  return association.association(of([*x, *y]), *map(of, test.attributes))


def common(spaces: Iterable[WordVectors]) -> set[str]:
  """The words that have a vector in every space."""
  return set.intersection(*(set(space.words) for space in spaces))


def rows(
  spaces: Sequence[WordVectors],
  options,
  tests: Sequence[weat.Test] = TESTS,
  metric: str = METRIC,
  words: Collection[str] | None = None,
) -> tuple[list[dict], list[str]]:
  """Each test's row, s being the mean over the seeds' spaces, and its notes.

  Of `words` alone, if given: effects of several sets of texts are compared
  over the words that all of them have (`common` of all spaces).
  """
  out, notes = [], []
  shared = common(spaces) if words is None else words
  where = '' if words is None else ' in the texts of some contender'
  for test in tests:
    few, missing = known(test, shared)
    if missing:
      notes.append(
        f'{test.name}: {len(missing)} words are too rare for a vector{where} '
        f'and are left out{" for all" if where else ""} '
        f'({", ".join(missing[:8])}{", …" if missing[8:] else ""})'
      )
    if not _enough(few):
      notes.append(
        f'{test.name} is left out: it needs {FEWEST} words in each list'
      )
      continue
    out.append(weat.row(few, _mean(few, spaces), options, metric=metric))
  return result_rows.by_holm(out), notes


def differences(
  ours: Sequence[WordVectors],
  theirs: Sequence[WordVectors],
  options,
  words: Collection[str],
) -> list[dict]:
  """Each test's d in our spaces less that in theirs, over the same words."""
  out = []
  for test in TESTS:
    few, _ = known(test, words)
    if not _enough(few):
      continue
    n = len(few.targets[0])
    s, t = _mean(few, ours), _mean(few, theirs)
    sides = (s[:n], s[n:]), (t[:n], t[n:])
    value, p = association.difference(*sides, options)
    count = sum(map(len, few.targets))
    out.append(
      result_rows.difference(METRIC, test.name, count, value, p, 'words')
    )
  return out


def _enough(test: weat.Test) -> bool:
  return min(map(len, (*test.targets, *test.attributes))) >= FEWEST


def _mean(test: weat.Test, spaces: Sequence[WordVectors]) -> np.ndarray:
  """s of each target, the mean over the spaces (of seeds)."""
  return np.mean([associations(test, space) for space in spaces], axis=0)
