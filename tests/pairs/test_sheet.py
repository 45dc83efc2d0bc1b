"""A sheet for human eyes: written without names, filled, summarised."""

import pandas as pd
import pytest
from scipy import stats

from fairjax.core.errors import UserError
from fairjax.pairs import sheet

SOURCES = [f'she is number {i}' for i in range(30)]
REWRITES = {
  'dictionary': [text.replace('she', 'he') for text in SOURCES],
  'lazy': [*SOURCES[:20], *(f'=he("{i}")' for i in range(10))],
}


def written(tmp_path, rows=12):
  path = tmp_path / 'sheet.csv'
  sheet.write(path, SOURCES, REWRITES, rows=rows, seed=3)
  return path, pd.read_csv(path, dtype=str, keep_default_na=False)


def test_rows_are_changed_pairs_that_do_not_say_who_wrote_them(tmp_path):
  path, table = written(tmp_path)
  key = pd.read_csv(sheet.key_path(path))
  counts = key['contender'].value_counts().to_dict()
  assert counts == {'dictionary': 12, 'lazy': 10}
  assert 'contender' not in table
  assert (table['source'] != table['rewrite']).all()
  assert not table['rewrite'].str.startswith('=').any()  # no formula
  assert list(key['contender']) != sorted(key['contender'])


def test_people_are_asked_once_of_one_text(tmp_path):
  """Of ten copies of three pairs twelve were rated, as if they were news."""
  path = tmp_path / 'sheet.csv'
  sources = [f'She is number {k % 3}' for k in range(30)]
  rewrites = {'dictionary': [text.replace('She', 'He') for text in sources]}
  sheet.write(path, sources, rewrites, rows=12, seed=3)
  assert sorted(pd.read_csv(path)['source']) == sources[:3]


def test_answers_come_back_as_shares_with_exact_intervals(tmp_path):
  path, table = written(tmp_path)
  key = pd.read_csv(sheet.key_path(path))
  ours = key['contender'] == 'dictionary'
  table['fluent'] = ['Yes' if one else 'n' for one in ours]
  table.loc[ours.to_numpy().nonzero()[0][:4], 'fluent'] = ['no', '0', 'N', '']
  table.to_csv(path, index=False)
  by = {(a.contender, a.question): a for a in sheet.read(path)}
  mine = by['dictionary', 'fluent']
  assert (mine.yes, mine.rated) == (8, 11)
  test = stats.binomtest(8, 11).proportion_ci(method='exact')
  assert (mine.low, mine.high) == pytest.approx((test.low, test.high))
  lazy = by['lazy', 'fluent']
  assert (lazy.yes, lazy.rated, lazy.low) == (0, 10, 0)
  assert by['lazy', 'turned'].rated == 0


def test_a_sheet_with_answers_is_not_written_over(tmp_path):
  """A run that was started again wrote an empty sheet over people's work."""
  path, table = written(tmp_path)
  key = sheet.key_path(path).read_text()
  table.loc[3, 'kept'] = 'y'
  table.to_csv(path, index=False)
  filled = path.read_text()
  assert not sheet.write(path, SOURCES, REWRITES, rows=5, seed=4)
  assert path.read_text() == filled
  assert sheet.key_path(path).read_text() == key
  table.assign(kept='').to_csv(path, index=False)
  assert sheet.write(path, SOURCES, REWRITES, rows=5, seed=4)
  assert len(pd.read_csv(path)) == 10


def test_the_command_prints_what_is_answered(tmp_path, capsys):
  path, table = written(tmp_path)
  table['kept'] = 'y'
  table.to_csv(path, index=False)
  assert sheet.main([str(path)]) == 0
  out = capsys.readouterr().out
  assert 'dictionary: kept 1.00 [0.74, 1.00] of 12 pairs' in out
  assert 'lazy: turned is not answered yet' in out


def test_an_answer_that_is_neither_is_named(tmp_path):
  path, table = written(tmp_path)
  table.loc[4, 'kept'] = 'perhaps'
  table.to_csv(path, index=False)
  with pytest.raises(UserError, match=r"row 6: kept is 'perhaps'"):
    sheet.read(path)
  table['row'] = 'x'
  table.to_csv(path, index=False)
  with pytest.raises(UserError, match='does not know'):
    sheet.read(path)
