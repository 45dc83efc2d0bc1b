"""The identity of a stage: a hash of everything it depends on.

    identity(config, 'training', pool arrays) -> '9f86d081884c7d65'

Of the config those leaves that change the stage (knobs.py), the bytes of
every file and folder that they name, and the precision that 'auto' means here;
beside these the arrays and tables that the stage reads. Nothing is known by
its name: a model folder whose weights have changed is another model.
"""

import os
from typing import Any

from fairjax.config import Config
from fairjax.core import artefacts, backend, knobs


def identity(config: Config, what: str | tuple[str, ...], *content: Any) -> str:
  """The fingerprint of a stage, or of a stage that belongs to several kinds."""
  kinds = knobs.stages(what)
  leaves = {}
  for leaf in knobs.leaves(Config):
    if set(kinds) & set(leaf.changes):
      leaves[leaf.name] = _known(config, leaf)
  if {'texts', 'attributes'} & set(kinds):
    leaves['net.precision'] = backend.inference(config.net.precision)
  return artefacts.fingerprint(artefacts.FORMAT, leaves, *content)


def _known(config: Config, leaf: knobs.Leaf) -> Any:
  """What a leaf contributes: its value, or the content that it names."""
  from fairjax.models import build

  if leaf.name == 'net.precision':
    return backend.resolved(config.net.precision)
  value = knobs.value(config, leaf.name)
  there = lambda one: one and os.path.exists(os.path.expanduser(one))
  if leaf.name == 'model' and not there(value):
    folder = build.model_folder(config)
    return artefacts.content(folder) if folder else value
  if leaf.path:  # or a name, such as a size of ours; a run has many models
    of = lambda one: artefacts.content(one) if there(one) else one
    return [of(one) for one in value] if isinstance(value, tuple) else of(value)
  if leaf.name == 'measures.groups' and value.startswith('terms:'):
    return [value, artefacts.content(value.removeprefix('terms:'))]
  return list(value) if isinstance(value, tuple) else value
