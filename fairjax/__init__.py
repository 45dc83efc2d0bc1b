"""fairjax: fairness by data for text models, in JAX.

    import fairjax
    fairjax.assess(y_true, y_score, groups=df['gender'])

The functions of api.py, and the audit, loaded when they are first asked for.

In this room:

  announce     What inner code says to a run that it does not know: progress,
               and notes
  api          The library: what the program does, as functions of arrays and
               tables
  artefacts    Artefacts: files of a run, written atomically and sealed by
               identity
  assessments  Results of `assess` and `compare`: printed, indexed, plotted
  backend      The platform that programs are compiled for, and what its chips
               can do
  cache        What can be made again, kept between runs where there is a place
               for it
  commands     The subcommands of `fairjax`: the config and the knobs each
               stands for
  errors       The exceptions that end a run without a traceback
  identity     The identity of a stage: a hash of everything it depends on
  inputs       Library inputs as checked arrays and tables
  keys         Random keys, derived from seed, stream and step: no state is
               carried
  knobs        Config fields: valid values, help, and the stages that they
               change
  lock         A lock on a run folder: one process at a time
  main         fairjax: assess a classifier's bias, find its causes, train a
               fairer one
  manual       Help, made from what is declared: commands, knobs, configs,
               registries
  memory       Keeps freed memory for the next step instead of returning it
               (Linux, CPU)
  paths        Paths of input files, checked, with one sentence for what is
               missing
  registry     Registry entries (DATASETS, METHODS, …): an address and one line
               each
  results      The results of a run in one schema: contenders × test sets ×
               measures
  strict_json  The one reader of JSON: strict where Python's is not
"""

import importlib
import typing

if typing.TYPE_CHECKING:  # what a type checker sees of the lazy names below
  from fairjax.api import Assessment as Assessment
  from fairjax.api import Classifier as Classifier
  from fairjax.api import Comparison as Comparison
  from fairjax.api import UserError as UserError
  from fairjax.api import assess as assess
  from fairjax.api import compare as compare
  from fairjax.api import diet as diet
  from fairjax.api import gradient_norms as gradient_norms
  from fairjax.api import load as load
  from fairjax.api import score as score
  from fairjax.api import swap as swap
  from fairjax.api import weights as weights
  from fairjax.recipes.audit_library import audit as audit

__version__ = '0.1.0'

_API = {  # where each is
  **dict.fromkeys(
    (
      *('assess', 'compare', 'swap', 'load', 'score', 'diet', 'weights'),
      *('gradient_norms', 'Assessment', 'Comparison', 'Classifier'),
      'UserError',
    ),
    'fairjax.api',
  ),
  'audit': 'fairjax.recipes.audit_library',
}
__all__ = ['__version__', *_API]  # noqa: PLE0604


def __getattr__(name: str):
  if name in _API:
    return getattr(importlib.import_module(_API[name]), name)
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  return sorted({*globals(), *_API})
