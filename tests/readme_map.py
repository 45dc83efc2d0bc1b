"""Writes README.md's map: the first line of every file, folder by folder.

python tests/readme_map.py
"""

import ast
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = '## The files\n', '**`tests/`**'


def first_line(path: pathlib.Path) -> str:
  """What a file says it is: of its docstring, or of its first comment."""
  text = path.read_text(encoding='utf-8')
  if path.suffix == '.py':
    return (
      (ast.get_docstring(ast.parse(text)) or '').partition('\n')[0].rstrip('.')
    )
  lines = [line for line in text.splitlines() if not line.startswith('#!')]
  return next((line[1:].strip() for line in lines if line.startswith('# ')), '')


def folders() -> list[pathlib.Path]:
  inner = [p for p in (ROOT / 'fairjax').rglob('*') if p.is_dir()]
  line = 'recipes data pairs methods scores benchmarks models train metrics'
  order = ['config', 'stages', *line.split(), 'report', 'bench']

  def rank(folder):
    parts = folder.relative_to(ROOT / 'fairjax').parts
    known = parts[0] in order
    return order.index(parts[0]) if known else len(order), parts

  return [
    ROOT / 'fairjax',
    *sorted(inner, key=rank),
    ROOT / 'configs',
    ROOT / 'launch',
  ]


def written() -> str:
  """The map as README.md should have it."""
  parts = []
  for folder in folders():
    files = sorted(
      p
      for p in folder.iterdir()
      if p.suffix in ('.py', '.sh', '.sbatch', '.yaml')
      and p.name != '__init__.py'
    )
    if files:
      lines = [f'- `{p.name}`: {first_line(p)}' for p in files]
      name = folder.relative_to(ROOT).as_posix()
      parts.append(f'**`{name}/`**\n\n' + '\n'.join(lines) + '\n\n')
  return BEGIN + '\n' + ''.join(parts)


def replaced(readme: str) -> str:
  start, end = readme.index(BEGIN), readme.index(END)
  return readme[:start] + written() + readme[end:]


if __name__ == '__main__':
  path = ROOT / 'README.md'
  path.write_text(replaced(path.read_text(encoding='utf-8')), encoding='utf-8')
