"""SentenceDebias: the main direction between sentences and their twins.

Liang et al. 2020 (arXiv:2007.08100). Encodings of a sentence and its
counterfactual twins have length 1; each tuple is centred; the first principal
components v of all of them span the subspace, and x ← x − Σ_v (x·v) v.
"""

import numpy as np
from jaxtyping import Float

from fairjax.core.errors import UserError
from fairjax.methods.erasers import Eraser, orthogonal


def fit(
  tuples: Float[np.ndarray, 'n m d'], components: int = 1, seed: int = 0
) -> Eraser:
  """The projection from n tuples of m twins."""
  x = np.asarray(tuples, np.float64)
  norm = np.linalg.norm(x, axis=-1, keepdims=True)
  if not len(x) or not norm.all():
    raise UserError(
      'an eraser from twins needs at least one pair, and no encoding of '
      'length 0'
    )
  x = x / norm
  x = (x - x.mean(1, keepdims=True)).reshape(-1, x.shape[-1])
  _, s, vt = np.linalg.svd(x - x.mean(0), full_matrices=False)
  rank = min(components, int((s > s.max(initial=0) * 1e-10).sum()))
  if not rank:
    raise UserError('all twins have the same encoding; give texts about people')
  share = float((s[:rank] ** 2).sum() / (s**2).sum())
  return orthogonal(
    vt[:rank].T, method='sentence', tuples=len(tuples), share=share
  )
