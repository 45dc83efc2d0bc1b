"""What is wrong with a data set: counted and reported, never silent.

Rows that cannot be used (no text, a spreadsheet's error in place of a text, no
label) stop the run or, with `data.on_bad=drop`, are left out and listed.
Everything else (duplicates, texts in two splits, label conflicts, splits of
one class, html entities) is counted and left as it is: the data is the user's.
"""

import pandas as pd

from fairjax.data.labels import SPREADSHEET
from fairjax.data.schema import Tables
from fairjax.errors import UserError

ENTITY = r'&(?:[a-zA-Z]{2,8}|#\d{1,6}|#[xX][0-9a-fA-F]{1,6});'
SHOWN = 5  # rows named in a sentence, ids named in the report
BAD_COLUMNS = ('split', 'id', 'row', 'reason', 'text')


def clean(
  tables: Tables, on_bad: str = 'error'
) -> tuple[Tables, dict, pd.DataFrame]:
  """Returns usable tables, the hygiene report, and the rows left out.

  Counts other than `bad` speak of the rows that are kept. `row` is the index
  of the table that came in: the row of its file where it came from one.
  """
  bad = {split: _reasons(table) for split, table in tables.items()}
  listed = pd.concat(
    [_listed(split, tables[split], why) for split, why in bad.items()],
    ignore_index=True,
  )
  if len(listed) and on_bad != 'drop':
    raise UserError(_sentence(tables, listed))
  report = {'splits': {}, 'leaks': {}, 'labels': None, 'warnings': []}
  kept = {}
  for split, table in tables.items():
    good, twins = _usable(table[bad[split].isna()])
    if not len(good):
      raise UserError(
        f'{_source(table, split)} has no row that can be used; the first of '
        f'{len(table)} has {bad[split].iloc[0]}: look at the file'
      )
    report['labels'] = report['labels'] or table.attrs.get('labels')
    report['splits'][split] = {
      'source': table.attrs.get('source', ''),
      'rows': len(table),
      'kept': len(good),
      'bad': bad[split].value_counts().to_dict(),
      **_facts(good),
      **twins,
    }
    kept[split] = good
  report['leaks'] = _leaks(kept)
  report['warnings'] = _warnings(report)
  return kept, report, listed


def _source(table: pd.DataFrame, split: str) -> str:
  return table.attrs.get('source') or f'the {split} table'


def _reasons(table: pd.DataFrame) -> pd.Series:
  """Why a row cannot be used; missing where it can."""
  why = pd.Series(None, index=table.index, dtype=object)
  why[table['label'].isna()] = 'no label'
  for column in ('text_pair', 'text'):  # the text's reason is the first told
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


def _sentence(tables: Tables, listed: pd.DataFrame) -> str:
  parts = []
  for split, rows in listed.groupby('split', sort=False):
    shown = [f'row {r.row} ({r.reason})' for r in rows[:SHOWN].itertuples()]
    more = ', …' if len(rows) > SHOWN else ''
    noun = 'row' if len(rows) == 1 else 'rows'
    parts.append(
      f'{_source(tables[split], split)} has {len(rows)} {noun} that cannot be '
      f'used: {", ".join(shown)}{more}'
    )
  return (
    '; '.join(parts)
    + '; mend the file, or leave such rows out with --config.data.on_bad=drop'
  )


def _usable(table: pd.DataFrame) -> tuple[pd.DataFrame, dict]:
  """Plain integer labels, a twin in every row, rows numbered anew."""
  table = table.reset_index(drop=True)
  table['label'] = table['label'].astype('int64')
  if 'twin' not in table:
    return table, {}
  twin = table['twin'].fillna('').astype(str)
  lost = (twin.str.strip() == '') | _spreadsheet(twin)
  table['twin'] = twin.where(~lost, table['text'])
  differ = table['twin'] != table['text']
  return table, {'twins': int(differ.sum()), 'twins_lost': int(lost.sum())}


def _facts(table: pd.DataFrame) -> dict:
  text = _key(table)
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


def _key(table: pd.DataFrame) -> pd.Series:
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
      inside = _key(tables[other]).isin(set(_key(tables[one])))
      if inside.any():
        ids = tables[other]['id'][inside]
        leaks[f'{one}/{other}'] = {
          'rows': int(inside.sum()),
          'ids': list(ids[:SHOWN]),
        }
  return leaks


def _warnings(report: dict) -> list[str]:
  """The report's findings that a reader must not miss, as sentences."""
  said = []
  for split, facts in report['splits'].items():
    reasons = ', '.join(f'{n} × {why}' for why, n in facts['bad'].items())
    for count, what in (
      (facts['rows'] - facts['kept'], f'rows left out ({reasons})'),
      (facts['conflicts'], 'texts with several labels'),
      (facts['duplicates'], 'rows that repeat an earlier text'),
      (facts.get('twins_lost'), 'twins missing, the text itself stands in'),
    ):
      if count:
        said.append(f'{split}: {count} {what}')
    if facts['one_class']:
      said.append(f'{split}: all rows have label {next(iter(facts["labels"]))}')
  for pair, leak in report['leaks'].items():
    one, other = pair.split('/')
    said.append(f'{other}: {leak["rows"]} rows whose text is also in {one}')
  return said
