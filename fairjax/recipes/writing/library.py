"""What a model writes, as a function for notebooks: `fairjax.write`."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from fairjax import stages
from fairjax.config import Config, doors, shipped
from fairjax.core import artefacts
from fairjax.recipes.writing import experiment
from fairjax.report.result_views import ResultView

if TYPE_CHECKING:
  import matplotlib.figure


@dataclasses.dataclass(repr=False)
class Written(ResultView):
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


# Leaves that have another name as arguments.
ARGUMENTS = {'audit.batch': 'batch_size'}


def _base() -> Config:
  """What the command's config sets, and draws of whatever the model says."""
  config = shipped('writing')
  config.generate.top_k = 0
  return config


OPTIONS = doors.options(
  (
    *('writing', 'audit.fail_if', 'audit.fail_on', 'audit.batch'),
    *('measures.pos_label', 'data.limit', 'measures.threshold'),
    *('measures.confidence_level', 'measures.resamples', 'seed'),
    *(f'generate.{name}' for name in ('max_new_tokens', 'temperature')),
    *(f'generate.{name}' for name in ('top_p', 'top_k', 'prompt')),
  ),
  _base(),
  ARGUMENTS,
  but=('writing.classifier', 'writing.prompts'),
)


@doors.door(ARGUMENTS, OPTIONS)
def write(
  model: str | os.PathLike | Callable,
  classifier: Any = None,
  prompts: Any = None,
  *,
  axes: str | Sequence[str] = ('gender',),
  samples: int = 8,
  **options: Any,
) -> Written:
  """What a model writes after prompts about groups, scored and compared.

  Args:
    {arguments}

  Options (keywords, or entries of `options={…}`):
    {options}

  >>> echo = lambda prompts: [f'fine, {p.split()[1]}' for p in prompts]
  >>> rude = lambda texts: [0.9 if 'man' in t.split() else 0.1 for t in texts]
  >>> result = write(echo, rude, samples=1, n_resamples=200)
  >>> round(result['mean_score_gap']['value'], 3)
  0.07
  """
  path = lambda one: (
    os.fspath(one) if isinstance(one, str | os.PathLike) else ''
  )
  config = _base()
  config.model = path(model) or 'a function'
  config.writing.prompts = path(prompts)
  config.writing.classifier = path(classifier)
  options |= {'axes': axes, 'samples': samples}
  if options.get('pos_label', '') is None:
    del options['pos_label']
  for name in {'threshold', 'pos_label'} & {*options}:
    options[name] = str(options[name])
  doors.configured(config, OPTIONS, options)
  source = model if callable(model) else None
  asked = prompts if not isinstance(prompts, str | os.PathLike) else None
  named = classifier if not isinstance(classifier, str) else None
  results, table = experiment.write(config, None, source, asked, named)
  doors.retell(results, write, ARGUMENTS)
  return Written(results, config, table)
