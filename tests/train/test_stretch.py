"""Several steps a dispatch: one at a time, and the same bits wherever cut."""

import json

import jax
import numpy as np
import pytest
from test_loop import STEADY, assert_same, config, diverging, fit, stop_after
from test_players import fit as fit_players
from test_players import task

from fairjax.config import Train
from fairjax.core import backend
from fairjax.core.artefacts import read_rows
from fairjax.core.errors import Interrupted, UserError
from fairjax.train import loop, stretch


@pytest.fixture
def of(monkeypatch):
  """Sets the length of a stretch; counts the steps of each dispatch."""
  sizes, real = [], stretch.stacked

  def stacked(batches, most):
    sizes.append(len(batches))
    return real(batches, most)

  def set_length(most):
    sizes.clear()
    monkeypatch.setattr(stretch, 'length', lambda *_: most)
    monkeypatch.setattr(stretch, 'stacked', stacked)
    return sizes

  return set_length


def test_stretches_are_the_single_steps(tmp_path, of):
  """15 steps, 5 an epoch, saved every 7; each evaluation sees its own steps.

  To the bit they are not: XLA compiles the body of a loop to other sums. So a
  run has one length of a stretch, and its last bits do not depend on the rest.
  """
  of(1)
  single = fit(tmp_path / 'single', config(save_every=7), main=True)
  sizes = of(8)
  several = fit(tmp_path / 'more', config(save_every=7), main=True)
  assert sizes == [5, 2, 3, 4, 1]  # to 5, 7, 10, 14, 15
  assert_same(several.params, single.params, atol=2e-6)
  rows = [
    read_rows(tmp_path / name / 'metrics.jsonl') for name in ('single', 'more')
  ]
  assert len(rows[0]) == 6
  for one, other in zip(*rows, strict=True):
    assert one.pop('split') == other.pop('split') == 'valid'
    assert one == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize('after', [3, 9])
def test_a_resumed_run_is_the_uninterrupted_one(
  tmp_path, of, monkeypatch, after
):
  """Stopped between dispatches, gone on with from there."""
  of(4)
  options = config(save_every=6)
  whole = fit(tmp_path / 'whole', options)
  with monkeypatch.context() as patch, pytest.raises(Interrupted):
    stop_after(patch, after)
    fit(tmp_path / 'cut', options)
  # Where a run is saved may change, and cuts other stretches.
  again = fit(tmp_path / 'cut', config(save_every=7))
  assert_same(again.params, whole.params)
  assert again.history == whole.history


def test_losses_in_checkpoints_are_those_of_each_step(
  tmp_path, of, monkeypatch
):
  """What stands in the notes of step 7: those of steps 6 and 7."""
  notes = {}
  for most in (1, 4):
    of(most)
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
      patch.setattr(
        loop.checkpoint,
        'save',
        lambda _, done, state, meta: notes.setdefault(
          most, json.loads(json.dumps(meta['recent']))
        ),
      )
      stop_after(patch, 7)
      fit(tmp_path / str(most), config(save_every=7))
  assert len(notes[1]) == 2 and len(notes[1][0]['loss']) == 2
  for one, other in zip(notes[1], notes[4], strict=True):
    np.testing.assert_allclose(one['loss'], other['loss'], rtol=1e-5)


@pytest.mark.parametrize('turns', [(), ((0, 0, 1), (1, 1, 0))])
def test_players_take_their_turns(tmp_path, of, turns):
  of(1)
  single = fit_players(tmp_path / 'single', todo=task(*turns))
  sizes = of(4)
  several = fit_players(tmp_path / 'several', todo=task(*turns))
  assert max(sizes) == (2 if turns else 4)
  assert_same(several.params, single.params)
  assert several.history == single.history


def test_the_step_of_a_bad_loss_is_named(tmp_path, of):
  """Seed 4's rate is fine until its sixth step."""
  of(8)
  with pytest.raises(UserError, match=r'loss of seed 4 .* step 6 of 15'):
    fit(tmp_path, config(**STEADY, save_every=0), **diverging(-0.0225))


def test_a_stretch_ends_where_programs_change_or_somebody_looks():
  batches = [{'number': np.array(i)} for i in range(3, 20)]
  program = lambda batch, step: (step >= 8,)
  parts = stretch.cut(batches, 3, 4, program, lambda done: done == 14)
  numbers = [[int(b['number']) for b in part] for part in parts]
  assert numbers == [
    [3, 4, 5, 6],
    [7],
    [8, 9, 10, 11],
    [12, 13],
    [14, 15, 16, 17],
    [18, 19],
  ]
  assert not [*stretch.cut([], 0, 4, program, lambda done: False)]


def test_only_short_steps_share_a_dispatch():
  def length(width, depth, batch=64, seeds=1, devices=1):
    """Of an encoder with 30,000 words."""
    leaf = lambda *shape: jax.ShapeDtypeStruct((seeds, *shape), np.float32)
    params = {
      'word': {'embedding': leaf(30_000, width)},
      'layers': {'kernel': leaf(12 * depth, width, width)},
    }
    return stretch.length(params, Train(batch=batch), devices)

  assert length(128, 2) == 1  # on a CPU
  with backend.made_for('gpu'):
    tiny, mini, base = (128, 2), (256, 4), (768, 12)
    assert [length(*size) for size in (tiny, mini, base)] == [16, 8, 1]
    assert length(*tiny, seeds=5) == 4 and length(*base, seeds=5) == 1
    assert length(*tiny, batch=1024) == 4  # 77 GFLOP of products
    assert length(*tiny, seeds=5, devices=5) == 16
