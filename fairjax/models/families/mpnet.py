"""MPNet (Song et al. 2020, arXiv:2004.09297): BERT with relative positions.

No token types; positions are counted after the pad, as RoBERTa's. Beside them
stands T5's bias of distances (Raffel et al. 2020): one table of 32 buckets ×
heads, read once and added to the attention scores of every layer.
"""

from collections.abc import Iterable
from typing import Any

from fairjax.models.families import bert, family, roberta
from fairjax.models.families.config_keys import fixed, of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, ParamRow

BUCKETS = 32  # transformers counts 32, whatever config.json says
OFFSET = 2  # positions begin behind a pad that transformers takes for 1

LAYER = (
  *family.dense('query', 'attention.attn.q'),
  *family.dense('key_value', 'attention.attn.k', 'attention.attn.v'),
  *family.dense('attention_out', 'attention.attn.o'),
  *family.norm('attention_norm', 'attention.LayerNorm'),
  *bert.LAYER[-6:],  # the feed-forward and its norm
)


def tensors(shape: EncoderShape) -> Iterable[ParamRow]:
  yield from family.embed('word', 'embeddings.word_embeddings')
  yield from family.embed('position', 'embeddings.position_embeddings')
  yield from family.norm('norm', 'embeddings.LayerNorm')
  yield from family.embed('distance', 'encoder.relative_attention_bias')
  yield from family.layers(shape.depth, 'encoder.layer.', LAYER)


def derive(values: Any) -> dict[str, Any]:
  own = {'types': 0, 'buckets': BUCKETS, 'position_offset': OFFSET}
  return {'embedding': values['width']} | own


def sized(depth: int, width: int, places: int = 512) -> EncoderShape:
  own = derive({'width': width})
  return bert.sized(
    depth,
    width,
    places + OFFSET,
    family='mpnet',
    vocab=30527,
    eps=1e-5,
    pad=1,
    **own,
  )


FAMILY = Family(
  name='mpnet',
  shape=EncoderShape,
  keys=(
    *(k for k in of_family('bert', vocab=30527, pad=1) if k.ours != 'types'),
    fixed('relative_attention_num_buckets', BUCKETS),
  ),
  body=Encoder,
  tensors=tensors,
  prefix='mpnet.',
  heads={
    can: head._replace(
      architecture=head.architecture.replace('Roberta', 'MPNet')
    )
    for can, head in roberta.FAMILY.heads.items()
  },
  shapes={'microsoft/mpnet-base': sized(12, 768)},
  sized=sized,
  derive=derive,
  wrong=roberta.wrong,
  extra=lambda shape: {'relative_attention_num_buckets': BUCKETS},
)
