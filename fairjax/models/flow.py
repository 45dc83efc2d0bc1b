"""An invertible network whose first dimensions hold one attribute (FairFlow).

An embedding x of a word in its sentence becomes z = T(x), of which the first
K dimensions, the factor, are to hold the attribute and the rest everything
else (the invertible interpretation network of Esser, Rombach and Ommer 2020,
arXiv:2004.13166, as FairFlow uses it). One step of the flow is

  ActNorm     y = s ∘ (x + b);                      log|det| = Σ log|s|
  coupling    x = (a, c): c' = c ∘ exp S₀(a) + T₀(a),
              a' = a ∘ exp S₁(c') + T₁(c'), result (c', a');
                                         log|det| = Σ S₀(a) + Σ S₁(c')
  permutation fixed, drawn once

with S and T perceptrons, S within (-1, 1). The steps are one compiled body over
stacked parameters. Products may take bfloat16 operands; sums, scales and
log-determinants are float32.
"""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from fairjax.core.errors import UserError

PERMUTATION = 21  # stream of the fixed permutations


@dataclasses.dataclass(frozen=True)
class FlowShape:
  """Everything about a flow that its parameters do not say."""

  width: int
  steps: int = 6
  hidden: int = 100
  depth: int = 2  # hidden layers after the first
  factor: int = 77  # K

  def validate(self) -> None:
    if self.width % 2:
      raise UserError(
        f'the embeddings have {self.width} dimensions; a coupling splits them '
        'in two halves, so the number must be even'
      )
    if not 0 < self.factor < self.width:
      raise UserError(
        f'the factor has {self.factor} of {self.width} dimensions; it needs at '
        'least one, and must leave one'
      )


# Sums of products are float32 whatever the operands are.
_wide_product = functools.partial(
  jax.lax.dot_general, preferred_element_type=jnp.float32
)


class Perceptron(nn.Module):
  """Linear, LeakyReLU, depth × [Linear, LeakyReLU], Linear; tanh if bounded."""

  hidden: int
  depth: int
  bounded: bool
  dtype: Any = jnp.float32

  @nn.compact
  def __call__(self, x: Float[Array, 'b h']) -> Float[Array, 'b h']:
    def linear(x, features, name):
      # The kernel starts as torch.nn.Linear's: uniform, ±1/sqrt(inputs).
      start = nn.initializers.variance_scaling(1 / 3, 'fan_in', 'uniform')
      return nn.Dense(
        features,
        dtype=self.dtype,
        dot_general=_wide_product,
        kernel_init=start,
        name=name,
      )(x)

    width = x.shape[-1]
    for k in range(self.depth + 1):
      x = nn.leaky_relu(linear(x, self.hidden, f'linear_{k}'))
    x = linear(x, width, f'linear_{self.depth + 1}').astype(jnp.float32)
    return jnp.tanh(x) if self.bounded else x  # so a scale is in (1/e, e)


class Step(nn.Module):
  """ActNorm, double coupling and a permutation, in both directions."""

  shape: FlowShape
  dtype: Any = jnp.float32

  def setup(self):
    s = self.shape
    net = lambda bounded: Perceptron(s.hidden, s.depth, bounded, self.dtype)
    self.bias = self.param('bias', nn.initializers.zeros, (s.width,))
    self.scale = self.param('scale', nn.initializers.ones, (s.width,))
    self.scale_0, self.shift_0 = net(True), net(False)
    self.scale_1, self.shift_1 = net(True), net(False)

  def __call__(
    self, x: Float[Array, 'b d'], order: Int[Array, ' d']
  ) -> tuple[Float[Array, 'b d'], Float[Array, ' b']]:
    """z, and log|det ∂z/∂x| of each row."""
    x = self.scale * (x + self.bias)
    a, c = jnp.split(x, 2, axis=-1)
    s0 = self.scale_0(a)
    c = c * jnp.exp(s0) + self.shift_0(a)
    s1 = self.scale_1(c)
    a = a * jnp.exp(s1) + self.shift_1(c)
    logdet = s0.sum(-1) + s1.sum(-1) + jnp.log(jnp.abs(self.scale)).sum()
    return jnp.concatenate([c, a], -1)[:, order], logdet

  def inverse(
    self, z: Float[Array, 'b d'], order: Int[Array, ' d']
  ) -> Float[Array, 'b d']:
    c, a = jnp.split(z[:, jnp.argsort(order)], 2, axis=-1)
    # The half that changed last is undone first, by the one that z holds.
    a = (a - self.shift_1(c)) * jnp.exp(-self.scale_1(c))
    c = (c - self.shift_0(a)) * jnp.exp(-self.scale_0(a))
    return jnp.concatenate([a, c], -1) / self.scale - self.bias


@functools.lru_cache
def _orders(width: int, steps: int) -> np.ndarray:
  """The permutation of each step; part of the architecture, as the width is."""
  draw = np.random.default_rng([PERMUTATION, width])
  return np.stack([draw.permutation(width) for _ in range(steps)])


def init(
  shape: FlowShape, key: Array, sample: Float[Array, 'b d'], dtype: Any = None
) -> dict:
  """Random perceptrons, and ActNorms that normalise `sample` on its way.

  b = -mean and s = 1/(deviation + 1e-6), with n - 1 (Kingma and Dhariwal 2018).
  """
  step = Step(shape, dtype or jnp.float32)

  def one(x, at):
    key, order = at
    params = step.init(key, x, order)['params']
    bias = -x.mean(0)
    params |= {'bias': bias, 'scale': 1 / (x.std(0, ddof=1) + 1e-6)}
    return step.apply({'params': params}, x, order)[0], params

  orders = jnp.asarray(_orders(shape.width, shape.steps))
  if len(sample) < 2:
    raise UserError('a flow begins from two embeddings at least')
  return jax.lax.scan(
    one, sample, (jax.random.split(key, shape.steps), orders)
  )[1]


def forward(
  shape: FlowShape,
  params: dict,
  x: Float[Array, 'b d'],
  dtype: Any = jnp.float32,
) -> tuple[Float[Array, 'b d'], Float[Array, ' b']]:
  """z = T(x) and log|det ∂T/∂x| of each row."""
  step = Step(shape, dtype)

  def one(carry, at):
    params, order = at
    z, logdet = step.apply({'params': params}, carry[0], order)
    return (z, carry[1] + logdet), None

  orders = jnp.asarray(_orders(shape.width, shape.steps))
  start = (x.astype(jnp.float32), jnp.zeros(len(x), jnp.float32))
  return jax.lax.scan(one, start, (params, orders))[0]


def inverse(
  shape: FlowShape,
  params: dict,
  z: Float[Array, 'b d'],
  dtype: Any = jnp.float32,
) -> Float[Array, 'b d']:
  """x = T⁻¹(z)."""
  step = Step(shape, dtype)

  def one(z, at):
    params, order = at
    return step.apply({'params': params}, z, order, method='inverse'), None

  orders = jnp.asarray(_orders(shape.width, shape.steps))
  return jax.lax.scan(
    one, z.astype(jnp.float32), (params, orders), reverse=True
  )[0]


class FlowObjective(NamedTuple):
  """How pairs of embeddings of one group are made likely.

  The factor of the second is ρ times that of the first but for noise of
  variance 1 - ρ²; ρ = 0 is a flow that knows of no factor. With a `margin`
  the factors of the two groups are centred at -margin and +margin. `leak`
  weighs the squared distance of the groups' means outside the factor.
  """

  rho: float = 0.98
  margin: float = 0.0
  leak: float = 0.0


def pair_loss(
  shape: FlowShape,
  objective: FlowObjective,
  params: dict,
  batch: dict,
  dtype: Any = jnp.float32,
) -> tuple[Float[Array, ''], dict[str, Float[Array, '']]]:
  """Σ over pairs of the loss, and its terms. `side` is -1, +1, or 0 for none.

  As FairFlow's program trains it, a negative log-likelihood without its
  constants, eq. 3 of Esser et al.:

    ½‖z₁‖² - logdet₁ + ½‖z₂,K - ρ z₁,K‖²/(1 - ρ²) + ½‖z₂,rest‖² - logdet₂

  Eq. 2 of its paper has no halves, which is a base distribution of variance ½.
  """
  b, k, rho = len(batch['side']), shape.factor, objective.rho
  side = batch['side'].astype(jnp.float32)
  # One pass through the flow for both sides of all pairs.
  both = jnp.concatenate([batch['first'], batch['second']])
  z, logdet = forward(shape, params, both, dtype)
  first, second = z[:b], z[b:]
  centre = objective.margin * side[:, None]
  one, two = first[:, :k] - centre, second[:, :k] - centre
  squares = lambda x: jnp.sum(x * x, -1)
  factor = squares(one) + squares(two - rho * one) / (1 - rho**2)  # eq. 3
  rest = squares(first[:, k:]) + squares(second[:, k:])
  real = (side != 0).astype(jnp.float32)  # side 0 fills up the batch
  total = lambda x: jnp.sum(real * x)
  terms = {
    'factor': 0.5 * total(factor),
    'rest': 0.5 * total(rest),
    'logdet': total(logdet[:b] + logdet[b:]),
  }
  loss = terms['factor'] + terms['rest'] - terms['logdet']
  if objective.leak:
    gap = _gap(z[:, k:], jnp.concatenate([side, side]))
    terms['leak'] = gap * real.sum()  # a mean, as the loss is a sum
    loss = loss + objective.leak * terms['leak']
  return loss, terms


def _gap(z: Float[Array, 'n d'], side: Float[Array, ' n']) -> Float[Array, '']:
  """The squared distance of the means of the two sides."""
  mean = lambda own: own @ z / jnp.maximum(own.sum(), 1)
  difference = mean((side > 0) * 1.0) - mean((side < 0) * 1.0)
  return jnp.sum(difference**2)


def factor_size(
  first: Float[np.ndarray, 'n d'], second: Float[np.ndarray, 'n d']
) -> int:
  """How many dimensions a factor deserves that pairs (a, b) share.

  Esser et al. 2020, section 3.1: the factor scores Σ_j Cov(a_j, b_j) / Σ_j
  Var_j, the residual 1, and the factor has ⌊softmax(scores) · d⌋ dimensions.
  """
  first, second = (np.asarray(one, np.float64) for one in (first, second))
  both = np.concatenate([first, second])
  mean = both.mean(0)
  score = ((first - mean) * (second - mean)).mean(0).sum() / both.var(0).sum()
  shares = np.exp([score, 1.0])  # the residual factor's score is 1
  return math.floor(shares[0] / shares.sum() * first.shape[1])


class Whitening(NamedTuple):
  """x → (x - mean) W, and back: what comes before the flow, or nothing."""

  mean: Float[np.ndarray, ' d']
  matrix: Float[np.ndarray, 'd d']
  back: Float[np.ndarray, 'd d']

  def __call__(self, x: Float[np.ndarray, 'n d']) -> Float[np.ndarray, 'n d']:
    return ((x - self.mean) @ self.matrix).astype(np.float32)

  def inverse(self, y: Float[np.ndarray, 'n d']) -> Float[np.ndarray, 'n d']:
    return (y @ self.back + self.mean).astype(np.float32)


def whitening(x: Float[np.ndarray, 'n d'], how: str = 'white') -> Whitening:
  """'none'; 'white' Σ^-½."""
  width = x.shape[1]
  if how == 'none':
    one = np.eye(width)
    return Whitening(np.zeros(width), one, one)
  x = np.asarray(x, np.float64)
  values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
  # A direction of hardly any variance would be all noise.
  root = np.sqrt(np.maximum(values, 1e-3 * values.mean()))
  return Whitening(
    x.mean(0), (vectors / root) @ vectors.T, (vectors * root) @ vectors.T
  )
