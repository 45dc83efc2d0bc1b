"""The cache is never fatal: without it a run goes on, and says so once."""

import os
import pathlib

import jax
import numpy as np
import pytest

from fairjax.core import artefacts, cache
from fairjax.data.batching import tokens
from fairjax.data.corpora import texts
from fairjax.train import mesh

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def forget():
  """Each test is a process of its own to the cache."""
  cache.say.cache_clear()
  yield
  cache.say.cache_clear()


def a_file(folder, patch):
  (folder / 'file').write_text('x')
  patch.setenv('FAIRJAX_CACHE', str(folder / 'file'))


def below_a_file(folder, patch):
  (folder / 'file').write_text('x')
  patch.setenv('FAIRJAX_CACHE', str(folder / 'file' / 'cache'))


def no_home(folder, patch):
  patch.delenv('FAIRJAX_CACHE', raising=False)
  patch.setenv('HOME', '/dev/null')


def writable(folder, patch):
  (folder / 'open').mkdir()
  (folder / 'open').chmod(0o777)
  patch.setenv('FAIRJAX_CACHE', str(folder / 'open'))


def a_room_that_is_writable(folder, patch):
  for room in ('xla', 'tokens', 'pretrain', 'columns'):
    (folder / room).mkdir()
    (folder / room).chmod(0o775)
  patch.setenv('FAIRJAX_CACHE', str(folder))


def another_owner(folder, patch):
  patch.setenv('FAIRJAX_CACHE', str(folder))
  patch.setattr(os, 'geteuid', lambda: 12345)
  real = pathlib.Path.stat

  def other(path, **options):
    facts = list(real(path, **options))
    facts[4] = 54321
    return os.stat_result(facts)

  patch.setattr(pathlib.Path, 'stat', other)


def full(folder, patch):
  patch.setenv('FAIRJAX_CACHE', str(folder))
  patch.setattr(cache, 'ROOM', 2**80)


TROUBLES = {
  a_file: 'cannot be written',
  below_a_file: 'cannot be written',
  no_home: 'cannot be written',
  writable: 'others may write',
  a_room_that_is_writable: 'others may write',
  another_owner: 'somebody else',
  full: 'is full',
}


@pytest.mark.parametrize('trouble', TROUBLES, ids=lambda f: f.__name__)
def test_a_run_goes_on_without(trouble, tmp_path, monkeypatch, capsys):
  trouble(tmp_path, monkeypatch)
  for room in ('tokens', 'xla', 'tokens'):
    assert cache.subfolder(room) is None
    place = cache.folder(room)
    assert tmp_path not in place.parents
  made = cache.stage(
    'columns', 'a.json', 'x', lambda p: artefacts.write_json(p, 5), read_json
  )
  assert made == 5
  said = capsys.readouterr().err.splitlines()
  assert TROUBLES[trouble] in said[0] and 'FAIRJAX_CACHE' in said[0]
  rooms = 3 if trouble is a_room_that_is_writable else 1
  assert len(said) == rooms  # each reason once


read_json = artefacts.read_json


def test_a_good_cache_is_used_in_silence(tmp_path, monkeypatch, capsys):
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path / 'new' / 'cache'))
  for room in ('xla', 'tokens'):
    place = cache.subfolder(room)
    assert place == cache.folder(room) == tmp_path / 'new' / 'cache' / room
    assert place.stat().st_mode & 0o777 == 0o700
  assert not capsys.readouterr().err


def test_a_disk_that_fills_up_later(tmp_path, monkeypatch, capsys, corpus):
  """The first file fails; what is kept is then made in a passing folder."""
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path))
  real = artefacts.atomic

  def atomic(path):
    if tmp_path in pathlib.Path(path).parents:
      raise artefacts.cannot_write(path, OSError(28, 'No space left'))
    return real(path)

  monkeypatch.setattr(artefacts, 'atomic', atomic)
  source = texts.find(str(corpus), 'text', True)
  tokenizer = texts.learn_tokenizer(source, 120, 0.1, 0)
  assert len(texts.store(source, tokenizer).flat)
  kept = tokens.cached_encode(tokenizer, ['a b'], 8, cache=tmp_path)
  bare = tokens.cached_encode(tokenizer, ['a b'], 8, cache=None)
  np.testing.assert_array_equal(kept.flat, bare.flat)
  said = capsys.readouterr().err
  assert 'No space left' in said and '--workdir' not in said


@pytest.mark.parametrize('own', [False, True])
def test_programs_are_not_kept_where_others_may_write(
  own, tmp_path, monkeypatch, capsys
):
  """Neither in our cache nor where jax was told to keep them."""
  before = jax.config.jax_compilation_cache_dir
  tmp_path.chmod(0o777)
  monkeypatch.setenv('FAIRJAX_CACHE', str(tmp_path))
  try:
    told = str(tmp_path) if own else None
    jax.config.update('jax_compilation_cache_dir', told)
    mesh.keep_programs()
    assert jax.config.jax_compilation_cache_dir is None
    assert 'others may write' in capsys.readouterr().err
    tmp_path.chmod(0o700)
    jax.config.update('jax_compilation_cache_dir', told)
    mesh.keep_programs()
    place = tmp_path if own else tmp_path / 'xla'
    assert jax.config.jax_compilation_cache_dir == str(place)
  finally:
    jax.config.update('jax_compilation_cache_dir', before)


def test_nobody_else_knows_the_folder():
  package = ROOT / 'fairjax'
  others = [
    str(path)
    for path in package.rglob('*.py')
    if path.relative_to(package).parts[0] != 'bench'
    and path.name != 'cache.py'
    and 'FAIRJAX_CACHE' in path.read_text(encoding='utf-8')
  ]
  assert not others
