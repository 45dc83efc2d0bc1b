"""Command lines of a sweep."""

import importlib.util
import os
import shlex
import subprocess
import sys

import pytest
import small
from programs import CONFIG, LAUNCH


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
  ('words', 'says'), small.cases(__file__, 'wrong_sweeps.json')
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
