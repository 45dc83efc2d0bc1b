"""What goes wrong around a fit: damage, a full disk, rivals, NaN, Ctrl-C."""

import ast
import contextlib
import gc
import importlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import types

import numpy as np
import pytest
import small
from test_loop import STEADY, assert_same, config, diverging, fit

from fairjax import main
from fairjax.config import Config
from fairjax.core import artefacts, lock
from fairjax.core.errors import Interrupted, UserError
from fairjax.stages import runs
from fairjax.train import checkpoint, progress, watch

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
  return fit(tmp_path_factory.mktemp('whole'))


@pytest.fixture(scope='module')
def cut(tmp_path_factory):
  """The folder of a fit that was stopped after step 10, saved at 8 and 10."""
  folder = tmp_path_factory.mktemp('cut')
  with small.stopped(10):
    fit(folder)
  return folder


def flip(path: pathlib.Path) -> None:
  data = bytearray(path.read_bytes())
  data[len(data) // 2] ^= 4
  path.write_bytes(bytes(data))


def largest(folder: pathlib.Path) -> pathlib.Path:
  files = [p for p in folder.rglob('*') if p.is_file()]
  return max(files, key=lambda p: p.stat().st_size)


DAMAGE = {
  'flipped': lambda folder: flip(largest(folder / 'state/ocdbt.process_0')),
  'cut': lambda folder: os.truncate(largest(folder), 20),
  'notes': lambda folder: flip(folder / 'meta/metadata'),
  'gone': lambda folder: shutil.rmtree(folder / 'state'),
}


@pytest.mark.parametrize('kind', DAMAGE)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(
  whole, cut, tmp_path, kind
):
  """The run ends on the same bits, and says what it met."""
  folder = tmp_path / 'run'
  shutil.copytree(cut, folder)
  DAMAGE[kind](folder / 'checkpoints' / '10')
  again = fit(folder, main=True)
  assert_same(again.params, whole.params)
  assert again.history == whole.history
  said = (folder / 'log.txt').read_text()
  assert 'checkpoints/10 cannot be read' in said


def test_without_a_readable_checkpoint_it_starts_anew(whole, cut, tmp_path):
  folder = tmp_path / 'run'
  shutil.copytree(cut, folder)
  for step in ('8', '10'):
    (folder / 'checkpoints' / step / 'meta/metadata').write_text('{}')
  again = fit(folder, main=True)
  assert_same(again.params, whole.params)
  assert (folder / 'log.txt').read_text().count('cannot be read') == 2


def test_a_full_disk_is_a_sentence_and_loses_nothing(
  whole, tmp_path, monkeypatch
):
  """Full from step 8 on: the checkpoint of step 4 stays and is gone on from."""
  real, calls = shutil.disk_usage, []

  def usage(path):
    calls.append(path)
    return real(path)._replace(free=10 if len(calls) > 2 else 10**9)

  monkeypatch.setattr(shutil, 'disk_usage', usage)
  with pytest.raises(UserError, match='no space left on device; free some'):
    fit(tmp_path)
  assert [p.name for p in (tmp_path / 'checkpoints').iterdir()] == ['4']
  monkeypatch.setattr(shutil, 'disk_usage', real)
  assert_same(fit(tmp_path).params, whole.params)


def test_too_little_room_is_told_before_training(tmp_path, monkeypatch):
  free = shutil.disk_usage(tmp_path)._replace(free=50_000)
  monkeypatch.setattr(shutil, 'disk_usage', lambda path: free)
  with pytest.raises(UserError, match=r'3 checkpoints of .* are free'):
    fit(tmp_path)


def test_the_first_loss_that_is_no_number_stops(tmp_path):
  """Seed 4 alone diverges, at its third step; what was saved stays good."""
  told = r'loss of seed 4 is not .* step [45] .*lr 0.005.*train.lr'
  with pytest.raises(UserError, match=told):
    fit(tmp_path, config(**STEADY), **diverging(-0.015))
  # What was saved before is finite, so a smaller rate is all it takes.
  assert not (tmp_path / 'checkpoints' / '8').exists()


def test_save_every_zero_saves_nothing_by_itself(whole, tmp_path):
  fitted = fit(tmp_path, config(save_every=0))
  assert_same(fitted.params, whole.params)
  assert not list((tmp_path / 'checkpoints').iterdir())


def test_a_second_interrupt_stops_at_once():
  """Here while nothing looks at what was asked."""
  code = """
import signal, time
from fairjax.train import watch
# As in a terminal; a shell's job in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
with watch.Stop() as stop:
  print('ready', flush=True)
  end = time.monotonic() + 60
  while time.monotonic() < end:
    time.sleep(0.01)
"""
  run = subprocess.Popen(
    [sys.executable, '-c', code],
    cwd=ROOT,
    env=os.environ | {'JAX_PLATFORMS': 'cpu'},
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
  )
  assert run.stdout.readline() == b'ready\n'
  run.send_signal(signal.SIGINT)
  line = run.stderr.readline() + run.stderr.readline()
  assert b'Ctrl-C again stops at once' in line
  assert run.poll() is None
  run.send_signal(signal.SIGINT)
  assert run.wait(timeout=5) == -signal.SIGINT
  run.stdout.close()
  assert b'Traceback' not in run.stderr.read()
  run.stderr.close()


@contextlib.contextmanager
def ended():
  """Interrupted is raised, and a stop that was heard is not said again."""
  try:
    with pytest.raises(Interrupted, match='run again to go on') as kept:
      yield
  finally:
    main.alarm(0)
  assert kept


def test_a_terminal_that_goes_asks_to_stop_but_under_nohup(asked):
  signal.signal(signal.SIGHUP, signal.SIG_IGN)
  main.stop_when_asked()
  with watch.Stop() as stop:
    signal.raise_signal(signal.SIGHUP)
    assert not stop.asked
  signal.signal(signal.SIGHUP, signal.SIG_DFL)
  main.stop_when_asked()
  with watch.Stop() as stop:
    signal.raise_signal(signal.SIGHUP)
    assert stop.asked
  with ended():
    signal.raise_signal(signal.SIGHUP)
  assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


HOLD = """
import sys, time
from fairjax.core import artefacts, lock
with lock.hold(sys.argv[1]):
  print('held', flush=True)
  time.sleep(60)
"""


def test_a_second_process_is_told_who_works_in_the_folder(tmp_path):
  other = subprocess.Popen(
    [sys.executable, '-c', HOLD, str(tmp_path)],
    cwd=ROOT,
    stdout=subprocess.PIPE,
  )
  assert other.stdout.readline() == b'held\n'
  who = rf'in use by process {other.pid} on \S+ since \d{{4}}-'
  with pytest.raises(UserError, match=who):
    fit(tmp_path)
  other.kill()  # a dead process is in nobody's way
  other.wait()
  other.stdout.close()
  with lock.hold(tmp_path), lock.hold(tmp_path):  # and one's own folder is free
    assert str(os.getpid()) in (tmp_path / '.owner').read_text()
  assert not lock.held and not (tmp_path / '.owner').exists()


@pytest.mark.parametrize('number', lock.NO_LOCKS)
def test_a_folder_without_locks_is_worked_in_all_the_same(
  tmp_path, monkeypatch, number
):
  fcntl = pytest.importorskip('fcntl')  # Windows has another

  def no_locks(file, how):
    raise OSError(number, os.strerror(number))

  monkeypatch.setattr(fcntl, 'flock', no_locks)
  for _ in range(2):  # and nothing stays that would keep the next one out
    with lock.hold(tmp_path), lock.hold(tmp_path):
      pass


def test_no_module_needs_what_windows_has_not():
  """fcntl, resource, termios, pwd and grp are imported where they are used."""
  unix = {'fcntl', 'resource', 'termios', 'pwd', 'grp'}
  for path in (ROOT / 'fairjax').rglob('*.py'):
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
      if isinstance(node, ast.Import | ast.ImportFrom):
        names = {alias.name for alias in node.names}
        names.add(getattr(node, 'module', ''))
        assert not unix & names, path


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
  (tmp_path / 'file').write_text('')
  with (
    pytest.raises(UserError, match=r'cannot write in .*--workdir'),
    lock.hold(tmp_path / 'file' / 'run'),
  ):
    pass


def test_weights_that_were_cut_off_are_a_sentence(tmp_path):
  path = tmp_path / 'weights.safetensors'
  checkpoint.write_weights(path, {'a': {'kernel': np.ones((4, 4))}})
  (plain := tmp_path / 'plain').touch()  # others may read what others could
  assert path.stat().st_mode == plain.stat().st_mode
  os.truncate(path, 40)
  with pytest.raises(UserError, match='not a readable safetensors file'):
    checkpoint.read_weights(path)


def test_a_log_that_is_a_pipe_is_told(tmp_path):
  """It was waited for."""
  os.mkfifo(tmp_path / 'log.txt')
  with pytest.raises(UserError, match='is a pipe or a device'):
    progress.Log(tmp_path)


def test_what_is_written_counts_as_room(tmp_path):
  (tmp_path / 'checkpoints' / '4').mkdir(parents=True)
  (tmp_path / 'checkpoints' / '4' / 'a').write_bytes(b'12345')
  assert checkpoint.held(tmp_path) == 5


@pytest.fixture
def asked():
  """A process that ends as a run does, for the time of a test."""
  numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
  before = [signal.getsignal(number) for number in numbers]
  hook = sys.unraisablehook
  main.stop_when_asked()
  yield
  sys.unraisablehook = hook
  for number, handler in zip(numbers, before):
    signal.signal(number, handler)


def test_a_stop_waits_for_an_import(asked, tmp_path, monkeypatch):
  """An exception in the import of an extension would abort the process."""
  (tmp_path / 'asks_to_stop.py').write_text(
    'import signal\nsignal.raise_signal(signal.SIGTERM)\n'
  )
  monkeypatch.syspath_prepend(str(tmp_path))
  with ended():
    importlib.import_module('asks_to_stop')
    time.sleep(5)
  assert sys.modules.pop('asks_to_stop')


def test_a_stop_that_somebody_takes_is_said_again(asked):
  with contextlib.suppress(BaseException):
    signal.raise_signal(signal.SIGTERM)
  with ended():
    time.sleep(5)


def test_a_stop_where_nothing_can_be_raised_shows_no_traceback(asked, capsys):
  """As in a callback of gc, where jax has one, or in __del__."""

  def once(phase, info):
    gc.callbacks.remove(once)
    signal.raise_signal(signal.SIGTERM)

  gc.collect()  # what other tests left may speak as it goes
  capsys.readouterr()
  gc.callbacks.append(once)
  with ended():
    gc.collect()
    time.sleep(5)
  assert 'Traceback' not in capsys.readouterr().err


def test_ctrl_c_where_nothing_can_be_raised_comes_again(asked):
  with pytest.raises(KeyboardInterrupt):
    sys.unraisablehook(types.SimpleNamespace(exc_value=KeyboardInterrupt()))
    time.sleep(5)


def test_a_stop_on_its_way_is_not_disturbed(asked):
  """What ends in a `finally` has the time that it needs."""
  done = []
  with ended():
    try:
      signal.raise_signal(signal.SIGTERM)
    finally:
      time.sleep(3 * main.AGAIN)
      done.append(1)
  assert done


def test_what_a_killed_process_was_writing_goes(tmp_path):
  """Its temporary files, but not those of a process that lives."""
  code = (
    'import os, sys; from fairjax.core import artefacts\n'
    'with artefacts.atomic(sys.argv[1]) as part:\n'
    '  part.write_text("x"); os.kill(os.getpid(), 9)'
  )
  path = tmp_path / 'plots' / 'a.png'
  subprocess.run([sys.executable, '-c', code, str(path)], cwd=ROOT)
  (left,) = path.parent.iterdir()
  _, host, _, *rest = left.name.split('.')
  name = lambda host, pid: left.with_name('.'.join(['', host, str(pid), *rest]))
  alive, elsewhere = name(host, os.getppid()), name('0' * 8, os.getppid())
  old, folder = name('f' * 8, os.getppid()), name(host, os.getpid())
  for file in (alive, elsewhere, old):
    file.write_text('x')
  folder.mkdir()
  os.utime(old, (0, 0))
  artefacts.sweep(tmp_path)
  assert {*path.parent.iterdir()} == {alive, elsewhere}


def test_a_file_that_cannot_be_removed_is_told(tmp_path, monkeypatch):
  """A temporary one is left for the next sweep; tests/chaos/trials.py."""

  def refused(path, **_):
    raise PermissionError(13, 'Permission denied', str(path))

  with monkeypatch.context() as patch:
    patch.setattr(os, 'unlink', refused)
    artefacts.write_text(tmp_path / 'a.txt', 'x')
    with pytest.raises(UserError, match=r'cannot write .*a\.txt'):
      artefacts.remove_file(tmp_path / 'a.txt')
  assert (tmp_path / 'a.txt').read_text() == 'x'
  (tmp_path / 'log.txt').mkdir()
  with pytest.raises(UserError, match=r'cannot write .*log\.txt'):
    progress.Log(tmp_path)


def test_an_artefact_that_cannot_be_read_back_is_told(tmp_path, monkeypatch):
  """A disk that fails between writing and sealing; trial 113 of seed 0."""

  def fails(*_):
    raise OSError(5, 'Input/output error')

  monkeypatch.setattr(artefacts, 'sha256_of', fails)
  artefacts.write_text(tmp_path / 'a.txt', 'x')
  with pytest.raises(UserError, match=r'cannot read .*Input/output'):
    artefacts.seal(tmp_path / 'a.txt', 'x')
  for name in ('config.json', 'versions.json'):  # of trial 485
    (tmp_path / name).write_bytes(b'\xff torn')
  runs.begin(Config(recipe='audit'), tmp_path)
  assert not (tmp_path / 'configs').exists()  # what is torn was no run's: 197
  monkeypatch.setattr(pathlib.Path, 'read_text', fails)  # trials 124 and 145
  with pytest.raises(UserError, match=r'cannot read .*config.json: Input/'):
    runs.keep_config(Config(), tmp_path)
