"""Config: what is measured, and an audit of a model or its predictions."""

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
  knob,
  number,
  one_of,
  or_else,
)

# Of predictions, and of any table.
FILES = ('.csv', '.tsv', '.json', '.jsonl', '.parquet', '.gz')
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


@dataclasses.dataclass(slots=True)
class Audit:
  """What is audited, of whom, and when it fails (audit/recipe.py)."""

  model: str = knob('', path=True)
  against: str = knob('', path=True)
  scores: tuple[str, ...] = knob((), each(filled))
  classes: tuple[str, ...] = knob((), each(filled))
  groups: tuple[str, ...] = knob((), each(filled))
  intersections: bool = knob(True)
  weight: str = knob('')
  controls: tuple[str, ...] = knob((), each(filled))
  reference: str = knob('')
  choose: str = knob('', one_of('', 'accuracy', 'balanced_accuracy', 'eer'))
  swaps: tuple[str, ...] = knob(('auto',), each(filled))
  edited: str = knob('', existing, path=True)
  equalize: str = knob(
    '', one_of('', 'equal_opportunity', 'equal_fpr', 'demographic_parity')
  )
  control: bool = knob(True)
  costs: str = knob('')
  hiring: bool = knob(False)
  training: str = knob('', path=True)
  fail_if: str = knob('')
  fail_on: str = knob('whole', one_of('whole', 'part', 'value'))
  serve: int = knob(0, between(0, 65535))
  batch: int = knob(64, at_least(1))

  @property
  def computes(self) -> bool:
    """Whether a model may be asked; predictions in files need no device."""
    named = [name.lower() for name in (self.model, self.against) if name]
    return bool(self.training) or not all(n.endswith(FILES) for n in named)
