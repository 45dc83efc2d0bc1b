"""Gathers whose cotangents are sums in a fixed order, and programs of them."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax import config
from fairjax.bench.compiles import programs
from fairjax.core import backend
from fairjax.models.layers import gathers
from fairjax.train import mesh


def test_columns_and_rows_and_their_cotangents():
  rng = np.random.default_rng(0)
  draw = lambda *dims: jnp.asarray(rng.normal(size=dims), jnp.float32)
  x, columns, g = draw(3, 7, 4), jnp.asarray([[1, 1, 6]] * 3), draw(3, 3, 4)
  y, back = jax.vjp(lambda x: gathers.columns_of(x, columns), x)
  np.testing.assert_array_equal(y, x[:, [1, 1, 6]])
  expected = np.zeros((3, 7, 4), np.float32)
  expected[:, 1], expected[:, 6] = g[:, 0] + g[:, 1], g[:, 2]
  np.testing.assert_allclose(back(g)[0], expected, rtol=1e-6)
  rows = gathers.rows_of(x[0], jnp.asarray([5, 0]))
  np.testing.assert_array_equal(rows, x[0, [5, 0]])
  many = jax.vmap(gathers.columns_of)(x[None], columns[None])[0]  # over seeds
  np.testing.assert_array_equal(many, y)


def test_an_own_score_is_that_of_the_label():
  scores = jnp.asarray([[1.0, np.inf, 3.0], [-np.inf, 5.0, 6.0]])
  labels = jnp.asarray([2, 1])
  np.testing.assert_array_equal(gathers.own_score(scores, labels), [3.0, 5.0])


@pytest.mark.parametrize('count', [1, 6, 40])
def test_sums_by_id(count):
  """Ids that are no row of the table are in no sum."""
  rng = np.random.default_rng(count)
  ids = rng.integers(0, count + 3, 100)
  values = rng.normal(size=(100, 5)).astype(np.float32)
  expected = np.zeros((count, 5))
  np.add.at(expected, ids[ids < count], values[ids < count])
  run = jax.jit(gathers.summed_by_id, static_argnums=2)
  found = run(jnp.asarray(ids), jnp.asarray(values), count)
  np.testing.assert_allclose(found, expected, atol=1e-5)


def scatters(text: str) -> list[tuple[bool, str]]:
  """(whether it may add twice at one place, what) of a program as lowered."""
  found = []
  lines = text.splitlines()
  for i, line in enumerate(lines):
    if '"stablehlo.scatter"' in line:
      body = '\n'.join(lines[i : i + 6])
      adds = 'stablehlo.add' in body
      ordered = re.search('(unique_indices|are_sorted) = true', line)
      found.append((adds and not ordered, body))
  return found


@pytest.mark.parametrize('name', ['train', 'pretrain'])
def test_nothing_adds_in_no_order_in_a_deterministic_step(name):
  """Of a GPU's step, as it is given to the compiler."""
  size = programs.Size(model='tiny', layers=1, rows=8, length=32, seeds=2)
  place = mesh.make(config.Mesh(), size.seeds, jax.devices()[:1])

  def text() -> str:
    with backend.made_for('gpu'):
      traced = programs.PROGRAMS[name](place, size)
      return traced.lower(lowering_platforms=('cpu',)).as_text()

  with backend.repeatable(True):
    found = scatters(text())
  assert found  # tables are written by unique rows
  assert not [body for adds, body in found if adds]
  free = [body for adds, body in scatters(text()) if adds]
  assert len(free) == 2  # words and positions, where nothing was asked


def test_the_compiler_is_told_of_it():
  assert backend.compiler_options() == {}
  with backend.repeatable(True):
    assert backend.compiler_options() == {}  # a CPU always repeats
    with backend.made_for('gpu'):
      told = backend.compiler_options()
      assert told == {'xla_gpu_deterministic_ops': True}
  assert not backend.repeats()
