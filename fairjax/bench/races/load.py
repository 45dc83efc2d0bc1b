"""Loading the weights of a model folder, against transformers."""

import os
import statistics
import subprocess
import sys

import numpy as np

from fairjax.bench import race
from fairjax.bench.peers import minilm


def run(args: list[str]) -> dict:
  """What a user waits for: a new process, until every parameter is there.

  The same within a running process is printed too, where transformers maps
  the file and we copy it, once turned, into arrays of JAX. Without --folder
  the model is MiniLM-L6.
  """
  chosen = race.options('load', __doc__, args, rounds=5)
  folder = str(chosen.folder or minilm.folder())
  sides = {'fairjax': ours}
  if not race.missing('torch', 'transformers'):
    sides['transformers'] = theirs
    module, params = ours(folder)
    from fairjax.models.folders import hf

    tensors, peer = hf.to_hf(module, params), theirs(folder).state_dict()
    race.same(
      [np.abs(value).sum() for value in tensors.values()],
      [peer[name].abs().sum().item() for name in tensors],
      'the sums of the tensors',
    )
  inside = race.interleave(
    {name: lambda s=side: s(folder) for name, side in sides.items()},
    chosen.rounds,
  )
  race.report('load, process running', inside, unit='ms')
  outside = race.interleave(
    {name: lambda n=name: process(n, folder) for name in sides}, chosen.rounds
  )
  running = {name: statistics.median(s) for name, s in inside.items()}
  return race.report('load', outside, unit='seconds', running=running)


def ours(folder: str):
  import jax
  import jax.numpy as jnp

  from fairjax.models import families
  from fairjax.models.folders import hf

  module = families.module(hf.read_shape(folder), 'embed')
  params = jax.tree.map(jnp.asarray, hf.load(folder, module).params)
  return module, jax.block_until_ready(params)


def theirs(folder: str):
  os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
  from transformers import AutoModel
  from transformers.utils import logging

  logging.disable_progress_bar()
  return AutoModel.from_pretrained(folder)


def process(side: str, folder: str) -> None:
  subprocess.run(
    [sys.executable, '-m', 'fairjax.bench.races.load', side, folder],
    check=True,
    env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
  )


if __name__ == '__main__':
  {'fairjax': ours, 'transformers': theirs}[sys.argv[1]](sys.argv[2])
