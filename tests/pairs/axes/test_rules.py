"""Which word stands for another, and where none does: sheets/rules.csv.

Of a marked word, a rule that turns its value `to` another (or the next of
three) writes `wanted`.
"""

import pytest

from fairjax.data.axes import table
from fairjax.data.word_tables import table_rows
from fairjax.pairs.axes import rules

PETS = """form,cats,dogs,birds
noun,cat owner,,bird owner
noun,cat lover,dog lover,
noun,cat keeper,dog keeper,bird keeper
nouns,cat keepers,dog keepers,bird keepers
group,wild,tame,winged
"""
ROWS = table_rows(__file__, '../sheets/rules.csv')


@pytest.mark.parametrize(('axis', 'to', 'how', 'marked', 'wanted'), ROWS)
def test_what_a_word_becomes(tmp_path, axis, to, how, marked, wanted):
  path = tmp_path / 'pets.csv'
  path.write_text(PETS)
  known = table.load(str(path) if axis == 'pets' else axis)
  turn = lambda value: (value + 1) % 3 if to == 'next' else int(to)
  start, end = marked.index('['), marked.index(']') - 1
  text = marked.replace('[', '').replace(']', '')
  said = rules.entries(known, turn, **({how: True} if how else {}))
  rule = said.get(text[start:end].lower(), lambda *at: 'no rule')
  assert rule(text, start, end) == wanted
