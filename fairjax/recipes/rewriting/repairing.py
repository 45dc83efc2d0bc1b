"""Error correction of swapped texts: detector, masks, filler.

    texts → detector's logits → odd words → masks → filled → table

The texts go through the detector packed by length; a text without an odd word
goes no further, and of the others nothing but the masks is written.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax.config import Config
from fairjax.core import backend
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption
from fairjax.data.batching.tokens import ragged
from fairjax.models import Bundle, families
from fairjax.models.build import precision
from fairjax.models.decoding import decode_texts
from fairjax.models.decoding.decode import Options
from fairjax.models.folders import folder as folders
from fairjax.models.folders import hf, hub
from fairjax.models.reading import detect, fill
from fairjax.pairs import attributes, repair
from fairjax.pairs.repair import Span

SPAN = Options(min_span=1)  # a masked word is never just dropped
# θ: a token that the detector scores above it is odd. 0 in MBCDA's paper, -1 in
# the code of both papers.
THETA = 0.0


def load(config: Config) -> tuple[Bundle, Bundle]:
  """The detector and the filler that the config names."""
  options, kind = config.repair, precision(config)
  known = families.find(hf.read_shape(options.detector).family)
  capability = 'detect' if 'detect' in known.heads else 'mask'
  detector = folders.load(options.detector, capability, kind)
  name = options.filler or config.model
  folder = hub.find(name)
  if folder is None:
    raise UserError(
      f'repair.filler is empty and model {name!r} has no weights; name a BART '
      'or a masked language model with --config.repair.filler'
    )
  family = families.find(hf.read_shape(folder).family)
  can = 'infill' if 'infill' in family.heads else 'mask'
  return detector, folders.load(name, can, kind)


def odd(detector: Bundle, texts: Sequence[str]) -> list[list[Span]]:
  """The odd words of each text; of one that is too long none are known."""
  if not len(texts):
    return []
  encodings = detector.tokenizer.encode_batch(list(texts))
  fits = [len(one.ids) <= detector.longest for one in encodings]
  ids = [np.array(e.ids, np.int32) for e, ok in zip(encodings, fits) if ok]
  pieces = ragged(ids)
  logits = detect.logits(
    detector.module, detector.params, pieces, can=detector.can
  )
  each = iter(pieces.split(logits))
  words = lambda one: repair.odd_words(
    one.offsets, one.word_ids, (np.asarray(next(each)) > THETA).tolist()
  )
  return [words(one) if ok else [] for one, ok in zip(encodings, fits)]


def repaired(
  config: Config, helpers: tuple[Bundle, Bundle] | None, swaps: Sequence[str]
) -> pd.DataFrame:
  """A row a text: swap, mask, repair, how many words were odd, if it fits."""
  swaps = list(swaps)
  detector, filler = helpers or load(config)
  spans = odd(detector, swaps)
  mask, _ = fill.mask_of(filler.tokenizer)
  # A BART takes masks side by side for one; a masked LM fills each by a token.
  merge = filler.can == 'infill'
  masks = [
    # A text that holds a mask of its own stays as it is.
    repair.masked(text, [] if mask in text else one, merge, mask)
    for text, one in zip(swaps, spans)
  ]
  texts = _written(config, filler, swaps, masks)
  return pd.DataFrame(
    {
      'swap': swaps,
      'mask': [one.text for one in masks],
      'repair': texts,
      'odd': [len(one.spans) for one in masks],
    }
  )


def _written(
  config: Config,
  filler: Bundle,
  swaps: Sequence[str],
  masks: Sequence[repair.Masked],
) -> list[str]:
  """The texts with their masks filled; those without one are not read."""
  out = list(swaps)
  rows = [i for i, one in enumerate(masks) if one.spans]
  fits = _fitting(filler, [masks[i].text for i in rows])
  rows = [i for i, ok in zip(rows, fits) if ok]
  if not rows:
    return out
  texts = [masks[i].text for i in rows]
  params = filler.params
  if filler.can == 'infill':
    products = backend.inference(config.net.precision)
    params = decode_texts.ready(filler.module, params, products)
  args = filler.module, params, filler.tokenizer, texts
  if filler.can == 'infill':
    result = fill.infill_texts(*args, SPAN)
  else:
    # Tokens that cannot stand for a word: pieces and punctuation.
    words = corruption.vocabulary(filler.tokenizer)
    able = np.array(words.begins) & ~np.array(words.special)
    names = filler.tokenizer.decode_batch([[k] for k in range(words.size)])
    able &= np.array([attributes.is_word(name.strip()) for name in names])
    never = np.flatnonzero(~able).tolist()
    result = fill.fill_texts(*args, never=never)
  for i, spans in zip(rows, result.spans):
    out[i] = repair.filled(masks[i], swaps[i], spans)
  return out


def _fitting(filler: Bundle, texts: Sequence[str]) -> list:
  """Which texts the filler has places for, filled."""
  encoded = filler.tokenizer.encode_batch_fast(list(texts))
  _, mask = fill.mask_of(filler.tokenizer)
  room = [
    len(one.ids) + 1 + (SPAN.max_span - 1) * one.ids.count(mask)
    if filler.can == 'infill'
    else len(one.ids)
    for one in encoded
  ]
  return [count <= filler.longest for count in room]
