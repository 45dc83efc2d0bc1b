"""Recipes by name; adding one is one file and one line here.

In this room:

  compare  Every method against no mitigation: one table, with paired tests
  swap     One text and its counterfactual, and what was changed
  train    One classifier after one data-side method: trained, measured,
           reported
"""

from fairjax.core.registry import Entry, find

# Each is run(config: Config, folder: pathlib.Path) -> results.Results
RECIPES = {
  'train': Entry(
    'fairjax.recipes.train:run', 'one classifier, measured and reported'
  ),
  'diet': Entry(
    'fairjax.recipes.diet.recipe:run',
    'probe, scores, healthy diet, model, tests',
  ),
  'rank': Entry(
    'fairjax.recipes.diet.rank:run',
    'many diets as one job, and the best of them',
  ),
  'overlap': Entry(
    'fairjax.recipes.diet.overlap:run',
    'do seeds, epochs, models choose one diet?',
  ),
  'compare': Entry(
    'fairjax.recipes.compare:run', 'each data-side method against none'
  ),
  'weighting': Entry(
    'fairjax.recipes.weighting.recipe:run',
    'instance weights against the baseline',
  ),
  'audit': Entry(
    'fairjax.recipes.audit.recipe:run',
    'any classifier, or its predictions alone, into one page',
  ),
  'swap': Entry('fairjax.recipes.swap:run', 'the counterfactual of a text'),
  'likelihood': Entry(
    'fairjax.recipes.language.likelihood:run',
    'perplexity of texts, with intervals',
  ),
  'benchmarks': Entry(
    'fairjax.recipes.benchmarks.recipe:run',
    'bias benchmarks of a language model, with intervals and tests',
  ),
  'benchmarks_planted': Entry(
    'fairjax.recipes.benchmarks.planted:run',
    'which benchmarks see an association that is known',
  ),
  'generate': Entry(
    'fairjax.recipes.language.generate:run',
    'texts written or filled, whole folders',
  ),
  'writing': Entry(
    'fairjax.recipes.writing.recipe:run',
    'what a model writes of whom: prompts, texts, scores, gaps',
  ),
  'augment_corpus': Entry(
    'fairjax.recipes.language.augment_corpus:run',
    'counterfactuals of whole folders',
  ),
  'fairflow': Entry(
    'fairjax.recipes.fairflow.recipe:run',
    'counterfactual words from one pair of words',
  ),
  'counterfactual_texts': Entry(
    'fairjax.recipes.rewriting.counterfactual_texts:run',
    'swaps, repairs and generators against one another',
  ),
  'mbcda': Entry(
    'fairjax.recipes.mbcda.recipe:run',
    'generators with and without a discriminator on their logits',
  ),
  'perturber': Entry(
    'fairjax.recipes.perturbation.perturber:run',
    'a model that rewrites one person of a text, beside rules',
  ),
  'perturb_corpus': Entry(
    'fairjax.recipes.perturbation.perturb_corpus:run',
    'whole folders with one person of each text rewritten',
  ),
  'fairberta': Entry(
    'fairjax.recipes.perturbation.fairberta:run',
    'two masked LMs alike, one on perturbed text',
  ),
  'fairberta_planted': Entry(
    'fairjax.recipes.perturbation.fairberta_planted:run',
    'what perturbed pretraining does to an association that is known',
  ),
  'fairtune_glue': Entry(
    'fairjax.recipes.perturbation.fairtune_glue:run',
    'fairtuning on the tasks of GLUE, side by side with averages',
  ),
  'fairscore': Entry(
    'fairjax.recipes.perturbation.fairscore:run',
    'how often a classifier changes its mind under perturbation',
  ),
  'fairtune': Entry(
    'fairjax.recipes.perturbation.fairtune:run',
    'a classifier tuned on perturbed text, and fairscore beside its floor',
  ),
  'pretrain': Entry(
    'fairjax.recipes.language.pretrain:run', 'a language model, from plain text'
  ),
}

# Each is f(judge, texts, config, folder, log) -> models.reading.judge.Judge;
# the texts are what it may be fitted on, the folder is where it may write.
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

# Rooms of a paper whose claims `fairjax report --claims` reads; each has a
# PAPER (report/claims.py).
PAPERS = {
  name: Entry(f'fairjax.recipes.{name}:PAPER', 'what the paper claims')
  for name in ('diet', 'weighting', 'fairflow', 'mbcda', 'perturbation')
}


def papers() -> list:
  return [find(PAPERS, 'paper', name) for name in PAPERS]
