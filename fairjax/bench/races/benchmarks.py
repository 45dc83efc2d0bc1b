"""CrowS-Pairs: packed masks against transformers, the reference's way and well.

  python -m fairjax.bench benchmarks [--data=crows_pairs.csv] [--pairs=48]
    [--model=FOLDER] [--rounds=3] [--sides=ours,expert,batched,reference]

The original metric of the same pairs by one model (MiniLM's size unless a
folder is named; its masked-LM head is random, which changes no time). The
reference asks for one masked copy at a time and all its logits; `batched` sorts
the copies by length, pads them in batches of 64 and asks for all their logits;
`expert` takes the model apart and computes the logits at the masked place
alone. All sides must agree in the scores.
"""

import functools
from collections.abc import Callable

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import minilm
from fairjax.bench.peers.text_batches import BATCH, padded, planted_rows
from fairjax.benchmarks import crows
from fairjax.data.batching.tokens import Ragged

SIDES = ('ours', 'expert', 'batched', 'reference')


def run(args: list[str]) -> dict:
  chosen = options(args)
  head = functools.partial(minilm.with_head, 'MaskedLM')
  made = {'prepare': None if chosen.model else head}
  with race.processes('benchmarks', args, chosen.sides, **made) as running:
    race.agree(running, 'scores', 'the scores', 2e-3)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
  facts = {'unit': 'pairs/s', 'items': chosen.pairs}
  return race.report('benchmarks', times, chosen, **facts)


def options(args: list[str]):
  sides = race.Several(SIDES, ','.join(SIDES))
  known = {'data': '', 'pairs': 48, 'model': '', 'sides': sides}
  return race.options('benchmarks', __doc__, args, **known)


def _pairs(chosen) -> list[str]:
  """Texts side by side; without a file, sentences of the planted data."""
  if chosen.data:
    table = crows.read(chosen.data)[: chosen.pairs]
    pairs = zip(table['more'], table['less'])
  else:
    table = planted_rows(200)
    pairs = list(zip(table['text'], table['twin']))[: chosen.pairs]
  return [text for pair in pairs for text in pair]


def _ours(judge, texts: Ragged, chosen: np.ndarray) -> np.ndarray:
  logs = judge.log_p(texts, chosen)
  return np.stack(crows.pair_scores(logs, texts, False)).ravel()


def _at_mask(net, inputs: dict, rows, at):
  """Logits at one place of each row, by a model taken apart."""
  return net.cls(net.bert(**inputs).last_hidden_state[rows, at])


def _at_all(net, inputs: dict, rows, at):
  """The same as the model's own forward pass gives them."""
  return net(**inputs).logits[rows, at]


def _batched(
  logits_of: Callable,
  net,
  mask: int,
  texts: Ragged,
  chosen: np.ndarray,
) -> np.ndarray:
  """Copies sorted by length and padded, in batches."""
  import torch

  owner = texts.owner[chosen]
  place = np.flatnonzero(chosen) - texts.offsets[owner]
  logs = np.empty(len(owner))
  order = np.argsort(texts.lengths[owner], kind='stable')
  for low in range(0, len(order), BATCH):
    rows = order[low : low + BATCH]
    inputs = padded(texts, owner[rows])
    at, every = torch.tensor(place[rows]), torch.arange(len(rows))
    token = inputs['input_ids'][every, at]
    inputs['input_ids'][every, at] = mask
    with torch.inference_mode():
      logits = logits_of(net, inputs, every, at)
      result = logits.log_softmax(-1)[every, token]
    logs[rows] = result.numpy()
  return _scores(texts, chosen, logs)


def _reference(net, mask: int, texts: Ragged, chosen: np.ndarray) -> np.ndarray:
  """One masked copy at a time, as the published script."""
  import torch

  logs = []
  for i in range(len(texts.lengths)):
    low, high = texts.offsets[i : i + 2]
    ids = torch.tensor(texts.flat[low:high].astype(np.int64))[None]
    for place in np.flatnonzero(chosen[low:high]):
      inputs = ids.clone()
      inputs[0, place] = mask
      with torch.no_grad():
        logits = net(input_ids=inputs).logits[0, place]
      logs.append(logits.log_softmax(-1)[ids[0, place]].item())
  return _scores(texts, chosen, np.array(logs))


def _scores(texts: Ragged, chosen: np.ndarray, logs: np.ndarray) -> np.ndarray:
  flat = np.full(len(texts.flat), np.nan, np.float32)
  flat[chosen] = logs
  return np.stack(crows.pair_scores(flat, texts, False)).ravel()


def side(chosen) -> tuple[Callable, dict]:
  from fairjax.models.folders import folder as folders
  from fairjax.models.reading import judge as judges

  model = chosen.model or chosen.folder
  judge = judges.of(folders.load(model, 'mask'), model)
  texts = judge.encode(_pairs(chosen))
  places = crows.places(texts, 'original')
  if chosen.side == 'ours':
    unit = functools.partial(_ours, judge, texts, places)
  else:
    import transformers

    net = transformers.AutoModelForMaskedLM.from_pretrained(model).eval()
    way = {
      'expert': functools.partial(_batched, _at_mask),
      'batched': functools.partial(_batched, _at_all),
      'reference': _reference,
    }[chosen.side]
    unit = functools.partial(way, net, judge.mask_id, texts, places)
  return unit, {'scores': list(map(float, unit()))}


if __name__ == '__main__':
  race.serve_side(options, side)
