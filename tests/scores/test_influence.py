"""Gradient products against gradients of one example at a time."""

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pandas as pd
import programs
import pytest
from small import params_of, shape_of

import fairjax
from fairjax import results, stages
from fairjax.config import Config, Planted
from fairjax.data.batching import batches as packing
from fairjax.data.batching.batches import Pool
from fairjax.data.batching.tokens import Ragged
from fairjax.data.sets import planted
from fairjax.models import Bundle, families, of_module
from fairjax.scores import influence


def test_products_are_those_of_single_gradients():
  module = families.module(shape_of('bert', 30), 'classify', classes=2)
  params = params_of(module)
  model = of_module(module, lambda seed: params)
  tokens = np.random.default_rng(0).integers(5, 30, 24).astype(np.int32)
  tokens = Ragged(tokens, np.array([0, 5, 14, 17, 24]), None)
  pool = Pool(tokens, np.arange(4, dtype=np.int32) % 2, np.ones(4, np.float32))
  layout = packing.layout(tokens.lengths, 8)
  batch = packing.sweep(pool, np.arange(4, dtype=np.int32), layout)[0]
  batch = jax.tree.map(np.asarray, batch)
  rng = np.random.default_rng(1)
  direction = jax.tree.map(
    lambda leaf: np.float32(rng.normal(size=leaf.shape)), params
  )
  found = jax.jit(lambda p, u: influence.along(model, p, u, batch))(
    params, direction
  )
  one = jax.jit(jax.grad(lambda p, k: influence.losses(model, p, batch)[k]))
  for k in np.flatnonzero(batch['example'] >= 0):
    parts = jax.tree.map(np.vdot, one(params, k), direction)
    expected = sum(jax.tree.leaves(parts))
    np.testing.assert_allclose(found[k], expected, rtol=1e-4, atol=1e-4)


def test_conjugate_gradients_solve_as_dense_algebra_does():
  rng = np.random.default_rng(0)
  root = rng.normal(size=(6, 6)).astype(np.float32)
  matrix, u = root @ root.T, rng.normal(size=6).astype(np.float32)
  tree = {'a': u[:2], 'b': u[2:]}
  join = lambda one: jnp.concatenate([one['a'], one['b']])
  split = lambda flat: {'a': flat[:2], 'b': flat[2:]}
  found = influence.conjugate_gradients(
    lambda v: split(matrix @ join(v)), tree, 0.3, 50
  )
  expected = np.linalg.solve(matrix + 0.3 * np.eye(6), u)
  np.testing.assert_allclose(join(found), expected, rtol=2e-2, atol=1e-3)


def test_curvature_is_the_gauss_newton_matrix():
  """J and diag p − p pᵀ written out, of a network with one hidden layer."""
  rng = np.random.default_rng(1)
  x = jnp.asarray(rng.normal(size=(7, 3)), jnp.float32)

  def apply(params, batch):
    return jnp.tanh(x @ params['in']) @ params['out']

  params = {
    'in': jnp.asarray(rng.normal(size=(3, 4)), jnp.float32),
    'out': jnp.asarray(rng.normal(size=(4, 3)), jnp.float32),
  }
  v = jax.tree.map(
    lambda leaf: jnp.asarray(rng.normal(size=leaf.shape)), params
  )
  example = np.array([0, 1, 2, 3, 4, 5, -1])  # the last fills up the batch
  model = Bundle(None, apply, None)
  found = influence.curvature(model, params, v, {'example': example})
  flat, unravel = jax.flatten_util.ravel_pytree(params)
  logits = lambda w: apply(unravel(w), None)
  j = np.asarray(jax.jacobian(logits)(flat), float)
  p = np.asarray(jax.nn.softmax(logits(flat), -1), float)
  direction = np.asarray(jax.flatten_util.ravel_pytree(v)[0], float)
  expected = (
    sum(
      j[i].T @ (np.diag(p[i]) - np.outer(p[i], p[i])) @ j[i] for i in range(6)
    )
    @ direction
  )
  np.testing.assert_allclose(
    jax.flatten_util.ravel_pytree(found)[0], expected, rtol=1e-4, atol=1e-5
  )


def test_a_pool_is_swept_and_its_curvature_is_of_some_rows(monkeypatch):
  """Of a model whose parameters are its logits J is 1: blocks of one row."""
  monkeypatch.setattr(influence, 'MOST', 5)
  rng, eye = np.random.default_rng(0), np.eye(3)
  logits, label = rng.normal(size=(9, 3)), rng.integers(0, 3, 9)
  weight = rng.normal(size=9)
  pool = Pool(
    Ragged(np.arange(5, 23, dtype=np.int32), np.arange(0, 19, 2), None),
    *(label.astype(np.int32), weight.astype(np.float32)),
  )
  model = Bundle(None, lambda params, batch: params[batch['example']], None)
  params, p = jnp.float32(logits), np.exp(logits)
  p /= p.sum(1, keepdims=True)
  u = (weight * p[:, 1])[:, None] * (eye[1] - p)
  found = influence.gap_gradient(model, params, pool, 1, 4)
  np.testing.assert_allclose(found, u, rtol=1e-4, atol=1e-6)
  h = np.zeros((9, 3, 3))
  for i in range(0, 9, 2):  # five rows, evenly
    h[i] = (np.diag(p[i]) - np.outer(p[i], p[i])) / 5
  scale = np.einsum('nc,ncd,nd', u, h, u) / (u * u).sum()
  v = np.linalg.solve(h + 0.01 * scale * eye, u[..., None])[..., 0]
  found = influence.preconditioned(model, params, found, pool, size=4)
  assert np.linalg.norm(found - v) < 2e-3 * np.linalg.norm(v)
  found = influence.influence(model, params, jnp.float32(v), pool, 4)
  expected = -(v * (p - eye[label])).sum(1)
  np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def logistic():
  """A regression whose label and group go together, and its gap."""
  from sklearn.linear_model import LogisticRegression

  rng = np.random.default_rng(2)
  n, d = 150, 6
  group = rng.random(n) < 0.5
  x = rng.normal(size=(n, d)) * np.geomspace(3, 0.2, d)
  x[:, -1] += 0.6 * group
  y = (x[:, 1] + 4 * x[:, -1] + rng.normal(size=n) > 0.8).astype(int)
  held = rng.normal(size=(200, d)) * np.geomspace(3, 0.2, d)
  side = np.repeat([1.0, -1.0], 100)
  held[:, -1] += 0.6 * (side > 0)
  penalty = 1e-2  # of the mean loss

  def fit(rows):
    model = LogisticRegression(
      C=1 / (penalty * len(rows)), fit_intercept=False, tol=1e-10
    )
    return model.fit(x[rows], y[rows]).coef_[0]

  gap = lambda w: float((side / 100 / (1 + np.exp(-held @ w))).sum())
  return x, y, held, side, penalty, fit, gap


def test_on_a_logistic_model_it_ranks_as_leaving_rows_out():
  """The plain gradient product is far off: .33 to .47 (and seen here)."""
  from scipy import stats

  x, y, held, side, penalty, fit, gap = logistic()
  every = np.arange(len(y))
  w = fit(every)
  exact = np.array([gap(w) - gap(fit(np.delete(every, i))) for i in every])
  params = {'w': jnp.asarray(np.stack([-w / 2, w / 2], 1), jnp.float32)}

  def apply(params, batch):
    return jnp.asarray(batch['x']) @ params['w']

  model = Bundle(None, apply, None)
  chance = lambda p: jax.nn.softmax(jnp.asarray(held) @ p['w'], -1)[:, 1]
  u = jax.grad(lambda p: jnp.sum(side / 100 * chance(p)))(params)
  batch = {'x': x, 'label': y, 'example': every}
  curved = jax.jit(lambda v: influence.curvature(model, params, v, batch))
  curve = lambda v: jax.tree.map(lambda leaf: leaf / len(y), curved(v))
  # Of both columns of w: |w|² is half of that of the coefficients' penalty.
  solved = influence.conjugate_gradients(curve, u, penalty * 2, 60)
  ranks = lambda a: stats.spearmanr(a, exact).statistic
  ours = -np.asarray(influence.along(model, params, solved, batch))
  plain = -np.asarray(influence.along(model, params, u, batch))
  assert ranks(ours) > 0.98
  assert ranks(plain) < 0.8
  # What removing the first rows does is what removing the best rows does.
  order = lambda score: np.argsort(-score)
  for k in (15, 30):
    left = lambda score, k=k: gap(fit(np.sort(order(score)[k:])))
    best, here = left(exact), left(ours)
    assert abs(here - best) <= 0.2 * abs(gap(w) - best) + 1e-3


def retrained(folder, name, frame):
  """Demographic parity (1 less the gap) of three seeds without some rows."""
  frame.to_csv(folder / f'{name}.csv', index=False)
  run = folder / f'run_{name}'
  flags = {
    **{'data.path': folder / f'{name}.csv', 'data.id': 'id'},
    **{f'data.{s}_path': folder / f'{s}.csv' for s in ('valid', 'test')},
    **{'data.group': 'group', 'model': 'tiny', 'seeds': 3},
    **{'train.lr': '1e-3', 'train.epochs': 4, 'train.warmup': 0.1},
    **{'train.patience': 0, 'train.export': True, 'measures.resamples': 100},
  }
  programs.printed(
    *('-m', 'fairjax.main', '--config=configs/train_csv.py'),
    *(f'--config.{key}={value}' for key, value in flags.items()),
    f'--workdir={run}',
  )
  (one,) = results.read(run).contenders.values()
  return one['sets']['test']['fairness']['dp']['value']


@pytest.mark.slow  # four fits of three seeds, about six minutes of one core
def test_a_transformer_without_its_first_rows_has_a_smaller_gap(tmp_path):
  """The planted comments, a tenth of 3,000 rows left out, three seeds.

  Measured: .43 of all rows, .42 without a random tenth, .66 without ours, .53
  without the plain product's, .36 without the last ones; of a fifth .45, .91,
  .63 and .24.
  """
  tables = planted.load(Config(planted=Planted(rows=3000, test_rows=1000)))
  columns = ['id', 'text', 'label', 'group']
  for name in ('valid', 'test'):
    tables[name][columns].to_csv(tmp_path / f'{name}.csv', index=False)
  train, test = tables['train'][columns], tables['test'].reset_index(drop=True)
  whole = retrained(tmp_path, 'all', train)
  score = 0.0
  for seed in range(3):
    model = fairjax.load(tmp_path / f'run_all/export/seed_{seed}')
    decided = model.predict_proba(list(test['text']))[:, 1] >= 0.5
    rate = (
      pd.Series(decided).groupby(test['group']).mean().drop('', errors='ignore')
    )
    sides = test[test['group'].isin([rate.idxmax(), rate.idxmin()])]
    up = sides['group'] == rate.idxmax()
    weight = np.where(up, 1 / up.sum(), -1 / (~up).sum())
    sides = sides.assign(weight=weight, label=0).reset_index(drop=True)
    bundle = model.bundle
    params = jax.tree.map(jnp.asarray, bundle.params)
    u = influence.gap_gradient(bundle, params, stages.pool(bundle, sides), 1)
    pool = stages.pool(bundle, train)
    u = influence.preconditioned(bundle, params, u, pool)
    score = score + influence.influence(bundle, params, u, pool)
  rng, without = np.random.default_rng(0), {}
  for name, order in (('ours', score), ('random', rng.random(len(train)))):
    left = np.sort(np.argsort(-order)[len(train) // 10 :])
    without[name] = retrained(tmp_path, name, train.iloc[left])
  assert without['ours'] > max(whole, without['random']) + 0.1, without
