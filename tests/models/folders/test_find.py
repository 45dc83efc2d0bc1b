"""A model that is not there: near names, and whether the hub was asked."""

import time

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
  assert time.monotonic() - start < 5
