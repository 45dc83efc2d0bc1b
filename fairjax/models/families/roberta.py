"""RoBERTa: BERT without token types, its positions counted after the pad."""

from typing import Any

from fairjax.models.families import bert
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import MaskedLM, SequenceClassifier


def sized(depth: int, width: int, places: int = 512) -> EncoderShape:
  return bert.sized(
    depth,
    width,
    places + 2,
    family='roberta',
    vocab=50265,
    types=1,
    position_offset=2,
    eps=1e-5,
    pad=1,
  )


def derive(values: Any) -> dict[str, Any]:
  return {'embedding': values['width'], 'position_offset': values['pad'] + 1}


def wrong(values: Any) -> str:
  if values['positions'] <= values['position_offset']:
    return (
      f'has max_position_embeddings {values["positions"]}, but the first '
      f'{values["position_offset"]} of them stand before a text begins'
    )
  return ''


FAMILY = Family(
  name='roberta',
  shape=EncoderShape,
  keys=of_family('bert', vocab=50265, pad=1),
  body=Encoder,
  tensors='bert',
  prefix='roberta.',
  heads={
    'classify': Head(
      'RobertaForSequenceClassification',
      'roberta.classify',
      SequenceClassifier,
      {'drop_first': True},
    ),
    'mask': Head(
      'RobertaForMaskedLM',
      'roberta.mask',
      MaskedLM,
      {'activation': 'gelu'},  # whatever the layers have
    ),
    'embed': Head('RobertaModel'),
  },
  shapes={
    'roberta-base': sized(12, 768),
    'roberta-large': sized(24, 1024),
    'distilroberta-base': sized(6, 768),
  },
  sized=sized,
  derive=derive,
  wrong=wrong,
)
