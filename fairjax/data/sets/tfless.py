"""tensorflow-datasets without TensorFlow: a substitute for the parts it uses.

tfds imports TensorFlow lazily, for file access, type names and error classes.
Without it the built-in text data sets do not even register and archives do
not extract. `datasets()` hands tfds (and nobody else: `sys.modules` is left
alone) an object with those few names, over pathlib and numpy. Anything else
of TensorFlow raises a plain sentence when called. If TensorFlow is installed,
tfds is returned as it is.
"""

import functools
import glob
import importlib
import importlib.util
import os
import sys
import types

import numpy as np

PACKAGES = ('text', 'structured')  # of tfds; where text data sets register
ANSWER, SILENCE = 3, 60  # seconds to wait: for an answer, between two parts
KINDS = (
  *('float16', 'float32', 'float64', 'int8', 'int16', 'int32', 'int64'),
  *('uint8', 'uint16', 'uint32', 'uint64'),
)
ERRORS = (
  *('UnimplementedError', 'FailedPreconditionError', 'AbortedError'),
  *('PermissionDeniedError', 'NotFoundError', 'UnavailableError'),
)


class _Absent(types.ModuleType):
  """Any attribute is there; calling it says what is missing.

  Builders name tf types in annotations and `tf.data` in functions that only
  run under TensorFlow; those names must exist.
  """

  def __getattr__(self, name):
    if name.startswith('__'):
      raise AttributeError(name)
    return _Absent(f'{self.__name__}.{name}')

  def __call__(self, *args, **kwargs):
    raise ModuleNotFoundError(
      f'{self.__name__} needs TensorFlow; install tensorflow-cpu'
    )

  def __or__(self, other):
    return self

  __ror__ = __or__

  def __getitem__(self, key):
    return self


def _gfile() -> types.SimpleNamespace:
  from etils import epath

  def rename(old, new, overwrite=False):
    if not overwrite and epath.Path(new).exists():
      raise FileExistsError(new)
    epath.Path(old).replace(new)

  path = epath.Path
  return types.SimpleNamespace(
    GFile=lambda name, mode='r': path(name).open(mode),
    exists=lambda name: path(name).exists(),
    isdir=lambda name: path(name).is_dir(),
    listdir=lambda name: [p.name for p in path(name).iterdir()],
    glob=lambda pattern: glob.glob(os.fspath(pattern)),
    makedirs=lambda name: path(name).mkdir(parents=True, exist_ok=True),
    remove=lambda name: path(name).unlink(),
    rename=rename,
    walk=os.walk,
  )


def stand_in() -> types.ModuleType:
  """The object that answers for TensorFlow."""
  tf = _Absent('tensorflow')
  compat = types.SimpleNamespace(
    as_text=lambda s: s.decode() if isinstance(s, bytes) else s,
    as_bytes=lambda s: s.encode() if isinstance(s, str) else s,
  )
  errors = {name: type(name, (Exception,), {}) for name in ERRORS}
  vars(tf).update(
    {kind: getattr(np, kind) for kind in KINDS},
    **{'__version__': '0', 'bool': np.bool_, 'string': np.str_},
    **{'io': types.SimpleNamespace(gfile=_gfile()), 'compat': compat},
    errors=types.SimpleNamespace(**errors),
  )
  return tf


@functools.cache
def datasets() -> types.ModuleType:
  """tensorflow_datasets with the built-in text data sets registered."""
  import tensorflow_datasets as tfds

  if importlib.util.find_spec('tensorflow') is None:
    lazy = importlib.import_module(
      'tensorflow_datasets.core.utils.lazy_imports_utils'
    )
    vars(lazy)['tensorflow'] = tf = stand_in()
    for name, module in list(sys.modules.items()):
      if name.startswith('tensorflow_datasets') and 'tf' in vars(module):
        vars(module)['tf'] = tf  # it copied the lazy name already
    for package in PACKAGES:
      importlib.import_module(f'tensorflow_datasets.{package}')
  tfds.disable_progress_bar()
  _fail_soon()
  return tfds


def _fail_soon() -> None:
  """Has tfds ask whether a server answers before it retries ten times.

  Its retries take over three minutes where there is no network, and it waits
  for an answer without end.
  """
  import requests

  downloader = importlib.import_module(
    'tensorflow_datasets.core.download.downloader'
  )
  patient = downloader._open_url

  def soon(url, **options):
    if url.startswith('http'):
      verify = options.get('verify', True)
      requests.head(url, timeout=ANSWER, verify=verify).close()
      options = {'timeout': SILENCE, **options}
    return patient(url, **options)

  vars(downloader)['_open_url'] = soon
