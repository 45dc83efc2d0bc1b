"""pytorch_model.bin without torch: equal numbers, and nothing executed."""

import collections
import os
import pickle
import resource
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.models.folders import torch_bin


def tensors(torch):
  base = torch.arange(24.0).reshape(4, 6)
  tied = torch.randn(3, 2)
  state = collections.OrderedDict(
    plain=torch.randn(5, 3),
    transposed=base.T,
    view=base[1:3, ::2],
    tied=tied,
    tied_too=tied,
    parameter=torch.nn.Parameter(torch.randn(2)),
    half=torch.randn(3).half(),
    brain=torch.randn(3).bfloat16(),
    ids=torch.arange(7)[None],
    flag=torch.tensor([True, False]),
    scalar=torch.tensor(2.5),
    empty=torch.zeros(0, 3),
  )
  state._metadata = {'': {'version': 1}}  # as a module's state dict has
  return state


@pytest.mark.parametrize('zipped', [True, False])
def test_equal_to_torch(zipped, tmp_path, torch):
  state = tensors(torch)
  path = tmp_path / 'pytorch_model.bin'
  torch.save(state, path, _use_new_zipfile_serialization=zipped)
  read = torch_bin.read(path)
  assert list(read) == list(state)
  for name, tensor in state.items():
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
      assert read[name].dtype.name == 'bfloat16'
      mine, theirs = read[name].astype(np.float32), tensor.float().numpy()
    else:
      mine, theirs = read[name], tensor.numpy()
      assert mine.dtype == theirs.dtype
    np.testing.assert_array_equal(mine, theirs, err_msg=name)


class Hostile:
  def __init__(self, path):
    self.path = path

  def __reduce__(self):
    return os.mkdir, (str(self.path),)


def write(path, value, zipped):
  if zipped:
    with zipfile.ZipFile(path, 'w') as archive:
      archive.writestr('archive/data.pkl', pickle.dumps(value, 2))
  else:
    head = [0x1950A86A20F9469CFC6C, 1001, {}]
    path.write_bytes(b''.join(pickle.dumps(v, 2) for v in [*head, value, []]))


@pytest.mark.parametrize('zipped', [True, False])
def test_hostile_pickle_is_refused_and_not_run(zipped, tmp_path):
  path, made = tmp_path / 'pytorch_model.bin', tmp_path / 'made'
  write(path, {'weight': Hostile(made)}, zipped)
  with pytest.raises(UserError, match=r'nothing of it was run.*mkdir'):
    torch_bin.read(path)
  assert not made.exists()
  pickle.loads(pickle.dumps(Hostile(made)))  # the pickle itself does run
  assert made.exists()


class Call:
  """Pickles as a call of an allowed function with wrong arguments."""

  def __init__(self, name, *arguments):
    self.name, self.arguments = name, arguments

  def __reduce__(self):
    return self.name, self.arguments


@pytest.mark.parametrize(
  'value, sentence',
  [
    ([1, 2], 'holds a list'),
    ({'a': 1}, "no tensor under the name 'a'"),
    ({'a': Call(getattr, 'x', 'y')}, 'refused'),
    ({'a': Call(eval, '1')}, 'refused'),
    ({('a',): 1}, 'a tuple as a key'),
  ],
)
def test_other_contents_are_one_sentence(value, sentence, tmp_path):
  path = tmp_path / 'pytorch_model.bin'
  for zipped in (True, False):
    write(path, value, zipped)
    with pytest.raises(UserError, match=sentence):
      torch_bin.read(path)


@pytest.mark.parametrize(
  'offset, shape, strides',
  [(0, (5, 3), (3, 1)), (-1, (2,), (1,)), (0, (2,), (-1,)), (8, (4,), (1,))],
)
def test_tensors_stay_within_their_storage(offset, shape, strides):
  storage = torch_bin.Storage('0', np.dtype(np.float32), 10)
  view = torch_bin.tensor_view(storage, offset, shape, strides)
  with pytest.raises(pickle.UnpicklingError):
    view.of(np.zeros(10, np.float32))


def test_cut_files_are_one_sentence(tmp_path, torch):
  path = tmp_path / 'pytorch_model.bin'
  for zipped in (True, False):
    torch.save(tensors(torch), path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    for share in (0.0, 0.3, 0.9):
      path.write_bytes(whole[: int(len(whole) * share)])
      with pytest.raises(UserError, match=str(path)):
        torch_bin.read(path)


def nested(kind: str, levels: int = 40) -> bytes:
  """A pickle under a kB: each level holds the one below twice, 2^levels in all.

  As a value it is looked through, as a key it is hashed, as a reference shown.
  """
  pair = b'2\x86' if kind != 'dict' else b''  # DUP, TUPLE2
  if kind == 'dict':
    out = b'}'
    for k in range(levels):  # {'a': inner, 'b': inner}, by memo
      out += b'q' + bytes([k]) + b'0}(X\1\0\0\0ah' + bytes([k])
      out += b'X\1\0\0\0bh' + bytes([k]) + b'u'
    return b'\x80\x02' + out + b'.'
  tuples = b')' + pair * levels
  if kind == 'key':
    return b'\x80\x02}' + tuples + b'K\x01s.'
  if kind == 'pairs':
    name = b'ccollections\nOrderedDict\n'
    return b'\x80\x02' + name + b'](' + tuples + b'K\x01\x86e\x85R.'
  if kind == 'state':
    name = b'ccollections\nOrderedDict\n)R}'
    return b'\x80\x02' + name + tuples + b'K\x01sb.'
  if kind == 'buffer':
    return b'\x80\x05\x96' + (2**34).to_bytes(8, 'little') + b'.'
  return b'\x80\x02' + tuples + b'Q.'  # a persistent reference


KINDS = ('dict', 'key', 'pairs', 'state', 'reference', 'buffer')


@pytest.mark.parametrize('kind', KINDS)
def test_a_small_file_is_no_endless_work(kind, tmp_path):
  """In a process of its own: a hash that hangs cannot be interrupted."""
  program = nested(kind)
  assert len(program) < 1000
  head = [0x1950A86A20F9469CFC6C, 1001, {}]
  older = b''.join(pickle.dumps(v, 2) for v in head)
  (tmp_path / 'b').write_bytes(older + program + pickle.dumps([], 2))
  (tmp_path / 'c').write_bytes(
    older + pickle.dumps({}, 2) + nested('key')[:-1] + b'0' + b']' + program[2:]
  )
  with zipfile.ZipFile(tmp_path / 'a', 'w') as archive:
    archive.writestr('archive/data.pkl', program)
  code = (
    'import sys\n'
    'from fairjax.core.errors import UserError\n'
    'from fairjax.models.folders import torch_bin\n'
    'for path in sys.argv[1:]:\n'
    '  try:\n'
    '    torch_bin.read(path)\n'
    '  except UserError as error:\n'
    '    print(error)\n'
  )
  paths = [str(tmp_path / name) for name in 'abc']
  told = subprocess.run(
    [sys.executable, '-c', code, *paths],
    capture_output=True,
    text=True,
    timeout=20,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33)),
  )
  lines = told.stdout.splitlines()
  assert len(lines) == 3, told.stderr
  assert all(len(line) < 400 for line in lines)


def test_a_zip_is_bounded_by_what_it_is(tmp_path):
  """torch packs nothing: an entry that unpacks to a gigabyte is refused."""
  path = tmp_path / 'pytorch_model.bin'
  with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
    archive.writestr('archive/data.pkl', pickle.dumps({}, 2))
    archive.writestr('archive/data/0', bytes(2**24))
  with pytest.raises(UserError, match='packed or larger'):
    torch_bin.read(path)


def test_a_tensor_does_not_repeat_its_storage():
  """Ten numbers with strides of 0 would be a petabyte where it is copied."""
  storage = torch_bin.Storage('0', np.dtype(np.float32), 10)
  view = torch_bin.tensor_view(storage, 0, (10**7, 10**7), (0, 0))
  with pytest.raises(pickle.UnpicklingError, match='repeats'):
    view.of(np.zeros(10, np.float32))
