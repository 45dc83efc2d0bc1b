"""Infilling: the source token for token, its masks as a slow twin does."""

import dataclasses
import functools

import numpy as np
import pytest
import small
from golden import make_seq2seq
from small import needs_torch

from fairjax.core.errors import UserError
from fairjax.models.decoding import decode_texts, infill
from fairjax.models.decoding.decode import Options

from .. import seq2seq
from ..decoding.test_decode import ragged, rows_of

BOS, PAD, EOS, MASK = 0, 1, 2, 3
NEVER = (0, 1, 2, 3, 7)
ASK = Options(mask=MASK, max_span=4, never=(7,))


def sources(count, seed, high=12, kinds=12, share=0.3):
  """Texts of few kinds of tokens, so that spans often meet what follows."""
  rng = np.random.default_rng(seed)
  texts = []
  for n in rng.integers(1, high, count):
    body = rng.integers(4, kinds, n)
    body[rng.random(n) < share] = MASK
    texts.append(np.array([BOS, *body, EOS], np.int32))
  return texts


@pytest.fixture(scope='module')
def model(tmp_path_factory):
  torch = pytest.importorskip('torch')
  torch.set_num_threads(1)  # thousands of tiny steps
  net = make_seq2seq.model('bart', seed=4, init_std=0.8)
  net.final_logits_bias[0, 4:12] += 3.0
  return net, *seq2seq.from_torch(net, tmp_path_factory.mktemp('bart'))


@pytest.fixture(scope='module')
def likely(tmp_path_factory):
  """What is copied is likely too, so beams end their spans at many lengths."""
  torch = pytest.importorskip('torch')
  torch.set_num_threads(1)
  net = make_seq2seq.model('bart', seed=0)
  net.final_logits_bias[0, [EOS, 4, 5]] += 6.0
  return net, *seq2seq.from_torch(net, tmp_path_factory.mktemp('likely'))


def merge(text):
  return [t for i, t in enumerate(text) if not t == MASK == text[i - 1]]


def allowed(source, written, least=0, most=4):
  """What may come after `written`, by replaying it."""
  at = span = 0
  for token in written:
    if at >= len(source):
      break
    if source[at] != MASK:
      at += 1
    elif span >= least and token == source[at + 1]:
      at, span = at + 2, 0
    else:
      span += 1
  if at >= len(source):  # it is done, and would be so again with EOS
    return [PAD]
  if source[at] != MASK:
    return [source[at]]
  free = [t for t in range(make_seq2seq.VOCAB) if t not in NEVER]
  end = [source[at + 1]] if span >= least else []
  return end + (free if span < most else [])


def slow_greedy(net, source, **rules):
  """Every step a forward of the whole, and the best allowed token."""
  import torch

  written = []
  ids = torch.tensor([source])
  while not written or written[-1] != EOS:
    so_far = torch.tensor([[EOS, *written]])
    with torch.no_grad():
      logits = net(input_ids=ids, decoder_input_ids=so_far).logits[0, -1]
    may = sorted(allowed(source, written, **rules))
    written.append(max(may, key=lambda t: logits[t].item()))
  return [EOS, *written]


@needs_torch
@pytest.mark.parametrize('least', [0, 2])
def test_greedy_infilling_is_that_of_a_slow_twin(model, least):
  net, module, params = model
  texts = sources(20, seed=least)
  options = dataclasses.replace(ASK, min_span=least)
  run = functools.partial(decode_texts.generate, module, params, ragged(texts))
  plain = run(options, 8)
  slow = [slow_greedy(net, merge(t.tolist()), least=least) for t in texts]
  assert rows_of(plain) == slow


@needs_torch
@pytest.mark.parametrize(
  'rules',
  [
    {'length_penalty': 0.0},
    {'length_penalty': 3.0},
    {'length_penalty': 2.0, 'early_stopping': True, 'num_beams': 2},
  ],
)
def test_beams_are_those_of_transformers_under_the_same_rule(likely, rules):
  import torch

  net, module, params = likely
  texts = sources(24, seed=len(rules) + 1, high=9, kinds=6, share=0.4)
  options = dataclasses.replace(ASK, **({'num_beams': 3} | rules))
  found = decode_texts.generate(module, params, ragged(texts), options, 4)
  for text, ours in zip(texts, rows_of(found)):
    source = merge(text.tolist())
    with torch.no_grad():
      out = net.generate(
        input_ids=torch.tensor([source]),
        do_sample=False,
        num_beams=options.num_beams,
        max_length=32,
        length_penalty=options.length_penalty,
        early_stopping=options.early_stopping,
        prefix_allowed_tokens_fn=lambda _, ids, source=source: allowed(
          source, ids.tolist()[1:]
        ),
      )[0].tolist()
    theirs = out[: 2 + out[1:].index(EOS)]
    assert ours == theirs


@needs_torch
@pytest.mark.parametrize('beams', [1, 2])
def test_padding_and_company_change_no_text(likely, beams):
  """A text of 16 tokens fills its row of 16; beside longer ones it does not."""
  _, module, params = likely
  texts = sources(3, seed=5, high=6, kinds=6)
  rng = np.random.default_rng(0)
  for _ in range(8):
    body = rng.integers(4, 6, 14)
    body[rng.integers(0, 7, 2) * 2] = MASK
    texts.append(np.array([BOS, *body, EOS], np.int32))
  options = dataclasses.replace(
    ASK, num_beams=beams, length_penalty=2.0, early_stopping=beams > 1
  )
  run = lambda texts: rows_of(
    decode_texts.generate(module, params, ragged(texts), options, 16)
  )
  assert sum(len(text) == 16 for text in texts) == 8
  alone = run(texts)
  longer = np.array([BOS, *np.resize([4, 5], 18), EOS], np.int32)
  assert run([*texts, longer])[:-1] == alone


@needs_torch
@pytest.mark.parametrize('beams, least', [(1, 1), (3, 2)])
def test_all_but_the_masks_is_copied(model, beams, least):
  """Property: with its spans put into the masks, the source is the output."""
  _, module, params = model
  texts = sources(60, seed=10 * beams + least, high=14)
  options = dataclasses.replace(
    ASK, num_beams=beams, min_span=least, max_span=3
  )
  found = decode_texts.generate(module, params, ragged(texts), options, 16)
  lengths = set()
  for text, row in zip(texts, rows_of(found)):
    source = merge(text.tolist())
    spans = infill.spans_of(np.array(source), np.array(row[1:]), MASK, least)
    assert len(spans) == source.count(MASK)
    again, rest = [], iter(spans)
    for token in source:
      again += next(rest) if token == MASK else [token]
    assert row == [EOS, *again]
    assert not any(set(span) & set(NEVER) for span in spans)
    lengths |= {len(span) for span in spans}
  assert min(lengths) == least and max(lengths) == 3


def test_masks_side_by_side_are_one():
  rng = np.random.default_rng(0)
  texts = [rng.integers(2, 5, n) for n in rng.integers(1, 9, 50)]
  merged = infill.merged(ragged(texts), MASK)
  for i, text in enumerate(texts):
    slow = [
      t for j, t in enumerate(text) if j == 0 or not t == MASK == text[j - 1]
    ]
    at = slice(*merged.offsets[i : i + 2])
    assert merged.flat[at].tolist() == slow


@pytest.mark.parametrize(
  'options, texts, sentence', small.cases(__file__, 'refused_infills.json')
)
def test_bad_input_is_told_in_one_sentence(tmp_path, options, texts, sentence):
  module, params = seq2seq.load(seq2seq.frozen('bart'), tmp_path)
  options = Options(**({'mask': MASK} | options))
  with pytest.raises(UserError, match=sentence):
    decode_texts.generate(module, params, ragged(texts), options)


def test_a_model_that_only_goes_on_cannot_fill(tmp_path):
  module, params = seq2seq.load(seq2seq.frozen('gpt2'), tmp_path)
  with pytest.raises(
    UserError,
    match='is a gpt2, which can tag words from left to right, write texts',
  ):
    decode_texts.generate(module, params, ragged([[5, EOS]]), ASK)
