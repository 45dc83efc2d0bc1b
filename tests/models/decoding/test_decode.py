"""Decoding: token for token what transformers.generate writes, only faster."""

import dataclasses
import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small
from golden import make_seq2seq
from small import needs_torch, params_of

from fairjax.bench.races import generate as race
from fairjax.config import Config, Pretrain
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption
from fairjax.data.batching import tokens as data_tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import families, pretraining, special
from fairjax.models.decoding import decode_slots, decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.folders import folder, hf
from fairjax.models.folders import options as folder_options
from fairjax.models.kernels import platform_traits
from fairjax.models.layers import layer_params

from .. import near_copy, seq2seq

EOS, PROMPTS, MOST = 2, 20, 22

# Our options, and the names that transformers has for them.
CASES = small.cases(__file__, 'bart_options.json')
THEIRS = {
  'beams': 'num_beams',
  'max_new_tokens': 'max_new_tokens',
  'min_new_tokens': 'min_new_tokens',
  'no_repeat_ngram_size': 'no_repeat_ngram_size',
  'forced_bos_token_id': 'forced_bos_token_id',
  'forced_eos_token_id': 'forced_eos_token_id',
}


def ragged(texts):
  offsets = np.concatenate([[0], np.cumsum([len(t) for t in texts])])
  flat = np.concatenate([np.zeros(0, np.int32), *texts]).astype(np.int32)
  return Ragged(flat, offsets.astype(np.int64))


def rows_of(found):
  texts = np.split(found.tokens.flat, found.tokens.offsets[1:-1])
  return [one.tolist() for one in texts]


def written(module, params, texts, options, slots):
  found = decode_texts.generate(module, params, ragged(texts), options, slots)
  return rows_of(found)


def prompts(count, seed, low=1, high=14):
  rng = np.random.default_rng(seed)
  lengths = rng.integers(low, high, count)
  return [rng.integers(4, 41, n).astype(np.int32) for n in lengths]


def nets():
  bart = make_seq2seq.model('bart', seed=4, init_std=0.8, decoder_layers=1)
  bart.final_logits_bias[0, EOS] = 6.0  # so that texts end at many lengths
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
  ready = decode_texts.ready(module, params)
  ours = written(module, ready, texts, Options(**options), slots=8)
  assert ours == theirs(net, texts, options)
  assert len({len(row) for row in ours}) > 1


@needs_torch
@pytest.mark.parametrize(
  'case',
  [
    {'max_new_tokens': 9},
    {'max_new_tokens': 9, 'num_beams': 2, 'length_penalty': 0.5},
    {'max_new_tokens': 9, 'no_repeat_ngram_size': 2, 'min_new_tokens': 7},
  ],
)
def test_gpt2_writes_what_transformers_writes(models, case):
  net, module, params = models['gpt2']
  texts = prompts(9, seed=11)
  ready = decode_texts.ready(module, params)
  ours = written(module, ready, texts, Options(**case), slots=4)
  # One at a time: a padded prompt would count for min and n-grams there.
  assert ours == [theirs(net, [t], case)[0] for t in texts]


FOLDERS = small.cases(__file__, 'folder_options.json')


@needs_torch
@pytest.mark.parametrize('name', FOLDERS)
def test_a_folder_says_how_it_decodes(models, name, tmp_path):
  """generate() of transformers without a word, and ours from the folder."""
  import transformers

  net = models['bart'][0]
  before = net.generation_config
  net.generation_config = transformers.GenerationConfig(
    **{'eos_token_id': EOS, 'decoder_start_token_id': EOS} | FOLDERS[name]
  )
  try:
    net.save_pretrained(tmp_path)
    texts = prompts(8, seed=31)
    peer = theirs(net, texts, {})
  finally:
    net.generation_config = before
  data_tokens.save_tokenizer(
    data_tokens.train_tokenizer(['a car'], 41), tmp_path
  )
  model = folder.language_model(Config(model=str(tmp_path)))
  ours = written(model.module, model.params, texts, model.options, slots=4)
  assert ours == peer and (ours[0][0] == 5) == (name == 'start')
  # Old folders say it in config.json.
  said = (tmp_path / 'generation_config.json').read_text()
  (tmp_path / 'generation_config.json').unlink()
  config = json.loads((tmp_path / 'config.json').read_text())
  (tmp_path / 'config.json').write_text(json.dumps(config | json.loads(said)))
  again = folder.language_model(Config(model=str(tmp_path)))
  assert again.options == model.options
  assert again.module.shape == model.module.shape


TEXTS = ['the nurse said that she was late', 'a doctor and his car', 'x y z']
EXPORTS = {
  'bart': (pretraining.denoiser, 'AutoModelForSeq2SeqLM'),
  'gpt2': (pretraining.next_token, 'AutoModelForCausalLM'),
}


@needs_torch
@pytest.mark.parametrize('name', EXPORTS)
def test_what_we_export_writes_the_same_in_transformers(
  name, tmp_path, monkeypatch
):
  """Our own vocabulary, whose ends are not BART's; nothing told to either."""
  import torch
  import transformers

  monkeypatch.setitem(families.SIZES, 'tiny', (1, 64))
  monkeypatch.setattr(families, 'PLACES', 24)
  make, kind = EXPORTS[name]
  words = data_tokens.train_tokenizer(TEXTS, 60)
  told = Config(model='tiny', pretrain=Pretrain(length=16))
  model = make(told, corruption.vocabulary(words))
  rng = np.random.default_rng(3)
  params = jax.tree.map(
    lambda a: a + rng.normal(0, 0.4, a.shape).astype(np.float32), model.init(0)
  )
  data_tokens.save_tokenizer(words, tmp_path / 'words')
  files = list((tmp_path / 'words').iterdir())
  hf.save(tmp_path / 'out', model.module, params, files)
  read = folder.language_model(Config(model=str(tmp_path / 'out')))
  assert read.module.shape == model.module.shape
  found = decode_texts.generate(
    read.module, read.params, data_tokens.encode(words, TEXTS, 24), read.options
  )
  ours = rows_of(found)
  net = getattr(transformers, kind).from_pretrained(tmp_path / 'out').eval()
  tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / 'out')
  peer = []
  for text in TEXTS:
    with torch.no_grad():
      out = net.generate(**tokenizer(text, return_tensors='pt'))
    peer.append(out[0].tolist())
  assert ours == peer
  assert max(map(len, ours)) == 24  # one is as long as may be
  if name == 'bart':
    assert {row[0] for row in ours} | {row[-1] for row in ours} == {3}
  # A folder that says how to decode says it again.
  (tmp_path / 'generation_config.json').write_text('{"num_beams": 3}')
  files.append(tmp_path / 'generation_config.json')
  hf.save(tmp_path / 'again', model.module, params, files)
  assert folder_options.folder_options(tmp_path / 'again').num_beams == 3


@needs_torch
@pytest.mark.parametrize('beams', [1, 3])
def test_slots_company_and_order_do_not_matter(models, beams):
  _, module, params = models['bart']
  texts, params = prompts(9, seed=1), decode_texts.ready(module, params)
  options = Options(max_length=MOST, num_beams=beams)
  whole = written(module, params, texts, options, slots=8)  # compiled above
  few = jax.devices()[: 2 if beams == 1 else 1]  # each compiles its own
  other = decode_texts.generate(
    module, params, ragged(texts[::-1]), options, slots=2, devices=few
  )
  assert rows_of(other)[::-1] == whole
  assert other.row_written.min() > 0


@needs_torch
def test_weights_cast_once_write_the_same(models):
  """What an accelerator decodes with, against casting at every token."""
  _, module, params = models['bart']
  module = dataclasses.replace(module, dtype=jnp.bfloat16)
  narrow = layer_params.cast(params, module.dtype)
  assert narrow['word']['embedding'].dtype == jnp.bfloat16
  layer = narrow['decoder']['layer_0']
  assert layer['up']['bias'].dtype == jnp.bfloat16  # a product's
  assert layer['norm']['bias'].dtype == layer['norm']['scale'].dtype
  assert layer['norm']['scale'].dtype == np.float32
  assert narrow['bias'].dtype == np.float32  # added to float32 scores
  texts, options = prompts(4, seed=1), Options(max_length=9)
  run = lambda p: written(module, p, texts, options, slots=4)
  assert run(narrow) == run(params)


def repeating(**more):
  """A BART that repeats its source but for 13 and 21."""
  shape = dataclasses.replace(race.SHAPES['tiny'], vocab=41, **more)
  module = near_copy.NearCopy(shape, swaps=(13, 21))
  return module, params_of(module)


def repeated(texts):
  wanted = [[EOS, *np.where(np.isin(t, (13, 21)), t + 1, t)] for t in texts]
  return [list(map(int, row)) for row in wanted]


def test_where_compiling_is_dear_few_programs_write_the_same(monkeypatch):
  """Of texts of three lengths, one of each kind a width (else 3 of three)."""
  mine = platform_traits.PLATFORMS['cpu']._replace(sparing=True)
  monkeypatch.setitem(platform_traits.PLATFORMS, 'cpu', mine)
  module, params = repeating(depth=1, decoder_depth=1)
  texts = [
    np.append(t, EOS)
    for i, width in enumerate((5, 20, 45))
    for t in prompts(3, seed=i, low=width, high=width + 1)
  ]
  programs = (decode_slots.admit, decode_slots.advance)
  before = [one._cache_size() for one in programs]
  ours = written(module, params, texts, Options(max_length=48), slots=3)
  made = [one._cache_size() - b for one, b in zip(programs, before)]
  assert made == [2, 2]  # 32 and 64 tokens
  assert ours == repeated(texts)


def test_buckets_keep_every_row_and_fill_slots():
  lengths = np.random.default_rng(0).integers(1, 300, 500)
  seen = []
  for width, rows in decode_texts.buckets(lengths, 32):
    assert lengths[rows].max() <= width
    assert len(rows) >= 32
    seen += rows.tolist()
  assert sorted(seen) == list(range(500))
  assert len(list(decode_texts.buckets(lengths, 32))) < 14
  assert not list(decode_texts.buckets(lengths[:0], 32))


@pytest.mark.parametrize(
  'options, texts, sentence',
  [
    ({}, [[5], []], 'text 1 has no token'),
    ({}, [[5] * 40], 'text 0 has more tokens than .* positions'),
    ({}, [[5], [5, 77, 5]], 'text 1 has the token 77, but the model knows 41'),
    ({'max_length': 99}, [[5]], 'max_length is 99, but'),
    ({'max_length': 1}, [[5]], 'text 0 has 1 tokens, which leaves no room'),
    ({'forced_bos_token_id': 50}, [[5]], 'forced_bos_token_id is 50'),
    ({'num_beams': 0}, [[5]], 'num_beams is 0'),
    ({'early_stopping': 'soon'}, [[5]], "early_stopping is 'soon'"),
    ({'min_length': -1}, [[5]], 'min_length is -1'),
  ],
)
def test_bad_input_is_told_in_one_sentence(tmp_path, options, texts, sentence):
  module, params = seq2seq.load(seq2seq.frozen('bart'), tmp_path)
  with pytest.raises(UserError, match=sentence):
    decode_texts.generate(module, params, ragged(texts), Options(**options))


def test_weights_of_another_vocabulary(tmp_path):
  module, params = seq2seq.load(seq2seq.frozen('bart'), tmp_path)
  module = special.resized(module, 44)
  with pytest.raises(UserError, match=r'weights have 41 tokens and .* 44'):
    decode_texts.generate(module, params, ragged([[5]]))


def test_texts_to_texts(tmp_path):
  module, params = seq2seq.load(seq2seq.frozen('bart'), tmp_path)
  words = data_tokens.train_tokenizer(['the nurse and the car'], 41)
  texts = ['the car', 'a nurse and her']
  run = functools.partial(
    decode_texts.generate_texts,
    module,
    params,
    words,
    options=Options(max_new_tokens=5),
  )
  written, found = run(texts)
  assert len(written) == 2 and found.row_written.sum() == sum(
    len(row) - 1 for row in rows_of(found)
  )
  with pytest.raises(UserError, match='line 2 is empty'):
    run(['the car', ' '])
  with pytest.raises(UserError, match='line 1 has more tokens'):
    run(['the car ' * 40])
