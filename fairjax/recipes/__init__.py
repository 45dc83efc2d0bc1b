"""Recipes by name; adding one is one file and one row of a table."""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

from fairjax.config.language import Generate
from fairjax.core.registry import installed, listed, table
from fairjax.data.word_tables import table_rows


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
  measures: str = 'texts'  # what its page calls 100 of, if no texts are there
  # Where the config says if models are asked; else the run starts without jax.
  computes: str = ''
  notes: str = ''  # of all its pages, a line each


# Knobs that are ignored together, by a word of the table.
_IGNORED = {
  word: knobs.split()
  for word, knobs in table_rows(__file__, 'ignored_together.csv')
}
_IGNORED['generate'] = [
  f'generate.{f.name}' for f in dataclasses.fields(Generate)
]


def _spelled(one: Recipe) -> Recipe:
  own: dict[str, str] = {}
  for name, instead in one.ignores.items():
    own |= dict.fromkeys(_IGNORED.get(name, (name,)), instead)
  return one._replace(ignores=own)


RECIPES: dict[str, Recipe] = {
  name: _spelled(one)
  for name, one in table(__file__, 'recipes', Recipe).items()
}
installed('recipes', RECIPES, lambda point, of: Recipe(*listed(point, of)))

# Each is f(judge, texts, experiment, folder) -> models.reading.judge.Judge; the
# texts are what it may be fitted on, the folder is where it may write.
MITIGATIONS = table(__file__, 'mitigations')

# Papers, and the recipes that measure what they claim (report/claims.py); some
# are what earlier runs, which are kept, called parts of these.
PAPERS = {
  paper: tuple(names.split())
  for paper, names in table_rows(__file__, 'papers.csv')
}
