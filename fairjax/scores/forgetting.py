"""Forgetting: how often a learned example is unlearned again.

The training rows are predicted after each epoch, dropout off; an example is
forgotten whenever it was right and is now wrong (Toneva et al. 2019,
arXiv:1812.05159). An example that was never right has no such event and scores
the number of evaluations, more than any count.
"""

import numpy as np
from jaxtyping import Bool, Float

from fairjax.core.errors import UserError


def forgetting(correct: Bool[np.ndarray, 's e n']) -> Float[np.ndarray, 's n']:
  """Counts right → wrong from one evaluation to the next."""
  evaluations = correct.shape[1]
  if evaluations < 2:
    raise UserError(
      f'forgetting looks at what changes between epochs and was given '
      f'{evaluations}; train the scoring run for at least 2'
    )
  count = (correct[:, :-1] & ~correct[:, 1:]).sum(1).astype(np.float64)
  return np.where(correct.any(1), count, float(evaluations))


def forgetting_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return forgetting(predictions.correct)
