"""Paired files of fairscore, in either form, and what is wrong with some."""

import pandas as pd
import pytest

from fairjax.core.errors import UserError
from fairjax.data.tables import paired

LONG = pd.DataFrame(
  {
    'ex_id': [1, 1, 2, 2],
    'is_perturbed': [False, True, True, False],
    'label': [0, 0, 1, 1],
    'sentence': ['he ran', 'she ran', 'a queen', 'a king'],
  }
)


def written(table, tmp_path):
  path = tmp_path / 'paired.jsonl'
  table.to_json(path, orient='records', lines=True)
  return path


def test_a_long_file_has_one_row_an_example(tmp_path):
  table = paired.read(written(LONG, tmp_path))
  assert list(table['text']) == ['he ran', 'a king']
  assert list(table['perturbed']) == ['she ran', 'a queen']
  assert list(table['label']) == [0, 1]
  assert tuple(table) == paired.COLUMNS
  # What is read is what may be written.
  again = paired.read(written(table, tmp_path))
  pd.testing.assert_frame_equal(again, table, check_dtype=False)


def test_pairs_of_texts_are_read_too(tmp_path):
  rows = LONG.rename(columns={'sentence': 'premise'}).assign(hypothesis='so')
  table = paired.read(written(rows, tmp_path))
  assert list(table['perturbed_pair']) == ['so', 'so']


@pytest.mark.parametrize(
  ('change', 'sentence'),
  [
    (lambda t: t.drop(index=1), 'has 2 original and 1 perturbed rows'),
    (lambda t: t.assign(ex_id=[1, 1, 2, 3]), 'has one half only'),
    (lambda t: t.assign(label=[0, 1, 1, 1]), 'a perturbation keeps the label'),
    (lambda t: t.assign(ex_id=1), 'has two original rows'),
    (lambda t: t.drop(columns='ex_id'), "no column 'ex_id'"),
    (lambda t: t.assign(sentence='same'), 'equals its text'),
    (lambda t: t.assign(label='good'), 'give the number of its class'),
    (lambda t: t.drop(columns='sentence'), 'no column of texts'),
  ],
)
def test_a_wrong_file_is_one_sentence(change, sentence, tmp_path):
  with pytest.raises(UserError, match=sentence):
    paired.read(written(change(LONG), tmp_path))


@pytest.mark.parametrize('label', [1.5, -1, [1], None, 'x', 1e40, {}])
def test_a_label_is_the_number_of_a_class(label, tmp_path):
  """1.5 was cut to 1."""
  labels = [0, 0, label, label]
  rows = LONG.assign(label=pd.Series(labels, dtype=object))
  with pytest.raises(UserError, match='has label'):
    paired.read(written(rows, tmp_path))


def test_ids_are_texts_whatever_they_are(tmp_path):
  rows = LONG.assign(ex_id=pd.Series([[1], [1], 'b', 'b'], dtype=object))
  assert list(paired.read(written(rows, tmp_path))['id']) == ['[1]', 'b']
