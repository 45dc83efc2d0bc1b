"""Training the weighting paper's LSTM (or Dixon's CNN), against PyTorch.

  python -m fairjax.bench lstm [--model=lstm|cnn] [--batch=256] [--steps=4] \\
      [--rounds=7] [--width=300] [--words=20000] [--clock=cpu]

A unit is `steps` optimiser steps (RMSprop, clipped norm) on random texts of
tweet length, frozen word vectors, dropout on. Both sides start from the same
weights and must give the same loss with dropout off. PyTorch takes nn.LSTM or
Conv1d, and rows that are padded beforehand; ours unpacks its batches within
the step. The sides live in processes of their own; with `taskset -c 1` and
`--clock=cpu` each has one core, and the CPU seconds of it count.
"""

from collections.abc import Callable

import numpy as np

from fairjax.bench import race
from fairjax.bench.races import train as training

BATCHES = 8  # different ones that the steps go round


def options(args: list[str]):
  known = {'model': ('lstm', 'cnn'), 'batch': 256, 'steps': 4, 'rounds': 7}
  known |= {'width': 300, 'words': 20_000}
  return race.options('lstm', __doc__, args, **known)


def run(args: list[str]) -> dict:
  """Races the two sides."""
  chosen = options(args)
  names = ['fairjax', *([] if race.missing('torch') else ['torch'])]
  with race.processes('lstm', args, names) as sides:
    race.agree(sides, 'loss', 'the loss', 1e-4)
    times = race.interleave(sides, chosen.rounds)
  items = chosen.batch * chosen.steps
  facts = {'unit': 'examples/s', 'items': items}
  return race.report(chosen.model, times, chosen, **facts)


def ours(chosen) -> tuple[Callable, dict]:
  """Our side: the house's own training step; writes what the peer needs."""
  import jax

  from fairjax.config import Mesh, Train
  from fairjax.data.batching import batches
  from fairjax.data.batching.tokens import Ragged, offsets_of
  from fairjax.models import build
  from fairjax.models.words import word_level
  from fairjax.train import loop, mesh, step

  rng = np.random.default_rng([0, 0xF1])
  n = BATCHES * chosen.batch
  lengths = np.clip(rng.poisson(15, n), 1, 35)
  flat = rng.integers(2, chosen.words, lengths.sum()).astype(np.int32)
  label = rng.integers(0, 2, n).astype(np.int32)
  pool = batches.Pool(
    Ragged(flat, offsets_of(lengths)), label, np.ones(n, np.float32)
  )
  table = word_level.random_rows(chosen.words, chosen.width, 0)
  vectors = word_level.EmbeddingTable(table, np.ones(len(table), bool))
  kind, length, rate = build.WORD_MODELS[chosen.model]
  shape = word_level.WordShape(*table.shape, 2, length, rate, vectors=vectors)
  module = kind(shape)
  model = build.word_model(module, vectors)
  train = Train(
    lr=1e-3, optimizer='rmsprop', max_grad_norm=5.0, batch=chosen.batch
  )
  device_mesh = mesh.make(Mesh(), 1)
  layout = batches.layout(lengths, chosen.batch)
  source = batches.packed(pool, np.arange(n)[None], [0], layout)
  params = mesh.put_state(device_mesh, loop.initial(model, [0]))
  host = [source[i] for i in range(BATCHES)]
  alone = {k: v[0] for k, v in host[0].items()}
  logits = np.asarray(step.forward(model, device_mesh)(params, alone))
  loss = loop.losses(
    logits, pool._replace(label=alone['label'], weight=alone['weight'])
  )
  ids = jax.jit(word_level.unpack, static_argnums=(1, 2))
  arrays = {
    f'{"/".join(str(k.key) for k in path)}': np.asarray(leaf[0])
    for path, leaf in jax.tree_util.tree_leaves_with_path(params)
  }
  for i, batch in enumerate(host):
    one = {k: v[0] for k, v in batch.items()}
    arrays[f'ids{i}'] = np.asarray(ids(one, length, shape.side)[0])
    arrays[f'label{i}'] = one['label']
  np.savez(f'{chosen.folder}/start.npz', table=table, **arrays)
  placed = model.replace(device_mesh=device_mesh)
  one = training.our_step(placed, train, params, [0], source.__getitem__)
  unit = training.in_turn(one, chosen.steps, BATCHES, jax.block_until_ready)
  return unit, {'loss': float(loss[0])}


def peer(chosen) -> tuple[Callable, dict]:
  """PyTorch from the same weights, on rows padded beforehand."""
  import torch
  from torch.nn import functional

  with np.load(f'{chosen.folder}/start.npz') as arrays:
    start = {k: torch.tensor(arrays[k]) for k in arrays.files}
  model = (_TorchLSTM if chosen.model == 'lstm' else _TorchCNN)(torch, start)
  rate = 0.5 if chosen.model == 'lstm' else 0.3
  parameters = model.parameters()
  optimizer = torch.optim.RMSprop(parameters, 1e-3, alpha=0.9, eps=1e-7)
  data = [
    (start[f'ids{i}'].long(), start[f'label{i}'].long()) for i in range(BATCHES)
  ]
  with torch.no_grad():
    loss = functional.cross_entropy(model(data[0][0], 0.0), data[0][1])

  def step(i: int) -> None:
    ids, label = data[i]
    optimizer.zero_grad(set_to_none=True)
    functional.cross_entropy(model(ids, rate), label).backward()
    torch.nn.utils.clip_grad_norm_(parameters, 5.0)
    optimizer.step()

  unit = training.in_turn(step, chosen.steps, BATCHES)
  return unit, {'loss': float(loss)}


class _TorchLSTM:
  """nn.LSTM, dense, layer norm, dropout, scores."""

  def __init__(self, torch, start: dict):
    self.torch, self.table = torch, start['table']
    inputs, kernel = start['input/kernel'], start['recurrent/kernel']
    hidden = len(kernel)
    self.lstm = torch.nn.LSTM(len(inputs), hidden, batch_first=True)
    shift = torch.zeros(4 * hidden)
    shift[hidden : 2 * hidden] = 1.0  # ours adds it to the forget gate
    values = (inputs.T, kernel.T, start['input/bias'], shift)
    with torch.no_grad():
      for own, value in zip(self.lstm.parameters(), values):
        own.copy_(value)
    self.rest = [
      start[name].requires_grad_()
      for name in (
        *('dense/kernel', 'dense/bias', 'norm/scale', 'norm/bias'),
        *('classifier/kernel', 'classifier/bias'),
      )
    ]

  def parameters(self) -> list:
    return [*self.lstm.parameters(), *self.rest]

  def __call__(self, ids, rate: float):
    functional = self.torch.nn.functional
    dense, bias, scale, shift, out, last = self.rest
    x = self.lstm(self.table[ids])[1][0][0]
    x = functional.relu(x @ dense + bias)
    x = functional.layer_norm(x, scale.shape, scale, shift, 1e-3)
    return functional.dropout(x, rate) @ out + last


class _TorchCNN:
  """Three Conv1d with max-pooling, dropout, dense, scores."""

  def __init__(self, torch, start: dict):
    self.torch, self.table = torch, start['table']
    self.convs = []
    for k in range(3):
      kernel = start[f'conv_{k}/kernel'].unflatten(0, (5, -1))
      kernel = kernel.permute(2, 1, 0).contiguous().requires_grad_()
      self.convs.append((kernel, start[f'conv_{k}/bias'].requires_grad_()))
    self.rest = [
      start[f'{name}/{part}'].requires_grad_()
      for name in ('dense', 'classifier')
      for part in ('kernel', 'bias')
    ]

  def parameters(self) -> list:
    return [*(p for pair in self.convs for p in pair), *self.rest]

  def __call__(self, ids, rate: float):
    functional = self.torch.nn.functional
    x = self.table[ids].transpose(1, 2)
    for (kernel, bias), size in zip(self.convs, (5, 5, 40)):
      x = functional.relu(functional.conv1d(x, kernel, bias, padding=2))
      missing = -x.shape[2] % size
      ends = (missing // 2, missing - missing // 2)
      x = functional.max_pool1d(functional.pad(x, ends), size)  # relu: 0 is low
    dense, bias, out, last = self.rest
    x = functional.dropout(x.transpose(1, 2).flatten(1), rate)
    return functional.relu(x @ dense + bias) @ out + last


if __name__ == '__main__':
  race.serve_side(
    options, lambda chosen: (ours if chosen.side == 'fairjax' else peer)(chosen)
  )
