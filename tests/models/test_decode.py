"""Decoding: token for token what transformers.generate writes, only faster."""

import dataclasses
import functools
import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.data.tokens import Ragged
from fairjax.errors import UserError
from fairjax.models import decode, generate, speculate
from fairjax.models.decode import Options

from . import seq2seq
from .seq2seq import make_seq2seq

needs_torch = pytest.mark.skipif(
  importlib.util.find_spec('torch') is None, reason='torch is not here'
)
EOS, PROMPTS, MOST = 2, 20, 22

# Our options, and the names that transformers has for them.
CASES = {
  'greedy': {},
  'least': {'min_length': 9},
  'forced': {'forced_bos': 0, 'forced_eos': 2, 'max_length': 12},
  'ngram': {'no_repeat_ngram': 2, 'min_length': 15},
  'beams': {'beams': 3},
  'short': {'beams': 3, 'length_penalty': -0.5, 'early_stopping': True},
  'long': {'beams': 3, 'length_penalty': 2.0, 'min_length': 6},
  'never': {'beams': 3, 'length_penalty': 1.5, 'early_stopping': 'never'},
  'full': {'beams': 3, 'early_stopping': True, 'forced_bos': 0},
  'all': {
    'beams': 3,
    'no_repeat_ngram': 2,
    'forced_bos': 0,
    'forced_eos': 2,
    'max_length': 12,
  },
}
THEIRS = {
  'beams': 'num_beams',
  'max_new': 'max_new_tokens',
  'min_new': 'min_new_tokens',
  'no_repeat_ngram': 'no_repeat_ngram_size',
  'forced_bos': 'forced_bos_token_id',
  'forced_eos': 'forced_eos_token_id',
}


def ragged(texts):
  offsets = np.concatenate([[0], np.cumsum([len(t) for t in texts])])
  flat = np.concatenate([np.zeros(0, np.int32), *texts]).astype(np.int32)
  return Ragged(flat, offsets.astype(np.int64))


def rows_of(found):
  return [
    one.tolist()
    for one in np.split(found.tokens.flat, found.tokens.offsets[1:-1])
  ]


def prompts(count, seed, low=1, high=14):
  rng = np.random.default_rng(seed)
  lengths = rng.integers(low, high, count)
  return [rng.integers(4, 41, n).astype(np.int32) for n in lengths]


def nets():
  bart = make_seq2seq.model('bart', seed=7)
  bart.final_logits_bias[0, EOS] = 2.0  # so that texts end at many lengths
  return {'bart': bart, 'gpt2': make_seq2seq.model('gpt2', seed=7)}


@pytest.fixture(scope='module')
def models(tmp_path_factory):
  pytest.importorskip('torch')
  return {
    name: (net, *seq2seq.from_torch(net, tmp_path_factory.mktemp(name)))
    for name, net in nets().items()
  }


def theirs(net, texts, options):
  """transformers.generate, the texts padded as it wants them."""
  import torch

  width = max(map(len, texts))
  tokens, mask = (np.zeros((len(texts), width), np.int64) for _ in range(2))
  for i, text in enumerate(texts):
    tokens[i, : len(text)], mask[i, : len(text)] = text, 1
  told = {THEIRS.get(name, name): value for name, value in options.items()}
  with torch.no_grad():
    out = net.generate(
      input_ids=torch.tensor(tokens),
      attention_mask=torch.tensor(mask),
      do_sample=False,
      pad_token_id=1,
      **told,
    ).numpy()
  first = 1 if net.config.is_encoder_decoder else width
  cut = []
  for row in out:
    ends = np.flatnonzero(row[first:] == EOS)
    stop = first + ends[0] + 1 if len(ends) else len(row)
    cut.append(row[:stop].tolist())
  return cut


@needs_torch
@pytest.mark.parametrize('name', CASES)
def test_bart_writes_what_transformers_writes(models, name):
  net, module, params = models['bart']
  options = {'max_length': MOST} | CASES[name]
  texts = prompts(PROMPTS, seed=len(name))
  found = generate.generate(
    module, params, ragged(texts), Options(**options), slots=8
  )
  ours, peer = rows_of(found), theirs(net, texts, options)
  assert ours == peer
  assert len({len(row) for row in ours}) > (1 if 'forced_bos' in options else 3)


@needs_torch
@pytest.mark.parametrize(
  'case',
  [
    {'max_new': 9},
    {'max_new': 9, 'beams': 2, 'length_penalty': 0.5},
    {'max_new': 9, 'no_repeat_ngram': 2, 'min_new': 7},
  ],
)
def test_gpt2_writes_what_transformers_writes(models, case):
  net, module, params = models['gpt2']
  texts = prompts(9, seed=11)
  found = generate.generate(
    module, params, ragged(texts), Options(**case), slots=4
  )
  # One at a time: a padded prompt would count for min and n-grams there.
  assert rows_of(found) == [theirs(net, [t], case)[0] for t in texts]


@needs_torch
@pytest.mark.parametrize('beams', [1, 3])
def test_slots_company_and_order_do_not_matter(models, beams):
  _, module, params = models['bart']
  texts = prompts(11, seed=1, high=30)
  options = Options(max_length=MOST, beams=beams)
  whole = rows_of(
    generate.generate(module, params, ragged(texts), options, slots=4)
  )
  other = generate.generate(
    module, params, ragged(texts[::-1]), options, slots=2
  )
  assert rows_of(other)[::-1] == whole


def copier(module, params):
  """A model that mostly repeats: embeddings so large that it sees itself."""
  rng = np.random.default_rng(3)
  word = rng.normal(size=params['word']['embedding'].shape)
  return params | {'word': {'embedding': jnp.asarray(word, jnp.float32)}}


@needs_torch
@pytest.mark.parametrize('slots', [1, 4])
@pytest.mark.parametrize(
  'options',
  [{}, {'no_repeat_ngram': 2, 'min_length': 12, 'forced_eos': 2}],
)
def test_speculation_writes_the_greedy_text(models, options, slots):
  _, module, params = models['bart']
  options = Options(max_length=MOST, **options)
  texts = prompts(8, seed=2)
  plain = generate.generate(module, params, ragged(texts), options, slots)
  fast = generate.generate(
    module,
    params,
    ragged(texts),
    dataclasses.replace(options, draft=3),
    slots,
  )
  assert rows_of(fast) == rows_of(plain)
  assert plain.tokens_per_step == 1
  # A source that is the answer is copied in far fewer steps.
  answers = [np.array(row[1:], np.int32) for row in rows_of(plain)]
  assert plain.written == sum(map(len, answers))
