"""A training step of FairFlow's flow, against PyTorch modules."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

PAIRS = 32
STEPS = 20


def _shape(chosen):
  from fairjax.models import flow

  return flow.FlowShape(chosen.width, factor=-(-chosen.width // 10))


def _vectors(chosen) -> tuple[np.ndarray, np.ndarray]:
  draw = np.random.default_rng(0)
  x = draw.normal(size=(2, PAIRS, chosen.width)).astype(np.float32)
  return x, np.tile([-1, 1], PAIRS // 2)


def _start(chosen) -> tuple[Any, dict]:
  import jax

  from fairjax.models import flow

  shape, (x, _) = _shape(chosen), _vectors(chosen)
  return shape, flow.init(
    shape, jax.random.key(0), np.concatenate(x).astype(np.float32)
  )


def ours(chosen) -> tuple[Callable, Callable, dict]:
  import jax
  import optax

  from fairjax.models import flow

  shape, params = _start(chosen)
  x, side = _vectors(chosen)
  batch = {'first': x[0], 'second': x[1], 'side': side}
  rule, objective = optax.adamw(1e-3, eps=1e-6), flow.FlowObjective()

  def loss(params):
    return flow.pair_loss(shape, objective, params, batch)[0] / PAIRS

  @functools.partial(jax.jit, donate_argnums=(0, 1))
  def step(params, state):
    value, gradient = jax.value_and_grad(loss)(params)
    update, state = rule.update(gradient, state, params)
    return optax.apply_updates(params, update), state, value

  held = {'at': (params, rule.init(params))}

  def unit():
    values = []
    for _ in range(STEPS):
      *held['at'], value = step(*held['at'])
      values.append(value)
    return [float(v) for v in values]

  return unit, lambda values: values[:1], {'per': 'steps/s', 'items': STEPS}


def theirs(chosen) -> tuple[Callable, Callable, dict]:
  """The same steps of the same weights by PyTorch modules."""
  import torch
  from torch import nn

  from fairjax.models import flow

  shape, params = _start(chosen)
  orders = [torch.tensor(o) for o in flow._orders(shape.width, shape.steps)]
  x, _ = _vectors(chosen)

  def host(tree, k):
    return {
      name: host(leaf, k) if isinstance(leaf, dict) else np.asarray(leaf[k])
      for name, leaf in tree.items()
    }

  def net(weights: dict, bounded: bool) -> nn.Module:
    parts: list[nn.Module] = []
    for k in range(shape.depth + 2):
      one = weights[f'linear_{k}']
      linear = nn.Linear(*one['kernel'].shape)
      linear.weight.data = torch.tensor(one['kernel'].T.copy())
      linear.bias.data = torch.tensor(one['bias'])
      parts += [linear, nn.LeakyReLU(0.01)]
    return nn.Sequential(*parts[:-1], *([nn.Tanh()] if bounded else []))

  class Flow(nn.Module):
    def __init__(self):
      super().__init__()
      each = [host(params, k) for k in range(shape.steps)]
      tensor = lambda a: nn.Parameter(torch.tensor(a))
      self.bias = nn.ParameterList([tensor(p['bias']) for p in each])
      self.scale = nn.ParameterList([tensor(p['scale']) for p in each])
      names = ('scale_0', 'shift_0', 'scale_1', 'shift_1')
      self.nets = nn.ModuleList(
        [
          nn.ModuleList([net(p[n], n.startswith('scale')) for n in names])
          for p in each
        ]
      )

    def forward(self, x):
      total = torch.zeros(len(x))
      for k, (s0, t0, s1, t1) in enumerate(self.nets):
        x = self.scale[k] * (x + self.bias[k])
        a, c = x.chunk(2, -1)
        s = s0(a)
        c, total = c * torch.exp(s) + t0(a), total + s.sum(-1)
        s = s1(c)
        a, total = a * torch.exp(s) + t1(c), total + s.sum(-1)
        total = total + self.scale[k].abs().log().sum()
        x = torch.cat([c, a], -1)[:, orders[k]]
      return x, total

  model, rho, k = Flow(), flow.FlowObjective().rho, shape.factor
  rule = torch.optim.AdamW(
    model.parameters(), lr=1e-3, eps=1e-6, weight_decay=1e-4
  )
  both = torch.tensor(np.concatenate(x))

  def step():
    z, logdet = model(both)
    one, two = z[:PAIRS], z[PAIRS:]
    gap = (two[:, :k] - rho * one[:, :k]).square().sum() / (1 - rho**2)
    squares = one.square().sum() + gap + two[:, k:].square().sum()
    loss = (0.5 * squares - logdet.sum()) / PAIRS
    rule.zero_grad()
    loss.backward()
    rule.step()
    return loss.detach()

  unit = lambda: [float(v) for v in [step() for _ in range(STEPS)]]
  return unit, lambda values: values[:1], {}
