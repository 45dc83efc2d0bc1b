"""Config: which table, which text of it, and how text becomes ids."""

import dataclasses

from fairjax.core.knobs import (
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

  name: str = knob('planted', entry('fairjax.data:DATASETS', 'text'))
  path: str = knob('', path=True)
  valid_path: str = knob('', path=True)
  test_path: str = knob('', path=True)
  twin_path: str = knob('', path=True)
  sources: tuple[str, ...] = knob(
    (),
    each(form(r'[\w.]+(/\S+)? [0-9a-f]{64} .+', "'KNOB SHA256 ORIGIN'")),
    changes=(),
  )
  text: str = knob('text', filled, changes=('data', 'texts', 'attributes'))
  text_pair: str = knob('')
  label: str = knob('label')
  group: str = knob('')
  cluster: str = knob('', changes=('data',))
  twin: str = knob('')
  id: str = knob('')
  split: str = knob('')
  labels: str = knob('')
  on_bad: str = knob(
    'error', one_of('error', 'drop'), changes=('data', 'texts')
  )
  limit: int = knob(0, at_least(0))


@dataclasses.dataclass(slots=True)
class Planted:
  """The embedded data set with a known bias (sets/planted.py)."""

  rows: int = knob(4000, at_least(20))
  test_rows: int = knob(1000, at_least(20))
  correlation: float = knob(0.8, between(0.5, 1))
  seed: int = knob(0, at_least(0))


@dataclasses.dataclass(slots=True)
class Tokens:
  """Text to ids."""

  tokenizer: str = knob(
    '', existing, changes=('training', 'texts', 'attributes'), path=True
  )
  vocab_size: int = knob(4000, between(3, 2**24))
  max_length: int = knob(
    0, or_else(0, at_least(3)), changes=('training', 'attributes')
  )
