"""Files as frames: csv, tsv, json, jsonl, parquet, as people have them.

Files are read literally: 'NA' and 'null' are texts, html entities stay. The
index is the 0-based row of the file (header and blank lines not counted). What
cannot be read is one sentence that names the file and the remedy; what was
read otherwise than its name says is a sentence in attrs['remarks'].

Csv, tsv and jsonl are read row by row, so a file may be larger than its table;
reading stops with a sentence when half of the free memory is used.
"""

import csv
import functools
import gzip
import itertools
import os
import pathlib
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax.core import announce, paths, strict_json
from fairjax.core.errors import UserError, nearest
from fairjax.core.paths import place as place
from fairjax.core.paths import shown as shown
from fairjax.data import word_tables

SEPARATORS = {',': 'commas', '\t': 'tabs', ';': 'semicolons', '|': 'bars'}
KINDS = word_tables.table_rows(__file__, 'file_kinds.csv')  # that are no text
MARKS = {  # longest first: UTF-32 begins as UTF-16 does
  b'\xff\xfe\0\0': 'utf-32',
  b'\0\0\xfe\xff': 'utf-32',
  b'\xff\xfe': 'utf-16',
  b'\xfe\xff': 'utf-16',
}
TIMES = 16  # memory that a table takes, to the bytes of its text
BLOCK = 1 << 11  # records at a time
LOOKED_AT = 4096  # bytes from which an encoding without a mark is guessed
_FIELD_LIMIT = threading.Lock()


def as_frame(data: Any) -> pd.DataFrame | None:
  """Tables of any library: pandas, polars, pyarrow, Hugging Face datasets, a
  mapping of columns, a list of records; None for what is no table."""
  if isinstance(data, pd.DataFrame):
    whole_characters(dict.fromkeys(data, ()))
    return data
  if callable(getattr(data, 'collect_schema', None)) and hasattr(
    data, 'collect'
  ):
    data = data.collect()  # of polars, not yet computed
  splits = (
    isinstance(data, Mapping)
    and data
    and all(
      callable(getattr(one, 'to_pandas', None)) and hasattr(one, 'features')
      for one in data.values()
    )
  )
  if splits:
    names = ', '.join(map(repr, data))
    raise UserError(
      f'the data set has the splits {names}; give one, as in '
      f'data[{next(iter(data))!r}]'
    )
  if callable(getattr(data, 'to_pandas', None)):
    found = data.to_pandas()
    return found if isinstance(found, pd.DataFrame) else None
  if (found := every_score(data)) is not None:
    return found
  columns = isinstance(data, Mapping)
  records = (
    isinstance(data, list | tuple)
    and len(data)
    and all(isinstance(one, Mapping) for one in data)
  )
  if not (columns or records):
    return None
  every = data if columns else itertools.chain.from_iterable(data)
  whole_characters(dict.fromkeys(every, ()))
  try:
    return pd.DataFrame(data if columns else list(data))
  except ValueError as error:
    if isinstance(error, UnicodeEncodeError):
      whole_characters(pd.DataFrame(data if columns else [*data], dtype=object))
    raise UserError(
      f'the columns of the table do not fit together: {error}'
    ) from error


def whole_characters(columns: Mapping | pd.DataFrame) -> None:
  """A sentence for the first text or name that no file can hold."""
  half = re.compile('[\ud800-\udfff]').search
  fault = 'with half a character (a lone surrogate), which no file can hold'
  for name, values in columns.items():
    if half(str(name)):
      raise UserError(f'a column is called {name!r}, {fault}; rename it')
    if not re.match('object|<U', str(getattr(values, 'dtype', 'object'))):
      continue
    texts = ((k, v) for k, v in enumerate(values) if isinstance(v, str))
    for row, value in texts:
      if not value.isascii() and half(value):
        raise UserError(
          f'row {row} of the column {name!r} has {value[:40]!r}, {fault}; '
          "write it whole, or take it out with .encode('utf-8', "
          "'ignore').decode()"
        )


def every_score(data: Any) -> pd.DataFrame | None:
  """All labels with their scores, a list a text, as a `transformers` pipeline
  gives them for top_k=None: a column p_LABEL each."""
  pair = lambda one: isinstance(one, Mapping) and {'label', 'score'} <= {*one}
  if not (isinstance(data, list | tuple) and len(data)) or not all(
    isinstance(one, list | tuple) and one and all(map(pair, one))
    for one in data
  ):
    return None
  plain = lambda label: re.sub(r'(?i)^label_(?=\d+$)', '', str(label))
  return pd.DataFrame(
    [{f'p_{plain(o["label"])}': o['score'] for o in one} for one in data]
  )


def as_values(data: Any) -> Sequence | np.ndarray | None:
  """A column of any library by its places; None for what is no column."""
  if isinstance(data, str | bytes | Mapping) or callable(data):
    return None
  if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
    values = np.ma.getdata(data).astype(object)
    values[np.ma.getmaskarray(data)] = None  # what a mask hides is missing
    return values
  if getattr(data, 'ndim', 1) == 0:
    return None
  if isinstance(data, np.ndarray | list):
    return data
  if isinstance(data, pd.Series | pd.Index):
    return data.to_numpy()
  if callable(getattr(data, 'detach', None)):
    data = data.detach().cpu()  # of 16 bits numpy knows none
    return (data.double() if data.is_floating_point() else data).numpy()
  if hasattr(data, '__array__'):
    return np.asarray(data)
  return list(data) if isinstance(data, Sequence | Iterator) else None


class TableFile(NamedTuple):
  """One that can be opened, as often as is needed."""

  path: str  # as shown
  opened: Callable[..., Any]  # the built-in open of it, or that of gzip
  lines: int = 0  # of a text that was looked at


def read(path: str, usual: str = '') -> pd.DataFrame:
  """The records of one file, by its suffix; attrs say source and remarks.

  A file whose name ends otherwise is read as `usual`, if that is given.
  """
  where = place(path, kinds=tuple(READERS))
  name = where.name.lower()
  packed = name.endswith('.gz')
  suffix = pathlib.Path(name.removesuffix('.gz')).suffix
  suffix = suffix if suffix in READERS else usual
  if not suffix or (packed and suffix == '.parquet'):
    raise UserError(
      f'{shown(path)} is no file that can be read here; save it as one of '
      f'{", ".join(READERS)}'
    )
  with paths.reading(where):
    try:
      opened = functools.partial(gzip.open if packed else open, where)
      frame = READERS[suffix](TableFile(shown(path), opened))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
      raise UserError(
        f'{shown(path)} is not a whole gzip file ({error}); pack it again, or '
        'take .gz off its name if it is not packed'
      ) from error
  if not len(frame):
    raise UserError(
      f'{shown(path)} has no rows; put at least one below the header'
    )
  frame.attrs['source'] = shown(path)
  return frame


def source(frame: pd.DataFrame) -> str:
  return frame.attrs.get('source', 'the table')


def need(frame: pd.DataFrame, path: Any, names: Sequence, remedy: str) -> None:
  """Refuses a table that lacks a column; a near one is its remedy."""
  for name in names:
    if name not in frame:
      own = ', '.join(map(repr, list(frame)[:12])) or 'none'
      hint = nearest(name, map(str, frame), remedy)
      raise UserError(
        f'{path} has no column {name!r}, its columns are {own:.400}; {hint}'
      )


def refuse(
  frame: pd.DataFrame, cells: pd.Series, wrong: pd.Series, name: str, why: str
) -> None:
  """Names the first cell of a column that is wrong, and its row."""
  if wrong.any():
    row = frame.index[wrong.to_numpy().argmax()]
    raise UserError(
      f'{source(frame)} has {short(cells[row])} in column {name!r} of row '
      f'{row}, {why}'
    )


def short(value) -> str:
  """A cell or a name as a sentence shows it: blanks and ends are seen."""
  value = getattr(value, 'item', lambda: value)()  # 1, not np.int64(1)
  text = ascii(value) if not repr(value).isprintable() else repr(value)
  return text if len(text) <= 60 else f'{text[:60]}…'


# Bytes → text.


def look(path: str, file: IO[bytes]) -> int:
  """How many lines; a sentence where they are no text of UTF-8."""
  most, start = paths.free_memory() // TIMES, file.read(LOOKED_AT)
  if coding := _wide(start):
    raise UserError(
      f'{path} is {coding.upper()}; save it as UTF-8 (iconv -f {coding} -t '
      'utf-8)'
    )
  file.seek(0)
  zeros, size, blank = 0, 0, True
  for number, line in enumerate(iter(lambda: file.readline(most), b''), 1):
    zeros, size = zeros + line.count(0), size + len(line)
    if len(line) == most:
      break
    try:
      blank &= not line.decode().removeprefix('\ufeff').strip()
    except UnicodeDecodeError as error:
      for begins, kind, remedy in KINDS:
        if start.startswith(bytes.fromhex(begins)):
          remedy = remedy.format(path=path)
          raise UserError(f'{path} is {kind}, not text; {remedy}') from error
      raise UserError(
        f'{path} is not UTF-8: byte 0x{line[error.start]:02x} in line {number};'
        ' save it as UTF-8 (of Windows: iconv -f cp1252 -t utf-8)'
      ) from error
  if zeros * 2 > size:  # else csv reads it as one cell
    raise UserError(f'{path} is bytes of zero for the most part, not text')
  if size and len(line) == most:
    raise UserError(
      f'{path} has a line of more than {most / 2**30:.1f} GB, which needs more '
      'memory than is free here; write a row a line'
    )
  if blank:
    raise UserError(f'{path} is empty; give a file with rows')
  return number


def _wide(raw: bytes) -> str:
  """The name of a coding of two or four bytes a letter; '' for others.

  Without a mark it shows in zeros: Latin letters leave one byte of two, or
  three of four, at zero, and never the others.
  """
  for mark, coding in MARKS.items():
    if raw.startswith(mark):
      return coding
  start = raw[: min(LOOKED_AT, len(raw) // 4 * 4)]
  if len(start) < 8:
    return ''
  zero = [start[i::4].count(0) / len(start[i::4]) for i in range(4)]
  for coding, full in (('utf-32le', '0111'), ('utf-32be', '1110')):
    if all((z > 0.9) if f == '1' else (z < 0.1) for z, f in zip(zero, full)):
      return coding
  for coding, full in (('utf-16le', '0101'), ('utf-16be', '1010')):
    if all((z > 0.4) if f == '1' else (z < 0.05) for z, f in zip(zero, full)):
      return coding
  return ''


def text(path: str | os.PathLike) -> str:
  """A text file as a whole."""
  with paths.reading(path), open(place(path), 'rb') as file:
    look(shown(path), file)
    file.seek(0)
    return file.read().decode('utf-8-sig')


def lines(path: str) -> list[str]:
  """The lines of a text file."""
  result = [line.rstrip('\r') for line in text(path).split('\n')]
  return result if result[-1] else result[:-1]


# Readers: TableFile → DataFrame of literal values.


def _of_text(parse: Callable[[TableFile], pd.DataFrame]) -> Callable:
  def reader(file: TableFile) -> pd.DataFrame:
    with file.opened('rb') as content:
      count = look(file.path, content)
    lines = functools.partial(file.opened, 'rt', encoding='utf-8-sig')
    return parse(TableFile(file.path, lines, count))

  return reader


def _in_blocks(
  file: TableFile, rows: Iterator, columns: Any = None
) -> pd.DataFrame:
  """Rows as a frame; a sentence where half of what was free is taken."""
  free, blocks = paths.free_memory(), []
  with announce.counting(file.lines, f'lines of {file.path} read:') as add:
    while block := list(itertools.islice(rows, BLOCK)):
      blocks.append(pd.DataFrame(block, columns=columns, dtype=object))
      if 2 * paths.free_memory() < free:
        raise UserError(
          f'{file.path} takes {free / 2**31:.1f} GB up to row '
          f'{len(blocks) * BLOCK:,}, half of what was free here, and '
          'the rest is needed too: take a part of its rows, or fewer columns'
        )
      add(len(block))
  if not blocks:
    return pd.DataFrame(columns=columns)
  return pd.concat(blocks, ignore_index=True)


def _separated(file: TableFile, usual: str) -> pd.DataFrame:
  """Records with the separator that the name promises, or that which fits.

  Another one is looked for where the promised one leaves one column or a
  ragged table, and taken where it makes two columns or more, all of one width.
  """
  trouble, frame = None, None
  try:
    frame = _records(file, usual)
  except UserError as error:
    trouble = error
  if frame is not None and len(frame.columns) > 1:
    return frame
  with file.opened(newline='') as lines:
    first = next(filter(str.strip, lines), '')
  for mark, word in SEPARATORS.items():
    if mark == usual or mark not in first:
      continue
    try:
      other = _records(file, mark)
    except UserError:
      continue
    if len(other.columns) > 1:
      other.attrs['remarks'] = (
        f'{file.path} has {word} between its columns, not '
        f'{SEPARATORS[usual]}: read so, as '
        f'{", ".join(map(repr, other.columns[:6]))}',
      )
      return other
  if trouble:
    raise trouble
  return frame


def _records(file: TableFile, mark: str) -> pd.DataFrame:
  """csv records; between tabs there is no quoting, unless the file shows it.

  It does if it is ragged without; if its header is quoted; or if every cell
  that begins with a quote is well quoted and one has a doubled quote inside.
  """
  quoted = functools.partial(_wide_as_header, file, mark, strict=True)
  if mark != '\t':
    return quoted()
  try:
    plain = _wide_as_header(file, mark, quoting=csv.QUOTE_NONE)
  except UserError as ragged:
    try:
      return quoted()
    except UserError:
      raise ragged from None
  cells = plain.to_numpy().ravel()
  cells = [cell for cell in cells if cell[:1] == '"']
  whole = re.compile(r'"(?:[^"]|"")*"').fullmatch
  doubled = all(map(whole, cells)) and any('""' in c[1:-1] for c in cells)
  return quoted() if doubled or plain.columns[0][:1] == '"' else plain


def _wide_as_header(file: TableFile, mark: str, **how) -> pd.DataFrame:
  """csv records, each as wide as the header; else a sentence with the line."""
  with _FIELD_LIMIT, file.opened(newline='') as lines:
    # csv's one setting is global; texts may be long, of four bytes a letter.
    most = min(paths.free_memory() // TIMES, 2**31 - 1)
    before = csv.field_size_limit(most)
    reader = csv.reader(lines, delimiter=mark, **how)
    try:
      header = next(filter(None, reader), [])
      rows = _of_width(file.path, reader, len(header), SEPARATORS[mark])
      frame = _in_blocks(file, rows, range(len(header)))
    except csv.Error as error:
      raise UserError(
        f'{file.path} is not well-formed near line {reader.line_num} '
        f'({error}); check the quotes there'
      ) from error
    finally:
      csv.field_size_limit(before)
  frame.columns = header
  return frame


def _of_width(
  path: str, reader, width: int, between: str
) -> Iterator[list[str]]:
  for row in reader:
    if row and len(row) != width:
      raise UserError(
        f'{path} has {len(row)} field{"s"[: len(row) != 1]} in the record that '
        f'ends in line {reader.line_num} and {width} in its header; quote '
        f'texts that contain {between}'
      )
    if row:
      yield row


def _lines_of_json(file: TableFile) -> pd.DataFrame:
  with file.opened(newline='\n') as lines:
    return _in_blocks(file, _objects(file.path, lines))


def _objects(path: str, lines: Iterable[str]) -> Iterator[dict]:
  for number, line in enumerate(lines, 1):
    if not line.strip():
      continue
    try:
      row = strict_json.parse(line.removesuffix('\n'))
    except ValueError as error:
      raise UserError(
        f'{path} has no valid JSON in line {number} ({error}); write one '
        'object a line'
      ) from error
    if not isinstance(row, dict):
      raise UserError(
        f'{path} has {type(row).__name__} instead of an object in line '
        f'{number}; write {{"text": …, "label": …}}'
      )
    yield row


def _json(file: TableFile) -> pd.DataFrame:
  """An array of objects, an object of columns, or objects line by line."""
  path = file.path
  most = paths.free_memory() // TIMES
  with file.opened() as lines:
    text = lines.read(most)
  if len(text) == most:
    raise UserError(
      f'{path} holds more than {most / 2**30:.1f} GB when it is unpacked, and '
      'a table of that needs more memory than is free here; take a part of it, '
      'or write it as .jsonl, which is read line by line'
    )
  try:
    value = strict_json.parse(text)
  except ValueError as error:
    try:
      frame = _lines_of_json(file)
    except UserError:
      raise UserError(
        f'{path} is no valid JSON ({error}); write an array of objects'
      ) from error
    frame.attrs['remarks'] = (f'{path} has one object a line: read as .jsonl',)
    return frame
  if isinstance(value, dict) and all(
    isinstance(v, list) for v in value.values()
  ):
    if len({len(v) for v in value.values()}) == 1:
      return pd.DataFrame(value, dtype=object)
  if isinstance(value, dict) and 'text' in value:
    return pd.DataFrame([value], dtype=object)
  if (scores := every_score(value)) is not None:
    return scores.astype(object)
  if not isinstance(value, list):
    raise UserError(
      f'{path} holds {type(value).__name__} and no array of objects; write '
      '[{"text": …, "label": …}, …]'
    )
  for i, row in enumerate(value):
    if not isinstance(row, dict):
      raise UserError(
        f'{path} has {type(row).__name__} instead of an object at place {i}; '
        'write [{"text": …, "label": …}, …]'
      )
  return pd.DataFrame(value, dtype=object)


def _parquet(file: TableFile) -> pd.DataFrame:
  try:
    with file.opened('rb') as content:
      frame = pd.read_parquet(content)
  except Exception as error:  # pyarrow has many kinds for one fact
    why = (str(error).splitlines() or [type(error).__name__])[0]
    raise UserError(
      f'{file.path} is not a readable parquet file; write it again '
      f'({why[:120]})'
    ) from error
  frame.columns = [str(name) for name in frame.columns]
  frame.attrs = {}  # pandas keeps those of whoever wrote it
  return frame.reset_index(drop=True)


READERS = {
  '.csv': _of_text(functools.partial(_separated, usual=',')),
  '.tsv': _of_text(functools.partial(_separated, usual='\t')),
  '.jsonl': _of_text(_lines_of_json),
  '.ndjson': _of_text(_lines_of_json),
  '.json': _of_text(_json),
  '.parquet': _parquet,
}
