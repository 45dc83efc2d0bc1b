"""Files as frames: csv, tsv, json, jsonl, parquet, as people have them.

Files are read literally: 'NA' and 'null' are texts, html entities stay. The
index is the 0-based row of the file (header and blank lines not counted). What
cannot be read is one sentence that names the file and the remedy; what was
read otherwise than its name says is a sentence in attrs['remarks'].
"""

import csv
import functools
import gzip
import io
import itertools
import os
import pathlib
import re
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairjax.core import paths, strict_json
from fairjax.core.errors import UserError, nearest
from fairjax.core.paths import place as place
from fairjax.core.paths import shown as shown

SEPARATORS = {',': 'commas', '\t': 'tabs', ';': 'semicolons', '|': 'bars'}
MAGIC = {  # how files begin that are no text
  **{b'\x89PNG': 'a PNG image', b'\xff\xd8\xff': 'a JPEG image'},
  **{b'GIF8': 'a GIF image', b'%PDF': 'a PDF'},
  b'PK\x03\x04': 'a zip archive or an .xlsx',
  **{b'\xd0\xcf\x11\xe0': 'an .xls or .doc', b'\x1f\x8b': 'gzip'},
  **{b'BZh': 'bzip2', b'\xfd7zXZ': 'xz', b'\x28\xb5\x2f\xfd': 'zstd'},
  **{b'PAR1': 'parquet', b'SQLite': 'an SQLite database'},
  **{b'\x93NUMPY': 'a numpy array', b'\x80\x04': 'a pickle'},
}
MARKS = {  # longest first: UTF-32 begins as UTF-16 does
  b'\xff\xfe\0\0': 'utf-32',
  b'\0\0\xfe\xff': 'utf-32',
  b'\xff\xfe': 'utf-16',
  b'\xfe\xff': 'utf-16',
}
TIMES = 16  # memory that a table takes, to the bytes of its text
BLOCK = 1 << 15  # records at a time
LOOKED_AT = 4096  # bytes from which an encoding without a mark is guessed
_FIELD_LIMIT = threading.Lock()


def as_frame(data: Any) -> pd.DataFrame | None:
  """Tables of any library: pandas, polars, pyarrow, Hugging Face datasets, a
  mapping of columns, a list of records; None for what is no table."""
  if isinstance(data, pd.DataFrame):
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
  try:
    return pd.DataFrame(data if columns else list(data))
  except ValueError as error:
    if isinstance(error, UnicodeEncodeError):
      whole_characters(pd.DataFrame(data if columns else [*data], dtype=object))
    raise UserError(
      f'the columns of the table do not fit together: {error}'
    ) from error


def whole_characters(columns: Mapping | pd.DataFrame) -> None:
  """A sentence for the first text that no file can hold."""
  for name, values in columns.items():
    if not re.match('object|<U', str(getattr(values, 'dtype', 'object'))):
      continue
    texts = ((k, v) for k, v in enumerate(values) if isinstance(v, str))
    for row, value in texts:
      if not value.isascii() and re.search('[\ud800-\udfff]', value):
        raise UserError(
          f'row {row} of the column {name!r} has {value[:40]!r}, with half a '
          'character (a lone surrogate), which no file can hold; write it '
          "whole, or take it out with .encode('utf-8', 'ignore').decode()"
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
      with gzip.open(where) if packed else open(where, 'rb') as file:
        frame = READERS[suffix](shown(path), file)
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


def whole(path: str, file: io.BufferedIOBase) -> bytes:
  """All bytes, unpacked; a sentence where their table would not fit."""
  most = paths.free_memory() // TIMES
  raw = file.read(most + 1)
  if len(raw) > most:
    raise UserError(
      f'{path} holds more than {most / 2**30:.1f} GB when it is unpacked, and '
      'a table of that needs more memory than is free here; take a part of it, '
      'or write it as .parquet'
    )
  return raw


def decode(path: str, raw: bytes) -> str:
  """UTF-8 as text; of other bytes what they are, and what to do."""
  if not raw.strip():
    raise UserError(f'{path} is empty; give a file with rows')
  coding = _wide(raw)
  if coding:
    raise UserError(
      f'{path} is {coding.upper()}; save it as UTF-8 (iconv -f {coding} -t '
      'utf-8)'
    )
  if raw.count(b'\0') * 2 > len(raw):  # else csv reads it as one cell
    raise UserError(f'{path} is bytes of zero for the most part, not text')
  try:
    text = raw.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    kind = next((k for start, k in MAGIC.items() if raw.startswith(start)), '')
    if kind:
      raise UserError(_other(path, kind)) from error
    line = raw.count(b'\n', 0, error.start) + 1
    raise UserError(
      f'{path} is not UTF-8: byte 0x{raw[error.start]:02x} in line {line}; '
      'save it as UTF-8 (of Windows: iconv -f cp1252 -t utf-8)'
    ) from error
  if not text.strip():
    raise UserError(f'{path} is empty; give a file with rows')
  return text


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


def _other(path: str, kind: str) -> str:
  remedy = {
    'gzip': f'name it {path}.gz',
    'parquet': 'let its name end in .parquet',
  }
  remedy |= dict.fromkeys(('bzip2', 'xz', 'zstd'), 'unpack it')
  return f'{path} is {kind}, not text; ' + remedy.get(
    kind, 'save the rows as .csv or .jsonl'
  )


def text(path: str | os.PathLike) -> str:
  """A text file as a whole."""
  with paths.reading(path):
    raw = place(path).read_bytes()
  return decode(shown(path), raw)


def lines(path: str) -> list[str]:
  """The lines of a text file."""
  result = [line.rstrip('\r') for line in text(path).split('\n')]
  return result if result[-1] else result[:-1]


# Readers: (path as shown, binary file) → DataFrame of literal values.


def _of_text(parse: Callable[[str, str], pd.DataFrame]) -> Callable:
  return lambda path, file: parse(path, decode(path, whole(path, file)))


def _separated(path: str, text: str, usual: str) -> pd.DataFrame:
  """Records with the separator that the name promises, or that which fits.

  Another one is looked for where the promised one leaves one column or a
  ragged table, and taken where it makes two columns or more, all of one width.
  """
  trouble, frame = None, None
  try:
    frame = _records(path, text, usual)
  except UserError as error:
    trouble = error
  if frame is not None and len(frame.columns) > 1:
    return frame
  for mark, word in SEPARATORS.items():
    if mark == usual or mark not in text.lstrip().partition('\n')[0]:
      continue
    try:
      other = _records(path, text, mark)
    except UserError:
      continue
    if len(other.columns) > 1:
      other.attrs['remarks'] = (
        f'{path} has {word} between its columns, not {SEPARATORS[usual]}: '
        f'read so, as {", ".join(map(repr, other.columns[:6]))}',
      )
      return other
  if trouble:
    raise trouble
  return frame


def _records(path: str, text: str, mark: str) -> pd.DataFrame:
  """csv records; between tabs there is no quoting, unless the file shows it.

  It does if it is ragged without; if its header is quoted; or if every cell
  that begins with a quote is well quoted and one has a doubled quote inside.
  """
  quoted = functools.partial(_wide_as_header, path, text, mark, strict=True)
  if mark != '\t':
    return quoted()
  try:
    plain = _wide_as_header(path, text, mark, quoting=csv.QUOTE_NONE)
  except UserError as ragged:
    try:
      return quoted()
    except UserError:
      raise ragged from None
  cells = plain.to_numpy().ravel()
  cells = [cell for cell in cells if cell[:1] == '"']
  whole = re.compile(r'"(?:[^"]|"")*"').fullmatch
  doubled = all(map(whole, cells)) and any('""' in c[1:-1] for c in cells)
  return quoted() if doubled or text[0] == '"' else plain


def _wide_as_header(path: str, text: str, mark: str, **how) -> pd.DataFrame:
  """csv records, each as wide as the header; else a sentence with the line."""
  # A StringIO would hold four bytes a character.
  data = io.BytesIO(text.encode('utf-8', 'surrogatepass'))
  lines = io.TextIOWrapper(data, 'utf-8', 'surrogatepass', newline='')
  reader = csv.reader(lines, delimiter=mark, **how)
  with _FIELD_LIMIT:  # csv's one setting is global; texts may be long
    before = csv.field_size_limit(len(text) + 1)
    try:
      header = next(filter(None, reader), [])
      rows = _of_width(path, reader, len(header), SEPARATORS[mark])
      columns: list[list[str]] = [[] for _ in header]
      while block := list(itertools.islice(rows, BLOCK)):
        for column, cells in zip(columns, zip(*block)):
          column += cells
    except csv.Error as error:
      raise UserError(
        f'{path} is not well-formed near line {reader.line_num} ({error}); '
        'check the quotes there'
      ) from error
    finally:
      csv.field_size_limit(before)
  frame = pd.DataFrame(dict(enumerate(columns)), dtype=object)
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


def _lines_of_json(path: str, text: str) -> pd.DataFrame:
  rows = []
  for number, line in enumerate(text.split('\n'), 1):
    if not line.strip():
      continue
    try:
      row = strict_json.parse(line)
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
    rows.append(row)
  return pd.DataFrame(rows, dtype=object)


def _json(path: str, text: str) -> pd.DataFrame:
  """An array of objects, an object of columns, or objects line by line."""
  try:
    value = strict_json.parse(text)
  except ValueError as error:
    try:
      frame = _lines_of_json(path, text)
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


def _parquet(path: str, file: io.BufferedIOBase) -> pd.DataFrame:
  try:
    frame = pd.read_parquet(file)
  except Exception as error:  # pyarrow has many kinds for one fact
    why = (str(error).splitlines() or [type(error).__name__])[0]
    raise UserError(
      f'{path} is not a readable parquet file; write it again ({why[:120]})'
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
