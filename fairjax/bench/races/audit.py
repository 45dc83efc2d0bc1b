"""Predictions of an audited classifier: rows/s beside pipeline and a good loop.

  python -m fairjax.bench audit [--data=FILE --text=COLUMN] [--rows=2000]
    [--model=FOLDER] [--rounds=3] [--sides=ours,grouped,pipeline]
    [--longest=256] [--clock=cpu]

The same weights on the same texts, from strings to probabilities, tokenizing
included: `fairjax.load(FOLDER).predict_proba`, what an audit calls; `pipeline`
of transformers as its manual has it, in batches of 32; and `grouped`,
a loop in torch that sorts by length, pads in batches of 64 and keeps no
gradients. Without --model MiniLM with a random head of two classes. All sides
must agree in the probabilities. `--clock=cpu` counts CPU seconds: on one core a
side (`taskset -c 1`) that others use as well, the wall clock counts them too.
"""

import functools
import os
import tempfile
from collections.abc import Callable, Sequence

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import minilm
from fairjax.bench.peers.text_batches import column, planted_rows

SIDES = ('ours', 'grouped', 'pipeline')
BATCH = {'grouped': 64, 'pipeline': 32}
# Texts without --data: sentences of such lengths from the planted words.
LENGTHS = (8, 60)


def run(args: list[str]) -> dict:
  chosen = options(args)
  sides = chosen.sides
  if race.missing('torch', 'transformers'):
    sides = [s for s in sides if s == 'ours']
  head = functools.partial(
    minilm.with_head, 'SequenceClassification', num_labels=2
  )
  prepare = None if chosen.model else head
  with race.processes('audit', args, sides, prepare=prepare) as running:
    race.agree(running, 'chances', 'the probabilities', 2e-3)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
    tokens = running[sides[0]].facts['tokens']
  facts = {'items': chosen.rows, 'ours': 'ours', 'tokens': tokens}
  return race.report('audit', times, chosen, unit='rows/s', **facts)


def options(args: list[str]):
  return race.options(
    *('audit', __doc__, args),
    data='',
    text='text',
    rows=2000,
    model='',
    longest=256,
    sides=race.Several(SIDES, ','.join(SIDES)),
  )


def texts_of(chosen) -> list[str]:
  if chosen.data:
    texts = column(chosen.data, chosen.text)
    if len(texts) < chosen.rows:
      texts *= -(-chosen.rows // len(texts))
    return texts[: chosen.rows]
  words = ' '.join(planted_rows(400)['text']).split()
  rng = np.random.default_rng(0)
  lengths = rng.integers(*LENGTHS, chosen.rows)
  starts = rng.integers(0, len(words) - LENGTHS[1], chosen.rows)
  return [' '.join(words[s : s + n]) for s, n in zip(starts, lengths)]


def _ours(model, texts: Sequence[str]) -> np.ndarray:
  """With no tokens kept from an earlier round."""
  with tempfile.TemporaryDirectory() as folder:
    os.environ['FAIRJAX_CACHE'] = folder
    return model.predict_proba(texts)


def _pipeline(pipe, texts: Sequence[str]) -> np.ndarray:
  out = pipe(list(texts))
  names = list(pipe.model.config.id2label.values())
  return np.array(
    [[{o['label']: o['score'] for o in one}[n] for n in names] for one in out]
  )


def _grouped(net, tokenizer, longest: int, texts: Sequence[str]) -> np.ndarray:
  """Sorted by length, padded batch by batch, in inference mode."""
  import torch

  tokens = tokenizer(list(texts), truncation=True, max_length=longest)
  order = np.argsort([len(ids) for ids in tokens['input_ids']], kind='stable')
  out = np.empty((len(order), net.config.num_labels))
  with torch.inference_mode():
    for low in range(0, len(order), BATCH['grouped']):
      rows = order[low : low + BATCH['grouped']]
      batch = tokenizer.pad(
        {'input_ids': [tokens['input_ids'][row] for row in rows]},
        return_tensors='pt',
      )
      out[rows] = net(**batch).logits.softmax(-1).numpy()
  return out


def _side(chosen):
  """texts → probabilities, and how to count tokens."""
  if chosen.side == 'ours':
    import fairjax

    model = fairjax.load(chosen.model)
    model.bundle = model.bundle.replace(longest=chosen.longest)
    return functools.partial(_ours, model)
  import transformers

  auto = transformers.AutoModelForSequenceClassification
  net = auto.from_pretrained(chosen.model).eval()
  tokenizer = transformers.AutoTokenizer.from_pretrained(chosen.model)
  if chosen.side == 'grouped':
    return functools.partial(_grouped, net, tokenizer, chosen.longest)
  pipe = transformers.pipeline(
    'text-classification',
    model=net,
    tokenizer=tokenizer,
    top_k=None,
    batch_size=BATCH['pipeline'],
    truncation=True,
    max_length=chosen.longest,
  )
  return functools.partial(_pipeline, pipe)


def side(chosen) -> tuple[Callable, dict]:
  from fairjax.data.batching import tokens

  chosen.model = chosen.model or chosen.folder
  texts = texts_of(chosen)
  predict = _side(chosen)
  tokenizer = tokens.load_tokenizer(chosen.model)
  lengths = tokens.encode(tokenizer, texts, chosen.longest).lengths
  return functools.partial(predict, texts), {
    'chances': predict(texts[:100]).tolist(),
    'tokens': [float(lengths.mean()), int(lengths.max())],
  }


if __name__ == '__main__':
  race.serve_side(options, side)
