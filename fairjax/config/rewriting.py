"""Config: models that rewrite texts, and perturbations of one person."""

import dataclasses
import pathlib

from fairjax.core import paths
from fairjax.core.knobs import (
  above,
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


_an_attribute = rule(
  lambda value: any(value in names for names in AXES.values()),
  'a value of an axis, as man, woman, non-binary; black, white, asian; child, '
  'senior; muslim, christian',
  'it must be {}',
)


@dataclasses.dataclass(slots=True)
class Rewrite:
  """Fine-tuning on pairs of texts (rewriting/rewriter.py)."""

  family: str = knob('bart', one_of('bart', 'gpt2'))


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
  axes: tuple[str, ...] = knob(PAPER_AXES, each(one_of(*AXES), least=1))
  attributes: tuple[str, ...] = knob((), each(_an_attribute))
  words: str = knob('', existing, path=True)
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
  rates: tuple[float, ...] = knob((), each(above(0, 10)))
  batches: tuple[int, ...] = knob((), each(at_least(1)))
  tasks: tuple[str, ...] = knob((), each(one_of(*GLUE, 'mrpc')), changes=())
