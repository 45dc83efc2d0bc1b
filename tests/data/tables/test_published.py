"""Published files are known by their sha256, before anything is read."""

import hashlib

import pytest

from fairjax.config import Config, validate
from fairjax.core.errors import UserError
from fairjax.data.tables import published


def config_for(tmp_path, content=b'text,label\n'):
  path = tmp_path / 'a.csv'
  path.write_bytes(content)
  config = Config()
  config.data.name, config.data.path = 'file', str(path)
  sha256 = hashlib.sha256(b'text,label\n').hexdigest()
  config.data.sources = (f'data.path {sha256} a package of that name',)
  return config


@pytest.mark.parametrize('inside', ['', '/a.csv'])
def test_the_expected_file_passes_by_its_name_or_in_a_folder(tmp_path, inside):
  config = config_for(tmp_path)
  if inside:
    config.data.path = str(tmp_path)
  (source,) = config.data.sources
  config.data.sources = (source.replace('path', f'path{inside}', 1),)
  validate(config)
  published.check(config)


def test_a_model_s_folder_is_known_by_its_weights(tmp_path):
  (tmp_path / 'model.safetensors').write_bytes(b'weights')
  config = Config()
  config.model = str(tmp_path)
  sha256 = hashlib.sha256(b'weights').hexdigest()
  config.data.sources = (f'model {sha256} a package of that name',)
  published.check(config)
  (tmp_path / 'model.safetensors').write_bytes(b'others')
  with pytest.raises(UserError, match='is not the file that this config'):
    published.check(config)


# What is there in place of a file, its entry, and what its sentence holds.
OTHERS = {
  'nothing': ('', 'data.path', 'data.path is empty; name the file with --'),
  'no file': ('/none.csv', 'data.path', '/none.csv is not there; name the'),
  'another': ('other.csv', 'data.path', 'is not the file that this config'),
  'no inside': ('.', 'data.path/in/b.csv', r'folder that holds in/b\.csv with'),
  'a folder': ('.', 'data.path', 'folder;.*--config.data.path'),
  'no model': ('.', 'model', 'is a folder without model.*--config.model'),
}


@pytest.mark.parametrize('name', OTHERS)
def test_what_is_not_the_file_is_told_with_its_origin(
  tmp_path, monkeypatch, name
):
  path, knob, said = OTHERS[name]
  config = config_for(tmp_path)
  monkeypatch.chdir(tmp_path)
  (tmp_path / 'other.csv').write_text('text,label\nx,1\n')
  config.model = config.data.path = path
  config.data.sources = (f'{knob} {"0" * 64} a package of that name',)
  with pytest.raises(UserError, match=f'{said}.* a package of that name'):
    published.check(config)


def test_a_source_has_a_knob_a_sum_and_an_origin(tmp_path):
  config = config_for(tmp_path)
  config.data.sources = ('data.path 12ab here',)
  with pytest.raises(UserError, match='KNOB SHA256 ORIGIN'):
    validate(config)
