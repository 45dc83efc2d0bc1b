"""Escaping of names and texts that are not ours, one function a format.

A name may be a formula, a tag, a link or a command. Whatever leaves a run as
csv, markdown, LaTeX or html passes here.
"""

import csv as _csv
import html as _html
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
  import pandas as pd

BIDI = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'
# A formula where other marks than commas are taken for the ends of cells.
_INNER = re.compile(r'([;\t\r\n]\s*)(?=[=+\-@＝＋－＠][\w(])')
_NUMBER = re.compile(r'[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?', re.IGNORECASE)
_MARKS = re.compile(r'([\\`*_{}\[\]()#+!|~$])')
_LINK = re.compile(r'://|www\.|@', re.IGNORECASE)
_TEX = {
  '\\': r'\textbackslash{}',
  '~': r'\textasciitilde{}',
  '^': r'\textasciicircum{}',
  '[': '{[}',  # behind the end of a row it would be a length
  '*': '{*}',
  **{c: f'\\{c}' for c in '&%$#_{}'},
}


def printable(text: Any) -> str:
  """One line without characters that could steer a terminal."""
  text = ' '.join(str(text).split())
  if text.isprintable():  # most are, and it takes a tenth of the time
    return text
  return ''.join(
    '\N{REPLACEMENT CHARACTER}'
    if unicodedata.category(c) in ('Cc', 'Cs') or c in BIDI
    else c
    for c in text
  )


def html(text: Any) -> str:
  """Text, or an attribute's value in double quotes."""
  return entities(printable(text))


def entities(text: str) -> str:
  """The same where spaces and lines are kept."""
  return _html.escape(text, quote=True)


def lines_of(frame: 'pd.DataFrame') -> str:
  """A frame as a terminal shows it."""
  return _printable(frame).to_string(index=False)


def table_of(frame: 'pd.DataFrame') -> str:
  """A frame as a notebook shows it."""
  return _printable(frame).to_html(index=False, escape=True)


def _printable(frame: 'pd.DataFrame') -> 'pd.DataFrame':
  clean = lambda value: printable(value) if isinstance(value, str) else value
  return frame.map(clean).rename(columns=clean)


def tex(text: Any) -> str:
  """Text that LaTeX prints as it is."""
  return ''.join(_TEX.get(c, c) for c in printable(text))


def markdown(text: Any) -> str:
  """Text without tags, links, emphasis or tables."""
  text = _MARKS.sub(r'\\\1', _html.escape(printable(text), quote=False))
  coded = lambda c: c if c.isalnum() else f'&#{ord(c)};'
  return _LINK.sub(lambda m: ''.join(map(coded, m[0])), text)


def csv_cell(value: Any) -> Any:
  """A cell that no spreadsheet runs: what looks like a formula is a text."""
  if not isinstance(value, str) or _NUMBER.fullmatch(value):
    return value
  value = _INNER.sub(r"\1'", value)
  return f"'{value}" if _runs(value) else value


def _runs(cell: str) -> bool:
  """Whether its first letter that is seen, in any width, begins a formula."""
  seen = (c for c in cell if unicodedata.category(c)[0] not in 'CZ')
  first = unicodedata.normalize('NFKC', next(seen, ''))
  return first[:1] in tuple('=+-@') or cell[:1] in tuple('\t\r\n')


def csv(rows: 'Sequence[Mapping] | pd.DataFrame') -> str:
  """A table whose names and cells are safe."""
  if not isinstance(rows, Sequence):
    rows = [dict(zip(rows.columns, one)) for one in rows.to_numpy(object)]
  keys = list(dict.fromkeys(key for row in rows for key in row))
  if not keys:
    return ''
  file = io.StringIO()
  writer = _csv.writer(file, lineterminator='\n')
  writer.writerow(map(csv_cell, keys))
  for row in rows:
    cells = (row.get(key, '') for key in keys)
    writer.writerow('' if v != v else csv_cell(v) for v in cells)  # NaN: ''
  return file.getvalue()
