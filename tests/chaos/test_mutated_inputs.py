"""Inputs of strangers, mutated by seed: none a traceback, a hang, or silent.

Every reader and door (mutated_doors.py) gets a good file whose bytes, values or
structure were changed:

    python tests/chaos/test_mutated_inputs.py 2000 [SEED]

prints what came of as many, and ends with 1 where one was no sentence.
"""

import dataclasses
import functools
import json
import os
import pathlib
import pickle
import sys
import tempfile
import zipfile

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save as safetensors_of

from fairjax import config as c
from fairjax import results
from fairjax.core import artefacts, knobs, strict_json
from fairjax.data import gguf
from fairjax.data.batching import tokenizer_files, tokens
from fairjax.data.corpora import shards, texts
from fairjax.data.tables import answers, files, readers
from fairjax.models.folders import gguf as gguf_models
from fairjax.models.folders import hf, torch_bin, weight_files
from fairjax.pairs.swapping import swap_eval
from fairjax.stages import audited

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'data'))
import gguf_files
import mutated_doors
from mutated_doors import mutated, spelled
from test_mutations import damaged, no_fault, outcome, pick

ROWS = [
  {'text': f'he said {i}', 'label': i % 2, 'g': 'ab'[i % 2]} for i in range(9)
]
RESULTS = mutated_doors.RUN
GECO = [
  {'sentence_idx': k, 'gender': g, 'sentence': ['a', w], 'ground_truth': [0, 1]}
  for k in range(3)
  for g, w in (('male', 'man'), ('female', 'woman'))
]


def as_lines(rows, rng) -> bytes:
  return b'\n'.join(spelled(row, rng) for row in rows)


def of_tree(name, file, good, read):
  """A door of one JSON file, whose tree is changed."""

  def door(folder, rng):
    path = folder / file
    path.write_bytes(spelled(mutated(good, rng), rng))
    return lambda: read(path)

  door.__name__ = name
  return door


SETTINGS = {'model_type': 'bert', 'hidden_size': 8, 'id2label': {'0': 'a'}}
GROUPED = 'binary_gender_all_train.jsonl'
TREES = (
  of_tree('json_rows', 'a.json', ROWS, lambda path: files.read(str(path))),
  of_tree(
    *('run_results', 'results.json', RESULTS),
    lambda path: results.read(path.parent),
  ),
  of_tree('settings', 'config.json', SETTINGS, weight_files.read_json),
  of_tree('geco', GROUPED, GECO, lambda path: swap_eval.geco(path.parent)),
  of_tree(
    *('seal', 'seal.json', {'made_from': 'x', 'files': {}}),
    lambda path: artefacts.sealed(path.parent / 'x', 'x', path),
  ),
  of_tree(
    *('run_config', 'config.json', dataclasses.asdict(c.Config())),
    lambda path: knobs.of_tree(c.Config, artefacts.read_json(path), path),
  ),
)


def jsonl_rows(folder, rng):
  path = folder / 'a.jsonl'
  path.write_bytes(as_lines([ROWS[0], mutated(ROWS[1], rng)], rng))
  return lambda: files.read(str(path))


def jsonl_shard(folder, rng):
  lines = as_lines([ROWS[0], mutated(ROWS[1], rng)], rng)
  block = lines.decode(errors='replace').split('\n')
  return lambda: shards.parsed('a.jsonl', block, 'text', 0)


def geco_of_rows(folder, rng):
  rows = [dict(row) for row in GECO]
  at = int(rng.integers(len(rows)))
  rows[at] = mutated(rows[at], rng)
  path = folder / GROUPED
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


def safetensors(folder, rng):
  """A header of JSON between its length and the numbers."""
  good = safetensors_of({'a': np.ones((2, 3), np.float32), 'b': np.ones(4)})
  size = int.from_bytes(good[:8], 'little')
  head = spelled(mutated(json.loads(good[8 : 8 + size]), rng), rng)
  length = len(head) if rng.random() < 0.8 else int(rng.integers(2**63))
  path = folder / 'model.safetensors'
  path.write_bytes(length.to_bytes(8, 'little') + head + good[8 + size :])
  return lambda: weight_files.read(folder)


def shard_index(folder, rng):
  good = {'metadata': {}, 'weight_map': {'a': '1.safetensors'}}
  (folder / '1.safetensors').write_bytes(safetensors_of({'a': np.ones(3)}))
  index = folder / 'model.safetensors.index.json'
  index.write_bytes(spelled(mutated(good, rng), rng))
  return lambda: weight_files.read(folder)


@functools.cache
def a_tokenizer():
  return gguf_files.tokenizer([row['text'] for row in ROWS])


def tokenizer_json(folder, rng):
  good = json.loads(a_tokenizer()[0].to_str())
  good['model']['merges'] = good['model']['merges'][:9]
  for _ in range(int(rng.integers(1, 4))):
    good = mutated(good, rng)
  (folder / 'tokenizer.json').write_bytes(spelled(good, rng))
  return lambda: tokens.encode(tokens.load_tokenizer(folder), ['he said'], 8)


def vocabulary(folder, rng):
  path = folder / 'vocab.txt'
  lines = [*tokenizer_files.SPECIAL, 'he', 'she', '##s', *'abc']
  path.write_bytes(damaged('\n'.join(lines).encode(), rng))
  return lambda: tokens.encode(tokens.load_tokenizer(folder), ['he said'], 8)


FIELDS = {
  'general.architecture': 'llama',
  **{'llama.block_count': 1, 'llama.context_length': 16},
  **{'llama.embedding_length': 4, 'llama.feed_forward_length': 8},
  **{'llama.attention.head_count': 2, 'llama.attention.head_count_kv': 1},
  **{'llama.attention.layer_norm_rms_epsilon': 1e-5},
}


def gguf_file(folder, rng):
  """Fields and tensors with one part changed, or bytes of the whole."""
  fields = FIELDS | a_tokenizer()[1]
  if rng.random() < 0.7:
    name = pick(list(fields), rng)
    odd = (0, -1 % 2**32, 2**31, 1.5, '', 'x' * 5000, [], ['a', 'a'], [1], True)
    fields[name] = pick(odd, rng)
    if rng.random() < 0.3:
      del fields[name]
  rows = int(pick((4, 0, 3), rng))
  tensors = {
    'token_embd.weight': ('F32', np.ones((8, 4))),
    'blk.0.attn_q.weight': ('F16', np.ones((rows, 4))),
    'output_norm.weight': ('Q8_0', ((32,), bytes(34))),
  }
  raw = gguf_files.gguf(fields, tensors)
  path = folder / 'a.gguf'
  path.write_bytes(damaged(raw, rng) if rng.random() < 0.5 else raw)

  def read():
    gguf.tokenizer(path)
    gguf_models.weights(path)
    hf.read_shape(path)

  return read


TABLE = pd.DataFrame(ROWS).assign(id=[str(i) for i in range(9)])


def predicted(folder, rng):
  """A file of predictions, in one of the forms that are known."""
  share = [round(float(p), 2) for p in rng.random(9)]
  column = pick(('score', 'p_1', 'prediction', 'label', 'x'), rng)
  rows = [{'id': str(i), column: p} for i, p in enumerate(share)]
  if rng.random() < 0.3:  # what a pipeline of transformers gives
    rows = [{'label': 'AB'[p > 0.5], 'score': max(p, 1 - p)} for p in share]
  rows = mutated(rows, rng)
  path = folder / pick(('a.json', 'a.jsonl', 'a.csv'), rng)
  if path.suffix == '.json' or not isinstance(rows, list):
    path.write_bytes(spelled(rows, rng))
  elif path.suffix == '.jsonl':
    path.write_bytes(as_lines(rows, rng))
  else:
    whole = [row for row in rows if isinstance(row, dict)]
    path.write_bytes(damaged(pd.DataFrame(whole).to_csv().encode(), rng))
  asked = pick(((), (), (column,), ('p*',), ('x', 'x')), rng)
  return lambda: answers.of_table(
    files.read(str(path)), TABLE, asked, ('fine', 'rude')
  )


def audited_run(folder, rng):
  """The files of a run of ours, one of which a stranger has touched."""
  own = c.Config(
    model='tiny', seeds=1, planted=c.Planted(rows=40, test_rows=20)
  )
  own.tokens.vocab_size = 120
  weights = folder / 'training' / 'x'
  weights.mkdir(parents=True)
  (weights / 'weights.safetensors').write_bytes(
    safetensors_of({'0/a': np.ones((1, 2), np.float32)})
  )
  artefacts.write_json(weights / 'fit.json', {'steps': 1})
  artefacts.seal(weights, 'x')
  found = RESULTS | {'recipe': pick(('train', 'rank', 7), rng)}
  artefacts.write_json(folder / 'results.json', found)
  artefacts.write_json(folder / 'config.json', dataclasses.asdict(own))
  frame = TABLE[['id']].assign(set='test', p0=0.5)
  if rng.random() < 0.3:
    frame = pd.DataFrame(frame.assign(p0=pick((-1.0, np.nan, '', 7), rng)))
  frame.to_parquet(folder / 'predictions.parquet')
  path = pick(sorted(p for p in folder.rglob('*') if p.is_file()), rng)
  raw = path.read_bytes()
  if path.suffix == '.json' and rng.random() < 0.7:
    path.write_bytes(spelled(mutated(json.loads(raw), rng), rng))
  else:
    path.write_bytes(damaged(raw, rng))
  return lambda: audited.load(str(folder), c.Config(), TABLE, ('a', 'b'))


READERS = (
  *(jsonl_rows, jsonl_shard, geco_of_rows, torch_weights, plain_text, corpus),
  *(safetensors, shard_index, tokenizer_json, vocabulary, gguf_file),
  *(*TREES, predicted, audited_run),
  *mutated_doors.DOORS,
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
  counts = no_fault(tried(200, 0, tmp_path))
  assert counts['told'] > 60 and counts['fine'] > 20


@pytest.mark.parametrize('make', READERS, ids=lambda make: make.__name__)
def test_a_pipe_or_a_device_in_place_of_a_file_is_told(make, tmp_path):
  """One was waited for, the other read without end."""
  found = {}
  for flows in (os.mkfifo, functools.partial(os.symlink, '/dev/zero')):
    with tempfile.TemporaryDirectory(dir=tmp_path) as place:
      action = make(pathlib.Path(place), np.random.default_rng(0))
      paths = sorted(p for p in pathlib.Path(place).rglob('*') if p.is_file())
      for path in paths:
        kept = path.rename(path.with_name('kept'))
        flows(path)
        found[f'{flows} {path.name}'] = outcome(action)
        kept.replace(path)
  no_fault(found)


def test_the_depth_that_is_tried_is_beyond_the_bound():
  with pytest.raises(ValueError):
    strict_json.parse('[' * 400 + ']' * 400)


if __name__ == '__main__':
  asked = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
  with tempfile.TemporaryDirectory() as scratch:
    print(dict(no_fault(tried(*asked, pathlib.Path(scratch)))))
