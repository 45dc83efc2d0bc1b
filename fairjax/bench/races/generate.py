"""Text generation: our greedy decoding against torch's and CTranslate2's.

  python -m fairjax.bench generate [--size=tiny|small|base] [--batch=16]
    [--new=32] [--beams=1] [--rounds=5] [--compile] [--clock=cpu]
    [--ours=float32,bfloat16,int8]
    [--peers=torch,torch-bfloat16,ctranslate2,ctranslate2-int8]

All texts have one length and get exactly --new tokens; all sides have the same
weights, and how many of their tokens are those of our float32 stands in the
last line. --ours=bfloat16 is how a CPU that has it writes, int8 is
net.precision=int8. --compile: torch with a static cache and torch.compile.
"""

import argparse
import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import generate_peers
from fairjax.data.batching import tokens
from fairjax.models import build
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.families import bart
from fairjax.models.folders import hf


def _sized(vocab: int, width: int, depth: int) -> bart.BartShape:
  heads = width // (32 if width < 768 else 64)
  return dataclasses.replace(
    bart.sized(depth, width), vocab=vocab, heads=heads, decoder_heads=heads
  )


SHAPES = {
  'tiny': _sized(1000, 64, 2),
  'small': _sized(8000, 256, 3),
  'base': _sized(50265, 768, 6),
}


class Work(NamedTuple):
  """What is written, and by a model of which shape."""

  shape: bart.BartShape
  texts: list[np.ndarray]


def work_of(args) -> Work:
  rng = np.random.default_rng(0)
  shape = SHAPES[args.size]
  size = args.batch, args.new
  return Work(shape, [*rng.integers(5, shape.vocab - 2, size, np.int32)])


def save(work: Work, folder: str) -> None:
  """The weights of all sides; CTranslate2 asks for names of tokens too."""
  module = bart.Bart(work.shape)
  hf.save(folder, module, build.from_folder(module, None).init(0))
  generate_peers.name_tokens(folder, work.shape)


def ours(args, work: Work) -> Callable:
  """Our side in this process."""
  dtype = jnp.bfloat16 if args.device == 'gpu' else jnp.float32
  module = bart.Bart(work.shape, dtype=dtype)
  weights = build.from_folder(module, None).init(0)
  params = decode_texts.ready(module, weights, args.side)
  options = Options(
    max_new_tokens=args.new, min_new_tokens=args.new, num_beams=args.beams
  )
  texts = tokens.ragged(work.texts)
  return functools.partial(
    decode_texts.generate, module, params, texts, options, args.batch
  )


OURS = ('float32', 'bfloat16', 'int8')


def asked(arguments: list[str]) -> argparse.Namespace:
  return race.options(
    *('generate', __doc__, arguments),
    size=('small', 'tiny', 'base'),
    device=race.DEVICES,
    batch=16,
    new=32,
    beams=1,
    rounds=5,
    ours=race.Several(OURS, 'float32'),
    peers=race.Several([*generate_peers.PEERS], 'torch'),
    compile=False,
  )


def run(arguments: list[str]) -> dict:
  args = asked(arguments)
  work = work_of(args)
  facts = {'unit': 'tokens/s', 'items': args.batch * args.new}
  needed = lambda peer: generate_peers.PACKAGES[generate_peers.PEERS[peer]]
  peers = [peer for peer in args.peers if not race.missing(*needed(peer))]
  with race.processes(
    *('generate', arguments, (*args.ours, *peers), race.on(args.device)),
    prepare=functools.partial(save, work),
  ) as running:
    counts = {side.facts['written'] for side in running.values()}
    race.same(min(counts), max(counts), 'the number of tokens')
    same = agreement(running, exact=args.device == 'cpu')
    # Both sides have run twice by now.
    times = race.interleave(running, rounds=args.rounds, warmup=0)
  return race.report('generate', times, args, same_tokens=same, **facts)


def agreement(
  running: dict[str, race.Process], exact: bool
) -> dict[str, float]:
  """The share of each side's tokens that are those of our float32."""
  rows = {name: side.facts['tokens'] for name, side in running.items()}
  first = rows.get('float32') or next(iter(rows.values()))
  same = {
    name: float(np.mean([a == b for a, b in zip(first, one)]))
    for name, one in rows.items()
    if one and first
  }
  for name, share in same.items():
    print(f'{name:28} {share:.4f} of its tokens are those of our float32')
    # In bfloat16 random weights write on otherwise after one difference.
    if exact and name in ('torch', 'ctranslate2') and 'float32' in rows:
      race.same(share > 0.95, True, f'the tokens ({name})')
  return same


def side(args) -> tuple[Callable, dict]:
  work = work_of(args)
  if args.side in OURS:
    unit = ours(args, work)
    rows = [row[1:] for row in unit().tokens.split()]
  else:
    unit = generate_peers.PEERS[args.side](args, work)
    rows = generate_peers.written(unit(), work.shape.eos)
  every = np.concatenate(rows).tolist()
  return unit, {'written': len(every), 'tokens': every}


if __name__ == '__main__':
  race.serve_side(asked, side)
