"""The TPU VM launcher, with gcloud stood in for."""

import os
import shutil
import signal
import subprocess

import pytest

from .programs import CONFIG, LAUNCH, ROOT, run, stand_in


def tpu(tmp_path, words):
  """gcloud stands in by running the command in a worker's home folder."""
  home = tmp_path / 'home'
  (home / 'fairjax' / '.venv' / 'bin').mkdir(parents=True, exist_ok=True)
  stand_in(
    home / 'fairjax' / '.venv' / 'bin',
    'python',
    f'printf "%s\\n" "$@" > {tmp_path}/worker',
  )
  stand_in(
    tmp_path,
    'gcloud',
    f"""
    printf "%s\\0" "$@" >> {tmp_path}/gcloud.log
    printf "\\1" >> {tmp_path}/gcloud.log
    for word in "$@"; do
      [[ $word == --command=*fairjax.main* ]] &&
        cd {home} && exec bash -c "${{word#*=}}"
    done
    exit 0""",
  )
  stand_in(
    tmp_path,
    'curl',
    """
    case ${!#} in
      *worker-network-endpoints) echo "a:0:10.0.0.2,b:1:10.0.0.3" ;;
      *agent-worker-number) echo 1 ;;
      *) exit 22 ;;
    esac""",
  )
  found = run(
    ['bash', str(LAUNCH / 'tpu_vm.sh'), *words],
    PATH=f'{tmp_path}:{os.environ["PATH"]}',
    TPU='slice',
    ZONE='zone-a',
  )
  log = (tmp_path / 'gcloud.log').read_text()
  return found, [call.split('\0')[:-1] for call in log.split('\1')[:-1]]


def test_tpu_workers_learn_who_they_are(tmp_path):
  words = [CONFIG, "--config.data.path=it's here.csv"]
  found, calls = tpu(tmp_path, ['run', *words])
  assert found.returncode == 0, found.stderr
  assert (tmp_path / 'worker').read_text().splitlines() == [
    '-m',
    'fairjax.main',
    *words,
    '--coordinator_address=10.0.0.2:8476',
    '--num_processes=2',
    '--process_id=1',
  ]
  assert calls[0][:5] == ['compute', 'tpus', 'tpu-vm', 'ssh', 'slice']
  assert calls[0][5:7] == ['--zone=zone-a', '--worker=all']


def test_tpu_setup_copies_and_installs(tmp_path):
  if not (ROOT / '.git').exists() or not shutil.which('git'):
    pytest.skip('setup copies a git checkout, and this is none or lacks git')
  found, calls = tpu(tmp_path, ['setup'])
  assert found.returncode == 0, found.stderr
  assert calls[0][3] == 'scp' and calls[0][5] == 'slice:fairjax.tar.gz'
  command = ' '.join(calls[-1])
  assert 'fairjax[tpu]' in command
  assert 'uv venv --quiet --clear --python 3.12 fairjax/.venv' in command


def test_tpu_workers_take_another_port(tmp_path, monkeypatch):
  monkeypatch.setenv('PORT', '9000')
  tpu(tmp_path, ['run', CONFIG])
  told = (tmp_path / 'worker').read_text()
  assert '--coordinator_address=10.0.0.2:9000\n' in told
  monkeypatch.setenv('PORT', 'http')
  found = run(['bash', str(LAUNCH / 'tpu_vm.sh'), 'run'], TPU='a', ZONE='b')
  assert found.returncode == 2 and found.stderr.startswith('usage:')


def test_tpu_needs_a_name_and_a_zone():
  found = run(['bash', str(LAUNCH / 'tpu_vm.sh'), 'run'], TPU='', ZONE='')
  assert found.returncode == 2 and found.stderr.startswith('usage:')


def test_tpu_stop_ends_its_own_run_only(tmp_path):
  """Not another run of the same user on the same machine."""
  named = 'exec -a "python -m fairjax.main" sleep 60'
  own, other, strange = (
    subprocess.Popen(['bash', '-c', name])
    for name in (named, named, 'exec sleep 60')
  )
  file = tmp_path / 'home' / 'fairjax' / 'run.pid'
  try:
    tpu(tmp_path, ['run', CONFIG])
    assert int(file.read_text())
    file.write_text(f'{own.pid}\n')
    assert tpu(tmp_path, ['stop'])[0].returncode == 0
    assert own.wait(timeout=10) == -signal.SIGTERM
    file.write_text(f'{strange.pid}\n')  # the number is another program's now
    assert tpu(tmp_path, ['stop'])[0].returncode == 0
    file.unlink()
    assert tpu(tmp_path, ['stop'])[0].returncode == 0
    assert other.poll() is None and strange.poll() is None
  finally:
    for one in (own, other, strange):
      one.kill()
      one.wait()
