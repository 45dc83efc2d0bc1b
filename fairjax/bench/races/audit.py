"""Predictions of an audited classifier: rows/s beside OpenVINO and others.

  python -m fairjax.bench audit --data=FILE [--text=COLUMN] [--rows=2000]
    [--model=FOLDER] [--rounds=3] [--longest=256] [--clock=cpu]
    [--sides=ours,openvino,torch-bf16,torch]

The same weights on the same texts, from strings to probabilities, tokenizing
included. `ours` is `fairjax.load(FOLDER).predict_proba` as an audit calls it,
`ours-float32` and `ours-bfloat16` the same with that precision. The peers sort
texts by length and pad them in batches of 64: OpenVINO as it compiles a model
by default (bfloat16 where the processor has it), and torch. Without --model
MiniLM with a random head of two classes. All sides must agree in the
probabilities. `--clock=cpu` counts CPU seconds: on one core a side (`taskset -c
1`) that others use as well, the wall clock counts theirs too.
"""

import functools
import itertools
import os
import tempfile
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import softmax

from fairjax.bench import race
from fairjax.bench.peers import minilm
from fairjax.core.errors import UserError
from fairjax.data.tables import readers

PEERS = {  # and their packages
  'openvino': ('openvino', 'torch', 'transformers'),
  **dict.fromkeys(('torch-bf16', 'torch'), ('torch', 'transformers')),
}
OURS = {'ours': 'auto'}
OURS |= {f'ours-{kind}': kind for kind in ('float32', 'bfloat16')}
BATCH = 64


def run(args: list[str]) -> dict:
  chosen = options(args)
  able = lambda side: not race.missing(*PEERS.get(side, ()))
  sides = [side for side in chosen.sides if able(side)]
  head = functools.partial(
    minilm.with_head, 'SequenceClassification', num_labels=2
  )
  prepare = None if chosen.model else head
  with race.processes('audit', args, sides, prepare=prepare) as running:
    race.agree(running, 'chances', 'the probabilities', 1e-2)
    times = race.interleave(running, rounds=chosen.rounds, warmup=0)
    tokens = running[sides[0]].facts['tokens']
  facts = {'items': chosen.rows, 'ours': sides[0], 'tokens': tokens}
  return race.report('audit', times, chosen, unit='rows/s', **facts)


def options(args: list[str]):
  return race.options(
    *('audit', __doc__, args, ('data',)),
    text='text',
    rows=2000,
    model='',
    longest=256,
    sides=race.Several([*OURS, *PEERS], 'ours,openvino,torch-bf16'),
  )


def texts_of(chosen) -> list[str]:
  """The texts of the column, but for blank ones; again from its start."""
  frame = readers.read(chosen.data)
  if chosen.text not in frame:
    raise UserError(
      f'{chosen.data} has no column {chosen.text!r}; name one of '
      f'{", ".join(map(str, frame))} with --text'
    )
  texts = [t for t in frame[chosen.text] if isinstance(t, str) and t.strip()]
  return [*itertools.islice(itertools.cycle(texts), chosen.rows)]


def _ours(model, texts: Sequence[str]) -> np.ndarray:
  """With no tokens kept from an earlier round."""
  with tempfile.TemporaryDirectory() as folder:
    os.environ['FAIRJAX_CACHE'] = folder
    return model.predict_proba(texts)


def _grouped(
  ask: Callable, tokenizer, longest: int, texts: Sequence[str]
) -> np.ndarray:
  """ask(inputs) of texts sorted by length and padded batch by batch."""
  tokens = tokenizer(list(texts), truncation=True, max_length=longest)
  order = np.argsort([len(ids) for ids in tokens['input_ids']], kind='stable')
  parts = []
  for low in range(0, len(order), BATCH):
    some = [tokens['input_ids'][row] for row in order[low : low + BATCH]]
    batch = tokenizer.pad({'input_ids': some}, return_tensors='np')
    ids, mask = (batch[n].astype(np.int64) for n in INPUTS[:2])
    parts.append(ask(dict(zip(INPUTS, (ids, mask, np.zeros_like(ids))))))
  out = np.concatenate(parts)
  out[order] = out.copy()  # back in the order of the texts
  return softmax(out.astype(np.float64), axis=-1)


INPUTS = 'input_ids', 'attention_mask', 'token_type_ids'


def _torch(net, chosen) -> Callable:
  import torch

  if chosen.side.endswith('bf16'):
    net = net.bfloat16()

  def ask(inputs: dict) -> np.ndarray:
    with torch.inference_mode():
      given = {name: torch.from_numpy(a) for name, a in inputs.items()}
      return net(**given).logits.float().numpy()

  return ask


def _openvino(net, chosen) -> Callable:
  import openvino
  import torch

  example = {name: torch.ones(2, 16, dtype=torch.long) for name in INPUTS}
  model = openvino.convert_model(net, example_input=example)
  threads = {'INFERENCE_NUM_THREADS': len(os.sched_getaffinity(0))}
  compiled = openvino.Core().compile_model(model, 'CPU', threads)
  return lambda inputs: compiled(inputs)[0]


def _side(chosen):
  """texts → probabilities."""
  if chosen.side in OURS:
    import fairjax

    model = fairjax.load(chosen.model, precision=OURS[chosen.side])
    model.bundle = model.bundle.replace(longest=chosen.longest)
    return functools.partial(_ours, model)
  import transformers

  auto = transformers.AutoModelForSequenceClassification
  net = auto.from_pretrained(chosen.model).eval()
  tokenizer = transformers.AutoTokenizer.from_pretrained(chosen.model)
  ask = (_openvino if chosen.side == 'openvino' else _torch)(net, chosen)
  return functools.partial(_grouped, ask, tokenizer, chosen.longest)


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
