"""Texts written, or filled, by a folder's model over folders of any size."""

import pathlib

import pandas as pd

from fairjax import artefacts
from fairjax.config import Config
from fairjax.errors import UserError
from fairjax.pairs import corpus
from fairjax.recipes import generate_corpus

COLUMNS = ('rows', 'changed', 'tokens', 'steps')


def run(config: Config, folder: pathlib.Path) -> dict:
  """shards → chunks → texts and pairs, and a table of what was counted."""
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
  rows = generate_corpus.write_corpus(config, out)
  print(corpus.table(rows, columns=COLUMNS))
  share = ''
  if chosen.backend == 'spmd':
    share = f'-{corpus.share(chosen.where)[0]}'
  artefacts.write_table(folder / f'shards{share}.parquet', pd.DataFrame(rows))
  corpus.refuse_failed(rows, out)
  return {'out': str(out), 'shards': rows}
