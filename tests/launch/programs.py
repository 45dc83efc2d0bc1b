"""Launchers run without a cluster, and stand-ins for what they call."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCH = ROOT / 'launch'
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
