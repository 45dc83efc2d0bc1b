"""Several processes on one machine: flags, failures and signals."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from programs import CONFIG, LAUNCH, run, stand_in


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
