"""Sections by a template: marks are the template's, values are words."""

from fairjax import results
from fairjax.report import render, written


def test_a_template_makes_the_parts_that_its_marks_say(tmp_path, monkeypatch):
  (tmp_path / 'templates').mkdir()
  (tmp_path / 'templates/x.txt').write_text(
    '## {{ a }}\n> It is\n{{ a }}.\n\n{{ b }}\n@rows Its\n  caption\n'
    '| v = {{ b }} | w | gone\n+ More\n@@rows\n-\n~ End\n{{ c }}\n'
  )
  monkeypatch.setattr(render, 'HERE', tmp_path)
  render.environment.cache_clear()
  odd = '## no | mark = at\n@all'
  rows = [{'v': 1, 'w': 2}]
  (one,) = written.sections('x.txt', a='A', b=odd, c='\ue0000\ue001', rows=rows)
  render.environment.cache_clear()
  plain = odd.replace('\n', ' ')
  columns = {'v': plain, 'w': 'w'}
  assert one == results.section(
    'A',
    results.text('It is A.', 'lead'),
    results.text(plain),
    results.table(rows, columns, 'Its caption'),
    results.fold('More', results.table(rows, screen=True)),
    results.text('End \ue0000\ue001', 'quiet'),
  )
