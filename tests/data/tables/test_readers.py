"""Files as people have them: read, with a remark, or refused in a sentence."""

import gzip
import itertools
import json
import os
import time

import pandas as pd
import pytest

from fairjax.core.errors import UserError
from fairjax.data.corpora import texts
from fairjax.data.sets import template_lists
from fairjax.data.tables import readers, terms

ROWS = [('a, b', '0'), ('c; d', '1'), ('e\tf', '0')]


def write(path, content: str | bytes):
  path.write_bytes(content if isinstance(content, bytes) else content.encode())
  return str(path)


def separated(mark: str, rows=ROWS) -> str:
  lines = [f'"{text}"{mark}{label}' for text, label in rows]
  return '\n'.join([f'text{mark}label', *lines]) + '\n'


def refusal(path, read=readers.read) -> str:
  with pytest.raises(UserError) as error:
    read(str(path))
  sentence = str(error.value)
  assert '\n' not in sentence and len(sentence) < 400, sentence
  return sentence


@pytest.mark.parametrize('suffix', ['.csv', '.tsv', '.CSV', '.csv.gz'])
@pytest.mark.parametrize(
  'mark, word',
  [(',', 'commas'), (';', 'semicolons'), ('\t', 'tabs'), ('|', 'bars')],
)
def test_the_separator_is_seen_and_said(tmp_path, suffix, mark, word):
  raw = separated(mark).encode()
  raw = gzip.compress(raw) if suffix.endswith('.gz') else raw
  frame = readers.read(write(tmp_path / f'a{suffix}', raw))
  assert frame['text'].tolist() == [text for text, _ in ROWS]
  assert frame['label'].tolist() == [label for _, label in ROWS]
  usual = mark == ('\t' if suffix == '.tsv' else ',')
  remarks = frame.attrs.get('remarks', ())
  assert bool(remarks) != usual
  assert usual or word in remarks[0]


def test_json_arrays_columns_and_lines(tmp_path):
  rows = [{'text': f't{i}', 'label': i} for i in range(3)]
  for name, content, remarks in (
    ('a.json', json.dumps(rows), 0),
    ('b.json', json.dumps({'text': ['t0', 't1', 't2'], 'label': [0, 1, 2]}), 0),
    ('c.json', '\n'.join(map(json.dumps, rows)), 1),
    ('d.ndjson', '\n'.join(map(json.dumps, rows)), 0),
    ('e.jsonl.gz', gzip.compress('\n'.join(map(json.dumps, rows)).encode()), 0),
  ):
    frame = readers.read(write(tmp_path / name, content))
    assert frame['text'].tolist() == ['t0', 't1', 't2'], name
    assert frame['label'].tolist() == [0, 1, 2], name
    assert len(frame.attrs.get('remarks', ())) == remarks, name


def test_places_that_are_no_files(tmp_path):
  start = time.monotonic()
  os.mkfifo(tmp_path / 'pipe.csv')
  assert 'pipe' in refusal(tmp_path / 'pipe.csv')
  loop = tmp_path / 'loop.csv'
  loop.symlink_to(loop)
  assert 'leads to itself' in refusal(loop)
  lost = tmp_path / 'lost.csv'
  lost.symlink_to(tmp_path / 'gone.csv')
  assert 'gone.csv' in refusal(lost)
  assert 'too long' in refusal(tmp_path / ('x' * 300 + '.csv'))
  assert 'too long' in refusal('x/' * 3000 + 'a.csv')
  assert 'address' in refusal('https://example.com/a.csv')
  assert 'address' in refusal('gs://bucket/a.csv')
  assert 'home' in refusal('~no-such-user/a.csv')
  write(tmp_path / 'file', 'x')
  assert 'is a file' in refusal(tmp_path / 'file' / 'a.csv')
  assert 'NUL' in refusal('a\0.csv')
  assert 'no file is named' in refusal('')
  assert time.monotonic() - start < 60


def test_names_that_are_no_texts_and_odd_parquet(tmp_path):
  path = tmp_path / 'a.parquet'
  pd.DataFrame({0: ['a'], 1: [1]}).to_parquet(path)
  assert list(readers.read(str(path)).columns) == ['0', '1']


OTHERS = {  # of word lists, term files and corpora
  'terms': lambda path: terms.read_terms(path),
  'list': lambda path: template_lists.read_list(path),
  'csv': lambda path: template_lists.read_csv(path, ('word',)),
  'corpus': lambda path: texts.find(path, 'text', True),
}


@pytest.mark.parametrize('kind', OTHERS)
def test_other_readers_of_files_refuse_the_same_places(kind, tmp_path):
  told = lambda path: refusal(path, OTHERS[kind])
  os.mkfifo(tmp_path / 'a.txt')
  assert 'pipe' in told(tmp_path / 'a.txt')
  assert 'too long' in told('x' * 300 + '.txt')
  write(tmp_path / 'terms.txt', 'woman\n'.encode('utf-16'))
  if kind == 'corpus':
    assert 'pipe' in told(tmp_path)
    assert 'does not exist' in told(tmp_path / 'b.txt')
    assert 'is no text' in told(__file__)
    return
  assert 'folder' in told(tmp_path)
  assert 'terms.txt' in told(tmp_path / 'term.txt')
  assert 'UTF-16' in told(tmp_path / 'terms.txt')


def test_a_csv_of_words_in_another_form(tmp_path):
  path = tmp_path / 'words.csv'
  path.write_text('type;word\nname;Ann\n')
  assert template_lists.read_csv(str(path), ('word',))['word'].tolist() == [
    'Ann'
  ]
  path.write_bytes('type,word\nname,Ann\n'.encode('utf-8-sig'))
  assert list(template_lists.read_csv(str(path), ('word',))) == ['type', 'word']


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
  assert 'repeats line 1' in refusal(path, terms.read_terms)


@pytest.mark.parametrize(
  'name, row, said',
  [
    ('zeros.csv', '\0' * 5000, 'bytes of zero'),
    ('line.jsonl', 'x' * 5000, 'a line of more than'),
    ('array.json', '[\n' + '1,\n' * 5000, 'write it as .jsonl'),
    ('rows.csv', 'text,x\n' + 'a,0\n' * 5000, 'half of what was free'),
    ('rows.jsonl', '{"x": 1}\n' * 5000, 'half of what was free'),
  ],
)
def test_what_does_not_fit_is_told(name, row, said, tmp_path, monkeypatch):
  """Zeros took 6 GB, and a MemoryError."""
  free = itertools.chain([16 * 4999] * 3, itertools.repeat(9999))
  monkeypatch.setattr(readers.paths, 'free_memory', lambda: next(free))
  path = write(tmp_path / f'{name}.gz', gzip.compress(row.encode()))
  assert said in refusal(path)


def test_half_a_character_in_a_name_is_told():
  frame = pd.DataFrame(columns=pd.Index(['x\ud800'], dtype=object))
  with pytest.raises(UserError, match='half a character'):
    readers.as_frame(frame)
