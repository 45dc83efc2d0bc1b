"""The launchers, as far as they can be run without a cluster."""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAUNCH = ROOT / 'launch'
SHELL = (
  'local_multiprocess.sh',
  'tpu_vm.sh',
  'gpu_slurm.sbatch',
  'races_gpu.sh',
)
CONFIG = '--config=configs/quickstart.py'


def run(command, **environment):
  return subprocess.run(
    command,
    cwd=ROOT,
    env={**os.environ, **environment},
    capture_output=True,
    text=True,
    timeout=120,
  )


def stand_in(folder, name, body):
  """An executable that takes the place of a program we have not got."""
  path = folder / name
  path.write_text('#!/usr/bin/env bash\n' + body)
  path.chmod(0o755)
  return path


# Shell


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


# Local processes


@pytest.fixture
def fake_python(tmp_path):
  """Finds a port like Python; as fairjax.main does what $PLAN says."""
  return stand_in(
    tmp_path,
    'python',
    f"""
    if [[ $1 == -c ]]; then exec {sys.executable} "$@"; fi
    echo "$@" >> {tmp_path}/calls
    for word in "$@"; do [[ $word == --process_id=* ]] && id=${{word#*=}}; done
    trap 'echo "$id" >> {tmp_path}/stopped; exit 75' TERM
    eval "$PLAN"
    """,
  )


def local(count, fake_python, plan, **environment):
  return run(
    ['bash', str(LAUNCH / 'local_multiprocess.sh'), count, '--', CONFIG],
    PYTHON=str(fake_python),
    PLAN=plan,
    **environment,
  )


def test_every_process_gets_the_three_flags(fake_python):
  done = local('3', fake_python, 'exit 0')
  assert done.returncode == 0
  calls = (fake_python.parent / 'calls').read_text().splitlines()
  assert len(calls) == 3
  found = set()
  for call in calls:
    assert call.startswith(f'-m fairjax.main {CONFIG} ')
    address, processes, index = re.findall(r'--\w+=(\S+)', call)[1:]
    assert re.fullmatch(r'localhost:\d+', address) and processes == '3'
    found.add((address, index))
  assert {index for _, index in found} == {'0', '1', '2'}
  assert len({address for address, _ in found}) == 1


def test_the_first_failure_ends_all_with_its_code(fake_python):
  start = time.monotonic()
  plan = '[[ $id == 1 ]] && sleep 0.5 && exit 7; while :; do sleep 0.1; done'
  assert local('3', fake_python, plan).returncode == 7
  stopped = (fake_python.parent / 'stopped').read_text().split()
  assert sorted(stopped) == ['0', '2']
  assert time.monotonic() - start < 20


def test_who_does_not_stop_is_killed(fake_python):
  plan = "[[ $id == 0 ]] && exit 3; trap '' TERM; while :; do sleep 0.1; done"
  start = time.monotonic()
  assert local('2', fake_python, plan, GRACE='1').returncode == 3
  assert time.monotonic() - start < 20


def test_sigterm_reaches_every_process_and_75_comes_back(fake_python):
  process = subprocess.Popen(
    ['bash', str(LAUNCH / 'local_multiprocess.sh'), '2', '--', CONFIG],
    env={
      **os.environ,
      'PYTHON': str(fake_python),
      'PLAN': f'touch {fake_python.parent}/up$id; while :; do sleep 0.1; done',
    },
  )
  end = time.monotonic() + 60
  while len(list(fake_python.parent.glob('up*'))) < 2:
    assert time.monotonic() < end
    time.sleep(0.05)
  process.send_signal(signal.SIGTERM)
  assert process.wait(timeout=60) == 75
  stopped = (fake_python.parent / 'stopped').read_text().split()
  assert sorted(stopped) == ['0', '1']


def test_a_real_mistake_is_code_2():
  found = run(
    ['bash', str(LAUNCH / 'local_multiprocess.sh'), '2', '--', '--config=zzz'],
    PYTHON=sys.executable,
  )
  assert found.returncode == 2
  assert "there is no config file 'zzz'" in found.stderr


@pytest.mark.parametrize('words', [[], ['0', '--', CONFIG], ['x'], ['2']])
def test_wrong_calls_show_the_usage(words):
  found = run(['bash', str(LAUNCH / 'local_multiprocess.sh'), *words])
  assert found.returncode == 2 and found.stderr.startswith('usage:')


# SLURM


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


# TPU VM


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


# Kubernetes


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


# Races


def test_races_go_on_and_end_with_a_summary(tmp_path):
  """One that fails, one that takes too long, one that has a peer, one not."""
  with_peer = {'ours': 12.5, 'peer': 5, 'peer_name': 'group', 'ratio': 2.5}
  alone = {'ours': 7, 'peer': None, 'ratio': None}
  for name, facts in (('train', with_peer), ('compiling', alone)):
    line = json.dumps(facts | {'unit': 'seconds'})
    (tmp_path / name).write_text(f'a table\n{line}\n')
  python = stand_in(
    tmp_path,
    'python',
    f"""
    if [[ $1 == - ]]; then exec {sys.executable} "$@"; fi
    case "$*" in
      *pytest*) echo '2 passed in 3.00s' ;;
      *'bench train '*--seeds=5*) echo 'no memory' >&2; exit 3 ;;
      *'bench train '*) cat {tmp_path}/train ;;
      *'bench scores '*) exec sleep 9 ;;
      *'bench compiling') cat {tmp_path}/compiling ;;
    esac""",
  )
  names = ['device', 'train', 'train5', 'scores', 'compiling']
  done = run(
    [
      *('bash', str(LAUNCH / 'races_gpu.sh'), 'a/b.csv', 'vocab'),
      *(str(tmp_path / 'out'), *names),
    ],
    PYTHON=str(python),
    LIMIT='1',
  )
  assert done.returncode == 0, done.stderr
  summary = (tmp_path / 'out' / 'summary.txt').read_text()
  assert done.stdout.endswith(summary)
  assert [' '.join(line.split()) for line in summary.splitlines()] == [
    'device 2 passed in 3.00s',
    'train ours 12.5, best peer 5 (group), ratio 2.5, seconds',
    'train5 ended with 3: no memory',
    'scores ran out of its 1 seconds',
    'compiling ours 7, best peer - (no peer), ratio -, seconds',
  ]
  races = (tmp_path / 'out' / 'races.jsonl').read_text().splitlines()
  assert len(races) == 2


# Sweeps


@pytest.fixture(scope='module')
def sweep():
  spec = importlib.util.spec_from_file_location('sweep', LAUNCH / 'sweep.py')
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def settings(line):
  words = shlex.split(line)
  assert words[:4] == ['python', '-m', 'fairjax.main', CONFIG]
  return [w.removeprefix('--config.') for w in words[4:-1]]


def test_a_sweep_is_a_product(sweep, capsys):
  found = ['--sweep', 'train.lr=1e-5,1e-6', '--sweep', 'seed=0,5']
  assert sweep.main([CONFIG, *found]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert [settings(line) for line in lines] == [
    ['train.lr=1e-5', 'seed=0'],
    ['train.lr=1e-5', 'seed=5'],
    ['train.lr=1e-6', 'seed=0'],
    ['train.lr=1e-6', 'seed=5'],
  ]
  folders = [shlex.split(line)[-1] for line in lines]
  assert folders[1] == '--workdir=runs/quickstart/train.lr=1e-5,seed=5'
  assert len(set(folders)) == 4
  assert sweep.main([CONFIG, *found, '--index', '2']) == 0
  assert capsys.readouterr().out.splitlines() == [lines[2]]


def test_a_zipped_sweep_and_what_goes_to_every_line(sweep, capsys):
  found = ['--zip', '--sweep=train.lr=1e-5,1e-6', '--sweep=seed=0,5']
  extra = ['--', '--config.data.path=my data.csv']
  assert sweep.main([CONFIG, *found, '--workdir=out', *extra]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert [settings(line) for line in lines] == [
    ['train.lr=1e-5', 'seed=0', 'data.path=my data.csv'],
    ['train.lr=1e-6', 'seed=5', 'data.path=my data.csv'],
  ]
  assert shlex.split(lines[0])[-1] == '--workdir=out/train.lr=1e-5,seed=0'


def test_values_may_hold_commas(sweep):
  name, found = sweep.values("measures.sets='test,iptts',test")
  assert (name, found) == ('measures.sets', ['test,iptts', 'test'])
  name, found = sweep.values('grid.factual=(0.3,0.4),(0.5,)')
  assert found == ['(0.3,0.4)', '(0.5,)']


def test_without_a_sweep_there_is_one_line(sweep):
  assert sweep.commands('configs/quickstart.py', []) == [
    f'python -m fairjax.main {CONFIG} --workdir=runs/quickstart'
  ]


@pytest.mark.parametrize(
  ('words', 'says'),
  [
    (['--sweep', 'trian.lr=1'], "no config field 'trian.lr'"),
    (['--sweep', 'train.lr=fast'], 'it must be a number'),
    (['--sweep', 'seed='], 'has no values'),
    (['--sweep', 'seed=1,1'], 'has a value twice'),
    (['--sweep', 'seed=1', '--sweep', 'seed=2'], 'is given twice'),
    (['--sweep', 'seed=1,2', '--sweep', 'seeds=1', '--zip'], '--zip pairs up'),
    (['--sweep', 'seed=1,2', '--index', '2'], 'has 2 lines'),
    (['--config=none.py'], 'there is no config file'),
  ],
)
def test_wrong_sweeps_are_one_sentence(sweep, capsys, words, says):
  assert sweep.main([CONFIG, *words]) == 2
  told = capsys.readouterr()
  assert told.out == '' and says in told.err
  assert told.err.count('\n') == 1


def test_the_sweep_is_a_program_that_needs_no_installation(tmp_path):
  found = subprocess.run(
    [sys.executable, str(LAUNCH / 'sweep.py'), CONFIG, '--sweep=seed=1,2'],
    cwd=tmp_path,
    env={k: v for k, v in os.environ.items() if k != 'PYTHONPATH'},
    capture_output=True,
    text=True,
    timeout=60,
  )
  assert found.returncode == 0, found.stderr
  assert len(found.stdout.splitlines()) == 2
