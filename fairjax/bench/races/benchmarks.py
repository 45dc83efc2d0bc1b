"""CrowS-Pairs: packed masks against transformers, taken apart by an expert.

  python -m fairjax.bench benchmarks --data=crows_pairs.csv [--pairs=48]
    [--model=FOLDER] [--rounds=3] [--sides=ours,expert,expert-bf16]

The original metric of the same pairs by one model (MiniLM's size unless a
folder is named; its masked-LM head is random, which changes no time). The peer
sorts the masked copies by length, pads them in batches of 64 and computes the
logits at the masked place alone, in float32 or bfloat16.
All sides must agree in the scores.
"""

import functools
from collections.abc import Callable

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import minilm
from fairjax.benchmarks import crows
from fairjax.data.batching.tokens import Ragged

SIDES = ('ours', 'expert', 'expert-bf16')
BATCH = 64  # copies of the peer's batches


def run(args: list[str]) -> dict:
  chosen = options(args)
  head = functools.partial(minilm.with_head, 'MaskedLM')
  made = None if chosen.model else head
  with race.processes('benchmarks', args, chosen.sides, None, made) as running:
    tolerance = lambda side: 2e-2 if side.endswith('bf16') else 2e-3
    race.agree(running, 'scores', 'the scores', tolerance)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
  facts = {'unit': 'pairs/s', 'items': chosen.pairs}
  return race.report('benchmarks', times, chosen, **facts)


def options(args: list[str]):
  sides = race.Several(SIDES, ','.join(SIDES))
  known = {'pairs': 48, 'model': '', 'sides': sides}
  return race.options('benchmarks', __doc__, args, ('data',), **known)


def _padded(texts: Ragged, rows: np.ndarray) -> dict:
  import torch

  starts, ends = texts.offsets[rows], texts.offsets[rows + 1]
  ids = [torch.tensor(texts.flat[a:b]).long() for a, b in zip(starts, ends)]
  pad = torch.nn.utils.rnn.pad_sequence
  return {
    'input_ids': pad(ids, batch_first=True),
    'attention_mask': pad([torch.ones_like(i) for i in ids], batch_first=True),
  }


def _batched(net, mask: int, texts: Ragged, chosen: np.ndarray) -> np.ndarray:
  """Copies sorted by length and padded, in batches."""
  import torch

  owner = texts.owner[chosen]
  place = np.flatnonzero(chosen) - texts.offsets[owner]
  logs, flat = np.empty(len(owner)), np.full(len(texts.flat), np.nan)
  order = np.argsort(texts.lengths[owner], kind='stable')
  for low in range(0, len(order), BATCH):
    rows = order[low : low + BATCH]
    inputs = _padded(texts, owner[rows])
    at, every = torch.tensor(place[rows]), torch.arange(len(rows))
    token = inputs['input_ids'][every, at]
    inputs['input_ids'][every, at] = mask
    with torch.inference_mode():
      logits = net.cls(net.bert(**inputs).last_hidden_state[every, at])
      result = logits.float().log_softmax(-1)[every, token]
    logs[rows] = result.numpy()
  flat[chosen] = logs
  return _scores(texts, flat.astype(np.float32))


def _scores(texts: Ragged, logs: np.ndarray) -> np.ndarray:
  return np.stack(crows.pair_scores(logs, texts, False)).ravel()


def side(chosen) -> tuple[Callable, dict]:
  from fairjax.models.folders import folder as folders
  from fairjax.models.reading import judge as judges

  model = chosen.model or chosen.folder
  judge = judges.from_bundle(folders.load(model, 'mask'), model)
  table = crows.read(chosen.data)[: chosen.pairs]
  both = zip(table['more'], table['less'])  # texts side by side
  texts = judge.encode([text for pair in both for text in pair])
  places = crows.places(texts, 'original')
  if chosen.side == 'ours':
    unit = lambda: _scores(texts, judge.log_p(texts, places))
  else:
    import transformers

    net = transformers.AutoModelForMaskedLM.from_pretrained(model).eval()
    if chosen.side.endswith('bf16'):
      net = net.bfloat16()
    unit = functools.partial(_batched, net, judge.mask_id, texts, places)
  return unit, {'scores': list(map(float, unit()))}


if __name__ == '__main__':
  race.serve_side(options, side)
