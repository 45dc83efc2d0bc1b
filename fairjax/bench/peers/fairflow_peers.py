"""Peers of the race of FairFlow's parts: transformers, and PyTorch modules.

And what both sides of it read. Repair is a loop of transformers: every text
written anew by `generate` (the papers' way), or only those with a mask.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairjax.bench.peers.generate_peers import stop_at
from fairjax.bench.peers.text_batches import BATCH, lines, padded
from fairjax.data.batching import corruption, tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.pairs import attributes, repair

PAIRS = 32  # of a step of the flow
STEPS = 20  # of the flow, a round
SPARE = 20  # tokens that a rewrite may be longer than its source


def words_of(
  tokenizer, texts: list[str]
) -> tuple[Ragged, attributes.WordSpans]:
  ids = tokens.encode(tokenizer, texts, 256)
  words = corruption.vocabulary(tokenizer)
  return ids, attributes.spans(ids, words.begins, words.special)


def summed(vectors: np.ndarray) -> list[float]:
  return [*vectors.mean(0)[:8], float(np.abs(vectors).mean()), len(vectors)]


def embed(chosen) -> tuple[Callable, Callable, dict]:
  import torch
  import transformers

  tokenizer = tokens.load_tokenizer(chosen.model)
  ids, spans = words_of(tokenizer, lines(chosen))
  net = transformers.AutoModel.from_pretrained(chosen.model).eval()
  edges = np.searchsorted(spans.text, np.arange(len(ids.lengths) + 1))
  order = np.argsort(ids.lengths, kind='stable')
  place = np.argsort(order)  # of each text in that order

  def unit():
    out, whose = [], []
    for low in range(0, len(order), BATCH):
      rows = order[low : low + BATCH]
      batch = padded(ids, rows)
      with torch.inference_mode():
        states = net(**batch).last_hidden_state.numpy()
      mine = np.concatenate([np.arange(*edges[i : i + 2]) for i in rows])
      text, start, size = (one[mine] for one in spans[:3])
      before = np.cumsum(size) - size
      piece = np.arange(size.sum()) + (start - before).repeat(size)
      picked = states[(place[text] - low).repeat(size), piece]
      out.append(np.add.reduceat(picked, before) / size[:, None])
      whose.append(mine)
    vectors = np.empty((len(spans.text), out[0].shape[1]), np.float32)
    vectors[np.concatenate(whose)] = np.concatenate(out)
    return vectors

  return unit, summed, {}


def vectors(chosen) -> tuple[np.ndarray, np.ndarray]:
  draw = np.random.default_rng(0)
  x = draw.normal(size=(2, PAIRS, chosen.width)).astype(np.float32)
  return x, np.tile([-1, 1], PAIRS // 2)


def start(chosen) -> tuple[Any, dict]:
  import jax

  from fairjax.models import flow

  shape = flow.FlowShape(chosen.width, factor=-(-chosen.width // 10))
  x, _ = vectors(chosen)
  return shape, flow.init(shape, jax.random.key(0), np.concatenate(x))


def flow_module(shape, params: dict) -> Any:
  """The flow of these weights, of PyTorch modules."""
  import torch
  from torch import nn

  from fairjax.models import flow

  orders = [torch.tensor(o) for o in flow._orders(shape.width, shape.steps)]

  def host(tree, k):
    return {
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

  return Flow()


def flow_steps(chosen) -> tuple[Callable, Callable, dict]:
  """Steps of the same weights by PyTorch modules."""
  import torch

  from fairjax.models import flow

  shape, params = start(chosen)
  x, _ = vectors(chosen)
  model, rho, k = (
    flow_module(shape, params),
    flow.FlowObjective().rho,
    shape.factor,
  )
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


def folders_of(chosen) -> tuple[str, str]:
  """The detector and the filler: those that are named, or `prepare`'s."""
  return (
    chosen.detector or f'{chosen.folder}/detect',
    chosen.filler or f'{chosen.folder}/infill',
  )


def threshold(logits: Sequence[np.ndarray], flagged: float) -> float:
  """Above which the largest logit of that share of the texts is."""
  largest = np.array([one[1:-1].max() for one in logits])
  return float(np.quantile(largest, 1 - flagged))


def repaired(chosen) -> tuple[Callable, Callable, dict]:
  """ELECTRA in batches, then BART.generate of all texts, or the masked."""
  import torch
  import transformers

  texts = lines(chosen)
  tokenizer = tokens.load_tokenizer(chosen.model)
  places = folders_of(chosen)
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
        logits = judge(**padded(ids, rows)).logits.numpy()
      out += [row[: ids.lengths[i]] for row, i in zip(logits, rows)]
    return encoded, out

  limit = threshold(scores()[1], chosen.flagged)

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
      rules = {}
      if not chosen.filler:  # random weights end nowhere
        ends = torch.tensor(ids.lengths)
        rules['logits_processor'] = stop_at(ends, net.config.eos_token_id)
      with torch.inference_mode():
        written = net.generate(
          **padded(ids, range(len(part))),
          num_beams=1,
          do_sample=False,
          max_length=int(ids.lengths.max()) + (SPARE if chosen.filler else 1),
          **rules,
        )
      for i, text in zip(part, tokenizer.decode_batch(written.tolist())):
        out[i] = text
    return [sum(bool(one.spans) for one in masks), out]

  return unit, lambda result: [limit, result[0]], {}
