"""Mutants of measures, methods, scores and readers: do tests see them?

  python tests/mutate.py [COUNT [SEED [PART OF A PATH]]]

Prints those that no test sees, and the share of the others. A survivor is a
missing test, or a change that changes nothing.
"""

import ast
import collections
import importlib
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
READERS = 'answers files hygiene inputs join labels readers splits'.split()
TABLES = [
  *('tests/data/tables', 'tests/test_doors.py', 'tests/test_mistakes.py'),
  'tests/chaos/test_odd_arguments.py',
]
ROOMS = {  # sources, and the tests that are to see their mutants
  'fairjax/metrics/**/*.py': ['tests/metrics'],
  'fairjax/methods/*.py': ['tests/methods'],
  'fairjax/scores/*.py': ['tests/scores'],
  'fairjax/train/step.py': ['tests/train'],
  **{f'fairjax/data/tables/{name}.py': TABLES for name in READERS},
}
# Loaded once, before the forks.
LOADED = 'pandas', 'scipy.stats', 'sklearn.metrics', 'jax', 'hypothesis'
FIRST = 30  # tests that are asked before the slower ones
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


def in_fork(copy: pathlib.Path, work) -> bool:
  """Whether `work` exits with anything but 0, in a fork with the libraries."""
  child = os.fork()
  if not child:
    os.chdir(copy)
    sys.path[:0] = [str(copy)]
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os._exit(int(work()))
  return os.waitpid(child, 0)[1] != 0


def fails(copy: pathlib.Path, tests: list[str]) -> bool:
  """Whether one of the tests fails."""

  def work():
    signal.alarm(SECONDS)
    return pytest.main(['-x', '-q', '-p', 'no:cacheprovider', *tests])

  return in_fork(copy, work)


class Seen:
  """Notes which functions of `root` each test calls, and its seconds.

  What a fixture calls counts for every test of the file; what is compiled or
  kept is called by the first alone, so `killed` asks all tests of a kernel.
  """

  def __init__(self, root: pathlib.Path):
    self.root, self.tests = str(root / 'fairjax'), {}

  @pytest.hookimpl(wrapper=True)
  def pytest_runtest_protocol(self, item):
    called, start = set(), time.process_time()

    def note(frame, event, arg):
      if (path := frame.f_code.co_filename).startswith(self.root):
        called.add((path, frame.f_code.co_qualname.split('.<locals>')[0]))

    sys.settrace(note)
    try:
      return (yield)
    finally:
      sys.settrace(None)
      spent = time.process_time() - start
      self.tests[item.nodeid] = spent, [*called]


def who_calls(copy: pathlib.Path, tests: set[str]) -> dict[tuple, list[str]]:
  """{(path, function): the tests that call it, the fastest first}."""
  told = copy.parent / 'seen.json'

  def work():
    seen = Seen(copy)
    code = pytest.main(['-q', '-p', 'no:cacheprovider', *tests], [seen])
    told.write_text(json.dumps(seen.tests))
    return code

  if in_fork(copy, work):
    sys.exit('the tests fail without a mutant; mend them first')
  out = collections.defaultdict(list)
  each = json.loads(told.read_text()).items()
  for test, (_, called) in sorted(each, key=lambda one: one[1][0]):
    for path, name in called:
      out[str(pathlib.Path(path).relative_to(copy)), name].append(test)
  return out


def function_of(tree: ast.Module, node: ast.AST) -> tuple[str, bool]:
  """The function or method of a module that a node is in; is it a kernel?"""
  of = lambda parent, before: [
    (before + one.name, one)
    for one in parent.body
    if isinstance(one, ast.FunctionDef)
  ]
  every = of(tree, '')
  for one in tree.body:
    if isinstance(one, ast.ClassDef):
      every += of(one, f'{one.name}.')
  for name, one in every:
    if one.lineno <= node.lineno <= one.end_lineno:
      return name, bool(one.decorator_list)
  return '', True


def killed(copy, path: str, tests: list[str], callers: list[str]) -> bool:
  """The fastest tests that call the function first, then the others."""
  if not callers:
    return fails(copy, tests)
  parts = callers[:FIRST], callers[FIRST:]
  return any(fails(copy, part) for part in parts if part)


def main(count: str = '100', seed: str = '0', only: str = '') -> None:
  for name in LOADED:
    importlib.import_module(name)
  chosen = [one for one in mutants() if only in one[0]]
  random.Random(int(seed)).shuffle(chosen)
  alive, tried = 0, min(int(count), len(chosen))
  with tempfile.TemporaryDirectory() as name:
    copy = pathlib.Path(name, 'tree').resolve()
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns('.*'))
    (copy.parent / 'shared').symlink_to(ROOT.parent / 'shared')
    callers = who_calls(copy, {t for *_, own in chosen[:tried] for t in own})
    for path, k, tests in chosen[:tried]:
      tree = ast.parse((ROOT / path).read_text())
      node, field = places(tree)[k]
      function, whole = function_of(tree, node)
      before = ast.unparse(node).splitlines()[0]
      setattr(node, field, kind_of(node, field))
      (copy / path).write_text(ast.unparse(tree))
      own = [] if whole else callers[path, function]
      if not killed(copy, path, tests, own):
        alive += 1
        after = ast.unparse(node).splitlines()[0]
        print(f'{path}:{node.lineno}: {before} → {after}', flush=True)
      shutil.copyfile(ROOT / path, copy / path)
  print(f'{tried - alive} of {tried} mutants seen: {1 - alive / tried:.2f}')


if __name__ == '__main__':
  if '--help' in sys.argv:
    sys.exit(print(__doc__))
  main(*sys.argv[1:])
