"""Resampling: exactness of the cells, spread of cells and blocks."""

import numpy as np
import pytest

from fairjax.metrics import counts
from fairjax.metrics.inference import resampling
from fairjax.metrics.inference.sample import RowSample

HOW = RowSample(0.95, 3000, 0)


def test_cells_keep_together_what_agrees():
  a, b = np.array([0, 1, 0, 1, 0]), np.array([True, True, True, False, True])
  found = resampling.cells([a, b])
  assert found.item.tolist() == [0, 1, 0, 2, 0]
  assert found.size.tolist() == [3, 1, 1]
  assert found.first.tolist() == [0, 1, 3]


def test_cells_of_more_columns_than_bits():
  rng = np.random.default_rng(0)
  few = rng.integers(0, 2, (6, 90))
  rows = few[rng.integers(0, 6, 200)]
  found = resampling.cells(list(rows.T))
  kinds, item = np.unique(rows, axis=0, return_inverse=True)
  assert len(found.size) == len(kinds)
  assert len(set(zip(found.item, item.ravel()))) == len(kinds)


@pytest.mark.parametrize(
  'groups, overlap', [(3, False), (3, True), (300, False)]
)
def test_distinct_columns_make_the_cells_of_the_masks(groups, overlap):
  rng = np.random.default_rng(0)
  number = rng.integers(0, groups + 1, 2000)  # the last is in no group
  masks = np.arange(groups)[:, None] == number
  if overlap:
    masks[0] |= masks[1]
  labels = rng.integers(0, 2, 2000)
  columns = resampling.distinct([*masks])
  assert len(columns) == (1 if groups < 256 and not overlap else groups)
  ours = resampling.cells([*columns, labels])
  seen = lambda items: (items.item, *items[1:-1])
  np.testing.assert_equal(seen(ours), seen(resampling.cells([*masks, labels])))
  for name, column in enumerate([*masks, labels]):
    np.testing.assert_array_equal(column[ours.first][ours.item], column, name)
  if not overlap:  # where the one group of each row is known
    given = labels, labels[None], [*masks, labels >= 0], 2, HOW
    code = np.where(number < groups, number, -1)
    both = (counts.tabulate(*given, c) for c in (None, code))
    np.testing.assert_equal(*((t[:2], seen(t.items)) for t in both))


@pytest.mark.parametrize('cells', [True, False])
def test_resamples_have_as_many_rows_and_the_right_spread(cells):
  labels = np.repeat([0, 1], [700, 300])
  items = resampling.cells([labels]) if cells else resampling.blocks(1000, HOW)
  drawn = resampling.draw(items, 4000, 0)
  ones = np.bincount(items.item, labels)
  rows = drawn @ resampling.pad(items.size.astype(float))
  assert rows.mean() == pytest.approx(1000, rel=0.002)
  share = drawn @ resampling.pad(ones) / rows
  assert share.mean() == pytest.approx(0.3, abs=0.002)
  assert share.std() == pytest.approx((0.3 * 0.7 / 1000) ** 0.5, rel=0.04)


def test_cells_and_blocks_tell_the_same():
  rng = np.random.default_rng(1)
  n = 1500
  labels, group = rng.integers(0, 2, n), rng.integers(0, 2, n)
  decisions = (rng.random((2, n)) < 0.3 + 0.4 * labels).astype(np.int64)
  masks = [group == 0, group == 1, group >= 0]
  exact = counts.tabulate(labels, decisions, masks, 2, HOW)
  items = resampling.blocks(n, HOW)
  rows = counts.Table(
    counts.by_rows(labels, decisions, masks, np.array([1]), items),
    counts.confusion_of(labels, decisions, 2, items),
    items,
  )
  np.testing.assert_array_equal(exact.groups.sum(0), rows.groups.sum(0))
  np.testing.assert_array_equal(exact.confusion.sum(0), rows.confusion.sum(0))
  a, b = (counts.draw(t, HOW).rates.std(0) for t in (exact, rows))
  np.testing.assert_allclose(a, b, rtol=0.08)


def test_quantile_is_numpys_and_skips_undefined_draws():
  draws = np.random.default_rng(0).normal(size=(101, 3))
  draws[:40, 1] = np.nan
  found = resampling.quantile(draws, (0.025, 0.5))
  np.testing.assert_allclose(found, np.nanquantile(draws, (0.025, 0.5), axis=0))


@pytest.mark.parametrize('count', [2, 20])
def test_totals_of_groups_are_those_of_their_items(count):
  """Of few groups and of many, which may overlap or be empty."""
  rng = np.random.default_rng(2)
  group, labels = rng.integers(0, count, 900), rng.integers(0, 2, 900)
  masks = [group == g for g in range(count)]
  masks += [group < 2, group < 0, group >= 0]
  decisions = rng.integers(0, 2, (2, 900))
  table = counts.tabulate(labels, decisions, masks, 2, HOW)
  assert (table.groups.any((1, 2, 4)).mean() > counts.DENSE) == (count < 3)
  weights = resampling.draw(table.items, 7, 0)
  for s, decided in enumerate(decisions):
    for g, mask in enumerate(masks):
      for cell in range(4):
        rows = mask & (2 * labels + decided == cell)
        np.testing.assert_allclose(
          counts.adder(table.groups)(weights)[:, s, 0, g, cell],
          weights[:, table.items.item[rows]].sum(1),
          rtol=1e-5,
        )
