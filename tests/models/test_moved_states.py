"""A text written from moved states: what moves, where to, nothing else."""

import jax
import numpy as np

from fairjax.data.batching import tokens
from fairjax.models import Bundle, moved_states
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.families import bart
from fairjax.models.layers.places import blank_batch

TEXTS = [f'{who} saw a {what}' for who in ('she', 'he') for what in 'abcdef']
GROUP = np.repeat([0, 1], 6)


def tiny() -> Bundle:
  tokenizer = tokens.train_tokenizer(TEXTS * 3, 60)
  mark = tokenizer.token_to_id
  shape = bart.BartShape(
    vocab=tokenizer.get_vocab_size(),
    width=16,
    depth=1,
    heads=2,
    hidden=24,
    decoder_depth=1,
    decoder_heads=2,
    decoder_hidden=24,
    longest=24,
    pad=mark('[PAD]'),
    bos=mark('[CLS]'),
    eos=mark('[SEP]'),
    start=mark('[SEP]'),
  )
  module = bart.Bart(shape)
  params = module.init(jax.random.key(0), blank_batch())['params']
  params = jax.tree.map(lambda a: a * 8, params)
  return Bundle(
    None, None, module, params, tokenizer=tokenizer, longest=24, can='write'
  )


def test_states_move_by_the_gap_to_the_other_group():
  """Means of each text by itself, and the groups' means exchanged."""
  model = tiny()
  x = moved_states.pooled(model, TEXTS)
  for i in (0, 7):
    alone = moved_states.pooled(model, TEXTS[i : i + 1])
    np.testing.assert_allclose(x[i], alone[0], atol=1e-5)
  new = moved_states.moved(model, TEXTS, GROUP, 1.0)
  gap = x[6:].mean(0) - x[:6].mean(0)
  side = np.sign((x - (x[6:].mean(0) + x[:6].mean(0)) / 2) @ gap)
  expected = x - side[:, None] * gap
  np.testing.assert_allclose(
    moved_states.pooled(new, TEXTS), expected, atol=1e-4
  )
  own = side == np.where(GROUP == 1, 1, -1)
  assert own.mean() > 0.7  # told by its own words


def test_a_move_of_nothing_writes_what_the_model_writes():
  model = tiny()
  write = lambda one: decode_texts.generate_texts(
    one.module, one.params, one.tokenizer, TEXTS[:3], Options(max_length=12)
  )[0]
  plain = write(model)
  assert write(moved_states.moved(model, TEXTS, GROUP, 0.0)) == plain
  assert write(moved_states.moved(model, TEXTS, GROUP, 6.0)) != plain
