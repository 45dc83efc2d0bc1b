"""Config: data-side methods, example scores, diets, instance weights."""

import dataclasses

from fairjax.config.axes import an_axis
from fairjax.core.knobs import (
  above,
  at_least,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  one_of,
)

RANKINGS = 'fairjax.methods.diet_rows:RANKINGS'
RANKING = entry(RANKINGS)
# What a diet is compared with: rankings, and the methods that are none.
RIVAL = entry(RANKINGS, 'blind', 'balance')


@dataclasses.dataclass(slots=True)
class Method:
  """The data-side method: a function table → table."""

  name: str = knob('none', entry('fairjax.methods:METHODS', 'none', joined='+'))
  ratio: float = knob(1.0, between(0, 1))
  rank: str = knob('random', filled)
  direction: str = knob('opposite', filled, changes=('data', 'texts'))
  axis: str = knob('gender', an_axis, changes=('data', 'texts'), path=True)
  scope: str = knob('all', one_of('all', 'pronouns'), changes=('data', 'texts'))
  names: bool = knob(True, changes=('data', 'texts'))
  names_file: str = knob('', existing, changes=('data', 'texts'), path=True)
  tagger: str = knob(
    '', form(r'(spacy:\S+)?', "'spacy:MODEL' or ''"), changes=('data', 'texts')
  )
  words: str = knob('', existing, changes=('data', 'texts'), path=True)
  by: str = knob('group,label', filled)
  how: str = knob('')
  table: str = knob('', existing, path=True)
  terms: str = knob('', existing, path=True)
  replacement: bool = knob(False)
  keep_equal: bool = knob(False)
  compare: tuple[str, ...] = knob((), changes=())


@dataclasses.dataclass(slots=True)
class Scoring:
  """Example scores (scores/)."""

  names: tuple[str, ...] = knob(
    ('ge', 'el2n'), each(entry('fairjax.scores:SCORES'))
  )
  epochs: float = knob(1.0, above(0, 1e6))
  at: str = knob(
    'end', form(r'end|start|epoch \d+(\.\d+)?', "'end', 'start' or 'epoch K'")
  )
  path: str = knob('', existing, path=True)


@dataclasses.dataclass(slots=True)
class Diet:
  """Which rows a diet takes (methods/diet_rows.py)."""

  ranking: str = knob('healthy_random', RANKING)
  factual: float = knob(0.4, between(0, 1))
  counterfactual: float = knob(0.4, between(0, 1))
  compare: tuple[str, ...] = knob(('none',), each(RIVAL), changes=())


@dataclasses.dataclass(slots=True)
class Grid:
  """Experiments over many diets as one job."""

  rankings: tuple[str, ...] = knob(
    ('healthy_random', 'unhealthy_random', 'vanilla_ge', 'random'),
    each(RANKING, least=1),
  )
  factual: tuple[float, ...] = knob(
    (0.3, 0.4, 0.5), each(between(0, 1), least=1)
  )
  counterfactual: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), each(between(0, 1), least=1)
  )
  augment: tuple[str, ...] = knob(
    ('ge', 'el2n', 'forgetting', 'grand', 'random'),
    each(entry('fairjax.scores:SCORES', 'random')),
  )
  shares: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0), each(between(0, 1), least=1)
  )
  models: tuple[str, ...] = knob((), each(filled))
  cells: str = knob('')


@dataclasses.dataclass(slots=True)
class Weighting:
  """Instance weights (methods/reweight.py)."""

  z: str = knob(
    'gender',
    form(
      r'gender|terms|identity|group|columns:.*\S.*',
      "'gender', 'terms', 'identity', 'group' or 'columns:a,b'",
    ),
  )
  estimator: str = knob('forest', one_of('forest', 'logistic', 'count'))
  n_estimators: int = knob(100, between(1, 10**5))
  max_depth: int = knob(18, at_least(0))
  folds: int = knob(5, at_least(2))
  max_weight: float = knob(0.0, at_least(0))
  rows: tuple[str, ...] = knob(
    ('baseline', 'weight'),
    each(
      one_of(
        *('baseline', 'weight', 'swap', 'supplement'),
        *('baseline+', 'weight+', 'swap+', 'supplement+'),
      ),
      least=1,
    ),
    changes=(),
  )


@dataclasses.dataclass(slots=True)
class Pairing:
  """Counterfactual logit pairing (recipe logit_pairing)."""

  weights: tuple[float, ...] = knob(
    (1.0,), each(at_least(0), least=1), changes=()
  )
