"""What a full-size MBCDA would need, counted and never run."""

import jax
import numpy as np
import pytest

from fairjax import config as c
from fairjax.data.batching import seq2seq
from fairjax.data.batching.tokens import Ragged
from fairjax.recipes.mbcda import recipe, size


def config_of(generator):
  config = c.shipped('mbcda_planted')
  config.rewriters.generator = generator
  config.adversary.dry_run = 1000
  return config


def test_the_published_discriminator_has_its_published_size():
  """MBCDA's code at BART-base: 169,222,268 of tokens, 592,130 of the head."""
  model = size.players(config_of('facebook/bart-base'), True, False)
  shapes = jax.eval_shape(lambda: model.init(0))['discriminator']
  count = sum(leaf.size for leaf in jax.tree.leaves(shapes))
  assert count == 169_222_268 + 592_130


def test_an_abstract_batch_is_one_of_whole_rows():
  flat = np.ones(12 * 16, np.int32)
  texts = Ragged(flat, np.arange(13, dtype=np.int64) * 16)
  real = next(iter(seq2seq.sweep(seq2seq.pool(texts, texts), 12)))
  shapes = size.abstract_batch(12, 16)
  assert shapes.pop('push').shape == ()
  places = lambda a: int(np.prod(a.shape))
  assert {k: places(v) for k, v in shapes.items()} == {
    k: places(np.asarray(v)) for k, v in real.items()
  }


@pytest.mark.slow
def test_folding_spares_the_logits(tmp_path):
  config = config_of('tiny')
  results = recipe.run(config, tmp_path)
  facts = results.facts
  assert facts['steps of a generator'] == 375
  places, words, inner = 32 * 48, 50265, 3265
  # Two products of the logits with the first layer, forward and back; of
  # folding, one of the table with it, and one of the states.
  spared = 2 * 2 * places * words * inner / 1e12
  flops = [facts[f'TFLOPs of a step, {k}'] for k in ('with logits', 'folded')]
  assert flops[0] - flops[1] > 0.9 * spared
  logits = facts['logits of a step in GB, were they made']
  np.testing.assert_allclose(logits, places * words * 4 / 1e9)
  memory = [
    facts[f'a step in GB, {k} (gradients and activations)']
    for k in ('with logits', 'folded')
  ]
  assert memory[0] - memory[1] > logits
