"""Config: what is measured, on which sets, and with which intervals."""

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
  or_else,
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
