"""Counterfactuals of a whole corpus: folders of any size, shard by shard."""

import pathlib

from fairjax.config import Config
from fairjax.pairs.swapping import corpus, dictionary
from fairjax.recipes.language import corpora


@corpora.recipe('rows', 'changed', 'words', 'left')
def run(config: Config, out: pathlib.Path) -> list[dict]:
  """Swaps every shard of `config.corpus.path`."""
  options = config.corpus
  return corpus.swap_corpus(
    options.path,
    out,
    options.backend,
    column=config.data.text,
    both=options.both,
    **dictionary.options(config.method, config.seed),
  )
