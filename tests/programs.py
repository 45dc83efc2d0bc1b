"""Programs that tests start, and stand-ins for what launchers call."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAUNCH = ROOT / 'launch'
CONFIG = '--config=configs/quickstart.py'


def run(command, cwd=ROOT, **environment):
  """A program that has ended, and what it said."""
  return subprocess.run(
    command,
    cwd=cwd,
    env={**os.environ, **environment},
    capture_output=True,
    text=True,
  )


def python(*words, **how):
  return run([sys.executable, *words], **how)


def printed(*words, **how) -> str:
  """What Python prints of a code that ends well."""
  done = python(*words, **how)
  assert done.returncode == 0, done.stderr[-3000:]
  return done.stdout


def stand_in(folder, name, body):
  """An executable that takes the place of a program we have not got."""
  path = folder / name
  path.write_text('#!/usr/bin/env bash\n' + body)
  path.chmod(0o755)
  return path
