"""A thousand mistakes: none is a traceback, none hangs, each is one sentence.

Leaves of the config are set to odd values, command lines mutated by seed; what
comes of it is a config to work with, or a `UserError` of one line. Files:
tests/chaos.
"""

import collections
import contextlib
import gzip
import importlib
import os
import signal

import numpy as np
import pytest
import small

from fairjax import main, results
from fairjax.benchmarks import BENCHMARKS
from fairjax.config import Config, validate
from fairjax.core import artefacts, knobs
from fairjax.core.errors import UserError
from fairjax.data.corpora.shard_map import find_shards
from fairjax.data.tables import terms
from fairjax.models.words import word_level
from fairjax.pairs.swapping import dictionary, swap_eval

SECONDS = 5  # of work that one mistake may take
PATIENCE = 60  # seconds by the clock: a machine may be busy, a pipe is silent
LONGEST = 600  # letters of a sentence


class Hang(Exception):
  """It took longer than SECONDS of work, or than PATIENCE."""


@contextlib.contextmanager
def alarm():
  def late(*_):
    raise Hang

  timers = {
    signal.SIGPROF: (signal.ITIMER_PROF, SECONDS),
    signal.SIGALRM: (signal.ITIMER_REAL, PATIENCE),
  }
  before = {number: signal.signal(number, late) for number in timers}
  for timer, seconds in timers.values():
    signal.setitimer(timer, seconds)
  try:
    yield
  finally:
    for timer, _ in timers.values():
      signal.setitimer(timer, 0)
    for number, handler in before.items():
      signal.signal(number, handler)


def outcome(action) -> str:
  """'fine', 'told', or what went wrong."""
  try:
    with alarm():
      action()
  except UserError as error:
    sentence = str(error)
    if '\n' in sentence.strip() or len(sentence) > LONGEST:
      return f'no sentence: {sentence[:200]!r} ({len(sentence)})'
    return 'told'
  except Exception as error:
    return f'{type(error).__name__}: {str(error)[:200]}'
  return 'fine'


def no_fault(results: dict) -> collections.Counter:
  """Fails with the first faults; returns how often each outcome came."""
  faults = {k: v for k, v in results.items() if v not in ('fine', 'told')}
  shown = '\n'.join(f'{k}: {v}' for k, v in list(faults.items())[:20])
  assert not faults, f'{len(faults)} of {len(results)}:\n{shown}'
  return collections.Counter(results.values())


TEXTS = (
  *('', ' ', '\0', '\n', 'x' * 300, 'x/' * 3000, '~nobody-here', '-1', 'None'),
  *('é\u202e🙂', "'", '"; rm', '../..', '/dev/null', '/proc/self/mem', '1,2'),
  *('{}', '>', '>=', '>nan', 'a=1', 'a=0,b=9', ',', '+', 'augment+', ':'),
  *('terms:', 'terms:/none', 'columns:', 'epoch nan', 'epoch 1e999', '0-'),
  *('9' * 30, '1e999', 'nan', 'https://x.y/z.csv', 'planted', 'gender'),
)
NUMBERS = (
  *(0, 1, -1, 2, 3, -4, 10**9, 10**30, -(2**63), 2**31, 2**64, True, False),
  *(0.0, -0.0, 0.5, 1.0, 1.5, -1.0, 1e-300, 1e300, np.inf, -np.inf, np.nan),
)


def pick(options, rng):
  return options[int(rng.integers(len(options)))]


# Leaves of the config.


def set_to(leaf, value):
  return small.changed(Config(), **{leaf.replace('.', '__'): value})


def test_every_leaf_refuses_what_is_not_of_its_type():
  """`lr='fast'`, `seeds='5'`, `model=None` in a config of one's own."""
  results = {}
  for leaf, kind in main.LEAVES.items():
    other = {str: (None, 5, b'x'), bool: ('yes', None, 2), object: (None, {})}
    wrong = other.get(kind, ('fast', None, {}, '5'))
    for value in wrong:
      result = outcome(lambda leaf=leaf, value=value: set_to(leaf, value))
      results[f'{leaf}={value!r}'] = 'accepted' if result == 'fine' else result
  no_fault(results)


@pytest.mark.parametrize('share', [16, 1])
def test_values_of_every_kind_are_checked_without_a_traceback(share):
  """Any value in any leaf is valid or one sentence."""
  odd = [*TEXTS, *NUMBERS, (), ('',), (1,), ('a', 'a'), (np.nan,), ((),)]
  odd += [None, [None], {}, b'x', object(), Config, np.zeros(3), range(3)]
  results = {
    f'{leaf}={value!r}': outcome(lambda leaf=leaf, v=value: set_to(leaf, v))
    for k, leaf in enumerate(main.LEAVES)
    for value in odd[k % share :: share]
  }
  counts = no_fault(results)
  assert counts['fine'] > 100 and counts['told'] > 0.6 * len(results) > 600


# Pipes: no file that a user names is waited for.

BENCHMARK_FILES = (
  *('weat1.jsonl', 'crows_pairs_anonymized.csv', 'dev.json', 'SemBias'),
  *('all_sentences.tsv', 'occupations-stats.tsv', 'Gender_identity.jsonl'),
  *('descriptors.json', 'nouns.json', 'sentence_templates.json'),
  *('pro_stereotyped_type1.txt.dev', 'anti_stereotyped_type1.txt.dev'),
  *('Equity-Evaluation-Corpus.csv', 'standalone_noun_phrases.json'),
)


def readers_of(folder):
  """name -> what reads `folder`/pipe, or pipes of the names it looks for."""
  pipe = str(folder / 'pipe')
  for leaf in knobs.leaves(Config):
    if leaf.path:
      config = Config()
      section, _, last = leaf.name.rpartition('.')
      owner = getattr(config, section) if section else config
      setattr(owner, last, pipe)
      yield leaf.name, lambda c=config: validate(c)
  yield 'words', lambda: dictionary.swap(['he'], words=pipe)
  yield 'names', lambda: dictionary.swap(['he'], names=pipe)
  yield 'vectors', lambda: word_level.load_vectors(pipe, ['he'])
  yield 'terms', lambda: terms.read_terms(pipe)
  yield 'shards', lambda: find_shards(folder / 'shards')
  yield 'content', lambda: artefacts.content(folder)
  yield 'results', lambda: results.read(folder)
  for name in set(BENCHMARKS) - {'lpbs'}:  # whose templates are its own
    config = Config()
    config.benchmarks.data = str(folder)
    config.data.path = pipe
    module = importlib.import_module(BENCHMARKS[name].module)
    yield name, lambda m=module, c=config: m.items(c)
  for name, read in swap_eval.SETS.items():
    yield f'swap_eval {name}', lambda r=read: r(folder)


def test_no_pipe_is_waited_for(tmp_path):
  (tmp_path / 'shards').mkdir()
  for name in ('pipe', 'shards/a.txt', 'results.json', *BENCHMARK_FILES):
    os.mkfifo(tmp_path / name)
  for name in ('gap-development.tsv', 'binary_gender_all_train.jsonl'):
    os.mkfifo(tmp_path / name)
  os.mkfifo(tmp_path / 'pro_stereotyped_type1.dev.txt')
  counts = no_fault({k: outcome(v) for k, v in readers_of(tmp_path)})
  assert not counts['fine'], counts


# Command lines.


def mutate_word(rng) -> str:
  leaves = list(main.LEAVES)
  leaf = pick(leaves, rng)
  style = rng.integers(6)
  if style == 0:  # a letter lost or gained
    at = int(rng.integers(len(leaf)))
    leaf = (
      leaf[:at] + pick(('', 'x', '.', '-', '\0', 'é'), rng) + leaf[at + 1 :]
    )
  elif style == 1:
    leaf = pick((*main.ALIASES, '', '.', '..', 'config', 'x' * 300), rng)
  start = pick(
    ('--config.', '--noconfig.', '-config.', '--', '--config', ''), rng
  )
  value = pick((*TEXTS, *map(str, NUMBERS), '((', '(1,', '1,,2', '[[]]'), rng)
  return f'{start}{leaf}' + pick((f'={value}', '', '='), rng)


def test_command_lines():
  results = {}
  for k in range(450):
    rng = np.random.default_rng([1, k])
    words = [mutate_word(rng) for _ in range(rng.integers(1, 3))]
    words = ['main', '--config=configs/quickstart.py', *words]
    results[f'{k} {str(words[2:])[:150]}'] = outcome(
      lambda w=words: main.tidy(w)
    )
  counts = no_fault(results)
  assert counts['told'] > 100


def damaged(raw: bytes, rng) -> bytes:
  """The bytes with some changed, lost, doubled or coded otherwise."""
  data = bytearray(raw)
  for _ in range(rng.integers(0, 4)):
    at = int(rng.integers(len(data) + 1))
    style = rng.integers(8)
    if style == 0:
      data = data[:at]
    elif style == 1:
      data[at : at + 1] = bytes([int(rng.integers(256))])
    elif style == 2:
      data[at:at] = rng.bytes(int(rng.integers(1, 9)))
    elif style == 3:
      del data[at : at + int(rng.integers(1, 40))]
    elif style == 4:
      data[at:at] = pick((b'"', b',', b'\n', b'\r', b'\0', b'\xff', b'{'), rng)
    elif style == 5:
      data += data[at:]
    elif style == 6:
      coding = pick(('utf-16', 'utf-16le', 'utf-32', 'cp500', 'cp1252'), rng)
      with contextlib.suppress(UnicodeError):
        data = bytearray(bytes(data).decode().encode(coding))
    else:
      data = bytearray(gzip.compress(bytes(data)))
  return bytes(data)
