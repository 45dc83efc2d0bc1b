"""What recipes over corpora share: folders, results, pages."""

import dataclasses
import functools
import json
import pathlib
from collections.abc import Callable, Sequence

import pandas as pd

from fairjax.config import Config
from fairjax.core import artefacts, knobs, strict_json
from fairjax.core.errors import UserError
from fairjax.data.corpora import shard_map
from fairjax.data.word_tables import table_rows
from fairjax.report import page, terminal
from fairjax.results import Results, section, table

MOST = 40  # shards on a page and on the screen
DONE = {  # to the texts of a folder, by recipe
  'augment_corpus': 'with words exchanged',
  'generate': 'as a model writes it',
  'perturb_corpus': 'with one person of each text changed',
}
HEADINGS = dict(table_rows(__file__, 'headings.csv'))  # of counts


def recipe(*columns: str) -> Callable:
  """run(config, folder) of `body(config, out)`, which counts each shard."""

  def of(body: Callable) -> Callable:
    @functools.wraps(body)
    def run(config: Config, folder: pathlib.Path) -> Results:
      out = target(config, folder)
      return finish(config, folder, out, body(config, out), columns)

    return run

  return of


def target(config: Config, folder: pathlib.Path) -> pathlib.Path:
  """The folder that is written, which is never the one that is read."""
  knobs.need(config, 'corpus.path', 'a folder')
  out = folder / 'corpus'
  if out.resolve() == pathlib.Path(config.corpus.path).resolve():
    raise UserError(
      f'corpus.path is {out}, where the texts are written; name another '
      '--workdir'
    )
  return out


def mapped(
  config: Config,
  work: Callable,
  out: pathlib.Path,
  made_from: str,
  workers: int = 1,
) -> list[dict]:
  """What `work(source, target, spec)` counts of each shard of corpus.path.

  `spec` is the config as one word, as a worker is given it. One worker
  by default: a model takes all cores, or the whole accelerator.
  """
  options = config.corpus
  return shard_map.shard_map(
    functools.partial(work, spec=json.dumps(dataclasses.asdict(config))),
    options.path,
    shard_map.find_shards(options.path),
    out,
    made_from,
    options.backend,
    workers,
  )


@functools.lru_cache(1)
def of_plain(word: str) -> Config:
  """The config of a worker's `spec`."""
  return knobs.of_tree(Config, strict_json.parse(word), 'the config')


def finish(
  config: Config,
  folder: pathlib.Path,
  out: pathlib.Path,
  rows: Sequence[dict],
  columns: Sequence[str],
) -> Results:
  """Keeps and shows what was counted; shards that failed are named last."""
  artefacts.write_table(folder / 'shards.parquet', pd.DataFrame(rows))
  status = [row['status'] for row in rows]
  # Counts that are 0 in every file are not shown.
  some = [k for k in (*columns, 'error') if any(row.get(k) for row in rows)]
  shown = ['shard', 'status', *some]
  kept = [k for k in columns if k in ('rows', 'changed', *some)]
  head = lambda k: HEADINGS.get(k, k.replace('_', ' '))
  name, done = pathlib.Path(config.corpus.path).name, DONE.get(config.recipe)
  results = Results(
    recipe=config.recipe,
    data=name,
    title=f'{name[:1].upper()}{name[1:]} {done}'
    if done
    else f'{config.recipe} of {name}',
    facts={
      # A page is passed on: what is in its folder is named from there.
      'out': out.relative_to(folder).as_posix()
      if out.is_relative_to(folder)
      else str(out),
      'shards': len(rows),
      **{f'shards {name}': status.count(name) for name in sorted(set(status))},
      **{head(k): sum(row.get(k, 0) for row in rows) for k in kept},
    },
    sections=[
      section(
        'Files',
        table(
          [
            {k: row.get(k, '') for k in shown}
            for row in sorted(rows, key=lambda row: row['status'] != 'failed')
          ][:MOST],
          {k: head(k) for k in shown},
          caption=f'Failed ones first, {MOST} at most; shards.parquet has all.',
          screen=True,
        ),
      )
    ],
  )
  results = page.publish(folder, results)
  print(terminal.summary(results))
  print(f'the texts are in {out}, the report is {folder / "report.html"}')
  shard_map.refuse_failed(rows, out)
  return results
