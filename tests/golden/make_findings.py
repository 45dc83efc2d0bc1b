"""python tests/golden/make_findings.py: what each page finds, and says first.

Of every kept page of first_screens/ the findings (numbers and verdicts, no
words) go to findings.json, and its first screen, as text, to screens/.
"""

import html
import json
import pathlib
import re
import tempfile

from fairjax import results
from fairjax.report import findings, names, page

HERE = pathlib.Path(__file__).parent
KEPT = sorted((HERE / 'first_screens').glob('*.json'))


def read(path: pathlib.Path) -> results.Results:
  return results.from_tree(json.loads(path.read_text('utf-8')))


def found(path: pathlib.Path) -> list[dict]:
  """A line a finding: who, what, against what, by how much, and the verdict."""
  out = []
  for row in findings.as_rows(findings.shown(names.by_people(read(path)))):
    estimate = row.pop('estimate')
    ends = (estimate.get(end) for end in ('value', 'low', 'high'))
    row['interval'] = [v if v is None else round(v, 4) for v in ends]
    row['adjusted'] = row['adjusted'] and float(f'{row["adjusted"]:.3g}')
    kept = ('kind', 'subject', 'set', 'measure', 'comparison', 'groups')
    kept += ('interval', 'bound', 'adjusted', 'family', 'verdict')
    out.append(results.plain({k: row[k] for k in kept}))
  return out


def screen(path: pathlib.Path) -> str:
  """The text of the first screen, a line a paragraph."""
  with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place) / path.stem
    folder.mkdir()
    results.write(folder, read(path))
    whole = page.report(folder)
  first = whole[whole.index('<h1>') :].partition('</section>')[0]
  first = re.sub(r'<nav.*?</nav>|<svg.*?</svg>', '', first, flags=re.S)
  first = re.sub(r'</(h\d|p|li|figcaption|b)>|<small>', '\n', first)
  lines = html.unescape(re.sub(r'<[^>]+>', '', first)).splitlines()
  return '\n'.join(filter(None, map(str.strip, lines))) + '\n'


if __name__ == '__main__':
  every = {path.stem: found(path) for path in KEPT}
  text = json.dumps(every, indent=1, ensure_ascii=False) + '\n'
  (HERE / 'findings.json').write_text(text, 'utf-8')
  (HERE / 'screens').mkdir(exist_ok=True)
  for path in KEPT:
    (HERE / 'screens' / f'{path.stem}.txt').write_text(screen(path), 'utf-8')
