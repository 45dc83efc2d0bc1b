"""Recipes run small and on one device: compiling is a test's time."""

import jax
import pytest

from fairjax import results
from fairjax.models import families
from fairjax.report import page
from fairjax.train import mesh


@pytest.fixture(scope='session', autouse=True)
def small_and_alone():
  """The smallest size is smaller still; several devices compile longer."""
  axes = (jax.sharding.AxisType.Auto,) * 2
  one = jax.make_mesh(
    (1, 1), ('seed', 'data'), axis_types=axes, devices=jax.devices()[:1]
  )
  with pytest.MonkeyPatch.context() as patch:
    patch.setitem(families.SIZES, 'tiny', (1, 64))
    patch.setattr(mesh, 'make', lambda options, seeds: one)
    yield


@pytest.fixture(scope='session')
def remade(unspoken):
  """Checks that a page is made of what is in its folder, and nothing else."""

  def check(folder, returned):
    assert results.read(folder) == returned  # valid, or a sentence
    html = page.report(folder)
    assert html == (folder / 'report.html').read_text()
    assert unspoken(html) == []

  return check
