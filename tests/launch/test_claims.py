"""The script that makes the table of claims again."""

import pathlib
import re
import subprocess

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
