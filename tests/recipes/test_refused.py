"""A call that is refused changes nothing of a run that has ended."""

import pytest
from small import changed

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.recipes import RECIPES


@pytest.mark.parametrize('recipe', RECIPES)
def test_a_refused_call_leaves_a_finished_run_as_it_was(recipe, tmp_path):
  """versions.json and config.json named the refused one beside results.json."""
  data, folder = tmp_path / 'rows.csv', tmp_path / 'run'
  data.write_text('text,gender\nHe ran.,m\n')  # no label, no corpus, one row
  swap = Config(recipe='swap', text='He left.')
  mistaken = Config(recipe=recipe)
  mistaken.data.name, mistaken.data.path = 'file', str(data)

  def call(config):
    stages.begin(config, folder)
    find(RECIPES, 'recipe', config.recipe)(config, folder)

  call(swap)
  for name in ('log.txt', 'hygiene.json'):
    (folder / name).write_text('{}\n')
  before = {p: p.read_bytes() for p in folder.rglob('*') if p.is_file()}
  with pytest.raises(UserError):
    call(mistaken)
  assert {path: path.read_bytes() for path in before} == before
  call(changed(swap, seed=7))
  assert artefacts.read_json(folder / 'config.json')['seed'] == 7
