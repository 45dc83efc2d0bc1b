"""What recipes over corpora share: folders, results, pages."""

import pathlib
from collections.abc import Sequence

import pandas as pd

from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.corpora import shard_map
from fairjax.report import page
from fairjax.results import Results, section, table
from fairjax.train import mesh

MOST = 200  # shards on a page


def target(config: Config, folder: pathlib.Path) -> pathlib.Path:
  """The folder that is written, which is never the one that is read."""
  options = config.corpus
  if not options.path:
    raise UserError(
      'corpus.path is empty; name a folder with --config.corpus.path'
    )
  out = pathlib.Path(options.out) if options.out else folder / 'corpus'
  if out.resolve() == pathlib.Path(options.path).resolve():
    raise UserError(
      f'corpus.out is {out}, the folder that is read; name another one'
    )
  return out


def where(config: Config) -> str:
  """`corpus.where`; an spmd process without one takes its own share."""
  options = config.corpus
  if options.backend == 'spmd' and not options.where:
    return mesh.share()
  return options.where


def finish(
  config: Config,
  folder: pathlib.Path,
  out: pathlib.Path,
  rows: Sequence[dict],
  columns: Sequence[str],
) -> Results:
  """Prints and keeps what was counted; shards that failed are named last.

  Each process of an spmd run keeps what it did itself.
  """
  print(shard_map.table(rows, columns=columns))
  end = ''
  if config.corpus.backend == 'spmd':
    end = f'-{shard_map.share(where(config))[0]}'
  artefacts.write_table(folder / f'shards{end}.parquet', pd.DataFrame(rows))
  status = [row['status'] for row in rows]
  results = Results(
    recipe=config.recipe,
    data=pathlib.Path(config.corpus.path).name,
    title=f'{config.recipe} of {config.corpus.path}',
    facts={
      'out': str(out),
      'shards': len(rows),
      **{f'shards {name}': status.count(name) for name in sorted(set(status))},
      **{name: sum(row.get(name, 0) for row in rows) for name in columns},
    },
    sections=[
      section(
        'Shards',
        table(
          [
            {k: row.get(k, '') for k in ('shard', 'status', *columns, 'error')}
            for row in sorted(rows, key=lambda row: row['status'] != 'failed')
          ][:MOST],
          caption=f'Failed ones first, {MOST} at most; shards{end}.parquet has '
          'all.',
        ),
      )
    ],
  )
  target = folder / 'processes' / end[1:] if end else folder
  results = page.publish(target, results)
  shard_map.refuse_failed(rows, out)
  return results
