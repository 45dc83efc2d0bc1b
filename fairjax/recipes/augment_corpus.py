"""Counterfactuals of a whole corpus: folders of any size, shard by shard."""

import pathlib

import pandas as pd

from fairjax import artefacts
from fairjax.config import Config
from fairjax.errors import UserError
from fairjax.pairs import corpus, words


def run(config: Config, folder: pathlib.Path) -> dict:
  """Swaps every shard of `config.corpus.path`, and prints what was counted.

  Shards that cannot be read are named at the end, when the rest is done.
  """
  chosen = config.corpus
  if not chosen.path:
    raise UserError(
      'corpus.path is empty; name a folder with --config.corpus.path'
    )
  out = pathlib.Path(chosen.out) if chosen.out else folder / 'corpus'
  if out.resolve() == pathlib.Path(chosen.path).resolve():
    raise UserError(
      f'corpus.out is {out}, the folder that is read; name another one'
    )
  rows = corpus.swap_corpus(
    chosen.path,
    out,
    chosen.backend,
    chosen.where,
    chosen.workers,
    chosen.column,
    chosen.both,
    **words.options(config.method, config.seed),
  )
  print(corpus.table(rows))
  share = (
    f'-{corpus.share(chosen.where)[0]}' if chosen.backend == 'spmd' else ''
  )
  artefacts.write_table(folder / f'shards{share}.parquet', pd.DataFrame(rows))
  corpus.refuse_failed(rows, out)
  return {'out': str(out), 'shards': rows}
