"""her, his and him: sentences by class, and every him and his of real text."""

import re
import zlib

from fairjax.pairs.swapping import dictionary, listed, pronouns

OPPOSITE = dictionary.swapper()


def _paragraphs(folder):
  for path in sorted(folder.glob('*.txt')):
    text = path.read_text(encoding='utf-8')
    novel = path.name.startswith('charlotte')
    yield from re.split(r'\n\s*\n', text) if novel else text.split('\n')


_MALE = re.compile(r'\b(?:he|him|his|himself)\b', re.IGNORECASE)
_TURNED = {'he': 'she', 'him': 'her', 'his': 'her', 'himself': 'herself'}


def _as_hers(text: str) -> tuple[str, list[tuple[int, str]]]:
  """The text with her for him and his, and what stood where."""
  pieces, gold, last, place = [], [], 0, 0
  for hit in _MALE.finditer(text):
    old = hit[0].lower()
    new = listed.match_case(hit[0], _TURNED[old])
    pieces += [text[last : hit.start()], new]
    place += hit.start() - last
    if old in ('him', 'his'):
      gold.append((place, old))
    place += len(new)
    last = hit.end()
  return ''.join([*pieces, text[last:]]), gold


def test_every_him_and_his_of_real_text_comes_back(shared):
  """The free oracle: .982 of 42,119, where a dictionary has .84.

  The unit is the sentence, in its paragraph: the novel's files are wrapped at
  72 columns, so the end of a line there is a blank. Read line by line 626
  pronouns end one, most cut off from what is owned, and .971 are right.
  Rules were made on four fifths of the paragraphs (.9822) and are as right on
  the held-out fifth (.9833). What stands alone ("a friend of his") counts as
  wrong: "a friend of her" is no English, and no rule need read it.
  """
  right = {'him': 0, 'his': 0}
  every = {'him': 0, 'his': 0}
  for text in _paragraphs(shared / 'text'):
    turned, gold = _as_hers(text)
    for start, old in gold:
      row = pronouns.her(turned, start, start + 3)
      right[old] += row[0] == old
      every[old] += 1
  assert sum(every.values()) > 42_000
  assert sum(right.values()) / sum(every.values()) >= 0.982
  assert right['him'] / every['him'] >= 0.92
  assert right['his'] / every['his'] >= 0.99


def test_hers_among_owners(shared):
  """Every hers, and every my and their, written his: hers again, or her."""
  form = re.compile(r'\b(?:hers|my|their)\b')
  right = {True: 0, False: 0}
  every = {True: 0, False: 0}
  for text in _paragraphs(shared / 'text'):
    for hit in form.finditer(text):
      alone = hit[0] == 'hers'
      if not alone and zlib.crc32(text.encode()) % 5:
        continue
      turned = f'{text[: hit.start()]}his{text[hit.end() :]}'
      row = pronouns.his(turned, hit.start(), hit.start() + 3)
      right[alone] += (row == pronouns.ALONE) == alone
      every[alone] += 1
  assert every[True] > 90 and right[True] / every[True] >= 0.96
  assert every[False] > 3000 and right[False] / every[False] >= 0.995
