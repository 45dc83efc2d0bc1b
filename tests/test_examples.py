"""The examples in docstrings give what they say."""

import doctest
import importlib
import pathlib

import pytest

import fairjax

ROOT = pathlib.Path(fairjax.__file__).parent
WITH_EXAMPLES = [
  '.'.join(('fairjax', *path.relative_to(ROOT).with_suffix('').parts))
  for path in sorted(ROOT.rglob('*.py'))
  if '  >>> ' in path.read_text(encoding='utf-8')
]


@pytest.mark.parametrize('name', WITH_EXAMPLES)
def test_examples(name):
  result = doctest.testmod(importlib.import_module(name))
  assert result.attempted and not result.failed
