"""Answers: what a model said of rows, read once, whatever it came in.

Columns of a file or of the data, arrays, records, the output of a
`transformers` pipeline, the return value of a function: each becomes
probabilities [s, n, c] in the order of the classes, and is checked here alone.

A column holds the probability of the positive class, or a decision (a label);
`NAME*` stands for one column a class, in the order of the classes or with the
classes' names behind the common beginning. Our own predictions.parquet, with
p0, p1 … for seeds beside `id` and `set`, is read as it is; p0 and p1 of
another file are classes. A predicted label beside its confidence is turned
into a probability.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairjax.core.errors import UserError, shown
from fairjax.data.tables import join, readers
from fairjax.data.tables.readers import source

SINGLE = (  # columns of one probability or decision that need no naming
  *('score', 'scores', 'probability', 'probabilities', 'proba', 'prob', 'p'),
  *('y_score', 'y_prob', 'prediction', 'predictions', 'predicted', 'pred'),
  *('y_pred', 'y_hat'),
)
USUAL = (*SINGLE, 'p_*', 'prob_*', 'score_*', 'p*')
PIPELINE = ('label', 'score')
# Columns that hold what a model decided; `label` may be the truth too.
DECIDED = (
  *('label', 'predicted_label', 'pred_label', 'predicted_class', 'decision'),
  *('prediction', 'predicted', 'pred', 'y_pred', 'y_hat', 'label_predicted'),
)
SEED = re.compile(r'p\d+(_c\d+)?')  # a column of our own file
SCORE_OF = (  # the rest of a sentence
  "; of a pipeline of several labels give the audited one's score: lambda "
  "texts: [{one['label']: one['score'] for one in row}['LABEL'] for row in "
  'pipeline(texts, top_k=None)]'
)
RENAME = (
  '; call the labels alike with --config.data.labels=NAME=NUMBER,NAME=NUMBER'
)
PROBABILITY = (
  'a probability from 0 to 1 is needed: of logits take the sigmoid or softmax, '
  'divide percents by 100, and other points, less the least, by most - least'
)
SUM = 1e-3  # how far probabilities of a row may be from a sum of 1
MOST = 1000  # classes, where nobody names them
NUMBER = r'-?(?:\d*[.,]\d+(?:e-\d+)?|\d+(?= *%))( *%)?'  # as a text
NO_NUMBERS = {*'boolean datetime date time timedelta period'.split()}
ENOUGH = 20  # rows whose scores say what kind of number they are


class Answers(NamedTuple):
  """What one model said of rows."""

  name: str
  scores: np.ndarray  # [s, n, c]
  hard: bool = False  # decisions, not probabilities
  remarks: tuple[str, ...] = ()  # how they were read


class Asked(NamedTuple):
  """What answers are read against, and how a sentence speaks of them."""

  classes: Sequence[str] = ()  # the labels' names, in order
  positive: int = 1  # the class that one number a row is the probability of
  says: str = 'the table has'
  place: Callable[[int], str] = 'row {}'.format
  stacked: bool = True  # whether [s, n] may be given


def of_table(
  frame: pd.DataFrame,
  table: pd.DataFrame,
  columns: Sequence[str],
  classes: Sequence[str],
  positive: int = 1,
) -> list[Answers]:
  """The answers of each model in `frame`, for the rows of `table`."""
  rows, remarks = join.rows(frame, table)
  found = of_columns(rows, columns, classes, positive, table)
  return [one._replace(remarks=(*remarks, *one.remarks)) for one in found]


def of_columns(
  rows: pd.DataFrame,
  columns: Sequence[str],
  classes: Sequence[str],
  positive: int = 1,
  table: pd.DataFrame | None = None,
) -> list[Answers]:
  """The answers of each model in `rows`, as they stand."""
  table = pd.DataFrame() if table is None else table
  asked = Asked(classes, positive, f'{source(rows)} has')
  if not columns and _ours(rows):
    scores = of_run(rows)
    check(scores, asked)
    return [Answers('model', scores)]
  if not columns:
    one = _one(rows, _found(rows, table, classes), asked, table)
    return [one._replace(remarks=(*one.remarks, *_unused(rows, one, table)))]
  if len(columns) != len(set(columns)):
    raise UserError('audit.scores names a column twice')
  return [_one(rows, name, asked, table) for name in columns]


def of_values(given: Any, rows: int, asked: Asked) -> Answers:
  """Numbers [n], [n, c] or [s, n], words, or records, in the rows' order.

  A fraction a row is the probability of the class `positive`, a truth value
  says whether it holds; a whole number is the class itself, as a scikit-learn
  `predict` gives it.
  """
  named = labelled(given)
  if named is not None:
    if len(named) != rows:
      raise UserError(
        f'{asked.says} {len(named):,} answers for {rows:,} rows; give one each'
      )
    scores, hard = _of_labels(named, asked)
    return Answers('model', scores[None], hard)
  if (frame := readers.as_frame(given)) is not None:
    return _of_frame(frame, rows, asked)
  values = _numbers(given, asked)
  if values.shape == (rows, 1):
    values = values[:, 0]
  if values.ndim == 1 or (
    values.ndim == 2 and not (asked.stacked and values.shape[1] == rows)
  ):
    values = values[None]
  if values.ndim not in (2, 3) or values.shape[1] != rows:
    more = ' or, for several seeds, [s, n]' if asked.stacked else ''
    raise UserError(
      f'{asked.says} shape {np.shape(given)} for {rows:,} rows; give [n], '
      f'[n, classes]{more}'
    )
  if values.ndim == 3:
    check(values, asked)
    return Answers('model', values)
  if values.dtype.kind in 'iu':
    return Answers('model', _decided(values, asked), True)
  return Answers('model', *_probabilities(values, asked))


def check(scores: np.ndarray, asked: Asked) -> None:
  """Raises UserError at the first row of [s, n] or [s, n, c] that holds no
  probabilities."""
  wrong = ~((scores >= 0) & (scores <= 1 + SUM * (scores.ndim == 3)))
  if wrong.any():
    seed, row, *rest = np.argwhere(wrong)[0]
    value = float(scores[(seed, row, *rest)])
    remedy = PROBABILITY
    if not np.isfinite(value):
      remedy = 'give a probability, or leave that row out of the data too'
    raise UserError(
      f'{asked.says} {value!r} for {asked.place(int(row))}; {remedy}'
    )
  if scores.ndim < 3:
    return
  wrong = np.abs(scores.sum(-1) - 1) > SUM
  if wrong.any():
    seed, row = np.argwhere(wrong)[0]
    raise UserError(
      f'{asked.says} {scores.shape[2]} numbers for {asked.place(int(row))} '
      f'that sum to {scores[seed, row].sum():.4g}, not to 1; give the '
      'probabilities of classes of which one is right, or of the positive '
      'class alone'
    )


# Labels: words, or words with scores.


def labelled(given: Any) -> pd.DataFrame | None:
  """The score of each label [n, labels], NaN where a row does not name it.

  Of a label for each text (scored 1), of a label and its score, or of all
  labels with theirs, as pipelines give them; None where there are no labels.
  """
  words = given.tolist() if isinstance(given, np.ndarray | pd.Series) else given
  if isinstance(words, list | tuple) and len(words):
    if all(isinstance(one, str) for one in words):
      return _spread(words, np.ones(len(words)))
    if (found := readers.every_score(words)) is not None:
      return found.rename(columns=lambda name: name.removeprefix('p_'))
  if not isinstance(given, list | tuple | Mapping | pd.DataFrame):
    return None
  frame = readers.as_frame(given)
  if frame is None or not {*PIPELINE} <= {*frame}:
    return None
  score = pd.to_numeric(frame['score'], errors='coerce').to_numpy(float)
  return _spread(frame['label'].map(str).tolist(), score)


def _spread(words: Sequence[str], scores: np.ndarray) -> pd.DataFrame:
  code, names = pd.factorize(np.array(words, object))
  out = np.full((len(words), len(names)), np.nan)
  out[np.arange(len(words)), code] = scores
  return pd.DataFrame(out, columns=list(names))


def _of_labels(named: pd.DataFrame, asked: Asked) -> tuple[np.ndarray, bool]:
  """Scores of labels as probabilities [n, c], and whether they decide."""
  names, known = list(map(str, named)), named.notna().to_numpy()
  values = named.to_numpy(float)
  alone = bool((known.sum(1) == 1).all())
  scored = not alone or bool((values[known] != 1).any())
  if alone and scored and len(names) == 1 and np.nanmin(values) < 0.5:
    raise UserError(
      f'{asked.says} one label, {names[0]!r}, and its score; give the score '
      "alone, as lambda texts: [one['score'] for one in pipeline(texts)]"
    )
  places = _places(names, asked, lambda k: int(known[:, k].argmax()), scored)
  count = max(len(asked.classes), 2, 1 + max(places))
  # Two spellings of a class, 'Yes' and 'yes.', are two names of one place.
  out = np.where(known, values, 0) @ np.eye(count)[places]
  if not alone:
    check(out[None], asked)
    return out, False
  if not scored:
    return out, True
  if count > 2:
    raise UserError(
      f'{asked.says} the likeliest of {count} classes and its score alone; '
      'ask the pipeline for all scores (top_k=None) and give a column p_CLASS '
      'for each'
    )
  best = np.nansum(values, 1)
  check(best[None], asked)
  at = np.array(places)[known.argmax(1)]
  out[np.arange(len(out)), 1 - at] = 1 - best
  return out, False


def _places(
  words: Sequence[str],
  asked: Asked,
  row: Callable[[int], int],
  scored: bool = False,
) -> list[int]:
  """The class that each of some different words or numbers names.

  By its name (or one of several names of a class, 'a/b'), or else all of them
  by number, LABEL_0 too; `row` is the first that says the k-th word.
  """
  low = [_bare(word) for word in words]
  own = {*map(_bare, asked.classes)}
  if {*low} <= {'true', 'false'} and not {*low} & own and len(own) in (0, 2):
    return [asked.positive ^ (one == 'false') for one in low]
  if not asked.classes and not all(map(_number, low)):
    if len(low) != 2:
      raise UserError(
        f'{asked.says} {len(low)} different decisions ({shown(words[0])}, …), '
        'and the data has no labels to say which is which; give numbers, 1 '
        'for positive'
      )
    return [sorted(low).index(one) for one in low]
  names = {_bare(name): k for k, name in enumerate(asked.classes)}
  parts = {p: k for name, k in names.items() for p in name.split('/')}
  found = [(parts | names).get(one) for one in low]
  known = [k for k in found if k is not None]
  if len(known) == len(low):
    return known
  numbers = [int(match[1]) for match in map(_number, low) if match]
  most = max(len(asked.classes), 2) if asked.classes else MOST
  if len(numbers) == len(low) and max(numbers) < most:
    if known:
      raise UserError(
        f'{asked.says} the decisions {", ".join(sorted(low))}, and the labels '
        f'are {", ".join(asked.classes)}: {low[found.index(None)]} is none of '
        'them. Give decisions by these labels, or probabilities'
      )
    return numbers
  at = found.index(None)
  if number := re.fullmatch(NUMBER, low[at]):
    remedy = 'take off the % signs and divide by 100'
    raise UserError(
      f'{asked.says} {shown(words[at])} for {asked.place(row(at))}; '
      + (remedy if number[1] else 'give numbers, not texts: .astype(float)')
    )
  raise UserError(
    f'{asked.says} {shown(words[at])} for {asked.place(row(at))}, but the '
    f'labels are {", ".join(map(repr, asked.classes))}'
    + (SCORE_OF if scored else RENAME)
  )


def _bare(word: str) -> str:
  """A label as somebody writes it who answers in words: 'Toxic.'."""
  return str(word).strip(' \t\r\n.!"\'`*').casefold()


def _number(word: str) -> re.Match | None:
  return re.fullmatch(r'(?:label_)?(\d{1,6})', word)


def _decided(values: np.ndarray, asked: Asked) -> np.ndarray:
  """Decisions, words or whole numbers, as probabilities of 0 and 1."""
  code, distinct = pd.factorize(values.ravel())
  most = max(len(asked.classes), MOST)
  whole = values.dtype.kind in 'iu'
  if whole and not 0 <= distinct.min() <= distinct.max() < most:
    check(np.atleast_2d(values).astype(float), asked)
  words = [str(v) for v in distinct]
  row = lambda k: int((code == k).argmax()) % values.shape[-1]
  places = _places(words, asked, row)
  count = max(len(asked.classes), 2, 1 + max(places))
  return np.eye(count)[np.array(places)[code.reshape(values.shape)]]


def _numbers(given: Any, asked: Asked) -> np.ndarray:
  """An array of any container of numbers."""
  found = readers.as_values(given)
  try:
    values = np.asarray(found)
    if values.dtype.kind == 'O' and found is not None:
      values = values.astype(float)
  except (TypeError, ValueError, OverflowError, RuntimeError) as error:
    raise UserError(_no_numbers(found, asked)) from error
  if values.dtype.kind not in 'fiub' or not values.ndim:
    raise UserError(_no_numbers(given if found is None else found, asked))
  return values if values.dtype.kind in 'iub' else values.astype(float)


def _no_numbers(given: Any, asked: Asked) -> str:
  first = given[0] if isinstance(given, list) and given else given
  return (
    f'{asked.says} {shown(first)} for {asked.place(0)}; give a probability, '
    'or one a class, for each row, or the name of its label'
  )


def _probabilities(
  values: np.ndarray, asked: Asked
) -> tuple[np.ndarray, bool, tuple[str, ...]]:
  """[s, n] of the positive class as [s, n, 2], whether they decide, remarks."""
  values = values.astype(float)
  check(values, asked)
  both = np.stack([1 - values, values], -1)
  remarks: tuple[str, ...] = ()
  if values.shape[1] >= ENOUGH and 0 < values.max() <= 0.01:
    remarks = (
      f'were percents divided twice? {asked.says} no probability above 0.01',
    )
  both = both if asked.positive == 1 else both[..., ::-1]
  return both, bool(np.isin(values, (0, 1)).all()), remarks


def _of_frame(frame: pd.DataFrame, rows: int, asked: Asked) -> Answers:
  """A table that is given as it is: by the names of its columns."""
  names = [_bare(re.sub(r'(?i)^p_', '', str(c).strip())) for c in frame]
  classes = [_bare(name) for name in asked.classes]
  if len(names) == 1 and (asked.stacked or {*names} <= {*SINGLE, *classes}):
    if len(classes) == 2 and names[0] in classes:
      asked = asked._replace(positive=classes.index(names[0]))
    return of_values(frame.iloc[:, 0], rows, asked)
  unnamed = all(isinstance(c, int | np.integer) for c in frame)
  if sorted(names) == sorted(classes):
    frame = frame.iloc[:, [names.index(name) for name in classes]]
    asked = asked._replace(stacked=False)  # two rows are no two seeds
  elif asked.classes and not unnamed:
    raise UserError(
      f'{asked.says} the columns {", ".join(map(repr, map(str, frame)))[:200]},'
      f' and the labels are {", ".join(map(repr, asked.classes))}; call them '
      'p_LABEL, or give the one of the positive label'
    )
  return of_values(frame.to_numpy(), rows, asked)


# Columns.


def numeric(values: pd.Series) -> pd.Series:
  """A column of texts that are all numbers, as numbers: files hold texts.

  Of a date pandas would count the seconds, of a truth value with gaps 0 and 1.
  """
  if pd.api.types.is_numeric_dtype(values):
    return values
  if pd.api.types.infer_dtype(np.asarray(values, object)) in NO_NUMBERS:
    return values
  try:
    numbers = pd.to_numeric(values, errors='coerce')
  except OverflowError:  # of hundreds of digits: names, if anything
    return values
  empty = values.isna() | (values.astype(str).str.strip() == '')
  return numbers if (numbers.notna() | empty).all() > empty.all() else values


def _ours(rows: pd.DataFrame) -> bool:
  """Whether it is a predictions.parquet of a run, in which p0 is a seed."""
  marks = {'id', 'set'} <= set(map(str, rows))
  return marks and any(SEED.fullmatch(str(c)) for c in rows)


def of_run(rows: pd.DataFrame) -> np.ndarray:
  """Probabilities [s, n, c] as a run keeps them: of two classes P(1)."""
  columns = [c for c in rows if SEED.fullmatch(str(c))]
  seeds = len({c.split('_')[0] for c in columns})
  if seeds and len(columns) % seeds:
    raise UserError(
      f'{source(rows)} has {len(columns)} columns of predictions of {seeds} '
      f'seeds ({", ".join(columns[:6])}); each needs as many, so write it again'
    )
  width = len(columns) // max(seeds, 1) or 1
  values = _cells(rows, columns).reshape(len(rows), seeds, width)
  if width == 1:
    values = np.concatenate([1 - values, values], 2)
  return values.swapaxes(0, 1)


def _cells(rows: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
  """[n, columns], NaN for what is no number, which `check` refuses."""
  return rows[columns].apply(pd.to_numeric, errors='coerce').to_numpy(float)


def _found(
  rows: pd.DataFrame, table: pd.DataFrame, classes: Sequence[str]
) -> str:
  """The column of predictions, where none is named."""
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
  others = [str(c) for c in rows if c not in table and c not in ('id', 'set')]
  if len(others) == 1:
    return others[0]
  choices = ', '.join(map(repr, list(names.values())[:12]))
  raise UserError(
    f'{source(rows)} has no column that is called like a prediction (it has '
    f'{choices}); name it with --config.audit.scores=COLUMN'
  )


def _unused(rows: pd.DataFrame, one: Answers, table: pd.DataFrame) -> list[str]:
  """Of scores beside the decisions that are read, how to read them."""
  called = re.compile(
    r'(?i)(.*[_ -])?(p|prob|proba|probability|score)s?([_ -].*)?'
  )
  own = [c for c in map(str, rows) if one.hard and called.fullmatch(c)]
  return [
    f'{source(rows)} has decisions ({one.name}), which are read, and {c}, '
    f'which is not; for scores name it with --config.audit.scores={c}'
    for c in own
    if c != one.name
    and c not in table
    and rows[c].ndim == 1
    and pd.to_numeric(rows[c], errors='coerce').between(0, 1).all()
  ]


def _one(
  rows: pd.DataFrame, name: str, asked: Asked, table: pd.DataFrame
) -> Answers:
  """The answers of the column `name`, or of the columns `NAME*`."""
  if name.endswith('*'):
    return _of_classes(rows, name[:-1], asked)
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
  values = numeric(values)
  asked = asked._replace(place=f'column {name!r} of row {{}}'.format)
  if values.isna().any():
    row = int(values.isna().to_numpy().argmax())
    raise UserError(
      f'{source(rows)} has no prediction in {asked.place(row)}; give one, or '
      'leave that row out of the data too'
    )
  if pd.api.types.is_bool_dtype(values):
    return of_values(values, len(values), asked)._replace(name=name)
  if not pd.api.types.is_numeric_dtype(values):
    _refuse_mixed(values, asked)
    return Answers(name, _decided(values.to_numpy(), asked)[None], True)
  numbers = values.to_numpy(float)
  if np.isin(numbers, np.arange(max(len(asked.classes), 2))).all() or (
    {f'{v:g}' for v in np.unique(numbers)[:99]} <= {*asked.classes}
  ):
    return Answers(name, _decided(numbers.astype(int), asked)[None], True)
  if one := _confidence(rows, name, asked, table):
    return one
  own = re.sub(r'(?i)^(p|prob|score)_', '', name).casefold()
  low = [c.casefold() for c in asked.classes]
  if len(low) == 2 and own in low:  # it says which class it is of
    asked = asked._replace(positive=low.index(own))
  elif 'label' in table:
    _ask_below_half(numbers, table['label'].nunique(), name, asked)
  both, _, remarks = _probabilities(numbers[None], asked)
  return Answers(name, both, False, remarks)


def _confidence(
  rows: pd.DataFrame, name: str, asked: Asked, table: pd.DataFrame
) -> Answers | None:
  """A score beside the label that a model decided: confidence in that label.

  It is never below a fair share then. None where no such column is there, or
  where it says what the scores say, as those of the positive class.
  """
  names = {str(c).casefold(): str(c) for c in rows}
  decided = next((names[one] for one in DECIDED if one in names), name)
  if decided == name or isinstance(rows[decided], pd.DataFrame):
    return None
  score, label = numeric(rows[name]), numeric(rows[decided])
  share = 1 / max(len(asked.classes), 2)
  whole = not pd.api.types.is_float_dtype(label)
  if label.isna().any() or not whole or not score.between(0, 1).all():
    return None
  if not (score >= share - SUM).all():
    if decided.casefold() != 'label':  # which may be the truth
      at = _decided(label.to_numpy(), asked)[:, asked.positive] > 0
      if 0 < at.sum() < len(at) and np.corrcoef(at, score)[0, 1] < 0:
        raise UserError(
          f'{asked.says} decisions ({decided}) and scores ({name}) that say '
          'the opposite: scores are lower where the positive class is decided. '
          f'Rename {name} to p_LABEL, with the label that it is of'
        )
    return None
  if 'label' in table and decided.casefold() == 'label':
    truth = table['label'].to_numpy()
    words = label.astype(str).str.strip().str.casefold().to_numpy()
    called = pd.Series(asked.classes or ('0', '1')).str.casefold().to_numpy()
    if (words == called[truth]).all() or (words == truth.astype(str)).all():
      raise UserError(
        f'{source(rows)} has columns {decided} and {name}, and all its labels '
        "are those of the data: is it the model's confidence in the label, or "
        f'the probability of the positive class? Rename {name} to p_LABEL for '
        f'the latter, or {decided} to decision for the former'
      )
  asked = asked._replace(place=f'column {decided!r} of row {{}}'.format)
  named = _spread(label.astype(str).tolist(), score.to_numpy(float))
  scores, _ = _of_labels(named, asked)
  remark = (
    f'{source(rows)} has a label ({decided}) and a score of at least '
    f'{share:.2g} ({name}) in each row, as a pipeline writes them: read as '
    'confidence in that label'
  )
  return Answers('model', scores[None], False, (remark,))


def _ask_below_half(
  scores: np.ndarray, labels: int, name: str, asked: Asked
) -> None:
  """Scores that never fall below one half are confidences in some label."""
  few = len(scores) < ENOUGH or labels < 2 or len(np.unique(scores)) < 3
  inside = 0.5 <= scores.min() and scores.max() <= 1
  if few or not inside or len(asked.classes) > 2:
    return
  raise UserError(
    f'{asked.says} no score below 0.5 in column {name!r}, which confidence in '
    'a predicted label has: add the column of that label as decision; or, if '
    'it is the probability of a class, rename it to p_LABEL with its label'
  )


def _refuse_mixed(values: pd.Series, asked: Asked) -> None:
  """Names the first that is no number in a column of numbers."""
  words = values.astype(str).str.strip()
  odd = pd.to_numeric(words, errors='coerce').isna().to_numpy()
  if odd.any() and odd.mean() < 0.5:
    row = int(odd.argmax())
    raise UserError(
      f'{asked.says} {shown(words.iloc[row])} in {asked.place(row)}, and '
      'numbers in others; give a probability from 0 to 1 in every row'
    )


def _of_classes(rows: pd.DataFrame, start: str, asked: Asked) -> Answers:
  """A column a class: by its name, else by its number, else as they stand."""
  columns = [str(c) for c in rows if str(c).startswith(start)]
  classes = asked.classes
  ends = {c[len(start) :].casefold(): c for c in columns}
  if twice := [c for c in ends.values() if columns.count(c) > 1]:
    raise UserError(f'{source(rows)} has 2 columns named {twice[0]!r}; rename')
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
  scores = _cells(rows, columns)[None]
  check(scores, asked)
  return Answers(start.rstrip('_.- ') or 'model', scores)
