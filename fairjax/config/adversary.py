"""Config: a generator trained against a discriminator on its logits (MBCDA)."""

import dataclasses

from fairjax.core.knobs import (
  above,
  below,
  between,
  each,
  existing,
  knob,
  one_of,
)


@dataclasses.dataclass(slots=True)
class Adversary:
  """MBCDA's parallel text, discriminator and grid (mbcda/algorithm.py)."""

  labels: tuple[str, ...] = knob(
    ('filtered', 'unfiltered', 'dictionary'),
    "targets that are learned: swaps repaired and 'filtered', repaired alone "
    "('unfiltered'), or as they are ('dictionary')",
    each(one_of('filtered', 'unfiltered', 'dictionary'), least=1),
    changes='measures',
  )
  dropout: float = knob(
    0.2, 'dropout before each layer of the discriminator', below(0, 1)
  )
  lr: float = knob(
    1e-4, 'peak learning rate of the discriminator', above(0, 10)
  )
  epochs: float = knob(
    4.0, 'passes of the discriminator over the pairs', above(0, 1e6)
  )
  withheld: float = knob(
    0.0,
    'share of our gender words that the targets leave as they are, so that a '
    'generator may go beyond its list',
    below(0, 1),
    changes=('adversary', 'texts', 'repair'),
  )
  corpus: str = knob(
    '',
    "file or folder of text that the generators learn from; '' takes the "
    'training texts that are rewritten',
    existing,
    changes=(),
    path=True,
  )
  vectors: tuple[int, ...] = knob(
    (50, 100, 300),
    'widths of word vectors trained on each text; () leaves them out',
    each(between(2, 4096)),
    changes='measures',
  )
