"""Sampling: the exact distribution, by enumeration, and of a text alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from small import params_of

from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.models.decoding import decode_texts, sample
from fairjax.models.decoding.decode import Options
from fairjax.models.families import gpt2, llama
from fairjax.models.layers.places import blank_batch

CASES = {
  'plain': {},
  'cold': {'temperature': 0.6},
  'hot nucleus': {'temperature': 1.5, 'top_p': 0.7},
  'nucleus': {'top_p': 0.9},
  'one': {'top_p': 0.05},
  'ranks': {'top_k': 4},
  'both': {'temperature': 0.8, 'top_k': 6, 'top_p': 0.75},
}
NEW, VOCAB = 2, 7
EOS = 6


def warped(logits, temperature=1.0, top_k=0, top_p=1.0):
  """The probabilities that are drawn from, by a sort: the oracle."""
  scores = np.asarray(logits, np.float64) / temperature
  order = np.argsort(-scores, kind='stable')
  keep = order[: top_k or len(order)]
  p = np.exp(scores - scores.max())
  p = np.where(np.isin(np.arange(len(p)), keep), p, 0)
  p /= p.sum()
  before = np.cumsum(p[order]) - p[order]
  p[order[before >= top_p]] = 0
  return p / p.sum()


def fits(found, p, least=1e-3):
  """Pearson's test of counts against probabilities; none where p is 0."""
  found, p = np.asarray(found), np.asarray(p)
  assert not found[p == 0].any()
  expected = p * found.sum()
  small = expected < 5  # as one cell
  cells = [*zip(found[~small], expected[~small])]
  if expected[small].sum():
    cells.append((found[small].sum(), expected[small].sum()))
  if len(cells) > 1:
    assert stats.chisquare(*zip(*cells)).pvalue > least


def keys(count, seed=0):
  rng = np.random.default_rng(seed)
  return jnp.array(rng.integers(0, 2**32, (count, 2), dtype=np.uint32))


def drawn(logits, count, places=3, **how):
  way = {'temperature': 1.0, 'top_p': 1.0, 'top_k': 0} | how
  rows = jnp.broadcast_to(jnp.float32(logits), (count, len(logits)))
  at = jnp.arange(count) % places
  draw = jax.jit(sample.draw)
  return np.asarray(draw(rows, keys(count), at, sample.warp(**way)))


@pytest.mark.parametrize('case', CASES)
def test_tokens_have_the_probabilities_of_the_warped_scores(case):
  logits = np.random.default_rng(1).normal(0, 1.3, 12)
  found = np.bincount(drawn(logits, 20000, **CASES[case]), minlength=12)
  fits(found, warped(logits, **CASES[case]))


def test_of_equal_scores_the_smaller_token_is_ahead():
  found = np.bincount(drawn([0.0] * 5, 4000, top_p=0.5), minlength=5)
  fits(found, [1 / 3] * 3 + [0, 0])


@pytest.mark.parametrize('case', CASES)
def test_what_may_be_drawn_is_what_the_warpers_of_transformers_leave(case):
  pytest.importorskip('torch')
  import torch
  from transformers.generation import logits_process as theirs

  how, p = CASES[case], []
  logits = np.random.default_rng(2).normal(0, 2, (40, 300)).astype(np.float32)
  scores = torch.tensor(logits)
  for name, kind in (
    ('temperature', theirs.TemperatureLogitsWarper),
    ('top_k', theirs.TopKLogitsWarper),
    ('top_p', theirs.TopPLogitsWarper),
  ):
    if name in how:
      scores = kind(how[name])(None, scores)
  p = torch.softmax(scores.double(), -1).numpy()
  own = np.stack([warped(row, **how) for row in logits])
  np.testing.assert_allclose(own, p, atol=1e-6)
  way = {'temperature': 1.0, 'top_p': 1.0, 'top_k': 0} | how
  draw = jax.jit(sample.draw)
  for k in range(5):
    token = draw(logits, keys(40, k), jnp.zeros(40, int), sample.warp(**way))
    assert (p[np.arange(40), token] > 0).all()


def test_noise_is_of_independent_places_tokens_and_keys():
  noise = np.asarray(sample.waits(keys(300), jnp.arange(300) % 7, 200))
  assert stats.kstest(noise.ravel(), 'expon').pvalue > 1e-3
  across = np.corrcoef(noise), np.corrcoef(noise.T)
  for one in across:
    off = one[~np.eye(len(one), dtype=bool)]
    assert abs(off).max() < 0.45 and abs(off.mean()) < 0.005
  again = sample.waits(keys(1), jnp.array([0]), 200)
  np.testing.assert_array_equal(again[0], noise[0])
  other = sample.waits(keys(1), jnp.array([1]), 200)
  assert abs(np.corrcoef(other[0], noise[0])[0, 1]) < 0.2


SIZE = {'vocab': VOCAB, 'width': 16, 'depth': 1, 'hidden': 32, 'positions': 16}
SHAPES = {
  'gpt2': gpt2.GPT2Shape(
    **SIZE, heads=2, bos=EOS, eos=EOS, pad=EOS, deviation=0.5
  ),
  'llama': llama.LlamaShape(
    **SIZE,
    heads=4,
    groups=2,
    head_width=4,
    bos=EOS,
    eos=EOS,
    pad=EOS,
    deviation=0.5,
    tied=True,
  ),
}
BODIES = {'gpt2': gpt2.GPT2, 'llama': llama.Llama}


@pytest.fixture(scope='module', params=SHAPES)
def tiny(request):
  module = BODIES[request.param](SHAPES[request.param])
  return module, params_of(module, 5)


def ragged(rows):
  offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
  return Ragged(np.concatenate(rows).astype(np.int32), offsets)


PROMPTS = ragged([[1, 2, 3], [4], [5, 0, 1, 2, 2], [3, 3]])
NAMES = ['a', 'b', 'c', 'd']


def written(
  module, params, how, seed=0, samples=5, slots=4, order=(0, 1, 2, 3)
):
  """{(name, number): tokens} of the texts written."""
  rows = np.split(PROMPTS.flat, PROMPTS.offsets[1:-1])
  names = [NAMES[k] for k in order]
  given = sample.streams(seed, names, samples)
  options = Options(do_sample=True, max_new_tokens=NEW, **how)
  sources = ragged([rows[k] for k in order])
  out = decode_texts.generate(
    module, params, sources, options, slots, streams=given
  )
  texts = np.split(out.tokens.flat, out.tokens.offsets[1:-1])
  labels = [(names[s], k % samples) for k, s in enumerate(given.source)]
  counts = out.row_written.tolist()
  return {
    label: tuple(text[len(text) - n :].tolist())
    for label, text, n in zip(labels, texts, counts)
  }


def test_continuations_have_the_enumerated_probabilities(tiny):
  module, params = tiny
  how = {'temperature': 1.3, 'top_p': 0.85}
  apply = jax.jit(module.apply)

  def after(tokens):
    row = np.zeros((1, 8), np.int32)
    row[0, : len(tokens)] = tokens
    ids = (np.arange(8) < len(tokens)).astype(np.int32)[None]
    batch = blank_batch() | {
      'tokens': jnp.array(row),
      'segment_ids': jnp.array(ids),
      'positions': jnp.arange(8)[None],
    }
    scores = apply({'params': params}, batch)[0, len(tokens) - 1]
    return warped(scores, **how)

  prompt = [1, 2, 3]
  chances = {}
  first = after(prompt)
  for a in range(VOCAB):
    if a == EOS:
      chances[a,] = first[a]
      continue
    chances |= {(a, b): first[a] * p for b, p in enumerate(after([*prompt, a]))}
  found = written(module, params, how, samples=2048, slots=1024, order=(0,))
  counts = dict.fromkeys(chances, 0)
  for text in found.values():
    counts[text] += 1
  fits(list(counts.values()), list(chances.values()))


@pytest.mark.parametrize('tiny', ['gpt2'], indirect=True)
def test_a_text_knows_its_seed_prompt_and_number_alone(tiny):
  how = {'top_p': 0.9}
  whole = written(*tiny, how)
  assert len(set(whole.values())) > 6
  for rest in (
    {'order': (3, 1, 0, 2)},
    {'order': (2,)},
    {'samples': 9, 'slots': 3},
  ):
    other = written(*tiny, how, **rest)
    same = whole.keys() & other.keys()
    assert same and all(whole[k] == other[k] for k in same), rest
  assert whole != written(*tiny, how, seed=1)


def test_a_cold_draw_is_the_greedy_text(tiny):
  module, params = tiny
  cold = written(module, params, {'temperature': 1e-4}, samples=2)
  plain = decode_texts.generate(
    module, params, PROMPTS, Options(max_new_tokens=NEW)
  )
  texts = np.split(plain.tokens.flat, plain.tokens.offsets[1:-1])
  for name, text, count in zip(NAMES, texts, plain.row_written):
    for number in range(2):
      assert cold[name, number] == tuple(text[len(text) - count :].tolist())


@pytest.mark.parametrize(
  'options, words',
  [
    ({'temperature': 0.0}, 'temperature is 0.0'),
    ({'temperature': float('nan')}, 'temperature is nan'),
    ({'top_p': 0.0}, 'top_p is 0.0'),
    ({'top_p': 1.5}, 'top_p is 1.5'),
    ({'top_k': -1}, 'top_k is -1'),
    ({'num_beams': 2}, 'leave num_beams at 1'),
  ],
)
def test_what_cannot_be_drawn_is_one_sentence(options, words):
  with pytest.raises(UserError, match=words):
    Options(do_sample=True, **options).validate()
