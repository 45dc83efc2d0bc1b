"""Freezes what transformers + torch compute for tiny BARTs, GPT-2, Llama.

  python tests/golden/make_seq2seq.py   # writes seq2seq.npz beside itself

Each case holds a config, the weights, padded texts, logits, the teacher-forced
loss and the gradients of all tensors, in float32; BART scaled and plain.
"""

import json
import pathlib

import numpy as np

VOCAB, WIDTH = 41, 16
LENGTHS, TARGETS = (7, 3, 9, 5), (4, 8, 6, 1)
CASES = {
  'bart': {'encoder_layers': 1},
  'bart_scaled': {'scale_embedding': True, 'decoder_layers': 1},
  'gpt2': {},
  'llama': {},
}
CAUSAL = ('gpt2', 'llama')


def config(name, **changes):
  import transformers

  two = {'vocab_size': VOCAB, 'bos_token_id': 2, 'eos_token_id': 2}
  two |= {'initializer_range': 0.3}
  if name == 'gpt2':
    plain = two | {'n_embd': WIDTH, 'n_layer': 2, 'n_head': 2}
    plain['n_positions'] = 32
    made = transformers.GPT2Config
  elif name == 'llama':
    plain = two | {'hidden_size': WIDTH, 'num_hidden_layers': 2}
    plain |= {'num_attention_heads': 4, 'num_key_value_heads': 2}
    plain |= {'intermediate_size': 24, 'max_position_embeddings': 32}
    plain['tie_word_embeddings'] = True
    made = transformers.LlamaConfig
  else:
    plain = {'vocab_size': VOCAB, 'd_model': WIDTH, 'init_std': 0.3}
    plain |= {'encoder_layers': 2, 'encoder_attention_heads': 2}
    plain |= {'decoder_layers': 2, 'decoder_attention_heads': 4}
    plain |= {'encoder_ffn_dim': 24, 'decoder_ffn_dim': 20}
    plain |= {'max_position_embeddings': 32, 'forced_eos_token_id': None}
    made = transformers.BartConfig
  plain = plain | {'attn_implementation': 'eager'} | CASES.get(name, {})
  return made(**(plain | changes))


def model(name, seed=0, **changes):
  """A torch model whose biases and scales are random too."""
  import torch
  import transformers

  torch.manual_seed(seed)
  kinds = {'gpt2': 'GPT2LMHeadModel', 'llama': 'LlamaForCausalLM'}
  kind = kinds.get(name, 'BartForConditionalGeneration')
  net = getattr(transformers, kind)(config(name, **changes)).eval()
  with torch.no_grad():
    for tensor in net.parameters():
      if tensor.ndim == 1:
        tensor.add_(0.2 * torch.randn(tensor.shape))
    if name not in CAUSAL:
      net.final_logits_bias.normal_(0, 0.5)
  return net


def texts(lengths, pad, seed):
  """Random texts, padded: tokens and mask."""
  rng = np.random.default_rng(seed)
  mask = np.arange(max(lengths))[None] < np.array(lengths)[:, None]
  tokens = np.where(mask, rng.integers(4, VOCAB, mask.shape), pad)
  return tokens, mask


def answer(name, seed=0):
  """Everything about one case, as a dict of arrays."""
  import torch

  net = model(name, seed)
  tokens, mask = texts(LENGTHS, 1, seed)
  target, target_mask = texts(TARGETS, 1, seed + 1)
  labels = np.where(target_mask, target, -100)
  if name in CAUSAL:
    labels = np.where(mask, tokens, -100)
  out = net(
    input_ids=torch.tensor(tokens),
    attention_mask=torch.tensor(mask.astype(np.int64)),
    labels=torch.tensor(labels),
  )
  out.loss.backward()
  found = {
    'config': np.array(json.dumps(net.config.to_dict(), default=str)),
    'tokens': tokens.astype(np.int32),
    'mask': mask,
    'target': target.astype(np.int32),
    'target_mask': target_mask,
    'logits': out.logits.detach().numpy(),
    'loss': out.loss.detach().numpy(),
  }
  for path, tensor in net.named_parameters():
    found[f'weight:{path}'] = tensor.detach().numpy()
    found[f'gradient:{path}'] = tensor.grad.numpy()
  if name not in CAUSAL:
    found['weight:final_logits_bias'] = net.final_logits_bias.numpy()
  return found


if __name__ == '__main__':
  frozen = {}
  for name in CASES:
    for part, value in answer(name).items():
      frozen[f'{name}/{part}'] = value
  path = pathlib.Path(__file__).with_name('seq2seq.npz')
  np.savez_compressed(path, **frozen)
  print(f'{path}: {path.stat().st_size / 1024:.0f} KiB')
