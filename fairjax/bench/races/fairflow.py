"""FairFlow's parts against transformers and PyTorch: embed, repair, flow.

  python -m fairjax.bench fairflow --what=embed [--model=FOLDER] [--text=FILE]
  python -m fairjax.bench fairflow --what=repair [--model] [--text] [--rows=96]
  python -m fairjax.bench fairflow --what=flow [--width=768]

embed: the embeddings of all words of --rows lines, packed, against a loop over
padded batches of 64, sorted by length. repair: --rows lines go through an
ELECTRA discriminator and a BART of the model's tokenizer and of size --size,
random weights, the same on both sides; as many are flagged as --flagged says.
Ours fills only masks, and runs no text without; the loop writes every text anew
(--peers=all, the papers' way) or only those with a mask (--peers=masked),
greedily, each as long as it was; --detector and --filler name trained folders,
whose texts end where they end. flow: one step (loss, gradient, AdamW) of
FairFlow's flow on 32 pairs. Each side is a process on --threads cores.
"""

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers.text_batches import BATCH, lines, padded
from fairjax.bench.races import fairflow_flow, fairflow_repair
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.pairs import attributes


def run(args: list[str]) -> dict:
  """One race; `what` says of which part."""
  chosen = _parser().parse_args(args)
  _need(chosen)
  if race.missing('torch', 'transformers'):
    raise UserError('the peers of this race need torch and transformers')
  peers = chosen.peers.split(',') if chosen.what == 'repair' else ['torch']
  with tempfile.TemporaryDirectory() as folder:
    args = [*args, f'--folder={folder}']
    if chosen.what == 'repair':
      fairflow_repair.prepare(chosen, pathlib.Path(folder))
    threads = {'OMP_NUM_THREADS': str(chosen.threads)}
    sides = ('ours', *peers)
    with race.processes('fairflow', args, sides, threads) as running:
      race.agree(running, 'check', 'what they find', 2e-3)
      times = race.interleave(running, rounds=chosen.rounds, warmup=0)
      first = running['ours'].facts
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
  parser.add_argument('--detector', default='', help='trained, of repairs')
  parser.add_argument('--filler', default='', help='a trained BART of repairs')
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


# Words' embeddings.


def _words(tokenizer, texts: list[str]) -> tuple[Ragged, attributes.WordSpans]:
  ids = tokens.encode(tokenizer, texts, 256)
  words = corruption.vocabulary(tokenizer)
  return ids, attributes.spans(ids, words.begins, words.special)


def _embed_ours(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.models.folders import folder as folders
  from fairjax.models.reading import contextual

  model = folders.load(chosen.model, 'mask')
  ids, spans = _words(model.tokenizer, lines(chosen))
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
  ids, spans = _words(tokenizer, lines(chosen))
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

  return unit, _summed, {}


SIDES = {
  'embed': (_embed_ours, _embed_torch),
  'repair': (fairflow_repair.ours, fairflow_repair.theirs),
  'flow': (fairflow_flow.ours, fairflow_flow.theirs),
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
