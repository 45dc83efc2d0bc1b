"""XLM-RoBERTa: RoBERTa over 100 languages, with a vocabulary of 250,002."""

import dataclasses

from fairjax.models.families import roberta
from fairjax.models.families.config_keys import of_family


def sized(depth: int, width: int, places: int = 512):
  shape = roberta.sized(depth, width, places)
  return dataclasses.replace(shape, family='xlm-roberta', vocab=250002)


FAMILY = dataclasses.replace(
  roberta.FAMILY,
  name='xlm-roberta',
  keys=of_family('bert', vocab=250002, pad=1),
  heads={
    can: head._replace(architecture=f'XLM{head.architecture}')
    for can, head in roberta.FAMILY.heads.items()
  },
  shapes={
    'xlm-roberta-base': sized(12, 768),
    'xlm-roberta-large': sized(24, 1024),
  },
  sized=sized,
)
