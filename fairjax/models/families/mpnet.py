"""MPNet (Song et al. 2020, arXiv:2004.09297): BERT with relative positions.

No token types; positions are counted after the pad, as RoBERTa's. Beside them
stands T5's bias of distances (Raffel et al. 2020): one table of 32 buckets ×
heads, read once and added to the attention scores of every layer.
"""

import functools

from fairjax.models.families import bert, roberta
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family

BUCKETS = 32  # transformers counts 32, whatever config.json says
OFFSET = 2  # positions begin behind a pad that transformers takes for 1
OWN = {'types': 0, 'buckets': BUCKETS, 'position_offset': OFFSET}
sized = functools.partial(
  bert.sized, family='mpnet', vocab=30527, eps=1e-5, pad=1, **OWN
)


FAMILY = Family(
  name='mpnet',
  shape=EncoderShape,
  keys=(
    *(k for k in of_family('bert', vocab=30527, pad=1) if k.ours != 'types'),
    *of_family('mpnet'),
  ),
  body=Encoder,
  tensors='mpnet',
  prefix='mpnet.',
  heads=bert.heads('MPNet', 'roberta', *roberta.OPTIONS),
  sized=sized,
  derive=lambda values: {'embedding': values['width']} | OWN,
  wrong=roberta.wrong,
)
