"""Files are read literally; what is wrong with one is said in a sentence."""

import ast
import contextlib
import csv
import io
import json
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data import load_tables, word_tables
from fairjax.data.tables import files, inputs, splits

nasty = st.text(st.characters(exclude_categories=('Cs',)), max_size=20)
COLUMNS = ['text', 'label']


def config_for(path, **fields) -> Config:
  config = Config()
  config.data.name = 'file'
  config.data.path = str(path)
  for name, value in fields.items():
    setattr(config.data, name, value)
  return config


def write(folder, name: str, content: str | bytes):
  path = folder / name
  raw = content if isinstance(content, bytes) else content.encode()
  path.write_bytes(raw)
  return path


def rows(n: int = 30) -> str:
  return 'text,label\n' + ''.join(f'text {i},{i % 2}\n' for i in range(n))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(nasty, st.integers(0, 3)), min_size=1, max_size=8))
@example([('NA', 0), ('null', 1), ('a "b", c\n\r\n\td', 0), ('&amp; é 🙂', 1)])
@example([('\x00\x0b\x1c\x85\u2028', 0), (' \ufeff', 1)])
def test_csv_round_trip(tmp_path_factory, cells):
  buffer = io.StringIO(newline='')
  writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
  writer.writerows([COLUMNS, *cells])
  path = tmp_path_factory.mktemp('csv') / 'a.csv'
  path.write_text(buffer.getvalue(), encoding='utf-8', newline='')
  frame = files.read(str(path))
  assert frame['text'].tolist() == [text for text, _ in cells]
  assert frame['label'].tolist() == [str(label) for _, label in cells]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(nasty, st.integers(0, 3)), min_size=1, max_size=8))
def test_jsonl_and_parquet_round_trip(tmp_path_factory, cells):
  folder = tmp_path_factory.mktemp('round')
  table = pd.DataFrame(cells, columns=COLUMNS)
  table.to_parquet(folder / 'a.parquet')
  for plain in (True, False):
    each = [dict(zip(COLUMNS, c)) for c in cells]
    lines = [json.dumps(one, ensure_ascii=plain) for one in each]
    write(folder, 'a.jsonl', '\n'.join(lines))
    for name in ('a.jsonl', 'a.parquet'):
      frame = files.read(str(folder / name))
      assert frame['text'].tolist() == table['text'].tolist()
      assert frame['label'].tolist() == table['label'].tolist()


def test_texts_are_literal_and_missing_cells_are_not_texts(tmp_path):
  path = write(tmp_path, 'a.csv', rows() + 'NA,0\nnull,1\nnan,0\n&lt;3,1\n')
  tables, report, bad = load_tables(config_for(path))
  texts = set(pd.concat(tables.values())['text'])
  assert {'NA', 'null', 'nan', '&lt;3'} <= texts and not len(bad)
  entities = [f['html_entities'] for f in report['splits'].values()]
  assert sum(entities) == 1


def test_tsv_quotes_are_literal_unless_the_file_quotes(tmp_path):
  plain = write(tmp_path, 'a.tsv', 'text\tlabel\n"Hi" he said\t1\n"Ho"\t0\n')
  assert files.read(str(plain))['text'].tolist() == ['"Hi" he said', '"Ho"']
  table = pd.DataFrame({'text': ['"Hi" he\tsaid', 'a\nb'], 'label': [1, 0]})
  table.to_csv(tmp_path / 'b.tsv', sep='\t', index=False)
  back = files.read(str(tmp_path / 'b.tsv'))
  assert back['text'].tolist() == table['text'].tolist()
  doubled = write(tmp_path, 'c.tsv', 'text\tlabel\n"say ""no"""\t1\nb\t0\n')
  assert files.read(str(doubled))['text'].tolist() == ['say "no"', 'b']


def test_splits_are_seeded_stratified_and_keep_equal_texts_together():
  rng = np.random.default_rng(0)
  text = pd.Series([f't{i}' for i in rng.integers(0, 3000, 5000)])
  label = pd.Series((rng.random(5000) < 0.2).astype(int))
  three = ('train', 'valid', 'test')
  which = splits.assign(text, label, three, seed=1)
  assert (which == splits.assign(text, label, three, seed=1)).all()
  assert (which != splits.assign(text, label, three, seed=2)).any()
  for name, share in zip(three, (0.8, 0.1, 0.1)):
    assert abs((which == name).mean() - share) < 0.01
    assert abs(label[which == name].mean() - label.mean()) < 0.03
  assert (pd.Series(which).groupby(text).nunique() == 1).all()


def test_splits_of_rows_without_text_are_their_own():
  text, label = pd.Series(['a'] + [None] * 99), pd.Series([0] * 100)
  three = ('train', 'valid', 'test')
  each = [splits.assign(text, label, three, seed) for seed in range(9)]
  assert pd.Series(each[0]).value_counts().tolist() == [80, 10, 10]
  assert not all(one[0] == one[2] for one in each)


def test_ids_name_the_row_of_the_file(tmp_path):
  path = write(tmp_path, 'a.csv', rows(40) + ',1\n')
  tables, _, bad = load_tables(config_for(path, on_bad='drop'))
  frame = files.read(str(path))
  for split, table in tables.items():
    for id_, text in zip(table['id'], table['text']):
      name, row = id_.split(':')
      assert name == split and frame['text'][int(row)] == text
  assert bad[['row', 'reason']].values.tolist() == [[40, 'an empty text']]


def test_given_files_are_the_splits_and_a_column_may_name_them(tmp_path):
  one = write(tmp_path, 'a.csv', rows(20))
  two = write(tmp_path, 'b.csv', rows(6))
  config = config_for(one, valid_path=str(two), test_path=str(two))
  tables, _, _ = load_tables(config)
  assert [len(tables[s]) for s in splits.SHARES] == [20, 6, 6]
  kinds = ['train', 'dev', 'test', 'train']
  each = ''.join(f'x{i},{i % 2},{kinds[i % 4]}\n' for i in range(20))
  path = write(tmp_path, 'c.csv', 'text,label,part\n' + each)
  tables, _, _ = load_tables(config_for(path, split='part'))
  assert [len(tables[s]) for s in splits.SHARES] == [10, 5, 5]
  assert tables['valid']['id'].tolist()[:2] == ['valid:1', 'valid:5']


def test_twin_file_pairs_by_row_and_other_columns_are_kept(tmp_path):
  mine = ''.join(f'she {i},{i % 2},f,{i}\n' for i in range(30))
  path = write(tmp_path, 'a.csv', 'text,label,who,age\n' + mine)
  other = ''.join(f'he {i},{i % 2}\n' for i in range(30))
  twin = write(tmp_path, 't.csv', 'text,label\n' + other)
  config = config_for(path, twin_path=str(twin), group='who')
  tables, report, _ = load_tables(config)
  for table in tables.values():
    assert (table['twin'] == 'he' + table['text'].str[3:]).all()
    assert (table['group'] == 'f').all()
    assert (table['age'] == table['text'].str[4:]).all()
  assert report['splits']['train']['twins'] == len(tables['train'])


def test_limit_is_a_seeded_draw_of_each_split(tmp_path):
  path = write(tmp_path, 'a.csv', rows(200))
  full, _, _ = load_tables(config_for(path))
  small, _, _ = load_tables(config_for(path, limit=7))
  again, _, _ = load_tables(config_for(path, limit=7))
  for split, table in small.items():
    assert len(table) == 7 and set(table['id']) < set(full[split]['id'])
    assert table['id'].tolist() == again[split]['id'].tolist()
    order = full[split]['id'].tolist()
    assert table['id'].tolist() == sorted(table['id'], key=order.index)


LABELS = 'text,label\n' + ''.join(f'a,l{i}\n' for i in range(1500))
BAD = [
  *word_tables.table_rows(__file__, 'bad_files.csv'),
  ['latin-1', 'a.csv', b'text,label\na,0\ncaf\xe9,1\n', '', '', 'line 3'],
  ['texts as labels', 'a.csv', LABELS, '', '', '1500 different labels'],
]


@pytest.mark.parametrize('case', BAD, ids=lambda case: case[0])
def test_bad_input_is_one_sentence(case, tmp_path, monkeypatch):
  """Of content that begins with '30 rows' these are in its place."""
  monkeypatch.chdir(tmp_path)
  write(tmp_path, 'misspelt.csv', 'text,label\nx,0\ny,1\n')
  _, name, content, knob, value, expected = case
  if isinstance(content, str) and (some := re.match(r'(\d+) rows\n', content)):
    content = rows(int(some[1])) + content[some.end() :]
  if content != '(none)':
    write(tmp_path, name, content)
  fields = {knob: int(value) if knob == 'limit' else value} if knob else {}
  with pytest.raises(UserError) as told:
    load_tables(config_for(name, **fields))
  sentence = str(told.value)
  assert expected in sentence, sentence
  assert '\n' not in sentence and len(sentence) < 400, sentence


def test_ids_twice_are_told_with_their_rows(tmp_path):
  path = write(tmp_path, 'a.csv', 'text,label,n\na,0,7\nb,1,8\nc,0,7\n')
  other = write(tmp_path, 'b.csv', 'text,label,n\nd,0,1\n')
  config = config_for(path, id='n', valid_path=str(other), test_path=str(other))
  with pytest.raises(UserError, match=r'row 0 of .*a.csv and in row 2 of'):
    load_tables(config)


@pytest.mark.parametrize('name', ['text ', '\u200btext', 'text\xa0', 'te xt'])
def test_a_column_with_an_invisible_blank_is_quoted(tmp_path, name):
  path = write(tmp_path, 'a.csv', rows().replace('text,', f'{name},', 1))
  with pytest.raises(UserError) as told:
    load_tables(config_for(path))
  sentence = str(told.value)
  assert repr(name) in sentence and sentence.isprintable()
  flag = re.search(r'--config\.data\.text=(.*)\?$', sentence)[1]
  words = ['bash', '-c', f'printf %s {flag}']
  assert subprocess.run(words, capture_output=True).stdout == name.encode()


def test_texts_may_be_categories_and_ids_whole_numbers(tmp_path):
  path, text = tmp_path / 'a.parquet', pd.Categorical(['b', 'a'])
  pd.DataFrame({'text': text, 'n': [5, 6]}).to_parquet(path)
  found = files.texts(config_for(path, id='n').data)
  assert found[['id', 'text']].values.tolist() == [['5', 'b'], ['6', 'a']]
  pd.DataFrame({'text': pd.Categorical([7])}).to_parquet(path)
  with pytest.raises(UserError, match=r"has 7 in column 'text' of row 0,"):
    files.texts(config_for(path).data)


def test_texts_that_are_all_equal_are_told_as_such(tmp_path):
  path = write(tmp_path, 'a.csv', 'text,label\n' + 'a,0\na,1\n' * 30)
  with pytest.raises(UserError, match='60 rows with 1 different text,'):
    load_tables(config_for(path))


def test_the_terms_of_groups_are_read_before_training(tmp_path):
  config = config_for(write(tmp_path, 'a.csv', rows()))
  config.measures.groups = 'terms:' + str(tmp_path / 'no.txt')
  with pytest.raises(UserError, match=r'measures\.groups.*no\.txt'):
    load_tables(config)


def test_what_was_read_otherwise_is_among_the_warnings(tmp_path):
  path = write(tmp_path, 'a.csv', rows().replace(',', ';'))
  twin = write(tmp_path, 'b.csv', rows().replace(',', ';'))
  _, report, _ = load_tables(config_for(path, twin_path=str(twin)))
  assert sum('semicolons' in one for one in report['warnings']) == 2


def written_by(writers: int, rows_each: int) -> pd.DataFrame:
  n = writers * rows_each
  rng = np.random.default_rng(0)
  return pd.DataFrame(
    {
      'text': [f'text {i % (n - 5)}' for i in range(n)],  # five stand twice
      'label': rng.integers(0, 2, n),
      'writer': [f'w{i // rows_each}' for i in range(n)],
    }
  )


@pytest.mark.parametrize('seed', range(3))
def test_rows_of_one_cluster_are_in_one_split(tmp_path, seed, monkeypatch):
  """What a writer's other rows teach is no test of unseen writers."""
  written_by(60, 4).to_csv(tmp_path / 'a.csv', index=False)
  monkeypatch.setattr(splits, 'SEED', seed)
  config = config_for(tmp_path / 'a.csv', cluster='writer')
  tables, report, _ = load_tables(config)
  every = pd.concat([t.assign(split=s) for s, t in tables.items()])
  assert (every.groupby('cluster')['split'].nunique() == 1).all()
  assert (every.groupby('text')['split'].nunique() == 1).all()
  assert [len(t) for t in tables.values()] == pytest.approx(
    [192, 24, 24], abs=8
  )
  assert not report['leaks'] and not any(
    'writer' in w for w in report['warnings']
  )


def test_too_few_clusters_are_parted_and_counted(tmp_path):
  written_by(4, 60).to_csv(tmp_path / 'a.csv', index=False)
  config = config_for(tmp_path / 'a.csv', cluster='writer')
  tables, report, _ = load_tables(config)
  assert [*tables] == ['train', 'valid', 'test']
  inside = tables['test']['cluster'].isin(set(tables['train']['cluster']))
  said = f"test: {inside.sum()} rows whose 'writer' is also in train"
  assert inside.sum() and said in report['warnings']


@pytest.mark.parametrize(
  ('name', 'content', 'knobs', 'found'),
  word_tables.table_rows(__file__, 'texts_alone.csv'),
)
def test_texts_without_labels(tmp_path, name, content, knobs, found):
  data = config_for(write(tmp_path, name, content)).data
  for knob, value in ast.literal_eval(knobs).items():
    setattr(data, knob, value)
  try:
    table = files.texts(data)
    told = ' | '.join(map(' '.join, zip(table['id'], table['text'])))
    assert told == found
  except UserError as error:
    assert found in str(error)


@pytest.mark.parametrize(
  ('option', 'value', 'said'), word_tables.table_rows(__file__, 'options.csv')
)
def test_the_ends_of_options(option, value, said):
  given = dict.fromkeys(('threshold', 'confidence_level'), 0.5)
  given |= dict.fromkeys(('n_resamples', 'random_state', 'min_group'), 1)
  wrong = pytest.raises(UserError, match=re.escape(said))
  with wrong if said else contextlib.nullcontext():
    inputs.options(**(given | {option: eval(value)}))
