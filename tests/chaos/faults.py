"""Each recipe in bad circumstances: it ends as an undisturbed run, or is told.

    python tests/chaos/faults.py PLACE [JOB[:FAULT] …]

PLACE keeps what the jobs read and their calm runs, so that the table can be
made in pieces, a job or a fault at a time; KILLS, SEED, LIMIT (seconds after
which a fault is tried no further) and LONGEST (seconds after which a run is
taken for a hang: more on a busy machine) are variables of the environment.
Where a fault stops a run, the same command follows without it; every file that
a run writes must then be that of the calm run, to the bit, but for logs and
what holds a clock.

Of eight jobs 112 cells take 95 minutes of one core that others use too
(LIMIT=260 for 20 random kills a job, 130 for kills in a fit): 20 to 45 seconds
most, 2 to 3 minutes SIGKILL and a full disk. `taskset -c 1` keeps them off
another core.
"""

import json
import os
import pathlib
import pty
import random
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

KILLS, SEED = int(os.environ.get('KILLS', 20)), int(os.environ.get('SEED', 0))
WITH_CLOCK = ('log.txt', 'report.html', 'versions.json')
LIMIT = float(os.environ.get('LIMIT', 'inf'))
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
    self.size = sum(p.stat().st_size for p in folder.rglob('*') if p.is_file())

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


def killed(job: Job, place, number: int, wanted, times: int) -> str:
  """At random moments, each time going on; a run that ends is compared."""
  rng, kills, runs = random.Random(SEED), 0, 0
  end = time.monotonic() + LIMIT
  while kills < times and time.monotonic() < end:
    folder = place / f'{number}_{runs}'
    run = start(job.words, folder)
    try:
      run.wait(timeout=rng.uniform(0.1, 0.9) * min(job.seconds, 60))
    except subprocess.TimeoutExpired:
      run.send_signal(number)
      kills += 1
      code, said = ended(run)
      if fault := told(code, said, (0, *wanted)):
        return f'{fault} (at {number} number {kills})'
      if code:
        continue
    code, said = ended(run) if run.returncode is None else (run.returncode, '')
    if fault := told(code, said, (0,)) or job.same(folder):
      return f'{fault} (after {kills} in {runs + 1} runs)'
    shutil.rmtree(folder)
    runs += 1
  folder = place / f'{number}_{runs}'
  fault = told(*ended(start(job.words, folder)), (0,)) or job.same(folder)
  return fault or f'{kills} in {runs + 1} runs; the same'


def saved(folder) -> set[str]:
  """The checkpoints, by the folder of their fit and their step."""
  try:
    found = [*folder.glob('**/checkpoints/*/_CHECKPOINT_METADATA')]
  except FileNotFoundError:  # a folder that was renamed just now
    return set()
  return {str(p.parent.relative_to(folder)) for p in found}


def within_a_fit(job: Job, place, number: int, wanted) -> str:
  """Stopped at each new checkpoint."""
  folder, count = place / f'fit_{number}', 0
  while count < KILLS // 4:
    before = saved(folder)
    run = start(job.words, folder)
    end = time.monotonic() + LONGEST
    while run.poll() is None and time.monotonic() < end:
      if saved(folder) - before:
        break
      time.sleep(0.01)
    if run.poll() is None:
      run.send_signal(number)
    code, said = ended(run)
    if fault := told(code, said, (0, *wanted)):
      return fault
    if code == 0:
      break
    count += 1
  if not count:
    return 'it has no fit, or none long enough to be met in it'
  fault = told(*ended(start(job.words, folder)), (0,)) or job.same(folder)
  return fault or f'{count} within fits; the same'


def small_files(job: Job, place, kb: int = 64) -> str:
  """A limit on the size of files is met as a full disk is."""
  limit = f'trap "" XFSZ; ulimit -f {kb}; '
  code, said = ended(start(job.words, place / 'run', limit))
  fault = job.goes_on(place / 'run', code, said, (0, 2))
  return fault or f'ended with {code}; then the same'


FULL = """
mount -t tmpfs -o size=$1k none "$2" || exit 99
cd "$3"; out=$4; place=$2; shift 4
"$@" --workdir="$place/run" 2>"$out/first" >/dev/null; echo $? >"$out/code"
mount -o remount,size=4g "$place"
"$@" --workdir="$place/run" 2>"$out/second" >/dev/null; echo $? >>"$out/code"
cp -r "$place/run" "$out/run"
"""


def full_disk(job: Job, place, times: int = KILLS // 5) -> str:
  """A disk with room for a part of the run; then there is room."""
  rng, codes = random.Random(SEED), []
  end = time.monotonic() + LIMIT
  for k in range(times):
    if time.monotonic() > end:
      break
    out, disk = place / f'out_{k}', place / f'disk_{k}'
    out.mkdir(), disk.mkdir()
    size = round(rng.uniform(0.02, 0.98) * job.size / 1024) + 4
    run = subprocess.run(
      [
        *('unshare', '-rm', 'bash', '-c', FULL, 'bash', str(size), str(disk)),
        *(ROOT, str(out), sys.executable, '-m', 'fairjax.main', *job.words),
      ],
      env=os.environ | {'JAX_PLATFORMS': 'cpu'},
      capture_output=True,
      timeout=2 * LONGEST,
    )
    if not (out / 'code').exists():
      return f'not tried: no file system can be mounted here {run.stderr[-80:]}'
    first, second = map(int, (out / 'code').read_text().split())
    fault = (
      told(first, (out / 'first').read_text(), (0, 2))
      or told(second, (out / 'second').read_text(), (0,))
      or job.same(out / 'run', disk / 'run')
    )
    if fault:
      return f'{fault} (with {size} kB)'
    codes.append(first)
    shutil.rmtree(out / 'run')
  return f'ended with {codes}; then the same'


FAULTS = {
  'SIGKILL': partial(killed, number=9, wanted=(-9,), times=KILLS),
  'SIGTERM': partial(killed, number=15, wanted=(75, -15), times=KILLS // 5),
  'SIGKILL in a fit': partial(within_a_fit, number=9, wanted=(-9,)),
  'SIGTERM in a fit': partial(within_a_fit, number=15, wanted=(75,)),
  'full disk': full_disk,
  'small files': small_files,
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
      row = {'job': name, 'fault': each, 'seed': SEED, 'came of it': said}
      row['seconds'] = round(time.monotonic() - began, 1)
      with open(place / 'table.jsonl', 'a', encoding='utf-8') as file:
        file.write(json.dumps(row) + '\n')
      print(f'{name:12} {each:18} {said}', flush=True)
  return int(faults > 0)


if __name__ == '__main__':
  sys.exit(main(sys.argv[1], sys.argv[2:]))
