"""Numbers as text, aligned tables, escaped tables."""

import ast

import pytest

from fairjax import results
from fairjax.data.word_tables import table_rows
from fairjax.report import render, tables


def made(value, low=None, high=None, **more):
  return {'value': value, 'low': low, 'high': high, 'seeds': [], **more}


def estimates():
  """(Estimate, its text) of each line of cells.csv."""
  for *given, seeds, text in table_rows(__file__, 'cells.csv'):
    ends = [float(one) if one else None for one in given]
    yield made(*ends, seeds=[*map(float, seeds.split())]), text


@pytest.mark.parametrize(
  'value, text',
  [
    *estimates(),
    *((ast.literal_eval(v), t) for v, t in table_rows(__file__, 'values.csv')),
    (float('nan'), '–'),
  ],
)
def test_cells(value, text):
  assert tables.cell(value) == text


def test_markdown_is_aligned_and_says_why_undefined():
  rows = [
    {'group': 'women', 'rows': 1200, 'fpr': made(0.25, 0.2, 0.3)},
    {'group': '女|性', 'rows': 7, 'fpr': made(None, note='no negatives')},
  ]
  assert tables.markdown(rows) == (
    '| group  |  rows |                  fpr |\n'
    '| ------ | ----: | -------------------: |\n'
    '| women  | 1,200 | 0.250 [0.200, 0.300] |\n'
    '| 女\\|性 |     7 |        undefined (1) |\n'
    '\n'
    '(1) no negatives'
  )


def test_wide_tables_are_stacked():
  rates = {f'rate {k}': made(0.5, 0.4, 0.6) for k in 'abcde'}
  text = tables.markdown([{'name': 'x' * 90} | rates])
  assert max(map(len, text.split('\n'))) <= 80
  assert text.count('x' * 29 + '…') == 3
  assert all(text.count(name) == 1 for name in rates)
  # Of a ratio nobody saw whose it was, but for the attribute.
  own = {'of': 'sex', 'kind': 'k' * 25}  # a key without what it does not need
  rows = [own | {'group': group} | rates for group in ('men', 'women')]
  assert tables.markdown(rows).count('\n| sex | women |') == 3


def test_terminals_are_not_steered():
  text = tables.markdown([{'\x1b[31mred': 'a\x1b]0;t\x07 \u202eb\tc'}])
  assert '\x1b' not in text and '\x07' not in text and '\u202e' not in text
  assert 'b c' in text


def html(rows, columns=None, caption='', about=None):
  part = results.table(rows, columns, caption) | {'about': about}
  whole = render.page('x', [results.section('y', part)])
  return whole[whole.index('<section') :]


def test_html_is_escaped():
  row = {'<b>': '<script>', 'v': made(None, note='<i>')}
  text = html([row], caption='<u>', about={'<script>': '<s>'})
  for tag in ('<script', '<b>', '<i>', '<u>', '<s>'):
    assert tag not in text
  assert '&lt;script&gt;<br><small>&lt;s&gt;</small>' in text
  assert 'undefined<br><small>&lt;i&gt;</small>' in text
  assert '<td class="number" data-label="v">' in text


def test_a_note_of_several_cells_is_told_once():
  one, other = made(None, note='one label'), made(0.0, note='<b>')
  text = html([{'a': 'x', 'v': one, 'w': other}, {'a': 'y', 'v': one}])
  assert text.count('one label') == 1 and text.count('<small>(1)</small>') == 2
  assert text.index('</table>') < text.index('(1) one label')
  assert '<br><small>&lt;b&gt;</small>' in text  # of one cell: there


def test_sentences_stand_above_their_numbers_where_there_is_no_room():
  long = [{'claim': 'this is below that in much', 'is': 1, 'p': 0.5}]
  assert 'class="stacked"' not in html(long)
  long[0]['claim'] *= 2
  text = html(long, {'claim': 'claim', 'is': 'is "it"', 'p': 'p'})
  assert 'class="stacked"' in text
  assert 'data-label="is &#34;it&#34;"' in text
