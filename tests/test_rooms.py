"""The order of the rooms: who may import whom, read off the imports."""

import ast
import dataclasses
import functools
import pathlib
import re

import fairjax
from fairjax import config as configs
from fairjax.recipes import RECIPES

ROOT = pathlib.Path(fairjax.__file__).parent

# What every room may use: core, and what a run is given.
GROUND = {'core', 'config'}
MOST = 18  # modules of a folder that a reader takes in at once

# A room, and those that it may import; `api` is a module.
ORDER = {
  'data': set(),
  'metrics': {'data'},  # the one room of intervals is in it
  'pairs': {'data', 'metrics'},
  'methods': {'data', 'pairs', 'metrics'},
  'models': {'data'},
  'train': {'data', 'models'},
  'results': {'metrics'},  # whose names are rows of its table of measures
  # A score is a function of arrays; its table is made by a stage.
  'scores': {'data', 'models', 'train', 'metrics', 'results'},
  'report': {'data', 'metrics', 'results'},
  # What a model says comes from a judge that a recipe hands in.
  'benchmarks': {'data', 'pairs', 'methods', 'metrics', 'results'},
  'stages': {
    *('data', 'methods', 'metrics', 'models', 'train', 'scores', 'report'),
    'results',
  },
  'api': {
    *('data', 'pairs', 'methods', 'metrics', 'models', 'train', 'scores'),
    *('report', 'results', 'stages'),
  },
}
# These import what they like, and so does a __main__.
TOP = {'recipes', 'bench', 'main', 'cli', 'docs'}


# Lines of code (blank lines and docstrings counted); `pathlib` finds them. Each
# commit that removes some lowers these; none raises them.
CEILING = {'fairjax': 71_987, 'tests': 47_091}


def test_no_room_grows_past_the_ceiling():
  """Every change is judged by what it removes; a ceiling only goes down."""
  for name, most in CEILING.items():
    files = [p.read_bytes() for p in (ROOT.parent / name).rglob('*.py')]
    lines = [line for one in files for line in one.splitlines()]
    assert len(lines) <= most, f'{name}/: {len(lines) - most} lines too many'
    if name == 'fairjax':  # code says why in three lines of a hundred
      assert sum(b'# ' in line for line in lines) >= 0.03 * len(lines)


def test_no_two_test_files_have_one_name():
  """Without an __init__.py beside it pytest knows a file by its name alone."""
  files = (ROOT.parent / 'tests').rglob('test_*.py')
  names = [p.name for p in files if not (p.parent / '__init__.py').exists()]
  assert sorted(names) == sorted({*names})


KNOB = re.compile(r'\bconfig\.([a-z_]+)\.([a-z_]+)\b')


def test_every_knob_that_is_read_exists():
  config = configs.Config()
  for path in (ROOT.parent / 'fairjax').rglob('*.py'):
    for section, name in KNOB.findall(path.read_text(encoding='utf-8')):
      knobs = getattr(config, section, None)
      if dataclasses.is_dataclass(knobs):
        assert hasattr(knobs, name), f'{path}: config.{section}.{name}'


ADDRESS = re.compile(r'fairjax\.[\w.]*(:\w*)?')


@functools.lru_cache(None)
def nodes(path: pathlib.Path) -> list[ast.AST]:
  """Every node of a file; its own statements are the body of the first."""
  return [*ast.walk(ast.parse(path.read_text(encoding='utf-8')))]


def imports(path: pathlib.Path):
  """What a file imports of ours, as parts after 'fairjax'; also others."""
  for node in nodes(path):
    if isinstance(node, ast.Import):
      yield from (tuple(alias.name.split('.')) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
      above = tuple(node.module.split('.'))
      yield from (above + (alias.name,) for alias in node.names)


def addresses(path: pathlib.Path):
  """What a file names by an address in a string, which is loaded later."""
  for node in nodes(path):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
      if ADDRESS.fullmatch(node.value):
        yield tuple(node.value.partition(':')[0].split('.'))


def files():
  for path in sorted(ROOT.rglob('*.py')):
    yield path.relative_to(ROOT).as_posix(), path


def room_of(name: str) -> str:
  return name.split('/')[0].removesuffix('.py')


def test_rooms_import_in_one_direction():
  wrong = set()
  for name, path in files():
    room = room_of(name)
    if room in TOP | GROUND | {'__init__'} or name.endswith('__main__.py'):
      continue
    assert room in ORDER, f'{name} is in no room of this test'
    for parts in imports(path):
      if parts[0] != 'fairjax' or len(parts) < 2:
        continue
      if parts[1] not in GROUND | ORDER[room] | {room, '__version__'}:
        wrong.add((name, parts[1]))
  assert wrong == set()


def test_addresses_point_the_way_of_imports():
  """A string that is loaded later is an arrow too.

  But for the config, whose knobs know the registries by name, so that a word
  that is in none is refused before any work.
  """
  found = {(name, parts) for name, p in files() for parts in addresses(p)}
  for path in ROOT.rglob('*.csv'):
    at = re.findall(r'\b(fairjax\.[\w.]+):', path.read_text())
    where = path.relative_to(ROOT).as_posix()
    found |= {(where, tuple(one.split('.'))) for one in at}
  wrong = {
    (name, parts)
    for name, parts in found
    if (room := room_of(name)) not in TOP | {'__init__', 'config'}
    and parts[1] not in GROUND | ORDER.get(room, set()) | {room}
  }
  assert wrong == set()
  by_config = {'.'.join(p[1:]) for n, p in found if room_of(n) == 'config'}
  registries = {'benchmarks', 'data', 'methods', 'recipes', 'scores'}
  assert by_config <= registries | {'methods.diet_rows'}


def test_the_order_has_no_circle():
  """Each room can be put after all that it imports."""
  placed: set[str] = set()
  while len(placed) < len(ORDER):
    able = {r for r, below in ORDER.items() if below <= placed} - placed
    assert able, set(ORDER) - placed
    placed |= able


def test_the_ground_imports_no_room():
  for name, path in files():
    if room_of(name) in GROUND:
      ours = {p[1] for p in imports(path) if p[0] == 'fairjax' and len(p) > 1}
      assert ours <= GROUND, name


def test_only_models_know_flax():
  """scores/ looks at modules that models/ made; it imports no Flax."""
  users = {n for n, p in files() for i in imports(p) if i[0] == 'flax'}
  assert {room_of(name) for name in users} <= {'models', 'bench'}


DEVICES = {
  'device_count',
  'devices',
  'local_devices',
  'make_mesh',
  'process_count',
  'process_index',
}


def test_only_the_mesh_counts_devices():
  """Layers may ask for the backend's name, and nothing else.

  The backend looks at one device, to say what it can do.
  """
  users = set()
  for name, path in files():
    for node in nodes(path):
      if isinstance(node, ast.Attribute) and node.attr in DEVICES:
        if isinstance(node.value, ast.Name) and node.value.id == 'jax':
          users.add(name)
  assert {n for n in users if room_of(n) != 'bench'} == {
    *('train/mesh.py', 'core/backend.py')
  }


def test_a_platform_is_asked_for_in_few_places():
  """What a layer does on one is a row of kernels/platform_traits.py."""
  asked = []
  for name, path in files():
    if name.startswith(('models/kernels/', 'core/backend', 'bench/')):
      continue
    for node in nodes(path):
      if isinstance(node, ast.Compare):
        values = [getattr(n, 'value', '') for n in ast.walk(node)]
        if {'cpu', 'gpu', 'tpu'} & {v for v in values if isinstance(v, str)}:
          asked.append((name, node.lineno))
  assert 0 < len(asked) <= 8, asked


def test_no_folder_is_flat():
  """A room that has outgrown a reader's eye is divided."""
  many = {}
  for name, _ in files():
    folder, _, file = name.rpartition('/')
    if file != '__init__.py':
      many.setdefault(folder, []).append(file)
  wide = {folder for folder, names in many.items() if len(names) > MOST}
  assert wide == set(), {folder: len(many[folder]) for folder in wide}


def test_recipes_make_no_circle():
  """A recipe may use another's parts, never one that uses its own."""
  known = {name for name, _ in files() if room_of(name) == 'recipes'}
  uses = {
    name: {
      file
      for part in imports(path)
      for deep in (3, 4)  # a page of its own, or one of a system's room
      if (file := f'{"/".join(part[1:deep])}.py') in known
    }
    for name, path in files()
    if name in known
  }
  assert any(uses.values())

  def reach(name, seen=()):
    assert name not in seen, ' → '.join((*seen, name))
    for other in uses.get(name, ()):
      reach(other, (*seen, name))

  for name in uses:
    reach(name)


def calls_of_runs(path: pathlib.Path) -> set[str]:
  """The recipes whose `run` a file imports or calls."""
  runs = {
    tuple(one.target.split(':')[0].split('.')) for one in RECIPES.values()
  }
  bound, found = {}, set()
  for node in nodes(path):
    if isinstance(node, ast.ImportFrom) and node.module:
      above = tuple(node.module.split('.'))
      for alias in node.names:
        bound[alias.asname or alias.name] = (*above, alias.name)
        if above in runs and alias.name == 'run':
          found.add(node.module)
  for node in nodes(path):
    if isinstance(node, ast.Attribute) and node.attr == 'run':
      if isinstance(node.value, ast.Name) and bound.get(node.value.id) in runs:
        found.add('.'.join(bound[node.value.id]))
  return found


def test_a_recipe_runs_no_other():
  """What two recipes do is a stage that both call; a run is the command's."""
  wrong = {name: found for name, p in files() if (found := calls_of_runs(p))}
  assert wrong == {}


def test_a_call_of_a_run_is_seen(tmp_path):
  for text in (
    'from fairjax.recipes.train import run\n',
    'from fairjax.recipes import train as one\none.run(1, 2)\n',
  ):
    path = tmp_path / 'recipe.py'
    path.write_text(text)
    assert calls_of_runs(path) == {'fairjax.recipes.train'}


def test_a_class_name_is_of_one_class():
  """A reader who meets a name need not ask which of two it is."""
  where = {}
  for name, path in files():
    for node in nodes(path):
      if isinstance(node, ast.ClassDef):
        where.setdefault(node.name, []).append(f'{name}:{node.lineno}')
  assert {k: v for k, v in where.items() if len(v) > 1} == {}


def used_names(path: pathlib.Path, own: str, modules: set[str]):
  """(module, name) of what a file uses; module '' where it cannot be told."""
  bound, docs = {}, set()
  for node in nodes(path):
    if isinstance(node, ast.ImportFrom) and node.module:
      for alias in node.names:
        whole = f'{node.module}.{alias.name}'
        if whole in modules:
          bound[alias.asname or alias.name] = whole
        yield node.module, alias.name
    elif isinstance(node, ast.Expr):
      docs.add(node.value)
  for node in nodes(path):
    if isinstance(node, ast.Attribute):
      base = node.value.id if isinstance(node.value, ast.Name) else ''
      yield bound.get(base, ''), node.attr
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
      yield own, node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
      if node not in docs:  # an address, or the key of a registry
        yield from (('', word) for word in re.findall(r'\w+', node.value))


def defined_names(path: pathlib.Path):
  """A file's own functions, classes and constants."""
  for node in nodes(path)[0].body:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
      if not node.decorator_list or isinstance(node, ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
      yield from (t.id for t in node.targets if isinstance(t, ast.Name))


def test_what_is_defined_is_used():
  """What only a test calls is no part of the program."""
  module_of = lambda name: f'fairjax/{name[:-3]}'.removesuffix(
    '/__init__'
  ).replace('/', '.')
  known = {module_of(name): path for name, path in files()}
  used = {u for own, p in known.items() for u in used_names(p, own, {*known})}
  shipped = (ROOT.parent / 'configs').rglob('*.py')
  for path in (ROOT / '__init__.pyi', *shipped):
    used |= {*used_names(path, '', {*known})}
  for path in ROOT.rglob('*.csv'):  # addresses of registries
    used |= {('', name) for name in re.findall(r':(\w+)', path.read_text())}
  unused = {
    (own, name)
    for own, path in known.items()
    for name in defined_names(path)
    if not name.startswith('__')
    and (own, name) not in used
    and ('', name) not in used
  }
  assert unused == set()


def private_names(path: pathlib.Path) -> set[str]:
  """What a file defines, or gives its objects, as its own business."""
  found = set()
  for node in nodes(path):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
      found.add(node.name)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
      found.add(node.attr)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
      found.add(node.id)
  return {one for one in found if re.fullmatch('_[a-zA-Z](.*[^_])?', one)}


PATCHED = {'setattr', 'getattr', 'delattr', 'object'}


def names_of_others(path: pathlib.Path):
  """Attributes, imports and patched words that a test takes from a module."""
  for node in nodes(path):
    if isinstance(node, ast.Attribute):
      if not (isinstance(node.value, ast.Name) and node.value.id == 'self'):
        yield node.attr, node.lineno
    elif isinstance(node, ast.ImportFrom):
      yield from ((alias.name, node.lineno) for alias in node.names)
    elif isinstance(node, ast.Call):
      called = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
      for one in node.args if called in PATCHED else ():
        if isinstance(one, ast.Constant):
          yield str(one.value).rpartition('.')[2], node.lineno


def test_tests_call_no_private_name():
  """A test goes through the door that a caller has; a name that it needs for
  its oracle is a concept, and public."""
  private = set().union(*(private_names(path) for _, path in files()))
  tests = ROOT.parent / 'tests'
  found = [
    f'{path.relative_to(tests)}:{line} {name}'
    for path in sorted(tests.rglob('*.py'))
    for name, line in names_of_others(path)
    if name in private
  ]
  assert private and found == []
