"""FairFlow's two fits: the attribute head, and the flow."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.config import LINEAR, Config, changed
from fairjax.core import keys
from fairjax.core.errors import UserError
from fairjax.data.batching import instances
from fairjax.data.batching.instances import Instances
from fairjax.metrics.inference import clusters, estimates, intervals
from fairjax.metrics.texts import fairscore
from fairjax.models import Bundle, build, flow
from fairjax.models.reading import contextual
from fairjax.pairs import attributes
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import loop, mesh
from fairjax.train.step import CLASSES, Loss, Player

DEPTH = 2  # hidden layers of the flow's perceptrons, as the paper's
SAMPLE = 512  # embeddings that a flow starts from
HELD_OUT = 0.1  # share of the texts that the head is measured on
COIN = 25  # stream of the labels of the control


class FittedHead(NamedTuple):
  """The attribute head and what it is worth."""

  logit: Any  # logit(vectors) -> float32 [n], above 0 for the second side
  right: dict[str, np.ndarray]  # of held-out rows, by it and by the control
  texts: np.ndarray | None  # the text of each; None where no two share one


def fit_head(e: Experiment, some: Instances, label: np.ndarray) -> FittedHead:
  """A head that tells the two sides' seed words apart, and a control."""
  config, id, vector = e.config, some.id, some.vector
  out = attributes.held_out(id, config.seed, HELD_OUT)
  for side, name in enumerate(('first', 'second')):
    if not (label[~out] == side).any():
      raise UserError(
        f'all texts with a seed word of the {name} side are held out, and '
        'nothing is left to learn from; give more texts'
      )
  # What the control reaches is what chance and the program's leaks give.
  coin = np.random.default_rng([config.seed, COIN]).integers(0, 2, len(label))
  texts = clusters.distinct(attributes.texts_of(id[out]))
  logits, right = {}, {}
  for name, labels in (('accuracy', label), ('control', coin)):
    sets = tuple((vector[rows], labels[rows]) for rows in (~out, out))
    if config.fairflow.head == 'lda':
      w, b = attributes.discriminant(*sets[0], some.word[~out])
      logits[name] = lambda x, w=w, b=b: np.float32(x @ w + b)
    else:
      logits[name] = _perceptron(e, name, sets)
    right[name] = (logits[name](sets[1][0]) > 0) == sets[1][1]
  return FittedHead(logits['accuracy'], right, texts)


def _perceptron(e: Experiment, name: str, sets: tuple) -> Any:
  """The paper's head, fitted: its logit as a function of vectors."""
  lr, epochs = e.config.fairflow.head_lr, e.config.fairflow.head_epochs
  # A schedule of its own; FairFlow's batch, clipping and decay.
  own = {'lr': lr, 'epochs': epochs, 'batch': 32, 'microbatches': 1}
  own |= {'optimizer': 'adamw', 'warmup': 0.0, 'weight_decay': 0.0}
  own |= {'max_grad_norm': 1.0, 'evals': 1 / epochs}
  config = changed(e.config, seeds=1, train=LINEAR | own)
  model = head_model(sets[0][0].shape[1])
  model = model.replace(device_mesh=mesh.make(config.mesh, 1))
  made_from = identity(config, ('training', 'attributes'), *sets[0], *sets[1])
  own, part = e.of(config, 'head'), f'head {name}'
  fit = own.fitted(model, sets, made_from, part=part, task=HEAD)
  params = jax.tree.map(lambda a: a[0], mesh.to_host(fit.params))
  return functools.partial(_margin, params)


def share(
  right: np.ndarray, cluster: np.ndarray | None, config: Config
) -> dict:
  """The share that is right, over texts; Wilson's where each has one row."""
  how = intervals.options_of(config)
  if cluster is None:
    return estimates.of_share(int(right.sum()), len(right), how.level)
  return fairscore.share(right[None], how.over(cluster))


@functools.cache
def head_model(width: int) -> Bundle:
  module = contextual.AttributeHead()

  def init(seed: int) -> dict:
    key = keys.key(seed, keys.INIT)
    return module.init(key, jnp.zeros((1, width)))['params']

  def apply(params, batch, dropout=None):
    return module.apply({'params': params}, batch['vector'])

  return Bundle(init, apply, module)


@jax.jit
def _logit(params: dict, vector: jax.Array) -> jax.Array:
  logits: Any = contextual.AttributeHead().apply({'params': params}, vector)
  return logits[:, 1] - logits[:, 0]


def _margin(params: dict, vector: np.ndarray) -> np.ndarray:
  return np.asarray(_logit(params, vector), np.float32)


def _head_quality(job: loop.Job, params) -> dict[str, np.ndarray]:
  vector, label = job.valid
  result: dict[str, list] = {'loss': [], 'accuracy': []}
  for s in range(len(job.seeds)):
    margin = _margin(jax.tree.map(lambda a, s=s: a[s], params), vector)
    signed = np.where(label > 0, margin, -margin)
    result['loss'].append(np.logaddexp(0, -signed).mean())
    result['accuracy'].append((signed > 0).mean())
  return {name: np.array(value) for name, value in result.items()}


HEAD = loop.Task(
  lambda job, _: instances.labelled(
    job.train[0], job.train[1], job.seeds, job.config.train.batch
  ),
  (Player('head', CLASSES),),
  _head_quality,
)


class FlowModule(NamedTuple):
  """A flow's shape and products: what its functions ask for."""

  shape: flow.FlowShape
  dtype: Any = jnp.float32


def flow_model(
  shape: flow.FlowShape, sample: np.ndarray, dtype: Any = jnp.float32
) -> Bundle:
  """Each seed's flow, its ActNorms started from `sample`."""
  shape.validate()
  rows = jnp.asarray(sample, jnp.float32)

  def init(seed: int) -> dict:
    start = jax.jit(flow.init, static_argnums=(0, 3))
    return start(shape, keys.key(seed, keys.INIT), rows, dtype)

  module = FlowModule(shape, dtype)
  return Bundle(init, _flow_forward(module), module)


@functools.cache
def _flow_forward(module: FlowModule):
  def apply(params, batch, dropout=None):
    return flow.forward(module.shape, params, batch['vector'], module.dtype)[0]

  return apply


@functools.cache
def flow_loss(objective: flow.FlowObjective) -> Loss:
  def total(model, params, batch, dropout):
    shape, dtype = model.module
    return flow.pair_loss(shape, objective, params, batch, dtype)

  return Loss(total, lambda batch: jnp.sum(batch['side'] != 0))  # real pairs


def factor_size(
  config: Config, vector: np.ndarray, side: np.ndarray
) -> tuple[int, int]:
  """K, and what Esser et al.'s estimator says of it."""
  count = instances.paired(vector, side, [config.seed], 1).steps_per_epoch
  pairs = instances.paired(vector, side, [config.seed], count)[0]
  first, second = pairs['first'][0], pairs['second'][0]
  estimate = flow.factor_size(first, second)
  width = vector.shape[1]
  estimate = min(max(estimate, 1), width - 1)  # a flow needs both parts
  size = config.fairflow.factor
  # ⌈d/10⌉ is the first chunk of FairFlow's program.
  return {0: estimate, -1: -(-width // 10)}.get(size, size), estimate


def fit_flow(
  e: Experiment, vector: np.ndarray, side: np.ndarray, valid, part: str = 'flow'
) -> tuple[Bundle, Any, loop.Fitted]:
  """The flow of embeddings (whitened already), all seeds side by side.

  `valid` says which rows are held out.
  """
  config, options = e.config, e.config.fairflow
  factor, _ = factor_size(config, vector, side)
  shape = flow.FlowShape(
    vector.shape[1], options.steps, options.hidden, DEPTH, factor
  )
  rows = np.flatnonzero((side != 0) & ~valid)
  draw = np.random.default_rng([config.seed, instances.PAIRS])
  sample = vector[np.sort(draw.permutation(rows)[:SAMPLE])]
  model = flow_model(shape, sample, build.precision(config))
  model = model.replace(device_mesh=mesh.make(config.mesh, config.seeds))
  wanted = flow.FlowObjective(options.rho, options.margin, options.leak)
  loss = flow_loss(wanted)
  sets = tuple((vector[own], side[own]) for own in (~valid, valid))

  def source(job, _):
    return instances.paired(
      *job.train, job.seeds, config.train.batch, config.train.microbatches
    )

  def measure(job, params):
    return {'loss': _mean_loss(job, params, loss)}

  task = loop.Task(source, (Player('flow', loss),), measure)
  made_from = identity(config, ('training', 'flow'), vector, side, valid)
  own = e.of(config, part.replace(' ', '_'))
  fit = own.fitted(model, sets, made_from, part=part, task=task)
  return model, fit.params, fit


@functools.lru_cache(maxsize=8)
def _sums(model: Bundle, loss: Loss, device_mesh):
  """sums(params, batch) -> (the loss of each seed, how much is counted)."""

  @jax.jit
  def sums(params, batch):
    total = lambda p: loss.total(model, p, batch, None)[0]
    return mesh.over_seeds(device_mesh, total)(params), loss.count(batch)

  return sums


def _mean_loss(job: loop.Job, params, loss: Loss) -> np.ndarray:
  """The mean loss of one pairing of the held-out instances, a number a seed."""
  # Seed 0: each evaluation is of the same pairs.
  source = instances.paired(job.valid[0], job.valid[1], [0], 1024)
  sums = _sums(job.model.program, loss, job.device_mesh)
  parts = []
  for i in range(source.steps_per_epoch):
    batch = {name: value[0] for name, value in source[i].items()}
    parts.append(sums(params, batch))
  total = sum(np.asarray(value, np.float64) for value, _ in parts)
  return np.asarray(total / sum(int(count) for _, count in parts))
