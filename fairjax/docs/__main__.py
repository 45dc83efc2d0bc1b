"""Builds the documentation site from a checkout.

  pip install '.[docs]' && python -m fairjax.docs OUT [--gallery]

Pages that are facts of the code (options, measures, names, the library) are
made from it; `<!-- include: FILE#HEADING -->` takes a part of another page of
the repository, so that it is written once. Any warning ends the build.
"""

import argparse
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import typing

import fairjax
import fairjax.main  # whose flags the help of commands names
from fairjax.cli import commands, manual
from fairjax.config import HELP, Config
from fairjax.core import knobs
from fairjax.core.errors import UserError
from fairjax.metrics import MEASURES

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
INCLUDE = re.compile(r'<!-- include: ([^#\s]+)(?:#(.+?))? -->')
PAGE = re.compile(r"^ *page (\w+) '(.+?)'", re.M)  # of gallery.sh


def included(match: re.Match) -> str:
  """The named file, or its part under a heading, one level further down."""
  path, heading = match.groups()
  text = (ROOT / path).read_text('utf-8')
  if heading:
    part = text.partition(f'\n## {heading}\n')[2]
    text = '## Results\n' + re.split(r'\n(?=## )', part)[0]
    return re.sub(r'\n<!-- (?:kept: .*|planted: .*|end) -->\n', '\n', text)
  return text.partition('\n')[2] if match.start() else text


def cell(text: str) -> str:
  """Plain text as a cell of a table."""
  return re.sub(r'([|<>*_`])', r'\\\1', ' '.join(str(text).split()))


def table(head: str, rows: list[tuple]) -> str:
  lines = [f'| {head} |', '|' + '---|' * (head.count('|') + 1)]
  return '\n'.join(lines + [f'| {" | ".join(row)} |' for row in rows])


def options() -> str:
  """Every knob, a table a section."""
  parts: dict[str, list[tuple]] = {}
  for leaf in knobs.leaves(Config):
    row = f'`{leaf.name}`', cell(repr(leaf.default)), cell(HELP[leaf.name])
    parts.setdefault(leaf.name.rpartition('.')[0] or 'run', []).append(row)
  out = ['# Options\n\nEach is the flag `--config.NAME=VALUE` of any command.']
  out += ['`fairjax help NAME` has its valid values, and what it changes.']
  for section, rows in parts.items():
    out.append(f'## {section}\n\n{table("name | default | about", rows)}')
  return '\n\n'.join(out)


def measures() -> str:
  row = lambda name, one: (f'`{name}`', cell(one.label), cell(one.about))
  rows = [row(name, one) for name, one in MEASURES.items()]
  return f'# Measures\n\n{table("name | label | what it is", rows)}'


def fenced(heading: str, text: str) -> str:
  return f'## {heading}\n\n```text\n{text.rstrip()}\n```'


def command_pages() -> str:
  parts = [fenced('fairjax', manual.overview())]
  parts += [fenced(name, manual.explain(name)) for name in commands.COMMANDS]
  return '\n\n'.join(['# Commands and exit codes', *parts])


def documented(name: str, one) -> str:
  """A signature and its docstring; of a class those of its methods, too."""
  called = callable(one) and not typing.is_typeddict(one)
  call = inspect.signature(one) if called else ''
  head = textwrap.fill(f'{name}{call}', 78, subsequent_indent='    ')
  parts = [f'{head}\n\n{inspect.getdoc(one) or ""}'.rstrip()]
  for key, own in inspect.getmembers(one) if inspect.isclass(one) else ():
    real = inspect.unwrap(getattr(own, 'fget', own))
    room = str(getattr(real, '__module__', ''))
    if key[0] != '_' and room.startswith('fairjax'):
      parts.append(documented(f'.{key}', own))
  return '\n\n'.join(parts)


def library() -> str:
  """Each name of the library, and the classes that its functions return."""
  found = {getattr(fairjax, n): n for n in dir(fairjax) if n[0] != '_'}
  given = [getattr(one, '__annotations__', {}).get('return') for one in found]
  found |= {c: c.__name__ for c in given if c and hasattr(c, 'save')}
  parts = [fenced(name, documented(name, one)) for one, name in found.items()]
  about = 'Names of `fairjax`. `audit` returns an Audited, `write` a Written.'
  return '\n\n'.join(['# Library', about, *sorted(parts)])


def first_line(path: pathlib.Path) -> str:
  """What a module says it is."""
  return manual.docstring(path).partition('\n')[0].rstrip('.')


def rooms(files: bool = True) -> str:
  """Each room of the package and its files, by their own first lines."""
  lines = []
  for init in sorted((ROOT / 'fairjax').rglob('__init__.py')):
    room = init.parent.relative_to(ROOT)
    indent = '    ' * max(len(room.parts) - 2, 0)
    lines.append(f'{indent}- `{room.as_posix()}/`: {first_line(init)}')
    own = sorted(set(init.parent.glob('*.py')) - {init}) if files else []
    lines += [f'{indent}    - `{p.stem}`: {first_line(p)}' for p in own]
  return '\n'.join(lines)


def gallery(folder: pathlib.Path) -> str:
  """The pages of gallery.sh in the folder, and links to them."""
  script = HERE / 'gallery.sh'
  run = {**os.environ, 'PYTHON': sys.executable}
  subprocess.run(['bash', script, folder], cwd=ROOT, env=run, check=True)
  pages = PAGE.findall(script.read_text('utf-8'))
  return '\n'.join(f'- <a href="{a}.html">{b}</a>' for a, b in pages)


def written(folder: pathlib.Path, with_gallery: bool = False) -> None:
  """All pages as Markdown, those that are made with those that are not."""
  shutil.copytree(
    HERE,
    folder,
    ignore=shutil.ignore_patterns('*.py', '*.yml', '*.sh', '__pycache__'),
  )
  for path in folder.rglob('*.md'):
    path.write_text(INCLUDE.sub(included, path.read_text('utf-8')), 'utf-8')
  made = {
    'options': options(),
    'measures': measures(),
    'commands': command_pages(),
    'names': f'# Names\n\n```text\n{manual.everything()}\n```',
    'library': library(),
    'layout': f'# Rooms and files\n\n{rooms()}',
  }
  for name, text in made.items():
    (folder / 'reference' / f'{name}.md').write_text(text + '\n', 'utf-8')
  if with_gallery:
    page = folder / 'gallery.md'
    links = gallery(folder / 'gallery')
    page.write_text(page.read_text('utf-8').replace('<!-- gallery -->', links))


def main() -> None:
  parser = argparse.ArgumentParser('fairjax.docs', description=__doc__)
  parser.add_argument('out', type=os.path.abspath)
  parser.add_argument('--gallery', action='store_true')
  given = parser.parse_args()
  if not (ROOT / 'configs' / 'RESULTS.md').is_file():
    raise UserError('the site is built from a checkout of the repository')
  with tempfile.TemporaryDirectory() as name:
    shutil.copy(HERE / 'mkdocs.yml', name)
    written(pathlib.Path(name, 'docs'), given.gallery)
    build = [sys.executable, '-m', 'mkdocs', 'build', '--strict', '-q']
    quiet = {**os.environ, 'NO_MKDOCS_2_WARNING': '1'}
    done = subprocess.run([*build, '-d', given.out], cwd=name, env=quiet)
  sys.exit(done.returncode)


if __name__ == '__main__':
  main()
