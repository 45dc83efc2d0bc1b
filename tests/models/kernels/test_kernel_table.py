"""When a kernel stands in the place of plain code."""

import importlib
import inspect
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fairjax.core import announce, backend
from fairjax.models.kernels import kernel_table, row_kernels

SHAPES = {  # that fit, of each
  'attention': (80, 64, jnp.bfloat16),
  'norm': (80, 768, jnp.bfloat16, 5, True),
}


@pytest.fixture
def chip(monkeypatch):
  """A GPU of that name in the place of the devices here; trials pass."""
  monkeypatch.setattr(backend, 'platform', lambda: 'gpu')
  monkeypatch.setattr(row_kernels, 'agree', lambda name, example: True)
  trials = [kernel_module(one).agrees for one in kernel_table.KERNELS]
  clear = [t.cache_clear for t in trials if hasattr(t, 'cache_clear')]
  for one in clear:
    one()
  yield lambda name: monkeypatch.setattr(backend, 'chip', lambda: name)
  for one in clear:
    one()


def kernel_module(name):
  kernel = kernel_table.KERNELS[name]
  return importlib.import_module(f'fairjax.models.kernels.{kernel.module}')


@pytest.mark.parametrize('name', kernel_table.KERNELS)
def test_auto_takes_what_a_chip_of_that_name_has_proven(
  chip, monkeypatch, name
):
  kernel = kernel_table.KERNELS[name]
  take = lambda: kernel_table.takes(name, *SHAPES[name])
  proven = kernel._replace(proven=('H100',))
  monkeypatch.setitem(kernel_table.KERNELS, name, proven)
  chip('NVIDIA H100 80GB HBM3')
  assert take()
  with kernel_table.chosen('off'):
    assert not take()
  chip('Tesla T4')
  assert not take()
  with kernel_table.chosen('on'):
    assert take()
    monkeypatch.setattr(backend, 'platform', lambda: 'cpu')
    assert not take()
  assert not take()


@pytest.mark.parametrize('name', kernel_table.KERNELS)
def test_each_file_says_first_what_has_run_it(name):
  about = inspect.getdoc(kernel_module(name))
  assert 'Run by:' in about
  for chip in kernel_table.KERNELS[name].proven:
    assert chip in about.partition('Run by:')[2]


@pytest.mark.parametrize('others', [True, False])
def test_one_process_that_finds_it_wrong_decides_for_all(monkeypatch, others):
  asked = []

  def vote(found):
    asked.append((found, threading.current_thread()))
    return found and others

  monkeypatch.setattr(jax, 'default_backend', lambda: 'gpu')
  monkeypatch.setattr(kernel_table, 'in_all', vote)
  said = []
  monkeypatch.setattr(announce, 'NOTED', [said.append])
  right = lambda kernel: (np.ones(3),)
  wrong = lambda kernel: (np.ones(3) * (2 - kernel),)
  missing = lambda kernel: (np.full(3, np.nan if kernel else 1.0),)
  assert row_kernels.agree('this', right) is others
  assert [*map(lambda one: 'another process' in one, said)] == [True][others:]
  for example in (wrong, missing, lambda kernel: 1 / 0):
    assert not row_kernels.agree('this', example)
  assert [found for found, _ in asked] == [True, False, False, False]
  # The caller may be tracing, where a vote could not be computed.
  assert threading.main_thread() not in [thread for _, thread in asked]


def test_a_trial_is_of_the_shape_that_is_used(monkeypatch):
  """Not of a smaller one, which is another program of the compiler's."""
  seen = []

  def agree(name, example):
    seen.append(example.args)
    return True

  monkeypatch.setattr(row_kernels, 'agree', agree)
  for name in ('attention', 'norm'):
    module = kernel_module(name)
    module.agrees.cache_clear()
    module.agrees(*SHAPES[name])
    module.agrees.cache_clear()
  assert seen == [(80, 64), (80, 768, 5, True)]
