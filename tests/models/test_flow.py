"""The flow is what it says: invertible, a density, and the same stacked."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.models import flow

forward, init, inverse = (
  jax.jit(one, static_argnums=(0, 3))
  for one in (flow.forward, flow.init, flow.inverse)
)
pair_loss = jax.jit(flow.pair_loss, static_argnums=(0, 1))
SMALL = flow.FlowShape(width=6, steps=3, hidden=8, depth=1, factor=2)


def drawn(shape, seed=0, rows=40):
  """Parameters far from where a flow starts, and embeddings."""
  draw = np.random.default_rng(seed)
  x = jnp.float32(draw.normal(1.0, 2.0, (rows, shape.width)))
  params = init(shape, jax.random.key(seed), x)
  noise = lambda a: a + 0.2 * draw.normal(size=a.shape).astype(np.float32)
  return jax.tree.map(noise, params), x


@pytest.mark.parametrize('dtype', [jnp.float32, jnp.bfloat16])
def test_inverse_of_forward_is_identity(dtype):
  shape = flow.FlowShape(width=32, steps=4, hidden=16, factor=5)
  params, x = drawn(shape)
  z, _ = forward(shape, params, x, dtype)
  back = inverse(shape, params, z, dtype)
  # Rounding on the way back is rounded again by bfloat16 operands.
  limit = 1e-5 if dtype == jnp.float32 else 5e-2
  assert np.abs(back - x).max() <= limit * np.abs(x).max()


def test_log_det_is_that_of_the_jacobian():
  params, x = drawn(SMALL)
  _, logdet = forward(SMALL, params, x)
  one = lambda row: forward(SMALL, params, row[None])[0][0]
  expected = np.linalg.slogdet(np.float64(jax.vmap(jax.jacfwd(one))(x[:8])))[1]
  np.testing.assert_allclose(logdet[:8], expected, rtol=1e-4, atol=1e-4)


def test_density_integrates_to_one():
  shape = flow.FlowShape(width=2, steps=3, hidden=8, depth=1, factor=1)
  params, _ = drawn(shape, rows=200)
  edge = np.linspace(-25, 27, 521)
  grid = jnp.float32(np.stack(np.meshgrid(edge, edge), -1).reshape(-1, 2))
  z, logdet = forward(shape, params, grid)
  log_p = -0.5 * np.sum(np.square(z), -1) - np.log(2 * np.pi) + logdet
  mass = np.exp(np.float64(log_p)).sum() * (edge[1] - edge[0]) ** 2
  assert mass == pytest.approx(1, abs=2e-3)


def test_act_norm_starts_from_the_data():
  """Golden fact 21: deviation with n - 1, plus 1e-6."""
  x = jnp.float32([[0, 2], [2, 6]])
  shape = flow.FlowShape(width=2, steps=1, hidden=3, depth=0, factor=1)
  params = init(shape, jax.random.key(0), x)
  y = params['scale'][0] * (x + params['bias'][0])
  np.testing.assert_allclose(
    y, [[-0.70710628, -0.70710653], [0.70710628, 0.70710653]], rtol=1e-7
  )
  logdet = np.log(np.abs(params['scale'][0])).sum()
  assert logdet == pytest.approx(-1.38629542, abs=1e-6)


def test_stacked_is_single_in_any_order():
  each = [drawn(SMALL, seed)[0] for seed in range(3)]
  x = drawn(SMALL)[1]
  alone = [forward(SMALL, p, x)[0] for p in each]
  for order in ([0, 1, 2], [2, 0, 1]):
    stack = jax.tree.map(lambda *a: jnp.stack(a), *[each[i] for i in order])
    together = jax.vmap(lambda p: forward(SMALL, p, x)[0])(stack)
    np.testing.assert_allclose(
      together, np.stack([alone[i] for i in order]), rtol=1e-5, atol=1e-5
    )


def pairs(seed=1, n=30):
  draw = np.random.default_rng(seed)
  side = np.float32(np.arange(n) % 2 * 2 - 1)
  both = np.float32(draw.normal(size=(2, n, 6)) + side[:, None])
  return {'first': both[0], 'second': both[1], 'side': side}


def slow_loss(z, logdet, side, k, rho, margin=0.0, leak=0.0):
  """The equation of the docstring, pair by pair."""
  n, total = len(side), 0.0
  one, two = np.float64(z[:n]), np.float64(z[n:])
  for i in range(n):
    centre = margin * side[i]
    a, b = one[i, :k] - centre, two[i, :k] - centre
    total += 0.5 * (a @ a + one[i, k:] @ one[i, k:])
    total += 0.5 * np.sum((b - rho * a) ** 2) / (1 - rho**2)
    total += 0.5 * two[i, k:] @ two[i, k:] - logdet[i] - logdet[n + i]
  rest, sides = np.float64(z[:, k:]), np.tile(side, 2)
  gap = rest[sides > 0].mean(0) - rest[sides < 0].mean(0)
  return total + leak * n * gap @ gap


@pytest.mark.parametrize(
  ('rho', 'margin', 'leak'), [(0.98, 0, 0), (0.9, 2, 3), (0, 0, 0)]
)
def test_loss_is_its_equation(rho, margin, leak):
  params, _ = drawn(SMALL)
  batch = pairs()
  both = np.concatenate([batch['first'], batch['second']])
  z, logdet = map(np.asarray, forward(SMALL, params, jnp.asarray(both)))
  objective = flow.FlowObjective(rho, margin, leak)
  loss, terms = pair_loss(SMALL, objective, params, batch)
  expected = slow_loss(z, logdet, batch['side'], 2, rho, margin, leak)
  assert float(loss) == pytest.approx(expected, rel=1e-5)
  assert set(terms) == {'factor', 'rest', 'logdet', *(['leak'] * (leak > 0))}


def test_pairs_of_side_0_count_nothing():
  params, _ = drawn(SMALL)
  batch = pairs()
  empty = {'first': 7.0, 'second': -7.0, 'side': 0.0}
  more = {
    k: np.concatenate([v, np.full((3, *v.shape[1:]), empty[k])])
    for k, v in batch.items()
  }
  objective = flow.FlowObjective(leak=2.0)
  of = lambda b: pair_loss(SMALL, objective, params, b)[0]
  assert of(batch) == pytest.approx(float(of(more)), rel=1e-6)


def test_a_shared_factor_deserves_dimensions():
  """Esser et al.'s estimator, against itself written out with loops."""
  draw = np.random.default_rng(0)
  n, d = 4000, 40
  shared = draw.normal(size=(n, 1)) * (np.arange(d) < 20)
  a, b = (shared + 0.5 * draw.normal(size=(n, d)) for _ in range(2))
  noise = draw.normal(size=(2, n, d))
  size = flow.factor_size(a, b)
  both = np.concatenate([a, b])
  variance = sum(np.var(both[:, j]) for j in range(d))
  score = sum(np.cov(a[:, j], b[:, j], ddof=0)[0, 1] for j in range(d))
  share = 1 / (1 + np.exp(1 - score / variance))
  assert size == int(share * d) > flow.factor_size(*noise)
  assert flow.factor_size(*noise) == 10  # e⁰/(e⁰+e¹) = .269


def test_whitened_is_white_and_comes_back():
  draw = np.random.default_rng(0)
  x = draw.normal(size=(500, 5)) @ draw.normal(size=(5, 5)) + 3
  white = flow.whitening(x)
  np.testing.assert_allclose(np.cov(white(x).T), np.eye(5), atol=1e-5)
  np.testing.assert_allclose(white.inverse(white(x)), x, atol=1e-4)
  np.testing.assert_allclose(flow.whitening(x, 'none')(x), x, rtol=1e-6)


def test_shapes_that_cannot_be_are_one_sentence():
  with pytest.raises(UserError, match='must be even'):
    flow.FlowShape(width=5).validate()
  with pytest.raises(UserError, match='must leave one'):
    flow.FlowShape(width=6, factor=6).validate()
