"""fit: resumed = uninterrupted, stacked = single, four devices = one."""

import dataclasses
import functools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import sklearn.metrics
import small

from fairjax.config import Config, Train
from fairjax.core import announce, backend, memory
from fairjax.data.batching.batches import Pool
from fairjax.data.batching.tokens import Ragged, take
from fairjax.models import Bundle, families, of_module
from fairjax.models.layers import layer_params
from fairjax.train import checkpoint, loop, mesh, step
from fairjax.train.progress import Log

SHAPE = small.shape_of('bert', 50, hidden=32)


def tiny_model(**other) -> Bundle:
  shape = dataclasses.replace(SHAPE, **other)
  return small.bundle_of(families.module(shape, 'classify', classes=2))


MODEL = tiny_model()  # one layer: it is the loop that is asked about
NO_DROPOUT = {'dropout': 0.0, 'attention_dropout': 0.0, 'head_dropout': 0.0}
PLAIN = tiny_model(**NO_DROPOUT)


def pool(n: int, seed: int) -> Pool:
  """Texts of a label's own tokens, with other tokens between them."""
  rng = np.random.default_rng(seed)
  lengths = rng.integers(3, 20, n)
  flat = rng.integers(8, 50, lengths.sum()).astype(np.int32)
  offsets = np.concatenate([[0], np.cumsum(lengths)])
  label = rng.integers(0, 2, n).astype(np.int32)
  flat[::2] = np.repeat(np.where(label, 7, 6), lengths)[::2]
  weight = rng.uniform(0.5, 1.5, n).astype(np.float32)
  return Pool(Ragged(flat, offsets, None), label, weight)


TRAIN, VALID = pool(75, 0), pool(40, 1)


def config(**train) -> Config:
  # Adam's eps is large so that a gradient of 0 (a key's bias) stays about 0.
  options = {'lr': 1e-2, 'batch': 16, 'epochs': 3.0, 'save_every': 4}
  options['eps'] = 1e-3
  return Config(seeds=2, seed=3, train=Train(**(options | train)))


def fit(folder, options=None, devices=(1, 1), model=MODEL, train=None, **rest):
  options = options or config()
  place = small.place(*devices)
  with Log(folder, main=rest.pop('main', False)) as log:
    return loop.fit(
      model, train or TRAIN, VALID, options, folder, place, log, **rest
    )


def diverging(lowest: float) -> dict:
  """A model and task of which seed 4's loss is no number from a step on.

  Adam moves the bias by the rate each step: 0, -0.005, -0.01, ….
  """

  def apply(params, batch, dropout=None):
    logits = MODEL.apply(params, batch, dropout)
    mine = params['mine']['seed'] == 4
    return jnp.where(mine & (params['mine']['bias'] < lowest), jnp.nan, logits)

  init = lambda seed: {
    **MODEL.init(seed),
    'mine': {'seed': np.float32(seed), 'bias': np.float32(0)},
  }

  def total(model, params, batch, dropout):
    sum_, terms = step.weighted_sum(model, params, batch, dropout)
    return sum_ + params['mine']['bias'], terms

  loss = step.Loss(total, step.examples)
  players = (step.Player('model', loss, '^(?!mine/seed)'),)
  return {
    'model': MODEL.replace(init=init, apply=apply),
    'task': loop.CLASSIFY._replace(players=players),
  }


STEADY = {'lr': 5e-3, 'schedule': 'constant', 'eps': 1e-8, 'max_grad_norm': 0.0}


def leaves(params):
  return checkpoint.flatten(jax.device_get(params))


def assert_same(a, b, **close):
  a, b = leaves(a), leaves(b)
  assert a.keys() == b.keys()
  for name in a:
    if close:
      np.testing.assert_allclose(a[name], b[name], err_msg=name, **close)
    else:
      np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
  return fit(tmp_path_factory.mktemp('whole'))


def test_a_loss_is_the_weighted_mean_of_cross_entropies():
  """scipy's, with its slope along the logits, whole or in micro-batches."""
  rng = np.random.default_rng(0)
  x, label = rng.normal(size=(6, 4)), rng.integers(0, 4, 6)
  weight = rng.random(6) * (np.arange(6) < 4)  # two rows of padding
  chances = scipy.special.softmax(x, -1)
  each = -np.log(chances[np.arange(6), label]) * weight
  slopes = ((chances * x).sum(-1) - x[np.arange(6), label]) * weight
  batch = {'x': x, 'label': label, 'weight': weight}
  batch['example'] = np.where(weight > 0, np.arange(6), -1)  # 0 is a row
  model = Bundle(None, lambda params, rows, _: params * rows['x'], None)

  def total(*given):
    return step.weighted_sum(*given)[0], {'mass': given[2]['weight'].sum()}

  loss = step.Loss(total, step.examples)
  run = jax.jit(
    lambda rows, parts: step.gradients(
      model, jnp.float32(1), rows, None, parts, loss
    ),
    static_argnums=1,
  )
  of = lambda rows, parts: jax.tree.leaves(run(rows, parts))
  cut = {k: v.reshape(2, 3, *v.shape[1:]) for k, v in batch.items()}
  sums = np.stack([each, weight, slopes])
  for found in (of(batch, 1), of(cut, 2)):
    np.testing.assert_allclose(found, sums.sum(1) / 4, rtol=1e-5)
  rows = {k: v[:1] for k, v in batch.items()}
  np.testing.assert_allclose(of(rows, 1), sums[:, 0], rtol=1e-5)
  rows = {k: v[4:] for k, v in batch.items()}
  np.testing.assert_array_equal(of(rows, 1), [0, 0, 0])


def test_freed_memory_is_kept_while_it_trains(tmp_path, monkeypatch):
  """In the library as in the command; then the process gets it back."""
  seen = []

  def measure(job, params):
    seen.append(memory.keeping)
    return loop.classified(job, params)

  monkeypatch.setattr(loop, 'CLASSIFY', loop.CLASSIFY._replace(measure=measure))
  monkeypatch.setattr(memory, 'settings', lambda: SimpleNamespace(**glibc))
  told = []
  tell = lambda *setting: told.append(setting) or 1
  glibc = {'mallopt': tell, 'malloc_trim': lambda pad: told.append('trim')}
  fit(tmp_path, config(epochs=1.0))
  assert seen == [1] and memory.keeping == 0
  most = [(memory.MMAP, memory.MOST), (memory.TRIM, memory.MOST)]
  assert told[:2] == most and told.count('trim') == 1 and told[-1] == 'trim'


def test_kept_weights_take_the_place_of_those_before():
  make = lambda value: {'a': jnp.full((2, 64, 64), value)}
  new, old = make(2.0), make(1.0)
  size = new['a'].nbytes
  better = np.array([True, False])
  program = loop.keep_better.lower(better, new, old).compile()
  memory_of = program.memory_analysis()
  assert memory_of.alias_size_in_bytes == size
  assert memory_of.temp_size_in_bytes < size
  best = loop.keep_better(better, new, old)
  assert old['a'].is_deleted() and not new['a'].is_deleted()
  assert best['a'][:, 0, 0].tolist() == [2.0, 1.0]


@pytest.mark.parametrize('after', [4, 7])
def test_a_resumed_run_is_the_uninterrupted_one(whole, tmp_path, after):
  """SIGTERM at any step, then the same call again: equal to the bit."""
  with small.stopped(after):
    fit(tmp_path)
  assert max(int(p.name) for p in (tmp_path / 'checkpoints').iterdir()) == after
  again = fit(tmp_path)
  assert_same(again.params, whole.params)
  assert again.history == whole.history
  assert again.kept == whole.kept


def test_seed_s_of_a_stacked_run_is_the_single_run(whole, tmp_path):
  alone = dataclasses.replace(config(), seeds=1, seed=4)
  single = fit(tmp_path, alone)
  second = jax.tree.map(lambda a: a[1:], whole.params)
  assert_same(single.params, second, atol=1e-5)
  assert single.kept == whole.kept[1:]


def test_the_number_of_devices_changes_nothing(whole, tmp_path):
  spread = fit(tmp_path, devices=(2, 2))
  assert_same(spread.params, whole.params, atol=2e-5)


@pytest.mark.parametrize(
  ('before', 'after', 'sharded'),
  [((1, 1), (2, 2), False), ((1, 4), (1, 1), True)],
)
def test_another_topology_goes_on_from_a_checkpoint(
  whole, tmp_path, monkeypatch, before, after, sharded
):
  """One device, then four; parameters in shards, then whole."""
  monkeypatch.setattr(mesh, 'FSDP_SMALLEST', 16)
  options = config()
  options.mesh.fsdp = sharded
  with small.stopped(7):
    fit(tmp_path, options, devices=before)
  again = fit(tmp_path, config(), devices=after)
  assert_same(again.params, whole.params, atol=2e-5)
  assert again.kept == whole.kept and again.steps == whole.steps


def test_programs_of_accelerators_give_the_same_numbers(
  whole, tmp_path, monkeypatch
):
  """Seeds under vmap, tables of whole tiles, each device updates a share."""
  monkeypatch.setattr(mesh, 'FSDP_SMALLEST', 16)
  monkeypatch.setattr(layer_params, 'LARGE', 16)
  states = []
  save = loop.checkpoint.save
  monkeypatch.setattr(
    loop.checkpoint,
    'save',
    lambda to, done, state, meta: (
      states.append(state) or save(to, done, state, meta)
    ),
  )
  with backend.made_for('tpu'):
    spread = fit(tmp_path, devices=(1, 4))
  assert_same(spread.params, whole.params, atol=2e-5)
  table = states[-1]['params']['encoder']['word']['embedding']
  assert table.shape[1] == 128 and not np.any(table[:, SHAPE.vocab :])
  moments = [
    leaf
    for leaf in jax.tree.leaves(states[-1]['opt'])
    if leaf.shape == table.shape
  ]
  assert len(moments) == 4  # two of each table, of words and of positions
  assert all(leaf.sharding.spec[1] == 'data' for leaf in [table, *moments])
  words = spread.params['encoder']['word']['embedding']
  assert words.sharding.is_fully_replicated


def test_a_second_shape_is_to_repay_what_its_platform_compiles_for(
  tmp_path, monkeypatch
):
  """On an accelerator that is a minute, and a step milliseconds."""
  asked, layout = [], loop.packing.layout

  def watched(*given, few=0, **more):
    asked.append(few)
    if few:
      raise StopIteration  # what is asked for next is the program
    return layout(*given, few=few, **more)

  monkeypatch.setattr(loop.packing, 'layout', watched)
  for name, repaid in (('cpu', 1e12), ('gpu', 0), ('cpu', 0)):
    monkeypatch.setattr(loop, 'REPAID', repaid)
    with backend.made_for(name), pytest.raises(StopIteration):
      fit(tmp_path / f'{name}{repaid}', config(epochs=1 / 75))
  assert [few for few in asked if few] == [64, 4096, 1]


def first_gradients(tmp_path, monkeypatch, dtype):
  """The kernels' gradients of the first step on four devices, side by side."""
  states = []
  monkeypatch.setattr(
    loop.checkpoint, 'save', lambda to, done, state, meta: states.append(state)
  )
  options = config(epochs=16 / 75, max_grad_norm=0.0)
  model = of_module(PLAIN.module.clone(dtype=dtype), PLAIN.init)
  with backend.made_for('tpu'):
    fit(tmp_path, options, devices=(1, 4), model=model)
  (moments,) = (
    part.mu for part in states[0]['opt']['model'] if hasattr(part, 'mu')
  )
  kernels = (v for k, v in leaves(moments).items() if k.endswith('kernel'))
  return np.concatenate([m.ravel() for m in kernels])


@pytest.mark.parametrize('dtype', [jnp.float32, jnp.bfloat16])
def test_kernels_alone_are_sent_in_the_type_of_products(monkeypatch, dtype):
  """Each device holds a share, but of what is small or was whole before."""
  monkeypatch.setattr(mesh, 'FSDP_SMALLEST', 16)
  rng, where = np.random.default_rng(0), small.place(1, 4)
  held = {
    name: {k: jnp.float32(rng.random((1, n))) for k in ('kernel', 'bias')}
    for name, n in (('cut', 32), ('small', 4))
  }
  fsdp = jax.jit(lambda p: step.gathered(p, where, True, dtype))(held)
  assert_same(fsdp, held)
  whole = jax.jit(lambda p: step.gathered(p, where, False, dtype))(held)
  for name in ('cpu', 'gpu'):  # XLA would take the rounding back
    with backend.made_for(name):
      program = jax.make_jaxpr(lambda p: step.gathered(p, where, False))(held)
    assert ('optimization_barrier' in str(program)) == (name == 'gpu')
  held['cut']['kernel'] = held['cut']['kernel'].astype(dtype).astype('f4')
  assert_same(whole, held)


def test_gradients_by_bfloat16_are_within_its_rounding(tmp_path, monkeypatch):
  run = functools.partial(first_gradients, monkeypatch=monkeypatch)
  exact = run(tmp_path / 'exact', dtype=jnp.float32)
  wide = run(tmp_path / 'wide', dtype=jnp.bfloat16)
  error = np.linalg.norm(wide - exact) / np.linalg.norm(exact)
  assert 0 < error < 2**-7  # .0041 when it was written


def test_sharded_parameters_give_the_same_numbers(whole, tmp_path, monkeypatch):
  monkeypatch.setattr(mesh, 'FSDP_SMALLEST', 16)
  options = config()
  options.mesh.fsdp = True
  spread = fit(tmp_path, options, devices=(1, 4))
  cut = spread.params['encoder']['layer_0']['up']['kernel'].sharding.spec
  assert 'data' in cut
  assert_same(spread.params, whole.params, atol=2e-5)


def test_micro_batches_add_up_to_the_batch(tmp_path):
  """Without dropout nothing but rounding may differ."""
  one = fit(tmp_path / 'one', model=PLAIN)
  two = fit(tmp_path / 'two', config(microbatches=2), model=PLAIN)
  assert_same(one.params, two.params, atol=2e-5)


def test_early_stopping_keeps_the_best(tmp_path):
  options = config(lr=0.5, epochs=10.0, patience=2, max_grad_norm=0.0)
  stopped = fit(tmp_path, options)
  for i, seed in enumerate((3, 4)):
    best, bad = {'loss': np.inf}, 0
    for row in (r for r in stopped.history if r['seed'] == seed):
      better = row['loss'] < best['loss']
      best, bad = (row, 0) if better else (best, bad + 1)
      if bad == 2:  # what a seed does after that, beside others, is not kept
        break
    assert stopped.kept[i] == best['step']
  assert stopped.steps < 50


def test_a_snapshot_is_the_step_asked_for(tmp_path):
  # The first three steps of a run are those of any run with the same rates.
  constant = config(schedule='constant', load_best=False)
  long = fit(tmp_path / 'long', constant, snapshots=(0, 3))
  zero = checkpoint.read_weights(long.snapshots[0])
  assert_same(zero, loop.initial(MODEL, [3, 4]))
  constant.train.epochs = 0.6
  brief = fit(tmp_path / 'brief', constant)
  assert brief.steps == 3
  assert_same(checkpoint.read_weights(long.snapshots[3]), brief.params)


def test_tracking_predicts_the_training_rows_after_each_epoch(tmp_path):
  found = fit(tmp_path, config(), track=True)
  assert sorted(found.tracks) == [1, 2, 3]
  last = np.load(found.tracks[3])
  assert last.shape == (2, 75, 2)


def test_runs_that_take_the_same_steps_share_their_program():
  place = small.place()
  program = lambda **train: step.compiled(MODEL, Train(**train), place)
  assert program(epochs=1.0) is program(epochs=2.0, load_best=False)
  others = {'max_grad_norm': 0.5, 'microbatches': 2, 'lr': 1.0, 'warmup': 0.1}
  for other in ({name: value} for name, value in others.items()):
    assert program() is not program(**other), other


def test_rows_choose_what_each_seed_trains_on(tmp_path):
  """Training on chosen rows is training on a table of those rows."""
  half = np.arange(0, 75, 2, dtype=np.int32)
  chosen = fit(tmp_path / 'rows', model=PLAIN, rows=np.stack([half, half]))
  table = Pool(take(TRAIN.tokens, half), TRAIN.label[half], TRAIN.weight[half])
  alone = fit(tmp_path / 'table', model=PLAIN, train=table)
  assert chosen.steps == alone.steps == 9
  assert_same(chosen.params, alone.params, atol=2e-5)


def test_batches_that_do_not_fit_in_memory_are_halved(monkeypatch):
  device_mesh = mesh.make(Config().mesh, 1, jax.devices()[:1])

  @jax.jit
  def norms(params, batch):
    rows = batch['example'].shape[0]
    if rows > 16:  # an array that no machine has the memory for
      return jax.numpy.zeros((1, rows, 1 << 50))
    return batch['label'][None].astype(float)

  said = []
  monkeypatch.setattr(announce, 'NOTED', [said.append])
  of = loop.over_examples(norms, {}, TRAIN, device_mesh, 64, 'norms')
  np.testing.assert_array_equal(of[0], TRAIN.label)
  assert [line.split(';')[1].split()[0] for line in said] == ['32', '16']


def test_weights_can_be_chosen_by_coefficients():
  """Matthews of two and of three classes by scikit-learn, r by scipy."""
  rng = np.random.default_rng(0)
  for classes in (2, 3):
    label = rng.integers(0, classes, 50)
    logits = rng.standard_normal((2, 50, classes)) + np.eye(classes)[label]
    pool = SimpleNamespace(label=label, weight=np.ones(50))
    of = lambda name, pool=pool, logits=logits: loop.quality(
      logits, pool, name
    )[name]
    for s in range(2):
      expected = sklearn.metrics.matthews_corrcoef(label, logits[s].argmax(-1))
      assert of('mcc')[s] == pytest.approx(expected)
      chances = scipy.special.softmax(logits[s], -1)
      expected = scipy.stats.pearsonr(label, chances @ np.arange(classes))
      assert of('pearson')[s] == pytest.approx(expected.statistic)
  flat = np.zeros((1, 50, 3))
  assert loop.quality(flat, pool, 'mcc')['mcc'] == 0
  values = {'loss': np.array([0.5]), 'mcc': np.array([0.2])}
  assert loop.better(values, 'mcc') == 0.2 and loop.better(values, 'x') == -0.5
