"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without token types."""

from collections.abc import Iterable

from fairjax.models.families import bert, family
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head, ParamRow
from fairjax.models.families.heads import MaskedLM, SequenceClassifier

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
  keys=of_family('distilbert'),
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
