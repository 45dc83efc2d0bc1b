"""Recipes run small and on one device: compiling is a test's time."""

import jax
import pytest

from fairjax.models import families
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
