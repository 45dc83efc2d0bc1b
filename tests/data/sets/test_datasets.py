"""Published data sets end to end, with no TensorFlow and no network.

What is downloaded comes from a server on this machine that stands for the
publisher's; the files are real where we have them, else in their format.
"""

import csv
import functools
import http.server
import importlib.util
import io
import json
import socket
import sys
import threading
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
import small

from fairjax.config import Config
from fairjax.core import cache as kept
from fairjax.core.errors import UserError
from fairjax.data import load_tables
from fairjax.data.sets import datasets, own_sets, tfless
from fairjax.data.tables import files


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
  place = tmp_path / 'cache'
  monkeypatch.setenv('FAIRJAX_CACHE', str(place))
  return place


@pytest.fixture
def server(tmp_path, monkeypatch):
  """A folder, and the address at which it is served, its d.zip as tweets."""
  folder = tmp_path / 'served'
  folder.mkdir()

  class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
      pass

  handler = functools.partial(Quiet, directory=folder)
  one = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
  threading.Thread(target=one.serve_forever, daemon=True).start()
  address = f'http://127.0.0.1:{one.server_port}'
  monkeypatch.setattr(own_sets, 'TWEETS', f'{address}/d.zip')
  yield folder, address
  one.shutdown()
  one.server_close()


def config_for(name, path='', **fields) -> Config:
  config = Config()
  config.data.name, config.data.path = name, str(path)
  for field, value in fields.items():
    setattr(config.data, field, value)
  return config


def sizes(tables):
  return {split: len(table) for split, table in tables.items()}


def csv_text(header, rows) -> str:
  buffer = io.StringIO()
  csv.writer(buffer).writerows([header, *rows])
  return buffer.getvalue()


def test_twitter_folder_equals_its_files(shared):
  folder = shared / 'twitter_sexism'
  tables, report, bad = load_tables(
    config_for('twitter_sexism', folder, on_bad='drop')
  )
  assert sizes(tables) == {'train': 13524, 'valid': 1691, 'test': 846}
  assert report['classes'] == ['not sexist', 'sexist']
  assert bad['id'].tolist() == ['train:2601']
  assert report['splits']['train']['twins'] == 4889
  assert report['splits']['valid']['twins'] == 597
  assert 'twin' not in tables['test']
  for split, name in (
    ('valid', 'valid_original'),
    ('test', 'test_original_even'),
  ):
    frame = files.read(str(folder / f'{name}.csv'))
    assert tables[split]['text'].tolist() == frame['tweet'].tolist()
    assert (
      tables[split]['label'].tolist() == frame['Class'].astype(int).tolist()
    )
  again, _, _ = load_tables(
    config_for('twitter_sexism', folder, on_bad='drop')
  )  # from the cache
  for split, table in tables.items():
    pd.testing.assert_frame_equal(table, again[split])


def twitter_zip(shared, path, change=lambda name, rows: rows):
  """The published zip's layout; unknown odd test rows repeat the even ones."""
  folder = shared / 'twitter_sexism'
  with zipfile.ZipFile(path, 'w') as archive:
    for ours, theirs in (
      ('train_original', 'train_original_gender'),
      ('train_gender_swap', 'train_gender_swap'),
      ('valid_original', 'valid_original_gender'),
      ('valid_gender_swap', 'valid_gender_swap'),
      ('test_original_even', 'test_original_gender'),
    ):
      frame = files.read(str(folder / f'{ours}.csv'))
      if ours.startswith('test'):
        frame = frame.loc[frame.index.repeat(2)].iloc[:1691]
      rows = change(theirs, frame[['tweet', 'Class']].to_numpy().tolist())
      archive.writestr(
        f'data/Twitter_{theirs}.csv', csv_text(['tweet', 'Class'], rows)
      )


def test_twitter_is_downloaded_checked_and_kept(shared, server):
  folder, _ = server
  twitter_zip(shared, folder / 'd.zip')
  config = config_for('twitter_sexism', on_bad='drop')
  tables, _, _ = load_tables(config)
  assert sizes(tables) == {'train': 13524, 'valid': 1691, 'test': 1691}
  (folder / 'd.zip').unlink()
  again, _, _ = load_tables(config)
  assert sizes(again) == sizes(tables)
  frame = files.read(str(shared / 'twitter_sexism' / 'train_gender_swap.csv'))
  rows = tables['train']['id'].str.split(':').str[1].astype(int)
  assert (frame['tweet'][rows].to_numpy() == tables['train']['twin']).all()


def test_other_rows_than_the_published_are_refused(shared, server):
  folder, _ = server

  def change(name, rows):
    if name == 'valid_gender_swap':
      rows[100][0] += '!'
    return rows

  twitter_zip(shared, folder / 'd.zip', change)
  with pytest.raises(UserError, match='published valid_twin rows'):
    load_tables(config_for('twitter_sexism'))


def test_wiki_toxicity_of_one_csv(shared):
  path = shared / 'wiki_toxicity' / 'wiki_toxic_natural_5k.csv'
  tables, _, _ = load_tables(config_for('wiki_toxicity', path))
  assert sum(sizes(tables).values()) == 5000
  assert sum(t['label'].sum() for t in tables.values()) == 485
  fuzzed = shared / 'wiki_toxicity' / 'dixon_toxicity_fuzzed_testset.csv'
  tables, _, _ = load_tables(config_for('wiki_toxicity', fuzzed))
  assert sum(t['label'].sum() for t in tables.values()) == 248


def test_wiki_toxicity_of_the_figshare_files(tmp_path):
  kinds = ['train', 'dev', 'test']
  comments = [
    [f'{i}.0', f'lineNEWLINE_TOKENtwoTAB_TOKEN{i}', kinds[i % 3]]
    for i in range(9)
  ]
  votes = [[f'{i}.0', w, float(w <= i)] for i in range(9) for w in range(10)]
  folder = tmp_path / 'wiki'
  folder.mkdir()
  for name, header, rows in (
    ('toxicity_annotated_comments', ['rev_id', 'comment', 'split'], comments),
    ('toxicity_annotations', ['rev_id', 'worker_id', 'toxicity'], votes),
  ):
    lines = ['\t'.join(map(str, r)) for r in [header, *rows]]
    (folder / f'{name}.tsv').write_text('\n'.join(lines) + '\n')
  tables, _, _ = load_tables(config_for('wiki_toxicity', folder))
  assert sizes(tables) == {'train': 3, 'valid': 3, 'test': 3}
  # row i has (i + 1) / 10 toxic votes; toxic is more than half
  assert tables['test']['label'].tolist() == [0, 1, 1]  # rows 2, 5, 8
  assert tables['valid']['text'].tolist()[0] == 'line two 1'


def test_bias_in_bios(shared, tmp_path):
  path = shared / 'bios' / 'bias_in_bios_sample.csv'
  with pytest.raises(UserError, match=r'472 rows .*\(no label\)'):
    load_tables(config_for('bias_in_bios', path))
  tables, report, bad = load_tables(
    config_for('bias_in_bios', path, on_bad='drop')
  )
  assert len(bad) == 590 and sum(sizes(tables).values()) == 1827 - 590
  whole = pd.concat(tables.values())
  jobs = {v: k for k, v in report['labels'].items()}
  assert whole['label'].map(jobs).value_counts()['accountant'] == 780
  assert set(whole['group']) == {'M', 'F'}
  hub = tmp_path / 'data'
  hub.mkdir()
  for split in ('train', 'dev', 'test'):
    rows = {'hard_text': ['a b', 'c d'], 'profession': [0, 1], 'gender': [0, 1]}
    pd.DataFrame(rows).to_parquet(hub / f'{split}-00000-of-00001-ab.parquet')
  tables, _, _ = load_tables(config_for('bias_in_bios', hub))
  assert sizes(tables) == {'train': 2, 'valid': 2, 'test': 2}
  assert tables['train']['group'].tolist() == ['M', 'F']
  # With a gender missing, a table's numbers are floats.
  rows = rows | {'gender': [np.nan, 1.0]}
  pd.DataFrame(rows).to_parquet(hub / 'train-00000-of-00001-ab.parquet')
  tables, _, _ = load_tables(config_for('bias_in_bios', hub))
  assert tables['train']['group'].tolist() == ['', 'F']


def test_a_pickle_is_never_opened(tmp_path):
  path = tmp_path / 'BIOS.pkl'
  path.write_bytes(b"cos\nsystem\n(S'touch %s/ran'\ntR." % bytes(tmp_path))
  with pytest.raises(UserError, match='pickle'):
    load_tables(config_for('bias_in_bios', path))
  assert not (tmp_path / 'ran').exists()


@pytest.mark.parametrize('kind', ['jsonl', 'parquet'])
def test_echr_of_fairlex(tmp_path, kind):
  """Classes of parquet are numpy's numbers: of '3' article 6 became 3."""
  said = {'applicant_gender': 'female', 'applicant_age': 2}
  frame = pd.DataFrame(
    {
      'text': [f'The applicant {i}' for i in range(4)],
      'labels': [['6'] if kind == 'jsonl' else [3], [], [0, 9], []],
      'attributes': [{'defendant_state': i % 2, **said} for i in range(4)],
    }
  )
  folder = tmp_path / kind
  folder.mkdir()
  for split in ('train', 'val', 'test'):
    path = folder / f'{split}.{kind}'
    if kind == 'parquet':
      frame.to_parquet(path)
    else:
      frame.to_json(path, orient='records', lines=True)
  tables, _, _ = load_tables(config_for('echr', folder))
  assert sizes(tables) == {'train': 4, 'valid': 4, 'test': 4}
  train = tables['train']
  assert train['label'].tolist() == [1, 0, 1, 0]
  assert train['group'].tolist()[:2] == ['C.E. European', 'Rest of Europe']
  assert set(train['applicant_age']) == {'<=65'}
  assert train['article_6'].tolist() == ['yes', 'no', 'no', 'no']
  assert train['article_P1-1'].tolist() == ['no', 'no', 'yes', 'no']
  other, _, _ = load_tables(
    config_for('echr', folder, label='article_6', group='applicant_gender')
  )
  assert other['train']['label'].tolist() == [1, 0, 0, 0]
  assert set(other['train']['group']) == {'female'}


def test_panda(tmp_path):
  lines = [
    {
      'original': f'{w} saw it {i}',
      'perturbed': f'{o} saw it {i}',
      'selected_word': w,
      'target_attribute': a,
    }
    for i in range(40)
    for w, o, a in (('he', 'she', 'woman'), ('she', 'they', 'non-binary'))
  ]
  path = tmp_path / 'panda.jsonl'
  path.write_text('\n'.join(map(json.dumps, lines)))
  with pytest.raises(UserError, match='positive class'):
    load_tables(config_for('panda', path))
  config = config_for('panda', path, labels='non-binary=0,woman=1')
  tables, report, _ = load_tables(config)
  assert sum(sizes(tables).values()) == 80
  assert report['labels'] == {'non-binary': 0, 'woman': 1}
  train = tables['train']
  assert train['twin'].str.split().str[0].isin(['she', 'they']).all()
  assert (train['selected_word'] == train['text'].str.split().str[0]).all()


def civil_zip(path, n: int) -> pd.DataFrame:
  """The published csv's columns, n rows of our own."""
  rng = np.random.default_rng(0)
  names = ['toxicity', 'severe_toxicity', 'obscene', 'threat', 'insult']
  names += ['identity_attack', 'sexual_explicit', *datasets.IDENTITIES]
  kinds = rng.choice(['train', 'test_public', 'test_private'], n)
  frame = pd.DataFrame(np.round(rng.random((n, len(names))), 3), columns=names)
  frame['id'] = np.arange(n)
  frame['comment_text'] = [f'comment "{i}",\nshe é' for i in range(n)]
  frame['split'] = kinds
  for name in ('parent_text', 'publication_id', 'created_date', 'parent_id'):
    frame[name] = '7'
  frame['article_id'] = 3
  with zipfile.ZipFile(path, 'w') as archive:
    archive.writestr('civil_comments.csv', frame.to_csv(index=False))
  return frame


def test_civil_comments_identities(server, monkeypatch):
  tfless.datasets()
  import tensorflow_datasets.text.civil_comments as published

  folder, address = server
  frame = civil_zip(folder / 'civil.zip', 300).set_index('comment_text')
  monkeypatch.setattr(published, '_DOWNLOAD_URL', f'{address}/civil.zip')
  name = 'civil_comments/CivilCommentsIdentities'
  tables, _, _ = load_tables(config_for(name))
  assert sizes(tables) == {
    'train': (frame['split'] == 'train').sum(),
    'valid': (frame['split'] == 'test_public').sum(),
    'test': (frame['split'] == 'test_private').sum(),
  }
  for table in tables.values():
    rows = frame.loc[table['text']]
    assert ((rows['toxicity'] >= 0.5).to_numpy() == table['label']).all()
    shares = rows[list(datasets.IDENTITIES)]
    assert table['group'].tolist() == shares.idxmax(axis=1).tolist()
    np.testing.assert_allclose(shares, table[list(datasets.IDENTITIES)])
  if importlib.util.find_spec('tensorflow') is None:
    assert 'tensorflow' not in sys.modules


def test_wikipedia_toxicity_subtypes(server, monkeypatch):
  tfless.datasets()
  import tensorflow_datasets.text.wikipedia_toxicity_subtypes as published

  folder, address = server
  header = ['id', 'comment_text', 'lang', 'toxic', 'severe_toxic', 'obscene']
  header += ['threat', 'insult', 'identity_hate']
  with zipfile.ZipFile(folder / 'w.zip', 'w') as archive:
    for part in ('train', 'test'):
      rows = [[i, f'{part} {i}', 'en', i % 2, 0, 0, 0, 0, 1] for i in range(50)]
      archive.writestr(f'wikidata_{part}.csv', csv_text(header, rows))
  monkeypatch.setattr(published, '_DOWNLOAD_URL', f'{address}/w.zip')
  tables, _, _ = load_tables(
    config_for('wikipedia_toxicity_subtypes/EnglishSubtypes')
  )
  assert list(tables) == ['train', 'valid', 'test']
  assert len(tables['test']) == 50
  assert len(tables['train']) + len(tables['valid']) == 50
  for table in tables.values():
    odd = table['text'].str.split().str[1].astype(int) % 2
    assert (odd == table['label']).all()


def test_glue_tests_on_its_validation_split(shared, server, monkeypatch):
  """RTE with its real rows, in the published zip's layout."""
  tfds = tfless.datasets()
  folder, address = server
  dev = files.read(str(shared / 'glue' / 'RTE' / 'dev.tsv'))
  with zipfile.ZipFile(folder / 'RTE.zip', 'w') as archive:
    for part in ('train', 'dev', 'test'):
      rows = dev.drop(columns='label') if part == 'test' else dev
      lines = ['\t'.join(r) for r in [list(rows), *rows.to_numpy().tolist()]]
      archive.writestr(f'RTE/{part}.tsv', '\n'.join(lines) + '\n')
  builder = tfds.builder('glue/rte', data_dir=str(folder / 'x'))
  monkeypatch.setattr(builder.builder_config, 'data_url', f'{address}/RTE.zip')
  tables, _, _ = load_tables(config_for('glue/rte'))
  assert list(tables) == ['train', 'valid', 'test']
  test = tables['test'].set_index('text')
  assert len(test) == 277 and set(test['label']) == {0, 1}
  theirs = dev.set_index('sentence1')
  names = ['entailment', 'not_entailment']
  pairs = zip(test['text_pair'], test['label'].map(lambda k: names[k]))
  real = zip(theirs['sentence2'], theirs['label'])
  assert sorted(pairs) == sorted(real)


@pytest.mark.parametrize('served', [True, False])
@pytest.mark.parametrize(
  'name, said',
  [
    ('twitter_sexism', r'cannot download .*--config\.data\.path'),
    ('glue/wnli', r'cannot prepare glue/wnli.*network.*--config\.data\.'),
  ],
)
def test_a_download_that_fails_is_told_at_once(
  name, said, served, server, monkeypatch
):
  """A closed port refuses; urllib3's ten retries would take 200 seconds."""
  _, address = server
  with socket.socket() as closed:
    closed.bind(('127.0.0.1', 0))
    if not served:
      address = f'http://127.0.0.1:{closed.getsockname()[1]}'
  builder = tfless.datasets().builder('glue/wnli', data_dir='unused')
  url = f'{address}/none.zip'
  monkeypatch.setattr(builder.builder_config, 'data_url', url)
  monkeypatch.setattr(own_sets, 'TWEETS', url)
  start = time.monotonic()
  with pytest.raises(UserError, match=said) as error:
    load_tables(config_for(name))
  assert served or time.monotonic() - start < 60
  assert '\n' not in str(error.value) and len(str(error.value)) < 400


def test_an_empty_cache_variable_is_none(monkeypatch, tmp_path):
  monkeypatch.setenv('HOME', str(tmp_path))
  for value in ('', '~/.cache/fairjax'):
    monkeypatch.setenv('FAIRJAX_CACHE', value)
    assert kept.root() == tmp_path / '.cache' / 'fairjax'


def flip(file):
  """One bit of a cell's letters or numbers."""
  raw = bytearray(file.read_bytes())
  raw[len(raw) // 4] ^= 1
  file.write_bytes(raw)


def test_a_damaged_cache_is_made_anew(tmp_path, cache):
  path = tmp_path / 'w.csv'
  path.write_text(csv_text(['text', 'toxic'], [[i, i % 2] for i in range(40)]))
  config = config_for('wiki_toxicity', path)
  before, _, _ = load_tables(config)
  columns = sorted((cache / 'columns').rglob('*.parquet'))
  cut = lambda file: file.write_bytes(b'PAR1')
  for every, damage in (
    (columns, cut),
    (columns, flip),
    (columns[:1], lambda file: file.unlink()),
  ):
    for file in every:
      damage(file)
    after, _, _ = load_tables(config)
    assert before['train'].equals(after['train'])
  path.write_text(csv_text(['text', 'toxic'], [[i, i % 2] for i in range(50)]))
  changed, _, _ = load_tables(config)  # another content, another key
  assert sum(sizes(changed).values()) == 50


@pytest.mark.parametrize(
  ('name', 'path', 'expected'), small.cases(__file__, 'bad_files.json')
)
def test_bad_input_is_one_sentence(name, path, expected, tmp_path):
  (tmp_path / 'empty').mkdir()
  (tmp_path / 'folder').mkdir()
  (tmp_path / 'folder' / 'notes.txt').write_text('x')
  (tmp_path / 'a.csv').write_text('x,y\n1,2\n')
  where = str(tmp_path / path) if path else ''
  with pytest.raises(UserError) as told:
    load_tables(config_for(name, where))
  assert expected in str(told.value) and '\n' not in str(told.value)
