"""python -m fairjax.bench NAME [args]: one race against a peer.

--list shows the races. The last line that a race prints is one JSON object
with race, ours, peer, ratio, unit, machine and versions.
"""

import ast
import importlib
import json
import pathlib
import sys

from fairjax.core.errors import UserError
from fairjax.core.registry import named


def races() -> dict[str, tuple[str, str]]:
  """Address and first line of every module with `run`: races, and `aot`."""
  result = {}
  folders = pathlib.Path(__file__).parent
  for path in sorted(folders.glob('*/*.py'), key=lambda path: path.stem):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    if 'run' in functions:
      text = ast.get_docstring(tree)
      address = f'fairjax.bench.{path.parent.name}.{path.stem}'
      result[path.stem] = address, (text or '').partition('\n')[0]
  return result


def main(args: list[str]) -> int:
  known = races()
  if not args or args[0] in ('--list', '--help', '-h'):
    print(__doc__.partition('\n')[0])
    for name, (_, about) in known.items():
      print(f'  {name:12} {about}')
    return 0 if args else 2
  name, *rest = args
  try:
    module, _ = known[named(name, known, 'race')]
    result = importlib.import_module(module).run(rest)
  except UserError as error:
    print(f'fairjax.bench: {error}', file=sys.stderr)
    return 2
  print(json.dumps(result), flush=True)
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
