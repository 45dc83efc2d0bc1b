"""Checkpoints (orbax, async, atomic), and weights as safetensors files.

The kept weights of a run are part of its state: the best of each stacked seed
may be of a different step, so they travel with the latest checkpoint and
cannot be lost or fall out of step with it.
"""

import contextlib
import errno
import json
import logging
import os
import pathlib
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from fairjax.core import paths
from fairjax.core.artefacts import atomic, fingerprint
from fairjax.core.errors import UserError, brief
from fairjax.train import mesh

KEPT = 2  # newest checkpoints


@contextlib.contextmanager
def manager(folder: pathlib.Path) -> Iterator[Any]:
  """The checkpoints in a folder; a save that is under way ends in any case."""
  import orbax.checkpoint as ocp  # slow, and predictions need none

  _hush()
  checkpoints = ocp.CheckpointManager(
    folder.absolute(),
    options=ocp.CheckpointManagerOptions(
      preservation_policy=ocp.checkpoint_managers.LatestN(KEPT),
      create=True,
      cleanup_tmp_directories=True,
    ),
  )
  try:
    yield checkpoints
  except BaseException:
    with contextlib.suppress(Exception):
      checkpoints.close()
    raise
  with _explained(checkpoints):
    checkpoints.close()


def held(folder: pathlib.Path) -> int:
  """Bytes of the checkpoints that a fit's folder holds."""
  files = (folder / 'checkpoints').rglob('*')
  return sum(file.stat().st_size for file in files if file.is_file())


def _is_ours(record: logging.LogRecord) -> bool:
  """False for what orbax logs: the errors that matter are raised as well."""
  return 'orbax' not in record.pathname + record.getMessage()


def _hush() -> None:
  """Drops what orbax and tensorstore print beside the errors they raise."""
  for name in ('absl', 'asyncio'):
    logging.getLogger(name).addFilter(_is_ours)
  before = sys.unraisablehook
  if getattr(before, '__name__', '') == 'without_closed_loops':
    return

  def without_closed_loops(match):
    if str(match.exc_value) != 'Event loop is closed':
      before(match)

  sys.unraisablehook = without_closed_loops


@contextlib.contextmanager
def _explained(checkpoints) -> Iterator[None]:
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
  text = ''
  one: BaseException | None = error
  while one is not None:
    text += f'{one}\n'
    one = one.__cause__ or one.__context__
  for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
    if os.strerror(number) in text:
      return os.strerror(number).lower()
  return (str(error) or repr(error)).strip().splitlines()[0]


def checksum(state, meta: dict) -> str:
  """Of every bit of the state, summed where it lies, and of the notes."""
  total = 0
  for leaf in jax.tree.leaves(state):
    # Between leaves, so that two that change places are noticed. Each is
    # waited for: many sums over devices at once may wait for one another.
    total = (total * 31 + int(_sum_of_words(leaf))) % 2**32
  return f'{total:08x} {fingerprint(meta)}'


@jax.jit  # of a leaf: a state has four of each shape, and compiles them once
def _sum_of_words(leaf) -> jax.Array:
  """The sum of its bits as numbers, modulo 2³²."""
  # Whole numbers add up to the same in any order, on any number of devices.
  words = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32}[leaf.dtype.itemsize]
  bits = jax.lax.bitcast_convert_type(leaf, words)
  return jnp.sum(bits, dtype=jnp.uint32)


def save(checkpoints, step: int, state, meta: dict) -> None:
  """Starts an asynchronous save of the state after `step` steps."""
  ocp = sys.modules['orbax.checkpoint']  # `manager` has loaded it
  with _explained(checkpoints):
    checkpoints.wait_until_finished()  # raises what befell the save before
    if mesh.is_main():  # once it is under way, a failure prints many tracebacks
      size = sum(leaf.nbytes for leaf in jax.tree.leaves(state))
      if shutil.disk_usage(checkpoints.directory).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    checkpoints.save(
      step,
      args=ocp.args.Composite(
        state=ocp.args.StandardSave(state),
        meta=ocp.args.JsonSave(meta | {'checksum': checksum(state, meta)}),
      ),
      force=True,  # the loop alone decides which steps are saved
    )


def finish(checkpoints) -> None:
  """Waits for the save that is under way."""
  with _explained(checkpoints):
    checkpoints.wait_until_finished()


def restore(checkpoints, like, log):
  """(step, state, meta) of the newest readable checkpoint, or None.

  `like` is a tree of `jax.ShapeDtypeStruct` with shardings. A checkpoint that
  cannot be read is put aside, and the one before is tried.
  """
  ocp = sys.modules['orbax.checkpoint']  # `manager` has loaded it
  for step in sorted(checkpoints.all_steps(), reverse=True):
    try:
      restored = checkpoints.restore(
        step,
        args=ocp.args.Composite(
          state=ocp.args.StandardRestore(like), meta=ocp.args.JsonRestore()
        ),
      )
      meta = dict(restored.meta)
      if meta.pop('checksum', '') != checksum(restored.state, meta):
        raise ValueError('its bytes are not those that were written')
      return step, restored.state, meta
    except Exception as error:  # orbax and tensorstore have many kinds for it
      place = checkpoints.directory / str(step)
      log.line(
        f'{place} cannot be read ({reason(error)}); it is put aside as '
        f'unreadable_{step}, training resumes from the one before, if any'
      )
      if mesh.is_main():
        os.replace(place, checkpoints.directory / f'unreadable_{step}')
      mesh.wait_for_all('put aside')  # else one reads what another moves
      checkpoints.reload()  # orbax remembers its list
  return None


def flatten(tree, prefix: str = '') -> dict[str, np.ndarray]:
  """A nested dict as one flat dict with names joined by '/'."""
  flat: dict = {}
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
    part.touch()
    mode = part.stat().st_mode
    save_file(host, part)
    part.chmod(mode)  # else only whoever made it could read it


def read_weights(path) -> dict:
  with paths.reading(path):
    open(path, 'rb').close()
  try:
    return unflatten(load_file(path))
  except (SafetensorError, json.JSONDecodeError) as error:
    raise UserError(
      f'{path} is not a readable safetensors file ({brief(error)}); remove it '
      'to make it again'
    ) from error
