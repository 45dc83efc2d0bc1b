"""Readers under atheris: bytes that reach new branches are bred on.

    pip install atheris
    python tests/chaos/fuzz.py READER FOLDER [SECONDS]

FOLDER keeps the bytes found, begun from mutated good files. A fault is what is
neither read nor told in one sentence: it is printed once for each place it
comes from, and goes on; the bytes stay as FOLDER/fault_*.
"""

import functools
import os
import pathlib
import sys
import tempfile
import time
import traceback

import atheris
import numpy as np

with atheris.instrument_imports(include=['fairjax', 'gguf']):
  import test_mutated_inputs as doors
  from test_mutations import alarm

  from fairjax import config as c
  from fairjax import results
  from fairjax.core.errors import UserError
  from fairjax.data.tables import files, readers
  from fairjax.metrics import gate
  from fairjax.models.folders import weight_files
  from fairjax.pairs.swapping import dictionary
  from fairjax.recipes.writing import prompts

PROMPTS = b'prompt,group,pair\nThe man said,male,1\nThe woman said,female,1\n'


def asked(path: pathlib.Path):
  own = c.Config()
  own.writing.prompts = str(path)
  return prompts.read(own)


def of_door(name: str, door, read):
  """Good bytes by a door's own changes, and what reads a file in its place."""

  def seeds():
    for k in range(30):
      with tempfile.TemporaryDirectory() as place:
        door(pathlib.Path(place), np.random.default_rng(k))
        yield (pathlib.Path(place) / name).read_bytes()

  return name, seeds, read


read_table = lambda path: files.read(str(path))
weights = lambda path: weight_files.read(path.parent)


# A whole alphabet made files of 4.7 kB, which -max_len cut, 9 read in a second.
GGML = {'model': 'gpt2', 'pre': 'smollm', 'tokens': ['<s>', 'a', 'b', 'ab']}
GGML |= {'token_type': [3, 1, 1, 1], 'merges': ['a b'], 'bos_token_id': 0}
GGML |= {'add_bos_token': True}
FEW = {f'tokenizer.ggml.{name}': value for name, value in GGML.items()}
doors.a_tokenizer = lambda: (None, FEW)


def gguf_read(path: pathlib.Path) -> None:
  os.utime(path, ns=(0, time.monotonic_ns()))  # two of a tick are not one
  doors.gguf.tokenizer(path)
  doors.gguf_models.weights(path)
  doors.hf.read_shape(path)


READERS = {
  'csv': ('a.csv', lambda: [PROMPTS, b'a;b\n"1\n2";3\n'], read_table),
  'jsonl': of_door('a.jsonl', doors.jsonl_rows, read_table),
  'text': of_door('a.txt', doors.plain_text, lambda p: readers.lines(str(p))),
  'gguf': of_door('a.gguf', doors.gguf_file, gguf_read),
  'bin': of_door(
    'pytorch_model.bin', doors.torch_weights, doors.torch_bin.read
  ),
  'safetensors': of_door('model.safetensors', doors.safetensors, weights),
  'results': (
    'results.json',
    lambda: [doors.spelled(doors.RESULTS, np.random.default_rng(0))],
    lambda path: results.read(path.parent),
  ),
  'words': (
    'words.csv',
    lambda: [b'male,female\nhe,she\nman,woman\n', b'[["he", "she"]]'],
    lambda path: dictionary.swap(['He saw his dog', 'a woman'], words=path),
  ),
  'gates': (
    'gate.txt',
    lambda: [b'eqodd<0.8 or excess_flips>0.02', b'dp<=1% and not x'],
    lambda path: gate.parse(path.read_bytes().decode(errors='replace')),
  ),
  'prompts': ('prompts.csv', lambda: [PROMPTS], asked),
}


def once(path: pathlib.Path, read, kept: pathlib.Path, places: set, data):
  path.write_bytes(data)
  try:
    with alarm():
      read(path)
  except UserError as error:
    if '\n' in str(error).strip() and 'lines' not in places:
      places.add('lines')
      kept.joinpath('fault_lines').write_bytes(data)
      print('FAULT: more than a line:', error, flush=True)
  except Exception as error:
    last = traceback.extract_tb(error.__traceback__)
    own = [f for f in last if 'fairjax' in f.filename] or last
    where = (type(error).__name__, own[-1].filename, own[-1].lineno)
    if where not in places:
      places.add(where)
      kept.joinpath(f'fault_{len(places)}').write_bytes(data)
      print('FAULT', *where, str(error)[:200], flush=True)


def main(name: str, folder: str, seconds: int) -> None:
  file, seeds, read = READERS[name]
  corpus = pathlib.Path(folder).absolute()
  corpus.mkdir(parents=True, exist_ok=True)
  for k, data in enumerate(seeds()):
    corpus.joinpath(f'seed_{k}').write_bytes(data)
  place = pathlib.Path(tempfile.mkdtemp(dir='/dev/shm'))
  own = functools.partial(once, place / file, read, corpus, set())
  words = [f'-max_total_time={seconds}', '-max_len=4096', '-seed=62']
  words += ['-print_final_stats=1', '-verbosity=1', '-rss_limit_mb=6000']
  began = time.monotonic()
  atheris.Setup([sys.argv[0], *words, str(corpus)], own)
  print(f'{name}: {time.monotonic() - began:.0f} s to set up', flush=True)
  atheris.Fuzz()


if __name__ == '__main__':
  if '--help' in sys.argv:
    sys.exit(print(__doc__))
  main(sys.argv[1], sys.argv[2], int([*sys.argv, '120'][3]))
