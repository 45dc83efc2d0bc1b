"""Config: models that rewrite texts, fine-tuned on pairs."""

import dataclasses

from fairjax.knobs import at_least, below, knob, one_of


@dataclasses.dataclass
class Rewrite:
  """Fine-tuning on pairs of texts (recipes/rewriter.py)."""

  family: str = knob(
    'bart',
    "of a model that is a size: 'bart', or 'gpt2', which reads both texts",
    one_of('bart', 'gpt2'),
  )
  smoothing: float = knob(0.0, 'label smoothing ε', below(0, 1))
  decoded: int = knob(
    200,
    'validation pairs written for train.metric_for_best=bleu',
    at_least(1),
  )
