"""What a model writes, as a function for notebooks: `fairjax.write`."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairjax import stages
from fairjax.config import Config, Generate, Measures, Writing
from fairjax.core import artefacts, doors, knobs
from fairjax.data.tables import inputs
from fairjax.recipes.writing import recipe
from fairjax.report.faces import Face

if TYPE_CHECKING:
  import matplotlib.figure


@dataclasses.dataclass(repr=False)
class Written(Face):
  """What `fairjax.write` found: result['mean_score_gap'] is {value, low, …}."""

  config: Config
  texts: pd.DataFrame  # prompt, group, continuation, whole, score …

  def plot(self, measure: str = 'mean_score') -> 'matplotlib.figure.Figure':
    """One measure of every group, with intervals."""
    return super().plot(measure)

  def save(self, folder: str | os.PathLike) -> pathlib.Path:
    """Writes the page, its documents and the texts; returns the page."""
    keep = lambda at: artefacts.write_table(at / 'texts.parquet', self.texts)
    return stages.leave(folder, self.config, self.results, keep)


# The knobs that have another name as arguments.
ARGUMENTS = {'writing.batch': 'batch_size', 'audit.batch': 'batch_size'}


@doors.door(ARGUMENTS)
def write(
  model: str | os.PathLike | Callable,
  classifier: Any = None,
  prompts: Any = None,
  *,
  axes: str | Sequence[str] = ('gender',),
  values: str | Sequence[str] = (),
  limit: int = 0,
  samples: int = 8,
  max_new_tokens: int = 20,
  temperature: float = 1.0,
  top_p: float = 0.9,
  top_k: int = 0,
  prompt: str = '',
  scored: str = 'continuation',
  positive: str = '',
  bound: float = 0.5,
  lexicon: str | os.PathLike = '',
  targets: str | os.PathLike = '',
  encoder: str | os.PathLike = '',
  fail_if: str = '',
  batch_size: int = 16,
  retries: int = 3,
  rate: float = 0.0,
  confidence_level: float = 0.95,
  n_resamples: int = 4000,
  random_state: int = 0,
) -> Written:
  """What a model writes after prompts about groups, scored and compared.

  Args:
    model: a function of a list of prompts to a list of texts (a hosted model),
      or the folder or GGUF file of a GPT-2 or Llama.
    classifier: what scores the texts, all that `fairjax.audit` takes; None
      where a lexicon alone does.
    prompts: a table or file with the columns prompt and group ('' names none)
      and perhaps template (what rows hang together by), pair, attribute, and
      continuation (then nothing is written); a file of BOLD or
      RealToxicityPrompts. None takes templates of the axes.
    axes: those of the templates; of prompts without a group, whose words are
      looked for.
    values: the groups that are compared; () is all.
    limit: templates, or clusters of prompts; 0 is all.
    samples: texts written for each prompt.
    max_new_tokens: of each text, by a model's own tokens.
    temperature: 0 takes the best token each time, 1 draws as the model says.
    top_p: drawn of the likeliest tokens with this probability together.
    top_k: drawn of so many likeliest tokens; 0 is all.
    prompt: a form for what the model is asked, with {text} for the prompt.
    scored: 'continuation', or 'whole' with its prompt.
    positive: the class whose probability is the score.
    bound: the score from which on a text counts as positive.
    lexicon: a file of hurtful words: HONEST is measured.
    targets: a file of words whose company with groups' words is measured.
    encoder: the folder of an encoder, for the cosine of matched texts.
    fail_if: a gate, as 'dp<0.9 or mean_score_gap>0.05'; see `gate`.
    batch_size: prompts that a function is given at a time.
    retries: times that it is asked again where it fails.
    rate: calls a minute at most; 0 is no limit.
    confidence_level: of the intervals.
    n_resamples: draws of the intervals.
    random_state: seed of the texts and of the draws.

  >>> echo = lambda prompts: [f'fine, {p.split()[1]}' for p in prompts]
  >>> rude = lambda texts: [0.9 if 'man' in t.split() else 0.1 for t in texts]
  >>> result = write(echo, rude, samples=1, n_resamples=200)
  >>> round(result['mean_score_gap']['value'], 3)
  0.07
  """
  config = _config(locals())
  knobs.check(config, Config)
  source = model if callable(model) else None
  asked = prompts if not isinstance(prompts, str | os.PathLike) else None
  named = classifier if not isinstance(classifier, str) else None
  results, table = recipe.write(config, None, source, asked, named)
  doors.retell(results, write, ARGUMENTS)
  return Written(results, config, table)


def _config(given: Mapping[str, Any]) -> Config:
  """The arguments of `write` as the command's config has them."""
  names = lambda one: (one,) if isinstance(one, str) else tuple(one)
  path = lambda one: (
    os.fspath(one) if isinstance(one, str | os.PathLike) else ''
  )
  drawing = ('max_new_tokens', 'temperature', 'top_p', 'top_k', 'prompt')
  alike = ('limit', 'samples', 'scored', 'positive', 'bound', 'fail_if',
           'retries', 'rate')  # fmt: skip
  return Config(
    recipe='writing',
    model=path(given['model']) or 'a function',
    seeds=1,
    seed=inputs.seed(given['random_state']),
    generate=Generate(**{key: given[key] for key in drawing}),
    measures=Measures(
      resamples=given['n_resamples'],
      confidence_level=given['confidence_level'],
    ),
    writing=Writing(
      **{key: given[key] for key in alike},
      **{key: names(given[key]) for key in ('axes', 'values')},
      **{
        key: path(given[key])
        for key in ('prompts', 'classifier', 'lexicon', 'targets', 'encoder')
      },
      batch=given['batch_size'],
    ),
  )
