"""A type checker sees the library: right calls pass, wrong ones are named."""

import pathlib
import sys

import pytest
import small

ROOT = pathlib.Path(__file__).parents[1]
RIGHT = """
import fairjax
from fairjax import UserError

result = fairjax.assess([0, 1], [0.2, 0.8], groups=['f', 'm'], pos_label=1)
found: dict = result['dp']
names: list[str] = result.keys()
audited = fairjax.audit(lambda texts: [0.5] * len(texts), {'text': ['She.']})
options = fairjax.AuditOptions(min_group=5, swaps=['gender'])
words: list[str] = fairjax.audit([0.2], options=options).warnings
gate: str = audited.gate
score: float = audited.what_if('She won.').said.score
text: str = fairjax.swap('She won.', axis='gender')
texts: list[str] = fairjax.swap(['She won.'])
limits: dict[str, float] = fairjax.thresholds([0], [0.2], ['f']).thresholds
labels = fairjax.load('folder').predict(['She won.'])
"""
WRONG = dict(small.cases(__file__, 'wrong_calls.json'))


def test_mypy_sees_the_surface(tmp_path, monkeypatch):
  api = pytest.importorskip('mypy.api')
  monkeypatch.setenv('MYPYPATH', str(ROOT))
  wrong = ['import fairjax', *WRONG]
  (tmp_path / 'right.py').write_text(RIGHT)
  (tmp_path / 'wrong.py').write_text('\n'.join(wrong))
  said, trouble, code = api.run(
    [
      *('--follow-imports=silent', '--ignore-missing-imports'),
      *(f'--python-executable={sys.executable}', '--no-error-summary'),
      f'--cache-dir={tmp_path}',
      *(str(tmp_path / name) for name in ('right.py', 'wrong.py')),
    ]
  )
  assert not trouble and code == 1
  lines = [line for line in said.splitlines() if ': error: ' in line]
  assert not [line for line in lines if 'right.py' in line]
  for number, words in enumerate(WRONG.values(), 2):
    (line,) = [one for one in lines if f'wrong.py:{number}:' in one]
    assert words in line
