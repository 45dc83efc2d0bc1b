"""Writes the maps: fairjax/README's line a room, each room's list of files.

python tests/readme_map.py
"""

import ast
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = '## Where things are\n', '**`tests/`**'
FILES = 'In this room:\n'  # what follows it in a docstring is written here
SUFFIXES = ('.py', '.sh', '.sbatch', '.yaml')


def first_line(path: pathlib.Path) -> str:
  """What a file says it is: of its docstring, or of its first comment."""
  text = path.read_text(encoding='utf-8')
  if path.suffix == '.py':
    paragraph = (ast.get_docstring(ast.parse(text)) or '').partition('\n\n')[0]
    return paragraph.partition('\n')[0].rstrip('.')
  lines = [line for line in text.splitlines() if not line.startswith('#!')]
  return next((line[1:].strip() for line in lines if line.startswith('# ')), '')


def rooms() -> list[pathlib.Path]:
  """The packages of fairjax, a room before those in it."""
  inner = {path.parent for path in (ROOT / 'fairjax').rglob('__init__.py')}
  line = 'recipes data pairs methods scores benchmarks models train metrics'
  order = ['core', 'config', 'stages', *line.split(), 'report', 'bench']

  def rank(folder):
    parts = folder.relative_to(ROOT / 'fairjax').parts
    known = parts and parts[0] in order
    return bool(parts), order.index(parts[0]) if known else len(order), parts

  return sorted(inner, key=rank)


def listed(room: pathlib.Path) -> str:
  """A line a file of the room."""
  files = sorted(
    p
    for p in room.iterdir()
    if p.suffix in SUFFIXES and p.name != '__init__.py'
  )
  wide = max((len(p.stem) for p in files), default=0) + 2
  lines = [
    textwrap.fill(
      first_line(path),
      width=79,
      initial_indent=f'  {path.stem:{wide}}',
      subsequent_indent=' ' * (wide + 2),
    )
    for path in files
  ]
  return '\n'.join(lines)


def inside(path: pathlib.Path) -> str:
  """The text of an __init__.py with the list of its room's files."""
  text = path.read_text(encoding='utf-8')
  quotes = '"' * 3
  start = text.index(quotes) + 3
  end = text.index(quotes, start)
  words = text[start:end].partition(f'\n{FILES}')[0].rstrip()
  files = listed(path.parent)
  if files:
    words += f'\n\n{FILES}\n{files}\n'
  return text[:start] + words + text[end:]


def written() -> str:
  """The map of rooms: a line a room, and one for each folder beside fairjax."""
  lines = []
  for room in rooms()[1:]:  # the title says what the first is
    name = room.relative_to(ROOT).as_posix()
    depth = len(room.relative_to(ROOT / 'fairjax').parts)
    indent = '  ' * max(depth - 1, 0)
    about = first_line(room / '__init__.py')
    lines.append(f'{indent}- `{name}/`: {about}')
  return BEGIN + '\n' + '\n'.join(lines) + '\n\n'


def replaced(readme: str) -> str:
  start, end = readme.index(BEGIN), readme.index(END)
  return readme[:start] + written() + readme[end:]


def maps() -> dict[pathlib.Path, str]:
  """Every file that holds a map, as it should be."""
  readme = ROOT / 'fairjax' / 'README.md'
  out = {readme: replaced(readme.read_text(encoding='utf-8'))}
  for room in rooms():
    path = room / '__init__.py'
    out[path] = inside(path)
  return out


if __name__ == '__main__':
  for path, text in maps().items():
    path.write_text(text, encoding='utf-8')
