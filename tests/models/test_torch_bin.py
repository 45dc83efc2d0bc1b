"""pytorch_model.bin without torch: equal numbers, and nothing executed."""

import collections
import os
import pickle
import zipfile

import numpy as np
import pytest

from fairjax.errors import UserError
from fairjax.models import torch_bin


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
def test_equal_to_torch(zipped, tmp_path):
  torch = pytest.importorskip('torch')
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
  storage = torch_bin._Storage('0', np.dtype(np.float32), 10)
  view = torch_bin._tensor(storage, offset, shape, strides)
  with pytest.raises(pickle.UnpicklingError):
    view.of(np.zeros(10, np.float32))


def test_cut_files_are_one_sentence(tmp_path):
  torch = pytest.importorskip('torch')
  path = tmp_path / 'pytorch_model.bin'
  for zipped in (True, False):
    torch.save(tensors(torch), path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    for share in (0.0, 0.3, 0.9):
      path.write_bytes(whole[: int(len(whole) * share)])
      with pytest.raises(UserError, match=str(path)):
        torch_bin.read(path)
