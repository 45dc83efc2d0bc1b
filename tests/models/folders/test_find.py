"""A model that is not there: near names, and whether the hub was asked."""

import shutil
import time

import huggingface_hub
import pytest

from fairjax.core.errors import UserError
from fairjax.models.folders import hub


@pytest.mark.parametrize(
  'model, parts',
  [
    ('tinny', ("'tiny'", 'offline')),
    ('lstmm', ("'lstm'",)),
    ('', ('--config.model', 'tiny')),
    ('FILE', ('is a file', 'folder')),
    ('data.csv', ('folder',)),
    ('a b/c', ('no name of a model',)),
    ('x' * 300, ('no name of a model',)),
    ('a\0b', ('no name of a model',)),
    ('~nobody-here/x', ('no name of a model',)),
    ('someone/some-model', ('offline', '--config.net.init=random')),
  ],
)
def test_what_is_no_model_is_a_sentence(model, parts, tmp_path, monkeypatch):
  monkeypatch.setattr('huggingface_hub.constants.HF_HUB_OFFLINE', True)
  monkeypatch.setenv('HF_HUB_OFFLINE', '1')
  if model == 'FILE':
    model = str(tmp_path / 'model.csv')
    (tmp_path / 'model.csv').write_text('x')
  start = time.monotonic()
  with pytest.raises(UserError) as error:
    hub.find(model)
  sentence = str(error.value)
  assert '\n' not in sentence and len(sentence) < 400
  for part in parts:
    assert part in sentence, sentence
  assert time.monotonic() - start < 60


@pytest.mark.parametrize('cached', [(), ('config.json', 'pytorch_model.bin')])
@pytest.mark.parametrize('online', [True, False])
def test_a_sentencepiece_is_fetched_too(cached, online, tmp_path, monkeypatch):
  """DeBERTa-v3s have a tokenizer in no other form; none was fetched."""
  remote, cache = tmp_path / 'hub', tmp_path / 'cache'
  remote.mkdir()
  wanted = ['config.json', 'pytorch_model.bin', 'spm.model']
  for name in (*wanted, 'rust_model.ot'):
    (remote / name).write_text(name)

  def download(model, allow_patterns, local_files_only):
    names = [one.name for one in remote.iterdir()]
    if local_files_only and not cached:
      raise FileNotFoundError(model)
    if not local_files_only and not online:
      raise ConnectionError(model)
    if local_files_only:
      names = cached
    cache.mkdir(exist_ok=True)
    chosen = huggingface_hub.utils.filter_repo_objects(
      names, allow_patterns=allow_patterns
    )
    for name in chosen:
      shutil.copy(remote / name, cache)
    return str(cache)

  monkeypatch.setattr(huggingface_hub, 'snapshot_download', download)
  if not online and not cached:
    with pytest.raises(UserError, match='offline'):
      hub.find('some/deberta-v3')
    return
  found = hub.find('some/deberta-v3')
  names = wanted if online else cached
  assert sorted(one.name for one in found.iterdir()) == sorted(names)
