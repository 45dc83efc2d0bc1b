"""ELECTRA: BERT with narrow embeddings, a generator and a discriminator."""

from fairjax.models.families import bert
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import ElectraDiscriminator


def sized(depth: int, width: int, places: int = 512, **rest) -> EncoderShape:
  plain = {'family': 'electra', 'embedding': width // 2}
  return bert.sized(depth, width, places, **(plain | rest))


HEADS = bert.heads(
  'Electra',
  'electra',
  {'drop_first': True, 'activation': 'gelu'},
  {'activation': 'gelu'},  # whatever the layers have
)

FAMILY = Family(
  name='electra',
  shape=EncoderShape,
  keys=(
    *of_family('bert', width=256, heads=4, hidden=1024),
    *of_family('electra'),
  ),
  body=Encoder,
  tensors='bert',
  prefix='electra.',
  heads={
    'classify': HEADS['classify'],
    'detect': Head(
      'ElectraForPreTraining', 'electra.detect', ElectraDiscriminator
    ),
    **HEADS,
  },
  sized=sized,
)
