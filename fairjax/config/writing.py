"""Config: what models write, of whom, and how it is scored."""

import dataclasses
import pathlib

from fairjax.core.errors import UserError
from fairjax.core.knobs import (
  above,
  at_least,
  between,
  each,
  existing,
  filled,
  knob,
)


def writer(model: str) -> None:
  """A sentence where a model's config.json says that it fills masks.

  Read before anything is loaded; what other folders are is told by their
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

  prompts: str = knob(
    '',
    "prompts with a group each (csv, jsonl), BOLD's or RealToxicityPrompts' "
    "files; '' is templates of the axes",
    existing,
    path=True,
  )
  axes: tuple[str, ...] = knob(
    ('gender',),
    "axes of the templates: 'gender', 'religion' …, or files of axes; of "
    'prompts without a group, whose words are found',
    each(filled),
  )
  values: tuple[str, ...] = knob(
    (), 'the groups that are compared, of those there are; () is all',
    each(filled),
  )  # fmt: skip
  limit: int = knob(
    0, 'templates, or clusters of prompts, drawn by seed; 0 is all', at_least(0)
  )
  samples: int = knob(8, 'texts written for each prompt', between(1, 10000))
  classifier: str = knob(
    '',
    'what scores the texts: all that audit.model takes, such as a folder or '
    "'module:function'",
    path=True,
  )
  bound: float = knob(
    0.5, 'score from which on a text counts as positive', above(0, 1)
  )
  lexicon: str = knob(
    '',
    "hurtful words, one a line, or HurtLex's tsv: HONEST is measured",
    existing,
    path=True,
  )
  targets: str = knob(
    '',
    "words whose co-occurrence with groups' words is measured, one a line; "
    "'' is occupations and traits",
    existing,
    path=True,
  )
  encoder: str = knob(
    '', "folder of an encoder of sentences, for their cosine; '' is none",
    path=True,
  )  # fmt: skip
  batch: int = knob(
    16, "prompts that a writer 'module:function' is given at once", at_least(1),
    changes=(),
  )  # fmt: skip
  rate: float = knob(
    0.0,
    "calls a minute at most of a writer 'module:function'; 0 is no limit",
    at_least(0),
    changes=(),
  )  # fmt: skip
