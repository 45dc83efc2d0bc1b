"""Mutants of fairjax/metrics and of the reader of answers: do tests see them?

  python tests/mutate.py [COUNT [SEED [PART OF A PATH]]]

Prints those that no test sees, and the share of the others. A survivor is a
missing test, or a change that changes nothing.
"""

import ast
import importlib
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLES = ['tests/data/tables', 'tests/test_doors.py']
ROOMS = {  # sources, and the tests that are to see their mutants
  'fairjax/metrics/**/*.py': ['tests/metrics'],
  'fairjax/data/tables/answers.py': TABLES,
  'fairjax/data/tables/join.py': TABLES,
}
# Loaded once, before the forks.
LOADED = 'pandas', 'scipy.stats', 'sklearn.metrics', 'jax', 'hypothesis'
SECONDS = 300  # a mutant that takes longer has made a loop endless: seen
PAIRS = (
  *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.Lt, ast.LtE)),
  *((ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
  *((ast.And, ast.Or), (ast.BitAnd, ast.BitOr), (ast.In, ast.NotIn)),
)
SWAPS = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}


def places(tree: ast.AST) -> list[tuple[ast.AST, str]]:
  """Nodes of functions that can be mutated, and the field of each."""
  functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
  parts = [part for function in functions for part in function.body]
  return [
    (node, field)
    for node in (node for part in parts for node in ast.walk(part))
    for field in ('op', 'ops', 'value', 'test')
    if kind_of(node, field)
  ]


def kind_of(node: ast.AST, field: str):
  """What the field becomes; None where it is not mutated."""
  old = getattr(node, field, None)
  if isinstance(node, ast.Constant):
    return old + 1 if field == 'value' and type(old) in (int, float) else None
  if field == 'test':
    return ast.UnaryOp(ast.Not(), old) if old is not None else None
  if field == 'ops' and old:
    kind = SWAPS.get(type(old[0]))
    return [kind(), *old[1:]] if kind else None
  kind = SWAPS.get(type(old))
  return kind() if kind else None


def mutants() -> list[tuple[str, int, list[str]]]:
  return [
    (str(path.relative_to(ROOT)), k, tests)
    for pattern, tests in ROOMS.items()
    for path in sorted(ROOT.glob(pattern))
    for k, _ in enumerate(places(ast.parse(path.read_text())))
  ]


def fails(copy: pathlib.Path, tests: list[str]) -> bool:
  """Whether one of the tests fails, in a fork that has the libraries."""
  child = os.fork()
  if not child:
    import pytest

    signal.alarm(SECONDS)
    os.chdir(copy)
    sys.path[:0] = [str(copy)]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os._exit(pytest.main(['-x', '-q', '-p', 'no:cacheprovider', *tests]))
  return os.waitpid(child, 0)[1] != 0


def killed(copy: pathlib.Path, path: str, tests: list[str]) -> bool:
  """Its own test file first, which fails soonest; then those of its room."""
  name = f'**/test_{pathlib.Path(path).stem}.py'
  own = [p for test in tests for p in ROOT.glob(f'{test}/{name}')]
  own = [str(p.relative_to(ROOT)) for p in own]
  return bool(own and fails(copy, own)) or fails(copy, tests)


def main(count: str = '100', seed: str = '0', only: str = '') -> None:
  for name in LOADED:
    importlib.import_module(name)
  chosen = [one for one in mutants() if only in one[0]]
  random.Random(int(seed)).shuffle(chosen)
  alive, tried = 0, min(int(count), len(chosen))
  with tempfile.TemporaryDirectory() as name:
    copy = pathlib.Path(name, 'tree')
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns('.*'))
    (copy.parent / 'shared').symlink_to(ROOT.parent / 'shared')
    if fails(copy, [test for tests in ROOMS.values() for test in tests]):
      sys.exit('the tests fail without a mutant; mend them first')
    for path, k, tests in chosen[:tried]:
      tree = ast.parse((ROOT / path).read_text())
      node, field = places(tree)[k]
      before = ast.unparse(node).splitlines()[0]
      setattr(node, field, kind_of(node, field))
      (copy / path).write_text(ast.unparse(tree))
      if not killed(copy, path, tests):
        alive += 1
        after = ast.unparse(node).splitlines()[0]
        print(f'{path}:{node.lineno}: {before} → {after}', flush=True)
      shutil.copyfile(ROOT / path, copy / path)
  print(f'{tried - alive} of {tried} mutants seen: {1 - alive / tried:.2f}')


if __name__ == '__main__':
  main(*sys.argv[1:])
