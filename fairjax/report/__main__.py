"""python -m fairjax.report FOLDER: the page of a run, made again."""

import pathlib
import sys

from fairjax import artefacts
from fairjax.errors import UserError
from fairjax.report import page, terminal
from fairjax.results import read


def main(arguments: list[str]) -> int:
  """Writes report.html and plots/ of each folder, and prints the summary."""
  if not arguments or any(word.startswith('-') for word in arguments):
    print(__doc__, file=sys.stderr)
    return 2
  try:
    for name in arguments:
      folder = pathlib.Path(name)
      results = read(folder)
      artefacts.write_text(folder / 'report.html', page.report(folder))
      print(terminal.summary(results))
      print(f'the report is {folder / "report.html"}')
  except UserError as error:
    print(f'fairjax: {error}', file=sys.stderr)
    return 2
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
