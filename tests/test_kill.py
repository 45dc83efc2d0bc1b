"""Runs killed at twenty random moments end as undisturbed ones.

KILLS=3 pytest --slow tests/test_kill.py kills each three times.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
KILLS = int(os.environ.get('KILLS', 20))
SMALL = [
  '--config.planted.rows=240',
  '--config.planted.test_rows=60',
  '--config.model=tiny',
  '--config.seeds=1',
  '--config.train.save_every=5',
  '--config.measures.resamples=50',
]
TINY = ['--config=configs/quickstart.py', *SMALL, '--config.train.epochs=6']
JOBS = {
  'train': [
    '--config=configs/quickstart.py',
    '--config.planted.rows=800',
    '--config.planted.test_rows=200',
    '--config.seeds=2',
    '--config.train.epochs=12',
    '--config.train.save_every=5',
    '--config.measures.resamples=200',
  ],
  'rank': [
    '--config=configs/quickstart_diet.py',
    *SMALL,
    '--config.recipe=rank',
    '--config.train.epochs=3',
    '--config.grid.rankings=healthy_random',
    '--config.grid.factual=0.5',
    '--config.grid.counterfactual=0.25',
    '--config.grid.augment=ge',
    '--config.grid.shares=0.0,1.0',
    '--config.grid.budget=0.5',
  ],
  'weighting': [
    '--config=configs/weighting_planted.py',
    *SMALL,
    '--config.train.epochs=3',
    '--config.weighting.n_estimators=10',
  ],
  'pretraining': [
    '--config=configs/pretrain_bart_mini.py',
    '--config.model=tiny',
    '--config.seeds=1',
    '--config.data.path={corpus}',
    '--config.tokens.vocab_size=120',
    '--config.pretrain.length=32',
    '--config.pretrain.steps=30',
    '--config.pretrain.held_out=0.1',
    '--config.train.batch=16',
    '--config.train.save_every=5',
    '--config.measures.resamples=50',
  ],
  'fairflow': [
    '--config=configs/fairflow_planted.py',
    '--config.planted.rows=700',
    '--config.seeds=1',
    '--config.tokens.vocab_size=800',
    '--config.pretrain.steps=60',
    '--config.fairflow.cap=8',
    '--config.fairflow.head_epochs=2',
    '--config.fairflow.threshold=0',
    '--config.fairflow.word_share=0.1',
    '--config.fairflow.steps=2',
    '--config.fairflow.hidden=8',
    '--config.fairflow.grow_cosine=0',
    '--config.fairflow.min_along=-1',
    '--config.train.save_every=5',
    '--config.measures.resamples=50',
  ],
  'mbcda': [
    '--config=configs/mbcda_planted.py',
    '--config.planted.rows=120',
    '--config.planted.test_rows=60',
    '--config.tokens.vocab_size=300',
    '--config.rewriters.epochs=2',
    '--config.rewriters.seeds=1',
    '--config.rewriters.generators=1',
    '--config.adversary.labels=filtered',
    '--config.adversary.epochs=2',
    '--config.adversary.vectors=',
    '--config.train.save_every=2',
    '--config.measures.resamples=20',
  ],
  'generation': [
    '--config=configs/generate.py',
    '--config.model={model}',
    '--config.corpus.path={texts}',
    '--config.corpus.workers=1',
    '--config.generate.chunk=20',
    '--config.generate.max_length=24',
    '--config.generate.num_beams=1',
  ],
}


def start(folder, words):
  return subprocess.Popen(
    [sys.executable, '-m', 'fairjax.main', *words, f'--workdir={folder}'],
    cwd=ROOT,
    env=os.environ | {'JAX_PLATFORMS': 'cpu'},
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
  )


def outcome(folder: pathlib.Path):
  """Everything that a run says, but for the clock."""
  out = {
    str(path.relative_to(folder)): path.read_bytes()
    for place in ('corpus/text', 'corpus/pairs', 'export')
    for path in sorted((folder / place).rglob('*'))
    if path.is_file()
  }
  if (folder / 'metrics.jsonl').exists():
    out['metrics'] = (folder / 'metrics.jsonl').read_text()
    # A model that the run made is named by its folder.
    said = (folder / 'results.json').read_text().replace(str(folder), '.')
    out['results'] = json.loads(said)
  if (folder / 'dictionary.csv').exists():
    out['dictionary'] = (folder / 'dictionary.csv').read_text()
  if (folder / 'predictions.parquet').exists():
    table = pd.read_parquet(folder / 'predictions.parquet')
    out['predictions'] = table.to_dict()
  assert out
  return out


@pytest.fixture(scope='module')
def sources(tmp_path_factory, corpus):
  """What the jobs read: a corpus, and shards of texts."""
  folder = tmp_path_factory.mktemp('sources')
  lines = [line for line in corpus.read_text().splitlines() if line]
  (folder / 'texts').mkdir()
  for k in range(3):
    text = '\n'.join(lines[k * 60 : (k + 1) * 60]) + '\n'
    (folder / 'texts' / f'{k}.txt').write_text(text)
  return {'corpus': corpus, 'texts': folder / 'texts'}


@pytest.fixture(scope='module')
def writer(tmp_path_factory, sources):
  """The folder of a model that writes."""
  folder = tmp_path_factory.mktemp('writer')
  run = start(folder, [w.format(**sources) for w in JOBS['pretraining']])
  assert run.wait() == 0, run.stderr.read().decode()[-2000:]
  return folder / 'export' / 'seed_0'


@pytest.mark.slow
@pytest.mark.parametrize('job', JOBS)
def test_kills_change_nothing(job, tmp_path, sources, request):
  """A run that gets through is compared, and the next one is killed."""
  if job == 'generation':
    sources = sources | {'model': request.getfixturevalue('writer')}
  words = [word.format(**sources) for word in JOBS[job]]
  began = time.monotonic()
  calm = start(tmp_path / 'calm', words)
  assert calm.wait() == 0, calm.stderr.read().decode()[-2000:]
  whole = time.monotonic() - began
  expected = outcome(tmp_path / 'calm')
  rng, kills, runs = random.Random(0), 0, 0
  while kills < KILLS:
    folder = tmp_path / f'killed_{runs}'
    run = start(folder, words)
    try:
      run.wait(timeout=rng.uniform(0.1, 0.9) * whole)
    except subprocess.TimeoutExpired:
      run.send_signal(signal.SIGKILL)
      run.wait()
      kills += 1
      print(f'{job}: kill {kills} in run {runs + 1}', flush=True)
      continue
    assert run.returncode == 0, run.stderr.read().decode()[-2000:]
    assert outcome(folder) == expected
    runs += 1
  last = start(tmp_path / f'killed_{runs}', words)
  assert last.wait() == 0, last.stderr.read().decode()[-2000:]
  assert outcome(tmp_path / f'killed_{runs}') == expected
  print(f'{job}: {kills} kills over {runs + 1} runs')


def until_it_steps(run, log: pathlib.Path, more: int) -> None:
  """Waits until the log has `more` lines of evaluations than now."""
  steps = lambda: log.read_text().count('  step ') if log.exists() else 0
  enough, end = steps() + more, time.monotonic() + 300
  while time.monotonic() < end and run.poll() is None and steps() < enough:
    time.sleep(0.02)


@pytest.mark.slow
def test_a_kill_and_a_sigterm_change_nothing(tmp_path):
  """Killed, then asked to stop (code 75: run again), then left to end."""
  calm = start(tmp_path / 'calm', TINY)
  run = start(tmp_path / 'run', TINY)
  log = tmp_path / 'run' / 'log.txt'
  until_it_steps(run, log, 2)
  run.send_signal(signal.SIGKILL)
  run.wait()
  run = start(tmp_path / 'run', TINY)
  until_it_steps(run, log, 1)
  run.send_signal(signal.SIGTERM)
  assert run.wait() == 75, run.stderr.read()
  assert b'run again' in run.stderr.read()
  made = json.loads((tmp_path / 'run/versions.json').read_text())
  assert made['seconds'] > 0  # the hours of a report are of all its parts
  again = start(tmp_path / 'run', TINY)
  assert again.wait() == 0, again.stderr.read()
  assert (tmp_path / 'run' / 'report.html').exists()
  assert calm.wait() == 0
  assert outcome(tmp_path / 'run') == outcome(tmp_path / 'calm')
