"""The README's test command: lint, tests, and its diet, small.

python tests/run.py [more arguments for pytest]
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = [
  '--config=configs/quickstart_diet.py',
  *('--config.model=nano', '--config.planted.rows=600'),
  *('--config.planted.test_rows=200', '--config.seeds=2'),
  *('--config.train.epochs=1', '--config.measures.resamples=500'),
]
# Rewriting the asserts of tests that hold is half of collecting them.
HOW = ('-n2', '--dist=loadfile', '--durations=15', '--assert=plain')


def run(*words: str, failed: tuple[str, ...] = ()) -> None:
  print('$', *words, flush=True)
  code = subprocess.run(words, cwd=ROOT).returncode
  if code == 1 and failed:
    subprocess.run(failed, cwd=ROOT)  # says more of it
  if code:
    sys.exit(code)


def main() -> None:
  python = (sys.executable, '-m')
  run(*python, 'ruff', 'check', '.')
  run(*python, 'ruff', 'format', '--check', '.')
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    words = (*python, 'fairjax.main', *SMALL, f'--workdir={folder}/run')
    with open(folder / 'said', 'w') as said:  # beside the tests
      first = subprocess.Popen(
        words, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT
      )
      try:
        again = (*python, 'pytest', '--lf', '--lfnf=none')
        run(*python, 'pytest', *HOW, *sys.argv[1:], failed=again)
      finally:
        code = first.wait()
        print('$', *words)
        print((folder / 'said').read_text(), flush=True)
    if code or not (folder / 'run' / 'report.html').is_file():
      sys.exit(code or 'the first command wrote no report')


if __name__ == '__main__':
  main()
