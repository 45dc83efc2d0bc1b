"""Counterfactuals of whole folders, shard by shard (corpora/shard_map.py)."""

import functools
import json
import os
import pathlib
from collections.abc import Callable

from fairjax.config.axes import AXES
from fairjax.core import artefacts, strict_json
from fairjax.core.errors import UserError
from fairjax.data.corpora import shards
from fairjax.data.corpora.shard_map import find_shards, shard_map
from fairjax.pairs.swapping import dictionary, names


def swap_corpus(
  source: str | os.PathLike,
  out: str | os.PathLike,
  backend: str = 'local',
  workers: int = 0,
  column: str = 'text',
  both: bool = False,
  **options,
) -> list[dict]:
  """Swaps every shard under `source` into `out`; a row of counts for each.

  Args:
    source: a folder of .txt (a text a line), .jsonl and .parquet files.
    out: the folder of the results, laid out as `source`.
    backend: 'local', 'dask', or the address of a dask scheduler.
    workers: processes; 0 is one a core.
    column: of the text, in jsonl and parquet.
    both: write each row and, where it differs, its twin after it; else the
      twin alone.
    **options: as for `dictionary.swap`.
  """
  if options.get('names'):  # matched once here, not in every worker
    known = names.load(options['names'])
    options['names'] = {name: known[name] for name in sorted(known.male)}
  if callable(options.get('tagger')):
    raise UserError("a corpus needs a tagger by name, say 'spacy:MODEL'")
  dictionary.swapper(**options)  # a wrong option fails before the work
  words = options.get('words')  # a file, or given
  files = [words if isinstance(words, str | os.PathLike) else '']
  if (axis := options.get('axis', 'gender')) not in AXES:
    files.append(os.path.expanduser(axis))  # of the user's
  made_from = artefacts.fingerprint(
    [column, both, options], *map(artefacts.content, files)
  )
  work = functools.partial(
    _swap_shard, column=column, both=both, made_from=made_from, **options
  )
  return shard_map(
    work, source, find_shards(source), out, made_from, backend, workers
  )


@functools.lru_cache(1)
def _swapper(key: str, made_from: str) -> Callable:
  """The swapper of one job, kept by a worker from shard to shard.

  `made_from` tells another content of the files that the options name.
  """
  return dictionary.swapper(**strict_json.parse(key))


def _swap_shard(
  source: pathlib.Path,
  target: pathlib.Path,
  column: str,
  both: bool,
  made_from: str,
  **options,
) -> dict[str, int]:
  run = _swapper(json.dumps(options, sort_keys=True), made_from)
  return shards.rewrite(source, target, run, column, both)
