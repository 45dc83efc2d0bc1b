"""What torch said of a tiny model, kept with it: tests/golden/*.npz."""

import functools
import pathlib

import numpy as np
from safetensors.numpy import save_file

GOLDEN = pathlib.Path(__file__).parents[1] / 'golden'


@functools.cache
def _all(file):
  return dict(np.load(GOLDEN / file))


def of(file, start):
  return part(_all(file), start)


def part(case, start):
  """The entries whose names start so, by the rest of their names."""
  names = [name for name in case if name.startswith(start)]
  return {name.removeprefix(start): case[name] for name in names}


def folder_of(case, folder):
  folder.mkdir(exist_ok=True)
  (folder / 'config.json').write_text(str(case['config']))
  save_file(part(case, 'weight:'), folder / 'model.safetensors')
  return folder


def compare_gradients(ours, case):
  """How many were compared."""
  theirs = part(case, 'gradient:')
  known = [name for name in theirs if name in ours]
  for name in known:
    np.testing.assert_allclose(
      ours[name], theirs[name], atol=1e-5, rtol=1e-4, err_msg=name
    )
  return len(known)
