"""Config: what rewrites texts: perturbers of a person, FairFlow, MBCDA."""

import dataclasses
import pathlib

from fairjax.core import paths
from fairjax.core.knobs import (
  above,
  at_least,
  below,
  between,
  each,
  existing,
  knob,
  one_of,
  rule,
)

# Those of GLUE's tasks that Qian et al. (2022) fairtune on.
GLUE = ('cola', 'sst2', 'stsb', 'qqp', 'rte', 'qnli')
# What a person may become, by axis (persons/perturb.py): the paper's three as
# it has them, and the values of the other tables of data/axes.
AXES = {
  axis: tuple(names.split())
  for axis, names in paths.csv_lines(
    pathlib.Path(__file__).with_name('persons.csv'), 'table of persons'
  )[1:]
}
# Those of Qian et al. (2022), and what a perturber learns from by itself.
PAPER_AXES = ('gender', 'race', 'age')
SOURCES = ('geco', 'gap', 'winobias', 'winogender', 'descriptors')


_an_axis = rule(
  lambda value: value in AXES or any(value in v for v in AXES.values()),
  f'{", ".join(AXES)}, or a value of one, as man, woman, non-binary; black, '
  'white, asian; child, senior; muslim, christian',
  'it must be {}',
)


@dataclasses.dataclass(slots=True)
class Perturb:
  """Rewriting one person of a text (recipes/perturbation/)."""

  sources: tuple[str, ...] = knob(
    SOURCES, each(one_of(*SOURCES, 'panda'), least=1), changes='rewriting'
  )
  data: str = knob('', existing, changes='rewriting', path=True)
  learner: str = knob(
    'rewriter', one_of('rewriter', 'tagger'), changes='rewriting'
  )
  by: str = knob('rules', one_of('rules', 'word', 'dictionary', 'model'))
  model: str = knob('', existing, path=True)
  axes: tuple[str, ...] = knob(PAPER_AXES, each(_an_axis, least=1))
  tested: int = knob(400, at_least(1), changes='measures')


@dataclasses.dataclass(slots=True)
class Fairscore:
  """How often predictions change under perturbation (texts/fairscore.py)."""

  path: str = knob('', existing, path=True)
  by: tuple[str, ...] = knob(
    ('rules', 'dictionary'),
    each(one_of('rules', 'word', 'dictionary', 'model'), least=1),
  )
  tolerance: float = knob(0.0, at_least(0), changes='measures')
  sweep: bool = knob(False)
  tasks: tuple[str, ...] = knob((), each(one_of(*GLUE, 'mrpc')), changes=())


@dataclasses.dataclass(slots=True)
class FairFlow:
  """From one pair of words to a dictionary (fairflow/algorithm.py)."""

  first: str = knob('')
  second: str = knob('')
  share: float = knob(1.0, above(0, 1))
  layers: int = knob(1, at_least(1))
  seed_cap: int = knob(3000, at_least(2))
  cap: int = knob(30, at_least(1))
  min_count: int = knob(5, at_least(1))
  grow: int = knob(0, at_least(0))
  head: str = knob('mlp', one_of('mlp', 'lda'))
  head_lr: float = knob(2e-5, above(0, 10))
  head_epochs: float = knob(12.0, above(0, 1e6))
  threshold: float = knob(3.0, at_least(0))
  word_share: float = knob(0.5, between(0, 1))
  whiten: str = knob('none', one_of('none', 'white'), changes='flow')
  steps: int = knob(6, between(1, 1024), changes='flow')
  hidden: int = knob(100, between(1, 2**16), changes='flow')
  factor: int = knob(0, at_least(-1), changes='flow')
  rho: float = knob(0.98, below(0, 1), changes='flow')
  margin: float = knob(0.0, at_least(0), changes='flow')
  leak: float = knob(0.0, at_least(0), changes='flow')
  move: str = knob('mean', one_of('mean', 'sample', 'shift'), changes='words')
  decoder: str = knob('head', one_of('head', 'nearest'), changes='words')
  candidates: str = knob(
    'all', one_of('all', 'others', 'side'), changes='words'
  )
  votes: str = knob(
    'mutual', one_of('mutual', 'paper', 'directed'), changes='words'
  )
  min_along: float = knob(-1.0, between(-1, 1), changes='words')
  known: str = knob('', existing, changes='measures', path=True)
  way: str = knob(
    'flow',
    one_of('flow', 'difference', 'discriminant', 'procrustes'),
    changes='words',
  )
  rivals: tuple[str, ...] = knob(
    ('difference', 'discriminant', 'procrustes', 'masked', 'no_factor'),
    each(
      one_of('difference', 'discriminant', 'procrustes', 'masked', 'no_factor')
    ),
    changes='measures',
  )


@dataclasses.dataclass(slots=True)
class Repair:
  """Error correction of swapped texts (rewriting/repairing.py)."""

  detector: str = knob('', existing, path=True)
  filler: str = knob('', existing, path=True)


@dataclasses.dataclass(slots=True)
class Rewriters:
  """Rewritten texts, trained on and judged (rewriting/contenders.py)."""

  generator: str = knob('', path=True)
  lr: float = knob(5e-5, above(0, 10))
  batch: int = knob(32, between(1, 2**16))
  patience: int = knob(2, at_least(0))
  epochs: float = knob(10.0, above(0, 1e6))
  positive: str = knob('')
  fluency: str = knob('', existing, path=True)
  seeds: int = knob(3, between(1, 1000))
  generators: int = knob(1, between(1, 100))
  contenders: tuple[str, ...] = knob(
    ('dictionary', 'fairflow'), each(one_of('dictionary', 'fairflow'), least=1)
  )
  imbalance: float = knob(0.0, below(0, 1))
  gold: str = knob('', existing, path=True)
  gold_rows: int = knob(0, at_least(0))


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
