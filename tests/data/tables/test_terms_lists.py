"""Word lists and term files: what is no file is a sentence, and no hang."""

import os

import pytest

from fairjax.core.errors import UserError
from fairjax.data.corpora import texts
from fairjax.data.sets import template_lists
from fairjax.data.tables import terms

READERS = {
  'terms': lambda path: terms.read_terms(path),
  'list': lambda path: template_lists.read_list(path),
  'csv': lambda path: template_lists.read_csv(path, ('word',)),
}


def refusal(read, path) -> str:
  with pytest.raises(UserError) as error:
    read(str(path))
  assert '\n' not in str(error.value) and len(str(error.value)) < 400
  return str(error.value)


@pytest.mark.parametrize('kind', READERS)
def test_places_that_are_no_files(kind, tmp_path):
  read = READERS[kind]
  os.mkfifo(tmp_path / 'pipe')
  assert 'pipe' in refusal(read, tmp_path / 'pipe')
  assert 'folder' in refusal(read, tmp_path)
  assert 'too long' in refusal(read, tmp_path / ('x' * 300))
  (tmp_path / 'terms.txt').write_text('woman\n')
  assert 'terms.txt' in refusal(read, tmp_path / 'term.txt')
  for raw, part in (
    ('woman\n'.encode('utf-16'), 'UTF-16'),
    (b'\x89PNG\xff\0\0', 'PNG'),
    (b'', 'empty'),
  ):
    (tmp_path / 'raw').write_bytes(raw)
    assert part in refusal(read, tmp_path / 'raw')


def test_a_csv_of_words_in_another_form(tmp_path):
  path = tmp_path / 'words.csv'
  path.write_text('type;word\nname;Ann\n')
  assert template_lists.read_csv(str(path), ('word',))['word'].tolist() == [
    'Ann'
  ]
  path.write_bytes('type,word\nname,Ann\n'.encode('utf-8-sig'))
  assert list(template_lists.read_csv(str(path), ('word',))) == ['type', 'word']


def test_a_corpus_of_pipes_is_not_waited_for(tmp_path):
  os.mkfifo(tmp_path / 'a.txt')
  for path in (tmp_path / 'a.txt', tmp_path):
    assert 'pipe' in refusal(lambda p: texts.find(p, 'text', True), path)
  for path, part in (
    ('x' * 300 + '.txt', 'too long'),
    (tmp_path / 'b.txt', 'does not exist'),
    (__file__, 'is no text'),
  ):
    assert part in refusal(lambda p: texts.find(p, 'text', True), path)


def test_a_sign_for_a_letter_is_part_of_its_term(tmp_path):
  """'a$$' was every 'a', and 'a$$hole' every 'a hole'."""
  path = tmp_path / 'terms.txt'
  path.write_text('a\nA$$\na$$hole\nf**k\ngay\n')
  words = terms.read_terms(str(path))
  assert words == ['a', 'a$$', 'a$$hole', 'f**k', 'gay']
  rows = ['a hole, f k', 'An A$$. a$$ a$$hole', 'gay, F**K']
  counts, lengths = terms.count_terms(rows, words)
  assert counts.toarray().tolist() == [
    [1, 0, 0, 0, 0],
    [3, 2, 1, 0, 0],  # as before, an a is one wherever it stands alone
    [0, 0, 0, 1, 1],
  ]
  assert lengths.tolist() == [4, 5, 3]
  path.write_text('a$$\nA$$\n')
  assert 'repeats line 1' in refusal(terms.read_terms, path)
