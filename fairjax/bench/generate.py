"""Writing texts: our greedy decoding against torch's generate (SDPA).

  python -m fairjax.bench generate [--size=tiny|small|base] [--batch=16]
    [--new=32] [--copy] [--varied] [--draft=K] [--num_beams=1] [--rounds=5]
    [--compile]
  python -m fairjax.bench generate --data=bios.csv --text=text \\
    --vocab=FOLDER [--count=256] [--longest=192] [--sorted]

By default all texts have one length and get exactly --new tokens. --data: the
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
import sys
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.data import corruption, files, tokens
from fairjax.data.tokens import Ragged
from fairjax.errors import UserError
from fairjax.models import causal, decode_texts, families, speculate
from fairjax.models.decode import Options
from fairjax.models.families import bart
from fairjax.models.places import blank_batch


def _sized(vocab: int, width: int, depth: int) -> bart.Shape:
  return bart.Shape(
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

  shape: bart.Shape
  texts: list[np.ndarray]
  longest: int
  special: tuple[int, ...]  # tokens that are never written in place of others


def _work(args) -> Work:
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


def _read(args, shape: bart.Shape) -> Work:
  """The file's texts by the tokenizer's ids, and a model that knows these."""
  if not args.vocab:
    raise UserError('--data needs --vocab=FOLDER, the folder of a tokenizer')
  frame = files.read(args.data)
  if args.text not in frame:
    raise UserError(
      f'{args.data} has no column {args.text!r}; name one of '
      f'{", ".join(frame)} with --text'
    )
  rows = [t for t in frame[args.text] if isinstance(t, str) and t.strip()]
  tokenizer = tokens.load_tokenizer(args.vocab)
  known = corruption.vocabulary(tokenizer)
  result = tokens.encode(tokenizer, rows[: args.count], args.longest)
  shape = dataclasses.replace(
    shape,
    vocab=known.size,
    pad=known.pad,
    bos=(known.first or known.last)[0],
    eos=known.last[0],
    start=known.last[0],
  )
  texts = np.split(result.flat, result.offsets[1:-1])
  special = tuple(np.flatnonzero(known.special).tolist())
  return Work(shape, texts, args.longest, special)


def _ragged(texts: list[np.ndarray]) -> Ragged:
  offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
  return Ragged(np.concatenate(texts), offsets)


def _ours(args, work: Work, draft: int = 0) -> Callable:
  """Our side in this process."""
  shape = work.shape
  dtype = jnp.bfloat16 if args.device == 'gpu' else jnp.float32
  module = bart.Bart(shape, dtype=dtype)
  if args.copy or args.varied:
    swaps = set(range(5, shape.vocab - 2, 12)) - set(work.special)
    swaps -= {token - 1 for token in work.special}
    module = NearCopy(shape, dtype=dtype, swaps=tuple(sorted(swaps)))
  blank = jax.tree.map(jnp.asarray, blank_batch())
  params = jax.jit(module.init)(jax.random.key(0), blank)['params']
  params = decode_texts.ready(module, params)
  options = Options(
    max_new_tokens=args.new, min_new_tokens=args.new, num_beams=args.beams
  )
  if args.copy or args.varied:
    options = Options(
      max_new_tokens=work.longest, num_beams=args.beams, draft=draft
    )
  texts = _ragged(work.texts)
  return functools.partial(
    decode_texts.generate, module, params, texts, options, args.batch
  )


def _torch(args, work: Work) -> Callable:
  """transformers' generate; for --varied each batch up to its longest text.

  There every row ends where its source does, by a scores' rule that costs next
  to nothing, so that both sides write the same number of tokens.
  """
  import torch
  import transformers

  s = work.shape
  torch.manual_seed(0)
  net = transformers.BartForConditionalGeneration(
    transformers.BartConfig(
      **{
        name: value
        for name, value in families.hf_config(bart.Bart(s)).items()
        if name not in ('architectures', 'dtype', 'forced_eos_token_id')
      },
      attn_implementation='sdpa',
      forced_eos_token_id=None,
    )
  ).eval()
  where = 'cuda' if args.device == 'gpu' else 'cpu'
  net = net.to(where, torch.bfloat16 if where == 'cuda' else torch.float32)
  if args.compile:
    net.forward = torch.compile(net.forward)
  texts = work.texts
  if args.sorted:
    texts = sorted(texts, key=len, reverse=True)

  class Ends(transformers.LogitsProcessor):
    def __init__(self, lengths):
      lengths = torch.tensor(lengths).repeat_interleave(args.beams)
      self.lengths = lengths.to(where)

    def __call__(self, output, scores):
      scores[:, s.eos] = torch.where(output.shape[1] >= self.lengths, 1e4, -1e4)
      return scores

  def batch(part):
    width = max(map(len, part))
    tokens = torch.full((len(part), width), s.pad)
    mask = torch.zeros_like(tokens)
    for i, text in enumerate(part):
      tokens[i, : len(text)] = torch.tensor(text)
      mask[i, : len(text)] = 1
    rules = {'max_new_tokens': args.new, 'min_new_tokens': args.new}
    if args.varied:
      rules = {
        'max_new_tokens': work.longest,
        'logits_processor': transformers.LogitsProcessorList(
          [Ends([len(text) for text in part])]
        ),
      }
    if args.compile:
      rules['cache_implementation'] = 'static'
    with torch.no_grad():
      output = net.generate(
        input_ids=tokens.to(where),
        attention_mask=mask.to(where),
        do_sample=False,
        num_beams=args.beams,
        **rules,
      )
    return output.cpu()  # waits for the device

  def unit():
    return [
      batch(texts[i : i + args.batch]) for i in range(0, len(texts), args.batch)
    ]

  return unit


FLAGS = {
  'copy': 'near-copies: our drafts against our own greedy decoding',
  'varied': 'sources of many lengths, each written to its own length',
  'compile': 'torch with a static cache under torch.compile',
  'sorted': 'torch gets the texts longest first',
}


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser('fairjax.bench generate')
  parser.add_argument('--size', choices=SHAPES, default='small')
  parser.add_argument('--device', default='cpu', choices=('cpu', 'gpu'))
  parser.add_argument('--batch', type=int, default=16, help='rows at a time')
  parser.add_argument('--new', type=int, default=32, help='tokens of each row')
  parser.add_argument('--beams', type=int, default=1)
  parser.add_argument('--draft', type=int, default=0, help='0 chooses')
  parser.add_argument('--rounds', type=int, default=5)
  parser.add_argument(
    '--data', help='a file of texts: csv, tsv, jsonl, parquet'
  )
  parser.add_argument('--text', default='text', help='its column')
  parser.add_argument('--vocab', help='tokenizer folder')
  parser.add_argument('--count', type=int, default=256, help='of its texts')
  parser.add_argument('--longest', type=int, default=192, help='in tokens')
  for flag, about in FLAGS.items():
    parser.add_argument(f'--{flag}', action='store_true', help=about)
  parser.add_argument('--side', help=argparse.SUPPRESS)
  return parser


def _asked(arguments: list[str]) -> argparse.Namespace:
  args = _parser().parse_args(arguments)
  args.varied = args.varied or (bool(args.data) and not args.copy)
  return args


def run(arguments: list[str]) -> dict:
  args = _asked(arguments)
  work = _work(args)
  lengths = np.array([len(text) for text in work.texts])
  facts = {k: v for k, v in vars(args).items() if k != 'side'}
  facts |= {'texts': len(lengths), 'mean_length': float(lengths.mean())}
  if args.copy:
    facts['draft'] = args.draft or speculate.longest(args.batch) or 1
  done = functools.partial(
    race.report, unit='tokens/s', items=int(lengths.sum()), **facts
  )
  if args.copy:
    greedy, drafted = _ours(args, work), _ours(args, work, facts['draft'])
    same, plain = drafted(), greedy()
    race.same(same.tokens.flat, plain.tokens.flat, 'the texts')
    sides = {'drafts': drafted, 'greedy': greedy}
    times = race.interleave(sides, rounds=args.rounds)
    return done(
      'generate', times, tokens_per_step=same.tokens_per_step, steps=same.steps
    )
  command = ['-m', 'fairjax.bench.generate', *arguments, '--side']
  sides = ['ours'] if race.missing('torch', 'transformers') else None
  sides = sides or ['ours', 'torch']
  running = {}
  try:
    for side in sides:
      running[side] = race.Process(side, [*command, side], race.on(args.device))
    counts = {side.facts['written'] for side in running.values()}
    race.same(min(counts), max(counts), 'the number of tokens')
    # Both sides have run twice by now.
    times = race.interleave(running, rounds=args.rounds, warmup=0)
  finally:
    for side in running.values():
      side.close()
  return done('generate', times)


def _serve(args) -> None:
  work = _work(args)
  if args.side == 'ours':
    unit = _ours(args, work)
    lengths = unit().written
  else:
    unit = _torch(args, work)
    lengths = sum(_count(rows.numpy(), work.shape.eos) for rows in unit())
  race.serve(unit, written=int(lengths))


def _count(rows: np.ndarray, eos: int) -> int:
  """Tokens after the first, up to and with the one that ends the text."""
  ends = rows[:, 1:] == eos
  first = np.where(ends.any(1), ends.argmax(1) + 1, rows.shape[1] - 1)
  return int(first.sum())


if __name__ == '__main__':
  _serve(_asked(sys.argv[1:]))
