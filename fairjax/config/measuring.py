"""Config: what is measured, on which sets, and with which intervals."""

import dataclasses

from fairjax.config.axes import an_axis
from fairjax.core.knobs import (
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

  groups: str = knob(
    '', "'' compares the group column; a column name, or 'terms:FILE'"
  )
  sets: tuple[str, ...] = knob(
    ('test',), 'splits, or test sets of --list', each(SETS, least=1)
  )
  threshold: str = knob(
    '0.5', "decision threshold: a number or 'eer'", or_else('eer', number(0, 1))
  )
  resamples: int = knob(
    10000, 'number of bootstrap resamples', between(0, 10**6)
  )
  confidence_level: float = knob(
    0.95, 'confidence level of every interval', below(0.5, 1)
  )
  min_group: int = knob(
    10,
    'smallest number of rows for a group to count in a gap',
    at_least(1),
  )
  primary: tuple[str, ...] = knob(
    (),
    'claims that a run is made for, named before it: OURS against THEIRS: '
    'MEASURE on SET',
    each(filled),
    changes=(),
  )
  pos_label: int = knob(
    1,
    'the positive label: its name, or its number among the labels in order, '
    'from 0',
    at_least(0),
    changes=('scores', 'weights', 'data', 'measures'),
  )
  templates: str = knob(
    '', 'template file or folder of the identity set', existing, path=True
  )
  axis: str = knob(
    'gender',
    'whose values the identity set compares: gender, religion, … or a file',
    an_axis,
    path=True,
  )
  madlibs: str = knob(
    '', 'your copy of bias_madlibs_77k.csv', existing, path=True
  )
  gender_file: str = knob(
    '', 'your csv with columns text, gender, Class', existing, path=True
  )
