"""Scores of a model's errors: GE, EL2N, PVI, the stereotype sign, class gaps.

With f the logits, p = softmax(f), y the label's one-hot vector and x' the
counterfactual of x,

  GE(x)         = ‖f(x) - f(x')‖₂      on the logits; 0 where x' is x
  EL2N(x, y)    = ‖p(x) - y‖₂
  stereotype    = sign(EL2N(x, y) - EL2N(x', y))
  gap of c      = |f_c(x) - f_c(x')|, or of p_c
  PVI(x → y)    = log₂ p_y(x) - log₂ P(y)
  wrong         = 1 where argmax p is not the label, else 0

GE is the score of Zayed et al. 2023 (arXiv:2211.11109, "Deep Learning on a
Healthy Data Diet"), EL2N that of Paul et al. 2021
(arXiv:2107.07075). A stereotype of 1 says that the text as written has the
larger error, -1 that its counterfactual has. PVI is the pointwise V-information
of Ethayarajh et al. 2022 (arXiv:2110.08420), in bits: low where the text says
little of its label, below 0 where it misleads. Its model without an input
learns the share P(y) of each label, which is taken of the rows themselves.
"""

import numpy as np
from jaxtyping import Float, Integer
from scipy.special import log_softmax, softmax


def ge(
  logits: Float[np.ndarray, '*s n c'], twins: Float[np.ndarray, '*s n c']
) -> Float[np.ndarray, '*s n']:
  """Distance between a text's logits and its twin's."""
  # In float64: of near twins a difference has few digits left.
  return np.linalg.norm(logits.astype(np.float64) - twins, axis=-1)


def el2n(
  logits: Float[np.ndarray, '*s n c'], label: Integer[np.ndarray, ' n']
) -> Float[np.ndarray, '*s n']:
  """Length of the error of the predicted probabilities; at most √2."""
  error = softmax(logits.astype(np.float64), axis=-1)
  error[..., np.arange(len(label)), label] -= 1
  return np.linalg.norm(error, axis=-1)


def stereotype(
  logits: Float[np.ndarray, '*s n c'],
  twins: Float[np.ndarray, '*s n c'],
  label: Integer[np.ndarray, ' n'],
) -> Float[np.ndarray, '*s n']:
  """1 where the text as written has the larger error, -1 where its twin."""
  return np.sign(el2n(logits, label) - el2n(twins, label))


def gap(
  values: Float[np.ndarray, '*s n c'],
  twins: Float[np.ndarray, '*s n c'],
  which: int,
) -> Float[np.ndarray, '*s n']:
  """Distance in one class, of logits or of probabilities."""
  return np.abs(values[..., which].astype(np.float64) - twins[..., which])


def pvi(
  logits: Float[np.ndarray, '*s n c'], label: Integer[np.ndarray, ' n']
) -> Float[np.ndarray, '*s n']:
  """Bits that a text adds to what the labels' shares say of its own."""
  own = log_softmax(logits.astype(np.float64), axis=-1)
  share = np.bincount(label, minlength=logits.shape[-1]) / len(label)
  bits = own[..., np.arange(len(label)), label] - np.log(share[label])
  return bits / np.log(2)


def wrong(
  logits: Float[np.ndarray, '*s n c'], label: Integer[np.ndarray, ' n']
) -> Float[np.ndarray, '*s n']:
  """1 where another label is predicted."""
  return (logits.argmax(-1) != label).astype(np.float64)  # ties: smaller class


def pvi_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return pvi(predictions.logits, predictions.label)


def wrong_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return wrong(predictions.logits, predictions.label)


def ge_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return ge(predictions.logits, predictions.twins)


def el2n_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return el2n(predictions.logits, predictions.label)


def stereotype_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return stereotype(predictions.logits, predictions.twins, predictions.label)


def logit_gap_scores(predictions, config) -> Float[np.ndarray, 's n']:
  return gap(predictions.logits, predictions.twins, config.measures.positive)


def probability_gap_scores(predictions, config) -> Float[np.ndarray, 's n']:
  chances = lambda logits: softmax(logits.astype(np.float64), axis=-1)
  return gap(
    chances(predictions.logits),
    chances(predictions.twins),
    config.measures.positive,
  )
