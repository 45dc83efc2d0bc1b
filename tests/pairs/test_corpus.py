"""Corpora: equal bytes from every back end, restarts, shards that fail."""

import functools
import json
import os
import pathlib
import signal

import pandas as pd
import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.data.corpora import shard_map, shards
from fairjax.pairs.swapping import corpus, dictionary
from fairjax.recipes import swap as swap_recipe
from fairjax.recipes.language import augment_corpus

TEXTS = ['She left.', 'No one was here.', 'his brother, éà', '', 'He is here.']


@pytest.fixture
def source(tmp_path):
  folder = tmp_path / 'source'
  (folder / 'deep').mkdir(parents=True)
  for i in range(4):
    lines = [f'{i} {text}' for text in TEXTS]
    (folder / f'part{i}.txt').write_text('\n'.join(lines) + '\n')
  rows = [{'n': i, 'text': text} for i, text in enumerate(TEXTS)]
  lines = [json.dumps(row) for row in rows]
  (folder / 'deep' / 'a.jsonl').write_text('\n'.join(lines) + '\n')
  pd.DataFrame(rows).to_parquet(folder / 'deep' / 'b.parquet')
  (folder / 'notes.md').write_text('not a shard')
  return folder


def _bytes(out: pathlib.Path) -> dict[str, bytes]:
  return {
    str(p.relative_to(out)): p.read_bytes()
    for p in sorted(out.rglob('*'))
    if p.is_file() and '.made' not in p.parts
  }


def _statuses(rows):
  return [row['status'] for row in rows]


def test_the_swap_of_each_format(source, tmp_path):
  rows = corpus.swap_corpus(source, tmp_path / 'out', workers=1)
  assert _statuses(rows) == ['made'] * 6
  assert [row['shard'] for row in rows] == shard_map.find_shards(source)
  assert all((r['rows'], r['changed'], r['words']) == (5, 3, 4) for r in rows)
  twins = dictionary.swap(TEXTS).texts
  out = tmp_path / 'out'
  assert (out / 'part2.txt').read_text() == ''.join(f'2 {t}\n' for t in twins)
  lines = (out / 'deep' / 'a.jsonl').read_text().splitlines()
  assert [json.loads(line)['text'] for line in lines] == twins
  # a line that no swap touches stays to the byte
  assert lines[1] == json.dumps({'n': 1, 'text': TEXTS[1]})
  table = pd.read_parquet(out / 'deep' / 'b.parquet')
  assert table['text'].tolist() == twins and table['n'].tolist() == [*range(5)]


def test_rows_and_their_twins(source, tmp_path):
  out = tmp_path / 'out'
  corpus.swap_corpus(source, out, workers=1, both=True)
  wanted = []
  for text, twin in zip(TEXTS, dictionary.swap(TEXTS).texts):
    wanted += [text] if text == twin else [text, twin]
  assert pd.read_parquet(out / 'deep' / 'b.parquet')['text'].tolist() == wanted
  assert (out / 'part0.txt').read_text().splitlines() == [
    f'0 {t}' for t in wanted
  ]


def test_blocks_and_line_ends(tmp_path, monkeypatch):
  text = 'She left.\r\nhe\u2028she\n\n her end'
  source, target = tmp_path / 'a.txt', tmp_path / 'b.txt'
  source.write_bytes(text.encode())
  monkeypatch.setattr(shards, 'BLOCK', 3)
  counts = shards.rewrite(source, target, dictionary.swapper())
  assert target.read_bytes().decode() == 'He left.\r\nshe\u2028he\n\n his end'
  assert counts == {'rows': 4, 'changed': 3, 'words': 4, 'left': 0}


@pytest.mark.parametrize('backend', ['local', 'dask'])
def test_the_same_bytes_from_each_engine(source, tmp_path, backend):
  if backend == 'dask':
    pytest.importorskip('distributed')
  groups = [('she', 'he', 'it'), ('left', 'came', 'sat')]
  plain, out = tmp_path / 'plain', tmp_path / 'out'
  corpus.swap_corpus(source, plain, words=groups, seed=5, workers=1)
  run = functools.partial(
    corpus.swap_corpus, source, out, words=groups, seed=5, workers=2
  )
  assert _statuses(run(backend=backend)) == ['made'] * 6
  assert _bytes(out) == _bytes(plain)
  assert set(_statuses(run())) == {'kept'}


def test_only_what_changed_is_done_again(source, tmp_path):
  out = tmp_path / 'out'
  run = functools.partial(corpus.swap_corpus, source, out, workers=1)
  run()
  (source / 'part1.txt').write_text('her hat\n')
  (out / 'part3.txt').unlink()
  assert _statuses(run()) == ['kept'] * 3 + ['made', 'kept', 'made']
  assert (out / 'part1.txt').read_text() == 'his hat\n'
  assert set(_statuses(run(direction='male'))) == {'made'}


def _killed_once(mark: str, source: pathlib.Path, target: pathlib.Path) -> dict:
  """Work whose first worker is killed in the middle of a file."""
  flag = pathlib.Path(mark)
  target.write_text('half a fi')
  if source.name == 'part1.txt' and not flag.exists():
    flag.touch()
    os.kill(os.getpid(), signal.SIGKILL)
  return shards.rewrite(source, target, dictionary.swapper())


def test_a_killed_worker_costs_nothing_but_time(source, tmp_path):
  out = tmp_path / 'out'
  work = functools.partial(_killed_once, str(tmp_path / 'mark'))
  names = [n for n in shard_map.find_shards(source) if n.endswith('.txt')]
  rows = shard_map.shard_map(work, source, names, out, workers=2)
  assert set(_statuses(rows)) == {'made'} and (tmp_path / 'mark').exists()
  plain = tmp_path / 'plain'
  corpus.swap_corpus(source, plain, workers=1)
  assert _bytes(out) == {n: _bytes(plain)[n] for n in names}


def test_shards_that_fail_are_named_and_the_rest_is_done(source, tmp_path):
  (source / 'bad.txt').write_bytes(b'ok\n\xff\xfe\n')
  (source / 'bad.jsonl').write_text('{"text": "he"}\n{"texts": 1}\n')
  (source / 'bad2.jsonl').write_text('{"text": 3}\n')
  (source / 'bad.parquet').write_bytes(b'not parquet')
  pd.DataFrame({'body': ['x']}).to_parquet(source / 'no.parquet')
  pd.DataFrame({'text': ['x', None]}).to_parquet(source / 'none.parquet')
  out = tmp_path / 'out'
  rows = {r['shard']: r for r in corpus.swap_corpus(source, out, workers=1)}
  errors = {n: r['error'] for n, r in rows.items() if r['status'] == 'failed'}
  assert len(errors) == 6 and len(rows) == 12
  assert 'bad.txt is not UTF-8' in errors['bad.txt']
  assert (
    "bad.jsonl, line 2 is not a JSON object with the field 'text'"
    in (errors['bad.jsonl'])
  )
  assert "line 1 has no text in 'text' but 3" in errors['bad2.jsonl']
  assert 'bad.parquet is not a parquet file' in errors['bad.parquet']
  assert "no column 'text'; it has body" in errors['no.parquet']
  assert 'row 1 has no text' in errors['none.parquet']
  assert set(_bytes(out)) == rows.keys() - errors.keys()


def test_the_recipe(source, tmp_path, capsys, monkeypatch):
  monkeypatch.setattr(shard_map, 'cores', lambda: 1)
  config = c.Config(
    corpus=c.Corpus(path=str(source)), method=c.Method(names=False)
  )
  folder = tmp_path / 'run'
  results = augment_corpus.run(config, folder)
  shown = capsys.readouterr().out
  assert results.facts['shards'] == 6 and 'Of 100 texts 60 are' in shown
  assert 'the texts are in ' in shown and ', the report is ' in shown
  assert len(pd.read_parquet(folder / 'shards.parquet')) == 6
  (source / 'bad.txt').write_bytes(b'\xff')
  with pytest.raises(UserError, match=r'1 of 7 shards are not done \(bad.txt'):
    augment_corpus.run(config, folder)
  assert '| bad.txt ' in capsys.readouterr().out
  for path in ('', str(tmp_path / 'nowhere'), str(folder / 'corpus')):
    config.corpus.path = path
    with pytest.raises(UserError):
      augment_corpus.run(config, folder)


def test_the_recipe_of_one_text(tmp_path, capsys):
  config = c.Config(text='Mary saw her boss.', method=c.Method(names=True))
  run = lambda: swap_recipe.run(config, tmp_path).sections[0]['parts'][0]
  twin = run()['rows'][0]
  assert capsys.readouterr().out.splitlines()[0] == twin['twin']
  assert 'saw his boss' in twin['twin'] and 'Mary' not in twin['twin']
  config.method.names = False
  assert run()['rows'][0]['twin'] == 'Mary saw his boss.'
  report = (tmp_path / 'report.html').read_text()
  assert 'Mary saw <mark>his</mark> boss.' in report
  with pytest.raises(UserError, match=r'--config\.text'):
    swap_recipe.run(c.Config(), tmp_path)


def test_bad_calls(source, tmp_path):
  with pytest.raises(UserError, match='backend'):
    corpus.swap_corpus(source, tmp_path, 'ray')
  with pytest.raises(UserError, match='direction'):
    corpus.swap_corpus(source, tmp_path, direction='up')
  with pytest.raises(UserError, match='by name'):
    corpus.swap_corpus(source, tmp_path, tagger=lambda text: {})


@pytest.mark.parametrize('option', ['axis', 'words'])
def test_a_corpus_is_known_by_the_files_of_its_swap(tmp_path, option):
  """Another axis under the same name, and words changed while we run, gave
  the texts of before."""
  (tmp_path / 'in').mkdir()
  (tmp_path / 'in' / 'a.txt').write_text('The cat sat.\n')
  file = tmp_path / 'pets.csv'
  head = {'axis': 'form,cat,dog\nnoun,', 'words': ''}[option]
  for new, status in (('dog', 'made'), ('hound', 'made'), ('hound', 'kept')):
    file.write_text(f'{head}cat,{new}\n')
    (row,) = corpus.swap_corpus(
      tmp_path / 'in', tmp_path / 'out', workers=1, **{option: str(file)}
    )
    written = (tmp_path / 'out' / 'a.txt').read_text()
    assert (row['status'], written) == (status, f'The {new} sat.\n')
