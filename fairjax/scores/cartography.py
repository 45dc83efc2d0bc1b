"""Data cartography: predictions of each example over the training epochs.

With p_e the probability of the example's own label after epoch e = 1 … E
(Swayamdipta et al. 2020, arXiv:2009.10795)

  confidence    mean_e p_e
  variability   sqrt(Σ_e (p_e - confidence)² / (E - ddof))
  correctness   share of the epochs in which the label was predicted
"""

import numpy as np
from jaxtyping import Bool, Float

from fairjax.core.errors import UserError


def confidence(chance: Float[np.ndarray, 's e n']) -> Float[np.ndarray, 's n']:
  return chance.mean(1, dtype=np.float64)  # float32 sums drift


def variability(
  chance: Float[np.ndarray, 's e n'], ddof: int = 0
) -> Float[np.ndarray, 's n']:
  """The paper divides by E (ddof 0); Zayed et al.'s code by E - 1 (ddof 1)."""
  epochs = chance.shape[1]
  if epochs < 2:
    raise UserError(
      f'variability is a deviation over epochs and was given {epochs}; train '
      'the scoring run for at least 2'
    )
  return chance.std(1, dtype=np.float64, ddof=ddof)  # as confidence


def correctness(correct: Bool[np.ndarray, 's e n']) -> Float[np.ndarray, 's n']:
  return correct.mean(1)


def confidence_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return confidence(predictions.chance)


def variability_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return variability(predictions.chance)


def correctness_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return correctness(predictions.correct)
