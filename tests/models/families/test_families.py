"""What every family promises: tables that agree with its modules, both ways."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small
from flax import traverse_util
from small import SMALL, params_of

from fairjax import models
from fairjax.config import Config, Net
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models import build, families
from fairjax.models.families import FAMILIES, deberta_v2, encoder
from fairjax.models.families.family import CAPABILITIES
from fairjax.models.folders import hf
from fairjax.models.layers import layer_params, places, probed

from ..batches import pack, pad
from ..small_encoder import TEXTS


def shape_of(family):
  return families.shape_from_hf({'model_type': family} | SMALL)


def modules(family):
  for can in families.find(family).heads:
    options = {'classes': 3} if can == 'classify' else {}
    yield can, families.module(shape_of(family), can, **options)


@pytest.mark.parametrize('family', FAMILIES)
def test_the_tables_agree_with_the_modules(family):
  """Every parameter has its tensor, config.json reads as it was written."""
  assert set(families.find(family).heads) <= set(CAPABILITIES)
  for can, module in modules(family):
    made = jax.eval_shape(module.init, jax.random.key(0), places.blank_batch())[
      'params'
    ]
    paths = set(traverse_util.flatten_dict(made, sep='/'))
    rows = families.tensors(module)
    assert {row.ours for row in rows} == paths, can
    assert len({name for row in rows for name in row.theirs}) == sum(
      len(row.theirs) for row in rows
    )
    written = json.loads(json.dumps(hf.hf_config(module)))
    assert families.shape_from_hf(written) == module.shape, can


ENCODERS = [f for f in FAMILIES if 'classify' in families.find(f).heads]


@pytest.mark.parametrize('family', ENCODERS)
@pytest.mark.parametrize('key', [None, jnp.uint32(7)])
def test_packed_equals_padded(family, key):
  shape = families.replaced(
    shape_of(family),
    **{
      name: 0.2 for name in vars(shape_of(family)) if name.endswith('dropout')
    },
  )
  module = families.module(shape, 'classify', classes=2)
  params = params_of(module)
  packed, padded = pack(TEXTS, 3, 16, 3, extra=2), pad(TEXTS, 13, extra=1)
  run = jax.jit(lambda b: module.apply({'params': params}, b, key))
  one, two = (run(b)[: len(TEXTS)] for b in (packed, padded))
  np.testing.assert_allclose(one, two, atol=1e-5)
  order = [3, 0, 4, 1, 2]  # and company do not matter either
  other = pack([TEXTS[i] for i in order], 3, 16, 2, extra=2)
  other['example'][:5] = packed['example'][order]
  np.testing.assert_allclose(run(other)[:5], one[np.array(order)], atol=1e-5)
  assert np.abs(one[0] - one[1]).max() > 1e-3
  junk = pack(TEXTS, 3, 16, 3, extra=2, junk=1)
  np.testing.assert_array_equal(run(junk), run(packed))
  assert not probed.uncovered(
    params, probed.zero_probes(module, params, packed)
  )


def test_the_buckets_of_distances_are_those_of_transformers(torch):
  """All that DeBERTa-v3 tells apart: 256 buckets of 512 places."""
  theirs = pytest.importorskip(
    'transformers.models.deberta_v2.modeling_deberta_v2'
  )
  for buckets, reach in ((256, 512), (4, 40)):
    shape = families.replaced(
      families.named('microsoft/deberta-v3-base'),
      buckets=buckets,
      farthest=reach,
    )
    far = theirs.make_log_bucket_position(
      torch.arange(1 - reach, reach), buckets, reach
    ).long()
    expect = torch.clamp(far + buckets, 0, 2 * buckets - 1).numpy()
    ours = deberta_v2.bucket_rows(shape, reach)
    np.testing.assert_array_equal(ours, expect)


def test_the_buckets_of_mpnet_are_those_of_transformers(torch):
  theirs = pytest.importorskip('transformers.models.mpnet.modeling_mpnet')
  places = torch.arange(512)
  expect = theirs.MPNetEncoder.relative_position_bucket(
    places[None] - places[:, None]
  )
  np.testing.assert_array_equal(encoder.bucket_of(32, 512), expect.numpy())


@pytest.mark.parametrize(
  'family, key, value, sentence', small.cases(__file__, 'refused.json')
)
def test_another_kind_of_model_is_refused_by_its_key(
  family, key, value, sentence
):
  more = {'num_attention_heads': 4} if key == 'hidden_size' else {}
  said = {'model_type': family} | SMALL | more | {key: value}
  with pytest.raises(UserError, match=sentence):
    families.shape_from_hf(said)


def test_a_folder_with_a_unigram_tokenizer_reads_as_transformers_does(tmp_path):
  """DeBERTa-v3's kind of tokenizer: sentencepiece, in tokenizer.json."""
  transformers = pytest.importorskip('transformers')
  pieces = ['[PAD]', '[CLS]', '[SEP]', '[UNK]', '[MASK]', '▁', '▁he', '▁she']
  pieces += ['▁is', '▁a', '▁nurse', 's', 'h', 'e', 'i', 'n', 'u', 'r', 'a']
  vocab = [
    (piece, 0.0 if piece[0] == '[' else -1.0 - 0.1 * i)
    for i, piece in enumerate(pieces)
  ]
  theirs = transformers.DebertaV2Tokenizer(vocab=vocab, unk_id=3)
  module = dict(modules('deberta-v2'))['classify']
  theirs.save_pretrained(tmp_path / 'words')
  hf.save(
    tmp_path / 'model',
    module,
    params_of(module),
    sorted((tmp_path / 'words').iterdir()),
  )
  bundle = models.load(tmp_path / 'model')
  assert (bundle.can, bundle.family) == ('classify', 'deberta-v2')
  texts = ['She is a nurse', 'he  is\na nurse', 'a zebra', '']
  tokenizer = tokens.load_tokenizer(tmp_path / 'model')
  ours = tokens.encode(tokenizer, texts, 40)
  again = transformers.AutoTokenizer.from_pretrained(tmp_path / 'model')
  for i, text in enumerate(texts):
    ids = ours.flat[ours.offsets[i] : ours.offsets[i + 1]]
    assert ids.tolist() == again(text)['input_ids'], text


@pytest.fixture(scope='module')
def words(tmp_path_factory):
  """Tokenizer files of at most 30 tokens."""
  folder = tmp_path_factory.mktemp('words')
  tokenizer = tokens.train_tokenizer(['a b c d e f', 'b a c'], 30)
  tokens.save_tokenizer(tokenizer, folder)
  return sorted(folder.iterdir())


def blank_of(module):
  init = jax.eval_shape(module.init, jax.random.key(0), places.blank_batch())
  return jax.tree.map(lambda a: np.zeros(a.shape, a.dtype), init['params'])


def folder_of(family, can, words, path, make=params_of, **changes):
  """A folder with random weights, and its module and parameters."""
  module = dict(modules(family))[can]
  params = make(module)
  hf.save(path, module, params, words)
  if changes:
    config = json.loads((path / 'config.json').read_text()) | changes
    (path / 'config.json').write_text(json.dumps(config))
  return module, params


NAMES = {'0': 'clean', '1': 'rude', '2': 'toxic'}


@pytest.mark.parametrize('family', ['mpnet', 'modernbert', 'deberta-v2'])
def test_a_classifier_keeps_its_names_and_fields(family, words, tmp_path):
  """Loaded as it is, and written again with what its config.json said."""
  more = {
    'id2label': NAMES,
    'label2id': {name: int(i) for i, name in NAMES.items()},
    'task_specific_params': {'threshold': 0.3},
    'problem_type': 'single_label_classification',
  }
  module, params = folder_of(family, 'classify', words, tmp_path / 'in', **more)
  bundle = models.load(tmp_path / 'in')
  assert (bundle.can, bundle.family) == ('classify', family)
  assert bundle.labels == ('clean', 'rude', 'toxic')
  assert bundle.longest == module.shape.longest
  batch = pad(TEXTS, 13)
  np.testing.assert_array_equal(
    bundle.apply(bundle.params, batch), module.apply({'params': params}, batch)
  )
  jax.tree.map(np.testing.assert_array_equal, bundle.params, params)
  out = tmp_path / 'out'
  hf.save(
    out, bundle.module, bundle.params, words, bundle.config, bundle.labels
  )
  before, after = hf.read_config(tmp_path / 'in'), hf.read_config(out)
  assert after == before


def test_a_folder_is_what_its_weights_are(words, tmp_path):
  for family, can in (
    ('bert', 'mask'),
    ('bert', 'embed'),
    ('electra', 'detect'),
    ('gpt2', 'write'),
    ('gpt2', 'tag'),
    ('llama', 'tag'),
    ('bart', 'write'),
  ):
    path = tmp_path / family / can
    folder_of(family, can, words, path, blank_of)
    bundle = models.load(path)
    assert (bundle.can, bundle.labels) == (can, ())


def test_what_a_model_cannot_do_is_said_with_what_it_can(words, tmp_path):
  folder_of('bert', 'mask', words, tmp_path / 'masked', blank_of)
  with pytest.raises(
    UserError,
    match=r'no weights to classify texts; it can '
    r'fill masks and embed tokens, so train a classifier',
  ):
    models.load(tmp_path / 'masked', 'classify')
  with pytest.raises(
    UserError,
    match=r'is a bert, which can classify texts, '
    r'fill masks and embed tokens, but not write texts; name a model of '
    r'another family \(bart, gpt2',
  ):
    models.load(tmp_path / 'masked', 'write')
  folder_of('gpt2', 'write', words, tmp_path / 'gpt2', blank_of)
  can = 'which can tag words from left to right, write texts and score texts'
  with pytest.raises(UserError, match=can):
    models.load(tmp_path / 'gpt2', 'classify')


def test_a_tokenizer_of_another_model_is_refused(words, tmp_path):
  """Neither ids beyond the vectors, nor words that would become unknown."""
  folder_of('bert', 'mask', words, tmp_path / 'm', blank_of)
  many = [f'w{i}' for i in range(400)]
  tokenizer = tokens.train_tokenizer([' '.join(many)], 300)
  tokens.save_tokenizer(tokenizer, tmp_path / 'more')
  with pytest.raises(UserError, match='has vectors for 30; give the tokenizer'):
    models.load(tmp_path / 'm', tokenizer=tmp_path / 'more')
  shape = families.replaced(shape_of('bert'), vocab=600)
  module = families.module(shape, 'mask')
  hf.save(tmp_path / 'large', module, blank_of(module), words)
  with pytest.raises(UserError, match='would become unknown'):
    models.load(tmp_path / 'large')


@pytest.mark.parametrize('given', [(), (0.2,), (0.2, 0.15)])
def test_attention_has_the_second_rate_of_dropout(given):
  """Meade et al.'s two rates stopped the mitigation `dropout`."""
  shape, config = shape_of('bert'), Config(net=Net(dropout=given))
  found = build.with_dropout(shape, config)
  own = shape.dropout, shape.attention_dropout
  wanted = (*given, *own[len(given) :])
  assert (found.dropout, found.attention_dropout) == wanted


def test_decay_goes_by_name():
  module = families.module(shape_of('bert'), 'classify', classes=2)
  made = jax.eval_shape(module.init, jax.random.key(0), places.blank_batch())
  decay = jax.tree_util.tree_map_with_path(
    lambda path, leaf: layer_params.decays(path), made['params']
  )
  flat = traverse_util.flatten_dict(decay)
  assert {path[-1]: value for path, value in flat.items()} == {
    'kernel': True,
    'embedding': True,
    'bias': False,
    'scale': False,
  }
  assert not models.decays(('bias',))  # BART's constant of shape [1, v]
