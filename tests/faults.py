"""Each recipe in bad circumstances: it ends as an undisturbed run, or is told.

    python tests/faults.py [JOB …]        one row a job and circumstance

The jobs are those of test_kill.py at their smallest; by default all of them
that need no other run first. A circumstance that stops a run (a signal, a
limit on files) is followed by the same command without it, and what the
folder then says must be what the calm run says, to the bit.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from test_kill import JOBS, ROOT, SMALL, outcome

JOBS = {name: words for name, words in JOBS.items() if '{' not in str(words)}
JOBS['train'] = ['--config=configs/quickstart.py', *SMALL]
LINES = 40  # of an error's end that are shown

# name -> (changes of the environment, words of bash before the command)
CIRCUMSTANCES = {
  'locale C': (
    {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'},
    '',
  ),
  'Turkish': ({'LANG': 'tr_TR.UTF-8', 'LC_ALL': 'tr_TR.UTF-8'}, ''),
  'no HOME': ({'HOME': None, 'FAIRJAX_CACHE': None}, ''),
  'HOME=/dev/null': ({'HOME': '/dev/null', 'FAIRJAX_CACHE': None}, ''),
  'closed stdout': ({}, 'exec >&-; '),
  'closed stdin': ({}, 'exec <&-; '),
}
SIGNALS = {'SIGTERM': signal.SIGTERM, 'SIGKILL': signal.SIGKILL}
FILE_KB = 64  # the size of a file that a full disk allows: weights are larger


def command(words, folder, before='', changes=None):
  environment = os.environ | {'JAX_PLATFORMS': 'cpu'} | (changes or {})
  environment = {k: v for k, v in environment.items() if v is not None}
  return subprocess.Popen(
    [
      *('bash', '-c', f'{before}exec "$@"', 'bash', sys.executable, '-m'),
      *('fairjax.main', *words, f'--workdir={folder}'),
    ],
    cwd=ROOT,
    env=environment,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
  )


def ended(run) -> tuple[int, str]:
  said = run.communicate()[1]
  return run.returncode, said


def verdict(code, said, wanted, folder, expected) -> str:
  if code not in wanted:
    return f'FAULT: ended with {code}: {" ".join(said.split()[-LINES:])}'
  if 'Traceback' in said:
    return f'FAULT: a traceback: {" ".join(said.split()[-LINES:])}'
  if expected is not None and outcome(folder) != expected:
    return 'FAULT: another outcome'
  return 'the same' if expected is not None else f'told, {code}'


def rows_of(job: str, place: pathlib.Path):
  """(circumstance, what came of it) of one job."""
  words = JOBS[job]
  began = time.monotonic()
  code, said = ended(command(words, place / 'calm'))
  assert code == 0, said[-2000:]
  whole, expected = time.monotonic() - began, outcome(place / 'calm')
  for k, (name, (changes, before)) in enumerate(CIRCUMSTANCES.items()):
    folder = place / f'c{k}'
    code, said = ended(command(words, folder, before, changes))
    yield name, verdict(code, said, (0,), folder, expected)
  rng = random.Random(0)
  for name, number in SIGNALS.items():
    for k in range(3):
      folder = place / f'{name}{k}'
      run = command(words, folder)
      moment = rng.uniform(0.1, 0.9) * whole
      try:
        run.wait(timeout=moment)
      except subprocess.TimeoutExpired:
        run.send_signal(number)
      code, said = ended(run)
      wanted = (0, -9) if number == signal.SIGKILL else (0, 75, -15)
      told = verdict(code, said, wanted, folder, None)
      if not told.startswith('FAULT'):
        code, said = ended(command(words, folder))
        told = verdict(code, said, (0,), folder, expected)
      yield f'{name} after {moment:.0f} s', told
  folder = place / 'full'
  limit = f'trap "" XFSZ; ulimit -f {FILE_KB}; '
  code, said = ended(command(words, folder, limit))
  told = verdict(code, said, (2,), folder, None)
  if not told.startswith('FAULT'):
    code, said = ended(command(words, folder))
    told = verdict(code, said, (0,), folder, expected)
  yield f'files of {FILE_KB} kB', told


def main(names) -> int:
  faults = 0
  for job in names or JOBS:
    with tempfile.TemporaryDirectory() as place:
      for name, told in rows_of(job, pathlib.Path(place)):
        faults += told.startswith('FAULT')
        print(f'{job:12} {name:20} {told}', flush=True)
  return int(faults > 0)


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
