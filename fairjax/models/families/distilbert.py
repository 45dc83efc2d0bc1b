"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without token types."""

import functools

from fairjax.models.families import bert
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family

sized = functools.partial(
  bert.sized, family='distilbert', types=0, head_dropout=0.2
)


FAMILY = Family(
  name='distilbert',
  shape=EncoderShape,
  keys=of_family('distilbert'),
  body=Encoder,
  tensors='distilbert',
  prefix='distilbert.',
  heads=bert.heads('DistilBert', 'distilbert', {'activation': 'relu'}),
  sized=sized,
  derive=lambda values: {'embedding': values['width'], 'types': 0},
)
