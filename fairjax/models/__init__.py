"""A model is `apply(params, batch)`; a Bundle is a model and what it needs.

In this room:

  adversary           Generator and discriminator as one model of two players
                      (MBCDA)
  argmax              Argmax of long rows, as fast as reading them
  attention           Attention: activations, keys and values, weight dropout,
                      rotary positions
  beam                Beam search, step by step as transformers has it, each
                      row on its own
  build               Builds the model that the config names, for training
  causal              What left-to-right models share: causal mask, cache,
                      token losses
  chances             What a classifier's logits say, by its config.json, as
                      transformers reads it
  config_keys         Maps between a family's shape and config.json, both ways,
                      by one table
  contextual          Contextual embeddings of words, and predictions of heads
                      on them
  decode              Decoding on the device: many rows of different lengths in
                      one loop
  decode_slots        Decoding slots on the device: filled, stepped, widened
  decode_texts        Decoding of a whole input: sorted by length, few shapes,
                      no idle slots
  detect              Detection of replaced tokens: by an ELECTRA, or by a
                      masked LM
  discriminator       A discriminator that reads a language model's logits
                      (MBCDA)
  dropout             Counter-based dropout: bits that are a hash of the key,
                      place and feature
  encoder             The post-norm encoder of BERT and its relatives, on
                      packed batches
  exact_norms         Layer operations that also give each example's squared
                      gradient norm
  family              A family of models as one record: shape, config keys,
                      tensors, capabilities
  fill                Mask filling: with a BART, or with a masked LM
  flow                An invertible network whose first dimensions hold one
                      attribute (FairFlow)
  folder              A model folder as one bundle: a classifier, a language
                      model, an encoder
  folder_options      The decoding options of a model folder, as transformers
                      reads them
  fused_attention     A GPU kernel: attention of short rows, with our dropout
  fused_feed_forward  A GPU kernel: a feed-forward block's backward pass and
                      gradient norms
  fused_norm          A GPU kernel: LayerNorm's backward pass and gradient
                      norms
  gguf                A GGUF file as a model folder: its config.json, and
                      tensors by torch's names
  heads               Heads of an encoder: classifier, masked LM, replaced-
                      token detector
  hf                  Hugging Face folders in and out, by the tables of
                      models/families
  hub                 Where a model's folder is: a path, or a name on the
                      Hugging Face hub
  infill              Constrained infilling: a source is copied, and only its
                      masks are written
  int8                Products of 8-bit integers, for writing and predicting on
                      a CPU
  intercept           Exact per-example gradient norms of a user's own Flax
                      (linen) model
  judge               Log probabilities and vectors of texts under a language
                      model
  layer_params        Parameters in the forms that layers read: types, tiles,
                      transposes
  layers              The parametric layers: Dense, Embed and LayerNorm, with
                      exact gradient norms
  linear_loss         Losses of a tied output layer, without the array of all
                      its logits
  lstm                The recurrent network of the weighting paper (Zhang et
                      al., ACL 2020)
  masked              Masked-LM predictions at chosen positions, one masked at
                      a time
  moved_states        A BART that decodes from encoder states moved to the
                      other group
  objectives          Pretraining losses, as functions of a model and a batch
  places              Positions in packed batches: rows, positions, first
                      tokens
  pretraining         Initial models of pretraining: from a shape or a folder,
                      for each objective
  products            Matrix products, exact and fast on each platform
  rewriting           Rewriting models: a BART, or a GPT-2 that reads source
                      and target
  row_kernels         What the GPU kernels over rows of a batch share
  self_debias         Self-Debias (Schick et al. 2021, arXiv:2103.00453):
                      against a prompt
  shared_prefix       Log probabilities of texts with a common prefix, which is
                      read once
  special             New special tokens: tokenizer and embeddings grow
                      together
  speculate           Copy-speculative greedy decoding: drafts from the source,
                      verified at once
  text_cnn            The convolutional network of Dixon et al. 2018 (doi
                      10.1145/3278721.3278729)
  token_scores        Log probability of every token of texts under a language
                      model
  torch_bin           Reads pytorch_model.bin into numpy: no torch, and no code
                      is executed
  warm_start          Warm starts: weights from a folder of another head or
                      family
  weight_files        A model folder's weights as numpy: safetensors, torch's
                      .bin, Flax's msgpack
  word_judge          Word vectors of a text file, behind the interface of a
                      language model
  word_level          What word-level models share: everything but the core of
                      the network
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

from fairjax.registry import Entry
from fairjax.registry import find as _find

_LAZY = {
  'load': Entry('fairjax.models.folder:load', 'a Bundle of a model folder'),
  'decays': Entry(
    'fairjax.models.layer_params:decays', 'whether a leaf decays'
  ),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Bundle:
  """A model as two pure functions, with its tokenizer, weights and names.

  Bundles are compared by identity; `program` keys a cache of what is compiled.
  Fields that a use does not need stay empty: a model that is about to be
  trained has no `params`, a language model no `labels`.
  """

  init: Callable | None  # init(seed: int) -> params, a plain nested dict
  apply: Callable | None  # apply(params, batch, dropout=None) -> logits [b, c]
  module: Any  # the Linen module, for scores that need its probes
  params: Any = None  # of one seed, where a folder gives all of them
  tokenizer: Any = None
  longest: int = 0  # tokens of a text that are read
  labels: tuple[str, ...] = ()  # the names of a classifier's classes
  can: str = ''  # what the module is for, of models/family.py: CAPABILITIES
  options: Any = None  # how the folder wants it to decode
  config: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  device_mesh: Any = None  # where it runs (train/mesh.py), once that is known

  @property
  def shape(self) -> Any:
    """The encoder's shape; None where there is no Hugging Face form."""
    shape = getattr(self.module, 'shape', None)
    return shape if hasattr(shape, 'family') else None

  @property
  def family(self) -> str:
    """The model_type of its config.json; '' where it has none."""
    return getattr(self.shape, 'family', '')

  @property
  def classes(self) -> int:
    return len(self.labels)

  def replace(self, **changes: Any) -> 'Bundle':
    return dataclasses.replace(self, **changes)

  @property
  def program(self) -> 'Bundle':
    """What is compiled of it: the same Bundle for models of equal modules."""
    return _program(self.apply, self.module)


@functools.lru_cache(maxsize=64)
def _program(apply: Callable, module: Any) -> Bundle:
  return Bundle(None, apply, module)


def of_module(module: Any, init: Callable, **rest: Any) -> Bundle:
  """The bundle of a Linen module that is applied to params and a batch."""
  return Bundle(init, _apply(module), module, **rest)


@functools.lru_cache(maxsize=64)
def _apply(module: Any) -> Callable:
  def apply(params, batch, dropout=None):
    return module.apply({'params': params}, batch, dropout)

  return apply


def __getattr__(name: str) -> Any:
  if name in _LAZY:  # Flax is slow to import
    return _find(_LAZY, 'function', name)
  raise AttributeError(f'module {__name__} has no attribute {name!r}')
