"""fairjax: fairness by data for text models, in JAX.

    import fairjax
    fairjax.assess(y_true, y_score, groups=df['gender'])

The functions of api.py, the audit and what models write, each loaded when it
is first asked for.
"""

import importlib
import typing

if typing.TYPE_CHECKING:  # what a type checker sees of the lazy names below
  from fairjax.api import Assessment as Assessment
  from fairjax.api import Classifier as Classifier
  from fairjax.api import Comparison as Comparison
  from fairjax.api import Equalized as Equalized
  from fairjax.api import UserError as UserError
  from fairjax.api import assess as assess
  from fairjax.api import compare as compare
  from fairjax.api import diet as diet
  from fairjax.api import gradient_norms as gradient_norms
  from fairjax.api import load as load
  from fairjax.api import score as score
  from fairjax.api import swap as swap
  from fairjax.api import thresholds as thresholds
  from fairjax.api import weights as weights
  from fairjax.recipes.audit.library import audit as audit
  from fairjax.recipes.benchmarks.library import benchmark as benchmark
  from fairjax.recipes.estimator import FairClassifier as FairClassifier
  from fairjax.recipes.perturbation.library import fairscore as fairscore
  from fairjax.recipes.perturbation.library import perturb as perturb
  from fairjax.recipes.writing.library import write as write

__version__ = '0.1.0'

_API = {  # where each is
  **dict.fromkeys(
    (
      *('assess', 'compare', 'swap', 'load', 'score', 'diet', 'weights'),
      *('gradient_norms', 'Assessment', 'Comparison', 'Classifier'),
      *('UserError', 'Equalized', 'thresholds'),
    ),
    'fairjax.api',
  ),
  'FairClassifier': 'fairjax.recipes.estimator',
  'audit': 'fairjax.recipes.audit.library',
  'benchmark': 'fairjax.recipes.benchmarks.library',
  'fairscore': 'fairjax.recipes.perturbation.library',
  'perturb': 'fairjax.recipes.perturbation.library',
  'write': 'fairjax.recipes.writing.library',
}
__all__ = ['__version__', *_API]  # noqa: PLE0604


if not typing.TYPE_CHECKING:  # to a type checker every name would be there

  def __getattr__(name: str):
    if name in _API:
      return getattr(importlib.import_module(_API[name]), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  return sorted(__all__)
