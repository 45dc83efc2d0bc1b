"""Recipes by name; adding one is one file and one line here."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fairjax.config.language import Generate
from fairjax.core.registry import Entry, installed, listed


class Recipe(NamedTuple):
  """A recipe by its address, and all that shared rooms know of it.

  `ignores` maps each knob that does nothing in it, of the sections that its
  command shows, to the knob that does it ('': none).
  """

  target: str  # run(config: Config, folder: pathlib.Path) -> results.Results
  about: str  # one line, shown by `python -m fairjax.main --list`
  ignores: Mapping[str, str] = {}
  reads_text: bool = False  # the sentence --config.text
  writes: bool = False  # its model only writes texts, so int8 will do
  continues: bool = False  # its model continues prompts: no masked one can
  exports: bool = True  # it keeps classifiers that train.export can write
  takes_method: bool = True  # else it trains on the rows as they are
  data_at: str = ''  # the knob that names its data, if not data.name
  seeds_at: str = ''  # the knob of how many models it trains, if not seeds
  remade: bool = False  # its one fit is made again from its config
  measures: str = 'texts'  # what its page calls 100 of
  # Whether models may be asked; else the run starts without jax.
  computes: Callable[[Any], bool] = lambda config: True
  # A sentence and the command to type next, of {run} or made {again}.
  then: tuple[str, ...] = ()


def _none_of(*names: str) -> dict[str, str]:
  return dict.fromkeys(names, '')


# What belongs to the decisions of a classifier.
_DECIDED = _none_of(
  *('measures.groups', 'measures.sets', 'measures.threshold'),
  *('measures.templates', 'measures.axis', 'measures.madlibs'),
  'measures.gender_file',
)
_SIZED = _none_of('measures.min_group')
_SEEDS = _none_of('seeds')  # nothing is trained, or as many as there are
_TEXTS = {**_DECIDED, **_SIZED}
# Of a data-side method, beside the words that a swap exchanges.
_METHOD = _none_of(
  *('method.name', 'method.ratio', 'method.rank', 'method.by', 'method.how'),
  *('method.table', 'method.terms', 'method.replacement'),
  *('method.keep_equal', 'method.compare'),
)

RECIPES = {
  'train': Recipe(
    'fairjax.recipes.train:run',
    'one classifier, measured and reported',
    ignores={'method.compare': 'recipe=compare'},
    remade=True,
  ),
  'logit_pairing': Recipe(
    'fairjax.recipes.logit_pairing:run',
    'logits of a text and its twin drawn together (Garg et al. 2019)',
    exports=False,
  ),
  'diet': Recipe(
    'fairjax.recipes.diet.experiment:run',
    'probe, scores, healthy diet, model, tests',
    ignores={
      'method.rank': 'diet.ranking',
      'method.compare': 'diet.compare',
      **_none_of('method.table', 'method.terms'),
    },
  ),
  'rank': Recipe(
    'fairjax.recipes.diet.rank:run',
    'many diets as one job, and the best of them',
    exports=False,
  ),
  'overlap': Recipe(
    'fairjax.recipes.diet.overlap:run',
    'do seeds, epochs, models choose one diet?',
    exports=False,
    takes_method=False,
  ),
  'compare': Recipe(
    'fairjax.recipes.compare:run', 'each data-side method against none'
  ),
  'weighting': Recipe(
    'fairjax.recipes.weighting.experiment:run',
    'instance weights against the baseline',
  ),
  'audit': Recipe(
    'fairjax.recipes.audit.recipe:run',
    'any classifier, or its predictions alone, into one page',
    computes=lambda config: config.audit.computes,
    then=(
      'Next, let a build fail where this gets worse:',
      "{again} --config.audit.fail_if='eqodd<0.8'",
    ),
    ignores={
      **_METHOD,
      **_SEEDS,
      'data.test_path': 'data.path',
      'data.twin_path': 'audit.swaps',
    },
  ),
  'swap': Recipe(
    'fairjax.recipes.swap:run',
    'the counterfactual of a text',
    ignores={**_METHOD, **_TEXTS, **_SEEDS},
    reads_text=True,
  ),
  'norms': Recipe(
    'fairjax.recipes.norms:run',
    'exact gradient norms and other scores of rows, by a model that is there',
    ignores={**_METHOD, **_TEXTS, **_SEEDS},
    exports=False,
  ),
  'harness': Recipe(
    'fairjax.recipes.harness:run',
    'two logs of lm-evaluation-harness or inspect, sample by sample',
    ignores={
      **_METHOD,
      **_SEEDS,
      **_none_of(*(f'measures.{k}' for k in ('sets', 'threshold', 'groups'))),
    },
    exports=False,
  ),
  'likelihood': Recipe(
    'fairjax.recipes.language.likelihood:run',
    'perplexity of texts, with intervals',
    ignores={**_TEXTS, **_SEEDS},
  ),
  'benchmarks': Recipe(
    'fairjax.recipes.benchmarks.experiment:run',
    'bias benchmarks of a language model, with intervals and tests',
    then=(
      'Next, erase the direction of gender, and measure again:',
      '{again} --config.benchmarks.mitigations=leace --config.data.path=my.csv',
    ),
    ignores={
      **_TEXTS,
      **_SEEDS,
      **_none_of(*(f'generate.{f.name}' for f in dataclasses.fields(Generate))),
      'measures.axis': 'method.axis',
      **_none_of('data.valid_path', 'data.test_path', 'data.twin_path'),
      **_none_of('data.text_pair', 'data.group', 'data.twin', 'data.split'),
    },
  ),
  'generate': Recipe(
    'fairjax.recipes.language.generate_corpus:run',
    'texts written or filled, whole folders',
    ignores={**_TEXTS, **_SEEDS},
    writes=True,
  ),
  'writing': Recipe(
    'fairjax.recipes.writing.experiment:run',
    'what a model writes of whom: prompts, texts, scores, gaps',
    then=(
      'Next, let a build fail where this gets worse:',
      "{again} --config.audit.fail_if='dp<0.8'",
    ),
    ignores={
      **_DECIDED,
      'generate.max_span': '',
      'generate.task': '',
      'measures.groups': 'writing.axes',
      'measures.axis': 'writing.axes',
      'measures.sets': 'writing.prompts',
      'measures.templates': 'writing.prompts',
      'measures.threshold': 'writing.bound',
      'measures.pos_label': 'data.positive',
      'seeds': 'writing.samples',
    },
    writes=True,
    continues=True,
    measures='texts after prompts',
  ),
  'augment_corpus': Recipe(
    'fairjax.recipes.language.augment_corpus:run',
    'counterfactuals of whole folders',
    ignores={**_TEXTS, **_SEEDS},
  ),
  'fairflow': Recipe(
    'fairjax.recipes.fairflow.experiment:run',
    'counterfactual words from one pair of words',
    ignores={**_DECIDED, **_SIZED},
    exports=False,
    then=(
      'Next, exchange words by this dictionary:',
      "fairjax swap 'He is a doctor.' --words {run}/dictionary.csv",
    ),
  ),
  'counterfactual_texts': Recipe(
    'fairjax.recipes.rewriting.counterfactual_texts:run',
    'swaps, repairs and generators against one another',
    exports=False,
    seeds_at='rewriters.generators',
  ),
  'mbcda': Recipe(
    'fairjax.recipes.mbcda.experiment:run',
    'generators with and without a discriminator on their logits',
    exports=False,
    seeds_at='rewriters.generators',
  ),
  'perturber': Recipe(
    'fairjax.recipes.perturbation.perturber:run',
    'a model that rewrites one person of a text, beside rules',
    ignores={**_DECIDED, **_SIZED},
    data_at='perturb.sources',
  ),
  'perturb_corpus': Recipe(
    'fairjax.recipes.perturbation.perturb_corpus:run',
    'whole folders with one person of each text rewritten',
    ignores={**_TEXTS, **_SEEDS},
    writes=True,
  ),
  'fairberta': Recipe(
    'fairjax.recipes.perturbation.fairberta:run',
    'two masked LMs alike, one on perturbed text',
    ignores={**_TEXTS, 'corpus.path': 'data.path', 'corpus.out': ''},
  ),
  'fairscore': Recipe(
    'fairjax.recipes.perturbation.fairscore:run',
    'how often a classifier changes its mind under perturbation',
    ignores=_SEEDS,
    data_at='fairscore.path',
  ),
  'fairtune': Recipe(
    'fairjax.recipes.perturbation.fairtune:run',
    'a classifier tuned on perturbed text, and fairscore beside its floor',
    takes_method=False,
  ),
  'pretrain': Recipe(
    'fairjax.recipes.language.pretrain:trained',
    'a language model, from plain text',
    ignores=_TEXTS,
  ),
}

installed('recipes', RECIPES, lambda point, of: Recipe(*listed(point, of)))

# Each is f(judge, texts, experiment, folder) -> models.reading.judge.Judge; the
# texts are what it may be fitted on, the folder is where it may write.
MITIGATIONS = {
  name: Entry(f'fairjax.recipes.benchmarks.mitigations:{name}', about)
  for name, about in {
    'leace': 'the least change after which gender cannot be read linearly',
    'inlp': 'the nullspace of linear classifiers of gender',
    'sentence': 'SentenceDebias: the direction between texts and twins',
    'continued': 'a control: pretraining continues on texts about people',
    'counterfactual': 'pretraining continues on texts about people and their '
    'twins, her as his or him by sense',
    'cda': 'pretraining continues on texts about people and twins word by '
    'word, as bias-bench makes them',
    'dropout': 'pretraining continues with more dropout',
    'self_debias': 'what a sentence about bias makes likelier is taken back',
  }.items()
}

# Papers, and the recipes that measure what they claim (report/claims.py).
PAPERS = {
  'Healthy data diet (Zayed et al. 2023)': ('diet', 'rank', 'overlap'),
  'Instance weights (Zhang et al. 2020)': ('weighting',),
  'FairFlow (Tokpo and Calders 2024)': ('fairflow', 'counterfactual_texts'),
  'MBCDA (Tokpo and Calders 2023)': ('mbcda',),
  # The last two are what earlier runs, which are kept, called parts of these.
  'Perturbation augmentation (Qian et al. 2022)': (
    *('fairtune', 'perturber', 'fairberta'),
    *('fairtune_glue', 'fairberta_planted'),
  ),
}
