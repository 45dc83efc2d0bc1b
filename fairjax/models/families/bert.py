"""BERT: post-norm encoder, pooled first place, token types."""

from collections.abc import Iterable
from typing import Any

from fairjax.models.families import family, kinds
from fairjax.models.families.config_keys import Key, fixed
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head, ParamRow
from fairjax.models.families.heads import MaskedLM, SequenceClassifier
from fairjax.models.layers.attention import ACTIVATIONS


def keys(**defaults: Any) -> tuple[Key, ...]:
  """The keys of BERT's config.json, with a relative's defaults."""
  plain = {
    'vocab': 30522,
    'width': 768,
    'heads': 12,
    'hidden': 3072,
    'pad': 0,
  }
  of = (plain | defaults).get
  same = lambda name: lambda values: values[name]
  return (
    Key('vocab', 'vocab_size', of('vocab'), kinds.VOCABULARY),
    Key('width', 'hidden_size', of('width'), kinds.WIDTH),
    Key('depth', 'num_hidden_layers', 12, kinds.DEPTH),
    Key(
      'heads', 'num_attention_heads', of('heads'), kinds.WIDTH, divides='width'
    ),
    Key('hidden', 'intermediate_size', of('hidden'), kinds.whole(1, 2**18)),
    Key('positions', 'max_position_embeddings', 512, kinds.whole()),
    Key('types', 'type_vocab_size', 2, kinds.whole(1, 1024)),
    Key('eps', 'layer_norm_eps', 1e-12, kinds.POSITIVE),
    Key('activation', 'hidden_act', 'gelu', kinds.one_of(*ACTIVATIONS)),
    Key('dropout', 'hidden_dropout_prob', 0.1, kinds.SHARE),
    Key('attention_dropout', 'attention_probs_dropout_prob', 0.1, kinds.SHARE),
    Key(
      'head_dropout',
      'classifier_dropout',
      same('dropout'),
      kinds.SHARE,
      null=True,
    ),
    Key('deviation', 'initializer_range', 0.02, kinds.SPREAD),
    Key(
      'pad', 'pad_token_id', of('pad'), kinds.TOKEN, null=True, below='vocab'
    ),
    Key('tied', 'tie_word_embeddings', True, kinds.FLAG),
    fixed('position_embedding_type', 'absolute'),
    fixed('is_decoder', False),
    fixed('add_cross_attention', False),
  )


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
  keys=keys(),
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
