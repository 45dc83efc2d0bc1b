"""Config: an audit, of any classifier or of its predictions alone."""

import dataclasses

from fairjax.core.knobs import (
  at_least,
  between,
  each,
  existing,
  filled,
  knob,
  one_of,
)

# Of predictions, and of any table.
FILES = ('.csv', '.tsv', '.json', '.jsonl', '.parquet', '.gz')


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
