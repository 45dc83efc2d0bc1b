"""Config: a generator trained against a discriminator on its logits (MBCDA)."""

import dataclasses

from fairjax.core.knobs import (
  above,
  below,
  between,
  each,
  knob,
  one_of,
)


@dataclasses.dataclass(slots=True)
class Adversary:
  """MBCDA's parallel text, discriminator and grid (mbcda/algorithm.py)."""

  labels: tuple[str, ...] = knob(
    ('filtered', 'unfiltered', 'dictionary'),
    each(one_of('filtered', 'unfiltered', 'dictionary'), least=1),
    changes='measures',
  )
  dropout: float = knob(0.2, below(0, 1))
  lr: float = knob(1e-4, above(0, 10))
  epochs: float = knob(4.0, above(0, 1e6))
  withheld: float = knob(
    0.0, below(0, 1), changes=('adversary', 'texts', 'repair')
  )
  vectors: tuple[int, ...] = knob(
    (50, 100, 300), each(between(2, 4096)), changes='measures'
  )
