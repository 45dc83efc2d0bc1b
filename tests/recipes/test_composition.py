"""Methods one after the other, weights of diets, weights of transformers."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import small

from fairjax import config as c
from fairjax import stages
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.data.batching import batches
from fairjax.data.sets import planted
from fairjax.methods import METHODS, diet_rows
from fairjax.recipes import compare
from fairjax.recipes.diet import algorithm as diets
from fairjax.recipes.diet import experiment, rank
from fairjax.recipes.weighting import algorithm
from fairjax.stages import Experiment
from fairjax.train import loop
from fairjax.train.progress import Log

SMALL = small.config(
  method=c.Method(name='reweight'),
  weighting=c.Weighting(z='gender', estimator='count', folds=2),
  diet=c.Diet(factual=0.6, counterfactual=0.3, compare=('none',)),
)


@pytest.fixture(scope='module')
def tables():
  return planted.load(SMALL)


def of(name: str, **method) -> c.Config:
  return dataclasses.replace(SMALL, method=c.Method(name=name, **method))


@pytest.mark.parametrize(
  'name', ('augment+reweight', 'balance + augment + reweight', 'blind+augment')
)
def test_a_chain_is_its_methods_in_turn(name, tables, tmp_path):
  log = Log(tmp_path)
  made = stages.mitigate(of(name), tables, log)
  expect, notes = tables, []
  for one in name.split('+'):
    expect = find(METHODS, 'method', one.strip())(expect, of(one))
  for split, table in expect.items():
    pd.testing.assert_frame_equal(made[split], table)
  train = made['train']
  assert train['id'].is_unique and set(train['origin']) > {'twin'}
  if 'reweight' in name:
    every = pd.concat([made['train'], made['valid']])
    assert every.groupby('label')['weight'].mean().tolist() == pytest.approx(
      [1, 1]
    )
  notes = stages.notes(made)
  assert len(set(notes)) >= name.count('+')
  assert any('joined' in note for note in notes)
  if 'balance' in name:
    assert any('of each group and label' in note for note in notes)


def test_a_blind_link_blinds_the_tests(tables):
  sets = {'test': tables['test']}
  seen = stages.as_read(of('augment+blind'), sets)['test']
  whole = stages.as_read(of('blind'), sets)['test']
  assert seen['text'].tolist() == whole['text'].tolist()
  assert seen['text'].tolist() != tables['test']['text'].tolist()
  assert stages.as_read(of('augment+reweight'), sets) is sets


def test_an_unknown_link_is_one_sentence(tables, tmp_path):
  with pytest.raises(UserError, match=r"no method 'reweigh'.*'reweight'"):
    stages.mitigate(of('augment+reweigh'), tables, Log(tmp_path))
  with pytest.raises(UserError, match="no method ''"):
    stages.mitigate(of('augment+'), tables, Log(tmp_path))
  with pytest.raises(UserError, match="no method 'none'"):
    compare.variant(SMALL, 'augment+none:ratio=0.5')
  own = compare.variant(SMALL, 'augment+reweight:ratio=0.5')
  assert (own.method.name, own.method.ratio) == ('augment+reweight', 0.5)


def test_weights_are_given_once():
  with pytest.raises(UserError, match='leave reweight out of'):
    algorithm.check(of('augment+reweight'))


# Diets


@pytest.fixture(scope='module')
def inputs(tmp_path_factory):
  folder = tmp_path_factory.mktemp('inputs')
  with Log(folder) as log:
    return diets.prepare(Experiment(SMALL, folder, log), ['healthy_random'])


def taken_of(inputs, **options):
  return diet_rows.rows(
    inputs.tables['train'],
    inputs.scores,
    'healthy_random',
    (0.6, 0.3),
    of('reweight', **options),
    [0, 1],
  )


@pytest.mark.parametrize('accumulate', (1, 2))
def test_each_seed_reads_its_own_weights(inputs, accumulate):
  """The weight of every place of every batch, one by one."""
  taken = taken_of(inputs)
  pool = diets.with_weights(SMALL, inputs, taken).pool
  plan = batches.layout(pool.tokens.lengths, 16, 1, accumulate, 2)
  source = batches.packed(pool, taken, [0, 1], plan, accumulate)
  for step in range(2 * source.steps_per_epoch):
    batch = source[step]
    for seed in (0, 1):
      example = batch['example'][seed]
      for index, weight in zip(example.flat, batch['weight'][seed].flat):
        expect = pool.weight[seed, index] if index >= 0 else 0
        assert weight == expect


def test_the_diets_losses_are_weighted(inputs, tmp_path):
  """A weight of 2 for one class in validation, against a loss by hand."""
  taken = taken_of(inputs)
  own = diets.with_weights(SMALL, inputs, taken)
  seen = []
  for one, name in ((inputs, 'plain'), (own, 'weighed')):
    with Log(tmp_path / name) as log:
      e, pools = Experiment(SMALL, tmp_path, log), (one.pool, one.valid)
      fitted = e.fit(one.model, pools, rows=taken)
    logits = loop.predict(
      one.model, fitted.params, one.valid, one.model.device_mesh
    ).astype(float)
    chance = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    rows = np.arange(len(one.valid.label))
    nll = -np.log(chance[:, rows, one.valid.label])
    loss = [row['loss'] for row in fitted.history]
    expect = (nll * one.valid.weight).mean(-1)
    np.testing.assert_allclose(loss, expect, rtol=1e-4)
    seen.append(logits)
  assert np.abs(seen[0] - seen[1]).max() > 1e-4


@pytest.mark.slow
def test_a_weighted_diet_from_end_to_end(tmp_path):
  results = experiment.run(SMALL, tmp_path)
  for facts in (one['facts'] for one in results.contenders.values()):
    assert 0 < facts['effective'] < facts['total']
  assert 'effective' in (tmp_path / 'report.html').read_text()


def test_a_grid_knows_its_weights(inputs):
  """Other weights are other cells."""
  config = dataclasses.replace(SMALL, grid=c.Grid(rankings=('healthy_random',)))
  taken = taken_of(inputs)
  keys = {
    rank.key(one, inputs, {'test': inputs.tables['test']}, taken)
    for one in (
      config,
      dataclasses.replace(config, method=c.Method()),
      dataclasses.replace(config, weighting=c.Weighting(z='terms')),
    )
  }
  assert len(keys) == 3


def test_other_methods_are_no_diet(tmp_path):
  with pytest.raises(UserError, match="'augment', but a diet chooses rows"):
    experiment.run(of('augment'), tmp_path)


def test_diets_of_the_same_rows_are_named():
  held = {
    'healthy_random': np.array([[0, 1, 5]]),
    'unhealthy_random': np.array([[5, 1, 0]]),
    'none': np.array([[0, 1, 2]]),
  }
  keys = {name: experiment.in_any_order(rows) for name, rows in held.items()}
  (said,) = experiment.alike(keys)
  assert said.startswith('healthy_random and unhealthy_random hold the same')
