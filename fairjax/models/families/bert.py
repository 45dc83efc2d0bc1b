"""BERT: post-norm encoder, pooled first place, token types."""

from collections.abc import Iterable
from typing import Any

from fairjax.models.families import family
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head, ParamRow
from fairjax.models.families.heads import MaskedLM, SequenceClassifier


def same_width(values: Any) -> dict[str, Any]:
  """The embeddings are as wide as the layers."""
  return {'embedding': values['width']}


LAYER = (
  *family.dense('query', 'attention.self.query'),
  *family.dense('key_value', 'attention.self.key', 'attention.self.value'),
  *family.dense('attention_out', 'attention.output.dense'),
  *family.norm('attention_norm', 'attention.output.LayerNorm'),
  *family.dense('up', 'intermediate.dense'),
  *family.dense('down', 'output.dense'),
  *family.norm('norm', 'output.LayerNorm'),
)


def tensors(shape: EncoderShape) -> Iterable[ParamRow]:
  yield from family.embed('word', 'embeddings.word_embeddings')
  yield from family.embed('position', 'embeddings.position_embeddings')
  yield from family.embed('type', 'embeddings.token_type_embeddings')
  yield from family.norm('norm', 'embeddings.LayerNorm')
  if shape.embedding != shape.width:
    yield from family.dense('project', 'embeddings_project')
  yield from family.layers(shape.depth, 'encoder.layer.', LAYER)


def sized(
  depth: int,
  width: int,
  places: int = 512,
  kind: Any = EncoderShape,
  **rest: Any,
) -> Any:
  plain = {'heads': width // 64, 'hidden': 4 * width, 'embedding': width}
  return kind(depth=depth, width=width, positions=places, **(plain | rest))


def classifier(dense_name: str, out_name: str) -> Any:
  rows = (
    *family.dense('dense', dense_name),
    *family.dense('classifier', out_name),
  )
  return lambda shape: rows


def masked(transform: str, norm_name: str, decoder: str, bias: str) -> Any:
  """The rows of a masked-LM head whose decoder may be tied."""

  def rows(shape: EncoderShape) -> Iterable[ParamRow]:
    yield from family.dense('dense', transform)
    yield from family.norm('norm', norm_name)
    if shape.tied:
      yield ParamRow('bias', (bias,))
    else:
      yield from family.dense('decoder', decoder)

  return rows


FAMILY = Family(
  name='bert',
  shape=EncoderShape,
  keys=of_family('bert'),
  body=Encoder,
  tensors=tensors,
  prefix='bert.',
  heads={
    'classify': Head(
      'BertForSequenceClassification',
      classifier('bert.pooler.dense', 'classifier'),
      SequenceClassifier,
    ),
    'mask': Head(
      'BertForMaskedLM',
      masked(
        'cls.predictions.transform.dense',
        'cls.predictions.transform.LayerNorm',
        'cls.predictions.decoder',
        'cls.predictions.bias',
      ),
      MaskedLM,
    ),
    'embed': Head('BertModel'),
  },
  shapes={
    'bert-base-uncased': sized(12, 768),
    'bert-base-cased': sized(12, 768, vocab=28996),
    'bert-large-uncased': sized(24, 1024),
    'bert-large-cased': sized(24, 1024, vocab=28996),
  },
  sized=sized,
  derive=same_width,
)
