"""Table 1's samples, counted by hand."""

import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.recipes.rewriting import sampled
from fairjax.train.progress import Log


def tables_of(rows):
  frame = pd.DataFrame(rows, columns=['text', 'label', 'group'])
  frame.insert(0, 'id', [str(k) for k in range(len(frame))])
  return frame


def test_occupations_are_sided_by_the_training_texts():
  train = [('x', 0, 'F')] * 3 + [('x', 0, 'M')] + [('x', 1, 'M')] * 4
  train += [('x', 2, 'F'), ('x', 2, 'M')]
  tables = {
    'train': tables_of(train),
    'test': tables_of([('x', 0, 'M'), ('x', 3, 'F'), ('x', 2, 'F')]),
  }
  shows = {s: (t['group'] == 'F').to_numpy(int) for s, t in tables.items()}
  out = sampled.two_labels(tables, shows)
  # Of all .4 are women: of class 0 .75, of class 1 none, of class 2 half.
  assert out['train']['label'].tolist() == [1] * 4 + [0] * 4 + [1] * 2
  assert out['test']['label'].tolist() == [1, 1]  # class 3 has no side


def test_texts_of_a_class_without_a_side_are_counted(tmp_path):
  """Class 3 is in no training text: its test texts went without a word."""
  train = [('x', 0, 'F')] * 3 + [('x', 1, 'M')] * 3 + [('x', 2, 'F')]
  tables = {
    'train': tables_of(train),
    'test': tables_of([('x', 0, 'M'), ('x', 3, 'F'), ('x', 3, 'F')]),
  }
  with Log(tmp_path, main=True) as log:
    out = sampled.sampled(c.Config(), tables, log)
  assert len(out['test']) == 1
  said = '2 texts of classes that no training text has are left out (test)'
  assert said in (tmp_path / 'log.txt').read_text()


@pytest.mark.parametrize('share', [0.12, 0.8])
def test_the_imbalance_is_that_of_table_1(share):
  rng = np.random.default_rng(0)
  rows = [('x', int(y), 'FM'[int(a)]) for y, a in rng.integers(0, 2, (4000, 2))]
  tables = {'train': tables_of(rows), 'test': tables_of(rows[:900])}
  shows = {s: (t['group'] == 'F').to_numpy(int) for s, t in tables.items()}
  out = sampled.imbalanced(tables, shows, share, 3)
  cell = lambda t, y, g: ((t['label'] == y) & (t['group'] == g)).sum()
  train = out['train']
  part = cell(train, 1, 'F') / (train['label'] == 1).sum()
  assert part == pytest.approx(share, abs=0.005)
  assert cell(train, 0, 'M') == cell(train, 1, 'F')  # mirrored
  assert abs(train['label'].mean() - 0.5) < 0.002
  four = [cell(out['test'], y, g) for y in (0, 1) for g in 'FM']
  assert len(set(four)) == 1 and four[0] > 150
  again = sampled.imbalanced(tables, shows, share, 3)['train']
  other = sampled.imbalanced(tables, shows, share, 4)['train']
  assert again.equals(train) and list(other['id']) != list(train['id'])
  with pytest.raises(UserError, match=r'rewriters\.imbalance'):
    sampled.imbalanced(
      {'train': tables['train'][:2]}, shows_of(rows[:2]), 0.5, 0
    )


def shows_of(rows):
  return {'train': np.array([row[2] == 'F' for row in rows], int)}


def test_a_text_without_a_group_is_of_neither(tmp_path):
  """It was taken for one of the second."""
  tables = {
    'train': tables_of([('x', 0, 'F'), ('x', 1, ''), ('x', 1, 'M')]),
    'test': tables_of([('x', 0, 'F'), ('x', 1, 'M')]),
  }
  with Log(tmp_path, main=False) as log:
    out = sampled.sampled(c.Config(), tables, log)
  assert list(out['train']['group']) == ['F', 'M'] and len(out['test']) == 2
