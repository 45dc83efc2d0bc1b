"""Lines of Slurm, of JobSets and of TPU machines, run against doubles."""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
import yaml
from programs import CONFIG, LAUNCH, ROOT, run, stand_in


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


def test_the_jobset_is_consistent():
  spec = yaml.safe_load((LAUNCH / 'k8s_jobset.yaml').read_text())
  assert (spec['apiVersion'], spec['kind']) == (
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
  )
  known = {'network', 'failurePolicy', 'replicatedJobs'}
  assert set(spec['spec']) == known
  (hosts,) = spec['spec']['replicatedJobs']
  job = hosts['template']['spec']
  pod = job['template']['spec']
  (container,) = pod['containers']
  flags = dict(
    word.removeprefix('--').split('=', 1)
    for word in container['command']
    if word.startswith('--')
  )
  count = int(flags['num_processes'])
  assert job['completionMode'] == 'Indexed'
  assert job['completions'] == job['parallelism'] == count
  name, network = spec['metadata']['name'], spec['spec']['network']
  assert network['enableDNSHostnames'] is True
  host, _, port = flags['coordinator_address'].partition(':')
  assert host == f'{name}-{hosts["name"]}-0-0.{network["subdomain"]}'
  assert {p['containerPort'] for p in container['ports']} == {int(port)}
  assert flags['process_id'] == '$(JOB_COMPLETION_INDEX)'
  assert {e['name'] for e in container['env']} == {'JOB_COMPLETION_INDEX'}
  limits = check_pods(job)
  assert limits == {'nvidia.com/gpu': 8}


def check_pods(job):
  """What pods of either kind promise; the limits of their container."""
  pod = job['template']['spec']
  (container,) = pod['containers']
  ignore, fail = job['podFailurePolicy']['rules']
  assert (ignore['action'], fail['action']) == ('Ignore', 'FailJob')
  assert ignore['onExitCodes']['values'] == [75]  # saved, resume
  assert fail['onExitCodes']['values'] == [2]  # fairjax.main's MISTAKE
  for rule in (ignore, fail):
    assert rule['onExitCodes']['containerName'] == container['name']
  assert pod['restartPolicy'] == 'Never'  # as a podFailurePolicy demands
  assert {'cpu', 'memory'} == set(container['resources']['requests'])
  rights = container['securityContext']
  assert rights['allowPrivilegeEscalation'] is False
  assert rights['capabilities'] == {'drop': ['ALL']}
  assert pod['securityContext']['seccompProfile'] == {'type': 'RuntimeDefault'}
  volumes = {v['name'] for v in pod['volumes']}
  assert {m['name'] for m in container['volumeMounts']} == volumes
  mounts = [m['mountPath'] for m in container['volumeMounts']]
  (workdir,) = (w for w in container['command'] if w.startswith('--workdir='))
  assert any(workdir.split('=')[1].startswith(m + '/') for m in mounts)
  return container['resources']['limits']


def test_the_jobset_of_tpus_fills_its_slices():
  spec = yaml.safe_load((LAUNCH / 'k8s_jobset_tpu.yaml').read_text())
  assert spec['metadata']['annotations'] == {
    'alpha.jobset.sigs.k8s.io/exclusive-topology': (
      'cloud.google.com/gke-nodepool'
    )
  }
  (slices,) = spec['spec']['replicatedJobs']
  job = slices['template']['spec']
  pod = job['template']['spec']
  limits = check_pods(job)
  selector = pod['nodeSelector']
  chips = 1
  for side in selector['cloud.google.com/gke-tpu-topology'].split('x'):
    chips *= int(side)
  assert 'cloud.google.com/gke-tpu-accelerator' in selector
  assert job['parallelism'] == job['completions']
  assert job['parallelism'] * limits['google.com/tpu'] == chips
  assert '--distributed' in pod['containers'][0]['command']


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
