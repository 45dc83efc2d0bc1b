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

  model: str = knob(
    '',
    "a model's or run's folder, a file of predictions, 'module:function', "
    "'planted'; of compare a harness's log",
    path=True,
  )
  against: str = knob(
    '', 'a second one, or an earlier audit, compared row by row', path=True
  )
  scores: tuple[str, ...] = knob(
    (),
    "columns of a predictions file, a model each; 'p_*' takes all classes",
    each(filled),
  )
  classes: tuple[str, ...] = knob(
    (),
    'labels of a model whose labels may hold together; () is all, side by side',
    each(filled),
  )
  groups: tuple[str, ...] = knob(
    (),
    "group columns; 'age:18/30' cuts bands, 'terms:FILE' finds words",
    each(filled),
  )
  intersections: bool = knob(True, 'also compare combinations of columns')
  cluster: str = knob(
    '',
    "column of dependent rows (a writer); '' is equal texts, 'none' nothing",
  )
  weight: str = knob(
    '',
    'column of how many rows each row stands for; measures are weighted by it',
  )
  controls: tuple[str, ...] = knob(
    (),
    'columns that gaps are controlled for: groups are compared at equal values',
    each(filled),
  )
  reference: str = knob('', "a group's name, 'largest', or '' for the rest")
  choose: str = knob(
    '',
    'threshold that is best on validation rows, by this rule',
    one_of('', 'accuracy', 'balanced_accuracy', 'eer'),
  )
  swaps: tuple[str, ...] = knob(
    ('auto',),
    "edits whose decisions are counted: an axis as 'gender' or 'religion', "
    "'neutral', a word list; 'auto' takes the axes of the groups",
    each(filled),
  )
  edited: str = knob(
    '',
    "predictions of to_score.csv's texts, where the model is a file",
    existing,
    path=True,
  )
  equalize: str = knob(
    '',
    'thresholds of groups, chosen on half of the rows, that make this equal',
    one_of('', 'equal_opportunity', 'equal_fpr', 'demographic_parity'),
  )
  control: bool = knob(True, 'also edit as many words that show no group')
  costs: str = knob('', "costs of errors, as 'fp=1,fn=5'")
  hiring: bool = knob(
    False,
    'decisions select people for a job: impact ratios, by the four-fifths rule',
  )
  training: str = knob(
    '', 'training data whose rows are ranked by influence on the gap', path=True
  )
  fail_if: str = knob('', "a gate, as 'eqodd<0.8 or excess_flips>0.02'")
  fail_on: str = knob(
    'whole',
    "the 'whole' interval is beyond the gate's bound, 'part', or the 'value'",
    one_of('whole', 'part', 'value'),
  )
  serve: int = knob(
    0,
    'port of 127.0.0.1 at which sentences can be typed when the audit is done',
    between(0, 65535),
  )
  batch: int = knob(64, 'texts a model is given at once', at_least(1))

  @property
  def computes(self) -> bool:
    """Whether a model may be asked; predictions in files need no device."""
    named = [name.lower() for name in (self.model, self.against) if name]
    return bool(self.training) or not all(n.endswith(FILES) for n in named)
