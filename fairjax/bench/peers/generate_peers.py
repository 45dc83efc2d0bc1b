"""Peers of the generation race: transformers on torch, and CTranslate2."""

import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def written(batches: Iterable[np.ndarray], eos: int) -> list[np.ndarray]:
  """The tokens of each row, up to and with the one that ends the text."""
  rows = []
  for row in (row for batch in batches for row in batch):
    ends = row == eos
    rows.append(row[: ends.argmax() + 1] if ends.any() else row)
  return rows


def name_tokens(folder: str, shape: Any) -> None:
  """A tokenizer of names, and what CTranslate2 asks of a BART's config."""
  from tokenizers import Tokenizer, models

  names = {f't{i}': i for i in range(shape.vocab)}
  special = {'bos': shape.bos, 'pad': shape.pad, 'eos': shape.eos}
  special['unk'] = next(i for i in range(9) if i not in special.values())
  place = pathlib.Path(folder)
  unknown = f't{special["unk"]}'
  Tokenizer(models.WordLevel(names, unk_token=unknown)).save(
    str(place / 'tokenizer.json')
  )
  (place / 'tokenizer_config.json').write_text(
    json.dumps(
      {'tokenizer_class': 'PreTrainedTokenizerFast'}
      | {f'{name}_token': f't{i}' for name, i in special.items()}
    )
  )
  config = json.loads((place / 'config.json').read_text())
  config |= {'normalize_before': False, 'normalize_embedding': True}
  config.pop('forced_eos_token_id', None)
  (place / 'config.json').write_text(json.dumps(config))


def _torch(args, work) -> Callable:
  """transformers' generate."""
  import torch
  import transformers

  where = 'cuda' if args.device == 'gpu' else 'cpu'
  low = where == 'cuda' or args.side == 'torch-bfloat16'
  net = transformers.BartForConditionalGeneration.from_pretrained(
    args.folder,
    attn_implementation='sdpa',
    dtype=torch.bfloat16 if low else torch.float32,
  ).eval()
  net.generation_config.forced_eos_token_id = None
  net = net.to(where)
  if args.compile:
    net.forward = torch.compile(net.forward)
  tokens = torch.tensor(np.stack(work.texts)).long().to(where)
  rules = {'max_new_tokens': args.new, 'min_new_tokens': args.new}
  if args.compile:
    rules['cache_implementation'] = 'static'

  def unit():
    with torch.no_grad():
      output = net.generate(
        input_ids=tokens,
        attention_mask=torch.ones_like(tokens),
        do_sample=False,
        num_beams=args.beams,
        **rules,
      )
    return [output[:, 1:].cpu().numpy()]  # waits for the device

  return unit


def _ctranslate2(args, work) -> Callable:
  """CTranslate2's own batches, of as many rows, longest first."""
  import ctranslate2
  from ctranslate2.converters import TransformersConverter

  kind = 'int8' if args.side.endswith('int8') else 'float32'
  with tempfile.TemporaryDirectory() as folder:
    TransformersConverter(args.folder).convert(
      f'{folder}/model', quantization=kind
    )
    model = ctranslate2.Translator(
      f'{folder}/model',
      compute_type=kind,
      inter_threads=1,
      intra_threads=len(os.sched_getaffinity(0)),
    )
  texts = [[f't{token}' for token in text] for text in work.texts]

  def unit():
    results = model.translate_batch(
      texts,
      beam_size=args.beams,
      max_batch_size=args.batch * args.beams,
      max_decoding_length=args.new,
      min_decoding_length=args.new,
    )
    rows = [[int(t[1:]) for t in one.hypotheses[0]] for one in results]
    return [np.array(rows)]

  return unit


PEERS = {
  **dict.fromkeys(('torch', 'torch-bfloat16'), _torch),
  **dict.fromkeys(('ctranslate2', 'ctranslate2-int8'), _ctranslate2),
}
PACKAGES = {  # that a side is made with
  _torch: ('torch', 'transformers'),
  _ctranslate2: ('ctranslate2', 'torch', 'transformers'),
}
