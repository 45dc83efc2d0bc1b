"""Freezes what transformers + torch compute for tiny random encoders.

  python tests/golden/make_encoders.py   # writes encoders.npz beside itself

Each case holds a config, the weights, a padded batch, logits, the loss and
the gradients of a few tensors, all in float32.
"""

import json
import pathlib

import numpy as np

LENGTHS = (7, 3, 10, 5)
VOCAB, WIDTH, LONGEST = 40, 16, 12
CASES = {
  'bert': ('SequenceClassification', 'MaskedLM'),
  'roberta': ('SequenceClassification', 'MaskedLM'),
  'electra': ('SequenceClassification', 'MaskedLM', 'PreTraining'),
  'distilbert': ('SequenceClassification', 'MaskedLM'),
  'mpnet': ('SequenceClassification', 'MaskedLM'),
  'modernbert': ('SequenceClassification', 'MaskedLM'),
  'deberta-v2': ('SequenceClassification',),
}
PADS_1 = ('roberta', 'mpnet')
TYPED = ('bert', 'electra', 'deberta-v2')
NAMES = {
  'bert': 'Bert',
  'roberta': 'Roberta',
  'electra': 'Electra',
  'distilbert': 'DistilBert',
  'mpnet': 'MPNet',
  'modernbert': 'ModernBert',
  'deberta-v2': 'DebertaV2',
}
# As v3 is, with few buckets, so that far distances share one.
DEBERTA_V3 = {
  'type_vocab_size': 2,
  'relative_attention': True,
  'share_att_key': True,
  'position_biased_input': False,
  'norm_rel_ebd': 'layer_norm',
  'pos_att_type': 'p2c|c2p',
  'position_buckets': 4,
}
GRADIENTS = tuple(
  pathlib.Path(__file__).with_name('encoder_gradients.txt').read_text().split()
)


def config(family, **changes):
  import transformers

  plain = {
    'vocab_size': VOCAB,
    'hidden_size': WIDTH,
    'num_hidden_layers': 2,
    'num_attention_heads': 2,
    'intermediate_size': 24,
    'max_position_embeddings': LONGEST + 4,
    'initializer_range': 0.25,
    'pad_token_id': int(family in PADS_1),
    'num_labels': 3,
    'attn_implementation': 'eager',
  }
  if family == 'electra':
    plain['embedding_size'] = 8
  if family == 'distilbert':
    plain['hidden_dim'] = plain.pop('intermediate_size')
  if family == 'modernbert':
    # Three layers: all, two with windows; a mean over the places.
    plain |= {
      'num_hidden_layers': 3,
      'local_attention': 6,
      'classifier_pooling': 'mean',
      'pad_token_id': 0,
      'cls_token_id': 1,
      'sep_token_id': 2,
      'bos_token_id': 1,
      'eos_token_id': 2,
    }
  if family == 'deberta-v2':
    plain |= DEBERTA_V3
  name = NAMES[family]
  return name, getattr(transformers, f'{name}Config')(**(plain | changes))


def model(family, head, seed=0, **changes):
  """A torch model whose biases and scales are random too."""
  import torch
  import transformers

  torch.manual_seed(seed)
  name, made = config(family, **changes)
  net = getattr(transformers, f'{name}For{head}')(made).eval()
  with torch.no_grad():
    for tensor in net.parameters():
      if tensor.ndim == 1:
        tensor.add_(0.2 * torch.randn(tensor.shape))
  return net


def texts(family, seed=0):
  rng = np.random.default_rng(seed)
  tokens = np.full((len(LENGTHS), LONGEST), int(family in PADS_1))
  types = np.zeros_like(tokens)
  for i, n in enumerate(LENGTHS):
    tokens[i, :n] = rng.integers(3, VOCAB, n)
    if family in TYPED:
      types[i, n // 2 : n] = 1
  return tokens, types, np.arange(LONGEST)[None] < np.array(LENGTHS)[:, None]


def answer(family, head, seed=0, **changes):
  """Everything about one case, as a dict of arrays."""
  import torch

  net = model(family, head, seed, **changes)
  tokens, types, mask = texts(family, seed)
  rng = np.random.default_rng(seed + 1)
  if head == 'SequenceClassification':
    labels = rng.integers(0, 3, len(LENGTHS))
  elif head == 'MaskedLM':
    chosen = mask & (rng.random(mask.shape) < 0.4)
    labels = np.where(chosen, rng.integers(3, VOCAB, mask.shape), -100)
  else:
    labels = rng.integers(0, 2, mask.shape)
  out = net(
    input_ids=torch.tensor(tokens),
    attention_mask=torch.tensor(mask.astype(np.int64)),
    **({'token_type_ids': torch.tensor(types)} if family in TYPED else {}),
    labels=torch.tensor(labels),
  )
  out.loss.backward()
  # A tied tensor is one parameter: safetensors keeps it once.
  weights = {n: p.detach().numpy() for n, p in net.named_parameters()}
  found = {
    'config': np.array(json.dumps(net.config.to_dict(), default=str)),
    'tokens': tokens.astype(np.int32),
    'types': types.astype(np.int32),
    'mask': mask,
    'labels': labels,
    'logits': out.logits.detach().numpy(),
    'loss': out.loss.detach().numpy(),
  }
  found |= {f'weight:{n}': value for n, value in weights.items()}
  for name, tensor in net.named_parameters():
    head_tensor = not any(
      p in name for p in ('layer.', 'layers.', 'embeddings')
    )
    asked = name.endswith(GRADIENTS) or head_tensor
    if asked and tensor.grad is not None:
      found[f'gradient:{name}'] = tensor.grad.numpy()
  return found


if __name__ == '__main__':
  frozen = {}
  for family, heads in CASES.items():
    for head in heads:
      for name, value in answer(family, head).items():
        frozen[f'{family}/{head}/{name}'] = value
  path = pathlib.Path(__file__).with_name('encoders.npz')
  np.savez_compressed(path, **frozen)
  print(f'{path}: {path.stat().st_size / 1024:.0f} KiB')
