"""fairjax: fairness by data for text models, in JAX.

    import fairjax
    fairjax.assess(y_true, y_score, groups=df['gender'])

The functions of api.py, the audit and what models write, each loaded when it
is first asked for: their names stand in __init__.pyi, which type checkers read.
"""

import ast
import importlib
import pathlib

__version__ = '0.1.0'


def _api() -> dict[str, str]:
  """{name: its module}, of the imports of the stub."""
  stub = pathlib.Path(__file__).with_suffix('.pyi').read_text('utf-8')
  return {
    name.name: str(node.module)
    for node in ast.parse(stub).body
    if isinstance(node, ast.ImportFrom)
    for name in node.names
  }


_API = _api()
__all__ = ['__version__', *_API]  # noqa: PLE0604


def __getattr__(name: str):
  if name in _API:
    return getattr(importlib.import_module(_API[name]), name)
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  return sorted(__all__)
