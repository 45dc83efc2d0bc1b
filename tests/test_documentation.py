"""The documentation: its Python runs, and it builds without a warning."""

import re
import subprocess
import sys

import pytest

from fairjax.docs import __main__ as docs

pytestmark = pytest.mark.usefixtures('alone')
PAGES = sorted(docs.HERE.rglob('*.md'))
BLOCK = re.compile(r'^```python\n(.*?)^```', re.M | re.S)


@pytest.mark.parametrize(
  'page',
  [p for p in PAGES if '```python' in p.read_text('utf-8')],
  ids=lambda path: path.stem,
)
def test_the_blocks_of_a_page_run_from_top_to_bottom(
  page, tmp_path, monkeypatch, capsys
):
  monkeypatch.chdir(tmp_path)
  text, names = page.read_text('utf-8'), {'__name__': '__main__'}
  for needed in re.findall('<!-- needs: (.+?) -->', text):
    pytest.importorskip(needed)
  for block in BLOCK.findall(text):
    exec(compile(block, str(page), 'exec'), names)
  assert capsys.readouterr().out.strip()


def test_the_site_builds_without_a_warning(tmp_path):
  """mkdocs is strict: of a dead link, and of a page that no menu has, too."""
  build = [sys.executable, '-m', 'fairjax.docs', str(tmp_path / 'site')]
  done = subprocess.run(build, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr
  page = (tmp_path / 'site/papers/diet/index.html').read_text('utf-8')
  assert 'healthy_random' in page and 'include:' not in page
