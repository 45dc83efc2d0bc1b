"""Checkpoints (orbax, async, atomic) and plain weight files (safetensors).

The kept weights of a run are part of its state: the best of each stacked seed
may be of a different step, so they travel with the latest checkpoint and
cannot be lost or fall out of step with it.
"""

import json
import pathlib

import numpy as np
import orbax.checkpoint as ocp
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from fairjax.artefacts import atomic
from fairjax.errors import UserError


def manager(folder: pathlib.Path) -> ocp.CheckpointManager:
  policies = ocp.checkpoint_managers
  return ocp.CheckpointManager(
    folder.absolute(),
    options=ocp.CheckpointManagerOptions(
      preservation_policy=policies.LatestN(2), create=True
    ),
  )


def save(checkpoints, step: int, state, meta: dict) -> None:
  """Starts an asynchronous save of the state after `step` steps."""
  checkpoints.save(
    step,
    args=ocp.args.Composite(
      state=ocp.args.StandardSave(state), meta=ocp.args.JsonSave(meta)
    ),
    force=True,
  )


def restore(checkpoints, like):
  """(step, state, meta) of the newest readable checkpoint, or None.

  `like` is a tree of `jax.ShapeDtypeStruct` with shardings.
  """
  for step in sorted(checkpoints.all_steps(), reverse=True):
    try:
      saved = checkpoints.restore(
        step,
        args=ocp.args.Composite(
          state=ocp.args.StandardRestore(like), meta=ocp.args.JsonRestore()
        ),
      )
    except (ValueError, OSError, KeyError) as error:
      problem = str(error).splitlines()[0] if str(error) else repr(error)
      if step != min(checkpoints.all_steps()):
        continue
      raise UserError(
        f'the checkpoint {checkpoints.directory / str(step)} cannot be read '
        f'({problem}); remove {checkpoints.directory} to train again'
      ) from error
    return step, saved.state, saved.meta
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
