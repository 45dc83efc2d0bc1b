"""The programs of a run, traced for devices that are not there.

Each takes a device mesh and a `Size` and returns what `jax.jit(…).trace` gives,
with the arguments described by shape and sharding; nothing is allocated.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from fairjax.config import Train
from fairjax.core.errors import UserError
from fairjax.models import Bundle, build, families
from fairjax.models.decoding import decode, decode_slots, decode_texts
from fairjax.models.layers import layer_params
from fairjax.models.layers.places import blank_batch
from fairjax.scores import grand as scores_grand
from fairjax.train import mesh, step


@dataclasses.dataclass(frozen=True)
class Size:
  """How large the programs are: of a seed, over all devices."""

  model: str = 'bert-base-uncased'
  layers: int = 0  # 0: the model's own
  seeds: int = 5
  rows: int = 64
  length: int = 128
  examples: int = 1  # in a row
  slots: int = 32  # of generation
  precision: str = 'bfloat16'
  fsdp: bool = False


WORDS = 30522  # of BERT's vocabulary
TRAIN = Train(lr=2e-5, weight_decay=0.01)


def shape_of(size: Size, family: str, can: str):
  """The shape of a name, or of a size ('mini') with BERT's vocabulary."""
  vocab = WORDS if size.model in families.SIZES else 0
  shape = families.named(size.model, vocab, family, can)
  if not size.layers:
    return shape
  fields = {field.name for field in dataclasses.fields(shape)}
  depths = {'depth', 'encoder_layers', 'decoder_layers'} & fields
  return dataclasses.replace(shape, **dict.fromkeys(depths, size.layers))


def bundle(size: Size, can: str, **options) -> Bundle:
  shape = shape_of(size, 'bert', can)
  families.require(families.find(shape.family), can, size.model)
  module = families.module(shape, can, jnp.dtype(size.precision), **options)
  return build.from_folder(module, None, can=can)


def like(tree, where):
  """Shapes of a tree's leaves that lie where the tree `where` says."""
  return jax.tree.map(
    lambda a, to: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=to),
    tree,
    where,
  )


def everywhere(device_mesh: Mesh, tree):
  """Shapes of a tree's leaves, a copy on each device."""
  return like(tree, jax.tree.map(lambda _: mesh.replicated(device_mesh), tree))


def stacked(device_mesh: Mesh, model: Bundle, size: Size):
  """The parameters of all seeds."""
  params = jax.eval_shape(lambda: layer_params.padded(model.init(0)))
  many = jax.tree.map(
    lambda a: jax.ShapeDtypeStruct((size.seeds, *a.shape), a.dtype), params
  )
  return like(many, mesh.state_shardings(device_mesh, many, size.fsdp))


def batch(device_mesh: Mesh, size: Size, over_seeds: bool) -> dict:
  """A packed batch as batching/batches.py lays it out."""
  r, t, m = size.rows, size.length, size.examples
  if r % device_mesh.shape['data']:
    raise UserError(
      f'{r} rows cannot be shared by {device_mesh.shape["data"]} devices; '
      'give a multiple of them with --rows'
    )
  arrays = {
    **dict.fromkeys(('tokens', 'segment_ids', 'positions'), (r, t)),
    'head_columns': (r, m),
    **dict.fromkeys(('head_index', 'example', 'label'), (r * m,)),
    'weight': (r * m,),
  }
  front = (size.seeds,) if over_seeds else ()
  return {
    name: jax.ShapeDtypeStruct(
      front + dims,
      np.dtype('float32' if name == 'weight' else 'int32'),
      sharding=mesh.batch_sharding(
        device_mesh, name, len(front + dims), over_seeds
      ),
    )
    for name, dims in arrays.items()
  }


def train(device_mesh: Mesh, size: Size):
  """One optimiser step of all seeds."""
  model = bundle(size, 'classify', classes=2)
  arrays = batch(device_mesh, size, over_seeds=True)
  train_step, start = step.compiled(model, TRAIN, device_mesh, size.fsdp)
  params = stacked(device_mesh, model, size)
  where = mesh.update_shardings(device_mesh, params, size.fsdp)
  params = like(params, where)
  opt = jax.eval_shape(start, params)
  opt = like(opt, mesh.update_shardings(device_mesh, opt, size.fsdp))
  number = jax.ShapeDtypeStruct((), np.uint32)
  seeds = jax.ShapeDtypeStruct((size.seeds,), np.uint32)
  seeds = everywhere(device_mesh, seeds)
  state = {'params': params, 'opt': opt}
  return train_step.trace(state, arrays, seeds, number, number)


def read(device_mesh: Mesh, model: Bundle, size: Size, arrays: dict):
  """The parameters as a sweep over batches of such arrays reads them."""
  params = stacked(device_mesh, model, size)
  narrow = functools.partial(layer_params.as_read, model.module)
  where = jax.tree.map(lambda leaf: leaf.sharding, params)
  return like(jax.eval_shape(narrow, params, arrays), where)


def predict(device_mesh: Mesh, size: Size):
  model = bundle(size, 'classify', classes=2)
  arrays = batch(device_mesh, size, over_seeds=False)
  params = read(device_mesh, model, size, arrays)
  return step.forward(model, device_mesh).trace(params, arrays)


def grand(device_mesh: Mesh, size: Size):
  """Exact gradient norms of the examples of a batch."""
  model = bundle(size, 'classify', classes=2)
  arrays = batch(device_mesh, size, over_seeds=False)
  norms = scores_grand.compiled(model, device_mesh)
  return norms.trace(read(device_mesh, model, size, arrays), arrays)


def writer(size: Size):
  """The shape that decodes: for an encoder's name BART base of BERT's words."""
  try:
    return shape_of(size, 'bart', 'write')
  except UserError:
    shape_of(size, 'bert', 'classify')  # a name that is none is refused
  shape = shape_of(
    dataclasses.replace(size, model='bart-base'), 'bart', 'write'
  )
  return dataclasses.replace(shape, vocab=WORDS)


def generate(device_mesh: Mesh, size: Size):
  """A step of greedy decoding: a token for each slot.

  A BART has sources of half the length and writes a half more than they are; a
  left-to-right model writes as much after prompts of half the length.
  """
  shape = writer(size)
  module = families.module(shape, 'write', jnp.dtype(size.precision))
  params = jax.eval_shape(
    lambda: module.init(jax.random.key(0), blank_batch())['params']
  )
  with jax.default_device(jax.local_devices(backend='cpu')[0]):
    rules = decode.rules(decode_texts.GREEDY, shape)
  sources, room = size.length // 2, size.length
  if shape.start is not None:  # without the prompt
    room = size.length * 3 // 4
  greedy = {'k': 1, 'filling': False, 'drawing': False}
  blank = functools.partial(decode_slots.empty, module, **greedy)
  state = jax.eval_shape(
    lambda p: blank(p, b=size.slots, t=sources, w=room), params
  )
  params = jax.eval_shape(functools.partial(decode_texts.ready, module), params)
  want = jax.ShapeDtypeStruct((), np.int32)
  rest = everywhere(device_mesh, (params, state, rules, want))
  return decode_slots.advance.trace(module, *rest)


# The name on the command line, and what one run of the program is.
PROGRAMS = {one.__name__: one for one in (train, grand, predict, generate)}
