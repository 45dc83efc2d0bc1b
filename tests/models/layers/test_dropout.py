"""Dropout: its share, its scale, and that its draws are independent."""

import jax.numpy as jnp
import numpy as np

from fairjax.models.layers import dropout


def test_dropout_share_scale_and_independence():
  ones = jnp.ones((40, 50, 64))
  example = jnp.arange(40, dtype=jnp.int32)
  segment_ids = jnp.broadcast_to(jnp.arange(1, 41)[:, None], (40, 50))
  positions = jnp.broadcast_to(jnp.arange(50), (40, 50))
  identity = dropout.identities(example, segment_ids, positions)
  one = dropout.dropout(ones, 0.1, jnp.uint32(1), identity)
  two = dropout.dropout(ones, 0.1, jnp.uint32(2), identity)
  zero, other = one == 0, two == 0
  # 128,000 draws: five deviations are 0.0042.
  assert abs(float(zero.mean()) - 0.1) < 0.0042
  assert abs(float((zero & other).mean()) - 0.01) < 0.002
  np.testing.assert_allclose(one[~zero], 1 / 0.9, rtol=1e-6)
  for axis in range(3):  # neighbours along each axis are independent
    near = jnp.moveaxis(zero, axis, 0)
    both = (near[1:] & near[:-1]).mean()
    assert abs(float(both) - 0.01) < 0.002, axis
  np.testing.assert_array_equal(dropout.dropout(ones, 0.1, None, identity), 1)
