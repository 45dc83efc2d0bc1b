"""z: demographic evidence in a row, as numbers (for methods/reweight.py).

Four kinds, by `config.weighting.z`: 'gender', 'terms', 'identity',
'columns:a,b'.
"""

import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

import fairjax.data
from fairjax.config import Config
from fairjax.core.errors import UserError, brief
from fairjax.data.sets.datasets import IDENTITIES
from fairjax.data.tables.terms import count_terms, read_terms
from fairjax.pairs.swapping import word_lists

OUR_TERMS = str(
  pathlib.Path(fairjax.data.__file__).parent / 'sets' / 'identity' / 'terms.txt'
)

# Gender words that are in no pair, since the other half depends on grammar.
PRONOUNS = ('him', 'his', 'her', 'hers')


class Evidence(NamedTuple):
  """What z is made of."""

  names: list[str]  # of the columns
  values: np.ndarray  # float32 [n, d]
  present: sparse.csr_array  # [n, t] bool: the terms a row speaks of
  terms: list[str]  # of the columns of `present`
  fitted: np.ndarray  # bool [n]; elsewhere P(y|z) is the class prior


def evidence(table: pd.DataFrame, config: Config) -> Evidence:
  """z of each row, by `config.weighting.z`."""
  kind = kind_of(config)
  if kind == 'gender':
    z = _gender(table, config)
  elif kind == 'terms':
    z = _terms(table, config)
  elif kind == 'identity':
    z = _identity(table, config)
  else:
    z = _columns(table, kind.removeprefix('columns:').split(','))
  values = z.values[z.fitted]
  if (values == values[:1]).all():
    raise UserError(
      f'z is the same in all {len(values)} rows that have it '
      f'(--config.weighting.z={kind}), so it says nothing of the label; '
      f'choose another'
    )
  return z


def kind_of(config: Config) -> str:
  """What z is, where the config leaves it to the group that is named."""
  z, group = config.weighting.z, config.data.group
  return (f'columns:{group}' if group else 'terms') if z == 'group' else z


def gender_words(config: Config) -> list[str]:
  """The words of `method.terms`, or all of our own list."""
  if config.method.terms:
    return read_terms(config.method.terms)
  ours = word_lists.gender()
  pairs = [word for row in ours.rows for word in row[:2]]
  words = [*PRONOUNS, *pairs, *ours.to_male, *ours.to_female]
  return [word for word in dict.fromkeys(words) if word]


def identity_terms(config: Config) -> list[str]:
  """The terms of `method.terms`, or our own list."""
  return read_terms(config.method.terms or OUR_TERMS)


def _gender(table: pd.DataFrame, config: Config) -> Evidence:
  """tf·idf of the gender words: tf is the count, idf = ln(n / (df + 1)).

  n rows have a gender word, df of them have this one.
  """
  words = gender_words(config)
  counts, _ = count_terms(table['text'], words)
  counts, words = _used(counts, words, 'gender words')
  some = counts.sum(1) > 0  # P(y|z) is fitted on these
  rows = (counts > 0).sum(0)
  idf = np.log(some.sum() / (rows + 1))
  values = (counts.toarray() * idf).astype(np.float32)
  return Evidence(words, values, counts > 0, words, some)


def _terms(table: pd.DataFrame, config: Config) -> Evidence:
  """Counts of the identity terms, and the number of words."""
  terms = identity_terms(config)
  counts, length = count_terms(table['text'], terms)
  counts, terms = _used(counts, terms, 'identity terms')
  values = np.column_stack([counts.toarray(), length]).astype(np.float32)
  everywhere = np.ones(len(table), bool)
  return Evidence([*terms, 'length'], values, counts > 0, terms, everywhere)


def _identity(table: pd.DataFrame, config: Config) -> Evidence:
  """Annotated identities (missing is 0), counts of terms, number of words."""
  names = [name for name in IDENTITIES if name in table]
  if not names:
    raise UserError(
      'the table has no identity column such as '
      f'{IDENTITIES[0]!r} or {IDENTITIES[-9]!r}; name yours with '
      '--config.weighting.z=columns:a,b'
    )
  shares = np.column_stack([_numbers(table, n).fillna(0) for n in names])
  # The counts are of the paper's code; its text does not mention them.
  terms = identity_terms(config)
  counts, length = count_terms(table['text'], terms)
  columns = np.flatnonzero(counts.sum(0))
  counts, terms = counts[:, columns], [terms[i] for i in columns]
  values = np.column_stack([shares, counts.toarray(), length])
  present = sparse.hstack([sparse.csr_array(shares >= 0.5), counts > 0])
  return Evidence(
    [*names, *terms, 'length'],
    values.astype(np.float32),
    present.tocsr(),
    [*names, *(f'"{term}"' for term in terms)],
    np.ones(len(table), bool),
  )


def _columns(table: pd.DataFrame, names: list[str]) -> Evidence:
  """The user's columns: numbers as they are, texts one indicator a value."""
  parts, titles = [], []
  for name in map(str.strip, names):
    if name == 'label':
      raise UserError(
        'weighting.z names the label itself: P(y|z) is then 1 and every weight '
        'the same; name columns of demographics'
      )
    if name not in table:
      raise UserError(
        f'weighting.z names the column {name!r}; the table has '
        f'{", ".join(map(str, table.columns))}'
      )
    if _is_numeric(table[name]):
      parts.append(_numbers(table, name).to_numpy()[:, None])
      titles.append(name)
      if np.isnan(parts[-1]).any():
        row = table['id'].iloc[int(np.isnan(parts[-1]).argmax())]
        raise UserError(
          f'column {name!r} of --config.weighting.z is empty in row {row}; '
          'fill it in'
        )
    else:
      values, kinds = pd.factorize(table[name].fillna('').astype(str), True)
      parts.append(np.eye(len(kinds))[values])
      titles += [f'{name}={kind}' for kind in kinds]
  values = np.column_stack(parts).astype(np.float32)
  present = sparse.csr_array(values > 0)
  return Evidence(titles, values, present, titles, np.ones(len(table), bool))


def _is_numeric(column: pd.Series) -> bool:
  """Numbers, or texts that all are: a csv file knows texts only."""
  filled = column.replace('', np.nan).dropna()
  return len(filled) > 0 and pd.to_numeric(filled, 'coerce').notna().all()


def _numbers(table: pd.DataFrame, name: str) -> pd.Series:
  try:
    return pd.to_numeric(table[name].replace('', np.nan)).astype(float)
  except (TypeError, ValueError) as error:
    raise UserError(
      f'column {name!r} is not a number: {brief(error)}'
    ) from error


def _used(counts, terms: list[str], what: str):
  """Only the terms that occur, or a sentence where none does."""
  columns = np.flatnonzero(counts.sum(0))
  if not len(columns):
    raise UserError(
      f'none of the {len(terms)} {what} occurs in the texts; name columns with '
      '--config.weighting.z=columns:NAME, or a file of words of the texts with '
      '--config.method.terms'
    )
  return counts[:, columns], [terms[i] for i in columns]
