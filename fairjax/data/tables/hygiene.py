"""Data checks: duplicates, leaks, empty texts, counted and reported.

Rows that cannot be used (no text, a spreadsheet's error in place of a text, no
label) stop the run or, with `data.on_bad=drop`, are left out and listed.
Everything else (duplicates, texts in two splits, label conflicts, splits of
one class, html entities) is counted and left as it is: the data is the user's.
"""

import itertools

import pandas as pd

from fairjax.core.errors import UserError, count
from fairjax.data.tables.labels import SPREADSHEET
from fairjax.data.tables.schema import Tables

ENTITY = r'&(?:[a-zA-Z]{2,8}|#\d{1,6}|#[xX][0-9a-fA-F]{1,6});'
SHOWN = 5  # rows named in a sentence, ids named in the report
BAD_COLUMNS = ('split', 'id', 'row', 'reason', 'text')


def usable(
  tables: Tables, on_bad: str = 'error'
) -> tuple[Tables, pd.DataFrame]:
  """The rows that can be used, and a list of those that cannot.

  `row` of the list is the index of the table that came in: the row of its
  file where it came from one.
  """
  bad = {split: _reasons(table) for split, table in tables.items()}
  bad_rows = pd.concat(
    [_listed(split, tables[split], why) for split, why in bad.items()],
    ignore_index=True,
  )
  if len(bad_rows) and on_bad != 'drop':
    raise UserError(_sentence(tables, bad_rows))
  tables_left = {}
  for split, table in tables.items():
    tables_left[split] = _usable(table[bad[split].isna()])
    if not len(tables_left[split]):
      raise UserError(
        f'{_source(table, split)} has no row that can be used; the first of '
        f'{len(table)} has {bad[split].iloc[0]}: look at the file'
      )
  return tables_left, bad_rows


def report(
  tables: Tables, usable_tables: Tables, used: Tables, bad: pd.DataFrame
) -> dict:
  """What there is to know: `tables` as read, `kept` usable, `used` drawn.

  Counts other than rows, kept, bad and twins lost speak of the rows used.
  """
  labels = None
  splits: dict[str, dict] = {}
  for split, table in used.items():
    reasons = bad['reason'][bad['split'] == split]
    labels = labels or table.attrs.get('labels')
    splits[split] = {
      'source': table.attrs.get('source', ''),
      'rows': len(tables[split]),
      'kept': len(usable_tables[split]),
      'used': len(table),
      'bad': reasons.value_counts().to_dict(),
      **_facts(table),
    }
    if 'twin' in table:
      splits[split] |= {
        'twins': int((table['twin'] != table['text']).sum()),
        'twins_lost': usable_tables[split].attrs.get('twins_lost', 0),
      }
  out = {'splits': splits, 'leaks': _leaks(used), 'labels': labels}
  return out | {'warnings': _warnings(out) + _shared_clusters(used)}


def _source(table: pd.DataFrame, split: str) -> str:
  return table.attrs.get('source') or f'the {split} table'


def _reasons(table: pd.DataFrame) -> pd.Series:
  """Why a row cannot be used; missing where it can."""
  why = pd.Series(None, index=table.index, dtype=object)
  why[table['label'].isna()] = 'no label'
  for column in ('text_pair', 'text'):  # the text's reason comes first
    if column in table:
      what = column.replace('_', ' ')
      text = table[column].fillna('').astype(str)
      why[_spreadsheet(text)] = f"a spreadsheet's error as {what}"
      why[text.str.strip() == ''] = f'an empty {what}'
      why[table[column].isna()] = f'no {what}'
  return why


def _spreadsheet(text: pd.Series) -> pd.Series:
  return text.str.fullmatch(SPREADSHEET.pattern)


def _listed(split: str, table: pd.DataFrame, why: pd.Series) -> pd.DataFrame:
  rows = table[why.notna()]
  return pd.DataFrame(
    {
      'split': split,
      'id': rows['id'].astype(object),
      'row': rows.index,
      'reason': why[why.notna()],
      'text': rows['text'].astype(object),
    },
    columns=list(BAD_COLUMNS),
  ).astype({'row': int})


def _sentence(tables: Tables, bad_rows: pd.DataFrame) -> str:
  parts: list[str] = []
  for split, rows in bad_rows.groupby('split', sort=False):
    cannot = f'{count(len(rows), "row")} that cannot be used'
    if parts:  # of the first, rows are named
      parts.append(f'{split} has {cannot}')
      continue
    examples = [f'row {r.row} ({r.reason})' for r in rows[:SHOWN].itertuples()]
    more = ', …' if len(rows) > SHOWN else ''
    parts.append(
      f'{_source(tables[split], split)} has {cannot}: '
      f'{", ".join(examples)}{more}'
    )
  return (
    '; '.join(parts)
    + '; fix the file, or leave such rows out with --config.data.on_bad=drop'
  )


def _usable(table: pd.DataFrame) -> pd.DataFrame:
  """Plain integer labels, a twin in every row, rows numbered anew."""
  table = table.reset_index(drop=True)
  table['label'] = table['label'].astype('int64')
  if 'twin' not in table:
    return table
  twin = table['twin'].fillna('').astype(str)
  unusable = (twin.str.strip() == '') | _spreadsheet(twin)
  table['twin'] = twin.where(~unusable, table['text'])
  table.attrs['twins_lost'] = int(unusable.sum())
  return table


def _facts(table: pd.DataFrame) -> dict:
  text = key(table)
  kinds = table.groupby(text, sort=False)['label'].nunique()
  pattern = table['text'].str.contains(ENTITY, regex=True)
  labels = table['label'].value_counts().sort_index()
  return {
    'labels': {str(k): int(v) for k, v in labels.items()},
    'one_class': len(labels) == 1,
    'duplicates': int(text.duplicated().sum()),
    'conflicts': int((kinds > 1).sum()),
    'html_entities': int(pattern.sum()),
  }


def key(table: pd.DataFrame) -> pd.Series:
  """What must be equal for two rows to be the same text (or text pair)."""
  if 'text_pair' in table:
    return table['text'] + '\x1f' + table['text_pair']
  return table['text']


def _leaks(tables: Tables) -> dict:
  """For each pair of splits: the later one's rows whose text is in both."""
  names = list(tables)
  leaks = {}
  for i, one in enumerate(names):
    for other in names[i + 1 :]:
      inside = key(tables[other]).isin(set(key(tables[one])))
      if inside.any():
        ids = tables[other]['id'][inside]
        leaks[f'{one}/{other}'] = {
          'rows': int(inside.sum()),
          'ids': list(ids[:SHOWN]),
        }
  return leaks


def _shared_clusters(tables: Tables) -> list[str]:
  """Of each pair of splits how many of the later's rows share a cluster."""
  sentences = []
  for one, other in itertools.combinations(tables, 2):
    name = tables[other].attrs.get('cluster')
    if not name:
      continue
    own, first = (tables[split]['cluster'] for split in (other, one))
    rows = int(own.isin(set(first.dropna())).sum())
    if rows:
      sentences.append(
        f'{other}: {count(rows, "row")} whose {name!r} is also in {one}'
      )
  return sentences


def _warnings(report: dict) -> list[str]:
  """The report's findings that a reader must not miss, as sentences."""
  sentences = []
  for split, facts in report['splits'].items():
    reasons = ', '.join(f'{n} × {why}' for why, n in facts['bad'].items())
    for number, one, what in (
      (facts['rows'] - facts['kept'], 'row', f'left out ({reasons})'),
      (facts['conflicts'], 'text', 'with several labels'),
      (facts['duplicates'], 'row', 'equal to an earlier text'),
      (facts.get('twins_lost'), 'twin', 'missing, the text itself stands in'),
    ):
      if number:
        sentences.append(f'{split}: {count(number, one)} {what}')
    if facts['one_class']:
      sentences.append(
        f'{split}: all rows have label {next(iter(facts["labels"]))}'
      )
  for pair, leak in report['leaks'].items():
    one, other = pair.split('/')
    sentences.append(
      f'{other}: {count(leak["rows"], "row")} whose text is also in {one}'
    )
  return sentences
