"""Text generation: our greedy decoding against torch's and CTranslate2's.

  python -m fairjax.bench generate [--size=tiny|small|base] [--batch=16]
    [--new=32] [--copy] [--varied] [--draft=K] [--beams=1] [--rounds=5]
    [--compile] [--ours=float32,int8] [--clock=cpu]
    [--peers=torch,torch-bfloat16,ctranslate2,ctranslate2-int8]
  python -m fairjax.bench generate --data=bios.csv --text=text \\
    --vocab=FOLDER [--count=256] [--longest=192] [--sorted]

By default all texts have one length and get exactly --new tokens; all sides
have the same weights, and how many of their tokens are those of our float32
stands in the last line. --ours=int8 is net.precision=int8. --data: the
first --count texts of a file, cut at --longest tokens, each as long when
written; torch takes them in file order, a batch at a time, as a script would
(--sorted: longest first, as a careful one). --varied: the same with lengths
drawn by chance. --copy: the model repeats its source but for a few tokens;
ours greedy against ours with drafts. --compile: torch with a static cache and
torch.compile.
"""

import argparse
import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import generate_peers
from fairjax.bench.peers.text_batches import column
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, tokens
from fairjax.models import build
from fairjax.models.decoding import decode_texts, speculate
from fairjax.models.decoding.decode import Options
from fairjax.models.families import bart, causal
from fairjax.models.folders import hf


def _sized(vocab: int, width: int, depth: int) -> bart.BartShape:
  return bart.BartShape(
    vocab=vocab,
    width=width,
    depth=depth,
    decoder_depth=depth,
    heads=width // 32 if width < 768 else width // 64,
    decoder_heads=width // 32 if width < 768 else width // 64,
    hidden=4 * width,
    decoder_hidden=4 * width,
  )


SHAPES = {
  'tiny': _sized(1000, 64, 2),
  'small': _sized(8000, 256, 3),
  'base': _sized(50265, 768, 6),
}


class NearCopy(bart.Bart):
  """A BART at its full cost whose choice is the source, but for a few tokens.

  A token of `swaps` is written as the next one. Without training, it is what a
  generator of counterfactuals does.
  """

  swaps: tuple[int, ...] = ()

  def remember(self, tokens, segment_ids):
    return super().remember(tokens, segment_ids), tokens, segment_ids

  def step(self, tokens, at, cache, source):
    source, text, segment_ids = source
    logits, cache = super().step(tokens, at, cache, source)
    here = causal.step_places(at, tokens.shape[1]).positions
    last = segment_ids.sum(1, keepdims=True) - 1
    there = jnp.minimum(here, last)
    copied = jnp.take_along_axis(text, there, axis=1)
    swapped = jnp.isin(copied, jnp.array(self.swaps, jnp.int32))
    target = jnp.where(swapped, copied + 1, copied)
    return logits + 1e4 * jax.nn.one_hot(target, logits.shape[-1]), cache


class Work(NamedTuple):
  """What is written, and by a model of which shape."""

  shape: bart.BartShape
  texts: list[np.ndarray]
  longest: int
  special: tuple[int, ...]  # tokens that are never written in place of others


def work_of(args) -> Work:
  rng = np.random.default_rng(0)
  shape, count = SHAPES[args.size], args.batch
  if args.data:
    return _read(args, shape)
  lengths = np.full(count, args.new)
  if args.varied:
    count *= 8
    lengths = np.clip(rng.lognormal(2.8, 0.6, count).astype(int), 4, 96)
  most = shape.vocab - 2
  texts = [rng.integers(5, most, n).astype(np.int32) for n in lengths]
  if args.copy or args.varied:
    texts = [np.append(text[:-1], shape.eos) for text in texts]
  return Work(shape, texts, 128, tuple(range(5)))


def _read(args, shape: bart.BartShape) -> Work:
  """The file's texts by the tokenizer's ids, and a model that knows these."""
  if not args.vocab:
    raise UserError('--data needs --vocab=FOLDER, the folder of a tokenizer')
  rows = column(args.data, args.text)
  return of_texts(shape, args.vocab, rows[: args.count], args.longest)


def of_texts(
  shape: bart.BartShape, vocab: str, texts: list[str], longest: int
) -> Work:
  """Texts by the tokenizer of a folder, and a model that knows its tokens."""
  tokenizer = tokens.load_tokenizer(vocab)
  known = corruption.vocabulary(tokenizer)
  shape = dataclasses.replace(
    shape,
    vocab=known.size,
    pad=known.pad,
    bos=(known.first or known.last)[0],
    eos=known.last[0],
    start=known.last[0],
  )
  read = tokens.encode(tokenizer, texts, longest)
  rows = read.split()
  special = tuple(np.flatnonzero(known.special).tolist())
  return Work(shape, rows, longest, special)


def save(work: Work, folder: str) -> None:
  """The weights of all sides; CTranslate2 asks for names of tokens too."""
  module = bart.Bart(work.shape)
  hf.save(folder, module, build.from_folder(module, None).init(0))
  generate_peers.name_tokens(folder, work.shape)


def ours(args, work: Work, draft: int = 0) -> Callable:
  """Our side in this process."""
  shape = work.shape
  dtype = jnp.bfloat16 if args.device == 'gpu' else jnp.float32
  module = bart.Bart(shape, dtype=dtype)
  integers = args.side == 'int8'
  if args.copy or args.varied:
    swaps = set(range(5, shape.vocab - 2, 12)) - set(work.special)
    swaps -= {token - 1 for token in work.special}
    module = NearCopy(shape, dtype=dtype, swaps=tuple(sorted(swaps)))
  weights = build.from_folder(module, None).init(0)
  params = decode_texts.ready(module, weights, integers)
  options = Options(
    max_new_tokens=args.new, min_new_tokens=args.new, num_beams=args.beams
  )
  if args.copy or args.varied:
    options = Options(
      max_new_tokens=work.longest, num_beams=args.beams, draft=draft
    )
  texts = tokens.ragged(work.texts)
  return functools.partial(
    decode_texts.generate, module, params, texts, options, args.batch
  )


OURS = ('float32', 'int8')


def asked(arguments: list[str]) -> argparse.Namespace:
  args = race.options(
    *('generate', __doc__, arguments),
    size=('small', 'tiny', 'base'),
    device=race.DEVICES,
    batch=16,
    new=32,
    beams=1,
    draft=0,
    rounds=5,
    ours=race.Several(OURS, 'float32'),
    peers=race.Several([*generate_peers.PEERS], 'torch'),
    data='',
    text='text',
    vocab='',
    count=256,
    longest=192,
    **dict.fromkeys(('copy', 'varied', 'compile', 'sorted'), False),
  )
  args.varied = args.varied or (bool(args.data) and not args.copy)
  if args.varied and any(p.startswith('ctranslate2') for p in args.peers):
    raise UserError(
      'CTranslate2 cannot be told a length for each row, so it takes no '
      '--data and no --varied; leave it out of --peers'
    )
  return args


def run(arguments: list[str]) -> dict:
  args = asked(arguments)
  work = work_of(args)
  lengths = np.array([len(text) for text in work.texts])
  facts = {'unit': 'tokens/s', 'items': int(lengths.sum())}
  facts |= {'texts': len(lengths), 'mean_length': float(lengths.mean())}
  if args.copy:
    args.draft = args.draft or speculate.longest(args.batch) or 1
    greedy, drafted = ours(args, work), ours(args, work, args.draft)
    same, plain = drafted(), greedy()
    race.same(same.tokens.flat, plain.tokens.flat, 'the texts')
    sides = {'drafts': drafted, 'greedy': greedy}
    times = race.interleave(sides, rounds=args.rounds)
    facts |= {'tokens_per_step': same.tokens_per_step, 'steps': same.steps}
    return race.report('generate', times, args, **facts)
  needed = lambda peer: generate_peers.PEERS[peer].packages
  peers = [peer for peer in args.peers if not race.missing(*needed(peer))]
  with race.processes(
    *('generate', arguments, (*args.ours, *peers), race.on(args.device)),
    prepare=functools.partial(save, work),
  ) as running:
    counts = {side.facts['written'] for side in running.values()}
    race.same(min(counts), max(counts), 'the number of tokens')
    same = _agreement(running, exact=args.device == 'cpu')
    # Both sides have run twice by now.
    times = race.interleave(running, rounds=args.rounds, warmup=0)
  return race.report('generate', times, args, same_tokens=same, **facts)


def _agreement(
  running: dict[str, race.Process], exact: bool
) -> dict[str, float]:
  """The share of each side's tokens that are those of our float32.

  Sides in float32 must agree (`exact`). A GPU's are all in bfloat16, where
  random weights write other texts after the first token that differs.
  """
  rows = {name: side.facts['tokens'] for name, side in running.items()}
  first = rows.get('float32') or next(iter(rows.values()))
  same = {
    name: float(np.mean([a == b for a, b in zip(first, one)]))
    for name, one in rows.items()
    if one and first
  }
  for name, share in same.items():
    print(f'{name:28} {share:.4f} of its tokens are those of our float32')
    if exact and name in ('torch', 'ctranslate2') and 'float32' in rows:
      race.same(share > 0.95, True, f'the tokens ({name})')
  return same


def side(args) -> tuple[Callable, dict]:
  work = work_of(args)
  if args.side in OURS:
    unit = ours(args, work)
    rows = [row[1:] for row in unit().tokens.split()]
  else:
    make = generate_peers.PEERS[args.side].make
    unit = make(args, work)
    rows = generate_peers.written(unit(), work.shape.eos)
  every = [] if args.varied else np.concatenate(rows).tolist()
  return unit, {'written': sum(map(len, rows)), 'tokens': every}


if __name__ == '__main__':
  race.serve_side(asked, side)
