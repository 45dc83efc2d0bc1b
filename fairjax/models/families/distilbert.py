"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without token types."""

from collections.abc import Iterable

from fairjax.models.families import bert, family, kinds
from fairjax.models.families.config_keys import Key
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head, ParamRow
from fairjax.models.families.heads import MaskedLM, SequenceClassifier
from fairjax.models.layers.attention import ACTIVATIONS

KEYS = (
  Key('vocab', 'vocab_size', 30522, kinds.VOCABULARY),
  Key('width', 'dim', 768, kinds.WIDTH, also='hidden_size'),
  Key('depth', 'n_layers', 6, kinds.DEPTH, also='num_hidden_layers'),
  Key(
    'heads',
    'n_heads',
    12,
    kinds.WIDTH,
    divides='width',
    also='num_attention_heads',
  ),
  Key('hidden', 'hidden_dim', 3072, kinds.whole(1, 2**18)),
  Key('positions', 'max_position_embeddings', 512, kinds.whole()),
  Key('activation', 'activation', 'gelu', kinds.one_of(*ACTIVATIONS)),
  Key('dropout', 'dropout', 0.1, kinds.SHARE),
  Key('attention_dropout', 'attention_dropout', 0.1, kinds.SHARE),
  Key('head_dropout', 'seq_classif_dropout', 0.2, kinds.SHARE),
  Key('deviation', 'initializer_range', 0.02, kinds.SPREAD),
  Key('pad', 'pad_token_id', 0, kinds.TOKEN, null=True, below='vocab'),
  Key('tied', 'tie_word_embeddings', True, kinds.FLAG),
)

LAYER = (
  *family.dense('query', 'attention.q_lin'),
  *family.dense('key_value', 'attention.k_lin', 'attention.v_lin'),
  *family.dense('attention_out', 'attention.out_lin'),
  *family.norm('attention_norm', 'sa_layer_norm'),
  *family.dense('up', 'ffn.lin1'),
  *family.dense('down', 'ffn.lin2'),
  *family.norm('norm', 'output_layer_norm'),
)


def tensors(shape: EncoderShape) -> Iterable[ParamRow]:
  yield from family.embed('word', 'embeddings.word_embeddings')
  yield from family.embed('position', 'embeddings.position_embeddings')
  yield from family.norm('norm', 'embeddings.LayerNorm')
  yield from family.layers(shape.depth, 'transformer.layer.', LAYER)


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
