"""Decoding of a whole input: sorted by length, few shapes, no idle slots.

Texts of like length share a program. Its slots are filled longest first; as
soon as a quarter of them is done, the loop on the device pauses, finished
texts are read out and waiting ones take their places (continuous batching, Yu
et al. 2022). The room for tokens starts near what a copy of the source needs
and doubles when a text needs more; where compiling is dear there are fewer
widths, and rooms grow fourfold (`PlatformTraits.sparing`). None of this changes
a text: each slot has its own length, and nothing sees beyond it.
"""

import concurrent.futures
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from tokenizers import Tokenizer

from fairjax.core import announce, backend
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens as data_tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.models import families, special
from fairjax.models.decoding import decode, decode_slots, infill
from fairjax.models.decoding.decode import Options, Rules, State
from fairjax.models.decoding.sample import Streams
from fairjax.models.kernels.platform_traits import platform_traits
from fairjax.models.layers import int8, layer_params

WIDTHS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)

GREEDY = Options()


class Generated(NamedTuple):
  tokens: Ragged  # in the order of the sources, with first and last tokens
  row_written: np.ndarray  # int [n]: tokens written, prompts aside


def ready(module: nn.Module, params: dict, products: str = 'float32') -> dict:
  """`params` as steps read them fastest; to be made once for many texts.

  On a CPU `products` of 'int8' (layers/int8.py) and 'bfloat16' change texts.
  """
  if products == 'int8':
    if not platform_traits().integers:
      raise UserError(
        "net.precision is 'int8', which is for CPUs; take bfloat16 on a "
        f'{backend.platform().upper()}'
      )
    return jax.jit(int8.quantised)(params)
  if platform_traits().by_library:
    turned = jax.jit(layer_params.transposed, static_argnums=1)
    return turned(params, jnp.dtype(products))
  # Else every token would turn them to the type of the products anew.
  return jax.jit(layer_params.cast, static_argnums=1)(params, module.dtype)


def generate(
  module: nn.Module,
  params: dict,
  sources: Ragged,
  options: Options = GREEDY,
  slots: int = 32,
  devices: Sequence[jax.Device] = (),
  streams: Streams | None = None,
) -> Generated:
  """What the model writes for each source (BART) or after each (GPT-2).

  With `options.mask` the source is copied and its masks are filled; masks
  side by side are one. With `options.do_sample`, the texts are those of
  `streams`, several of a source perhaps, which is then read once. Where there
  are `devices`, each writes texts of its own, which leaves every text as it is.
  """
  if options.mask is not None:
    sources = infill.merged(sources, options.mask)
  check_options(module.shape, options)
  special.check_texts(params, sources, module.shape)
  if options.do_sample and streams is None:
    raise TypeError('what is drawn needs streams (sample.streams)')
  of = np.arange(len(sources.lengths)) if streams is None else streams.source
  keys = np.zeros((len(of), 2), np.uint32) if streams is None else streams.keys
  # The length that is given of the output, and its bounds.
  lengths = sources.lengths[of]
  prompt = np.ones_like(lengths)
  if module.shape.start is None:
    prompt = lengths
  least, limit = _bounds(prompt, module.shape.longest, options)
  if options.mask is not None:
    limit = infill.limits(
      sources,
      options.mask,
      options.max_span,
      module.shape.eos,
      module.shape.longest,
    )
  rules = decode.rules(options, module.shape)
  outputs: dict[int, np.ndarray] = {}

  def run(width, rows, add, device=None):
    here = params if device is None else jax.device_put(params, device)
    queue = _Queue(sources, of, keys, prompt, least, limit, width, rows)
    with jax.default_device(device) if device else contextlib.nullcontext():
      _run(module, here, queue, options, rules, slots, outputs, add)

  with announce.counting(len(prompt), 'texts written:') as add:
    for width, rows in buckets(lengths, slots * max(len(devices), 1)):
      if len(devices) < 2:
        run(width, rows, add)
        continue
      shares = [rows[i :: len(devices)] for i in range(len(devices))]
      with concurrent.futures.ThreadPoolExecutor(len(devices)) as threads:
        work = [
          threads.submit(run, width, share, add, device)
          for share, device in zip(shares, devices)
          if len(share)
        ]
      for one in work:
        one.result()  # raises what its thread raised
  texts = data_tokens.ragged([outputs[i] for i in range(len(prompt))])
  return Generated(texts, texts.lengths - prompt)


class _Queue(NamedTuple):
  """The rows of one program, and what is known of every row."""

  sources: Ragged
  of: np.ndarray  # the source of every row
  keys: np.ndarray
  prompt: np.ndarray
  least: np.ndarray
  limit: np.ndarray
  width: int
  rows: np.ndarray

  def entries(
    self, rows: np.ndarray, slots: np.ndarray, b: int
  ) -> decode_slots.Entries:
    """`rows` for `slots`, filled up to one of three sizes, or to all."""
    sizes = (b,) if platform_traits().sparing else (-(-b // 4), -(-b // 2), b)
    size = next(one for one in sizes if one >= len(rows))
    sources, place = np.unique(self.of[rows], return_inverse=True)
    few = max(size // 4, 1)  # sources, of several rows each
    count = few if len(sources) <= min(few, len(rows) - 1) else size
    tokens = np.zeros((count, self.width), np.int32)
    segment_ids = np.zeros((count, self.width), np.int32)
    for i, source in enumerate(sources):
      at = self.sources.offsets[source : source + 2]
      tokens[i, : at[1] - at[0]] = self.sources.flat[at[0] : at[1]]
      segment_ids[i, : at[1] - at[0]] = 1
    fill = lambda a, value: np.concatenate(
      [a, np.full(size - len(rows), value)]
    ).astype(np.int32)
    keys = np.zeros((size, 2), np.uint32)
    keys[: len(rows)] = self.keys[rows]
    return decode_slots.Entries(
      fill(slots, b),
      fill(place, 0),
      tokens,
      segment_ids,
      fill(self.prompt[rows], 1),
      fill(self.least[rows], 1),
      fill(self.limit[rows], 1),
      keys,
    )


def _run(
  module: nn.Module,
  params: dict,
  queue: _Queue,
  options: Options,
  rules: Rules,
  slots: int,
  outputs: dict[int, np.ndarray],
  add: Callable[[int], None],
) -> None:
  """Decodes the rows of one program into `outputs`."""
  waiting, most = queue.rows, _wider(int(queue.limit[queue.rows].max()))
  b = min(slots, 1 << (len(waiting) - 1).bit_length())
  prompted = module.shape.start is None  # so the source stands there too
  room = min(most, _wider(queue.width * (9 if prompted else 5) // 4))
  # A prompt must fit, and a token after it.
  room = max(room, queue.width + 1 if prompted else 1)
  if options.do_sample and options.max_new_tokens:
    room = max(room, most)  # what is drawn goes on to its limit, as a rule
  how = options.num_beams, options.mask is not None, options.do_sample
  state = decode_slots.empty(module, params, *how, b, queue.width, room)
  holds = np.full(b, -1)
  while True:
    free = np.flatnonzero(holds < 0)
    entering, waiting = waiting[: len(free)], waiting[len(free) :]
    if len(entering):
      holds[free[: len(entering)]] = entering
      new = queue.entries(entering, free[: len(entering)], b)
      state = decode_slots.admit(module, params, state, new)
    want = -(-b // 4) if len(waiting) else b + 1  # b + 1: until all are
    state = decode_slots.advance(module, params, state, rules, jnp.int32(want))
    done, length = jax.device_get((state.done, state.length))
    ready = np.flatnonzero(done & (holds >= 0))
    if len(ready):
      for slot, text in zip(ready, _read(state, ready)):
        outputs[int(holds[slot])] = text
      holds[ready] = -1
      add(len(ready))
    if not len(waiting) and (holds < 0).all():
      return
    if (length[~done] >= room).any():
      times = 4 if platform_traits().sparing else 2
      room = max(min(_wider(times * room), most), room + 1)
      state = decode_slots.grow(state, room)


def _read(state: State, ready: np.ndarray) -> list[np.ndarray]:
  """The texts of the slots `ready`: of beams the best."""
  tokens, lengths = state.tokens[:, 0], state.length
  if state.beams is not None:
    tokens, lengths = state.beams.tokens[:, 0], state.beams.lengths[:, 0]
  tokens, lengths = jax.device_get((tokens, lengths))
  return [tokens[slot, : lengths[slot]] for slot in ready]


def _wider(width: int) -> int:
  widths = WIDTHS[2::2] if platform_traits().sparing else WIDTHS
  return next((w for w in widths if w >= width), width)


def buckets(
  lengths: np.ndarray, slots: int
) -> Iterator[tuple[int, np.ndarray]]:
  """Widths and their rows, longest first."""
  order = np.argsort(-lengths, kind='stable')
  widths = np.array([_wider(n) for n in lengths[order].tolist()])
  start = 0
  while start < len(order):
    end = start + int(np.sum(widths[start:] == widths[start]))
    end = max(end, min(start + slots, len(order)))  # rows enough for the slots
    if len(order) - end < slots:
      end = len(order)
    yield int(widths[start]), order[start:end]
    start = end


def _bounds(
  prompt: np.ndarray, longest: int, options: Options
) -> tuple[np.ndarray, np.ndarray]:
  """The least and the largest length of each output."""
  least = np.full_like(prompt, options.min_length)
  if options.min_new_tokens:  # which goes before, as in transformers
    least = prompt + options.min_new_tokens
  limit = np.full_like(prompt, options.max_length or longest)
  if options.max_new_tokens:
    limit = np.minimum(prompt + options.max_new_tokens, longest)
  full = np.flatnonzero(limit <= prompt)
  if len(full):
    raise UserError(
      f'text {full[0]} has {prompt[full[0]]} tokens, which leaves no room for '
      f'another one ({limit[full[0]]} is the most); raise max_length or '
      'shorten it'
    )
  return least, limit


def check_options(shape: Any, options: Options) -> None:
  """Stops where a model of this shape cannot decode in this way."""
  if options.mask is not None:
    families.require(families.find(shape.family), 'infill')
  options.validate()
  if options.max_length > shape.longest:
    raise UserError(
      f'max_length is {options.max_length}, but the model has positions for '
      f'{shape.longest} tokens; lower it'
    )
  for name in ('forced_bos_token_id', 'forced_eos_token_id', 'mask'):
    token = getattr(options, name)
    if token is not None and not 0 <= token < shape.vocab:
      raise UserError(
        f'{name} is {token}, which is none of the {shape.vocab} tokens; give '
        'the id of one'
      )


def encode(
  module: nn.Module, tokenizer: Tokenizer, texts: Sequence[str]
) -> Ragged:
  """The texts' tokens; an empty or too long text stops with its line."""
  for i, text in enumerate(texts):
    if not text.strip():
      raise UserError(f'line {i + 1} is empty; give it a text or drop it')
  longest = module.shape.longest
  sources = data_tokens.encode(tokenizer, texts, longest)
  if sources.cut is not None and sources.cut.any():
    line = int(np.flatnonzero(sources.cut)[0]) + 1
    raise UserError(
      f'line {line} has more tokens than the model has positions ({longest}); '
      'shorten it'
    )
  return sources


def generate_texts(
  module: nn.Module,
  params: dict,
  tokenizer: Tokenizer,
  texts: Sequence[str],
  options: Options = GREEDY,
  slots: int = 32,
  devices: Sequence[jax.Device] = (),
  streams: Streams | None = None,
) -> tuple[list[str], Generated]:
  """`generate` from texts to texts; special tokens are not shown."""
  sources = encode(module, tokenizer, texts)
  result = generate(module, params, sources, options, slots, devices, streams)
  ends = result.tokens.offsets[1:-1]
  rows = [one.tolist() for one in np.split(result.tokens.flat, ends)]
  return tokenizer.decode_batch(rows) if len(texts) else [], result


def answers(tokenizer: Tokenizer, result: Generated) -> list[str]:
  """What was written after each prompt, without the prompt."""
  return [text.strip() for text in continuations(tokenizer, result)]


def continuations(tokenizer: Tokenizer, result: Generated) -> list[str]:
  """The same with the blank that may stand before it."""
  ends = result.tokens.offsets[1:]
  rows = [
    result.tokens.flat[end - n : end].tolist()
    for end, n in zip(ends, result.row_written)
  ]
  return tokenizer.decode_batch(rows)
