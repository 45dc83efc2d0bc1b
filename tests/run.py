"""The README's test command: lint, tests, and its diet, small.

python tests/run.py [more arguments for pytest]
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SMALL = [
  '--config.model=tiny',
  '--config.planted.rows=600',
  '--config.planted.test_rows=200',
  '--config.seeds=2',
  '--config.train.epochs=1',
  '--config.measures.resamples=500',
]


def run(*words: str) -> None:
  print('$', *words, flush=True)
  code = subprocess.run(words, cwd=ROOT).returncode
  if code:
    sys.exit(code)


def main() -> None:
  python = (sys.executable, '-m')
  run(*python, 'ruff', 'check', '.')
  run(*python, 'ruff', 'format', '--check', '.')
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    words = (
      *python,
      'fairjax.main',
      '--config=configs/quickstart_diet.py',
      f'--workdir={folder}/run',
      *SMALL,
    )
    with open(folder / 'said', 'w') as said:  # beside the tests
      first = subprocess.Popen(
        words, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT
      )
      try:
        run(
          *python,
          'pytest',
          '-n2',
          '--dist=loadfile',
          '--durations=15',
          *sys.argv[1:],
        )
      finally:
        code = first.wait()
        print('$', *words)
        print((folder / 'said').read_text(), flush=True)
    if code or not (folder / 'run' / 'report.html').is_file():
      sys.exit(code or 'the first command wrote no report')


if __name__ == '__main__':
  main()
