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

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.data.batching.tokens import Ragged
from fairjax.models import build, families
from fairjax.models.decoding import decode_texts, sample
from fairjax.models.decoding.decode import Options
from fairjax.models.families import gpt2, llama
from fairjax.models.folders import hf

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
  hf.save(folder, module, build.from_folder(module, None).init(0))


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


def options(args: list[str]):
  return race.options(
    *('sample', __doc__, args),
    model=('distilgpt2', 'gpt2', 'smollm2', 'mini', 'tiny'),
    prompts=8,
    samples=8,
    length=8,
    new=20,
    batch=32,
    top_p=0.9,
    top_k=0,
    rounds=5,
    ours=race.Several(OURS, ','.join(OURS)),
    peers=race.Several(PEERS, ','.join(PEERS)),
  )


def run(args: list[str]) -> dict:
  chosen = options(args)
  peers = [] if race.missing('torch', 'transformers') else chosen.peers
  sides, weights = (*chosen.ours, *peers), functools.partial(save, chosen)
  with race.processes(
    'sample', args, sides, race.on('cpu'), prepare=weights
  ) as running:
    counts = {side.facts['written'] for side in running.values()}
    race.same(min(counts), max(counts), 'the number of tokens')
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
  facts = {'unit': 'tokens/s', 'items': min(counts)}
  return race.report('sample', times, chosen, **facts)


def side(args) -> tuple[Callable, dict]:
  unit = ours(args) if args.side in OURS else _torch(args)
  first = unit()
  written = first if isinstance(first, int) else first.written
  return unit, {'written': int(written)}


if __name__ == '__main__':
  race.serve_side(options, side)
