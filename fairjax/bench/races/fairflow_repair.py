"""Repairing swapped texts: ELECTRA finds odd words, BART rewrites them.

Ours fills only the masks and runs no text without one. The peer is a loop of
transformers: every text written anew by `generate` (the papers' way), or only
those with a mask. With random weights as many texts are flagged as --flagged
says, and every row ends where its source does.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

import numpy as np

from fairjax.bench.peers.generate_peers import stop_at
from fairjax.bench.peers.text_batches import BATCH, lines, padded
from fairjax.data.batching import corruption, tokens
from fairjax.pairs import repair

SPARE = 20  # tokens that a rewrite may be longer than its source


def prepare(chosen, folder: str) -> None:
  """An ELECTRA and a BART of the model's vocabulary, with random weights."""
  import jax

  from fairjax.models import build, families
  from fairjax.models.folders import hf
  from fairjax.models.pretraining import ends

  tokenizer = tokens.load_tokenizer(chosen.model)
  words = corruption.vocabulary(tokenizer)
  for family, can in (('electra', 'detect'), ('bart', 'infill')):
    shape = families.named(chosen.size, words.size, family, can)
    shape = families.replaced(shape, **ends(shape, words))
    module = families.module(shape, can)
    params = build.from_folder(module, None).init(0)
    if can == 'detect':  # logits that differ from place to place
      params = jax.tree.map(lambda a: a * 5, params)
    place = pathlib.Path(folder, can)
    hf.save(place, module, params)
    tokens.save_tokenizer(tokenizer, place)


def _folders(chosen) -> tuple[str, str]:
  """The detector and the filler: those that are named, or `prepare`'s."""
  return (
    chosen.detector or f'{chosen.folder}/detect',
    chosen.filler or f'{chosen.folder}/infill',
  )


def _config(chosen):
  from fairjax.config import Config

  config = Config(model=chosen.model)
  config.repair.detector, config.repair.filler = _folders(chosen)
  return config


def _threshold(logits: Sequence[np.ndarray], flagged: float) -> float:
  """Above which the largest logit of that share of the texts is."""
  largest = np.array([one[1:-1].max() for one in logits])
  return float(np.quantile(largest, 1 - flagged))


def ours(chosen) -> tuple[Callable, Callable, dict]:
  from fairjax.recipes.rewriting import repairing

  config, texts = _config(chosen), lines(chosen)
  if not chosen.filler:
    # Random weights never end a span; a trained BART writes a token or two.
    repairing.SPAN = dataclasses.replace(repairing.SPAN, max_span=2)
  helpers = repairing.load(config)
  pieces = repairing.read(helpers.detector, texts)
  scores = repairing.scores(helpers.detector, pieces)
  config.repair.threshold = _threshold(scores, chosen.flagged)
  unit = lambda: repairing.repaired(config, helpers, texts)
  check = lambda frame: [config.repair.threshold, int((frame.odd > 0).sum())]
  return unit, check, {'per': 'texts/s', 'items': len(texts)}


def theirs(chosen) -> tuple[Callable, Callable, dict]:
  """ELECTRA in batches, then BART.generate of all texts, or the masked."""
  import torch
  import transformers

  texts = lines(chosen)
  tokenizer = tokens.load_tokenizer(chosen.model)
  places = _folders(chosen)
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

  limit = _threshold(scores()[1], chosen.flagged)

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
