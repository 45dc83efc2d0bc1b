"""Recipes close their log, and with it wandb's run, whatever happens."""

import pytest

from fairjax import config as c
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.recipes import RECIPES
from fairjax.train.progress import Log

WITHOUT = (
  'swap',
  'generate',
  'augment_corpus',
  'perturb_corpus',
)  # print, and keep no log


@pytest.mark.parametrize('name', [n for n in RECIPES if n not in WITHOUT])
def test_a_recipe_that_ends_in_an_error_closes_its_log(
  name, tmp_path, monkeypatch
):
  opened, closed, start, close = [], [], Log.__init__, Log.close

  def watched(self, *args, **kwargs):
    start(self, *args, **kwargs)
    opened.append(self)

  def ended(self, *args, **kwargs):
    close(self, *args, **kwargs)
    closed.append(self)

  monkeypatch.setattr(Log, '__init__', watched)
  monkeypatch.setattr(Log, 'close', ended)
  config = c.Config(
    recipe=name,
    model='tiny',
    data=c.Data(name='file', path=str(tmp_path / 'nowhere.csv')),
    measures=c.Measures(resamples=10),
    grid=c.Grid(),
    pretrain=c.Pretrain(),
    benchmarks=c.Benchmarks(sentences=200),
  )
  with pytest.raises(UserError):
    find(RECIPES, 'recipe', name)(config, tmp_path)
  assert opened
  assert set(map(id, opened)) == set(map(id, closed))
