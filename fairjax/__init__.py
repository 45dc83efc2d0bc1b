"""fairjax: fairness by data for text models, in JAX.

    import fairjax
    fairjax.assess(y_true, y_score, groups=df['gender'])

The functions of api.py, and the audit, loaded when they are first asked for.
"""

import importlib

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
