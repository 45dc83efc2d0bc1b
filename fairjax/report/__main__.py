"""fairjax report FOLDER…: the page of a run, made again.

--claims FOLDER…: the papers' claims and what those runs, or the runs kept in
those folders, say of them, as markdown. --keep RUN FOLDER: keeps the results of
a run without its rows, for such a table.
"""

import sys

from fairjax import recipes
from fairjax.core import artefacts, paths
from fairjax.core.errors import UserError
from fairjax.report import claims, page, run_archive, terminal
from fairjax.results import read

USAGE = (
  'write fairjax report FOLDER …, report --claims FOLDER … or report --keep '
  'RUN FOLDER'
)


def main(arguments: list[str]) -> int:
  """Writes report.html and plots/ of each folder, and prints the summary."""
  act, names = '', list(arguments)
  if names[:1] and names[0].startswith('-'):
    act = names.pop(0)
  try:
    wrong = next((word for word in names if word.startswith('-')), act)
    if wrong not in ('', '--claims', '--keep') or wrong != act:
      raise UserError(f'there is no flag {wrong} of a report; {USAGE}')
    if not (names or act) or (act == '--keep' and len(names) != 2):
      raise UserError(USAGE)
    if act == '--keep':
      run_archive.keep(*map(paths.at_home, names))
    elif act:
      print(claims.markdown(names, recipes.PAPERS), end='')
    else:
      for folder in map(paths.at_home, names):
        results = read(folder)
        artefacts.write_text(folder / 'report.html', page.report(folder))
        print(terminal.summary(results))
        print(f'the report is {folder / "report.html"}', flush=True)
  except UserError as error:
    print(f'fairjax: {error}', file=sys.stderr)
    return 2
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
