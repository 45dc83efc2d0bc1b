"""python -m fairjax.bench NAME [args]: one race against a peer.

--list shows the races. The last line that a race prints is one JSON object
with race, ours, peer, ratio, unit, machine and versions.
"""

import ast
import difflib
import importlib
import json
import pathlib
import sys

from fairjax.errors import UserError


def races() -> dict[str, str]:
  """Every race (a module with `run`) and the first line of what it says."""
  result = {}
  for path in sorted(pathlib.Path(__file__).parent.glob('*.py')):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    if 'run' in functions:
      text = ast.get_docstring(tree)
      result[path.stem] = (text or '').partition('\n')[0]
  return result


def main(args: list[str]) -> int:
  known = races()
  if not args or args[0] in ('--list', '--help', '-h'):
    print(__doc__.partition('\n')[0])
    for name, about in known.items():
      print(f'  {name:12} {about}')
    return 0 if args else 2
  name, *rest = args
  try:
    if name not in known:
      near = difflib.get_close_matches(name, known, n=1)
      hint = f'did you mean {near[0]!r}?' if near else 'see --list'
      raise UserError(f'there is no race named {name!r}; {hint}')
    result = importlib.import_module(f'fairjax.bench.{name}').run(rest)
  except UserError as error:
    print(f'fairjax.bench: {error}', file=sys.stderr)
    return 2
  print(json.dumps(result), flush=True)
  return 0


if __name__ == '__main__':
  sys.exit(main(sys.argv[1:]))
