"""Recipes by name; adding one is one file and one line here."""

from fairjax.registry import Entry

# Each is run(config: Config, folder: pathlib.Path) -> results: dict
RECIPES = {
  'train': Entry(
    'fairjax.recipes.train:run', 'one classifier, measured and reported'
  ),
  'compare': Entry(
    'fairjax.recipes.compare:run', 'each data-side method against none'
  ),
  'swap': Entry('fairjax.recipes.swap:run', 'the counterfactual of a text'),
  'augment_corpus': Entry(
    'fairjax.recipes.augment_corpus:run', 'counterfactuals of whole folders'
  ),
}
