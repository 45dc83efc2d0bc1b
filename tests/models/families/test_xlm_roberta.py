"""XLM-RoBERTa is RoBERTa under another name of its own."""

import jax
import numpy as np
from small import params_of

from fairjax.models import families
from fairjax.models.families import roberta, xlm_roberta


def test_it_is_roberta_in_everything_but_its_names():
  small = {'depth': 2, 'width': 16, 'places': 12}
  ours, theirs = xlm_roberta.sized(**small), roberta.sized(**small)
  ours, theirs = (
    type(one)(**{**vars(one), 'vocab': 40, 'heads': 2})
    for one in (ours, theirs)
  )
  tokens = np.random.default_rng(0).integers(3, 40, (1, 9)).astype(np.int32)
  batch = {
    'tokens': tokens,
    'segment_ids': np.ones((1, 9), np.int32),
    'positions': np.arange(9, dtype=np.int32)[None],
    'head_columns': np.zeros((1, 1), np.int32),
    'head_index': np.zeros(1, np.int32),
    'example': np.zeros(1, np.int32),
  }
  one, two = (
    families.module(shape, 'classify', classes=3) for shape in (ours, theirs)
  )
  params = params_of(one)
  run = lambda module: jax.jit(module.apply)({'params': params}, batch)
  np.testing.assert_array_equal(run(one), run(two))
  own = xlm_roberta.FAMILY
  assert families.tensors(one) == families.tensors(two)
  assert own.prefix == 'roberta.' and own.name == 'xlm-roberta'
  assert own.heads['classify'].architecture == (
    'XLMRobertaForSequenceClassification'
  )
  assert families.find('xlm-roberta') is own
