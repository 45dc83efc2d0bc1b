"""Errors of rewrites by kind, each on a text made for it."""

import pytest

from fairjax.data.word_tables import table_rows
from fairjax.pairs import rewrite_errors

SOURCE = 'The king lost his crown and he wept .'
TWIN = 'The queen lost her crown and she wept .'


@pytest.mark.parametrize(
  ('wanted', 'rewrite'), table_rows(__file__, 'sheets/rewrite_errors.csv')
)
def test_each_kind_is_told_by_itself(wanted, rewrite):
  kinds = rewrite_errors.kinds(SOURCE, TWIN, rewrite)
  names = {k for k, has in zip(rewrite_errors.KINDS, kinds) if has}
  assert names == {*wanted.split()}


def test_a_table_has_a_row_a_text():
  table = rewrite_errors.table([(SOURCE, TWIN)] * 2, [SOURCE, TWIN])
  assert table['unchanged'].tolist() == [True, False]
  assert tuple(table) == rewrite_errors.KINDS
  assert all(v.shape == (0,) for v in rewrite_errors.table([], []).values())
