"""XLM-RoBERTa: RoBERTa over 100 languages, with a vocabulary of 250,002."""

import dataclasses
import functools

from fairjax.models.families import bert, roberta
from fairjax.models.families.config_keys import of_family

sized = functools.partial(roberta.sized, family='xlm-roberta', vocab=250002)


FAMILY = dataclasses.replace(
  roberta.FAMILY,
  name='xlm-roberta',
  keys=of_family('bert', vocab=250002, pad=1),
  heads=bert.heads('XLMRoberta', 'roberta', *roberta.OPTIONS),
  sized=sized,
)
