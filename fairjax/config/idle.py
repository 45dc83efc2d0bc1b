"""Config: knobs of a section that a recipe reads, but for these.

They are not shown in the help of the recipe's command, and are refused where
they are set: what a user asks for does not silently stay undone. A recipe
reads none of the sections that its command does not show, or only those of its
own parts; these are not listed here.
"""

import dataclasses

from fairjax.config.language import Generate
from fairjax.core.errors import UserError, shown

# What belongs to the decisions of a classifier; '': no knob takes its place.
_DECIDED = {
  'measures.groups': '',
  'measures.sets': '',
  'measures.threshold': '',
  'measures.templates': '',
  'measures.axis': '',
  'measures.madlibs': '',
  'measures.gender_file': '',
}
_TESTED = {'measures.adjust': ''}  # those there are, are by Holm
_SIZED = {'measures.min_group': ''}
# Of a data-side method, beside the words that a swap exchanges.
_METHOD = {
  f'method.{name}': ''
  for name in (
    *('name', 'ratio', 'rank', 'by', 'how', 'table', 'terms', 'epsilon'),
    *('replacement', 'keep_equal', 'compare'),
  )
}
_SPANS = {f'generate.{k}': '' for k in ('min_span', 'max_span', 'order')}

# {recipe: {knob that does nothing there: the knob that does it}}
IDLE: dict[str, dict[str, str]] = {
  # One classifier: no two are tested, and nothing is compared.
  'train': {**_TESTED, 'method.compare': ''},
  'audit': {
    **_METHOD,
    'data.test_path': 'data.path',
    'data.twin_path': 'audit.swaps',
  },
  'diet': {
    'method.rank': 'diet.ranking',
    'method.keep_equal': 'diet.keep_equal',
    'method.compare': 'diet.compare',
    **{f'method.{k}': '' for k in ('table', 'terms', 'epsilon')},
  },
  'swap': {**_METHOD, **_DECIDED, **_SIZED, **_TESTED},
  'benchmarks': {
    **_DECIDED,
    **_SIZED,
    **_TESTED,
    **{f'generate.{field.name}': '' for field in dataclasses.fields(Generate)},
    'measures.axis': 'method.axis',
    'data.limit': 'benchmarks.limit',
    **{f'data.{k}_path': '' for k in ('valid', 'test', 'twin')},
    **{f'data.{k}': '' for k in ('text_pair', 'group', 'twin', 'split')},
  },
  'writing': {
    **_DECIDED,
    **_TESTED,
    **_SPANS,
    'generate.task': '',
    'measures.groups': 'writing.axes',
    'measures.axis': 'writing.axes',
    'measures.sets': 'writing.prompts',
    'measures.templates': 'writing.prompts',
    'measures.threshold': 'writing.bound',
    'measures.pos_label': 'writing.positive',
    'data.positive': 'writing.positive',
  },
  **{
    recipe: {**_DECIDED, **_SIZED, **_TESTED}
    for recipe in (
      *('likelihood', 'generate', 'augment_corpus', 'perturb_corpus'),
      *('pretrain', 'fairberta', 'fairberta_planted', 'benchmarks_planted'),
    )
  },
  **{recipe: {**_DECIDED, **_SIZED} for recipe in ('fairflow', 'perturber')},
}
# Nothing is trained, or as many models as there are: no number of runs.
for _recipe in (
  *('audit', 'benchmarks', 'writing', 'swap', 'likelihood', 'generate'),
  *('augment_corpus', 'perturb_corpus', 'fairscore'),
):
  IDLE[_recipe] = IDLE.get(_recipe, {}) | {'seeds': ''}
IDLE['writing']['seeds'] = 'writing.samples'
IDLE['fairberta'] |= {'corpus.path': 'data.path', 'corpus.out': ''}


SENTENCE = {'text': 'data.text'}  # of recipe swap alone; elsewhere a column

# Knobs of test sets: {knob: the set of measures.sets that reads it}.
OF_SET = {
  'measures.templates': 'identity',
  'measures.axis': 'identity',
  'measures.madlibs': 'madlibs',
  'measures.gender_file': 'gender_file',
}


def refuse_unmeasured(name: str, value: object, sets: tuple[str, ...]) -> None:
  """Raises UserError where a file or axis is of a set that is not measured."""
  own = OF_SET.get(name)
  if own and own not in sets:
    raise UserError(
      f'{name} is {shown(value, 180)}, which test set {own} reads, and '
      f'measures.sets is {", ".join(sets)}: take --config.measures.sets='
      f'{",".join((*sets, own))}, or leave it out'
    )


def refuse(recipe: str, name: str, value: object) -> None:
  """Raises UserError where a knob that was set does nothing in the recipe."""
  if name == 'seeds' and value == 1:
    return  # what is there is one run
  idle = IDLE.get(recipe, {}) | ({} if recipe == 'swap' else SENTENCE)
  if name in idle:
    remedy = f'take --config.{idle[name]}, or ' if idle[name] else ''
    raise UserError(
      where=name,
      got=value,
      expected=f'recipe {recipe!r} does not read it',
      remedy=f'{remedy}leave it out',
    )
