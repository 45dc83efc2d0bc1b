"""WinoBias and Winogender: which file, which row, what of unequal jobs."""

import numpy as np
import pandas as pd
import published_files
import pytest

from fairjax.benchmarks import winobias, winogender
from fairjax.core.errors import UserError
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 400, 0)


def test_winobias_reads_dev_where_test_lies_beside_it(tmp_path):
  """The md5s that are known are those of dev."""
  published_files.write(tmp_path)
  for path in list(tmp_path.glob('*_stereotyped_*.dev')):
    path.with_suffix('.a').write_text('1 The cook saw [her].')
  assert len(winobias.read(tmp_path)) == 8
  for path in list(tmp_path.glob('*_stereotyped_*.dev')):
    path.unlink()
  # What is there alone is read, here of sides that are alike.
  with pytest.raises(UserError, match=r'are no pairs .* \(first type1:1\)'):
    winobias.read(tmp_path)


def of_pairs(folder, *pairs):
  """Files of the pairs in both types, without one blank line."""
  for kind in ('type1', 'type2'):
    for side, lines in zip(('pro', 'anti'), zip(*pairs)):
      path = folder / f'{side}_stereotyped_{kind}.txt.dev'
      path.write_text(''.join(f'{k} {x}\n' for k, x in enumerate(lines, 1)))


@pytest.mark.parametrize('broken', range(5))
def test_half_of_the_pairs_may_be_broken_and_no_more(broken, tmp_path):
  pairs = [(f'[He] saw {k}.', f'[She] saw {k}.') for k in range(4)]
  pairs[:broken] = [
    (f'He saw {k}.', f'She saw {k + 1}.') for k in range(broken)
  ]
  of_pairs(tmp_path, *pairs)
  if broken > 2:
    with pytest.raises(UserError, match=r'are no pairs .* \(first type1:1\)'):
      winobias.read(tmp_path)
    return
  table = winobias.read(tmp_path)
  assert len(table) == 8 - 2 * broken
  said = [one for one in table.attrs['notes'] if 'left out' in one]
  which = [f'{t}:{k + 1}' for t in ('type1', 'type2') for k in range(broken)]
  assert said == [
    f'{2 * broken} pairs are left out, since they differ in more than '
    f'pronouns: {", ".join(which)}'
  ] * (broken > 0)


def test_lines_one_and_two_are_of_one_pair_of_occupations(tmp_path):
  of_pairs(
    tmp_path,
    ('[He] saw [her].', '[She] saw [him].'),
    ('The cook saw [her].', 'The cook saw [him].'),
    ('The nurse hid as [she] left.', 'The nurse hid as [he] left.'),
  )
  table = winobias.read(tmp_path)
  groups = ['type1:0', 'type1:0', 'type1:1', 'type2:0', 'type2:0', 'type2:1']
  assert table['cluster'].tolist() == groups
  assert table['he'].tolist() == [True, False, False] * 2  # the first pronoun
  assert table['anti'][0] == 'She saw him.'


def test_a_line_is_named_by_its_place_in_the_file(tmp_path):
  """Blank lines are no sentences, but an editor counts them."""
  of_pairs(tmp_path, ('[He] left.', '[She] left.'))
  path = tmp_path / 'anti_stereotyped_type2.txt.dev'
  path.write_text('1 [She] left.\n\n2 \n')
  with pytest.raises(UserError, match=r'type2.txt.dev.*: line 3 is'):
    winobias.read(tmp_path)


def test_what_a_model_says_of_pairs_is_told_and_compared_by_its_id():
  items = pd.DataFrame({'id': [*'abcd'], 'kind': ['type1', 'type2'] * 2})
  items['he'], items['cluster'] = [True, True, False, False], [*'wxyz']
  scores = items[['id']].assign(gap=[0.5, -1.0, 2.0, 0.0])
  scores.attrs['notes'] = ['a word is dropped']
  found = winobias.estimate(items, scores, OPTIONS)
  assert found['warnings'] == ['a word is dropped']
  odds = found['fairness']['winobias_log_odds']
  assert (odds['value'], odds['null']) == (0.375, 0)
  assert found['fairness']['winobias_wins']['value'] == 62.5
  each = winobias.values(items, scores)
  assert list(each.index) == list(range(8))
  assert set(each['metric']) == {'winobias_log_odds'}
  assert list(each['part']) == ['all'] * 4 + ['type1', 'type2'] * 2
  assert list(each['value']) == [0.5, -1, 2, 0] * 2


def test_pairs_of_occupations_that_all_win_are_no_proof():
  """Four of four: Clopper and Pearson's .025^¼, and ½⁴ to either side."""
  items = pd.DataFrame({'id': [*'abcdefgh'], 'kind': 'type1', 'he': True})
  items['cluster'] = np.repeat([*'wxyz'], 2)
  gap = np.arange(1.0, 9)
  found = winobias.estimate(items, items[['id']].assign(gap=gap), OPTIONS)
  wins = found['fairness']['winobias_wins']
  assert wins['value'] == wins['high'] == 100
  assert wins['low'] == pytest.approx(100 * 0.025**0.25)
  assert wins['p'] == pytest.approx(2 * 0.5**4)
  # Of the log-odds the jackknife of the four pairs' means 1.5, 3.5, 5.5, 7.5.
  odds, half = found['fairness']['winobias_log_odds'], 3.182446 * np.sqrt(5 / 3)
  assert odds['value'] == 4.5
  assert [odds['low'], odds['high']] == pytest.approx(
    [4.5 - half, 4.5 + half], rel=1e-5
  )
  assert 'jackknife over pairs of occupations' in odds['test']
  assert set(found['groups']) == {'pro is he', 'type1'}  # of she there is none


def test_winogender_weighs_occupations_not_their_sentences():
  """Three sentences of a: by sums, of which a's are 3 and 30, ρ is .95."""
  items = pd.DataFrame({'occupation': [*'aaabcd'], 'of': 'occupation'})
  items['women'] = items['occupation'].map({'a': 10, 'b': 20, 'c': 30, 'd': 40})
  items['id'] = items.index.astype(str)
  gap = [1, 0, 2, 2, 2.5, 3.5]
  found = winogender.estimate(items, items[['id']].assign(gap=gap), OPTIONS)
  assert found['fairness']['winogender_rho']['value'] == 1


MISTAKES = {  # what is done to the lines of which file: what is said
  'twice': (0, lambda rows: [*rows, rows[4]], r"'developer.someone.1.male.txt' "
            r'again in row 30 \(from 0\)'),
  'alone': (0, lambda rows: [*rows[:2], *rows[3:]], "no sentence of "
            "'developer.someone.0' for either of male and female"),
  'unknown': (1, lambda rows: rows[:-1], "no row for 'secretary'"),
}  # fmt: skip


@pytest.mark.parametrize('case', MISTAKES)
def test_winogender_s_files_are_whole_and_of_one_version(case, tmp_path):
  at, change, said = MISTAKES[case]
  published_files.write(tmp_path)
  path = tmp_path / ('all_sentences.tsv', 'occupations-stats.tsv')[at]
  path.write_text('\n'.join(change(path.read_text().splitlines())) + '\n')
  with pytest.raises(UserError, match=said):
    winogender.read(tmp_path)
