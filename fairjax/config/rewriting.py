"""Config: models that rewrite texts, and perturbations of one person."""

import dataclasses
import pathlib

from fairjax.core import paths
from fairjax.core.knobs import (
  at_least,
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
    SOURCES,
    each(one_of(*SOURCES, 'panda'), least=1),
    changes='rewriting',
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
