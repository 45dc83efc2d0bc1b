"""Peers of the gradient-norm race: hooks, functorch, Opacus.

Each is `make(torch, model, ids, label)` of a transformers classifier in eval
mode, and gives a function without arguments that returns the norms [b].

  loop          one backward pass an example, the reference's way
  functorch     vmap(grad)
  opacus        per-example gradients by Opacus' hooks
  opacus-ghost  the norms of its ghost clipping (Li et al. 2021)
  ghost         the same formulas by hand: hooks that keep what each layer
                read, and gradients of its outputs only
"""

from collections.abc import Callable
from typing import Any, NamedTuple

Norms = Callable[[], Any]


def loop(torch, model, ids, label) -> Norms:
  def unit():
    norms = []
    for i in range(len(ids)):
      model.zero_grad()
      logits = model(input_ids=ids[i : i + 1]).logits
      _loss(torch, logits, label[i : i + 1]).backward()
      grads = [p.grad for p in model.parameters() if p.grad is not None]
      norms.append(torch.sqrt(sum(g.pow(2).sum() for g in grads)))
    return torch.stack(norms).detach()

  return unit


def _loss(torch, logits, label):
  cross_entropy = torch.nn.functional.cross_entropy
  return cross_entropy(logits.float(), label, reduction='sum')


def functorch(torch, model, ids, label) -> Norms:
  from torch.func import functional_call, grad, vmap

  params = {k: v.detach() for k, v in model.named_parameters()}
  buffers = dict(model.named_buffers())
  length = ids.shape[1]
  # A mask of two axes is refused by vmap.
  mask = torch.zeros(1, 1, length, length, device=ids.device)

  def loss(params, row, y):
    inputs = {'input_ids': row[None], 'attention_mask': mask}
    result = functional_call(model, (params, buffers), (), inputs)
    return _loss(torch, result.logits, y[None])

  each = vmap(grad(loss), in_dims=(None, 0, 0))

  def unit():
    grads = each(params, ids, label).values()
    return torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in grads))

  return unit


def _inputs(torch, ids) -> dict:
  """Everything by row: hooks see which example a place belongs to."""
  positions = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
  return {
    'input_ids': ids,
    'attention_mask': torch.ones_like(ids),
    'position_ids': positions.contiguous(),
    'token_type_ids': torch.zeros_like(ids),
  }


def opacus(torch, model, ids, label) -> Norms:
  from opacus.grad_sample import GradSampleModule

  hooked = GradSampleModule(
    _training(torch, model), loss_reduction='sum', strict=False
  )
  inputs = _inputs(torch, ids)

  def unit():
    hooked.zero_grad(set_to_none=True)
    _loss(torch, hooked(**inputs).logits, label).backward()
    grads = [p.grad_sample for p in hooked.parameters() if p.requires_grad]
    return torch.sqrt(sum(g.flatten(1).pow(2).sum(1) for g in grads))

  return unit


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


PEERS = {
  'functorch': GradNormPeer(
    functorch, attention='eager'
  ),  # vmap would loop over sdpa
  'loop': GradNormPeer(loop),
  'opacus': GradNormPeer(opacus, ('torch', 'transformers', 'opacus')),
  'opacus-ghost': GradNormPeer(
    opacus_ghost, ('torch', 'transformers', 'opacus')
  ),
  'ghost': GradNormPeer(ghost),
  'ghost-bf16': GradNormPeer(
    ghost, attention='eager'
  ),  # sdpa takes twice as long
}
