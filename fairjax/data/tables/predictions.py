"""Predictions of any model from a file: scores or labels, by column.

A file of predictions has one line a row of the data. It is joined by id where
both have ids: never by place, whatever the ids look like. Where neither has
any, it is joined row by row (where both have the text, that must agree), and
where one has, by the row numbers that these ids must then be, or not at all.
A column holds the probability of the positive class, or a decision (a label);
`NAME*` stands for one column a class, in the order of the classes or with the
classes' names behind the common beginning. Our own predictions.parquet, with
p0, p1 … for seeds beside `id` and `set`, is read as it is; p0 and p1 of
another file are classes. The output of a `transformers` pipeline (a label, and
the confidence in it) is turned into a probability.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError
from fairjax.data.tables import readers
from fairjax.data.tables.files import source

USUAL = (  # columns that are looked for where none is named
  *('score', 'scores', 'probability', 'probabilities', 'proba', 'prob', 'p'),
  *('y_score', 'y_prob', 'prediction', 'predictions', 'predicted', 'pred'),
  *('y_pred', 'y_hat', 'p_*', 'prob_*', 'score_*', 'p*'),
)
MADE = 'row numbers'  # attrs['ids'] of a table whose ids are ours
PIPELINE = ('label', 'score')
SEED = re.compile(r'p\d+(_c\d+)?')  # a column of our own file
SCORE_OF = (  # the rest of a sentence
  "; of a pipeline of several labels give the audited one's score: lambda "
  "texts: [{one['label']: one['score'] for one in row}['LABEL'] for row in "
  'pipeline(texts, top_k=None)]'
)
SUM = 1e-3  # how far probabilities of a row may be from a sum of 1


class Predicted(NamedTuple):
  """The predictions of one model."""

  name: str
  scores: np.ndarray  # [s, n, c]
  hard: bool  # decisions, not probabilities
  remarks: tuple[str, ...] = ()  # how they were read


def read(
  frame: pd.DataFrame,
  table: pd.DataFrame,
  columns: Sequence[str],
  classes: Sequence[str],
  pos_label: int = 1,
) -> list[Predicted]:
  """The predictions of each model in `frame`, for the rows of `table`."""
  rows, said = joined(frame, table)
  rows = numeric(rows)
  if not columns and _ours(rows):
    return [_seeds(rows)]
  if not columns and (one := _pipeline(rows, table, classes)):
    return [one._replace(remarks=(*said, *one.remarks))]
  columns = list(columns) or [_found(rows, table, classes)]
  if len(columns) != len(set(columns)):
    raise UserError('audit.scores names a column twice')
  return [
    _one(rows, name, classes, pos_label)._replace(remarks=said)
    for name in columns
  ]


def of_answers(
  answer: Any,
  classes: Sequence[str],
  name: str,
  place: Callable[[int], str] = 'row {}'.format,
) -> np.ndarray | None:
  """[n, c] of what a function says in words; None where it gives numbers.

  A label for each text, what a `transformers` pipeline returns (a label and
  its score), or all labels with their scores (its top_k=None).
  """
  if isinstance(answer, np.ndarray | pd.Series):
    answer = answer.tolist()
  if isinstance(answer, Mapping):  # columns
    answer = _by_label(answer, classes, name)
  if not isinstance(answer, list | tuple) or not len(answer):
    return None
  pair = lambda one: isinstance(one, Mapping) and {*PIPELINE} <= {*one}
  said = [one['label'] if pair(one) else one for one in answer]
  if all(map(pair, answer)) and len(set(said)) == 1:
    _refuse_one_label(answer, name)
  known = {part for c in classes for part in [c, *c.split('/')]}
  known = {_bare(str(c)) for c in known} | {'0', '1', 'label_0', 'label_1'}
  for k, one in enumerate(said if classes else ()):
    if isinstance(one, str) and _bare(one) not in known:
      raise UserError(
        f'{name} answers {one[:60]!r} for {place(k)}, but the labels are '
        f'{", ".join(map(repr, classes))}; let it answer one of them for every '
        'text, or call them as it does with '
        '--config.data.labels=NAME=NUMBER,NAME=NUMBER'
        + (SCORE_OF if pair(answer[k]) else '')
      )
  if all(isinstance(one, str) for one in answer):
    rows = pd.DataFrame({'answer': list(map(_bare, answer))})
    rows.attrs['source'] = name
    c = max(len(classes), 2)
    return np.eye(c)[_codes(rows['answer'], 'answer', rows, classes)]
  if all(pair(one) for one in answer):
    rows = pd.DataFrame({k: [one[k] for one in answer] for k in PIPELINE})
    rows.attrs['source'] = name
    found = _pipeline(rows, pd.DataFrame(), classes)
    return None if found is None else found.scores[0]
  if (rows := readers.every_score(answer)) is not None:
    rows.attrs['source'] = name
    ends = {str(c).removeprefix('p_').casefold() for c in rows}
    if classes and not (
      ends == {c.casefold() for c in classes}
      or (len(ends) > 1 and all(map(str.isdigit, ends)))
    ):
      raise UserError(
        f'{name} scores {", ".join(map(repr, sorted(ends)))}, but the labels '
        f'are {", ".join(map(repr, classes))}{SCORE_OF}'
      )
    return _of_classes(rows, 'p_', classes).scores[0]
  if all(isinstance(one, Mapping) for one in answer):
    columns = {key: [one.get(key) for one in answer] for key in answer[0]}
    rows = pd.DataFrame(_by_label(columns, classes, name))
    rows.attrs['source'] = name
    return _of_classes(rows, '', classes).scores[0]
  return None


def _refuse_one_label(answer: Sequence[Mapping], name: str) -> None:
  """A score below a half is of a label that is never beaten: the only one."""
  if min(float(one['score']) for one in answer) < 0.5:
    raise UserError(
      f'{name} gives one label, {answer[0]["label"]!r}, and its score; give '
      "the score alone, as lambda texts: [one['score'] for one in "
      'pipeline(texts)]'
    )


def _bare(word: str) -> str:
  """A label as somebody writes it who answers in words: 'Toxic.'."""
  return word.strip(' \t\r\n.!"\'`*').casefold()


def _by_label(answer: Mapping, classes: Sequence[str], name: str) -> Any:
  """A number a label: records of them, where the labels are the data's."""
  keys = ', '.join(map(repr, list(answer)[:6]))
  if not classes or {str(k).casefold() for k in answer} != {
    c.casefold() for c in classes
  }:
    raise UserError(
      f'{name} returns {keys} for each text, and the labels of the data are '
      f'{", ".join(map(repr, classes)) or "not given"}; let it return the '
      'probability of the one that is audited'
    )
  return [
    dict(zip(answer, values)) for values in zip(*map(list, answer.values()))
  ]


def numeric(frame: pd.DataFrame) -> pd.DataFrame:
  """Columns of texts that are all numbers, as numbers: files hold texts."""
  out = frame.copy()
  out.attrs = dict(frame.attrs)
  for name in frame.columns[frame.columns != 'id']:
    values = frame[name]
    if isinstance(values, pd.Series) and not (
      pd.api.types.is_numeric_dtype(values)
    ):
      try:
        numbers = pd.to_numeric(values, errors='coerce')
      except OverflowError:  # of hundreds of digits: names, if anything
        continue
      empty = values.isna() | (values.astype(str).str.strip() == '')
      if (numbers.notna() | empty).all() and not empty.all():
        out[name] = numbers
  return out


def joined(
  frame: pd.DataFrame, table: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...]]:
  """The rows of `frame` for those of `table`, in its order; what to say."""
  where = source(frame)
  made = table.attrs.get('ids') == MADE
  if 'id' in frame and made:
    _numbered(frame, len(table), where)
  if 'id' in frame:
    rows = frame.assign(id=frame['id'].astype(str))
    if 'set' in rows and rows['id'].duplicated().any():
      rows = rows[rows['id'].isin(set(table['id']))]
    twice = rows['id'].duplicated()
    if twice.any():
      raise UserError(
        f'{where} has two predictions of id {rows["id"][twice].iloc[0]!r}'
      )
    at = pd.Index(rows['id']).get_indexer(table['id'])
    if (at < 0).any():
      row = int((at < 0).argmax())
      raise UserError(
        f'{where} has no prediction of id {table["id"].iloc[row]!r} (row '
        f'{row} of the data); it seems to be of other rows'
      )
    return rows.iloc[at].reset_index(drop=True), ()
  if len(frame) != len(table):
    raise UserError(
      f'{where} has {len(frame):,} rows and the data has {len(table):,}; give '
      'a prediction of every row in the same order, or ids in both'
    )
  rows = frame.reset_index(drop=True)
  said = ()
  if 'text' in rows and 'text' in table:
    apart = rows['text'].astype(str) != table['text'].reset_index(drop=True)
    if apart.any():
      row = int(apart.to_numpy().argmax())
      raise UserError(
        f'{where} has another text in row {row} than the data: these are '
        'predictions of other rows, or in another order'
      )
  elif not made:
    said = (
      f'{where} has no column id, and the data has one: its rows are taken to '
      'be in the order of the data',
    )
  rows.attrs = dict(frame.attrs)
  return rows, said


def _numbered(frame: pd.DataFrame, count: int, where: str) -> None:
  """Ids of predictions of rows without ids can only be row numbers, all."""
  ids = set(frame['id'].astype(str))
  if ids != {str(i) for i in range(count)}:
    raise UserError(
      f'{where} has ids ({next(iter(frame["id"].astype(str)))!r}, …), and the '
      'data has none to join them by; name the id column of the data with '
      '--config.data.id (in Python: a column called id), or leave ids out of '
      'the predictions to join them row by row'
    )


def _ours(rows: pd.DataFrame) -> bool:
  """Whether it is a predictions.parquet of a run, in which p0 is a seed."""
  marks = {'id', 'set'} <= set(map(str, rows))
  return marks and any(SEED.fullmatch(str(c)) for c in rows)


def _pipeline(
  rows: pd.DataFrame,
  table: pd.DataFrame,
  classes: Sequence[str],
) -> Predicted | None:
  """`label` and `score` of a pipeline: the likeliest class, and its share.

  A score is of the label beside it, so it is never below a fair share.
  """
  names = {str(c).casefold(): c for c in rows}
  if not {'label', 'score'} <= set(names):
    return None
  label, score = rows[names['label']], rows[names['score']]
  count = max(len(classes), 2)
  if label.isna().any() or not pd.api.types.is_numeric_dtype(score):
    return None
  if not ((score >= 1 / count - SUM) & (score <= 1)).all():
    return None  # scores of one class; the labels are something else
  if 'label' in table:
    truth = pd.Series(classes)[table['label'].to_numpy()].astype(str)
    words = label.astype(str).str.casefold()
    if (words.to_numpy() == truth.str.casefold().to_numpy()).all() or (
      words.to_numpy() == table['label'].astype(str).to_numpy()
    ).all():
      raise UserError(
        f'{source(rows)} has columns label and score, and all its labels are '
        "those of the data: is score the model's confidence in the label, or "
        'the probability of the positive class? Rename score to p for the '
        'latter, or label to decision and score to confidence and name one '
        'with --config.audit.scores'
      )
  if count > 2:
    raise UserError(
      f'{source(rows)} has label and score, the likeliest of {count} classes '
      'and its score alone; ask the pipeline for all scores (top_k=None) and '
      'give a column p_CLASS for each'
    )
  plain = label.astype(str).str.replace(r'(?i)^label_(?=\d+$)', '', regex=True)
  codes = (
    plain.astype(np.int64).to_numpy()
    if plain.isin(['0', '1']).all()
    else _codes(plain, names['label'], rows, classes)
  )
  p = np.where(codes == 1, score, 1 - score).astype(float)
  remark = (
    f'{source(rows)} has a label and the score of that label in each row, as a '
    'pipeline writes them: read as the probability of '
    f'{(classes or ("0", "1"))[1]!r}'
  )
  return Predicted('model', np.stack([1 - p, p], -1)[None], False, (remark,))


def _numbers(rows: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
  """[n, columns], NaN for what is no number, which `check` refuses."""
  return rows[columns].apply(pd.to_numeric, errors='coerce').to_numpy(float)


def _seeds(rows: pd.DataFrame) -> Predicted:
  columns = [c for c in rows if SEED.fullmatch(str(c))]
  seeds = len({c.split('_')[0] for c in columns})
  if len(columns) % seeds:
    raise UserError(
      f'{source(rows)} has {len(columns)} columns of predictions of {seeds} '
      f'seeds ({", ".join(columns[:6])}); each needs as many, so write it again'
    )
  values = _numbers(rows, columns).reshape(len(rows), seeds, -1)
  if values.shape[2] == 1:
    values = np.concatenate([1 - values, values], 2)
  scores = values.swapaxes(0, 1)
  check(scores, columns, source(rows))
  return Predicted('model', scores, False)


def _found(
  rows: pd.DataFrame, table: pd.DataFrame, classes: Sequence[str]
) -> str:
  names = {str(c).lower(): str(c) for c in rows}
  if len(classes) > 1 and {c.casefold() for c in classes} <= {*names}:
    return '*'  # a column a class, called as the labels are
  for usual in USUAL:
    if usual.endswith('*'):
      start = usual[:-1]
      own = [n for low, n in names.items() if low.startswith(start)]
      if len(own) > 1 and start:
        return own[0][: len(start)] + '*'
    elif usual in names:
      return names[usual]
  others = [str(c) for c in rows if c not in table and c != 'id']
  if len(others) == 1:
    return others[0]
  choices = ', '.join(map(repr, list(names.values())[:12]))
  raise UserError(
    f'{source(rows)} has no column that is called like a prediction (it has '
    f'{choices}); name it with --config.audit.scores=COLUMN'
  )


def _one(
  rows: pd.DataFrame, name: str, classes: Sequence[str], pos_label: int
) -> Predicted:
  if name.endswith('*'):
    return _of_classes(rows, name[:-1], classes)
  if name not in rows:
    choices = ', '.join(map(repr, map(str, list(rows)[:12])))
    raise UserError(
      f'{source(rows)} has no column {name!r} of predictions; it has {choices}'
    )
  values = rows[name]
  if isinstance(values, pd.DataFrame):
    raise UserError(
      f'{source(rows)} has {values.shape[1]} columns named {name!r}; rename one'
    )
  if values.isna().any():
    row = int(values.isna().to_numpy().argmax())
    raise UserError(
      f'{source(rows)} has no prediction in column {name!r} of row {row}'
    )
  numeric = pd.api.types.is_numeric_dtype(values)
  if numeric and not pd.api.types.is_bool_dtype(values):
    numbers = values.to_numpy(float)
    whole = np.isin(numbers, np.arange(max(len(classes), 2))).all()
    if not whole:
      return Predicted(name, _positive(numbers, name, rows, pos_label), False)
    codes = numbers.astype(np.int64)
  else:
    codes = _codes(values, name, rows, classes)
  c = max(len(classes), 2, int(codes.max()) + 1)
  return Predicted(name, np.eye(c)[codes][None], True)


def _positive(numbers, name, rows, pos_label) -> np.ndarray:
  wrong = ~((numbers >= 0) & (numbers <= 1))
  if wrong.any():
    row = int(wrong.argmax())
    raise UserError(
      f'{source(rows)} has {float(numbers[row])!r} in column {name!r} of row '
      f'{row}; a score is a probability from 0 to 1 (of logits take the '
      'sigmoid first)'
    )
  both = np.stack([1 - numbers, numbers], -1)
  return (both if pos_label == 1 else both[:, ::-1])[None]


def _codes(values, name, rows, classes) -> np.ndarray:
  """Decisions by name, as the classes are called."""
  words = values.astype(str).str.strip()
  known = {c.casefold(): k for k, c in enumerate(classes)}
  known |= {part: k for c, k in list(known.items()) for part in c.split('/')}
  if not classes:
    both = sorted(set(words))
    if len(both) != 2:
      _refuse_mixed(words, name, rows, np.zeros(len(words), bool))
      raise UserError(
        f'column {name!r} of {source(rows)} holds {len(both)} different '
        'decisions, and the data has no labels to say which is which; give '
        'numbers, 1 for positive'
      )
    known = {word.casefold(): k for k, word in enumerate(both)}
  codes = words.str.casefold().map(known)
  if codes.isna().any():
    _refuse_mixed(words, name, rows, codes.isna().to_numpy())
    row = int(codes.isna().to_numpy().argmax())
    raise UserError(
      f'{source(rows)} decides {words[row]!r} in column {name!r} of row {row}, '
      f'but the labels are {", ".join(map(repr, classes))}; call them alike '
      'with --config.data.labels=NAME=NUMBER,NAME=NUMBER'
    )
  return codes.to_numpy(np.int64)


def _refuse_mixed(words: pd.Series, name, rows, unknown: np.ndarray) -> None:
  """Names the first that is no number, or unknown, in a column of numbers."""
  odd = pd.to_numeric(words, errors='coerce').isna().to_numpy()
  wrong = odd if odd.any() else unknown
  if odd.mean() < 0.5 and wrong.any():
    row = int(wrong.argmax())
    raise UserError(
      f'{source(rows)} has {words[row]!r} in column {name!r} of row {row}, '
      'and numbers in others; give a probability from 0 to 1 in every row'
    )


def _of_classes(rows, start: str, classes: Sequence[str]) -> Predicted:
  columns = [str(c) for c in rows if str(c).startswith(start)]
  twice = next((c for c in columns if columns.count(c) > 1), None)
  if twice is not None:
    raise UserError(f'{source(rows)} has 2 columns named {twice!r}; rename one')
  ends = {c[len(start) :].casefold(): c for c in columns}
  if classes and all(name.casefold() in ends for name in classes):
    columns = [ends[name.casefold()] for name in classes]
  elif all(end.isdigit() for end in ends):
    columns = [ends[end] for end in sorted(ends, key=int)]
  elif classes:
    raise UserError(
      f'the columns {", ".join(columns[:8])} of {source(rows)} are not called '
      f'as the labels {", ".join(map(repr, classes))}; rename them to '
      f'{start}LABEL'
    )
  if len(columns) < 2 or (classes and len(columns) != len(classes)):
    raise UserError(
      f'{source(rows)} has {len(columns)} columns {start}*, and there are '
      f'{len(classes) or "at least 2"} classes; give one for each'
    )
  scores = _numbers(rows, columns)[None]
  check(scores, columns, source(rows))
  return Predicted(start.rstrip('_.- ') or 'model', scores, False)


def check(scores: np.ndarray, columns: Sequence[str], where: str) -> None:
  if not np.isfinite(scores).all():
    row = int(np.argwhere(~np.isfinite(scores))[0][1])
    raise UserError(f'{where} has no number for a probability in row {row}')
  apart = np.abs(scores.sum(-1) - 1) > SUM
  wrong = apart | (scores < 0).any(-1)
  if wrong.any():
    s, row = np.argwhere(wrong)[0]
    raise UserError(
      f'the probabilities of row {row} of {where} sum to '
      f'{scores[s, row].sum():.4g}, not to 1 (columns '
      f'{", ".join(map(str, columns[:6]))}); give probabilities of all classes'
    )
