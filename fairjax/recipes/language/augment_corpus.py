"""Counterfactuals of a whole corpus: folders of any size, shard by shard."""

import pathlib

from fairjax.config import Config
from fairjax.pairs.swapping import corpus, dictionary
from fairjax.recipes.language import corpora
from fairjax.results import Results

COLUMNS = ('rows', 'changed', 'words', 'left')


def run(config: Config, folder: pathlib.Path) -> Results:
  """Swaps every shard of `config.corpus.path`, and prints what was counted."""
  options, out = config.corpus, corpora.target(config, folder)
  rows = corpus.swap_corpus(
    options.path,
    out,
    options.backend,
    config.corpus.where,
    options.workers,
    options.column,
    options.both,
    **dictionary.options(config.method, config.seed),
  )
  return corpora.finish(config, folder, out, rows, COLUMNS)
