"""Sections of a page from a template: markdown whose parts stand by name.

    ## Heading               a section; ### is a heading in one
    Words, to a blank line   a paragraph: > leads, ~ is quiet, ! is a warning
    * Words                  one line of several
    @rows Caption            the table, figure or parts given as `rows`
    @@rows Caption           a table that a terminal shows too
    | key | key = heading    its columns, of those that some row has
    + Title                  what is folded, to a line of - or the next section

A value in {{ }} is words whatever it holds, and never one of these marks.
"""

import contextvars
import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from fairjax import results
from fairjax.report import render

KINDS = {'': '', '>': 'lead', '~': 'quiet', '!': 'warning'}
MARKED = re.compile(r'(##|###|[>~!*|+-]|@@?\w+)(?: +(.*)|$)')
PARTS = {*results.PARTS, 'first', 'command'}
VALUES: contextvars.ContextVar[list[str]] = contextvars.ContextVar('values')
VALUE = re.compile('\ue000(\\d+)\ue001')  # its place among the values


def sections(template: str, **given: Any) -> list[dict]:
  """The sections of a template, with values and parts by name."""
  values: list[str] = []
  token = VALUES.set(values)
  whole = render.template(template, {}, _kept).render(given)
  VALUES.reset(token)
  fill = lambda text: VALUE.sub(lambda found: values[int(found[1])], text)
  out: list[dict] = []
  into: list[dict] = []
  for mark, text in _marked(whole):
    if mark == '##':
      out.append(results.section(fill(text)))
    if mark in ('##', '+', '-'):
      into = out[-1]['parts']
    if mark == '+':
      into.append(results.fold(fill(text)))
      into = into[-1]['parts']
    elif mark == '###':
      into.append(results.heading(fill(text)))
    elif mark == '*':
      if not into or into[-1]['part'] != 'bullets':
        into.append(results.bullets([]))
      into[-1]['lines'].append(fill(text))
    elif mark == '|':
      heads = (fill(one).strip().partition(' = ') for one in text.split('|'))
      of = into.pop()
      known = {key for row in of['rows'] for key in row}
      own = {key: head or key for key, _, head in heads if key in known}
      into.append(results.table(of['rows'], own, of['caption'], of['screen']))
    elif mark[:1] == '@':
      into += _given(given[mark.lstrip('@')], fill(text), mark[:2] == '@@')
    elif mark in KINDS:
      into.append(results.text(fill(text), KINDS[mark]))
  return out


def _kept(value: Any) -> str:
  if isinstance(value, Markup):  # the template's own, by the filter `raw`
    return value
  values = VALUES.get()
  values.append(str(value).replace('\n', ' '))
  return f'\ue000{len(values) - 1}\ue001'


def parts(template: str, **given: Any) -> list[dict]:
  """The parts of a template of one section, whose heading is of no use."""
  return sections(template, **given)[0]['parts']


def lines(template: str, **given: Any) -> list[str]:
  """The lines of a template of nothing else."""
  own = parts(template, **given)
  return own[0]['lines'] if own else []


def _marked(text: str) -> list[list[str]]:
  """(mark, words) of each part; lines that follow are words of a paragraph,
  of other parts those that are indented."""
  out, goes_on = [], False
  for line in text.splitlines():
    found = MARKED.match(line)
    if found:
      out.append([found[1], found[2] or ''])
    elif line.strip() and goes_on and (out[-1][0] in KINDS or line[0] == ' '):
      out[-1][1] += f' {line.strip()}'
    elif line.strip():
      out.append(['', line.strip()])
    goes_on = bool(line.strip())
  return out


def _given(one: Any, caption: str, screen: bool) -> list[dict]:
  """Parts as they are, or rows as a table."""
  if isinstance(one, Mapping):
    return [{**one, 'caption': caption} if caption else dict(one)]
  if one and one[0].get('part') in PARTS:
    return list(one)
  return [results.table(one, caption=caption, screen=screen)]
