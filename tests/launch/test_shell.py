"""Scripts of claims and races on a GPU, and every script by bash."""

import json
import os
import shlex
import shutil
import sys

import pytest
from programs import LAUNCH, run, stand_in

from fairjax import config
from fairjax.core import knobs

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


def test_each_part_names_a_config_and_knobs_that_there_are(tmp_path):
  """One that fails does not keep the others from their turn."""
  said = tmp_path / 'said'
  does = f'echo "$@" >> {said}; [[ $* != *recipe=rank* ]]'
  script = ['bash', str(LAUNCH / 'claims_gpu.sh'), 'data', 'm', str(tmp_path)]
  done = run(script, PYTHON=str(stand_in(tmp_path, 'python', does)))
  assert done.returncode == 1 and done.stdout.count('ended with 1') == 1
  lines = [shlex.split(line)[2:] for line in said.read_text().splitlines()]
  assert len(lines) == done.stdout.count('== ') > 9
  for (_, name), *flags in ([f.split('=', 1) for f in one] for one in lines):
    chosen = config.shipped(name.removeprefix('configs/').removesuffix('.py'))
    for flag, *_ in flags:
      if flag != '--workdir':
        knobs.value(chosen, flag.removeprefix('--config.'))


def test_races_go_on_and_end_with_a_summary(tmp_path):
  """One that fails, one that takes too long; what is there is kept."""
  with_peer = {'ours': 12.5, 'peer': 5, 'peer_name': 'compile', 'ratio': 2.5}
  alone = {'ours': 7, 'peer': None, 'ratio': None}
  for name, facts in (('train', with_peer), ('grand', alone)):
    line = json.dumps(facts | {'unit': 'seconds'})
    (tmp_path / name).write_text(f'a table\n{line}\n')
  python = stand_in(
    tmp_path,
    'python',
    f"""
    if [[ $1 == - ]]; then exec {sys.executable} "$@"; fi
    echo "$*" >> {tmp_path}/calls
    case "$*" in
      *'bench train '*--seeds=5*) echo 'no memory' >&2; exit 3 ;;
      *'bench train '*) cat {tmp_path}/train ;;
      *'bench generate '*) exec sleep 9 ;;
      *'bench grand '*) cat {tmp_path}/grand ;;
      *) exit 4 ;;
    esac""",
  )
  asked = ['bash', str(LAUNCH / 'races_gpu.sh'), 'a/b.csv', 'vocab']
  asked.append(str(tmp_path / 'out'))
  known = {'PYTHON': str(python), 'LIMIT': '1'}
  done = run([*asked, 'train64', 'train5x64', 'norms64', 'write'], **known)
  assert done.returncode == 0, done.stderr
  summary = (tmp_path / 'out' / 'summary.txt').read_text()
  assert done.stdout.endswith(summary)
  assert [' '.join(line.split()) for line in summary.splitlines()] == [
    'train64 ours 12.5, best peer 5 (compile), ratio 2.5, seconds',
    'train5x64 ended with 3: no memory',
    'norms64 ours 7, best peer - (no peer), ratio -, seconds',
    'write ran out of its 1 seconds',
  ]
  (tmp_path / 'calls').unlink()
  run(asked, **known)  # goes on with what is not there
  calls = (tmp_path / 'calls').read_text()
  assert 'grand' not in calls and '--seeds=5' in calls and 'diet' in calls
