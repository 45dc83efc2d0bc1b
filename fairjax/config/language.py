"""Config: corpora, what is written and of whom, pretraining, benchmarks."""

import dataclasses

from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.core.knobs import (
  above,
  at_least,
  between,
  each,
  entry,
  existing,
  filled,
  form,
  knob,
  one_of,
  or_else,
  within,
)


@dataclasses.dataclass(slots=True)
class Corpus:
  """Counterfactuals of whole folders (swapping/corpus.py)."""

  path: str = knob('', changes=('data', 'texts'))
  both: bool = knob(False)
  backend: str = knob(
    'local',
    form(r'local|dask|\w+://\S+', "'local', 'dask' or an address"),
    changes=(),
  )


@dataclasses.dataclass(slots=True)
class Generate:
  """How a model writes (language/generate_corpus.py); -1, '': as its folder."""

  task: str = knob('write', one_of('write', 'fill'))
  prompt: str = knob('')
  num_beams: int = knob(-1, or_else(-1, between(1, 64)))
  max_new_tokens: int = knob(-1, or_else(-1, at_least(1)))
  temperature: float = knob(-1.0, or_else(-1, at_least(0)))
  top_p: float = knob(-1.0, or_else(-1, above(0, 1)))
  top_k: int = knob(-1, or_else(-1, at_least(0)))


@dataclasses.dataclass(slots=True)
class Pretrain:
  """Pretraining on plain text (language/pretrain.py)."""

  objective: str = knob('mlm', one_of('mlm', 'electra', 'bart', 'causal'))
  length: int = knob(128, between(4, 2**16))
  steps: int = knob(0, at_least(0))
  document: str = knob('blank', one_of('blank', 'line'))
  held_out: float = knob(0.01, within(0, 1))
  mask: float = knob(0.15, within(0, 1))
  whole_word: bool = knob(False)


@dataclasses.dataclass(slots=True)
class Benchmarks:
  """Bias benchmarks of language models (benchmarks/)."""

  names: tuple[str, ...] = knob(
    (), each(entry('fairjax.benchmarks:BENCHMARKS'))
  )
  data: str = knob('', existing, path=True)
  encodings: tuple[str, ...] = knob(
    ('mean',), each(one_of('mean', 'first', 'cls'), least=1)
  )
  whole: bool = knob(False)
  mitigations: tuple[str, ...] = knob(
    (), each(entry('fairjax.recipes:MITIGATIONS'))
  )
  task: str = knob('', existing, path=True)


def writer(model: str) -> None:
  """A sentence where a model's config.json says that it fills masks.

  Read before anything is loaded; what other folders are is said by their
  weights.
  """
  path = paths.at_home(model) / 'config.json'
  if not path.is_file():
    return
  with paths.reading(path):
    masked = 'ForMaskedLM"' in path.read_text('utf-8', 'replace')
  if masked:
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
