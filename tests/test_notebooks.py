"""Notebooks run from top to bottom and say what they say they say.

  python tests/test_notebooks.py  # runs them and keeps what they say

Cells are plain Python, so that no notebook server is needed to run them. Kept
words are compared as they are, numbers within what other processors change.
"""

import ast
import base64
import contextlib
import io
import json
import pathlib
import re
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / 'configs' / 'notebooks'
NOTEBOOKS = sorted(FOLDER.glob('*.ipynb'))
NUMBER = re.compile(r'-?\d+\.?\d*(?:e-?\d+)?')
NEAR = 0.03
pytestmark = pytest.mark.usefixtures('alone')


def outputs(source: str, names: dict) -> list[dict]:
  """What a cell prints, and its last line's value, as a notebook keeps them."""
  body = ast.parse(source).body
  last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
  printed, value = io.StringIO(), None
  with contextlib.redirect_stdout(printed):
    exec(compile(ast.Module(body, []), 'cell', 'exec'), names)
    if last:
      value = eval(compile(ast.Expression(last.value), 'cell', 'eval'), names)
  out = []
  if said := printed.getvalue():
    out.append({'output_type': 'stream', 'name': 'stdout', 'text': lines(said)})
  if hasattr(value, 'savefig'):
    picture = io.BytesIO()
    value.savefig(picture, dpi=80, metadata={'Software': None})
    data = {'image/png': base64.b64encode(picture.getvalue()).decode()}
    out.append({'output_type': 'display_data', 'data': data, 'metadata': {}})
  elif value is not None:
    data = {'text/plain': lines(repr(value))}
    kind = {'output_type': 'execute_result', 'execution_count': None}
    out.append({**kind, 'data': data, 'metadata': {}})
  return out


def lines(text: str) -> list[str]:
  return text.splitlines(keepends=True)


def run(path: pathlib.Path) -> tuple[dict, list[list[dict]]]:
  """The notebook, and what each of its cells of code says now."""
  book = json.loads(path.read_text())
  names = {'__name__': '__main__'}
  code = [c for c in book['cells'] if c['cell_type'] == 'code']
  return book, [outputs(''.join(c['source']), names) for c in code]


def words(output: dict) -> tuple[str, list[float]]:
  """Its words without blanks, and its numbers."""
  text = ''.join(output.get('text') or output['data'].get('text/plain', ''))
  found = [float(n) for n in NUMBER.findall(text)]
  return re.sub(r'[\s-]+', '', NUMBER.sub('#', text)), found


@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_it_says_what_it_keeps(path):
  book, now = run(path)
  code = [c for c in book['cells'] if c['cell_type'] == 'code']
  assert any(c['outputs'] for c in code)
  for cell, outs in zip(code, now, strict=True):
    kept = cell['outputs']
    assert [o['output_type'] for o in kept] == [o['output_type'] for o in outs]
    for one, other in zip(kept, outs):
      (said, numbers), (says, new) = words(one), words(other)
      assert said == says
      assert numbers == pytest.approx(new, rel=NEAR, abs=NEAR)


def test_a_changed_number_is_seen():
  kept = outputs('print("gap", 0.62)', {})
  now = outputs('print("gap", 0.72)', {})
  assert words(kept[0])[0] == words(now[0])[0]
  assert words(kept[0])[1] != pytest.approx(words(now[0])[1], abs=NEAR)


def keep(path: pathlib.Path) -> None:
  book, now = run(path)
  code = [c for c in book['cells'] if c['cell_type'] == 'code']
  for cell, outs in zip(code, now, strict=True):
    cell['outputs'] = outs
  path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + '\n')


if __name__ == '__main__':
  sys.path.insert(0, str(FOLDER.parents[1]))
  for notebook in NOTEBOOKS:
    keep(notebook)
