"""Audits of Hugging Face folders and of our runs, and the rows behind a gap."""

import jax
import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax.config import Config
from fairjax.data import audit_table, tokens
from fairjax.errors import UserError
from fairjax.models import families, hf, places
from fairjax.recipes import audit as recipe
from fairjax.recipes import audit_models

SHAPE = {
  'model_type': 'bert',
  'vocab_size': 120,
  'hidden_size': 16,
  'num_hidden_layers': 1,
  'num_attention_heads': 2,
  'intermediate_size': 24,
  'max_position_embeddings': 40,
  'initializer_range': 0.4,
}


DEBERTA = SHAPE | {
  'model_type': 'deberta-v2',
  'relative_attention': True,
  'share_att_key': True,
  'position_biased_input': False,
  'norm_rel_ebd': 'layer_norm',
  'pos_att_type': 'p2c|c2p',
  'position_buckets': 8,
}


def rows(n=80):
  rng = np.random.default_rng(0)
  label, sex = rng.integers(0, 2, n), rng.integers(0, 2, n)
  texts = [
    f'{"she" if s else "he"} was {"bad" if y else "good"} in the big house'
    for y, s in zip(label, sex)
  ]
  return pd.DataFrame(
    {
      'text': texts,
      'label': np.array(['fine', 'rude'])[label],
      'gender': np.array(['male', 'female'])[sex],
    }
  )


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
  return written(tmp_path_factory.mktemp('model'), SHAPE)


def written(path, shape):
  """A classifier of random weights, with names of its own."""
  tokenizer = tokens.train_tokenizer(list(rows()['text']), 120)
  tokens.save_tokenizer(tokenizer, path / 'words')
  module = families.module(families.shape_from_hf(shape), 'classify', classes=2)
  params = jax.jit(module.init)(jax.random.key(0), places.blank_batch())
  files = sorted((path / 'words').iterdir())
  target = path / 'mine'
  hf.save(target, module, params['params'], files, {}, ('rude', 'fine'))
  return target


def config(**audit):
  made = Config(recipe='audit', seeds=1)
  made.data.name, made.measures.resamples = 'file', 100
  for key, value in audit.items():
    setattr(made.audit, key, value)
  return made


def test_a_folder_is_read_with_its_own_names(folder):
  frame = rows()
  made = config(groups=('gender',))
  found, parts = recipe.audit(
    made, str(folder), audit_table.of_frame(frame, made)
  )
  model = fairjax.load(folder)
  p = model.predict_proba(frame['text'])
  assert model._placed()[0] is model._placed()[0]  # so it is compiled once
  (one,) = parts.values()
  # The model's class 0 is rude, the data's class 1.
  np.testing.assert_allclose(one.scores[0], p[:, 0], atol=1e-6)
  assert found.classes == ['fine', 'rude']
  assert 'flips' in found.measured(found.focus, 'data')
  wrong = frame.assign(label=frame['label'].map({'fine': 'a', 'rude': 'b'}))
  made.data.labels = 'a=0,b=1'
  with pytest.raises(UserError, match='calls its classes rude, fine'):
    recipe.audit(made, str(folder), audit_table.of_frame(wrong, made))


@pytest.mark.parametrize('shape', [SHAPE, DEBERTA], ids=['BERT', 'DeBERTa'])
def test_the_training_rows_behind_a_gap_are_listed(shape, tmp_path):
  folder, frame = written(tmp_path / 'model', shape), rows()
  frame.to_csv(tmp_path / 'train.csv', index=False)
  made = config(groups=('gender',), training=str(tmp_path / 'train.csv'))
  found, _ = recipe.audit(made, str(folder), audit_table.of_frame(frame, made))
  section = next(
    s for s in found.sections if s['heading'].startswith('What it hangs on')
  )
  strip = next(p for p in section['parts'] if p['part'] == 'texts')
  values = [float(row['influence']) for row in strip['rows']]
  assert values == sorted(values, reverse=True) and values[0] > 0
  # Equal texts with equal labels have equal influence.
  same = {(r['text'], r['label']): r['influence'] for r in strip['rows']}
  assert all(
    same[r['text'], r['label']] == r['influence'] for r in strip['rows']
  )
  with pytest.raises(UserError, match='no Flax model'):
    recipe.audit(
      made, lambda t: np.full(len(t), 0.4), audit_table.of_frame(frame, made)
    )


def test_a_config_comes_back_from_its_json():
  import dataclasses
  import json

  made = config(groups=('a', 'b'), costs='fp=1')
  made.train.lr = 0.5
  tree = json.loads(json.dumps(dataclasses.asdict(made)))
  assert audit_models.config_of(tree) == made


def test_a_run_of_ours_is_audited_by_its_weights(tmp_path):
  """The model of a run is made again; its predictions come out as kept."""
  from fairjax import artefacts, stages
  from fairjax.recipes import train

  small = Config(model='tiny', seeds=2)
  small.planted.rows, small.planted.test_rows = 24, 20
  small.tokens.vocab_size, small.tokens.max_length = 150, 16
  small.train.batch, small.train.epochs = 12, 1.0
  small.measures.resamples = 50
  artefacts.write_json(tmp_path / 'run' / 'config.json', small)
  train.run(small, tmp_path / 'run')
  kept = artefacts.read_table(tmp_path / 'run' / 'predictions.parquet')
  before = stages.predictions(kept)['test']
  made = config()
  made.data, made.planted = small.data, small.planted
  found, parts = recipe.audit(
    made, str(tmp_path / 'run'), audit_table.read(made)
  )
  (one,) = parts.values()
  assert found.seeds == [0, 1] and one.edits
  np.testing.assert_allclose(one.chances, before, atol=1e-6)
  (weights,) = (tmp_path / 'run').glob('training/*/weights.safetensors')
  weights.unlink()
  _, parts = recipe.audit(made, str(tmp_path / 'run'), audit_table.read(made))
  (one,) = parts.values()
  np.testing.assert_allclose(one.chances, before, atol=1e-6)
  assert not one.edits
