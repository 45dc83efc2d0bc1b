"""her, his and him: sentences by class, and every him and his of real text."""

import re
import zlib

import pytest

from fairjax.pairs.swapping import dictionary, listed, pronouns

OPPOSITE = dictionary.swapper()

OBJECTS = """
gave her feedback → gave him feedback
showed her thanks → showed him thanks
charged her 1000 dollars → charged him 1000 dollars
makes her extremely depressed → makes him extremely depressed
make her less trusting. → make him less trusting.
called her names → called him names
called her "mean" again → called him "mean" again
heard her singing → heard him singing
with her gone → with him gone
kept her late → kept him late
considered her attractive. → considered him attractive.
this ranks her sixth in sales → this ranks him sixth in sales
let her speak first → let him speak first
told her Tom has left → told him Tom has left
a photo of her taken in 1936 → a photo of him taken in 1936
it led to her being chosen → it led to him being chosen
love her cause she listens → love him cause he listens
loved her... He left. → loved him... She left.
""".strip().splitlines()

OWNERS = """
Her bubbly and vivacious persona → His bubbly and vivacious persona
Her long and happy life → His long and happy life
her long, beautiful hair → his long, beautiful hair
in her [MASK] days → in his [MASK] days
in her <mask> days → in his <mask> days
her “favourite” song → his “favourite” song
her " Fall " is → his " Fall " is
her ( ferocious ) cat → his ( ferocious ) cat
her … thing → his … thing
that's her... personality → that's his... personality
drew her .357 Magnum → drew his .357 Magnum
his and Katie's divorce → her and Katie's divorce
showed her support for → showed his support for
earned her greatest fame → earned his greatest fame
helped her cause by → helped his cause by
let her hair down → let his hair down
she made her return. → he made his return.
heard her singing voice → heard his singing voice
her most well-known works → his most well-known works
""".strip().splitlines()

ALONE = """
a friend of his named Lola → a friend of hers named Lola
two works of his aimed at adults → two works of hers aimed at adults
his became famous → hers became famous
""".strip().splitlines()


@pytest.mark.parametrize('line', OBJECTS + OWNERS + ALONE)
def test_sentences_and_back(line):
  text, twin = line.split(' → ')
  assert OPPOSITE([text]).texts == [twin]
  if line not in ALONE:  # "a friend of hers" comes back as "of his"
    assert OPPOSITE([twin]).texts == [text]


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
