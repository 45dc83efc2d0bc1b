"""Texts rewritten, continued or filled by a model, over folders of any size."""

import pathlib

from fairjax.config import Config
from fairjax.recipes.language import corpora, generate_corpus
from fairjax.results import Results

COLUMNS = ('rows', 'changed', 'tokens', 'steps')


def run(config: Config, folder: pathlib.Path) -> Results:
  """shards → chunks → texts and pairs, and a table of what was counted."""
  out = corpora.target(config, folder)
  rows = generate_corpus.write_corpus(config, out)
  return corpora.finish(config, folder, out, rows, COLUMNS)
