"""BERT: post-norm encoder, pooled first place, token types."""

from typing import Any

from fairjax.models.families.config_keys import of_family
from fairjax.models.families.encoder import Encoder, EncoderShape
from fairjax.models.families.family import Family, Head
from fairjax.models.families.heads import MaskedLM, SequenceClassifier


def sized(
  depth: int,
  width: int,
  places: int = 512,
  kind: Any = EncoderShape,
  **rest: Any,
) -> Any:
  plain = {'heads': width // 64, 'hidden': 4 * width, 'embedding': width}
  places += rest.get('position_offset', 0)
  return kind(depth=depth, width=width, positions=places, **(plain | rest))


def heads(name: str, part: str, classify: Any = (), mask: Any = ()) -> Any:
  """What every encoder has, with options of the heads."""
  return {
    'classify': Head(
      f'{name}ForSequenceClassification',
      f'{part}.classify',
      SequenceClassifier,
      dict(classify),
    ),
    'mask': Head(f'{name}ForMaskedLM', f'{part}.mask', MaskedLM, dict(mask)),
    'embed': Head(f'{name}Model'),
  }


FAMILY = Family(
  name='bert',
  shape=EncoderShape,
  keys=of_family('bert'),
  body=Encoder,
  tensors='bert',
  prefix='bert.',
  heads=heads('Bert', 'bert'),
  sized=sized,
  derive=lambda values: {'embedding': values['width']},
)
