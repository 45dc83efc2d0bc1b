"""Recipes run small and on one device: compiling is a test's time."""

import pytest

from fairjax import results
from fairjax.report import page
from fairjax.report.pictures import figures


@pytest.fixture(scope='module', autouse=True)
def small(small_and_alone):
  yield


@pytest.fixture(scope='session')
def remade(unspoken):
  """Checks that a page is made of what is in its folder, and nothing else."""

  def check(folder, returned):
    assert results.read(folder) == returned  # valid, or a sentence
    # The files of its pictures are there already, and are a third of the time.
    with pytest.MonkeyPatch.context() as patch:
      patch.setattr(figures, 'save', lambda plot, path: path.stat())
      html = page.report(folder)
    assert html == (folder / 'report.html').read_text()
    assert unspoken(html) == []

  return check
