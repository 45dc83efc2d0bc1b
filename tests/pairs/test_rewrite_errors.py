"""Errors of rewrites by kind, each on a text made for it."""

import pytest

from fairjax.pairs import rewrite_errors

SOURCE = 'The king lost his crown and he wept .'
TWIN = 'The queen lost her crown and she wept .'


@pytest.mark.parametrize(
  ('rewrite', 'expected'),
  [
    (TWIN, set()),
    (SOURCE, {'unchanged'}),
    ('The queen lost his crown and he wept .', {'half_turned'}),
    ('The queen lost hers crown and she wept .', {'wrong_agreement'}),
    ('The queens lost her crown and she wept .', {'wrong_agreement'}),
    ('The nun lost her crown and she wept .', {'wrong_partner'}),
    ('The queen lost her hat and she wept .', {'others_changed'}),
    ('The king lost his hat and he wept .', {'others_changed'}),
    (f'{TWIN} She wept .', {'others_changed'}),
    (f'Once {TWIN.lower()}', {'others_changed'}),
    (
      'The nun lost him crowns and he slept .',
      {'half_turned', 'wrong_partner', 'wrong_agreement', 'others_changed'},
    ),
  ],
)
def test_each_kind_is_told_by_itself(rewrite, expected):
  kinds = rewrite_errors.kinds(SOURCE, TWIN, rewrite)
  names = {k for k, has in zip(rewrite_errors.KINDS, kinds) if has}
  assert names == expected


def test_a_table_has_a_row_a_text():
  table = rewrite_errors.table([(SOURCE, TWIN)] * 2, [SOURCE, TWIN])
  assert table['unchanged'].tolist() == [True, False]
  assert tuple(table) == rewrite_errors.KINDS
  assert all(v.shape == (0,) for v in rewrite_errors.table([], []).values())
