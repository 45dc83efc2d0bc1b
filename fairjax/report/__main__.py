"""python -m fairjax.report FOLDER…: the page of a run, made again.

With --claims the papers' claims and what those runs say of them, as markdown.
"""

import pathlib
import sys

from fairjax import artefacts
from fairjax.errors import UserError
from fairjax.report import claims, page, terminal
from fairjax.results import read


def main(arguments: list[str]) -> int:
  """Writes report.html and plots/ of each folder, and prints the summary."""
  if arguments[:1] == ['--claims']:
    return _claims(arguments[1:])
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


def _claims(folders: list[str]) -> int:
  try:
    print(claims.markdown(folders), end='')
  except UserError as error:
    print(f'fairjax: {error}', file=sys.stderr)
    return 2
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
