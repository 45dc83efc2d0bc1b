"""Shards of a corpus, read and written block by block.

The formats: .txt with a text a line, .jsonl with an object a line, .parquet.
What a swap does not touch is written as it was read, to the byte in the line
formats. Memory stays that of one block however large the shard.
"""

import json
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fairjax.core import strict_json
from fairjax.core.errors import UserError, brief

KINDS = ('.txt', '.jsonl', '.parquet')
BLOCK = 8 << 20  # characters of lines at a time
_ROWS = 20_000  # rows of parquet at a time

Span = tuple[int, int, str, str]  # start, end, old, new; in the original text


class Swapped(NamedTuple):
  """Texts in the order given, and what was changed in each."""

  texts: list[str]
  spans: list[list[Span]]
  left: list[int]  # words of a row that have no sure counterpart


Run = Callable[[Sequence[str]], Swapped]


def whole(
  source: pathlib.Path, texts: Sequence[str], written: Sequence[str]
) -> Swapped:
  """Texts written anew; in a .txt a text is a line."""
  if source.suffix == '.txt':
    written = [' '.join(text.splitlines()) for text in written]
  spans = [
    [(0, len(old), old, new)] if new != old else []
    for old, new in zip(texts, written)
  ]
  return Swapped(list(written), spans, [0] * len(texts))


def rewrite(
  source: pathlib.Path,
  target: pathlib.Path,
  run: Run,
  column: str = 'text',
  both: bool = False,
) -> dict[str, int]:
  """Writes the twins of `source` to `target`; returns what was counted."""
  counts = {'rows': 0, 'changed': 0, 'words': 0, 'left': 0}
  suffix = source.suffix
  if suffix == '.parquet':
    _parquet(source, target, run, column, both, counts)
  else:
    lines = _plain if suffix == '.txt' else _objects
    with open(target, 'w', encoding='utf-8', newline='') as out:
      for block in _blocks(source):
        for line in lines(source, block, run, column, both, counts):
          out.write(line)
  return counts


def read(source: pathlib.Path, column: str = 'text') -> Iterator[list[str]]:
  """The texts of a shard, block by block; those of a .txt are its lines."""
  if source.suffix == '.parquet':
    start = 0
    with _open(source, column) as file:
      for batch in file.iter_batches(_ROWS, columns=[column]):
        yield _column(source, batch, 0, column, start)
        start += batch.num_rows
    return
  start = 0
  for block in _blocks(source):
    if source.suffix == '.txt':
      yield [line.rstrip('\r\n') for line in block]
    else:
      yield [text for _, text in parsed(source, block, column, start)]
    start += len(block)


def _count(counts: dict[str, int], swapped: Swapped) -> None:
  counts['rows'] += len(swapped.texts)
  counts['changed'] += sum(map(bool, swapped.spans))
  counts['words'] += sum(map(len, swapped.spans))
  counts['left'] += sum(swapped.left)


def _blocks(source: pathlib.Path) -> Iterator[list[str]]:
  """Lists of whole lines, with their ends as they are."""
  with open(source, encoding='utf-8', newline='\n') as file:  # \r\n is kept
    try:
      while block := file.readlines(BLOCK):
        yield block
    except UnicodeDecodeError as error:
      raise UserError(f'{source} is not UTF-8 text: {error}') from error


def _plain(source, block, run, column, both, counts) -> Iterator[str]:
  bare = [line.rstrip('\r\n') for line in block]
  swapped = run(bare)
  _count(counts, swapped)
  for line, old, new, spans in zip(block, bare, swapped.texts, swapped.spans):
    if both or not spans:
      yield line
    if spans:
      end = line[len(old) :]
      yield new + end if not both or end else '\n' + new  # of a last line


def parsed(source, block, column, start) -> list[tuple[dict, str]]:
  """Each line's object and its text; `start` lines came before the block."""
  rows = []
  for number, line in enumerate(block, start + 1):
    try:
      row = strict_json.parse(line)
      rows.append((row, row[column]))
    except (ValueError, KeyError, TypeError) as error:
      raise UserError(
        f'{source}, line {number} is not a JSON object with the field '
        f'{column!r}'
      ) from error
    if not isinstance(rows[-1][1], str):
      raise UserError(
        f'{source}, line {number} has no text in {column!r} but {rows[-1][1]!r}'
      )
  return rows


def _objects(source, block, run, column, both, counts) -> Iterator[str]:
  rows = parsed(source, block, column, counts['rows'])
  swapped = run([text for _, text in rows])
  _count(counts, swapped)
  for line, (row, _), new, spans in zip(
    block, rows, swapped.texts, swapped.spans
  ):
    whole = line if line.endswith('\n') else line + '\n'
    if both or not spans:
      yield whole
    if spans:
      yield json.dumps({**row, column: new}, ensure_ascii=False) + '\n'


def _open(source, column):
  """A parquet file that has the column."""
  import pyarrow as pa
  import pyarrow.parquet as pq

  try:
    file = pq.ParquetFile(source)
  except pa.ArrowInvalid as error:
    raise UserError(
      f'{source} is not a parquet file: {brief(error)}'
    ) from error
  names = file.schema_arrow.names
  if column not in names:
    file.close()
    raise UserError(
      f'{source} has no column {column!r}; it has {", ".join(names)}'
    )
  return file


def _column(source, batch, at, column, start) -> list[str]:
  """The texts of column number `at`; `start` rows came before the batch."""
  texts = batch.column(at).to_pylist()
  if not all(isinstance(text, str) for text in texts):
    wrong = [isinstance(text, str) for text in texts].index(False)
    raise UserError(f'{source}, row {start + wrong} has no text in {column!r}')
  return texts


def _parquet(source, target, run, column, both, counts) -> None:
  import pyarrow as pa
  import pyarrow.parquet as pq

  with _open(source, column) as file:
    schema = file.schema_arrow
    at = schema.names.index(column)
    with pq.ParquetWriter(target, schema) as writer:
      for batch in file.iter_batches(_ROWS):
        texts = _column(source, batch, at, column, counts['rows'])
        swapped = run(texts)
        _count(counts, swapped)
        twins = batch.set_column(
          at, schema.field(at), pa.array(swapped.texts, schema.field(at).type)
        )
        if both:
          twins = _interleaved(batch, twins, swapped)
        writer.write_batch(twins)


def _interleaved(batch, twins, swapped: Swapped):
  """Each row, and after it its twin where there is one."""
  import pyarrow as pa

  order = []
  for row, spans in enumerate(swapped.spans):
    order.append(row)
    if spans:
      order.append(batch.num_rows + row)
  table = pa.Table.from_batches([batch, twins]).take(pa.array(order))
  return table.combine_chunks().to_batches()[0]
