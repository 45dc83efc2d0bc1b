"""What a fit, a sweep and decoding take, traced by shape and never run."""

import dataclasses
import math
import pathlib
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.config import Config
from fairjax.core import chips
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, rows, seq2seq
from fairjax.data.batching.tokens import Ragged
from fairjax.data.corpora import texts
from fairjax.models import Bundle, build, families
from fairjax.models.decoding import decode, decode_slots, decode_texts
from fairjax.models.folders import hf
from fairjax.models.kernels import ways as traits
from fairjax.recipes.language import pretrain_objectives
from fairjax.train import mesh, optim, step, traced

FLOAT, FEW, SWEPT, READ = 4, 4, 64, 512
STEP, EVALUATION = 'gradients and activations', 'evaluation'
# Tokens a second of one core: 286,000 by a tokenizer of 8,000 pieces, and
# 987,000 by the swaps of a word list, on one of two cores that others shared.
TOKENISED, SWAPPED = (1e6, 1e5), (3e6, 3e5)


class Amount(NamedTuple):
  """How much text there is: rows of each split, tokens of one, of a corpus."""

  train: int
  held: int  # rows of validation, and of test
  length: int
  corpus: int


class Stage(NamedTuple):
  """One line of the page; FLOPs and bytes are of all devices together."""

  name: str
  what: str
  tokens: float
  flops: float = 0.0
  moved: float = 0.0
  dispatches: float = 0.0
  memory: tuple[tuple[str, float], ...] = ()  # bytes of a device, by part
  alone: bool = False  # by one device, however many there are
  host: tuple[float, float] = (0.0, 0.0)  # seconds


class Goal(NamedTuple):
  """What stages are counted for."""

  config: Config
  amount: Amount
  chip: chips.Chip
  count: int


# Models and batches by shape alone


def shape_of(config: Config, name: str, family: str, can: str = '') -> Any:
  """The shape of a folder that is there, of a published name, or of a size."""
  if name in families.SIZES:
    return families.named(name, config.tokens.vocab_size, family, can)
  folder = pathlib.Path(name).expanduser()
  if (folder / 'config.json').is_file():
    return hf.read_shape(folder)
  if name in build.WORD_MODELS:
    raise UserError(
      f'model {name!r} has a vocabulary of its data, which a dry run does not '
      'read; name an encoder with --config.model'
    )
  return families.named(name, 0, '', can)


def model_of(goal: Goal, name: str, family: str, can: str, **more) -> Bundle:
  """A model with random weights that are never made."""
  net = goal.config.net
  shape = shape_of(goal.config, name, family, can)
  shape = build.with_dropout(shape, goal.config)
  families.require(families.find(shape.family), can, name)
  kind = build.precision(goal.config)
  module = families.module(shape, can, kind, False, net.remat, **more)
  return build.from_folder(module, None, longest=shape.longest, can=can)


def shapes(batch: dict, wider: int = 1) -> dict:
  """Shapes of a batch, `wider` times as many along the first axis."""
  wide = lambda s: s and (s[0] * wider, *s[1:])
  return {
    name: jax.ShapeDtypeStruct(wide(np.shape(v)), np.asarray(v).dtype)
    for name, v in batch.items()
  }


def texts_of(count: int, length: int, places: bool = False) -> dict:
  """A batch of texts, a row each; a masked LM is asked one of their places."""
  of = lambda *names: dict.fromkeys(names, np.zeros(1, np.int32))
  arrays = of('head_index', 'example', 'label')
  for name in ('tokens', 'segment_ids', 'positions'):
    arrays[name] = np.zeros((1, length), np.int32)
  asked = ('head_columns', 'places', 'asked')[: 3 if places else 1]
  arrays |= dict.fromkeys(asked, np.zeros((1, 1), np.int32))
  return shapes(arrays | {'weight': np.ones(1, np.float32)}, count)


def pairs_of(count: int, length: int) -> dict:
  """A batch of pairs to rewrite, each a row: a few made ones, widened."""
  ids = np.zeros(FEW * length, np.int32)
  made = Ragged(ids, np.arange(FEW + 1, dtype=np.int64) * length)
  batch = next(iter(seq2seq.sweep(seq2seq.pool(made, made), FEW)))
  return shapes(batch | {'push': np.float32(1)}, -(-count // FEW))


def vectors_of(count: int, width: int, *names: str) -> dict:
  """A batch of embeddings under each name, with what losses ask of them."""
  arrays = dict.fromkeys(('label', 'example', 'side'), np.ones(1, np.int32))
  arrays |= dict.fromkeys(names, np.zeros((1, width), np.float32))
  return shapes(arrays | {'weight': np.ones(1, np.float32)}, count)


def vocabulary(count: int) -> corruption.Vocabulary:
  """As many tokens as a shape has; only their number matters here."""
  special, every = np.arange(count) < 5, np.ones(count, bool)
  ordinary = np.flatnonzero(~special).astype(np.int32)
  ends = (0,), (2,)
  return corruption.Vocabulary(
    count, 4, 1, *ends, special, every, ~every, ordinary
  )


def corrupted(config: Config, words: corruption.Vocabulary, count: int) -> dict:
  """A batch of pretraining: made small of random tokens, then widened."""
  options, length = config.pretrain, config.pretrain.length
  objective = pretrain_objectives.OBJECTIVES[options.objective]
  draw = np.random.default_rng(0)
  flat = draw.choice(words.ordinary, 4 * length).astype(np.int32)
  store = texts.Store(flat, np.array([0, len(flat)]), 0)
  ends = words.first, words.last, objective.closed
  one = rows.rows(store, np.array([0]), length, *ends)
  settings = {k: getattr(options, v) for k, v in objective.options.items()}
  if settings:
    settings['words'] = words
  batch = objective.corrupt(rows.read(one, np.array([0])), draw, **settings)
  return shapes(rows.finish(batch, one.pieces), count)


# What a fit, a sweep and decoding take


def size(tree: Any) -> float:
  return sum(map(traced.size, jax.tree.leaves(tree)))


def lying(ways: int, tree: Any, cut: bool, along: Any = None) -> float:
  """Of one seed's parameters, what lies on one device of `ways`."""
  place = types.SimpleNamespace(shape={'data': ways})
  total = 0.0
  for leaf in jax.tree.leaves(tree):
    stacked = jax.ShapeDtypeStruct((1, *leaf.shape), leaf.dtype)
    is_cut = 'data' in mesh.spec(place, stacked, cut, along)
    total += traced.size(leaf) / (ways if is_cut else 1)
  return total


def gradient(model: Bundle, loss: step.Loss, batch: dict, own: str = ''):
  """The parameters, those that move, and the cost of a batch's gradient."""
  params = jax.eval_shape(lambda: model.init(0))
  moves = optim.owned(params, own)

  def program(mine, rest, batch, key):
    total = lambda model, mine, *others: loss.total(
      model, optim.combine(rest, mine), *others
    )
    minimised = step.Loss(total, loss.count)
    return step.gradients(model, mine, batch, key, 1, minimised)

  key = jax.ShapeDtypeStruct((), np.uint32)
  found = jax.make_jaxpr(program)(moves, params, batch, key)
  return params, moves, traced.cost(found.jaxpr)


def fit(
  goal: Goal,
  name: str,
  model: Bundle,
  loss: step.Loss,
  batch_of: Callable[[int], dict],
  config: Config,  # with the fit's own schedule and seeds
  examples: float,
  length: int = 1,
  held: float = 0.0,
  fits: int = 1,
  steps: int = 0,
  own: str = '',
) -> Stage:
  """All seeds of a fit side by side; `fits` of them, one after another."""
  options, seeds, fsdp = config.train, config.seeds, config.mesh.fsdp
  batch = batch_of(options.batch // options.microbatches)
  params, moves, one = gradient(model, loss, batch, own)
  passed = jax.make_jaxpr(lambda p, b: loss.total(model, p, b, None)[0])
  look = traced.cost(passed(params, batch).jaxpr)
  epoch = max(1, -(-examples // options.batch))
  epochs = steps / epoch if steps else options.epochs
  steps = steps or max(1, round(epochs * epoch))
  looks = max(1, math.ceil(epochs * options.evals)) * held
  looks *= options.microbatches * seeds * fits / options.batch
  times = steps * seeds * fits
  # On a device: some seeds, a share of the rows, and of what they update.
  along = math.gcd(goal.count, seeds)
  ways, here = goal.count // along, seeds // along
  at_once = 1 if traits.ways().by_library else here  # mesh.over_seeds
  lies = lambda tree: here * lying(ways, tree, True, None if fsdp else min)
  gathered = ways > 1 and not fsdp and here * lying(ways, params, False)
  optimiser = jax.eval_shape(optim.transform(options).init, moves)
  narrow = step.dtype_of(model).itemsize / FLOAT
  gradients = here * size(moves) * (2 if options.microbatches > 1 else 1)
  memory = {
    'weights': lies(params) + gathered,
    'moments': lies(optimiser),
    'kept weights': lies(params),
    STEP: gradients + at_once * (one.peak - size(moves)) / ways,
    EVALUATION: gathered
    + (lies(params) * narrow if narrow < 1 else 0)
    + at_once * look.peak / ways,
  }
  many = [f' × {seeds} seeds'] * (seeds > 1) + [f' × {fits} fits'] * (fits > 1)
  step_of = traced.ProgramCost(*(options.microbatches * x for x in one[:2]))
  return Stage(
    name,
    f'{steps:,} steps of {options.batch:,}{"".join(many)}',
    times * options.batch * length,
    step_of.flops * times + look.flops * looks,
    # Weights, gradients and moments are read and written once a step.
    (step_of.moved + 7 * size(moves)) * times + look.moved * looks,
    steps * fits,
    tuple(memory.items()),
  )


def sweep(
  goal: Goal,
  name: str,
  model: Bundle,
  examples: float,
  length: int,
  times=1,
) -> Stage:
  """A forward pass over texts, `times` over."""
  params = jax.eval_shape(lambda: model.init(0))
  batch = texts_of(SWEPT, length, places=model.can == 'mask')
  one = traced.cost(jax.make_jaxpr(model.apply)(params, batch).jaxpr)
  n = examples * times / SWEPT
  return Stage(
    name,
    f'{examples:,.0f} texts' + f' × {times}' * (times > 1),
    examples * length * times,
    *(n * one.flops, n * one.moved, n),
    (('weights', size(params)), (EVALUATION, one.peak / goal.count)),
  )


def write(
  goal: Goal, name: str, model: Bundle, examples: float, most: int
) -> Stage:
  """Texts decoded in slots: one step of all is traced, and one filling."""
  options, length, module = (
    goal.config.generate,
    goal.amount.length,
    model.module,
  )
  slots, beams = options.slots, max(options.num_beams, 1)
  params = jax.eval_shape(lambda: model.init(0))
  chosen = dataclasses.replace(decode_texts.GREEDY, num_beams=beams)
  rules = decode.rules(chosen, model.shape)
  room = length + most if model.shape.start is None else most + 1
  flags = dict.fromkeys(('drafting', 'filling', 'drawing'), False)
  flags |= {'k': beams, 'b': slots, 't': length, 'w': room}
  ints = lambda *dims: jnp.zeros(dims, jnp.int32)

  def advanced(params):
    state = decode_slots.empty(module, params, **flags)
    return decode_slots.advance(module, params, state, rules, ints())

  def admitted(params):
    state = decode_slots.empty(module, params, **flags)
    row, source = ints(slots), ints(slots, length)
    keys = jnp.zeros((slots, 2), jnp.uint32)
    new = decode_slots.Entries(row, row, source, source, row, row, row, keys)
    return decode_slots.admit(module, params, state, new)

  found = [jax.make_jaxpr(one)(params) for one in (advanced, admitted)]
  token, start = (traced.cost(one.jaxpr) for one in found)
  state = size(found[0].out_avals)
  n, narrow = examples / slots, step.dtype_of(model).itemsize / FLOAT
  return Stage(
    name,
    f'{examples:,.0f} texts of {most} tokens'
    + f', {beams} beams' * (beams > 1),
    examples * most,
    n * (most * token.flops + start.flops),
    n * (most * token.moved + start.moved),
    n * most / 4,  # the loop is on the device; a quarter of the slots is new
    (
      ('weights', size(params)),
      ('weights as they are read', size(params) * narrow),
      ('slots', state),
      # The slots are made in the program, and are its results.
      (STEP, max(token.peak, start.peak) - 2 * state),
    ),
    alone=True,
  )


def on_host(name: str, what: str, tokens: float, rates: tuple) -> Stage:
  return Stage(name, what, tokens, host=tuple(tokens / rate for rate in rates))
