"""FairFlow's parts against transformers and PyTorch: embed, repair, flow.

  python -m fairjax.bench fairflow --what=embed [--model=FOLDER] [--text=FILE]
  python -m fairjax.bench fairflow --what=repair [--model] [--text] [--rows=96]
  python -m fairjax.bench fairflow --what=flow [--width=768]

embed: the embeddings of all words of --rows lines, packed, against a loop over
batches of 64 in file order, padded. repair: --rows lines go through an ELECTRA
discriminator and a BART of the model's tokenizer and of size --size, random
weights, the same on both sides; as many are flagged as --flagged says. Ours
fills only masks, and runs no text without; the loop writes every text anew
(--peers=all, the papers' way) or only those with a mask (--peers=masked),
greedily, each as long as it was. flow: one step (loss, gradient, AdamW) of
FairFlow's flow on 32 pairs. Each side is a process on --threads cores.
"""

import argparse
import dataclasses
import functools
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairjax.bench import race
from fairjax.data import corruption, readers, tokens
from fairjax.data.tokens import Ragged
from fairjax.errors import UserError
from fairjax.pairs import attributes, repair

BATCH = 64  # texts of the peers' batches
PAIRS = 32


def run(args: list[str]) -> dict:
  """One race; `what` says of which part."""
  chosen = _parser().parse_args(args)
  _need(chosen)
  if race.missing('torch', 'transformers'):
    raise UserError('the peers of this race need torch and transformers')
  peers = chosen.peers.split(',') if chosen.what == 'repair' else ['torch']
  with tempfile.TemporaryDirectory() as folder:
    args = [*args, f'--folder={folder}']
    _prepare(chosen, pathlib.Path(folder))
    command = ['-m', 'fairjax.bench.fairflow', *args, '--side']
    running: dict[str, race.Process] = {}
    try:
      for side in ('ours', *peers):
        environment = {'OMP_NUM_THREADS': str(chosen.threads)}
        running[side] = race.Process(side, [*command, side], environment)
      first = running['ours'].facts
      for one in running.values():
        race.same(first['check'], one.facts['check'], 'what they find', 2e-3)
      times = race.interleave(running, rounds=chosen.rounds, warmup=0)
    finally:
      for one in running.values():
        one.close()
  return race.report(
    f'fairflow {chosen.what}',
    times,
    unit=first['per'],
    items=first['items'],
    facts={k: v for k, v in vars(chosen).items() if k != 'side'},
  )


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser('fairjax.bench fairflow')
  parser.add_argument('--what', choices=SIDES, required=True)
  parser.add_argument('--model', default='', help='folder of a masked LM')
  parser.add_argument('--text', default='', help='a file of lines')
  parser.add_argument('--rows', type=int, default=256)
  parser.add_argument('--size', default='mini', help='of what repairs')
  parser.add_argument('--flagged', type=float, default=0.3)
  parser.add_argument('--peers', default='all,masked')
  parser.add_argument('--width', type=int, default=768, help='of the flow')
  parser.add_argument('--threads', type=int, default=1)
  parser.add_argument('--rounds', type=int, default=3)
  parser.add_argument('--side', default='', help=argparse.SUPPRESS)
  parser.add_argument('--folder', default='', help=argparse.SUPPRESS)
  return parser


def _need(chosen) -> None:
  if chosen.what == 'flow':
    return
  for name in ('model', 'text'):
    if not getattr(chosen, name):
      raise UserError(f'--what={chosen.what} needs --{name}')


def _lines(chosen) -> list[str]:
  """Lines of 5 to 60 words, spread over the file."""
  lines = readers.text(chosen.text).splitlines()
  able = [line.strip() for line in lines if 5 <= len(line.split()) <= 60]
  return able[:: max(len(able) // chosen.rows, 1)][: chosen.rows]


# Words' embeddings.


def _words(tokenizer, texts: list[str]) -> tuple[Ragged, attributes.Spans]:
  ids = tokens.encode(tokenizer, texts, 256)
  words = corruption.vocabulary(tokenizer)
  return ids, attributes.spans(ids, words.begins, words.special)


def _embed_ours(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.models import contextual
  from fairjax.models import folder as folders

  model = folders.load(chosen.model, 'mask')
  ids, spans = _words(model.tokenizer, _lines(chosen))
  unit = lambda: contextual.word_vectors(
    model.module, model.params, ids, *spans[:3], -1
  )
  return unit, _summed, {'per': 'tokens/s', 'items': len(ids.flat)}


def _summed(vectors: np.ndarray) -> list[float]:
  return [*vectors.mean(0)[:8], float(np.abs(vectors).mean()), len(vectors)]


def _embed_torch(chosen) -> tuple[Callable, Callable, dict]:
  import torch
  import transformers

  tokenizer = tokens.load_tokenizer(chosen.model)
  ids, spans = _words(tokenizer, _lines(chosen))
  net = transformers.AutoModel.from_pretrained(chosen.model).eval()
  edges = np.searchsorted(spans.text, np.arange(len(ids.lengths) + 1))

  def unit():
    out = []
    for low in range(0, len(ids.lengths), BATCH):
      rows = range(low, min(low + BATCH, len(ids.lengths)))
      batch = _padded(ids, rows)
      with torch.inference_mode():
        states = net(**batch).last_hidden_state.numpy()
      mine = slice(edges[rows[0]], edges[rows[-1] + 1])
      text, start, size = (one[mine] for one in spans[:3])
      before = np.cumsum(size) - size
      piece = np.arange(size.sum()) + (start - before).repeat(size)
      picked = states[(text - low).repeat(size), piece]
      out.append(np.add.reduceat(picked, before) / size[:, None])
    return np.concatenate(out)

  return unit, _summed, {}


def _padded(ids: Ragged, rows: Sequence[int]) -> dict[str, Any]:
  import torch

  width = int(max(ids.lengths[i] for i in rows))
  batch = np.zeros((len(rows), width), np.int64)
  mask = np.zeros_like(batch)
  for k, i in enumerate(rows):
    part = ids.flat[ids.offsets[i] : ids.offsets[i + 1]]
    batch[k, : len(part)], mask[k, : len(part)] = part, 1
  return {
    'input_ids': torch.tensor(batch),
    'attention_mask': torch.tensor(mask),
  }


# Repair.


def _prepare(chosen, folder: pathlib.Path) -> None:
  """An ELECTRA and a BART of the model's vocabulary, with random weights."""
  if chosen.what != 'repair':
    return
  import jax

  from fairjax.models import families, hf
  from fairjax.models.places import blank_batch
  from fairjax.models.pretraining import ends

  tokenizer = tokens.load_tokenizer(chosen.model)
  words = corruption.vocabulary(tokenizer)
  for family, can in (('electra', 'detect'), ('bart', 'infill')):
    shape = families.named(chosen.size, words.size, family, can)
    shape = families.replaced(shape, **ends(shape, words))
    module = families.module(shape, can)
    params = module.init(jax.random.key(0), blank_batch())['params']
    if can == 'detect':  # logits that differ from place to place
      params = jax.tree.map(lambda a: a * 5, params)
    hf.save(folder / can, module, params)
    tokens.save_tokenizer(tokenizer, folder / can)


def _config(chosen):
  from fairjax.config import Config

  config = Config(model=chosen.model)
  config.repair.detector = f'{chosen.folder}/detect'
  config.repair.filler = f'{chosen.folder}/infill'
  return config


def _threshold(logits: Sequence[np.ndarray], flagged: float) -> float:
  """Above which the largest logit of that share of the texts is."""
  largest = np.array([one[1:-1].max() for one in logits])
  return float(np.quantile(largest, 1 - flagged))


def _repair_ours(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.recipes import repairing

  config, texts = _config(chosen), _lines(chosen)
  # Random weights never end a span; a trained BART writes a token or two.
  repairing.SPAN = dataclasses.replace(repairing.SPAN, max_span=2)
  helpers = repairing.load(config)
  pieces = repairing.read(helpers.detector, texts)
  scores = repairing.scores(helpers.detector, pieces)
  config.repair.threshold = _threshold(scores, chosen.flagged)
  unit = lambda: repairing.repaired(config, helpers, texts)
  check = lambda frame: [config.repair.threshold, int((frame.odd > 0).sum())]
  return unit, check, {'per': 'texts/s', 'items': len(texts)}


def _repair_torch(chosen) -> tuple[Callable, Callable, dict]:
  """ELECTRA in batches, then BART.generate of all texts, or the masked."""
  import torch
  import transformers

  texts = _lines(chosen)
  tokenizer = tokens.load_tokenizer(chosen.model)
  places = f'{chosen.folder}/detect', f'{chosen.folder}/infill'
  judge = transformers.ElectraForPreTraining.from_pretrained(places[0]).eval()
  net = transformers.BartForConditionalGeneration.from_pretrained(
    places[1]
  ).eval()
  mask = corruption.vocabulary(tokenizer).mask
  mask = tokenizer.id_to_token(mask)

  def scores():
    encoded = tokenizer.encode_batch(texts)
    ids = tokens.encode(tokenizer, texts, None)
    out = []
    for low in range(0, len(texts), BATCH):
      rows = range(low, min(low + BATCH, len(texts)))
      with torch.inference_mode():
        logits = judge(**_padded(ids, rows)).logits.numpy()
      out += [row[: ids.lengths[i]] for row, i in zip(logits, rows)]
    return encoded, out

  limit = _threshold(scores()[1], chosen.flagged)

  class Ends(transformers.LogitsProcessor):
    """Every row ends where its source does: both sides write as much."""

    def __init__(self, lengths):
      self.lengths = torch.tensor(lengths)

    def __call__(self, output, scores):
      end = output.shape[1] >= self.lengths
      scores[:, net.config.eos_token_id] = torch.where(end, 1e4, -1e4)
      return scores

  def unit():
    encoded, logits = scores()
    masks = [
      repair.masked(
        text,
        repair.odd_words(e.offsets, e.word_ids, row > limit),
        True,
        mask,
      )
      for text, e, row in zip(texts, encoded, logits)
    ]
    rows = [
      i for i, one in enumerate(masks) if chosen.side == 'all' or one.spans
    ]
    out = list(texts)
    for low in range(0, len(rows), BATCH):
      part = rows[low : low + BATCH]
      ids = tokens.encode(tokenizer, [masks[i].text for i in part], None)
      with torch.inference_mode():
        written = net.generate(
          **_padded(ids, range(len(part))),
          num_beams=1,
          do_sample=False,
          max_length=int(ids.lengths.max()) + 1,
          logits_processor=transformers.LogitsProcessorList(
            [Ends(ids.lengths)]
          ),
        )
      for i, text in zip(part, tokenizer.decode_batch(written.tolist())):
        out[i] = text
    return [sum(bool(one.spans) for one in masks), out]

  return unit, lambda result: [limit, result[0]], {}


# A step of the flow.


def _shape(chosen):
  from fairjax.models import flow

  return flow.Shape(chosen.width, factor=-(-chosen.width // 10))


def _vectors(chosen) -> tuple[np.ndarray, np.ndarray]:
  draw = np.random.default_rng(0)
  x = draw.normal(size=(2, PAIRS, chosen.width)).astype(np.float32)
  return x, np.tile([-1, 1], PAIRS // 2)


def _start(chosen) -> tuple[Any, dict]:
  import jax

  from fairjax.models import flow

  shape, (x, _) = _shape(chosen), _vectors(chosen)
  return shape, flow.init(
    shape, jax.random.key(0), np.concatenate(x).astype(np.float32)
  )


def _flow_ours(chosen) -> tuple[Callable, Callable, dict]:
  import jax
  import optax

  from fairjax.models import flow

  shape, params = _start(chosen)
  x, side = _vectors(chosen)
  batch = {'first': x[0], 'second': x[1], 'side': side}
  rule, objective = optax.adamw(1e-3, eps=1e-6), flow.Objective()

  def loss(params):
    return flow.pair_loss(shape, objective, params, batch)[0] / PAIRS

  @functools.partial(jax.jit, donate_argnums=(0, 1))
  def step(params, state):
    value, gradient = jax.value_and_grad(loss)(params)
    update, state = rule.update(gradient, state, params)
    return optax.apply_updates(params, update), state, value

  held = {'at': (params, rule.init(params))}

  def unit():
    values = []
    for _ in range(STEPS):
      *held['at'], value = step(*held['at'])
      values.append(value)
    return [float(v) for v in values]

  return unit, lambda values: values[:1], {'per': 'steps/s', 'items': STEPS}


STEPS = 20


def _flow_torch(chosen) -> tuple[Callable, Callable, dict]:
  """The same steps of the same weights by PyTorch modules."""
  import torch
  from torch import nn

  from fairjax.models import flow

  shape, params = _start(chosen)
  orders = [torch.tensor(o) for o in flow._orders(shape.width, shape.steps)]
  x, _ = _vectors(chosen)
  host = lambda tree, k: {
    name: host(leaf, k) if isinstance(leaf, dict) else np.asarray(leaf[k])
    for name, leaf in tree.items()
  }

  def net(weights: dict, bounded: bool) -> nn.Module:
    parts: list[nn.Module] = []
    for k in range(shape.depth + 2):
      one = weights[f'linear_{k}']
      linear = nn.Linear(*one['kernel'].shape)
      linear.weight.data = torch.tensor(one['kernel'].T.copy())
      linear.bias.data = torch.tensor(one['bias'])
      parts += [linear, nn.LeakyReLU(0.01)]
    return nn.Sequential(*parts[:-1], *([nn.Tanh()] if bounded else []))

  class Flow(nn.Module):
    def __init__(self):
      super().__init__()
      each = [host(params, k) for k in range(shape.steps)]
      tensor = lambda a: nn.Parameter(torch.tensor(a))
      self.bias = nn.ParameterList([tensor(p['bias']) for p in each])
      self.scale = nn.ParameterList([tensor(p['scale']) for p in each])
      names = ('scale_0', 'shift_0', 'scale_1', 'shift_1')
      self.nets = nn.ModuleList(
        [
          nn.ModuleList([net(p[n], n.startswith('scale')) for n in names])
          for p in each
        ]
      )

    def forward(self, x):
      total = torch.zeros(len(x))
      for k, (s0, t0, s1, t1) in enumerate(self.nets):
        x = self.scale[k] * (x + self.bias[k])
        a, c = x.chunk(2, -1)
        s = s0(a)
        c, total = c * torch.exp(s) + t0(a), total + s.sum(-1)
        s = s1(c)
        a, total = a * torch.exp(s) + t1(c), total + s.sum(-1)
        total = total + self.scale[k].abs().log().sum()
        x = torch.cat([c, a], -1)[:, orders[k]]
      return x, total

  model, rho, k = Flow(), flow.Objective().rho, shape.factor
  rule = torch.optim.AdamW(
    model.parameters(), lr=1e-3, eps=1e-6, weight_decay=1e-4
  )
  both = torch.tensor(np.concatenate(x))

  def step():
    z, logdet = model(both)
    one, two = z[:PAIRS], z[PAIRS:]
    gap = (two[:, :k] - rho * one[:, :k]).square().sum() / (1 - rho**2)
    squares = one.square().sum() + gap + two[:, k:].square().sum()
    loss = (0.5 * squares - logdet.sum()) / PAIRS
    rule.zero_grad()
    loss.backward()
    rule.step()
    return loss.detach()

  unit = lambda: [float(v) for v in [step() for _ in range(STEPS)]]
  return unit, lambda values: values[:1], {}


SIDES = {
  'embed': (_embed_ours, _embed_torch),
  'repair': (_repair_ours, _repair_torch),
  'flow': (_flow_ours, _flow_torch),
}


def _serve(chosen) -> None:
  os.environ.setdefault('TOKENIZERS_PARALLELISM', 'false')
  ours = chosen.side == 'ours'
  if not ours:
    import torch

    torch.set_num_threads(chosen.threads)
  unit, check, facts = SIDES[chosen.what][not ours](chosen)
  values = list(map(float, check(unit())))
  race.serve(unit, check=values, **facts)


if __name__ == '__main__':
  _serve(_parser().parse_args(sys.argv[1:]))
