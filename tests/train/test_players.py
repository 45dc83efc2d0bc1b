"""Several losses in one step: a generator and a discriminator of one number.

The generator shifts and scales noise, the discriminator is a logistic
regression on (x, x²).
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import place, stopped
from test_loop import assert_same, leaves

from fairjax.config import Config, Train
from fairjax.core import keys
from fairjax.core.artefacts import read_rows
from fairjax.core.errors import UserError
from fairjax.models import Bundle
from fairjax.train import loop, mesh, optim, step
from fairjax.train.progress import Log

MEAN, DEVIATION, ROWS = 2.0, 0.5, 64


def init(seed):
  draw = jax.random.normal(keys.key(seed, keys.INIT), (2,)) * 0.1
  return {
    'generator': {'scale': 1.0 + draw[:1], 'bias': draw[1:]},
    'discriminator': {'out': {'kernel': jnp.zeros(2), 'bias': jnp.zeros(1)}},
  }


PLACE = place()
MODEL = Bundle(init, init, None)


def written(params, batch):
  own = params['generator']
  return own['bias'] + own['scale'] * batch['second']


def score(params, x):
  """Above 0 for 'vector'."""
  out = params['discriminator']['out']
  return jnp.stack([x, x * x], -1) @ out['kernel'] + out['bias']


def rows(batch):
  return jnp.float32(batch['vector'].size)


def fools(model, params, batch, dropout):
  fake = score(params, written(params, batch))
  loss = optax.sigmoid_binary_cross_entropy(fake, jnp.ones_like(fake))
  return loss.sum(), {'fooled': (fake > 0).sum().astype(jnp.float32)}


def tells(model, params, batch, dropout):
  real = score(params, batch['vector'])
  fake = score(params, jax.lax.stop_gradient(written(params, batch)))
  loss = jax.nn.softplus(-real) + jax.nn.softplus(fake)
  return loss.sum(), {}


FOOLS, TELLS = step.Loss(fools, rows), step.Loss(tells, rows)
SLOWER = Train(lr=0.02, schedule='constant', max_grad_norm=0.0)


def players(generator=(1,), discriminator=(1,)):
  return (
    step.Player('generator', FOOLS, '^generator/', SLOWER, generator),
    step.Player('discriminator', TELLS, '^discriminator/', None, discriminator),
  )


class Source:
  """Real numbers and noise, a function of (seed, step)."""

  steps_per_epoch = 10

  def __init__(self, seeds):
    self.seeds = seeds

  def __getitem__(self, at):
    each = [np.random.default_rng([seed, int(at)]) for seed in self.seeds]
    drawn = np.stack([rng.normal(size=(2, ROWS)) for rng in each])
    real, noise = drawn.astype(np.float32).swapaxes(0, 1)
    owner = np.broadcast_to(np.arange(ROWS, dtype=np.int32), real.shape)
    return {
      'vector': MEAN + DEVIATION * real,
      'second': noise,
      'example': owner,
    }


def measure(job, params):
  mean = mesh.to_host(params)['generator']['bias'][:, 0]
  return {'loss': (mean - MEAN) ** 2}


def task(*turns):
  return loop.Task(lambda job, _: Source(job.seeds), players(*turns), measure)


def config(**changes):
  train = {
    **{'lr': 0.05, 'batch': ROWS, 'epochs': 3.0, 'schedule': 'constant'},
    **{'max_grad_norm': 0.0, 'save_every': 7},
    **{'load_best': False, 'patience': 0},
  }
  return Config(seeds=2, seed=3, train=Train(**(train | changes)))


def fit(folder, options=None, todo=None, model=MODEL):
  with Log(folder) as log:
    options = options or config()
    return loop.fit(
      model, None, None, options, folder, PLACE, log, task=todo or task()
    )


@pytest.fixture(scope='module', autouse=True)
def less_momentum():
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(optim, 'BETA1', 0.5)
    yield


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
  folder = tmp_path_factory.mktemp('whole')
  return fit(folder), folder


def test_the_generator_meets_the_data(tmp_path):
  """From a mean of about 0 to one of about 2, against a moving loss."""
  options = config(epochs=30.0, evals=0.1, save_every=600, schedule='linear')
  fitted = fit(tmp_path, options)
  first, last = fitted.history[:2], fitted.history[-2:]
  for seed in range(2):
    assert last[seed]['loss'] < 0.02 < first[seed]['loss'], (first, last)


def by_hand(seeds, steps, moves=lambda player, t: True):
  """Both players with plain optax, seed by seed, from the equations."""
  out = []
  for seed in seeds:
    params, source = init(seed), Source([seed])
    rules = {
      'generator': (fools, optax.adam(0.02, b1=0.5)),
      'discriminator': (tells, optax.adam(0.05, b1=0.5)),
    }
    state = {name: rule.init(params[name]) for name, (_, rule) in rules.items()}
    for t in range(steps):
      batch = {name: value[0] for name, value in source[t].items()}
      new = dict(params)
      for name, (loss, rule) in rules.items():
        if not moves(name, t):
          continue
        mean = lambda own, name=name, loss=loss: (
          loss(None, {**params, name: own}, batch, None)[0] / ROWS
        )
        grads = jax.grad(mean)(params[name])
        change, state[name] = rule.update(grads, state[name])
        new[name] = optax.apply_updates(params[name], change)
      params = new
    out.append(params)
  return jax.tree.map(lambda *each: np.stack(each), *out)


def test_simultaneous_players_are_those_of_plain_optax(whole):
  assert_same(whole[0].params, by_hand([3, 4], 30), atol=1e-5)


def test_turns_come_round_and_values_are_named_by_players():
  both = players((0, 1), (1,))
  assert [step.turn(both, t) for t in range(3)] == [(1,), (0, 1), (1,)]
  assert step.labels(both, 0, {'loss': 1}) == {'generator_loss': 1}
  assert step.labels(both[:1], 0, {'loss': 1}) == {'loss': 1}


def test_a_step_takes_the_memory_of_its_state_and_a_trace_is_of_step_0():
  both = players((0, 1), (1, 0))
  train_step, start = step.compiled(MODEL, config().train, PLACE, players=both)
  params = mesh.put_held(PLACE, loop.initial(MODEL, [3, 4]))
  state = {'params': params, 'opt': start(params)}
  batch = mesh.put_batch(PLACE, Source([3, 4])[0], True)
  rest = batch, mesh.replicate(PLACE, np.uint32([3, 4])), *np.uint32([0, 9])
  traced = train_step.trace(state, *rest).out_info[1]
  _, values = train_step(state, *rest)
  assert [*values] == [*traced] == ['discriminator_loss']
  assert all(leaf.is_deleted() for leaf in jax.tree.leaves(state))
  assert not any(leaf.is_deleted() for leaf in jax.tree.leaves(batch))


def test_two_turns_of_one_to_one_of_the_other(tmp_path):
  fitted = fit(tmp_path, todo=task((0, 0, 1), (1, 1, 0)))
  moves = lambda name, t: (t % 3 == 2) == (name == 'generator')
  assert_same(fitted.params, by_hand([3, 4], 30, moves), atol=1e-5)
  row = fitted.history[0]  # of ten steps three were the generator's
  assert {'train_generator_loss', 'train_discriminator_loss'} <= row.keys()


def test_each_loss_and_term_is_logged_apart(tmp_path):
  fit(tmp_path, config(epochs=0.1))  # one step: the losses at the start
  rows_ = read_rows(tmp_path / 'metrics.jsonl')
  for row, seed in zip(rows_, (3, 4), strict=True):
    batch = {name: value[0] for name, value in Source([seed])[0].items()}
    total, terms = fools(None, init(seed), batch, None)
    expected = {
      'train_generator_loss': float(total) / ROWS,
      'train_generator_fooled': float(terms['fooled']) / ROWS,
      'train_discriminator_loss': 2 * np.log(2),
    }
    trained = {k: v for k, v in row.items() if k.startswith('train_')}
    assert trained == pytest.approx(expected, rel=1e-5)


def test_a_step_draws_by_its_seed_and_number(tmp_path):
  def total(model, params, batch, dropout):
    bias = params['generator']['bias'].sum()
    return bias, {'drawn': rows(batch) * (dropout % 1000)}

  todo = task()._replace(players=(step.Player('a', step.Loss(total, rows)),))
  history = fit(tmp_path, config(epochs=0.3, evals=10.0), todo).history
  of = lambda *own: int(keys.dropout(*map(jnp.uint32, own))) % 1000
  expected = [of(seed, t) for t in range(3) for seed in (3, 4)]
  assert [row['train_drawn'] for row in history] == pytest.approx(expected)


@pytest.mark.parametrize('turns', [(), ((0, 0, 1), (1, 1, 0))])
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path, turns, whole):
  todo = task(*turns)
  straight = fit(tmp_path / 'whole', todo=todo) if turns else whole[0]
  with stopped(17):
    fit(tmp_path / 'cut', todo=todo)
  again = fit(tmp_path / 'cut', todo=todo)
  assert_same(again.params, straight.params)
  assert again.history == straight.history


def test_seed_s_of_a_stacked_run_is_the_single_run(whole, tmp_path):
  single = fit(tmp_path, dataclasses.replace(config(), seeds=1, seed=4))
  assert_same(
    single.params, jax.tree.map(lambda a: a[1:], whole[0].params), atol=1e-6
  )


def test_players_of_one_loss_are_two_rates(tmp_path):
  """Of a loss that both share; what nobody owns does not move."""
  slow = dataclasses.replace(config().train, lr=1e-3)
  both = (
    step.Player('kernel', FOOLS, 'out/kernel$', slow),
    step.Player('bias', FOOLS, 'out/bias$'),
  )
  options = config(epochs=0.1)  # one step: Adam moves each number by its rate
  fitted = fit(tmp_path, options, task()._replace(players=both))
  own, start = leaves(fitted.params), leaves(loop.initial(MODEL, [3, 4]))
  moved = {name: np.abs(own[name] - start[name]) for name in own}
  np.testing.assert_allclose(moved['discriminator/out/kernel'], 1e-3, rtol=1e-3)
  np.testing.assert_allclose(moved['discriminator/out/bias'], 0.05, rtol=1e-2)
  assert moved['generator/bias'].max() == moved['generator/scale'].max() == 0


def test_mistakes_of_ownership_are_sentences(tmp_path):
  nobody = (step.Player('a', TELLS, 'kernle'),)
  with pytest.raises(UserError, match=r"moves nothing.*'kernle'"):
    fit(tmp_path / 'a', todo=task()._replace(players=nobody))
  twice = (step.Player('a', TELLS, 'out'), step.Player('b', FOOLS, 'bias'))
  with pytest.raises(UserError, match=r'discriminator/out/bias .*a and b'):
    fit(tmp_path / 'b', todo=task()._replace(players=twice))
