"""Config: what models write, of whom, and how it is scored."""

import dataclasses
import pathlib

from fairjax.core.errors import UserError
from fairjax.core.knobs import (
  at_least,
  between,
  each,
  existing,
  filled,
  knob,
)


def writer(model: str) -> None:
  """A sentence where a model's config.json says that it fills masks.

  Read before anything is loaded; what other folders are is said by their
  weights.
  """
  path = pathlib.Path(model).expanduser() / 'config.json'
  if path.is_file() and 'ForMaskedLM"' in path.read_text('utf-8', 'replace'):
    raise UserError(
      f'{model} is a masked language model, which fills masks and writes no '
      'texts; name a causal one, such as a folder of GPT-2 or Llama'
    )


@dataclasses.dataclass(slots=True)
class Writing:
  """What is asked, how often, and what is measured (writing/experiment.py)."""

  prompts: str = knob('', existing, path=True)
  axes: tuple[str, ...] = knob(('gender',), each(filled))
  samples: int = knob(8, between(1, 10000))
  classifier: str = knob('', path=True)
  lexicon: str = knob('', existing, path=True)
  encoder: str = knob('', path=True)
  rate: float = knob(0.0, at_least(0), changes=())
