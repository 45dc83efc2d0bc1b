"""Sampled texts: our decoder against transformers' generate(do_sample=True).

  python -m fairjax.bench sample [--model=gpt2|distilgpt2|smollm2|mini]
    [--prompts=8] [--samples=8] [--length=8] [--new=20] [--batch=32]
    [--top_p=0.9] [--top_k=0] [--rounds=5] [--clock=cpu]
    [--ours=float32,bfloat16] [--peers=torch,torch-bfloat16]

Both sides have the same random weights and write exactly --new tokens, so many
--samples after each of --prompts prompts of --length tokens, --batch texts at a
time; the peer by num_return_sequences. Tokens differ, being drawn; that draws
have the right distribution is tests/models/decoding/test_sample.py.
"""

import argparse
import functools
import sys
import tempfile
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.core.errors import UserError
from fairjax.data.batching.tokens import Ragged
from fairjax.models import families
from fairjax.models.decoding import decode_texts, sample
from fairjax.models.decoding.decode import Options
from fairjax.models.families import gpt2, llama
from fairjax.models.folders import hf
from fairjax.models.layers.places import blank_batch

SHAPES = {
  'tiny': gpt2.GPT2Shape(vocab=1000, width=64, depth=2, heads=2, hidden=128,
                         positions=128, bos=0, eos=0, pad=0),
  'mini': gpt2.sized(4, 256),
  'distilgpt2': gpt2.sized(6, 768),
  'gpt2': gpt2.GPT2Shape(),
  'smollm2': llama.FAMILY.shapes['HuggingFaceTB/SmolLM2-135M'],
}  # fmt: skip
OURS = ('float32', 'bfloat16')
PEERS = ('torch', 'torch-bfloat16')


def _prompts(args) -> np.ndarray:
  rng = np.random.default_rng(0)
  shape = (args.prompts, args.length)
  return rng.integers(5, SHAPES[args.model].vocab - 5, shape).astype(np.int32)


def _module(args, dtype=jnp.float32):
  return families.module(SHAPES[args.model], 'write', dtype)


def save(args, folder: str) -> None:
  module = _module(args)
  blank = jax.tree.map(jnp.asarray, blank_batch())
  params = jax.jit(module.init)(jax.random.key(0), blank)['params']
  hf.save(folder, module, jax.device_get(params))


def ours(args) -> Callable:
  module = _module(args, jnp.dtype(args.side))
  params = jax.tree.map(jnp.asarray, hf.load(args.folder, module).params)
  params = decode_texts.ready(module, params)
  prompts = _prompts(args)
  offsets = np.arange(args.prompts + 1) * args.length
  sources = Ragged(prompts.ravel(), offsets.astype(np.int64))
  options = Options(
    max_new_tokens=args.new,
    min_new_tokens=args.new,
    do_sample=True,
    top_p=args.top_p,
    top_k=args.top_k,
  )
  names = [str(k) for k in range(args.prompts)]
  streams = sample.streams(0, names, args.samples)
  return functools.partial(
    *(decode_texts.generate, module, params, sources, options, args.batch),
    streams=streams,
  )


def _torch(args) -> Callable:
  import torch
  import transformers

  low = args.side == 'torch-bfloat16'
  net = transformers.AutoModelForCausalLM.from_pretrained(
    args.folder, dtype=torch.bfloat16 if low else torch.float32
  ).eval()
  prompts = torch.tensor(_prompts(args).astype(np.int64))
  each = max(args.batch // args.samples, 1)  # prompts of a batch

  def unit() -> int:
    torch.manual_seed(0)
    count = 0
    for low in range(0, len(prompts), each):
      some = prompts[low : low + each]
      with torch.no_grad():
        out = net.generate(
          input_ids=some,
          attention_mask=torch.ones_like(some),
          do_sample=True,
          num_return_sequences=args.samples,
          top_p=args.top_p,
          top_k=args.top_k,
          min_new_tokens=args.new,
          max_new_tokens=args.new,
          pad_token_id=SHAPES[args.model].pad,
        )
      count += out[:, args.length :].numel()
    return count

  return unit


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser('fairjax.bench sample')
  add = parser.add_argument
  add('--model', choices=SHAPES, default='distilgpt2')
  add('--prompts', type=int, default=8)
  add('--samples', type=int, default=8, help='texts of each prompt')
  add('--length', type=int, default=8, help='tokens of a prompt')
  add('--new', type=int, default=20, help='tokens of each text')
  add('--batch', type=int, default=32, help='texts at a time')
  add('--top_p', type=float, default=0.9)
  add('--top_k', type=int, default=0)
  add('--rounds', type=int, default=5)
  add('--clock', choices=('wall', 'cpu'), default='wall')
  add('--ours', default='float32,bfloat16')
  add('--peers', default='torch,torch-bfloat16')
  add('--side', help=argparse.SUPPRESS)
  add('--folder', help=argparse.SUPPRESS)
  return parser


def asked(arguments: list[str]) -> argparse.Namespace:
  args = _parser().parse_args(arguments)
  args.ours, args.peers = (
    [side for side in one.split(',') if side] for one in (args.ours, args.peers)
  )
  for side in (*args.ours, *args.peers):
    if side not in OURS + PEERS:
      raise UserError(f'there is no side {side!r}; there are {OURS + PEERS}')
  return args


def run(arguments: list[str]) -> dict:
  args = asked(arguments)
  peers = [] if race.missing('torch', 'transformers') else args.peers
  running: dict[str, race.Process] = {}
  with tempfile.TemporaryDirectory() as folder:
    save(args, folder)
    command = ['-m', 'fairjax.bench.races.sample', *arguments]
    try:
      for side in (*args.ours, *peers):
        running[side] = race.Process(
          side,
          [*command, '--folder', folder, '--side', side],
          race.on('cpu'),
        )
      counts = {side.facts['written'] for side in running.values()}
      race.same(min(counts), max(counts), 'the number of tokens')
      times = race.interleave(running, rounds=args.rounds, warmup=0)
    finally:
      for one in running.values():
        one.close()
  hidden = ('side', 'folder', 'ours', 'peers')
  facts = {k: v for k, v in vars(args).items() if k not in hidden}
  return race.report(
    'sample', times, unit='tokens/s', items=min(counts), **facts
  )


def _serve(args) -> None:
  unit = ours(args) if args.side in OURS else _torch(args)
  first = unit()
  written = first if isinstance(first, int) else first.written
  race.serve(unit, race.CLOCKS[args.clock], written=int(written))


if __name__ == '__main__':
  _serve(asked(sys.argv[1:]))
