"""The SLURM launcher, with srun stood in for."""

import os
import re
import sys

from .programs import CONFIG, LAUNCH, run, stand_in


def slurm(tmp_path, code, words, **environment):
  stand_in(
    tmp_path, 'srun', f'printf "%s\\0" "$@" > {tmp_path}/srun.log\nexit {code}'
  )
  stand_in(tmp_path, 'scontrol', f'echo "$@" > {tmp_path}/requeued')
  found = run(
    ['bash', str(LAUNCH / 'gpu_slurm.sbatch'), *words],
    PATH=f'{tmp_path}:{os.environ["PATH"]}',
    PYTHON=sys.executable,
    SLURM_JOB_ID='42',
    **environment,
  )
  return found, (tmp_path / 'srun.log').read_text().split('\0')[:-1]


def test_slurm_runs_the_program_and_comes_back_after_75(tmp_path):
  words = [CONFIG, '--config.data.path=a file.csv']
  found, command = slurm(tmp_path, 0, words)
  assert found.returncode == 0 and not (tmp_path / 'requeued').exists()
  assert command[-4:] == ['-m', 'fairjax.main', *words]
  assert '--cpus-per-task=8' in command and '--gpu-bind=none' in command
  found, _ = slurm(tmp_path, 75, words)
  assert found.returncode == 75
  assert (tmp_path / 'requeued').read_text() == 'requeue 42\n'


def test_slurm_arrays_take_a_line_of_a_sweep(tmp_path):
  found, command = slurm(
    tmp_path,
    75,
    [],
    SWEEP=f'{CONFIG} --sweep seed=0,5',
    SLURM_ARRAY_TASK_ID='1',
    SLURM_ARRAY_JOB_ID='40',
  )
  assert found.returncode == 75
  assert '--config.seed=5' in command
  assert (tmp_path / 'requeued').read_text() == 'requeue 40_1\n'


def test_slurm_asks_for_a_task_a_gpu_and_an_early_signal():
  text = (LAUNCH / 'gpu_slurm.sbatch').read_text()
  options = dict(re.findall(r'^#SBATCH --([\w-]+)=(\S+)', text, re.M))
  assert options['ntasks-per-node'] == options['gpus-per-node']
  assert options['signal'] == 'TERM@120'
  assert '#SBATCH --requeue' in text
