"""What a classifier's logits say, by its config.json, as transformers reads it.

`problem_type` of a folder, or its only logit, decides: classes of which one is
right have a softmax; labels that each hold or not (six kinds of toxicity), and
a single logit, have a sigmoid each; a regression has no probabilities.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit, softmax

from fairjax.core.errors import UserError

ONE, EACH = 'single_label_classification', 'multi_label_classification'
KINDS = (ONE, EACH, 'regression')


def problem(config: Mapping[str, Any], classes: int, where: str = '') -> str:
  """ONE, EACH or 'regression', in transformers' order."""
  kind = config.get('problem_type')
  if kind is not None and kind not in KINDS:
    raise UserError(
      f'{where or "config.json"} has problem_type {kind!r}; it must be one of '
      f'{", ".join(KINDS)}'
    )
  if kind == 'regression':
    return kind
  return EACH if kind == EACH or classes == 1 else ONE


def probabilities(
  logits: Float[np.ndarray, '*s n c'], kind: str
) -> Float[np.ndarray, '*s n c']:
  """The probabilities: of classes that exclude each other, or of each label."""
  logits = logits.astype(np.float64)
  return softmax(logits, axis=-1) if kind == ONE else expit(logits)


def require_one(config: Mapping[str, Any], classes: int, name: str) -> None:
  """One sentence where not just one of the classes is right."""
  kind = problem(config, classes, name)
  if kind != ONE:
    what = 'its labels may hold together' if kind == EACH else 'it has scores'
    raise UserError(
      f'{name} is no classifier of which one class is right ({what}: '
      f'problem_type {config.get("problem_type")!r}, {classes} of '
      'id2label); fairjax audit reads one label of it by name, with '
      '--config.audit.classes'
    )
