"""Inputs of strangers, mutated by seed: none a traceback, a hang, or silent.

Every reader gets a good file whose bytes, values or structure were changed:

    python tests/test_mutated_inputs.py 2000 [SEED]

prints what came of as many, and ends with 1 where one was no sentence.
"""

import collections
import json
import pathlib
import pickle
import sys
import tempfile
import zipfile

import numpy as np
import pytest

from fairjax import results
from fairjax.core import artefacts, strict_json
from fairjax.data.corpora import shards, texts
from fairjax.data.tables import files, readers
from fairjax.models.folders import torch_bin, weight_files
from fairjax.pairs.swapping import swap_eval

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from test_mutations import damaged, outcome

ODD = (
  *(None, True, -1, 1.5, 10**40, 1e999, '', ' ', '\0', 'x' * 5000, [], {}),
  *([[]], {'': None}, {'a': {'a': {}}}, '\u202e', 'NaN', [1, 'a', None]),
)


def pick(options, rng):
  return options[int(rng.integers(len(options)))]


def mutated(value, rng):
  """A JSON value with one part lost, exchanged, doubled or nested deeper."""
  if isinstance(value, dict) and value and rng.random() < 0.8:
    key = pick(list(value), rng)
    out = dict(value)
    style = rng.integers(5)
    if style == 0:
      del out[key]
    elif style == 1:
      out[pick(('', 'x' * 300, key.upper(), '\0'), rng)] = out.pop(key)
    else:
      out[key] = mutated(out[key], rng)
    return out
  if isinstance(value, list) and value and rng.random() < 0.8:
    at = int(rng.integers(len(value)))
    style = rng.integers(4)
    if style == 0:
      return value[:at] + value[at + 1 :]
    if style == 1:
      return [*value, value[at]]
    return [*value[:at], mutated(value[at], rng), *value[at + 1 :]]
  if rng.random() < 0.1:
    for _ in range(int(pick((3, 90, 400), rng))):
      value = [value]
    return value
  return pick(ODD, rng)


def spelled(value, rng) -> bytes:
  """As JSON; sometimes with a key twice, or deeper than any stack."""
  text = json.dumps(value)
  style = rng.random()
  if style < 0.05:
    text = text.replace('{', '{"text": 1, "text": 2, ', 1)
  elif style < 0.1:
    text = text.replace('1', '[' * 100_000 + ']' * 100_000, 1)
  raw = text.encode()
  return damaged(raw, rng) if rng.random() < 0.4 else raw


ROWS = [
  {'text': f'he said {i}', 'label': i % 2, 'g': 'ab'[i % 2]} for i in range(9)
]
RESULTS = results.plain(
  results.Results(
    data='d',
    recipe='train',
    model='m',
    seeds=[0],
    contenders={
      'none': {
        'sets': {
          'test': {
            'rows': 9,
            'quality': {'auc': {'value': 0.5, 'low': 0.4, 'high': 0.6}},
            'fairness': {'dp': {'value': 0.1}},
            'groups': {'a': {'rows': 4, 'fpr': {'value': 0.1}}},
            'warnings': ['w'],
          }
        }
      }
    },
  )
)
GECO = [
  {'sentence_idx': k, 'gender': g, 'sentence': ['a', w], 'ground_truth': [0, 1]}
  for k in range(3)
  for g, w in (('male', 'man'), ('female', 'woman'))
]


def as_lines(rows, rng) -> bytes:
  return b'\n'.join(spelled(row, rng) for row in rows)


def json_rows(folder, rng):
  path = folder / 'a.json'
  path.write_bytes(spelled(mutated(ROWS, rng), rng))
  return lambda: files.read(str(path))


def jsonl_rows(folder, rng):
  path = folder / 'a.jsonl'
  path.write_bytes(as_lines([ROWS[0], mutated(ROWS[1], rng)], rng))
  return lambda: files.read(str(path))


def jsonl_shard(folder, rng):
  lines = as_lines([ROWS[0], mutated(ROWS[1], rng)], rng)
  block = lines.decode(errors='replace').split('\n')
  return lambda: shards._parsed('a.jsonl', block, 'text', 0)


def run_results(folder, rng):
  (folder / 'results.json').write_bytes(spelled(mutated(RESULTS, rng), rng))
  return lambda: results.read(folder)


def settings(folder, rng):
  good = {'model_type': 'bert', 'hidden_size': 8, 'id2label': {'0': 'a'}}
  path = folder / 'config.json'
  path.write_bytes(spelled(mutated(good, rng), rng))
  return lambda: weight_files.read_json(path)


def geco(folder, rng):
  path = folder / 'binary_gender_all_train.jsonl'
  path.write_bytes(spelled(mutated(GECO, rng), rng))
  return lambda: swap_eval.geco(folder)


def geco_of_rows(folder, rng):
  rows = [dict(row) for row in GECO]
  at = int(rng.integers(len(rows)))
  rows[at] = mutated(rows[at], rng)
  path = folder / 'binary_gender_all_train.jsonl'
  path.write_bytes(as_lines(rows, rng))
  return lambda: swap_eval.geco(folder)


def torch_weights(folder, rng):
  path = folder / 'pytorch_model.bin'
  program = damaged(pickle.dumps({'a': [1, ('b', {'c': 2})]}, 2), rng)
  if rng.random() < 0.5:
    with zipfile.ZipFile(path, 'w') as archive:
      archive.writestr('archive/data.pkl', program)
      archive.writestr('archive/data/0', bytes(64))
    path.write_bytes(damaged(path.read_bytes(), rng))
  else:
    head = [0x1950A86A20F9469CFC6C, 1001, {}]
    path.write_bytes(b''.join(pickle.dumps(v, 2) for v in head) + program)
  return lambda: torch_bin.read(path)


def plain_text(folder, rng):
  path = folder / 'a.txt'
  path.write_bytes(damaged(b'one\n\ntwo \xe2\x82\xac\n' * 9, rng))
  return lambda: readers.lines(str(path))


def corpus(folder, rng):
  (folder / 'c.txt').write_bytes(damaged(b'one two.\n\nthree four.\n' * 9, rng))
  return lambda: list(
    texts.documents(texts.find(str(folder / 'c.txt'), 'text', True), {})
  )


def seal(folder, rng):
  path = folder / 'seal.json'
  path.write_bytes(spelled(mutated({'made_from': 'x', 'files': {}}, rng), rng))
  return lambda: artefacts.sealed(folder / 'x', 'x', path)


READERS = (
  *(json_rows, jsonl_rows, jsonl_shard, run_results, settings, geco),
  *(geco_of_rows, torch_weights, plain_text, corpus, seal),
)


def tried(count: int, seed: int, folder: pathlib.Path) -> dict[str, str]:
  found = {}
  for k in range(count):
    rng = np.random.default_rng([seed, 32, k])
    make = READERS[k % len(READERS)]
    with tempfile.TemporaryDirectory(dir=folder) as place:
      found[f'{k} {make.__name__}'] = outcome(make(pathlib.Path(place), rng))
  return found


def test_two_hundred(tmp_path):
  found = tried(200, 0, tmp_path)
  faults = {k: v for k, v in found.items() if v not in ('fine', 'told')}
  assert not faults
  counts = collections.Counter(found.values())
  assert counts['told'] > 60 and counts['fine'] > 20


def test_the_depth_that_is_tried_is_beyond_the_bound():
  with pytest.raises(ValueError):
    strict_json.parse('[' * 400 + ']' * 400)


if __name__ == '__main__':
  asked = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
  with tempfile.TemporaryDirectory() as scratch:
    result = tried(*asked, pathlib.Path(scratch))
  wrong = {k: v for k, v in result.items() if v not in ('fine', 'told')}
  for name, fault in wrong.items():
    print(f'{name}: {fault}')
  print(dict(collections.Counter(result.values())))
  sys.exit(bool(wrong))
