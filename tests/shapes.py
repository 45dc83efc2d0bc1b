"""Annotations of shapes are checked in tests, and nowhere else.

jaxtyping's own hook checks each function of a module, twice a call: a sixth of
the time of the tests. This one checks those that say a shape, once.
"""

import ast
import functools
import importlib.machinery
import sys

import beartype
import jaxtyping

ROOMS = ('fairjax.models', 'fairjax.scores', 'fairjax.metrics')
SEES = True
DECORATOR = "__import__('shapes').checked"


def checked(one):
  """A function, or a dataclass, that is given what it says."""
  if isinstance(one, type):
    return jaxtyping.jaxtyped(one, typechecker=beartype.beartype)
  own = beartype.beartype(one)

  @functools.wraps(one)
  def call(*args, **kwargs):
    if not SEES:
      return one(*args, **kwargs)
    with jaxtyping.jaxtyped('context'):  # as a decorator it binds twice
      return own(*args, **kwargs)

  return call


def says_a_shape(node: ast.AST) -> bool:
  """Whether an annotation is as Float[Array, 'row place']."""
  said = []
  if isinstance(node, ast.FunctionDef):
    said = [node.returns, *ast.walk(node.args)]
  elif isinstance(node, ast.ClassDef):
    said = [one for one in node.body if isinstance(one, ast.AnnAssign)]
  return any(
    isinstance(part, ast.Subscript)
    and isinstance(part.slice, ast.Tuple)
    and isinstance(getattr(part.slice.elts[-1], 'value', 0), str)
    for one in filter(None, said)
    for part in ast.walk(one)
  )


class Loader(importlib.machinery.SourceFileLoader):
  """Keeps no bytecode: that of a module is not of a test's making."""

  def path_stats(self, path):
    raise OSError

  def source_to_code(self, data, path, **how):
    tree = ast.parse(data)
    for node in filter(says_a_shape, [*ast.walk(tree)]):
      first = 0 if isinstance(node, ast.ClassDef) else 99  # or below all others
      node.decorator_list.insert(first, ast.parse(DECORATOR).body[0].value)
    return super().source_to_code(ast.fix_missing_locations(tree), path, **how)


class Finder(importlib.machinery.PathFinder):
  @classmethod
  def find_spec(cls, fullname, path=None, target=None):
    if not fullname.startswith(ROOMS):
      return None
    spec = super().find_spec(fullname, path, target)
    if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
      spec.loader = Loader(fullname, spec.loader.path)
    return spec


sys.meta_path.insert(0, Finder)
