"""RoBERTa: BERT without token types, its positions counted after the pad."""

import functools
from typing import Any

from fairjax.models.families import bert
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family

sized = functools.partial(
  bert.sized,
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


# Whatever the layers have, a masked LM's head has GELU.
OPTIONS = {'drop_first': True}, {'activation': 'gelu'}

FAMILY = Family(
  name='roberta',
  shape=EncoderShape,
  keys=of_family('bert', vocab=50265, pad=1),
  body=Encoder,
  tensors='bert',
  prefix='roberta.',
  heads=bert.heads('Roberta', 'roberta', *OPTIONS),
  sized=sized,
  derive=derive,
  wrong=wrong,
)
