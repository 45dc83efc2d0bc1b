"""Each recipe in bad circumstances: it ends as an undisturbed run, or is told.

    python tests/chaos/faults.py PLACE [JOB[:FAULT] …]

PLACE keeps what the jobs read and their calm runs, so that the table can be
made in pieces, a job or a fault at a time; LONGEST (seconds after which a run
is taken for a hang: more on a busy machine) is a variable of the environment.
Every file that a run writes must be that of the calm run, to the bit, but for
logs and what holds a clock. What a process meets at a call of its own (kills,
full disks, files that are too large), trials.py tries of the same jobs.
"""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from test_kill import ROOT, SMALL

from fairjax.data import word_tables

WITH_CLOCK = ('log.txt', 'report.html', 'versions.json')
LONGEST = float(os.environ.get('LONGEST', 300))  # seconds of a run

# name -> the words of its command; folders of what it needs by name.
JOBS = {
  name: words.replace('SMALL', ' '.join(SMALL)).split()
  for name, words in word_tables.table_rows(__file__, 'jobs.csv')
}
MLM = {'mlm': JOBS.pop('mlm')}  # that others read, and no job

# name -> (changes of the environment, words of bash before the command)
CIRCUMSTANCES = {
  'locale C': (
    {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'},
    '',
  ),
  'LANG=tr_TR': ({'LANG': 'tr_TR.UTF-8', 'LC_ALL': 'tr_TR.UTF-8'}, ''),
  'no HOME': ({'HOME': None, 'FAIRJAX_CACHE': None}, ''),
  'HOME=/dev/null': ({'HOME': '/dev/null', 'FAIRJAX_CACHE': None}, ''),
  'closed stdout': ({}, 'exec >&-; '),
  'closed stdin': ({}, 'exec <&-; '),
  'closed stderr': ({}, 'exec 2>&-; '),
}


def sources(place: pathlib.Path) -> pathlib.Path:
  """Texts about people with labels, and a small copy of a PANDA."""
  folder = place / 'sources'
  if folder.exists():
    return folder
  rng = np.random.default_rng(0)
  noun = lambda: 'dog car boat house tree film'.split()[rng.integers(6)]
  was = lambda: 'kind rude lazy late'.split()[rng.integers(4)]
  both = (('he', 'his', 'man'), ('she', 'her', 'woman'))
  texts = [
    f'{who} sold {whose} {noun()} and was {was()} on day {i} .'
    for i in range(120)
    for who, whose, _ in [both[i % 2]]
  ]
  part = folder.with_name('sources.part')
  shutil.rmtree(part, ignore_errors=True)
  (part / 'panda').mkdir(parents=True)
  (part / 'people.txt').write_text('\n\n'.join(texts) + '\n')
  (part / 'texts').mkdir()
  for k in range(3):
    (part / 'texts' / f'{k}.txt').write_text('\n'.join(texts[k::3]) + '\n')
  label = [int('rude' in text or 'lazy' in text) for text in texts]
  table = pd.DataFrame({'text': texts, 'label': label})
  table['gender'] = [('male', 'female')[i % 2] for i in range(120)]
  table.to_csv(part / 'people.csv', index=False)
  rows = []
  for i in range(60):
    (who, whose, _), (other, others, name) = both[i % 2], both[1 - i % 2]
    what = f'{noun()} on day {i} .'
    row = {'original': f'{who} sold {whose} {what}', 'selected_word': who}
    row |= {
      'target_attribute': name,
      'perturbed': f'{other} sold {others} {what}',
    }
    rows.append(row)
  frame, how = pd.DataFrame(rows), {'orient': 'records', 'lines': True}
  frame[:40].to_json(part / 'panda' / 'train.jsonl', **how)
  frame[40:].to_json(part / 'panda' / 'valid.jsonl', **how)
  part.rename(folder)
  return folder


def start(words, folder, before='', changes=None, **options):
  environment = os.environ | {'JAX_PLATFORMS': 'cpu'} | (changes or {})
  environment = {k: v for k, v in environment.items() if v is not None}
  options = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.PIPE} | options
  return subprocess.Popen(
    [
      *('bash', '-c', f'{before}exec "$@"', 'bash', sys.executable, '-m'),
      *('fairjax.main', *words, f'--workdir={folder}'),
    ],
    cwd=ROOT,
    env=environment,
    **options,
  )


def ended(run) -> tuple[int, str]:
  try:
    said = run.communicate(timeout=LONGEST)[1] or b''
  except subprocess.TimeoutExpired:
    run.kill()
    run.communicate()
    raise
  return run.returncode, said.decode(errors='replace')


def files(folder: pathlib.Path, name: pathlib.Path | None = None) -> dict:
  """What a run leaves, by its path; `name` is how it knew its folder."""
  out = {}
  own = str(name or folder).encode()
  for path in sorted(folder.rglob('*')):
    inside = path.relative_to(folder)
    if path.is_dir() or path.name in (*WITH_CLOCK, '.lock', '.owner'):
      continue
    if 'tensorboard' not in inside.parts:
      data = path.read_bytes()
      data = data.replace(b'\\_', b'_') if path.suffix == '.md' else data
      out[str(inside)] = data.replace(own, b'.')
  if 'shards.parquet' in out:  # what was made in an earlier call is kept
    rows = pd.read_parquet(folder / 'shards.parquet').replace('kept', 'made')
    out['shards.parquet'] = rows.to_csv().encode()
    text = re.sub(rb'\s*"shards \w+": \d+,?', b'', out['results.json'])
    out['results.json'] = text.replace(b'kept', b'made')
  return out


def others(found: dict, calm: dict) -> str:
  """'' where the files are the calm run's; one that could not be removed of a
  checkpoint is no result: the fit is sealed."""
  each = {k for k in found | calm if found.get(k) != calm.get(k)}
  each = sorted(k for k in each if '/checkpoints/' not in k)
  return f'FAULT: other files: {each[:5]}' if each else ''


class Job:
  """A recipe's command, its calm run, and how long that took."""

  def __init__(self, name: str, place: pathlib.Path):
    self.name, self.place = name, place
    self.words = filled(name, place)
    folder, clock = place / name, place / f'{name}.seconds'
    if not clock.exists():
      shutil.rmtree(folder, ignore_errors=True)
      began = time.monotonic()
      finish(self.words, folder)
      clock.write_text(str(time.monotonic() - began))
    self.seconds, self.calm = float(clock.read_text()), files(folder)

  def same(self, folder, name=None) -> str:
    """'' where the folder holds what the calm run left."""
    return others(files(folder, name), self.calm)

  def goes_on(self, folder, code: int, said: str, wanted) -> str:
    """After what happened: the same command, and its files."""
    return (
      told(code, said, wanted)
      or told(*ended(start(self.words, folder)), (0,))
      or self.same(folder)
    )


def filled(name: str, place: pathlib.Path) -> list[str]:
  """A job's words, with the folders of what it needs."""
  words, known = JOBS[name], {'sources': sources(place)}
  for other, words_of in (JOBS | MLM).items():
    if any('{' + other + '}' in word for word in words):
      known[other] = place / f'for_{other}'
      if not known[other].exists():
        own = [w.format(**known) for w in words_of]
        part = place / f'part_of_{other}'
        shutil.rmtree(part, ignore_errors=True)
        finish(own, part)
        part.rename(known[other])
  return [word.format(**known) for word in words]


def finish(words, folder) -> None:
  code, said = ended(start(words, folder))
  assert code == 0, said[-2000:]


def told(code: int, said: str, wanted) -> str:
  """'' where a run ended as it may; with a sentence, if not well."""
  last = ' '.join(said.split()[-40:])
  if code not in wanted:
    return f'FAULT: ended with {code}: {last}'
  if 'Traceback' in said:
    return f'FAULT: a traceback: {last}'
  if code in (2, 75) and 'fairjax: ' not in said:
    return f'FAULT: ended with {code} and no sentence: {last}'
  return ''


def under(job: Job, place, name: str) -> str:
  changes, before = CIRCUMSTANCES[name]
  run = start(job.words, place / 'run', before, changes)
  return told(*ended(run), (0,)) or job.same(place / 'run') or 'the same'


def closed_terminal(job: Job, place) -> str:
  """The terminal goes in the middle of the run."""
  mine, its = pty.openpty()
  own = {'stdin': its, 'stdout': its, 'stderr': its}
  setsid = 'set -- setsid --ctty "$@"; '
  run = start(job.words, place / 'run', setsid, **own)
  os.close(its)
  os.set_blocking(mine, False)
  end = time.monotonic() + 0.6 * job.seconds
  while time.monotonic() < end and run.poll() is None:
    try:
      os.read(mine, 1 << 16)
    except OSError:
      time.sleep(0.05)
  os.close(mine)
  code = run.wait(LONGEST)
  fault = job.goes_on(place / 'run', code, 'fairjax: ', (0, 75))
  return fault or f'ended with {code}; then the same'


FAULTS = {
  'closed terminal': closed_terminal,
  **{name: partial(under, name=name) for name in CIRCUMSTANCES},
}


def main(where: str, asked: list[str]) -> int:
  place = pathlib.Path(where).absolute()
  place.mkdir(parents=True, exist_ok=True)
  faults = 0
  for one in asked or JOBS:
    name, _, fault = one.partition(':')
    job = Job(name, place)
    for each in [fault] if fault else FAULTS:
      began = time.monotonic()
      with tempfile.TemporaryDirectory(dir=place) as scratch:
        try:
          said = FAULTS[each](job, pathlib.Path(scratch))
        except subprocess.TimeoutExpired:
          said = f'FAULT: no end within {LONGEST:g} seconds'
      faults += said.startswith('FAULT')
      row = {'job': name, 'fault': each, 'came of it': said}
      row['seconds'] = round(time.monotonic() - began, 1)
      with open(place / 'table.jsonl', 'a', encoding='utf-8') as file:
        file.write(json.dumps(row) + '\n')
      print(f'{name:12} {each:18} {said}', flush=True)
  return int(faults > 0)


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
