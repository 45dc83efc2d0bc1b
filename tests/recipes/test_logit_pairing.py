"""Counterfactual logit pairing: its loss by hand, λ = 0, what it is made of."""

import pathlib
import types

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from fairjax import config as c
from fairjax import stages
from fairjax.methods import diet_rows
from fairjax.recipes import logit_pairing
from fairjax.train.progress import Log

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_loss_is_the_equation():
  rng = np.random.default_rng(0)
  logits, label = rng.normal(size=(6, 3)), np.array([2, 0, 1, 0, 0, 0])
  weight = np.array([1.5, 1.0, 2.0, 1.0, 1.0, 1.0], np.float32)
  example = np.array([4, 9, 2, -1, 0, 5])  # the second has no twin
  batch = {'label': label, 'weight': weight, 'example': example}
  batch = {name: jnp.asarray(value) for name, value in batch.items()}
  say = lambda params, batch, key: jnp.asarray(logits, jnp.float32)
  model = types.SimpleNamespace(apply=say)
  loss = logit_pairing.loss(0.7)
  total, terms = loss.total(model, None, batch, None)
  ce, apart = 0.0, 0.0
  for i in (0, 2, 4):
    p = np.exp(logits[i]) / np.exp(logits[i]).sum()
    ce -= weight[i] * np.log(p[label[i]])
    if example[i + 1] >= 0:
      ours, twin = (logits[k] - logits[k].mean() for k in (i, i + 1))
      apart += np.abs(ours - twin).sum()
  np.testing.assert_allclose(total, ce + 0.7 * apart, rtol=1e-5)
  np.testing.assert_allclose(terms['pair_distance'], apart, rtol=1e-5)
  assert loss.count(batch) == 3


@pytest.fixture(scope='module')
def made(tmp_path_factory):
  """A small config, and what `run` makes of it, with λ = 0 and λ = 1."""
  config = c.shipped('logit_pairing_planted')
  config.model, config.seeds, config.pairing.weights = 'cnn', 1, (0.0, 1.0)
  config.planted.rows, config.planted.test_rows = 96, 40
  config.train.epochs, config.train.lr, config.train.batch = 4.0, 4e-3, 16
  config.measures.resamples, config.tokens.max_length = 100, 32
  folder = tmp_path_factory.mktemp('pairing')
  results = logit_pairing.run(config, folder)
  return config, folder, results


def test_without_weight_it_is_training(made):
  """λ = 0 has the numbers of no mitigation, and λ = 1 has others."""
  _, folder, results = made
  sets = {name: one['sets']['test'] for name, one in results.contenders.items()}
  loss = {n: one['quality']['log_loss']['value'] for n, one in sets.items()}
  np.testing.assert_allclose(loss['pairing 0'], loss['none'], rtol=1e-3)
  assert abs(loss['pairing 1'] - loss['none']) > 1e-2
  assert results.facts['pairs'] > 0
  html = (folder / 'report.html').read_text('utf-8')  # of any λ
  assert 'Logit pairing (λ 0)' in html and 'pairing 0 ' not in html


def test_pairs_come_closer(made):
  """What it minimises: logits of text and twin, beside training alone."""
  config, folder, _ = made
  with Log(folder, config) as log:
    tables = stages.load(config, folder, log)
    tables, twins = diet_rows.with_twins(tables, config)
    model = stages.prepare(config, tables, log)
    pools = [stages.pool(model, tables[k]) for k in ('train', 'valid')]
    every = stages.pool(model, pd.concat([tables['train'], twins]))
    n = len(twins)
    has_twin = (tables['train']['twin'] != tables['train']['text']).to_numpy()
    partner = np.where(has_twin, n + np.arange(n), -1)
    apart = {}
    for weight in (0.0, 1.0):
      e = stages.Experiment(config, folder, log)
      own = [every, pools[1]]
      fit = logit_pairing.paired(e, model, own, partner, weight)
      one, other = (
        stages.probabilities(config, model, fit.params, table)
        for table in (tables['train'], twins)
      )
      apart[weight] = np.abs(one - other).mean()
  assert apart[1.0] < 0.7 * apart[0.0]


def test_a_sixth_paper_is_two_files_a_row_and_a_section():
  text = '\n'.join(
    path.read_text('utf-8')
    for path in sorted((ROOT / 'fairjax').rglob('*.py'))
    if path.parent.name != 'docs'  # a gallery of configs
    and 'logit_pairing' in path.read_text('utf-8')
    and path.name != 'logit_pairing.py'
  )
  naming = [line for line in text.splitlines() if 'logit_pairing' in line]
  assert len(naming) <= 4, naming  # the row, the room's list, the section
  recipe = ROOT / 'fairjax/recipes/logit_pairing.py'
  assert len(recipe.read_text('utf-8').splitlines()) <= 150
  assert (ROOT / 'configs/logit_pairing_planted.py').is_file()
