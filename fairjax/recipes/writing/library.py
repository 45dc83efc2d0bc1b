"""What a model writes, as a function for notebooks: `fairjax.write`."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Unpack

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


class WriteOptions(doors.CommonOptions, total=False):
  """The rest of what `write` takes, which says what each is: knobs."""

  lexicon: Annotated[str | os.PathLike, 'writing.lexicon']
  encoder: Annotated[str | os.PathLike, 'writing.encoder']
  rate: Annotated[float, 'writing.rate']
  prompt: Annotated[str, 'generate.prompt']
  max_new_tokens: Annotated[int, 'generate.max_new_tokens']
  temperature: Annotated[float, 'generate.temperature']
  top_p: Annotated[float, 'generate.top_p']
  top_k: Annotated[int, 'generate.top_k']


def _base() -> Config:
  """What the command's config sets, and draws of whatever the model says."""
  config = shipped('writing')
  config.generate.top_k = 0
  return config


OPTIONS = doors.options(WriteOptions, _base())


@doors.door(known=OPTIONS)
def write(
  model: str | os.PathLike | Callable,
  classifier: Any = None,
  prompts: Any = None,
  *,
  axes: str | Sequence[str] = ('gender',),
  samples: int = 8,
  limit: int = 0,
  options: WriteOptions | None = None,
  **deprecated: Unpack[WriteOptions],
) -> Written:
  """What a model writes after prompts about groups, scored and compared.

  Args:
    {arguments}

  Options (a `WriteOptions`, or a mapping):
    {options}

  >>> echo = lambda prompts: [f'fine, {p.split()[1]}' for p in prompts]
  >>> rude = lambda texts: [0.9 if 'man' in t.split() else 0.1 for t in texts]
  >>> result = write(echo, rude, samples=1)
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
  own = {'writing.axes': axes, 'writing.samples': samples, 'data.limit': limit}
  doors.configured(config, doors.LEAVES, own)
  doors.configured(config, OPTIONS, doors.given(options, deprecated))
  source = model if callable(model) else None
  asked = prompts if not isinstance(prompts, str | os.PathLike) else None
  named = classifier if not isinstance(classifier, str) else None
  results, table = experiment.write(config, None, source, asked, named)
  doors.retell(results, write)
  return Written(results, config, table)
