"""Published files that a config's numbers come from, known by their sha256.

`config.data.sources` has an entry a file: the knob that names it (KNOB/PATH is
a file in the folder that it names), its sha256 (of a model's folder, that of
its weights), and where it comes from. A run starts only on those files, so that
a stranger who repeats it repeats it on the same rows.
"""

import hashlib
import pathlib

from fairjax.core import knobs, paths
from fairjax.core.errors import UserError


def check(config) -> None:
  """One sentence for the first file that is missing, or is another one."""
  for entry in config.data.sources:
    name, sha256, source = entry.split(' ', 2)
    knob, _, inside = name.partition('/')
    path = knobs.value(config, knob)
    if path and inside:
      path = f'{path}/{inside}'
    if not path or not pathlib.Path(path).expanduser().exists():
      what = f'{paths.shown(path)} is not there' if path else f'{knob} is empty'
      kind = 'folder' if knob == 'model' else 'file'
      named = f'the {kind} with --config.{knob}={kind.upper()}'
      if inside:
        named = f'the folder that holds {inside} with --config.{knob}=FOLDER'
      raise UserError(f'{what}; name {named}. It is {source}')
    if _file(path).is_dir():
      raise UserError(
        f'{paths.shown(path)} is a folder'
        + (' without model.safetensors' if knob == 'model' else '')
        + f'; name with --config.{knob} what this config expects. That is '
        f'{source}. To run on yours, --config.data.sources='
      )
    with open(paths.place(_file(path)), 'rb') as file:
      found = hashlib.file_digest(file, 'sha256').hexdigest()
    if found != sha256:
      raise UserError(
        f'{paths.shown(path)} is not the file that this config expects '
        f'(sha256 {found[:12]}…, not {sha256[:12]}…). That is {source}. To run '
        'on yours, --config.data.sources='
      )


def _file(path: str) -> pathlib.Path:
  where = pathlib.Path(path).expanduser()
  weights = where / 'model.safetensors'
  return weights if weights.exists() else where
