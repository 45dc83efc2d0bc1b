"""Peers of the gradient-norm race: hooks, and Opacus.

Each is `make(torch, model, ids, label)` of a transformers classifier in eval
mode, and gives a function without arguments that returns the norms [b].

  opacus-ghost  the norms of its ghost clipping (Li et al. 2021)
  ghost         the same formulas by hand: hooks that keep what each layer
                read, and gradients of its outputs only
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Norms = Callable[[], Any]


def _loss(torch, logits, label):
  cross_entropy = torch.nn.functional.cross_entropy
  return cross_entropy(logits.float(), label, reduction='sum')


def _inputs(torch, ids) -> dict:
  """Everything by row: hooks see which example a place belongs to."""
  positions = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
  return {
    'input_ids': ids,
    'attention_mask': torch.ones_like(ids),
    'position_ids': positions.contiguous(),
    'token_type_ids': torch.zeros_like(ids),
  }


def opacus_ghost(torch, model, ids, label) -> Norms:
  from opacus.grad_sample import grad_sample_module_fast_gradient_clipping

  hooked = grad_sample_module_fast_gradient_clipping.GradSampleModuleFastGradientClipping(  # noqa: E501
    _training(torch, model),
    loss_reduction='sum',
    max_grad_norm=1.0,
    use_ghost_clipping=True,
    strict=False,
  )
  inputs = _inputs(torch, ids)

  def unit():
    hooked.zero_grad(set_to_none=True)
    _loss(torch, hooked(**inputs).logits, label).backward()
    return hooked.get_norm_sample().detach()

  return unit


def _training(torch, model):
  """Opacus' hooks work in training mode only: dropout is 0 there instead."""
  for module in model.modules():
    if isinstance(module, torch.nn.Dropout):
      module.p = 0.0
  return model.train()


def ghost(torch, model, ids, label) -> Norms:
  """No parameter has a gradient; what layers read and give says the norms."""
  nn, inputs, squares, grams = torch.nn, _inputs(torch, ids), [], {}
  word, position, _ = (m for m in model.modules() if type(m) is nn.Embedding)
  same = (ids[:, :, None] == ids[:, None, :]).float()
  sums = lambda v: v.float().sum(1).square().sum(1)
  gram = lambda v: torch.bmm(v, v.mT).float()

  def linear(module, a, g):
    a, g = (v[:, None] if v.ndim == 2 else v for v in (a, g))
    (_, t, i), o = a.shape, g.shape[2]
    if t * (i + o) > i * o:
      product = torch.bmm(g.mT, a)
      return product.float().square().sum((1, 2)) + sums(g)
    if id(a) not in grams:  # queries, keys and values read the same
      grams[id(a)] = a, gram(a.to(g.dtype)) + 1
    return (grams[id(a)][1] * gram(g)).sum((1, 2))

  def norm(module, x, g):
    unit = nn.functional.layer_norm(x, x.shape[-1:], eps=module.eps)
    return sums(g * unit) + sums(g)

  def embedding(module, ids, g):
    if module is word:
      return (gram(g) * same).sum((1, 2))
    return g.float().square().sum((1, 2)) if module is position else sums(g)

  kinds = {nn.Linear: linear, nn.LayerNorm: norm, nn.Embedding: embedding}

  def hook(module, given, output):
    if type(module) is nn.Embedding:
      output.requires_grad_()
    formula, read = kinds[type(module)], given[0]
    output.register_hook(lambda g: squares.append(formula(module, read, g)))

  model.requires_grad_(False)
  for module in model.modules():
    if type(module) in kinds:
      module.register_forward_hook(hook)

  def unit():
    squares.clear()
    _loss(torch, model(**inputs).logits, label).backward()
    grams.clear()
    return torch.sqrt(sum(squares))

  return unit


class GradNormPeer(NamedTuple):
  make: Callable
  packages: tuple[str, ...] = ('torch', 'transformers')
  attention: str = 'sdpa'


_OPACUS = GradNormPeer(opacus_ghost, ('torch', 'transformers', 'opacus'))
PEERS = {
  'ghost': GradNormPeer(ghost),
  'ghost-bf16': GradNormPeer(ghost, attention='eager'),  # sdpa: twice as long
  'opacus-ghost': _OPACUS,
  'opacus-ghost-bf16': _OPACUS,
}
