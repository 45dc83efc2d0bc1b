"""DistilBERT (Sanh et al. 2019, arXiv:1910.01108): BERT without token types."""

from fairjax.models.families import bert
from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import MaskedLM, SequenceClassifier


def sized(depth: int, width: int, places: int = 512, **rest) -> EncoderShape:
  plain = {'family': 'distilbert', 'types': 0, 'head_dropout': 0.2}
  return bert.sized(depth, width, places, **(plain | rest))


FAMILY = Family(
  name='distilbert',
  shape=EncoderShape,
  keys=of_family('distilbert'),
  body=Encoder,
  tensors='distilbert',
  prefix='distilbert.',
  heads={
    'classify': Head(
      'DistilBertForSequenceClassification',
      'distilbert.classify',
      SequenceClassifier,
      {'activation': 'relu'},
    ),
    'mask': Head('DistilBertForMaskedLM', 'distilbert.mask', MaskedLM),
    'embed': Head('DistilBertModel'),
  },
  shapes={
    'distilbert-base-uncased': sized(6, 768),
    'distilbert-base-cased': sized(6, 768, vocab=28996),
  },
  sized=sized,
  derive=lambda values: {'embedding': values['width'], 'types': 0},
)
