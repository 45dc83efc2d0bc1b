"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without token types."""

from collections.abc import Iterable

from fairjax.models.families import bert
from fairjax.models.families.config_keys import (
  DEPTH,
  FLAG,
  SHARE,
  SPREAD,
  TOKEN,
  VOCABULARY,
  WIDTH,
  Key,
  one_of,
  whole,
)
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import (
  Family,
  Head,
  ParamRow,
  dense,
  embed,
  layers,
  norm,
)
from fairjax.models.families.heads import MaskedLM, SequenceClassifier
from fairjax.models.layers.attention import ACTIVATIONS

KEYS = (
  Key('vocab', 'vocab_size', 30522, VOCABULARY),
  Key('width', 'dim', 768, WIDTH, also='hidden_size'),
  Key('depth', 'n_layers', 6, DEPTH, also='num_hidden_layers'),
  Key(
    'heads',
    'n_heads',
    12,
    WIDTH,
    divides='width',
    also='num_attention_heads',
  ),
  Key('hidden', 'hidden_dim', 3072, whole(1, 2**18)),
  Key('positions', 'max_position_embeddings', 512, whole()),
  Key('activation', 'activation', 'gelu', one_of(*ACTIVATIONS)),
  Key('dropout', 'dropout', 0.1, SHARE),
  Key('attention_dropout', 'attention_dropout', 0.1, SHARE),
  Key('head_dropout', 'seq_classif_dropout', 0.2, SHARE),
  Key('deviation', 'initializer_range', 0.02, SPREAD),
  Key('pad', 'pad_token_id', 0, TOKEN, null=True, below='vocab'),
  Key('tied', 'tie_word_embeddings', True, FLAG),
)

LAYER = (
  *dense('query', 'attention.q_lin'),
  *dense('key_value', 'attention.k_lin', 'attention.v_lin'),
  *dense('attention_out', 'attention.out_lin'),
  *norm('attention_norm', 'sa_layer_norm'),
  *dense('up', 'ffn.lin1'),
  *dense('down', 'ffn.lin2'),
  *norm('norm', 'output_layer_norm'),
)


def tensors(shape: EncoderShape) -> Iterable[ParamRow]:
  yield from embed('word', 'embeddings.word_embeddings')
  yield from embed('position', 'embeddings.position_embeddings')
  yield from norm('norm', 'embeddings.LayerNorm')
  yield from layers(shape.depth, 'transformer.layer.', LAYER)


def sized(depth: int, width: int, places: int = 512, **rest) -> EncoderShape:
  plain = {'family': 'distilbert', 'types': 0, 'head_dropout': 0.2}
  return bert.sized(depth, width, places, **(plain | rest))


FAMILY = Family(
  name='distilbert',
  shape=EncoderShape,
  keys=KEYS,
  body=Encoder,
  tensors=tensors,
  prefix='distilbert.',
  heads={
    'classify': Head(
      'DistilBertForSequenceClassification',
      bert.classifier('pre_classifier', 'classifier'),
      SequenceClassifier,
      {'activation': 'relu'},
    ),
    'mask': Head(
      'DistilBertForMaskedLM',
      bert.masked(
        'vocab_transform',
        'vocab_layer_norm',
        'vocab_projector',
        'vocab_projector.bias',
      ),
      MaskedLM,
    ),
    'embed': Head('DistilBertModel'),
  },
  shapes={
    'distilbert-base-uncased': sized(6, 768),
    'distilbert-base-cased': sized(6, 768, vocab=28996),
  },
  sized=sized,
  derive=lambda values: {'embedding': values['width'], 'types': 0},
)
