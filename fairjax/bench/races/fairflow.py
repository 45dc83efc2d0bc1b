"""FairFlow's parts against transformers and PyTorch: embed, repair, flow.

  python -m fairjax.bench fairflow --what=embed [--model=FOLDER] [--text=FILE]
  python -m fairjax.bench fairflow --what=repair [--model] [--text] [--rows=96]
  python -m fairjax.bench fairflow --what=flow [--width=768]

--model is the folder of a masked LM, --text a file of lines.
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

import functools
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
  chosen = options(args)
  for name in ('model', 'text') if chosen.what != 'flow' else ():
    if not getattr(chosen, name):
      raise UserError(f'--what={chosen.what} needs --{name}')
  if race.missing('torch', 'transformers'):
    raise UserError('the peers of this race need torch and transformers')
  repairs = chosen.what == 'repair'
  sides = ('ours', *(chosen.peers if repairs else ['torch']))
  models = functools.partial(fairflow_repair.prepare, chosen)
  with race.processes(
    *('fairflow', args, sides, race.threads(chosen.threads)),
    prepare=models if repairs else None,
  ) as running:
    race.agree(running, 'check', 'what they find', 2e-3)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
    first = running['ours'].facts
  title, items = f'fairflow {chosen.what}', first['items']
  return race.report(title, times, chosen, unit=first['per'], items=items)


def options(args: list[str]):
  return race.options(
    *('fairflow', __doc__, args),
    what=('embed', 'repair', 'flow'),
    model='',
    text='',
    rows=256,
    size='mini',
    detector='',
    filler='',
    flagged=0.3,
    peers=race.Several(('all', 'masked'), 'all,masked'),
    width=768,
    threads=1,
  )


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


def side(chosen) -> tuple[Callable, dict]:
  ours = chosen.side == 'ours'
  if not ours:
    import torch

    torch.set_num_threads(chosen.threads)
  unit, check, facts = SIDES[chosen.what][not ours](chosen)
  return unit, {'check': list(map(float, check(unit()))), **facts}


if __name__ == '__main__':
  race.serve_side(options, side)
