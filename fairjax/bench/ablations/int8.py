"""8-bit integers against float32: the tokens written, and perplexity.

  python -m fairjax.bench int8 --model=FOLDER --data=FILE [--text=text]
    [--count=128] [--longest=64] [--new=32]

A BART writes from each text, and its perplexity is that of the text itself as
the target; a GPT-2 goes on after the first half of each text. Both sides run in
one process, on the same texts, after one run of each that compiles.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from fairjax.bench import race
from fairjax.bench.peers.text_batches import column
from fairjax.core import memory
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.families import causal
from fairjax.models.folders import folder

ROWS = 16


def run(args: list[str]) -> dict:
  known = {'text': 'text', 'count': 128, 'longest': 64, 'new': 32}
  need = 'model', 'data'
  chosen = race.options('int8', __doc__, args, need, **known)
  memory.keep()
  model = folder.load(chosen.model)
  if model.can != 'write':
    raise UserError(f'{chosen.model} writes no texts; name a BART or a GPT-2')
  texts = column(chosen.data, chosen.text)[: chosen.count]
  read = tokens.encode(model.tokenizer, texts, chosen.longest)
  prompts = read
  if model.shape.start is None:
    half = [row[: max(len(row) // 2, 1)] for row in read.split()]
    prompts = tokens.ragged(half)
  params = {
    name: decode_texts.ready(model.module, model.params, name == 'int8')
    for name in ('int8', 'float32')
  }
  options = Options(max_new_tokens=chosen.new)
  write = lambda name: decode_texts.generate(
    model.module, params[name], prompts, options, ROWS
  )
  written = {name: write(name).tokens.split() for name in params}
  pairs = list(zip(written['int8'], written['float32']))
  # A token is right where all before it are: after the first, texts differ.
  right = sum(np.cumprod(_equal(a, b)).sum() - 1 for a, b in pairs)
  total = sum(len(b) - 1 for _, b in pairs)
  facts = {
    'same_texts': float(np.mean([np.array_equal(a, b) for a, b in pairs])),
    'same_tokens': float(right / total),
    'perplexity': {
      name: perplexity(model.module, one, read) for name, one in params.items()
    },
  }
  print(facts)
  sides = {name: functools.partial(write, name) for name in params}
  times = race.interleave(sides, chosen.rounds, clock=chosen.clock)
  return race.report('int8', times, chosen, unit='seconds', **facts)


def _equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
  n = min(len(a), len(b))
  return a[:n] == b[:n]


def perplexity(module, params: dict, texts: tokens.Ragged) -> float:
  """exp of the mean loss of a token, each text alone in a row."""
  rows = texts.split()
  width = max(map(len, rows))
  run = jax.jit(lambda batch: _losses(module, params, batch))
  total = count = 0.0
  for start in range(0, len(rows), ROWS):
    ids = np.zeros((ROWS, width), np.int32)
    segment_ids = np.zeros_like(ids)
    for i, row in enumerate(rows[start : start + ROWS]):
      ids[i, : len(row)], segment_ids[i, : len(row)] = row, 1 + i
    losses, real = jax.device_get(run((ids, segment_ids)))
    total, count = total + losses[real].sum(), count + real.sum()
  return float(np.exp(total / count))


def _losses(module, params: dict, batch: tuple):
  ids, segment_ids = batch
  positions = jnp.broadcast_to(jnp.arange(ids.shape[1]), ids.shape)
  fields = {
    'tokens': ids,
    'segment_ids': segment_ids,
    'positions': positions,
    'example': jnp.arange(len(ids)),
    'target': ids,
    'target_segment_ids': segment_ids,
    'target_positions': positions,
  }
  scores = module.apply({'params': params}, fields)
  if module.shape.start is None:
    losses = causal.token_losses(scores[:, :-1], ids[:, 1:])
    return losses, segment_ids[:, 1:] > 0
  return causal.token_losses(scores, ids), segment_ids > 0
