"""The launchers are good shell."""

import os
import shutil

import pytest

from .programs import LAUNCH, run

SHELL = (
  'local_multiprocess.sh',
  'tpu_vm.sh',
  'gpu_slurm.sbatch',
  'races_gpu.sh',
  'claims_gpu.sh',
  'mpnet.sh',
)


@pytest.mark.parametrize('name', SHELL)
def test_bash_reads_it(name):
  assert run(['bash', '-n', str(LAUNCH / name)]).stderr == ''
  assert os.access(LAUNCH / name, os.X_OK)


@pytest.mark.parametrize('name', SHELL)
def test_shellcheck_finds_nothing(name):
  if shutil.which('shellcheck') is None:
    pytest.skip('shellcheck is not installed')
  found = run(['shellcheck', '--shell=bash', str(LAUNCH / name)])
  assert found.returncode == 0, found.stdout
