"""One reader of JSON: what is twice, too deep or no text is one sentence."""

import json
import pathlib
import re

import pytest

from fairjax import results
from fairjax.benchmarks.shared import forms
from fairjax.core import artefacts, strict_json
from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.models.folders import weight_files

ROOT = pathlib.Path(strict_json.__file__).parents[1]


def deep(levels: int) -> str:
  return '[' * levels + ']' * levels


@pytest.mark.parametrize(
  'text, words',
  [
    ('{"a": 1, "b": {"x": 1, "y": 2, "x": 3}}', "'x' is there twice"),
    (deep(101), 'nested deeper than 100'),
    (deep(100_000), 'nested deeper than 100'),
    ('{"a":' * 101 + '1' + '}' * 101, 'nested deeper than 100'),
    ('"\\ud83d"', "'.ud83d' is half a pair of surrogates"),
    ('[' + '9' * 5000 + ']', 'a number of over 4,300 digits'),
    ('{', 'Expecting'),
  ],
)
def test_what_is_wrong_is_said(text, words):
  with pytest.raises(ValueError, match=words):
    strict_json.parse(text)


@pytest.mark.parametrize(
  'text',
  [
    deep(100),
    '{"a": 1, "b": [1, 2.5, null, NaN], "c": {"a": "\\u00e9"}}',
    json.dumps([[k, {'x': [k]}] for k in range(200)]),
    '"' + deep(1000) + '"',
  ],
)
def test_values_are_those_of_json(text):
  assert repr(strict_json.parse(text)) == repr(json.loads(text))


BAD = {
  'twice': b'{"text": "a", "label": 1, "label": 0}',
  'deep': deep(100_000).encode(),
  'coding': b'{"text": "\xff"}',
}


@pytest.mark.parametrize('kind', BAD)
def test_every_door_tells_it_in_one_sentence(kind, tmp_path):
  for name in ('a.json', 'a.jsonl', 'results.json'):
    (tmp_path / name).write_bytes(BAD[kind])
  doors = (
    lambda: artefacts.read_json(tmp_path / 'a.json'),
    lambda: results.read(tmp_path),
    lambda: readers.read(str(tmp_path / 'a.json')),
    lambda: readers.read(str(tmp_path / 'a.jsonl')),
    lambda: forms.tree(tmp_path / 'a.json', forms.TEXT),
    lambda: weight_files.read_json(tmp_path / 'a.json'),
  )
  for door in doors:
    with pytest.raises(UserError, match=r'results\.json|a\.json') as told:
      door()
    assert '\n' not in str(told.value) and len(str(told.value)) < 400


def test_nobody_reads_json_beside_it():
  """bench/ reads what its own programs wrote."""
  own = re.compile(r'json\.loads?\(|JSONDecoder|read_json\(.*orient')
  others = [
    str(path.relative_to(ROOT))
    for path in sorted(ROOT.rglob('*.py'))
    if path.relative_to(ROOT).parts[0] != 'bench'
    and path.name != 'strict_json.py'
    and own.search(path.read_text(encoding='utf-8'))
  ]
  assert not others
