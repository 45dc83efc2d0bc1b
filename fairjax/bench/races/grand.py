"""Exact per-example gradient norms, against PyTorch.

Every side lives in a process of its own and scores the same batch with the
same weights (our Hugging Face folder, loaded by transformers); the race stops
if their norms differ. The peers are those of peers/grand_peers.py, all with
our settings of the memory. The last line also compares with our own training
step on that batch. Texts have all the same length, so that nothing is won by
packing, and every side has `--cores` cores, by default one. `--precision` is
that of our products (a peer's name says its own); on an accelerator all are in
bfloat16. `--clock=cpu` counts CPU seconds. The memory is the host's, or an
accelerator's where the sides run on one.
"""

import functools
import pathlib
import statistics
from collections.abc import Callable

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import grand_peers

SIZES = {'tiny': 'tiny', 'mini': 'mini', 'base': 'bert-base-cased'}
VOCAB = 28996
OURS = ('fairjax', 'step')


def run(args: list[str]) -> dict:
  """Norms of one batch a second, and of a training step."""
  chosen = options(args)
  packages = {p: grand_peers.PEERS[p].packages for p in chosen.peers}
  absent = race.missing(*dict.fromkeys(sum(packages.values(), ())))
  peers = [p for p in chosen.peers if not set(packages[p]) & set(absent)]
  with race.processes(
    *('grand', args, (*OURS, *peers), race.on(chosen.device)),
    prepare=functools.partial(save_weights, chosen),
  ) as sides:
    scored = {name: sides[name] for name in sides if name != 'step'}
    tolerance = functools.partial(_tolerance, chosen)
    race.agree(scored, 'norms', 'the norms', tolerance)
    times = race.interleave(sides, chosen.rounds)
  memory = {
    name: {
      'peak_mb': side.peak_mb,
      'above_weights_mb': side.peak_mb - side.facts['resting_mb'],
    }
    for name, side in sides.items()
  }
  ours, training = times['fairjax'], times.pop('step')
  of_step = statistics.median(a / b for a, b in zip(ours, training))
  print(f'our norms take {of_step:.2f} of the time of our training step')
  return race.report(
    *(f'grand {chosen.size}', times, chosen),
    unit='examples/s',
    items=chosen.batch,
    of_a_training_step=of_step,
    memory=memory,
  )


def options(args: list[str]):
  every = [*grand_peers.PEERS]
  return race.options(
    *('grand', __doc__, args),
    size=('mini', 'tiny', 'base'),
    batch=16,
    length=32,
    seed=0,
    cores=1,
    device=race.DEVICES,
    precision=('float32', 'bfloat16'),
    rounds=5,
    peers=race.Several(every, ','.join(every)),
  )


def precision(chosen, side: str = 'fairjax') -> str:
  """The type of a side's products."""
  if chosen.device == 'gpu' or side.endswith('-bf16'):
    return 'bfloat16'
  return chosen.precision if side in OURS else 'float32'


def _tolerance(chosen, peer: str) -> float:
  types = {precision(chosen), precision(chosen, peer)}
  return 3e-2 if 'bfloat16' in types else 1e-4


def texts(chosen) -> tuple[np.ndarray, np.ndarray]:
  """Random ids [b, t] and labels."""
  rng = np.random.default_rng([chosen.seed, 0xBE])
  ids = rng.integers(5, VOCAB, (chosen.batch, chosen.length))
  return ids.astype(np.int32), rng.integers(0, 2, chosen.batch).astype(np.int32)


def classifier(chosen):
  """Our model of that size."""
  import jax.numpy as jnp

  from fairjax.models import build, families

  shape = families.named(SIZES[chosen.size], VOCAB)
  dtype = jnp.dtype(precision(chosen))
  module = families.module(shape, 'classify', dtype, classes=2)
  return build.from_folder(module, None)


def packed(chosen):
  """The texts as our batches read them, and the shape of a batch."""
  from fairjax.data.batching import batches
  from fairjax.data.batching.tokens import Ragged

  ids, label = texts(chosen)
  ends = np.arange(len(ids) + 1, dtype=np.int64) * chosen.length
  weight = np.ones(len(ids), np.float32)
  pool = batches.Pool(Ragged(ids.ravel(), ends), label, weight)
  return pool, batches.layout(pool.tokens.lengths, chosen.batch)


def save_weights(chosen, folder: str) -> None:
  """One set of weights for all sides."""
  import jax

  from fairjax.models.folders import hf

  model = classifier(chosen)
  params = jax.device_get(model.init(chosen.seed))
  hf.save(pathlib.Path(folder) / 'model', model.module, params)


def fairjax_side(chosen) -> tuple[Callable, dict]:
  """Our norms, or our training step, on one packed batch."""
  import jax

  from fairjax.config import Mesh, Train
  from fairjax.data.batching import batches
  from fairjax.models.folders import hf
  from fairjax.models.layers import layer_params
  from fairjax.scores import grand
  from fairjax.train import mesh, step

  model = classifier(chosen)
  pool, layout = packed(chosen)
  # From the folder that all sides read.
  params = hf.load(pathlib.Path(chosen.folder) / 'model', model.module).params
  device_mesh = mesh.make(Mesh(), 1)
  params = mesh.put_state(device_mesh, jax.tree.map(lambda a: a[None], params))
  host = batches.sweep(pool, np.arange(chosen.batch), layout)[0]
  jax.block_until_ready(params)
  resting = race.peak_mb()
  if chosen.side == 'step':
    train_step, start = step.compiled(model, Train(), device_mesh)
    state = {'params': params, 'opt': start(params)}
    one = jax.tree.map(lambda a: a[None], host)
    batch = mesh.put_batch(device_mesh, one, stacked=True)
    seeds = np.zeros(1, np.uint32)

    def unit():
      nonlocal state
      state, loss = train_step(state, batch, seeds, *map(np.uint32, (0, 100)))
      jax.block_until_ready(loss)

    return unit, {'resting_mb': resting}
  batch = mesh.put_batch(device_mesh, host, stacked=False)
  params = layer_params.as_read(model.module, params, host)  # as `grand.grand`
  norms = grand.compiled(model, device_mesh)
  unit = lambda: np.asarray(norms(params, batch))
  result = np.empty(chosen.batch)
  result[host['example']] = unit()[0]
  return unit, {'norms': result.tolist(), 'resting_mb': resting}


def torch_side(chosen) -> tuple[Callable, dict]:
  """Norms of the same batch by PyTorch, dropout off."""
  import torch
  from transformers import AutoModelForSequenceClassification

  peer = grand_peers.PEERS[chosen.side]
  model = AutoModelForSequenceClassification.from_pretrained(
    str(pathlib.Path(chosen.folder) / 'model'),
    attn_implementation=peer.attention,
  ).eval()
  where = 'cuda' if chosen.device == 'gpu' else 'cpu'
  model = model.to(where)
  if chosen.side.endswith('-bf16'):
    model = model.bfloat16()
  ids, label = (torch.tensor(a).long().to(where) for a in texts(chosen))
  resting = race.peak_mb()
  norms = peer.make(torch, model, ids, label)

  def unit():
    with torch.autocast(where, torch.bfloat16, enabled=where == 'cuda'):
      return norms().float().cpu()  # waits for the device

  return unit, {'norms': unit().tolist(), 'resting_mb': resting}


def side(chosen) -> tuple[Callable, dict]:
  race.pin(chosen.cores)
  return (fairjax_side if chosen.side in OURS else torch_side)(chosen)


if __name__ == '__main__':
  race.serve_side(options, side)
