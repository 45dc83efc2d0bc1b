"""Checkpoints (orbax, async, atomic) and plain weight files (safetensors).

The kept weights of a run are part of its state: the best of each stacked seed
may be of a different step, so they travel with the latest checkpoint and
cannot be lost or fall out of step with it.
"""

import contextlib
import errno
import json
import os
import pathlib
from collections.abc import Iterator

import numpy as np
import orbax.checkpoint as ocp
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from fairjax.artefacts import atomic
from fairjax.errors import UserError
from fairjax.train import mesh

KEPT = 2  # newest checkpoints


def manager(folder: pathlib.Path) -> ocp.CheckpointManager:
  policies = ocp.checkpoint_managers
  return ocp.CheckpointManager(
    folder.absolute(),
    options=ocp.CheckpointManagerOptions(
      preservation_policy=policies.LatestN(KEPT),
      create=True,
      cleanup_tmp_directories=True,
    ),
  )


def held(folder: pathlib.Path) -> int:
  """Bytes of the checkpoints that a fit's folder holds."""
  files = (folder / 'checkpoints').rglob('*')
  return sum(file.stat().st_size for file in files if file.is_file())


@contextlib.contextmanager
def _told(checkpoints) -> Iterator[None]:
  """Says in one sentence that a checkpoint cannot be written."""
  try:
    yield
  except Exception as error:  # orbax and tensorstore have many kinds for it
    raise UserError(
      f'cannot write a checkpoint in {checkpoints.directory}: '
      f'{reason(error)}; free some space or choose another folder with '
      '--workdir, then run again to go on from the checkpoint before'
    ) from error


def reason(error: BaseException) -> str:
  """What is behind an error of orbax: the disk, or its first line."""
  text, one = '', error
  while one is not None:
    text += f'{one}\n'
    one = one.__cause__ or one.__context__
  for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
    if os.strerror(number) in text:
      return os.strerror(number).lower()
  return (str(error) or repr(error)).strip().splitlines()[0]


def save(checkpoints, step: int, state, meta: dict) -> None:
  """Starts an asynchronous save of the state after `step` steps."""
  with _told(checkpoints):
    checkpoints.save(
      step,
      args=ocp.args.Composite(
        state=ocp.args.StandardSave(state), meta=ocp.args.JsonSave(meta)
      ),
      force=True,
    )


def finish(checkpoints) -> None:
  """Waits for the save that is under way."""
  with _told(checkpoints):
    checkpoints.wait_until_finished()


def restore(checkpoints, like, log):
  """(step, state, meta) of the newest readable checkpoint, or None.

  `like` is a tree of `jax.ShapeDtypeStruct` with shardings. A checkpoint that
  cannot be read is put aside, and the one before is tried.
  """
  for step in sorted(checkpoints.all_steps(), reverse=True):
    try:
      saved = checkpoints.restore(
        step,
        args=ocp.args.Composite(
          state=ocp.args.StandardRestore(like), meta=ocp.args.JsonRestore()
        ),
      )
      return step, saved.state, saved.meta
    except Exception as error:  # orbax and tensorstore have many kinds for it
      place = checkpoints.directory / str(step)
      log.line(
        f'{place} cannot be read ({reason(error)}); it is put aside as '
        f'unreadable_{step}, training goes on from the one before, if any'
      )
      if mesh.is_main():
        os.replace(place, checkpoints.directory / f'unreadable_{step}')
      mesh.wait_for_all('put aside')
      checkpoints.reload()
  return None


def flatten(tree, prefix: str = '') -> dict[str, np.ndarray]:
  """A nested dict as one flat dict with names joined by '/'."""
  flat = {}
  for name, value in tree.items():
    if isinstance(value, dict):
      flat |= flatten(value, f'{prefix}{name}/')
    else:
      flat[prefix + name] = value
  return flat


def unflatten(flat: dict[str, np.ndarray]) -> dict:
  tree: dict = {}
  for name, value in flat.items():
    *path, last = name.split('/')
    branch = tree
    for part in path:
      branch = branch.setdefault(part, {})
    branch[last] = value
  return tree


def write_weights(path, params) -> None:
  """Parameters as one safetensors file, written atomically."""
  host = {
    name: np.ascontiguousarray(value) for name, value in flatten(params).items()
  }
  with atomic(path) as part:
    save_file(host, part)


def read_weights(path) -> dict:
  try:
    return unflatten(load_file(path))
  except FileNotFoundError as error:
    raise UserError(f'{path} does not exist') from error
  except (SafetensorError, json.JSONDecodeError) as error:
    raise UserError(
      f'{path} is not a readable safetensors file ({error}); remove it to '
      'make it again'
    ) from error
