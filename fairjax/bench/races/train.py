"""Fine-tuning an encoder on real short texts, against PyTorch.

  python -m fairjax.bench train --data=tweets.csv --text=tweet --label=Class \\
      --vocab=FOLDER [--size=mini] [--batch=64] [--steps=24] [--rounds=5] \\
      [--seeds=1] [--device=cpu|gpu] [--cores=1] [--clock=wall|cpu] \\
      [--precision=float32|bfloat16] [--kernels=auto|on|off|attention|norm] \\
      [--peers=packed,packed-bf16,…]

Both sides start from the same weights (ours, written as a Hugging Face folder)
and must give the same loss on the same examples with dropout off. A unit is
`steps` optimiser steps of `batch` examples each, with dropout 0.1 and AdamW;
24 are all batches there are, so that every side sees the same texts in a
round. Ours packs. `packed` is PyTorch on our packed rows with our tricks
(peers/torch_packed.py), `packed-autocast` and `packed-bf16` the same in
bfloat16, cast at each use or once a step, and `packed-compile` the first of
these under torch.compile. PyTorch takes SDPA attention, the fused optimiser and
our settings of the memory (fairjax/core/memory.py), and every side `--cores`
cores of a CPU. `--precision` is that of our products; on
an accelerator products are bfloat16 on both sides. `--kernels=on` takes ours of
a GPU (models/kernels/).
"""

import itertools
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from fairjax.bench import race
from fairjax.config import Config, Data, Net, Tokens, Train
from fairjax.core.errors import UserError
from fairjax.models.kernels import kernel_table

PACKED = {  # the products of torch_packed.py
  'packed': 'float32',
  'packed-autocast': 'autocast',
  'packed-bf16': 'master',
  'packed-compile': 'autocast',
}
PLACES = 'tokens', 'segment_ids', 'positions', 'head_columns', 'head_index'
UNITS = 24  # different batches that the steps go round


def options(args: list[str]):
  return race.options(
    *('train', __doc__, args, ('data', 'vocab')),
    text='text',
    label='label',
    size='mini',
    batch=64,
    steps=UNITS,
    rounds=5,
    seeds=1,
    device=race.DEVICES,
    cores=1,
    precision=('float32', 'bfloat16'),
    kernels=('auto', 'on', 'off', *kernel_table.KERNELS),
    peers=race.Several([*PACKED], 'packed,packed-bf16'),
  )


def config(chosen) -> Config:
  sizes = {'base': 'bert-base-cased', 'large': 'bert-large-cased'}
  return Config(
    model=sizes.get(chosen.size, chosen.size),
    seeds=chosen.seeds,
    data=Data(
      name='file',
      path=chosen.data,
      text=chosen.text,
      label=chosen.label,
      on_bad='drop',
    ),
    tokens=Tokens(tokenizer=chosen.vocab, max_length=128),
    net=Net(
      init='random',
      precision=chosen.precision if chosen.device == 'cpu' else 'auto',
    ),
    train=Train(lr=2e-5, batch=chosen.batch, weight_decay=0.0),
  )


def ready(chosen):
  """The tables, model and training pool that both sides work on."""
  from fairjax import data, stages
  from fairjax.train.progress import Log

  settings = config(chosen)
  tables, _, _ = data.load_tables(settings)
  with tempfile.TemporaryDirectory() as folder, Log(folder) as log:
    model = stages.prepare(settings, tables, log)
  return settings, model, stages.pool(model, tables['train'])


def in_turn(
  step: Callable[[int], Any],
  steps: int,
  different: int,
  wait: Callable[[Any], Any] = lambda last: None,
) -> Callable[[], None]:
  """A unit of `steps` steps that go round the different batches."""
  turn = itertools.cycle(range(different))

  def unit() -> None:
    last = None
    for i in itertools.islice(turn, steps):
      last = step(i)
    wait(last)

  for _ in range(-(-different // steps)):  # compiles every shape
    unit()
  return unit


def ours(chosen) -> tuple[Callable, dict]:
  """Our side: packed batches through the house's own training step."""
  import jax

  from fairjax.data.batching import batches
  from fairjax.models.folders import hf
  from fairjax.models.kernels.platform_traits import platform_traits
  from fairjax.train import loop, mesh, step

  kernel_table.choose(chosen.kernels)
  settings, model, pool = ready(chosen)
  device_mesh, seeds = model.device_mesh, loop.seed_list(settings)
  rows = np.broadcast_to(
    np.arange(len(pool.label), dtype=np.int32), (len(seeds), len(pool.label))
  )
  layout = batches.layout(
    pool.tokens.lengths,
    chosen.batch,
    seeds=len(seeds),
    few=platform_traits().few,
  )
  source = batches.packed(pool, rows, seeds, layout)
  params = loop.initial(model, seeds)
  first = jax.tree.map(lambda a: a[0], params)
  hf.save(f'{chosen.folder}/model', model.module, first)
  turn = full_batches(source, len(pool.label), chosen.batch)
  host = [source[i] for i in turn]
  write_examples(chosen, host)
  real = sum(int((h['segment_ids'] > 0).sum()) for h in host)
  share = real / sum(h['segment_ids'].size for h in host)
  params = mesh.put_state(device_mesh, params)
  losses = check_losses(model, params, host[0])
  # 6 FLOPs a weight and place, padding too (Kaplan et al. 2020); attention's
  # own products are left out, T / 6d of these: 3 % at 128 places of base size.
  weights = sum(
    leaf.size
    for path, leaf in jax.tree.leaves_with_path(first)
    if leaf.ndim > 1 and 'embed' not in jax.tree_util.keystr(path).lower()
  )
  flops = 6 * weights * sum(h['segment_ids'].size for h in host)
  train_step, start = step.compiled(model, settings.train, device_mesh)
  state = {'params': params, 'opt': start(params)}
  keys = mesh.replicate(device_mesh, np.asarray(seeds, np.uint32))
  count = itertools.count()

  def one(i: int):
    nonlocal state
    batch = mesh.put_batch(device_mesh, source[turn[i]], stacked=True)
    numbers = np.uint32(next(count)), np.uint32(10**6)
    state, loss = train_step(state, batch, keys, *numbers)
    return loss

  unit = in_turn(one, chosen.steps, UNITS, jax.block_until_ready)
  return unit, {
    'loss': losses,
    'real': share,
    'tokens': real / UNITS * chosen.steps,
    'flops': flops / UNITS * chosen.steps,
    'ceiling': ceiling(step.dtype_of(model)),
  }


def full_batches(source, rows: int, batch: int) -> list[int]:
  """The first UNITS steps of `batch` examples: peers pad no batch."""
  if rows < batch:
    raise UserError(
      f'--data has {rows} training rows, fewer than --batch={batch}; name a '
      'larger file or a smaller batch'
    )
  full = (i for i in itertools.count() if (source[i]['example'] >= 0).all())
  return list(itertools.islice(full, UNITS))


def ceiling(dtype) -> float:
  """FLOP/s of one large matrix product of random data, the best of eight."""
  import time

  import jax
  import jax.numpy as jnp

  n = 2048 if jax.default_backend() == 'cpu' else 8192
  a, b = jax.random.normal(jax.random.key(0), (2, n, n), dtype)
  product = jax.jit(
    lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.float32)
  )
  seconds = []
  jax.block_until_ready(product(a, b))
  for _ in range(8):
    start = time.perf_counter()
    jax.block_until_ready(product(a, b))
    seconds.append(time.perf_counter() - start)
  return 2 * n**3 / min(seconds)


def check_losses(model, params, stacked: dict) -> list[float]:
  """Dropout off, the losses of the first seed's first batch, by example."""
  from fairjax.train import mesh, step

  first = {name: array[0] for name, array in stacked.items()}
  batch = mesh.put_batch(model.device_mesh, first, stacked=False)
  logits = step.forward(model, model.device_mesh)(params, batch)[0]
  result = np.asarray(step.cross_entropy(logits, first['label']))
  order = np.argsort(first['example'])
  return result[order].tolist()


def write_examples(chosen, host: list[dict]) -> None:
  """The token ids that the other sides train on, batch by batch."""
  np.savez(
    f'{chosen.folder}/examples.npz',
    **{
      f'{name}_{i}': h[name][0]
      for i, h in enumerate(host)
      for name in (*PLACES, 'label', 'example')
    },
  )


def packed_side(chosen) -> tuple[Callable, dict]:
  """PyTorch on our packed rows."""
  import torch
  from transformers import AutoModelForSequenceClassification

  from fairjax.bench.peers import torch_packed

  where = 'cuda' if chosen.device == 'gpu' else 'cpu'
  model = torch_packed.Packed(
    AutoModelForSequenceClassification.from_pretrained(f'{chosen.folder}/model')
  ).to(where)
  file = np.load(f'{chosen.folder}/examples.npz')
  data = [
    (
      [torch.tensor(file[f'{name}_{i}']).long().to(where) for name in PLACES],
      torch.tensor(file[f'label_{i}']).long().to(where),
    )
    for i in range(UNITS)
  ]
  given, label = data[0]
  with torch.no_grad():
    each = torch.nn.functional.cross_entropy(
      model.eval()(*given), label, reduction='none'
    )
  losses = each.cpu().numpy()[np.argsort(file['example_0'])].tolist()
  if chosen.side == 'packed-compile':
    model.compile(dynamic=False)
  step = torch_packed.step(model, PACKED[chosen.side], lr=2e-5)
  share = [float((given[1] > 0).float().mean()) for given, _ in data]
  wait = lambda last: last.item()  # of a GPU
  unit = in_turn(lambda i: step(*data[i]), chosen.steps, UNITS, wait)
  return unit, {'loss': losses, 'real': float(np.mean(share))}


def run(args: list[str]) -> dict:
  chosen = options(args)
  names = ('ours', *([] if race.missing('torch') else chosen.peers))
  low = chosen.device == 'gpu' or chosen.precision == 'bfloat16'
  with race.processes('train', args, names, race.on(chosen.device)) as sides:
    wide = 2e-2 if low else 1e-4
    race.agree(sides, 'loss', 'the losses of the first batch', wide)
    times = race.interleave(sides, rounds=chosen.rounds)
    note = sides['ours'].facts
    shares = {n: round(s.facts['real'], 3) for n, s in sides.items()}
    peaks = {n: round(s.peak_mb) for n, s in sides.items()}
  seconds = float(np.median(times['ours']))
  share = note['flops'] / seconds / note['ceiling']
  print(f'MFU of ours: {share:.2f} (all products of the step over the FLOP/s')
  print('of one large matrix product, measured in the same process)')
  return race.report(
    'train',
    times,
    chosen,
    items=chosen.batch * chosen.steps * chosen.seeds,
    unit='examples/s',
    real_tokens=shares,
    tokens_per_s=note['tokens'] / seconds,
    tflops_per_s=note['flops'] / seconds / 1e12,
    share_of_ceiling=share,
    peak_mb=peaks,
  )


def side(chosen) -> tuple[Callable, dict]:
  if chosen.device == 'cpu':
    race.pin(chosen.cores)
  return (ours if chosen.side == 'ours' else packed_side)(chosen)


if __name__ == '__main__':
  race.serve_side(options, side)
