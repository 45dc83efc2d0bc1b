"""Config: a generator trained against a discriminator on its logits (MBCDA)."""

import dataclasses

from fairjax.core.knobs import (
  above,
  at_least,
  below,
  between,
  each,
  existing,
  knob,
  one_of,
)


@dataclasses.dataclass(slots=True)
class Adversary:
  """MBCDA's parallel text, discriminator and grid (mbcda/recipe.py)."""

  labels: tuple[str, ...] = knob(
    ('filtered', 'unfiltered', 'dictionary'),
    "targets that are learned: swaps repaired and 'filtered', repaired alone "
    "('unfiltered'), or as they are ('dictionary')",
    each(one_of('filtered', 'unfiltered', 'dictionary'), least=1),
    changes='measures',
  )
  players: tuple[str, ...] = knob(
    ('with', 'without'),
    "generators trained 'with' the discriminator, and 'without'",
    each(one_of('with', 'without'), least=1),
    changes='measures',
  )
  weight: float = knob(
    1.0, "w of the discriminator's loss beside the token loss", at_least(0)
  )
  regime: str = knob(
    'before',
    "the discriminator is trained 'before' the generator, or 'alternating'",
    one_of('before', 'alternating'),
  )
  dropout: float = knob(
    0.2, 'dropout before each layer of the discriminator', below(0, 1)
  )
  centred: bool = knob(
    True,
    "the discriminator reads logits less their place's mean, which softmax "
    'ignores; false is as published',
  )
  noise: str = knob(
    'states',
    "dropout in the discriminator's own training is of 'states' (folded), or "
    "of 'logits' (in chunks)",
    one_of('states', 'logits'),
  )
  lr: float = knob(
    1e-4, 'peak learning rate of the discriminator', above(0, 10)
  )
  epochs: float = knob(
    4.0, 'passes of the discriminator over the pairs', above(0, 1e6)
  )
  control: bool = knob(
    True,
    'also train a discriminator on shuffled labels, for comparison',
    changes='measures',
  )
  confidence: float = knob(
    0.5,
    'the filter keeps rewrites whose other group has at least this chance',
    between(0, 1),
    changes='texts',
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
  corpus_rows: int = knob(
    10_000,
    'sentences of adversary.corpus, half of either gender',
    at_least(40),
    changes=(),
  )
  vectors: tuple[int, ...] = knob(
    (50, 100, 300),
    'widths of word vectors trained on each text; () leaves them out',
    each(between(2, 4096)),
    changes='measures',
  )
  sheet: int = knob(
    100,
    'pairs of a contender on the sheet for people',
    at_least(0),
    changes='measures',
  )
