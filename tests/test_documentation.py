"""The documentation: its Python runs, its links lead somewhere, it builds."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

from fairjax.docs import __main__ as docs

PAGES = sorted(docs.HERE.rglob('*.md'))
BLOCK = re.compile(r'^```python\n(.*?)^```', re.M | re.S)
LINK = re.compile(r'\]\(([^)#:]+?)(?:#[^)]*)?\)')


@pytest.mark.parametrize(
  'page',
  [p for p in PAGES if '```python' in p.read_text('utf-8')],
  ids=lambda path: path.stem,
)
def test_the_blocks_of_a_page_run_from_top_to_bottom(
  page, tmp_path, monkeypatch, capsys
):
  monkeypatch.chdir(tmp_path)
  names = {'__name__': '__main__'}
  for block in BLOCK.findall(page.read_text('utf-8')):
    exec(compile(block, str(page), 'exec'), names)
  assert capsys.readouterr().out.strip()


def test_each_part_is_there_and_each_link_leads_to_a_page(tmp_path):
  docs.written(tmp_path / 'docs')
  pages = sorted((tmp_path / 'docs').rglob('*.md'))
  told = (docs.HERE / 'mkdocs.yml').read_text('utf-8')
  assert {str(p.relative_to(tmp_path / 'docs')) for p in pages} == {
    *re.findall(r'[\w/]+\.md', told)
  }
  for page in pages:
    text = page.read_text('utf-8')
    assert '<!-- include' not in text and len(text) > 100, page
    for link in LINK.findall(text):
      assert (page.parent / link).exists(), (page, link)


@pytest.mark.skipif(
  not importlib.util.find_spec('material'), reason="needs fairjax's extra docs"
)
def test_the_site_builds_without_a_warning(tmp_path):
  build = [sys.executable, '-m', 'fairjax.docs', str(tmp_path / 'site')]
  done = subprocess.run(build, capture_output=True, text=True)
  assert done.returncode == 0, done.stderr
  page = pathlib.Path(tmp_path, 'site', 'papers', 'diet', 'index.html')
  assert 'healthy_random' in page.read_text('utf-8')
