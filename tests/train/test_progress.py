"""The log: metrics that a resumed run repeats, events, the live line."""

import contextlib
import importlib.util
import io
import json
import os
import sys
import threading
import types

import numpy as np
import pytest

from fairjax.config import Config
from fairjax.core import announce, artefacts
from fairjax.core.errors import UserError
from fairjax.data.corpora import shard_map
from fairjax.train import progress

FULL = '/dev/full'  # the kernel's own


def write_run(folder, steps, resume=None):
  with progress.Log(folder, screen=io.StringIO()) as log:
    log.resume(0 if resume is None else resume)
    for step in steps:
      for seed in (0, 1):
        row = {'step': step, 'epoch': step / 10, 'split': 'valid', 'seed': seed}
        log.row(**row, loss=np.float32(1 / (1 + step + seed)), auc=0.5)


def test_resumed_metrics_equal_uninterrupted_ones(tmp_path):
  write_run(tmp_path / 'whole', range(1, 9))
  write_run(tmp_path / 'cut', range(1, 7))
  path = tmp_path / 'cut' / 'metrics.jsonl'
  path.write_bytes(path.read_bytes()[:-9])  # killed while writing a row
  write_run(tmp_path / 'cut', range(5, 9), resume=4)
  whole = (tmp_path / 'whole' / 'metrics.jsonl').read_bytes()
  assert path.read_bytes() == whole
  assert len(artefacts.read_rows(path)) == 16


def test_each_fit_of_a_run_resumes_its_own_rows(tmp_path):
  log = progress.Log(tmp_path, screen=io.StringIO())
  for part in ('probe', 'model', 'model'):  # the last one was interrupted
    log.resume(0, part)
    log.row(step=1, split='valid', loss=0.5)
    log.row(step=2, split='valid', loss=0.4)
  log.close()
  rows = artefacts.read_rows(tmp_path / 'metrics.jsonl')
  wanted = [('probe', 1), ('probe', 2), ('model', 1), ('model', 2)]
  assert [(r['part'], r['step']) for r in rows] == wanted
  names = {p.name for p in (tmp_path / 'tensorboard').iterdir()}
  assert names == {'probe', 'model'}


def test_a_new_run_starts_an_empty_file(tmp_path):
  write_run(tmp_path, [0, 1])
  write_run(tmp_path, [3])
  rows = artefacts.read_rows(tmp_path / 'metrics.jsonl')
  assert [r['step'] for r in rows] == [3, 3]


def test_rows_are_valid_json_even_for_nan(tmp_path):
  with progress.Log(tmp_path, screen=io.StringIO()) as log:
    log.row(step=1, split='valid', loss=float('nan'), name='a "b"')
  text = (tmp_path / 'metrics.jsonl').read_text()
  found = json.loads(text, parse_constant=lambda _: pytest.fail('NaN'))
  assert found['loss'] is None and found['name'] == 'a "b"'


def test_a_broken_row_in_the_middle_is_named(tmp_path):
  path = tmp_path / 'metrics.jsonl'
  path.write_text('{"step": 1}\n{"st\n{"step": 3}\n')
  with pytest.raises(UserError, match='row 2'):
    artefacts.read_rows(path)


def test_events_hold_the_rows(tmp_path):
  from tensorboardX.proto import event_pb2

  grain = pytest.importorskip('grain')
  write_run(tmp_path, [1, 2])
  (path,) = (tmp_path / 'tensorboard').iterdir()
  source = grain.experimental.TFRecordIterDataset(str(path))
  events = [event_pb2.Event.FromString(record) for record in source]
  found = {
    (e.step, v.tag): v.simple_value for e in events for v in e.summary.value
  }
  assert found[2, 'valid/loss/seed_1'] == pytest.approx(1 / 4)
  assert found[1, 'valid/auc/seed_0'] == 0.5
  assert len(found) == 8


def test_lines_go_to_the_file_and_the_screen(tmp_path):
  screen = io.StringIO()
  with progress.Log(tmp_path, screen=screen) as log:
    log.line('a fact')
    log.evaluated(1200, {'loss': 0.51234, 'auc': 0.8})
  said = screen.getvalue().splitlines()
  assert said == ['a fact', 'step 1,200 · loss 0.5123 · auc 0.8']
  kept = (tmp_path / 'log.txt').read_text().splitlines()
  assert [line.split('  ', 1)[1] for line in kept] == said


def test_what_is_undefined_is_neither_said_nor_warned_of(tmp_path, caplog):
  screen = io.StringIO()
  with progress.Log(tmp_path, screen=screen) as log:
    log.row(step=1, split='valid', seed=0, loss=0.5, changed_loss=np.nan)
    log.evaluated(1, {'loss': 0.5, 'changed_loss': np.nan})
  assert screen.getvalue() == 'step 1 · loss 0.5\n'
  assert not caplog.records
  assert artefacts.read_rows(tmp_path / 'metrics.jsonl')[0]['loss'] == 0.5


def test_off_a_terminal_nothing_is_drawn_nor_looked_at(tmp_path):
  screen = io.StringIO()
  with progress.Log(tmp_path, screen=screen) as log:
    with log.progress(10, 0, 4) as live:
      for step in range(1, 11):
        live.update(step, tokens=9, loss=lambda: pytest.fail('looked at'))
      log.evaluated(10, {'loss': 0.5})
    for _ in announce.rounds(range(3), 3, 'predicting'):
      pass
  (line,) = screen.getvalue().splitlines()
  assert line.startswith('step 10 · loss 0.5 · ') and 'examples/s' in line


def test_the_live_line_on_a_real_terminal(tmp_path, monkeypatch):
  monkeypatch.setenv('TERM', 'xterm')
  monkeypatch.setenv('COLUMNS', '200')
  ours, theirs = os.openpty()
  now = [100.0]
  with os.fdopen(theirs, 'w') as screen:
    with progress.Log(tmp_path, screen=screen) as log:
      with log.progress(100, 0, 8) as live:
        live.clock = lambda: now[0]
        live.began = (100.0, 0)
        live.past[0] = (100.0, 0, 0)
        for step in range(1, 21):
          now[0] += 0.0625
          live.update(step, tokens=50, loss=lambda: 0.25)
        log.line('a fact')
      with log.progress(3, what='predicting') as live:
        for i in range(3):
          live.update(i + 1)
      assert log.live == []
    screen.flush()
    text = ''
    while 'predicting 3/3' not in text:
      text += os.read(ours, 100_000).decode()
  os.close(ours)
  draws = [d.strip() for d in text.split('\r') if d.strip()]
  last = next(d for d in reversed(draws) if d.startswith('step'))
  assert last == (
    'step 17/100 · 128 examples/s · 800 tokens/s · loss 0.25 · 6 s left'
  )
  # At most one drawing in 0.2 s: of 20 steps in 1.25 s, the 1st, 5th, 9th ….
  assert sum(d.startswith('step') for d in draws) == 5
  assert 'a fact' in draws  # on a line of its own
  assert any(d.startswith('predicting 3/3') for d in draws)


def test_other_processes_are_silent(tmp_path):
  screen = io.StringIO()
  with progress.Log(tmp_path / 'run', screen=screen, main=False) as log:
    log.resume(0)
    log.row(step=1, split='valid', loss=1.0)
    log.line('a fact')
    log.evaluated(1, {'loss': 1.0})
  assert screen.getvalue() == '' and not (tmp_path / 'run').exists()


def test_wandb_missing_is_one_sentence(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, 'wandb', None)
  with pytest.raises(UserError, match=r'fairjax\[wandb\]'):
    progress.Log(tmp_path, Config(wandb='project'))


def test_mlflow_missing_is_one_sentence(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, 'mlflow', None)
  with pytest.raises(UserError, match=r'fairjax\[mlflow\]'):
    progress.Log(tmp_path, Config(mlflow='experiment'))


def test_mlflow_has_the_rows_of_metrics_jsonl(tmp_path, monkeypatch):
  mlflow = pytest.importorskip('mlflow', reason='mlflow-skinny is absent')
  url = f'sqlite:///{tmp_path}/kept.db'
  if importlib.util.find_spec('sqlalchemy') is None:
    url = (tmp_path / 'kept').as_uri()  # mlflow-skinny alone has files
  monkeypatch.setenv('MLFLOW_ALLOW_FILE_STORE', 'true')
  monkeypatch.setenv('MLFLOW_TRACKING_URI', url)
  options, said = Config(mlflow='tweets'), io.StringIO()
  with progress.Log(tmp_path / 'run', options, screen=said) as log:
    log.row(step=1, split='valid', loss=0.5, seed=3)
  with (
    pytest.raises(KeyboardInterrupt),
    progress.Log(tmp_path / 'run', options, screen=said) as log,
  ):
    log.row(step=2, split='valid', loss=0.25, **{'a=b': 1.0})
    raise KeyboardInterrupt
  client = mlflow.MlflowClient(url)
  (run,) = client.search_runs(
    [client.get_experiment_by_name('tweets').experiment_id]
  )
  assert run.info.run_name == 'run' and run.info.status == 'FAILED'
  last = {'valid/loss seed 3': 0.5, 'valid/loss': 0.25, 'valid/a_b': 1.0}
  assert run.data.metrics == last
  (kept,) = client.get_metric_history(run.info.run_id, 'valid/loss')
  assert (kept.step, kept.value) == (2, 0.25)


@contextlib.contextmanager
def by_hand(folder, screen, total):
  """A live line of steps of four examples, whose clock [seconds] is set."""
  now = [0.0]
  with progress.Log(folder, screen=screen) as log:
    with log.progress(total, 0, 4) as live:
      live.clock = lambda: now[0]
      live.began, live.drawn = (0.0, 0), 0.0
      live.past[0] = live.last = (0.0, 0, 0)
      yield live, now


def test_without_a_terminal_a_line_is_said_each_minute(tmp_path):
  """Steps of 10 s: the first, and after each minute from then on.

  An audit of less than a minute said nothing.
  """
  screen = io.StringIO()
  with by_hand(tmp_path, screen, 20) as (live, now):
    for step in range(1, 21):
      now[0] += 10.0
      live.say('compiling')  # is for terminals
      live.update(step, tokens=9, lr=lambda: 1e-3, loss=lambda: 0.5)
  said = screen.getvalue().splitlines()
  steps = [line.split(' · ')[0] for line in said]
  assert steps == [f'step {k}/20' for k in (1, 7, 13, 19)]
  assert said[1].endswith('lr 0.001 · loss 0.5 · 2 min 10 s left')


def test_a_terminal_says_that_a_program_compiles(tmp_path, monkeypatch):
  monkeypatch.setenv('TERM', 'xterm')
  monkeypatch.setenv('COLUMNS', '200')
  ours, theirs = os.openpty()
  with os.fdopen(theirs, 'w') as screen:
    with progress.Log(tmp_path, screen=screen) as log:
      with log.progress(9) as live:
        live.say('compiling')
        text = os.read(ours, 1000).decode()
  os.close(ours)
  assert text.strip() == 'step 0/9 · compiling'


def test_a_log_closes_on_every_path(tmp_path, monkeypatch):
  """Files, the folder's lock and wandb, which learns that the run failed."""
  ended = []
  run = types.SimpleNamespace(finish=lambda exit_code: ended.append(exit_code))
  run.log = lambda scalars: None
  monkeypatch.setattr(progress, 'open_wandb', lambda *_: run)
  options = Config(wandb='project')
  for error in (None, UserError('x'), KeyboardInterrupt()):
    try:
      with progress.Log(tmp_path, options, screen=io.StringIO()) as log:
        log.row(step=1, split='valid')
        files = log.rows, log.text
        if error:
          raise error
    except (UserError, KeyboardInterrupt):
      pass
    assert all(file.closed for file in files)
    assert not progress.lock.held
  assert ended == [0, 1, 1]


def test_a_full_disk_under_the_log_is_a_sentence(tmp_path, monkeypatch):
  """And no traceback of a thread behind it: trials 594 and 847."""
  record_writer = pytest.importorskip('tensorboardX.record_writer')
  (tmp_path / 'log.txt').symlink_to(FULL)
  with (
    progress.Log(tmp_path, screen=io.StringIO()) as log,
    pytest.raises(UserError, match=r'log.txt: No space left .*run again'),
  ):
    log.line('a fact')

  full, told = tmp_path / 'run' / 'tensorboard', []  # by other threads, too
  monkeypatch.setattr(record_writer, 'open_file', lambda _: open(FULL, 'wb'))
  monkeypatch.setattr(threading, 'excepthook', told.append)
  with progress.Log(tmp_path / 'run', screen=io.StringIO()) as log:
    log.row(step=1, split='valid', loss=0.5)
    with pytest.raises(UserError, match=f'{full}: No space left .*; free'):
      log.evaluated(1, {})
  assert not told and not [*full.iterdir()]
  full.rmdir()
  full.write_text('')
  with progress.Log(tmp_path / 'run', screen=io.StringIO()) as log:
    with pytest.raises(UserError, match=f'cannot write {full}: .*exists'):
      log.resume(0)


def test_a_loop_inside_another_says_where_both_are(tmp_path, monkeypatch):
  monkeypatch.setattr(progress, 'TELL', 0.0)
  (tmp_path / 'texts').mkdir()
  for name in 'abc':
    (tmp_path / 'texts' / f'{name}.txt').write_text('one\n')

  def work(source, target):
    for _ in announce.rounds(range(2), 2, 'rows'):
      pass
    target.write_text(source.read_text())
    return {'rows': 1}

  screen = io.StringIO()
  with progress.Log(tmp_path / 'run', screen=screen):
    names = shard_map.find_shards(tmp_path / 'texts')
    rows = shard_map.shard_map(
      work, tmp_path / 'texts', names, tmp_path / 'out', workers=1
    )
  assert [row['status'] for row in rows] == ['made'] * 3
  said = [line.split(' · ') for line in screen.getvalue().splitlines()]
  assert said[1][:2] == ['shards 0/3', 'rows 2/2']
  assert said[2][0] == 'shards 1/3' and said[2][1].endswith('left')
  assert said[-1][0] == 'shards 3/3'


def test_the_seconds_of_a_run_are_those_of_all_its_parts(tmp_path, monkeypatch):
  path, clock = tmp_path / 'versions.json', [100.0]
  artefacts.write_json(path, {'seconds': 5.0, 'jax': '0'})
  monkeypatch.setattr(progress.time, 'monotonic', lambda: clock[0])

  def run(saves, ends):
    with progress.Log(tmp_path, screen=io.StringIO()) as log:
      clock[0] += 60
      if saves:
        log.spent()
        assert artefacts.read_json(path)['seconds'] == before + 60
      clock[0] += 7
      if ends:
        raise ends

  for saves in (True, False):
    for ends in (KeyboardInterrupt, UserError('stopped'), None):
      before = artefacts.read_json(path)['seconds']
      with contextlib.suppress(KeyboardInterrupt, UserError):
        run(saves, ends)
      clock[0] += 1000  # nobody runs
      assert artefacts.read_json(path) == {'seconds': before + 67, 'jax': '0'}
