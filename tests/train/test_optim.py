"""The optimisers against PyTorch's, the rate against the reference's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import small
from test_loop import assert_same, config, fit, tiny_model

from fairjax.config import Train
from fairjax.train import checkpoint, loop, optim


def run(train: Train, grads, start, total):
  """The parameters after each gradient."""
  transform = optim.transform(train)
  params, state, seen = {'kernel': jnp.asarray(start)}, None, []
  state = transform.init(params)
  for step, grad in enumerate(grads):
    direction, state = transform.update(
      {'kernel': jnp.asarray(grad)}, state, params
    )
    rate = optim.rate(train, step, total)
    params = {'kernel': params['kernel'] - rate * direction['kernel']}
    seen.append(np.asarray(params['kernel']))
  return seen


@pytest.mark.parametrize('decay', [0.0, 0.1])
def test_adamw_with_linear_decay_and_clipping_is_torchs(decay, torch):
  rng = np.random.default_rng(0)
  start = rng.normal(size=(3, 2)).astype('f4')
  grads = rng.normal(size=(10, 3, 2)).astype('f4') * 2
  train = Train(lr=0.01, warmup=0.2, weight_decay=decay, max_grad_norm=1.0)
  ours = run(train, grads, start, 10)
  leaf = torch.nn.Parameter(torch.tensor(start))
  adam = torch.optim.AdamW([leaf], lr=0.01, eps=1e-8, weight_decay=decay)
  shape = lambda k: k / 2 if k < 2 else (10 - k) / 8  # warm 2 of 10
  schedule = torch.optim.lr_scheduler.LambdaLR(adam, shape)
  for grad, expected in zip(grads, ours):
    leaf.grad = torch.tensor(grad)
    torch.nn.utils.clip_grad_norm_([leaf], 1.0)
    adam.step()
    schedule.step()
    np.testing.assert_allclose(expected, leaf.detach().numpy(), atol=2e-6)


def test_rmsprop_is_the_written_formula():
  rng = np.random.default_rng(1)
  grads = rng.normal(size=(5, 4)).astype('f4')
  train = Train(
    lr=0.01, optimizer='rmsprop', schedule='constant', max_grad_norm=0.0
  )
  ours = run(train, grads, np.zeros(4, 'f4'), 5)
  mean, x = np.zeros(4), np.zeros(4)
  for grad, expected in zip(grads, ours):
    mean = 0.9 * mean + 0.1 * grad**2
    x = x - 0.01 * grad / (np.sqrt(mean) + 1e-7)
    np.testing.assert_allclose(expected, x, rtol=1e-4, atol=1e-6)


def decayed(params):
  """Which leaves shrink where the gradient is 0."""
  transform = optim.transform(Train(weight_decay=0.5, max_grad_norm=0.0))
  ones = jax.tree.map(lambda a: jnp.ones(np.shape(a)), params)
  zero = jax.tree.map(jnp.zeros_like, ones)
  direction, _ = transform.update(zero, transform.init(ones), ones)
  return jax.tree.map(lambda a: bool((a == 0.5).all()), direction)


def test_kernels_and_embeddings_decay_and_nothing_else():
  """A bias of shape (1, words), as BART's, is a bias."""
  flat = checkpoint.flatten(optim.decays(tiny_model().init(0)))
  of = lambda yes: {n.split('/')[-1] for n, flag in flat.items() if flag is yes}
  assert of(True) == {'kernel', 'embedding'}
  assert of(False) == {'bias', 'scale'}
  assert decayed({'bias': np.zeros((1, 5))}) == {'bias': False}


def test_the_rate_ends_at_zero_and_constant_stays():
  assert float(optim.rate(Train(lr=1.0), 0, 10)) == 1.0
  assert float(optim.rate(Train(lr=1.0), 10, 10)) == 0.0
  assert float(optim.rate(Train(lr=1.0, schedule='constant'), 9, 10)) == 1.0


@pytest.mark.parametrize('patience', [0, 2])
def test_a_plateau_lowers_the_rate_where_torch_s_scheduler_does(
  patience, monkeypatch
):
  torch = pytest.importorskip('torch')
  values = np.random.default_rng(patience).integers(0, 6, (30, 3)).astype(float)
  monkeypatch.setattr(loop, 'PATIENCE', patience)
  monkeypatch.setattr(loop, 'FACTOR', 0.5)
  meta = {name: [0] * 3 for name in ('bad', 'stopped', 'kept')}
  meta['best'] = [None] * 3
  ours, rates = np.ones(3), []
  for value in values:
    loop.improved(meta, value, 0, True, 0)
    ours = ours * loop.plateau(meta)
    rates.append(ours)
  for seed in range(3):
    adam = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    # Ours lowers at any evaluation that is no better, by however little.
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
      adam, 'max', 0.5, patience, threshold=0.0, eps=0.0
    )
    for k, value in enumerate(values[:, seed]):
      schedule.step(value)
      assert rates[k][seed] == adam.param_groups[0]['lr'], (k, seed)
  assert len(np.unique(rates)) > 3


def test_a_lowered_rate_is_a_smaller_step_of_that_seed():
  train = Train(lr=0.1, schedule='plateau', weight_decay=0.1)
  transform = optim.transform(train)
  params = {'kernel': jnp.ones((2, 3))}
  grads = {'kernel': jnp.full((2, 3), 0.5)}
  state = jax.vmap(transform.init)(params)
  update = jax.vmap(transform.update)
  whole, _ = update(grads, state, params)
  less, _ = update(grads, optim.lowered(state, np.float32([1, 0.25])), params)
  scale = np.array([[1], [0.25]])
  np.testing.assert_allclose(less['kernel'], scale * whole['kernel'], rtol=1e-6)


def test_a_run_with_plateaus_goes_on_to_the_same_bits(tmp_path, monkeypatch):
  """The factor is a part of the state that a checkpoint holds."""
  options = {'lr': 0.1, 'schedule': 'plateau', 'epochs': 3.0, 'evals': 3.0}
  options |= {'patience': 0}
  monkeypatch.setattr(loop, 'PATIENCE', 0)
  monkeypatch.setattr(loop, 'FACTOR', 0.1)
  whole = fit(tmp_path / 'whole', config(**options))
  other = fit(
    tmp_path / 'constant', config(**options | {'schedule': 'constant'})
  )
  assert whole.history[:2] == other.history[:2] != whole.history
  assert whole.history != other.history
  with small.stopped(11):
    fit(tmp_path / 'again', config(**options))
  again = fit(tmp_path / 'again', config(**options))
  assert_same(again.params, whole.params)
  assert again.history == whole.history
