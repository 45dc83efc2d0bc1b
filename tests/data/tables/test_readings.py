"""What is made of answers, labels and tables: inputs and results by hand."""

import ast
import gzip
import pathlib
import re
import tempfile
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.data.tables import answers, files, inputs, join, labels, readers
from fairjax.data.tables.audit_table import as_known, columns_of
from fairjax.report import words

table = pd.DataFrame
LABELS = 'class_order number_of offensive only_negated side titles'.split()


def of_values(given, rows, classes=(), positive=1, stacked=True):
  asked = answers.Asked(classes, positive, stacked=stacked)
  return answers.of_values(given, rows, asked)


def of_table(frame, table, columns=(), classes=(), positive=1):
  frame, table = pd.DataFrame(frame), pd.DataFrame(table)
  return answers.of_table(frame, table, columns, classes, positive)


def joined(frame, table, attrs=()):
  frame, table = pd.DataFrame(frame), pd.DataFrame(table)
  table.attrs |= attrs
  return join.rows(frame, table)


def numbered(cells, rule='', name='label'):
  table = pd.DataFrame({'label': cells})
  found = labels.number({'train': table}, rule, name)
  return found, table['label'], table.attrs['classes']


def read(name, content, coding='utf-8'):
  """A text, packed where its name says so; in blocks of one row and of two."""
  if isinstance(content, str):
    pack = gzip.compress if name.endswith('.gz') else bytes
    content = pack(content.encode(coding))
  found = []
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, name)
    path.write_bytes(content)
    for rows in 1, 2:
      with mock.patch.object(readers, 'BLOCK', rows):
        found.append(readers.read(str(path)))
  pd.testing.assert_frame_equal(*found)
  assert set(found[0].dtypes) == {np.dtype(object)}
  return found[0], found[0].attrs.get('remarks', ())


READERS = {
  'read': read,
  'of_values': of_values,
  'of_table': of_table,
  **{one: getattr(inputs, one) for one in ('predicted', 'columns', 'texts')},
  'as_known': as_known,
  'columns_of': lambda rows, asked: columns_of(table(rows), asked),
  'people': words.people,
  'days': lambda days, *more: inputs.columns(pd.to_datetime(days), *more),
  'years': lambda of, n: inputs.columns(pd.PeriodIndex(of, freq='Y'), n),
  'known': lambda frame: files.columns(pd.DataFrame(frame), Config().data),
  'table': lambda frame, *more: inputs.table(pd.DataFrame(frame), *more),
  'join': joined,
  'number': numbered,
  **{one: getattr(labels, one) for one in LABELS},
  'without_key': lambda a, b: join.without_key(table(a), one=table(b)),
}


def plain(found) -> str:
  """A result as the table of them has it."""
  if isinstance(found, pd.DataFrame):
    found = found.to_dict('list')
  if isinstance(found, np.ndarray | pd.Series):
    found = found.tolist()
  if isinstance(found, dict):
    return ' '.join(f'{name}={plain(one)}' for name, one in found.items())
  if isinstance(found, list | tuple):
    return f'[{" ".join(map(plain, found))}]'
  found = f'{found:g}' if isinstance(found, float) else str(found)
  return found.replace('\r\n', '↵')


@pytest.mark.parametrize(
  ('reader', 'given', 'expected'),
  word_tables.table_rows(__file__, 'readings.csv'),
)
def test_readings(reader, given, expected):
  try:
    found = plain(READERS[reader](*ast.literal_eval(given)))
  except UserError as error:
    found = str(error)
  assert re.fullmatch(re.escape(expected).replace('…', '.*'), found), found
