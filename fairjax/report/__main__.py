"""python -m fairjax.report FOLDER…: the page of a run, made again.

--claims FOLDER…: the papers' claims and what those runs, or the runs kept in
those folders, say of them, as markdown. --keep RUN FOLDER: keeps the results of
a run without its rows, for such a table.
"""

import pathlib
import sys
from collections.abc import Callable

from fairjax import recipes
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.report import claims, kept, page, terminal
from fairjax.results import read


def main(arguments: list[str]) -> int:
  """Writes report.html and plots/ of each folder, and prints the summary."""
  if arguments[:1] == ['--claims']:
    return _said(lambda: _claims(arguments[1:]))
  if arguments[:1] == ['--keep'] and len(arguments) == 3:
    run, folder = map(pathlib.Path, arguments[1:])
    return _said(lambda: kept.keep(run, folder))
  if not arguments or any(word.startswith('-') for word in arguments):
    print(__doc__, file=sys.stderr)
    return 2
  return _said(lambda: _pages(arguments))


def _claims(folders: list[str]) -> None:
  print(claims.markdown(folders, recipes.papers()), end='')


def _pages(folders: list[str]) -> None:
  for name in folders:
    folder = pathlib.Path(name)
    results = read(folder)
    artefacts.write_text(folder / 'report.html', page.report(folder))
    print(terminal.summary(results))
    print(f'the report is {folder / "report.html"}')


def _said(act: Callable[[], None]) -> int:
  try:
    act()
  except UserError as error:
    print(f'fairjax: {error}', file=sys.stderr)
    return 2
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
