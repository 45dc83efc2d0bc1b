"""Config: data-side methods, example scores, diets, instance weights."""

import dataclasses

from fairjax.knobs import (
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

RANKING = entry('fairjax.methods.diet:RANKINGS')


@dataclasses.dataclass
class Method:
  """The data-side method: a function table → table."""

  name: str = knob(
    'none',
    "a method of --list, or several: 'augment+reweight'",
    entry('fairjax.methods:METHODS', 'none', joined='+'),
  )
  ratio: float = knob(1.0, 'share added or substituted', at_least(0))
  rank: str = knob('random', "which rows first: a score, or 'random'", filled)
  direction: str = knob(
    'opposite',
    'of a swap: opposite, male, female, neutral',
    one_of('opposite', 'male', 'female', 'neutral'),
    changes=('data', 'texts'),
  )
  scope: str = knob(
    'all',
    "of a swap: 'all' listed words, or 'pronouns' alone",
    one_of('all', 'pronouns'),
    changes=('data', 'texts'),
  )
  reflexive: str = knob(
    'themselves',
    "of direction neutral: 'themselves' or 'themself'",
    one_of('themselves', 'themself'),
    changes=('data', 'texts'),
  )
  names: bool = knob(True, 'swap person names too', changes=('data', 'texts'))
  names_file: str = knob(
    '',
    "yobYYYY.txt, their folder, or name,sex,count; '' ours",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  tagger: str = knob(
    '',
    "'spacy:MODEL' for her and his; '' decides by rules",
    form(r'(spacy:\S+)?', "'spacy:MODEL' or '' is needed"),
    changes=('data', 'texts'),
  )
  words: str = knob(
    '',
    "file of word pairs or groups; '' our own gender list",
    existing,
    changes=('data', 'texts'),
    path=True,
  )
  by: str = knob('group,label', 'columns that a balance equalises', filled)
  how: str = knob('', "a method's own variant; '' is its default")
  table: str = knob('', 'second table (supplement)', existing, path=True)
  terms: str = knob(
    '', 'file of identity terms, one a line', existing, path=True
  )
  epsilon: float = knob(
    0.01, 'tolerance of the simple supplement rule', between(0, 1)
  )
  replacement: bool = knob(False, 'draw with replacement, as the reference')
  keep_equal: bool = knob(False, 'add twins that equal their original')
  compare: tuple[str, ...] = knob(
    (), 'of recipe compare; () all that apply', changes=()
  )


@dataclasses.dataclass
class Scoring:
  """Example scores (scores/)."""

  names: tuple[str, ...] = knob(
    ('ge', 'el2n'), 'scores of --list', each(entry('fairjax.scores:SCORES'))
  )
  epochs: float = knob(1.0, "length of the probe's own schedule", above(0, 1e6))
  at: str = knob(
    'end',
    "'end' of the probe's run, 'start', or 'epoch K'",
    form(
      r'end|start|epoch \d+(\.\d+)?', "'end', 'start' or 'epoch K' is needed"
    ),
  )
  path: str = knob(
    '',
    "a scores file of the user's; nothing is computed then",
    existing,
    path=True,
  )
  never: str = knob(
    'max',
    'forgetting of never-learned rows: max, inf, zero',
    one_of('max', 'inf', 'zero'),
  )


@dataclasses.dataclass
class Diet:
  """Which rows a diet takes (methods/diet.py)."""

  ranking: str = knob(
    'healthy_random', 'one of RANKINGS in methods/diet.py', RANKING
  )
  factual: float = knob(0.4, 'a: share of the factual rows', between(0, 1))
  counterfactual: float = knob(0.4, 'b: share of the twins', between(0, 1))
  replacement: bool = knob(False, 'draw with replacement, as the reference')
  keep_equal: bool = knob(False, 'add twins that equal their original')
  twins: str = knob(
    '', "'' the data's own, if any; 'swap' by word lists", one_of('', 'swap')
  )
  compare: tuple[str, ...] = knob(
    ('none',), 'rankings trained beside it', each(RANKING), changes=()
  )


@dataclasses.dataclass
class Grid:
  """Experiments over many diets as one job."""

  rankings: tuple[str, ...] = knob(
    ('healthy_random', 'unhealthy_random', 'vanilla_ge', 'random'),
    'of experiment 2',
    each(RANKING, least=1),
    changes=(),
  )
  factual: tuple[float, ...] = knob(
    (0.3, 0.4, 0.5),
    'a of experiment 2',
    each(between(0, 1), least=1),
    changes=(),
  )
  counterfactual: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    'b',
    each(between(0, 1), least=1),
    changes=(),
  )
  augment: tuple[str, ...] = knob(
    ('ge', 'el2n', 'forgetting', 'grand', 'random'),
    '',
    each(entry('fairjax.scores:SCORES', 'random')),
    changes=(),
  )
  shares: tuple[float, ...] = knob(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0),
    '',
    each(between(0, 1), least=1),
    changes=(),
  )
  models: tuple[str, ...] = knob(
    (), 'other models of the overlap study', each(filled), changes=()
  )
  cells: str = knob(
    '', "some only: '0,3,5-9'; 'none' scores; '' all, merged", changes=()
  )
  budget: float = knob(
    0.03, 'largest AUC loss of a chosen diet', below(0, 1), changes='measures'
  )


@dataclasses.dataclass
class Weighting:
  """Instance weights (methods/reweight.py)."""

  z: str = knob(
    'gender',
    "'gender', 'terms', 'identity', or 'columns:a,b'",
    form(
      r'gender|terms|identity|columns:.*\S.*',
      "'gender', 'terms', 'identity' or 'columns:a,b' is needed",
    ),
  )
  terms: str = knob(
    '', "file of terms, one a line; '' our own list", existing, path=True
  )
  how: str = knob(
    'words',
    "how terms are sought: 'words' or 'reference' (literal)",
    one_of('words', 'reference'),
  )
  estimator: str = knob(
    'forest',
    "'forest', 'logistic' or 'count'",
    one_of('forest', 'logistic', 'count'),
  )
  n_estimators: int = knob(100, '', between(1, 10**5))
  max_depth: int = knob(18, '', at_least(0))
  criterion: str = knob('entropy', '', one_of('entropy', 'gini', 'log_loss'))
  folds: int = knob(5, 'K of the cross-prediction', at_least(2))
  formula: str = knob(
    'code',
    "'code' (class means 1) or 'paper' (P(y)/P(y|z))",
    one_of('code', 'paper'),
  )
  q: str = knob('', "Q(y) as '0.9,0.1', class 0 first; '' is the data's P(y)")
  max_weight: float = knob(0.0, 'largest weight; 0 is none', at_least(0))
  rows: tuple[str, ...] = knob(
    ('baseline', 'weight'),
    'of recipe weighting',
    each(
      one_of(
        *('baseline', 'weight', 'swap', 'supplement'),
        *('baseline+', 'weight+', 'swap+', 'supplement+'),
      ),
      least=1,
    ),
    changes=(),
  )
