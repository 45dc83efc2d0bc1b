"""The one door of alignments: difflib's, and bounded where texts are long."""

import difflib
import pathlib
import re

import numpy as np
import pytest

import fairjax
from fairjax.core import alignment


def check(old, new) -> list[tuple[int, int, int]]:
  """Blocks are equal, in order, apart, and end as difflib's do."""
  found = alignment.blocks(old, new)
  assert found[-1] == (len(old), len(new), 0)
  a = b = 0
  for i, j, size in found[:-1]:
    assert size > 0 and i >= a and j >= b
    assert list(old[i : i + size]) == list(new[j : j + size])
    a, b = i + size, j + size
  rebuilt = []
  for kind, a, b, c, d in alignment.changes(old, new):
    rebuilt += old[a:b] if kind == 'equal' else new[c:d]
  assert rebuilt == list(new)
  return found


def edited(old, count, rng) -> list:
  out = list(old)
  for at in sorted(rng.choice(len(out) - 9, count, False), reverse=True):
    style = at % 3
    if style == 0:
      out[at] = 'replaced'
    elif style == 1:
      out[at:at] = ['two', 'more']
    else:
      del out[at : at + 3]
  return out


@pytest.mark.parametrize('words', [2, 30, 3000])
@pytest.mark.parametrize('count', [1, 40, 400])
def test_long_texts_align_as_well_as_by_difflib(words, count):
  rng = np.random.default_rng([words, count])
  old = [str(w) for w in rng.integers(words, size=1500)]
  new = edited(old, count, rng)
  same = sum(size for *_, size in check(old, new))
  if words == 3000:
    theirs = difflib.SequenceMatcher(None, old, new, autojunk=False)
    best = sum(size for *_, size in theirs.get_matching_blocks())
    assert same >= 0.99 * best


def test_texts_beyond_a_window_align_through_it():
  rng = np.random.default_rng(1)
  old = rng.integers(3000, size=50_000).tolist()
  new = edited(old, 900, rng)
  assert sum(size for *_, size in check(old, new)) >= 50_000 - 2 * 900
  assert check(list(range(40_000)), ['a'] * 30_000)[:-1] == []
  assert check([1] * 40_000, [1] * 20_000)[:-1] == [(0, 0, 20_000)]


def test_short_ones_are_difflibs_and_words_in_place_stay():
  rng = np.random.default_rng(0)
  old = [str(w) for w in rng.integers(9, size=300)]
  new = edited(old, 30, rng)
  theirs = difflib.SequenceMatcher(None, old, new, autojunk=False)
  assert alignment.changes(old, new) == theirs.get_opcodes()
  # Nothing stands once, but a word for a word is seen.
  old = ['her', 'book'] * 3000
  new = ['his', 'book'] * 3000
  assert len(check(old, new)) == 3001
  assert check(['a'] * 2000, ['b'] * 1500)[:-1] == []
  assert check([], ['b'] * 1500)[:-1] == []


def test_nobody_else_aligns():
  """But for CrowS-Pairs, whose metric is defined by difflib's defaults."""
  root = pathlib.Path(fairjax.__file__).parent
  others = {
    str(path.relative_to(root))
    for path in root.rglob('*.py')
    if re.search(r'SequenceMatcher', path.read_text(encoding='utf-8'))
  }
  assert others == {'core/alignment.py', 'benchmarks/crows.py'}
