"""How plain code is written for each platform, in one table.

The numbers are the same either way, but for rounding; what differs is what the
platform's compiler makes fast. A layer asks for a trait by its name, never for
the platform, so a new platform is one row.
"""

from typing import NamedTuple

from fairjax.core import backend


class PlatformTraits(NamedTuple):
  """Those of an accelerator whose compiler has no row."""

  # Matrix products are a library's, which wants the last axes innermost in
  # memory and few copies of the weights (layers/products.py).
  by_library: bool = False
  # Memory is what products wait for: fewer and wider ones are faster.
  waits_for_memory: bool = True
  # A float32 product is made of shorter numbers unless it is asked for.
  shortens: bool = True
  # Tables are updated in tiles of rows (layers/layer_params.py).
  tiled_tables: bool = True
  # Arrays lie in tiles of 8 × 128, so small axes stay where they are
  # (layers/products.py).
  tiled_arrays: bool = False
  # What the backward pass could compute anew, it does, unless it is kept.
  recomputes: bool = False
  integers: bool = False  # products of 8 bits are faster (layers/int8.py)
  # Tokens of a step that predicts, whose activations a cache holds; 0: any.
  step: int = 0
  copies: int = 128  # masked texts in a step (reading/masked.py)
  # A program takes longer to compile than to run idle places: 11 CPU s a step
  # of SmolLM2's 30 layers on an H200 (decoding/decode_texts.py).
  sparing: bool = True
  # Batches an epoch that repay no second compiled shape (data/batching): one of
  # five stacked MiniLM seeds took 84 to 99 s to compile on an H200.
  few: int = 4096


PLATFORMS = {
  'cpu': PlatformTraits(
    by_library=True,
    waits_for_memory=False,
    shortens=False,
    tiled_tables=False,
    integers=True,
    sparing=False,
    few=64,  # seconds to compile, and seconds a step
    step=768,  # of 2,000 tweets: 3.6 s a pass; of 256 4.9, of 2,048 3.9
    copies=64,  # whose activations a cache holds: 128 took 1.08 × the seconds
  ),
  'gpu': PlatformTraits(recomputes=True),
  'tpu': PlatformTraits(tiled_arrays=True),
}


def platform_traits() -> PlatformTraits:
  """Those of the platform that is compiled for."""
  return PLATFORMS.get(backend.platform(), PlatformTraits())
