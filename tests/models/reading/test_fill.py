"""Masks in texts: the text around them stays to the character."""

import contextlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from golden import make_encoders
from small import needs_torch, shape_of
from tokenizers import (
  AddedToken,
  Tokenizer,
  decoders,
  models,
  pre_tokenizers,
  processors,
  trainers,
)

from fairjax.core import announce
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens as data_tokens
from fairjax.models import families
from fairjax.models.decoding.decode import Options
from fairjax.models.folders import hf
from fairjax.models.reading import fill

from ..decoding.test_decode import ragged

TEXTS = [
  'the nurse said that she was late , and a doctor came in his old car',
  'She is here.  He is not!',
]
MASKED = [
  'the <mask> said that <mask> was  LATE.',
  '<mask> came <mask>',
  'No mask here, é!',
  'a <mask> <mask>  <mask> car<mask>',
]
MASK, NEVER = 4, (0, 1, 2, 3)


def word_piece():
  return data_tokens.train_tokenizer(TEXTS, 120)


def byte_level():
  """As BART's and RoBERTa's: the mask eats the space before it."""
  tokenizer = Tokenizer(models.BPE())
  tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
  tokenizer.decoder = decoders.ByteLevel()
  special = ['<s>', '<pad>', '</s>', '<unk>']
  trainer = trainers.BpeTrainer(
    vocab_size=300,
    special_tokens=special,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    show_progress=False,
  )
  tokenizer.train_from_iterator(TEXTS, trainer)
  tokenizer.add_special_tokens([AddedToken('<mask>', lstrip=True)])
  tokenizer.post_processor = processors.RobertaProcessing(
    ('</s>', 2), ('<s>', 0)
  )
  return tokenizer


def sentence_piece():
  """As XLM-RoBERTa's: a blank is a part of the word, and the mask eats it."""
  words = sorted({w for text in TEXTS for w in text.split()})
  pieces = ['<s>', '<pad>', '</s>', '<unk>', *(f'▁{w}' for w in words), '.']
  vocabulary = [(piece, -1.0) for piece in [*pieces, *'acdehirs', '▁']]
  tokenizer = Tokenizer(models.Unigram([*dict(vocabulary).items()], 3, False))
  tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
  tokenizer.decoder = decoders.Metaspace()
  tokenizer.add_special_tokens(pieces[:4])
  tokenizer.add_special_tokens([AddedToken('<mask>', lstrip=True)])
  tokenizer.post_processor = processors.TemplateProcessing(
    single='<s> $A </s>', special_tokens=[('<s>', 0), ('</s>', 2)]
  )
  return tokenizer


def random_model(kind, tokenizer):
  vocab = tokenizer.get_vocab_size()
  token = lambda *names: next(
    i for i in map(tokenizer.token_to_id, names) if i is not None
  )
  if kind == 'bart':
    own = {'pad': token('<pad>', '[PAD]'), 'bos': token('<s>', '[CLS]')}
    own['eos'] = own['start'] = token('</s>', '[SEP]')
    shape = shape_of('bart', vocab, 130, deviation=0.5, **own)
    module = families.module(shape, 'write')
  else:
    shape = shape_of('bert', vocab, 64, deviation=0.5)
    module = families.module(shape, 'mask')
  return module, hf.complete(module, {}, jax.random.key(3))


def fits(masked, filled, mask, strip, many):
  """Whether `filled` is `masked` with something in place of each mask."""
  pattern = re.escape(mask) + (rf'(?:\s*{re.escape(mask)})*' if many else '')
  parts = re.split(pattern, masked)
  if strip:
    parts = [part.rstrip() for part in parts[:-1]] + parts[-1:]
  return re.fullmatch('(.*)'.join(map(re.escape, parts)), filled, re.DOTALL)


@pytest.mark.parametrize(('make', 'beams'), [(word_piece, 2), (byte_level, 1)])
def test_a_bart_fills_and_copies(make, beams):
  tokenizer = make()
  mask, _ = fill.mask_of(tokenizer)
  module, params = random_model('bart', tokenizer)
  texts = [text.replace('<mask>', mask) for text in MASKED]
  found = fill.infill_texts(
    module,
    params,
    tokenizer,
    texts,
    Options(max_span=5, num_beams=beams),
    slots=2,
  )
  strip = make is byte_level
  for text, out, spans in zip(texts, found.texts, found.spans):
    hit = fits(text, out, mask, strip, many=True)
    assert hit and list(hit.groups()) == spans, (text, out, spans)
  assert [len(spans) for spans in found.spans] == [2, 2, 0, 2]
  assert found.texts[2] == MASKED[2] and any(map(any, found.spans))
  special = {'[MASK]', '[SEP]', '[UNK]', '<mask>', '<s>', '</s>'}
  assert not any(word in text for word in special for text in found.texts)


@pytest.mark.parametrize('make', [word_piece, byte_level])
def test_a_masked_lm_fills_a_token_each(make, monkeypatch):
  said = []

  @contextlib.contextmanager
  def listen(total, what):
    said.append((what, total))
    yield lambda done: None

  monkeypatch.setattr(announce, 'LISTENERS', [listen])
  tokenizer = make()
  mask, _ = fill.mask_of(tokenizer)
  module, params = random_model('bert', tokenizer)
  texts = [text.replace('<mask>', mask) for text in MASKED]
  found = fill.fill_texts(module, params, tokenizer, texts)
  for text, out, spans in zip(texts, found.texts, found.spans):
    hit = fits(text, out, mask, make is byte_level, many=False)
    assert hit and ''.join(hit.groups()).strip() == ''.join(spans).strip()
  assert [len(spans) for spans in found.spans] == [2, 2, 0, 4]
  assert ('masks of a text filled:', 4) in said  # of the text of most masks


@pytest.mark.parametrize(
  ('masked', 'piece', 'filled'),
  [
    ('a <mask> here', '▁car', 'a car here'),  # it was 'acar here'
    ('a<mask>', '▁car', 'a car'),
    ('<mask> here', '▁car', 'car here'),
    (' <mask>, <mask>.', '▁car', 'car, car.'),
    ('a car<mask> here', 's', 'a cars here'),
    ('a car <mask>', '.', 'a car.'),
  ],
)
def test_words_of_a_sentencepiece_stand_apart(
  masked, piece, filled, monkeypatch
):
  tokenizer = sentence_piece()
  module, params = random_model('bert', tokenizer)
  one = tokenizer.token_to_id(piece)
  assert one is not None
  best = lambda module, params, texts, copies, *rest: np.full(
    len(copies.text), one
  )
  monkeypatch.setattr(fill.masked, 'best_tokens', best)
  found = fill.fill_texts(module, params, tokenizer, [masked])
  assert found.texts == [filled]


@needs_torch
@pytest.mark.parametrize('family', ['bert', 'roberta'])
def test_masked_lms_fill_as_one_text_at_a_time(tmp_path, family):
  import torch

  net = make_encoders.model(family, 'MaskedLM', initializer_range=1.5)
  net.save_pretrained(tmp_path)
  module = families.module(hf.read_shape(tmp_path), 'mask')
  params = jax.tree.map(jnp.asarray, hf.load(tmp_path, module).params)
  rng = np.random.default_rng(0)
  texts = []
  for n in (3, 9, 1, 6, 10, 8):
    text = rng.integers(5, 40, n)
    text[rng.random(n) < 0.4] = MASK
    texts.append(text)
  slow = []
  for text in texts:
    out = text.copy()
    for place in np.flatnonzero(text == MASK):
      with torch.no_grad():
        scores = net(input_ids=torch.tensor(out[None])).logits[0, place]
      scores[[MASK, *NEVER]] = -torch.inf
      out[place] = scores.argmax().item()
    slow += out.tolist()
  found = fill.fill(module, params, ragged(texts), MASK, NEVER, batch=4)
  assert found.flat.tolist() == slow


def test_bad_input_is_told_in_one_sentence():
  tokenizer = word_piece()
  module, params = random_model('bart', tokenizer)
  run = lambda texts, **rest: fill.infill_texts(
    module, params, tokenizer, texts, Options(**rest)
  )
  with pytest.raises(UserError, match='line 2 is empty'):
    run(['a [MASK]', ''])
  with pytest.raises(
    UserError, match=r'line 1 has more tokens than .* \(128\)'
  ):
    run(['a car ' * 80])
  with pytest.raises(UserError, match='text 0 may grow to'):
    run(['a [MASK] car'], max_span=200)
  plain = Tokenizer(models.WordLevel({'a': 0, '?': 1}, unk_token='?'))
  with pytest.raises(UserError, match='knows none of'):
    fill.mask_of(plain)
  split = Tokenizer(models.WordLevel({'a': 0, '?': 1, '[MASK]': 2}, '?'))
  split.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
  with pytest.raises(UserError, match=r"splits the special token '\[MASK\]'"):
    fill.mask_of(split)
