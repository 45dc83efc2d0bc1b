"""New tokens: one id each, old logits as they were, folders in and out."""

import jax
import numpy as np
import pytest
from tokenizers import AddedToken

from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import families, special
from fairjax.models.families import encoder, gpt2
from fairjax.models.folders import hf

from . import seq2seq

TEXTS = ['the nurse said that she was late', 'a doctor and his car', 'x y z']
NEW = ['<PERT_SEP>', '<SEP>']


@pytest.fixture
def tokenizer():
  return tokens.train_tokenizer(TEXTS, 41)


def full_tokenizer():
  """One whose 41 tokens leave no room in tables of 41 rows."""
  made = tokens.train_tokenizer(TEXTS, 41)
  made.add_special_tokens([f'<{i}>' for i in range(41 - made.get_vocab_size())])
  return made


@pytest.fixture
def model(tmp_path):
  return seq2seq.load(seq2seq.frozen('bart'), tmp_path)


def test_tokens_enter_tokenizer_and_weights(tokenizer, model):
  _, params = model
  params['word']['embedding'] += 3.0  # a mean that is not about 0
  known = tokenizer.get_vocab_size()
  assert known <= 41
  grown, size = special.add_tokens(tokenizer, params, NEW, seed=1)
  assert size == max(41, known + 2)
  assert [tokenizer.token_to_id(t) for t in NEW] == [known, known + 1]
  ids = tokenizer.encode('his, man <PERT_SEP> The nurse').ids
  assert ids.count(known) == 1
  table, old = (p['word']['embedding'] for p in (grown, params))
  kept = np.delete(np.arange(41), [i for i in (known, known + 1) if i < 41])
  np.testing.assert_array_equal(table[kept], old[kept])
  drawn = table[known : known + 2] - old.mean(0)
  assert np.all(np.abs(drawn) < 5 * special.NOISE * old.std(0))
  assert np.abs(drawn[0] - drawn[1]).max() > 0
  # Equal seeds, equal rows; a token that is known stays as it is.
  fresh = tokens.train_tokenizer(TEXTS, 41)
  again, _ = special.add_tokens(fresh, params, NEW, seed=1)
  np.testing.assert_array_equal(again['word']['embedding'], table)
  other, _ = special.add_tokens(fresh, grown, NEW, seed=2)
  np.testing.assert_array_equal(other['word']['embedding'], table)


def test_old_scores_stay_and_the_folder_is_whole(tokenizer, model, tmp_path):
  module, params = model
  tokenizer.add_special_tokens([f'<{i}>' for i in range(41)])
  with pytest.raises(UserError, match=r'has \d+ tokens, .* vectors for 41'):
    special.add_tokens(tokenizer, params, NEW, seed=0)
  tokenizer = full_tokenizer()
  grown, size = special.add_tokens(tokenizer, params, NEW, seed=0)
  assert size == 43
  bigger = special.resized(module, size)
  batch = seq2seq.batch_of([np.arange(4, 9)], [np.arange(5, 8)])
  before = seq2seq.runner(module, params)('__call__', batch)
  after = seq2seq.runner(bigger, grown)('__call__', batch)
  np.testing.assert_allclose(after[..., :41], before, atol=1e-5)
  tokens.save_tokenizer(tokenizer, tmp_path / 'words')
  hf.save(
    tmp_path / 'out', bigger, grown, (tmp_path / 'words').glob('tokenizer*')
  )
  back = seq2seq.module_of(tmp_path / 'out')
  assert back.shape.vocab == 43
  loaded = hf.load(tmp_path / 'out', back).params
  np.testing.assert_array_equal(
    loaded['word']['embedding'], grown['word']['embedding']
  )
  tokenizer = tokens.load_tokenizer(tmp_path / 'out')
  special.check_vocabulary(tokenizer, back.shape.vocab)
  for token in NEW:
    special.check_whole(tokenizer, token)


SMALL = {'vocab': 41, 'width': 16, 'depth': 1, 'heads': 2, 'hidden': 24}
FAMILIES = {
  'bert': (encoder.EncoderShape(**SMALL, embedding=16), 'BertForMaskedLM'),
  'untied': (
    encoder.EncoderShape(**SMALL, embedding=16, tied=False),
    'BertForMaskedLM',
  ),
  'electra': (
    encoder.EncoderShape(**SMALL, embedding=8, family='electra'),
    'ElectraForMaskedLM',
  ),
  'gpt2': (gpt2.GPT2Shape(**SMALL, positions=40), 'GPT2LMHeadModel'),
}


@pytest.mark.parametrize('family', FAMILIES)
def test_every_head_grows_and_transformers_reads_it(family, tmp_path, torch):
  transformers = pytest.importorskip('transformers')
  shape, kind = FAMILIES[family]
  module = families.module(shape, 'write' if family == 'gpt2' else 'mask')
  draw = np.random.default_rng(0)
  params = jax.tree.map(
    lambda a: a + draw.normal(0, 0.3, a.shape).astype(np.float32),
    hf.complete(module, {}, jax.random.key(0)),
  )
  words = full_tokenizer()
  grown, size = special.add_tokens(words, params, NEW, seed=0)
  assert size == 43
  bigger = special.resized(module, size)
  ids = words.encode('the nurse and his car').ids
  scores = lambda m, p, i: seq2seq.runner(m, p)(
    '__call__', seq2seq.batch_of([np.array(i)])
  )[0, : len(i)]
  before, after = scores(module, params, ids), scores(bigger, grown, ids)
  np.testing.assert_allclose(after[..., :41], before, atol=1e-5)
  assert np.abs(after[..., 41:]).max() < 2 * np.abs(before).max()
  tokens.save_tokenizer(words, tmp_path / 'words')
  hf.save(tmp_path / 'out', bigger, grown, (tmp_path / 'words').iterdir())
  text = 'his car <PERT_SEP> the nurse <SEP>'
  ids = words.encode(text).ids
  assert {41, 42} <= set(ids)
  theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / 'out')
  assert theirs(text).input_ids == ids
  net = getattr(transformers, kind).from_pretrained(tmp_path / 'out').eval()
  with torch.no_grad():
    found = net(torch.tensor([ids])).logits[0].numpy()
  np.testing.assert_allclose(scores(bigger, grown, ids), found, atol=2e-5)


def test_a_token_that_is_split(tokenizer):
  with pytest.raises(UserError, match="splits the special token '<SEP>' into"):
    special.check_whole(tokenizer, '<SEP>')
  # Known as a word that is matched only within other words.
  tokenizer.add_tokens([AddedToken('late', single_word=True)])
  special.check_whole(tokenizer, 'late')


@pytest.mark.parametrize(
  'vocab, sentence',
  [
    (40, 'has 41 tokens, but it has vectors for 40'),
    (41, ''),
    (41 + 128, ''),  # padded to a round number
    (41 + 129, 'words that it lacks would become unknown'),
  ],
)
def test_a_vocabulary_of_another_size_than_the_model_is_refused(
  vocab, sentence
):
  tokenizer = full_tokenizer()
  if not sentence:
    special.check_vocabulary(tokenizer, vocab, 'it')
    return
  with pytest.raises(UserError, match=sentence):
    special.check_vocabulary(tokenizer, vocab, 'it')
