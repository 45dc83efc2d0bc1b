"""Config: which table, which text of it, and how text becomes ids."""

import dataclasses

from fairjax.core.knobs import (
  SEED,
  at_least,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  one_of,
  or_else,
)


@dataclasses.dataclass(slots=True)
class Data:
  """Which table, and how its columns are named."""

  name: str = knob(
    'planted',
    "a data set of --list; 'file' reads `path`, 'text' plain text",
    entry('fairjax.data:DATASETS', 'text'),
  )
  path: str = knob(
    '', "csv, tsv, jsonl, parquet file, or a data set's folder", path=True
  )
  valid_path: str = knob(
    '', "validation file; '' splits off a share of `path`", path=True
  )
  test_path: str = knob(
    '', "test file; '' splits off a share of `path`", path=True
  )
  twin_path: str = knob(
    '', 'file whose row i is the counterfactual of row i', path=True
  )
  sources: tuple[str, ...] = knob(
    (),
    "'KNOB SHA256 ORIGIN' of published files: other files are refused",
    each(form(r'[\w.]+(/\S+)? [0-9a-f]{64} .+', "'KNOB SHA256 ORIGIN'")),
    changes=(),
  )
  text: str = knob(
    'text',
    'column of the text, of shards of a corpus too',
    filled,
    changes=('data', 'texts', 'attributes'),
  )
  text_pair: str = knob('', 'column of a second text (sentence pairs)')
  label: str = knob('label', "column of the label; an audit does without: ''")
  group: str = knob('', 'column of the group that the row is about')
  cluster: str = knob(
    '',
    'column of what rows hang together by: a template, a writer; rows of one '
    'are cut into one split',
    changes=('data',),
  )
  twin: str = knob('', 'column of the counterfactual text')
  id: str = knob('', "column of stable ids; '' uses split and row number")
  split: str = knob(
    '', "column with train, valid or test; '' uses files or splits"
  )
  labels: str = knob(
    '',
    "label mapping: 'BAD=1,NOT_BAD=0', a threshold: '>0.5', '>=0.5', or "
    "'round': scores as ordered classes",
  )
  positive: str = knob(
    '',
    "the positive label by name, instead of measures.pos_label's number",
    changes=('scores', 'weights', 'data', 'measures'),
  )
  on_bad: str = knob(
    'error',
    "what to do with unusable rows: 'error' or 'drop'",
    one_of('error', 'drop'),
    changes=('data', 'texts'),
  )
  limit: int = knob(
    0,
    'largest number of rows of each split, or items of a benchmark, sampled; 0 '
    'keeps all',
    at_least(0),
  )
  split_seed: int = knob(
    0,
    'seed of the 8:1:1 split of data without splits',
    SEED,
    changes=('data', 'pretraining'),
  )


@dataclasses.dataclass(slots=True)
class Planted:
  """The embedded data set with a known bias (sets/planted.py)."""

  rows: int = knob(4000, 'rows of the training split', at_least(20))
  test_rows: int = knob(1000, 'rows of validation and of test', at_least(20))
  correlation: float = knob(
    0.8, 'P(gender agrees with the label) in training', between(0.5, 1)
  )
  seed: int = knob(0, 'seed of the generated sentences', SEED)


@dataclasses.dataclass(slots=True)
class Tokens:
  """Text to ids."""

  tokenizer: str = knob(
    '',
    "folder or vocab file; '' takes the model's, or trains one",
    existing,
    changes=('training', 'texts', 'attributes'),
    path=True,
  )
  vocab_size: int = knob(
    4000,
    'vocabulary size of a tokenizer trained on the data',
    between(3, 2**24),
  )
  max_length: int = knob(
    0,
    "largest number of tokens of a text; 0 is the model's limit",
    or_else(0, at_least(3)),
    changes=('training', 'attributes'),
  )
