"""Exact per-example gradient norms, against functorch, Opacus and a loop.

Every side lives in a process of its own and scores the same batch with the
same weights (our Hugging Face folder, loaded by transformers); the race stops
if their norms differ. `loop` is the reference's way: one backward pass an
example. The last line also compares with our own training step on that
batch. Texts have all the same length, so that nothing is won by packing, and
every side has `--cores` cores, by default one. The memory is the host's, or an
accelerator's where the sides run on one; there all products are in bfloat16.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from fairjax.bench import race

SIZES = {'tiny': 'tiny', 'mini': 'mini', 'base': 'bert-base-cased'}
VOCAB = 28996
PEERS = ('functorch', 'loop', 'opacus')


def run(args: list[str]) -> dict:
  """The race; `--size=base` needs 10 GB for functorch."""
  parser = argparse.ArgumentParser('fairjax.bench grand', description=__doc__)
  add_options(parser)
  parser.add_argument('--rounds', type=int, default=5)
  parser.add_argument('--peers', default=','.join(PEERS))
  chosen = parser.parse_args(args)
  peers = [p for p in chosen.peers.split(',') if p]
  if 'opacus' in peers and race.missing('opacus'):
    peers.remove('opacus')
  if race.missing('torch'):
    peers = []
  with tempfile.TemporaryDirectory() as folder:
    save_weights(chosen, folder)
    sides: dict = {}
    try:
      for name in ('fairjax', 'step', *peers):
        own = ['--side', name, '--folder', folder, '--size', chosen.size]
        own += [f'--batch={chosen.batch}', f'--length={chosen.length}']
        own += [f'--seed={chosen.seed}', f'--cores={chosen.cores}']
        own += [f'--device={chosen.device}']
        sides[name] = race.Process(
          name, ['-m', 'fairjax.bench.grand', *own], race.on(chosen.device)
        )
        if name in peers:
          race.same(
            sides['fairjax'].facts['norms'],
            sides[name].facts['norms'],
            name,
            1e-4 if chosen.device == 'cpu' else 3e-2,
          )
      times = race.interleave(sides, chosen.rounds)
    finally:
      for side in sides.values():
        side.close()
  memory = {
    name: {
      'peak_mb': side.peak_mb,
      'above_weights_mb': side.peak_mb - side.facts['resting_mb'],
    }
    for name, side in sides.items()
  }
  for name, used in memory.items():
    print(
      f'{name:12} peak {used["peak_mb"]:7.0f} MB, '
      f'{used["above_weights_mb"]:7.0f} MB above its process with the weights'
    )
  ours, training = times['fairjax'], times.pop('step')
  of_step = statistics.median(a / b for a, b in zip(ours, training))
  print(f'our norms take {of_step:.2f} of the time of our training step')
  return race.report(
    f'grand {chosen.size}',
    times,
    unit='examples/s',
    items=chosen.batch,
    batch=chosen.batch,
    length=chosen.length,
    cores=chosen.cores,
    of_a_training_step=of_step,
    memory=memory,
  )


def add_options(parser: argparse.ArgumentParser) -> None:
  parser.add_argument('--size', choices=SIZES, default='mini')
  parser.add_argument('--batch', type=int, default=16)
  parser.add_argument('--length', type=int, default=32)
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--cores', type=int, default=1)
  parser.add_argument('--device', default='cpu', choices=('cpu', 'gpu'))


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
  dtype = jnp.float32 if chosen.device == 'cpu' else jnp.bfloat16
  module = families.module(shape, 'classify', dtype, classes=2)
  return build.from_folder(module, None)


def save_weights(chosen, folder: str) -> None:
  """One set of weights for all sides."""
  import jax

  from fairjax.models import hf

  model = classifier(chosen)
  params = jax.device_get(model.init(chosen.seed))
  hf.save(pathlib.Path(folder) / 'model', model.module, params)


def fairjax_side(chosen, training: bool) -> None:
  """Our norms, or our training step, on one packed batch."""
  import jax

  from fairjax import memory
  from fairjax.config import Mesh, Train
  from fairjax.data import batches
  from fairjax.data.tokens import Ragged
  from fairjax.models import hf
  from fairjax.scores import grand
  from fairjax.train import mesh, step

  memory.keep()
  model = classifier(chosen)
  ids, label = texts(chosen)
  ends = np.arange(len(ids) + 1, dtype=np.int64) * chosen.length
  pool = batches.Pool(
    Ragged(ids.ravel(), ends), label, np.ones(len(ids), np.float32)
  )
  params = hf.load(pathlib.Path(chosen.folder) / 'model', model.module).params
  device_mesh = mesh.make(Mesh(), 1)
  params = mesh.put_state(device_mesh, jax.tree.map(lambda a: a[None], params))
  layout = batches.layout(pool.tokens.lengths, chosen.batch)
  host = batches.sweep(pool, np.arange(len(ids)), layout)[0]
  jax.block_until_ready(params)
  resting = race.peak_mb()
  if training:
    train_step, start = step.compiled(model, Train(), device_mesh)
    state = {'params': params, 'opt': start(params)}
    one = jax.tree.map(lambda a: a[None], host)
    batch = mesh.put_batch(device_mesh, one, stacked=True)
    seeds = np.zeros(1, np.uint32)

    def unit():
      nonlocal state
      state, loss = train_step(
        state, batch, seeds, np.uint32(0), np.uint32(100)
      )
      jax.block_until_ready(loss)

    race.serve(unit, resting_mb=resting)
    return
  batch = mesh.put_batch(device_mesh, host, stacked=False)
  norms = grand.compiled(model, device_mesh)
  unit = lambda: np.asarray(norms(params, batch))
  result = np.empty(len(ids))
  result[host['example']] = unit()[0]
  race.serve(unit, norms=result.tolist(), resting_mb=resting)


def torch_side(chosen, how: str) -> None:
  """Norms of the same batch by PyTorch, dropout off."""
  import torch
  from torch.nn.functional import cross_entropy
  from transformers import AutoModelForSequenceClassification

  # vmap has no rule for the fused attention and would loop over it.
  model = AutoModelForSequenceClassification.from_pretrained(
    str(pathlib.Path(chosen.folder) / 'model'),
    attn_implementation='eager' if how == 'functorch' else 'sdpa',
  ).eval()
  where = 'cuda' if chosen.device == 'gpu' else 'cpu'
  model = model.to(where)
  ids, label = (torch.tensor(a).long().to(where) for a in texts(chosen))
  resting = race.peak_mb()
  make = {'loop': _loop, 'functorch': _functorch, 'opacus': _opacus}[how]
  norms = make(torch, cross_entropy, model, ids, label)

  def unit():
    with torch.autocast(where, torch.bfloat16, enabled=where == 'cuda'):
      return norms().cpu()  # waits for the device

  race.serve(unit, norms=unit().tolist(), resting_mb=resting)


def _loop(torch, cross_entropy, model, ids, label):
  def unit():
    norms = []
    for i in range(len(ids)):
      model.zero_grad()
      logits = model(input_ids=ids[i : i + 1]).logits
      cross_entropy(logits, label[i : i + 1]).backward()
      grads = [p.grad for p in model.parameters() if p.grad is not None]
      norms.append(torch.sqrt(sum(g.pow(2).sum() for g in grads)))
    return torch.stack(norms).detach()

  return unit


def _functorch(torch, cross_entropy, model, ids, label):
  from torch.func import functional_call, grad, vmap

  params = {k: v.detach() for k, v in model.named_parameters()}
  buffers = dict(model.named_buffers())
  length = ids.shape[1]
  # A mask of two axes is refused by vmap.
  mask = torch.zeros(1, 1, length, length, device=ids.device)

  def loss(params, row, y):
    inputs = {'input_ids': row[None], 'attention_mask': mask}
    result = functional_call(model, (params, buffers), (), inputs)
    return cross_entropy(result.logits, y[None])

  each = vmap(grad(loss), in_dims=(None, 0, 0))

  def unit():
    grads = each(params, ids, label).values()
    return torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in grads))

  return unit


def _opacus(torch, cross_entropy, model, ids, label):
  from opacus.grad_sample import GradSampleModule

  for module in model.modules():
    if isinstance(module, torch.nn.Dropout):
      module.p = 0.0
  # The hooks work in training mode only: dropout is 0 there instead.
  hooked = GradSampleModule(model.train(), loss_reduction='sum', strict=False)
  where = torch.arange(ids.shape[1], device=ids.device)
  where = where.expand(ids.shape).contiguous()
  kinds = torch.zeros_like(ids)

  def unit():
    hooked.zero_grad(set_to_none=True)
    logits = hooked(
      input_ids=ids,
      attention_mask=torch.ones_like(ids),
      position_ids=where,
      token_type_ids=kinds,
    ).logits
    cross_entropy(logits, label, reduction='sum').backward()
    grads = [p.grad_sample for p in hooked.parameters() if p.requires_grad]
    return torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in grads))

  return unit


def side(args: list[str]) -> None:
  parser = argparse.ArgumentParser()
  add_options(parser)
  parser.add_argument('--side')
  parser.add_argument('--folder')
  chosen = parser.parse_args(args)
  if hasattr(os, 'sched_setaffinity'):  # thread pools are made to this size
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-chosen.cores :])
  if chosen.side in ('fairjax', 'step'):
    fairjax_side(chosen, chosen.side == 'step')
  else:
    torch_side(chosen, chosen.side)


if __name__ == '__main__':
  side(sys.argv[1:])
