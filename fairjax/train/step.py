"""One training step and one forward pass, over all seeds at once."""

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from fairjax.config import Train
from fairjax.core import backend, keys
from fairjax.core.backend import platform
from fairjax.core.errors import UserError
from fairjax.models import Bundle
from fairjax.models.layers import layer_params
from fairjax.models.layers.gathers import own_score
from fairjax.train import mesh, optim


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
  """-log softmax(logits)[label], one number an example."""
  return jax.nn.logsumexp(logits, axis=-1) - own_score(logits, labels)


def weighted_sum(model: Bundle, params, batch: dict, dropout):
  """Σ wᵢ·lossᵢ over the batch; padding examples have weight 0."""
  logits = model.apply(params, batch, dropout)
  losses = cross_entropy(logits, batch['label'])
  return jnp.sum(batch['weight'] * losses), {}


def examples(batch: dict) -> jax.Array:
  """How many real examples a batch holds."""
  return jnp.sum(batch['example'] >= 0)


class Loss(NamedTuple):
  """What a step minimises: total / count over all micro-batches.

  Beside its sum, `total` returns terms by name that are only logged, as sums
  too (of which the loss may be made, or an accuracy).
  """

  total: Callable  # total(model, params, batch, dropout) -> (sum, terms)
  count: Callable  # count(batch) -> what the sums are divided by


CLASSES = Loss(weighted_sum, examples)


class Player(NamedTuple):
  """A loss, the parameters that it moves, how, and when.

  Each step is taken by all players whose turn it is, at once: their gradients
  are those at the parameters before the step. What no player owns stays.
  Players with the same loss share its backward pass, so two of them are two
  rates (or decays, or optimisers) for two parts of one model.
  """

  name: str
  loss: Loss
  parameters: str = ''  # a regular expression, searched in their names
  options: Any = None  # a Train, of its optimiser; None takes config.train
  # Whether it moves at step t: turns[t % len(turns)]. A discriminator of two
  # steps to each of its generator has (1, 1, 0), the generator (0, 0, 1).
  turns: tuple[int, ...] = (1,)


CLASSIFIER = (Player('model', CLASSES),)


def gradients(
  model: Bundle,
  params,
  batch: dict,
  dropout,
  accumulate: int,
  loss: Loss = CLASSES,
):
  """((mean loss, mean terms), its gradient), summed over micro-batches."""
  # The loss is divided: dividing the gradient is one more pass over it.
  count = jnp.maximum(loss.count(batch), 1)  # all padding: 0, not 0/0

  @functools.partial(jax.value_and_grad, has_aux=True)
  def grad(params, micro):
    total, terms = loss.total(model, params, micro, dropout)
    return total / count, {name: term / count for name, term in terms.items()}

  if accumulate == 1:
    return grad(params, batch)

  def add(total, micro):
    (value, terms), grads = grad(params, micro)
    return jax.tree.map(jnp.add, total, (value, grads)), terms

  zero = jax.tree.map(lambda p: jnp.zeros(p.shape), params)  # sums in float32
  (value, grads), terms = jax.lax.scan(add, (jnp.zeros(()), zero), batch)
  return (value, jax.tree.map(lambda term: term.sum(0), terms)), grads


def parts(players: tuple[Player, ...], params: dict) -> list[dict]:
  """What each player owns; each must own something, and nobody twice."""
  own = [optim.owned(params, player.parameters) for player in players]
  owner: dict[tuple, str] = {}
  for player, part in zip(players, own):
    names = [path for path, _ in jax.tree_util.tree_leaves_with_path(part)]
    if not names:
      raise UserError(
        f'player {player.name} moves nothing: no parameter has a name like '
        f'{player.parameters!r}'
      )
    for name in names:
      if name in owner:
        raise UserError(
          f'{jax.tree_util.keystr(name, simple=True, separator="/")} belongs '
          f'to the players {owner[name]} and {player.name}; let one move it'
        )
      owner[name] = player.name
  return own


def labels(players: tuple[Player, ...], index: int, values: dict) -> dict:
  """A player's values by the names that logs know them by."""
  prefix = f'{players[index].name}_' if len(players) > 1 else ''
  return {prefix + name: value for name, value in values.items()}


def turn(players: tuple[Player, ...], step) -> tuple[int, ...]:
  """The numbers of the players that move at this step."""
  now = lambda turns: turns[int(step) % len(turns)] if turns[1:] else turns[0]
  return tuple(i for i, player in enumerate(players) if now(player.turns))


def _gradient(
  model: Bundle,
  players: tuple[Player, ...],
  microbatches: int,
  active: tuple[int, ...],
  params: dict,
  batch: dict,
  seed,
  step,
) -> tuple[dict, dict]:
  """What the active players log, and the gradient of each by its number."""
  dropout = keys.dropout(seed, step)
  own = parts(players, params)
  values: dict = {}
  grads: dict = {}
  for loss in dict.fromkeys(players[i].loss for i in active):  # once each
    ours = [i for i in active if players[i].loss == loss]

    def total(model, mine, micro, dropout, loss=loss):  # bound in this round
      whole = functools.reduce(optim.combine, mine, params)
      return loss.total(model, whole, micro, dropout)

    (value, terms), result = gradients(
      model,
      [own[i] for i in ours],
      batch,
      dropout,
      microbatches,
      Loss(total, loss.count),
    )
    grads |= dict(zip(ours, result))
    for i in ours:
      values |= labels(players, i, {'loss': value, **terms})
  return values, grads


@jax.named_scope('optimiser')
def _move(transform, params, opt, grads, rate):
  grads = jax.tree.map(lambda g, p: g.astype(p.dtype), grads, params)
  direction, opt = transform.update(grads, opt, params)
  return jax.tree.map(lambda p, d: p - rate * d, params, direction), opt


def dtype_of(model: Bundle) -> jnp.dtype:
  """The type of a model's products."""
  return jnp.dtype(getattr(model.module, 'dtype', jnp.float32))


def gathered(held: dict, device_mesh, fsdp: bool, dtype=jnp.float32) -> dict:
  """The parameters as a step reads them: whole on each device of `data`."""

  def whole(path, leaf, here, there):
    if here == there:
      return leaf
    # What products read crosses the links in the type that they see.
    sent = leaf.astype(dtype) if layer_params.decays(path) else leaf
    sent = jax.lax.with_sharding_constraint(sent, there)
    if platform() == 'gpu':  # XLA would take the rounding back, and gather all
      sent = jax.lax.optimization_barrier(sent)
    return sent.astype(leaf.dtype)

  return jax.tree_util.tree_map_with_path(
    whole,
    held,
    mesh.update_shardings(device_mesh, held, fsdp),
    mesh.state_shardings(device_mesh, held, fsdp),
  )


@functools.lru_cache(maxsize=16)
def _compiled(
  model: Bundle,
  players: tuple[Player, ...],
  microbatches: int,
  device_mesh,
  fsdp: bool,
  compiler_options: tuple[tuple[str, bool], ...],
):
  # Reading an option that is not among these raises.
  options: list[Any] = [
    types.SimpleNamespace(**dict(p.options or ())) for p in players
  ]
  transforms = [optim.transform(option) for option in options]

  def shared(tree):
    where = mesh.update_shardings(device_mesh, tree, fsdp)
    return jax.lax.with_sharding_constraint(tree, where)

  def program(active, state, batch, seeds, step, total):
    gradient = functools.partial(
      _gradient, model, players, microbatches, active
    )
    params, opt = state['params'], dict(state['opt'])  # a copy, to be changed
    values, grads = mesh.over_seeds(device_mesh, gradient)(
      gathered(params, device_mesh, fsdp, dtype_of(model)),
      batch,
      seeds,
      jnp.ones_like(seeds) * step,  # one a seed, for the map
    )
    for i in active:
      # Stacked, as it lies: taking seeds apart here would copy the state.
      own, opt[players[i].name] = jax.vmap(
        functools.partial(_move, transforms[i]), in_axes=(0, 0, 0, None)
      )(
        optim.owned(params, players[i].parameters),
        opt[players[i].name],
        shared(grads[i]),
        optim.rate(options[i], step, total),
      )
      params = optim.combine(params, own)
    new = shared({'params': params, 'opt': opt})
    return new, jax.lax.with_sharding_constraint(
      values, mesh.replicated(device_mesh)
    )

  run = jax.jit(
    program,
    static_argnums=0,  # a program for each set of players
    donate_argnums=1,  # old and new state share their memory
    compiler_options=dict(compiler_options),
  )

  def train_step(state, batch, *rest):
    return run(turn(players, rest[-2]), state, batch, *rest)

  # Of step 0, for tools that compile it for devices that are not here.
  made: Any = train_step
  made.trace = functools.partial(run.trace, turn(players, 0))

  @jax.jit
  def start(params):
    own = parts(players, params)
    return shared(
      {
        player.name: mesh.over_seeds(device_mesh, transform.init)(part)
        for player, transform, part in zip(players, transforms, own)
      }
    )

  return made, start


def compiled(
  model: Bundle,
  train: Train,
  device_mesh,
  fsdp: bool = False,
  players: tuple[Player, ...] = CLASSIFIER,
):
  """(train_step, start): compiled once per model, mesh and what a step reads.

  train_step(state, batch, seeds, step, total) -> (state, values), where the
  values are the losses and terms of the players that moved, one a seed; the
  state's buffers are donated. start(params) -> optimiser state.
  """
  as_options = lambda options: tuple(
    (name, getattr(options, name)) for name in optim.STEP_OPTIONS
  )
  players = tuple(
    p._replace(options=as_options(p.options or train)) for p in players
  )
  return _compiled(
    model.program,
    players,
    train.microbatches,
    device_mesh,
    fsdp,
    tuple(backend.compiler_options().items()),
  )


def forward(model: Bundle, device_mesh):
  """logits(stacked params, batch) -> [s, b, c], the same batch for all."""
  options = tuple(backend.compiler_options().items())
  return _forward(model.program, device_mesh, options)


@functools.lru_cache(maxsize=16)
def _forward(model: Bundle, device_mesh, options: tuple[tuple[str, bool], ...]):
  @functools.partial(jax.jit, compiler_options=dict(options))
  def logits(params, batch):
    out = mesh.over_seeds(device_mesh, lambda p: model.apply(p, batch, None))(
      params
    )
    return jax.lax.with_sharding_constraint(out, mesh.replicated(device_mesh))

  return logits
