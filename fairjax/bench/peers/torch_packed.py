"""BERT with packed rows in PyTorch, as an expert writes it: a peer of races.

Our tricks on the other side: several texts a row, attention by
`scaled_dot_product_attention` within a text, queries, keys and values in one
product, the last layer at first places only. `master` steps keep float32
parameters beside bfloat16 ones, which is all that autocast would cast.
"""

import torch
from torch import nn
from torch.nn import functional as F


class PackedLayer(nn.Module):
  def __init__(self, config):
    super().__init__()
    d, self.heads = config.hidden_size, config.num_attention_heads
    self.attention_drop = config.attention_probs_dropout_prob
    self.drop = nn.Dropout(config.hidden_dropout_prob)
    self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    self.up = nn.Linear(d, config.intermediate_size)
    self.down = nn.Linear(config.intermediate_size, d)
    self.attention_norm = nn.LayerNorm(d, config.layer_norm_eps)
    self.norm = nn.LayerNorm(d, config.layer_norm_eps)

  def forward(self, x, mask, columns=None):
    """All places, or the columns [r, m] of each row only."""
    r, _, d = x.shape
    split = lambda a: a.view(r, -1, self.heads, d // self.heads).transpose(1, 2)
    if columns is None:
      query, key, value = self.qkv(x).chunk(3, -1)
    else:
      weight, bias = self.qkv.weight, self.qkv.bias
      key, value = F.linear(x, weight[d:], bias[d:]).chunk(2, -1)
      x = x.gather(1, columns[:, :, None].expand(-1, -1, d))
      query = F.linear(x, weight[:d], bias[:d])
    y = F.scaled_dot_product_attention(
      *map(split, (query, key, value)),
      attn_mask=mask,
      dropout_p=self.attention_drop if self.training else 0.0,
    )
    y = self.out(y.transpose(1, 2).reshape(x.shape))
    x = self.attention_norm(x + self.drop(y))
    return self.norm(x + self.drop(self.down(F.gelu(self.up(x)))))


class Packed(nn.Module):
  """The classifier of a transformers BERT, with its weights."""

  def __init__(self, model):
    super().__init__()
    bert, c = model.bert, model.config
    self.word = bert.embeddings.word_embeddings
    self.position = bert.embeddings.position_embeddings
    self.kind = bert.embeddings.token_type_embeddings
    self.norm = bert.embeddings.LayerNorm
    self.drop = nn.Dropout(c.hidden_dropout_prob)
    self.layers = nn.ModuleList(PackedLayer(c) for _ in bert.encoder.layer)
    for ours, theirs in zip(self.layers, bert.encoder.layer):
      own = theirs.attention.self
      parts = own.query, own.key, own.value
      ours.qkv.weight.data = torch.cat([p.weight.data for p in parts])
      ours.qkv.bias.data = torch.cat([p.bias.data for p in parts])
      ours.out = theirs.attention.output.dense
      ours.attention_norm = theirs.attention.output.LayerNorm
      ours.up, ours.down = theirs.intermediate.dense, theirs.output.dense
      ours.norm = theirs.output.LayerNorm
    self.pooler, self.classifier = bert.pooler.dense, model.classifier

  def forward(self, tokens, segments, positions, columns, index):
    """Logits [b, c]."""
    x = self.word(tokens) + self.position(positions) + self.kind.weight[0]
    x = self.drop(self.norm(x))
    mask = (segments[:, :, None] == segments[:, None, :])[:, None]
    for layer in self.layers[:-1]:
      x = layer(x, mask)
    few = mask.gather(
      2, columns[:, None, :, None].expand(-1, -1, -1, mask.shape[-1])
    )
    x = self.layers[-1](x, few, columns)
    x = x.reshape(-1, x.shape[-1])[index]
    return self.classifier(self.drop(torch.tanh(self.pooler(x))))


def step(model: Packed, kind: str, lr: float):
  """step(inputs, label) of AdamW with clipping; `kind` is that of products.

  'float32', 'autocast' (bfloat16, cast at each use) or 'master' (parameters in
  bfloat16, updated from their float32 twins).
  """
  model.train()
  params: list[torch.Tensor] = [*model.parameters()]
  moved = params
  if kind == 'master':
    moved = [p.detach().clone().requires_grad_() for p in params]
    model.bfloat16()
  adam = torch.optim.AdamW(moved, lr=lr, weight_decay=0.0, fused=True)

  def run(given, label):
    where, low = label.device.type, kind == 'autocast'
    with torch.autocast(where, torch.bfloat16, enabled=low):
      logits = model(*given)
    loss = F.cross_entropy(logits.float(), label)
    for p in params:
      p.grad = None
    loss.backward()
    if kind == 'master':
      for wide, p in zip(moved, params):
        wide.grad = p.grad.float()
    torch.nn.utils.clip_grad_norm_(moved, 1.0)
    adam.step()
    if kind == 'master':
      with torch.no_grad():
        torch._foreach_copy_(params, moved)
    return loss

  return run
