"""The action's and the hook's own lines, run on predictions with a gap."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[2]
ACTION = ROOT / '.github' / 'actions' / 'gate' / 'action.yml'


@pytest.fixture
def place(tmp_path):
  """A folder with predictions of two groups, and a `fairjax` on its PATH."""
  rows = [(y, 0.9 * y if g == 'a' else 0.1, g) for y in (0, 1) for g in 'ab']
  frame = pd.DataFrame(rows * 40, columns=['label', 'score', 'gender'])
  frame.to_csv(tmp_path / 'predictions.csv', index=False)
  program = tmp_path / 'bin' / 'fairjax'
  program.parent.mkdir()
  program.write_text(f'#!/bin/sh\nexec {sys.executable} -m fairjax.main "$@"\n')
  program.chmod(0o755)
  return tmp_path


def ran(place, line: str, **more: str) -> tuple[int, str]:
  path = f'{place / "bin"}{os.pathsep}{os.environ["PATH"]}'
  env = {**os.environ, 'PATH': path, 'PYTHONPATH': str(ROOT), **more}
  command = ['bash', '-e', '-c', line]
  run = subprocess.run(command, cwd=place, env=env, capture_output=True)
  return run.returncode, (run.stdout + run.stderr).decode()


@pytest.mark.parametrize('rule, code', [('dp<0.01', 0), ('dp<0.9', 1)])
def test_the_action_fails_where_the_gate_does(place, rule, code):
  step = yaml.safe_load(ACTION.read_text())['runs']['steps'][-1]
  own = {'MODEL': 'predictions.csv', 'DATA': '', 'GROUPS_OF': 'gender'}
  assert step['env'].keys() == {*own, 'FAIL_IF', 'OPTIONS'}
  options = '--config.measures.resamples=100'
  found, said = ran(place, step['run'], **own, FAIL_IF=rule, OPTIONS=options)
  assert found == code, said


def test_the_guide_names_inputs_and_a_hook_that_runs(place):
  guide = (ROOT / 'fairjax' / 'docs' / 'start' / 'gate.md').read_text('utf-8')
  blocks = re.findall(r'```yaml\n(.*?)```', guide, re.S)
  (_, step), (repository,) = map(yaml.safe_load, blocks)
  inputs = yaml.safe_load(ACTION.read_text())['inputs']
  assert step['with'].keys() <= inputs.keys()
  (hook,) = yaml.safe_load((ROOT / '.pre-commit-hooks.yaml').read_text())
  (named,) = repository['hooks']
  assert named['id'] == hook['id']
  code, said = ran(place, f'{hook["entry"]} {shlex.join(named["args"])}')
  assert code == 1, said
  assert (place / 'runs' / 'audit' / 'report.html').exists()
