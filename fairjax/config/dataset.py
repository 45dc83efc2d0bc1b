"""Config: which table, which text and ids of it, and what is measured."""

import dataclasses

from fairjax.core.knobs import (
  NAMED,
  at_least,
  below,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  number,
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


SETS = entry('fairjax.data:TEST_SETS', 'train', 'valid', 'test')


@dataclasses.dataclass(slots=True)
class Measures:
  """What is measured, and how sure we are of it."""

  groups: str = knob('')
  sets: tuple[str, ...] = knob(('test',), each(SETS, least=1))
  threshold: str = knob('0.5', or_else('eer', number(0, 1)))
  resamples: int = knob(10000, between(0, 10**6))
  confidence_level: float = knob(0.95, below(0.5, 1))
  min_group: int = knob(10, at_least(1))
  primary: tuple[str, ...] = knob((), each(filled), changes=())
  # A label by name, and its number once the rows are read.
  pos_label: object = knob(
    1, NAMED, changes=('scores', 'weights', 'data', 'measures')
  )
  templates: str = knob('', existing, path=True)
  madlibs: str = knob('', existing, path=True)
  gender_file: str = knob('', existing, path=True)

  @property
  def positive(self) -> int:
    """The positive label's number; the second where no rows name it."""
    return self.pos_label if isinstance(self.pos_label, int) else 1
