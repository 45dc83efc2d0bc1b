"""Config: data-side methods, example scores, diets, instance weights."""

import dataclasses

from fairjax.config.axes import an_axis
from fairjax.core.knobs import (
  above,
  at_least,
  below,
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
RANKING = entry(RANKINGS, shown='fairjax help diet.ranking')
# What a diet is compared with: rankings, and the methods that are none.
RIVAL = entry(RANKINGS, 'blind', 'balance', shown='fairjax help diet.compare')


@dataclasses.dataclass(slots=True)
class Method:
  """The data-side method: a function table → table."""

  name: str = knob(
    'none',
    "a method of --list, or several joined: 'augment+reweight'",
    entry('fairjax.methods:METHODS', 'none', joined='+'),
  )
  ratio: float = knob(1.0, 'share of rows added or substituted', at_least(0))
  rank: str = knob(
    'random', "order in which rows are chosen: a score, or 'random'", filled
  )
  direction: str = knob(
    'opposite',
    'direction of a swap: opposite, male, female, neutral; or a value of axis',
    filled,
    changes=('data', 'texts'),
  )
  axis: str = knob(
    'gender',
    'what a swap exchanges: gender, race, age, … or a file of an axis',
    an_axis,
    changes=('data', 'texts'),
    path=True,
  )
  scope: str = knob(
    'all',
    "words that are swapped: 'all' listed ones, or 'pronouns'",
    one_of('all', 'pronouns'),
    changes=('data', 'texts'),
  )
  names: bool = knob(
    True, 'also swap first names of persons', changes=('data', 'texts')
  )
  names_file: str = knob(
    '',
    "yobYYYY.txt, a folder of them, or name,sex,count; '' is ours",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  tagger: str = knob(
    '',
    "'spacy:MODEL' disambiguates her and his; '' uses rules",
    form(r'(spacy:\S+)?', "'spacy:MODEL' or ''"),
    changes=('data', 'texts'),
  )
  words: str = knob(
    '',
    "file of word pairs or groups; '' is our gender list",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  by: str = knob('group,label', 'columns that balance equalises', filled)
  how: str = knob(
    '',
    "variant: balance 'down' or 'up', blind 'placeholder' or 'remove', "
    "supplement 'dixon' or 'share', '' is the first; augment and substitute "
    "'all' for validation rows too",
  )
  table: str = knob(
    '', 'second table, of method supplement', existing, path=True
  )
  terms: str = knob(
    '', 'file of identity terms, one per line', existing, path=True
  )
  replacement: bool = knob(
    False, 'sample with replacement, as the reference of the diet does'
  )
  keep_equal: bool = knob(False, 'also add twins that equal their original')
  compare: tuple[str, ...] = knob(
    (), 'methods that recipe compare runs; () runs all that apply', changes=()
  )


@dataclasses.dataclass(slots=True)
class Scoring:
  """Example scores (scores/)."""

  names: tuple[str, ...] = knob(
    ('ge', 'el2n'), 'scores of --list', each(entry('fairjax.scores:SCORES'))
  )
  epochs: float = knob(
    1.0, 'epochs of the probe that scores the rows', above(0, 1e6)
  )
  at: str = knob(
    'end',
    "when the probe is scored: 'start', 'end' or 'epoch K'",
    form(r'end|start|epoch \d+(\.\d+)?', "'end', 'start' or 'epoch K'"),
  )
  path: str = knob(
    '',
    'file of your own scores, used instead of computing them',
    existing,
    path=True,
  )


@dataclasses.dataclass(slots=True)
class Diet:
  """Which rows a diet takes (methods/diet_rows.py)."""

  ranking: str = knob(
    'healthy_random',
    'how rows and twins are ranked: RANKINGS in methods/diet_rows.py',
    RANKING,
  )
  factual: float = knob(
    0.4, 'share of the original rows that is taken (a)', between(0, 1)
  )
  counterfactual: float = knob(
    0.4, 'share of the twins that is taken (b)', between(0, 1)
  )
  twins: str = knob(
    '',
    "'' takes the data's own twins, if any; 'swap' makes them",
    one_of('', 'swap'),
  )
  compare: tuple[str, ...] = knob(
    ('none',),
    'further rankings to train and compare, and the methods blind and balance',
    each(RIVAL),
    changes=(),
  )


@dataclasses.dataclass(slots=True)
class Grid:
  """Experiments over many diets as one job."""

  rankings: tuple[str, ...] = knob(
    ('healthy_random', 'unhealthy_random', 'vanilla_ge', 'random'),
    'rankings of experiment 2',
    each(RANKING, least=1),
    changes=(),
  )
  factual: tuple[float, ...] = knob(
    (0.3, 0.4, 0.5),
    'shares of original rows (a) of experiment 2',
    each(between(0, 1), least=1),
    changes=(),
  )
  counterfactual: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    'shares of twins (b) of experiment 2',
    each(between(0, 1), least=1),
    changes=(),
  )
  augment: tuple[str, ...] = knob(
    ('ge', 'el2n', 'forgetting', 'grand', 'random'),
    'scores of experiment 1, by which twins are added',
    each(entry('fairjax.scores:SCORES', 'random')),
    changes=(),
  )
  shares: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0),
    'shares of twins of experiment 1',
    each(between(0, 1), least=1),
    changes=(),
  )
  models: tuple[str, ...] = knob(
    (), 'further models of the overlap study', each(filled), changes=()
  )
  cells: str = knob(
    '', "cells to run: '0,3,5-9'; 'none' only scores, '' runs all", changes=()
  )
  budget: float = knob(
    0.03,
    'largest share of the AUC of none that a chosen diet may cost',
    below(0, 1),
    changes='measures',
  )


@dataclasses.dataclass(slots=True)
class Weighting:
  """Instance weights (methods/reweight.py)."""

  z: str = knob(
    'gender',
    "demographics: 'gender', 'terms', 'identity' or 'columns:a,b'",
    form(
      r'gender|terms|identity|columns:.*\S.*',
      "'gender', 'terms', 'identity' or 'columns:a,b'",
    ),
  )
  estimator: str = knob(
    'forest',
    "estimator of P(y|z): 'forest', 'logistic' or 'count'",
    one_of('forest', 'logistic', 'count'),
  )
  n_estimators: int = knob(100, 'trees of the forest', between(1, 10**5))
  max_depth: int = knob(
    18, 'largest depth of a tree; 0 is unlimited', at_least(0)
  )
  folds: int = knob(5, 'folds of the cross-prediction', at_least(2))
  max_weight: float = knob(0.0, 'largest weight; 0 is no limit', at_least(0))
  rows: tuple[str, ...] = knob(
    ('baseline', 'weight'),
    'contenders of recipe weighting',
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
    (1.0,),
    'λ of each contender: the weight of the distance between the logits of a '
    'text and of its twin',
    each(at_least(0), least=1),
    changes=(),
  )
