"""The swap: every listed word, the sentences others fail, and bad input."""

import pathlib
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairjax.core.errors import UserError
from fairjax.data import word_tables
from fairjax.pairs.swapping import (
  axis_values,
  controls,
  dictionary,
  neighbours,
  scan,
  swap_eval,
  word_lists,
)
from fairjax.pairs.word_sets import SETS

OPPOSITE = dictionary.swapper()
NAMED = dictionary.swapper(names=True)
GENDER = word_lists.gender()


def _listed():
  known = word_lists.gender()
  for row in known.rows:
    for word in row[:2]:
      yield from (word, word.upper(), word[:1].upper() + word[1:])


def test_every_listed_word_leads_back():
  column = [*_listed(), 'her', 'him', 'his', 'hers', 'HERS', 'Him']
  column = [word for word in column if word.lower() not in SETS.mankind]
  once = OPPOSITE(column).texts
  assert all(a != b for a, b in zip(column, once))
  assert OPPOSITE(once).texts == column


def test_words_of_one_way_take_their_partner():
  for word, new in (GENDER.to_male | GENDER.to_female).items():
    if word != 'ms':
      assert OPPOSITE([word]).texts == [new], word
  assert OPPOSITE(['Ms. X, 5 ms, MS']).texts == ['Mr. X, 5 ms, MS']


PARTS = (
  'she saw|his dog and|the waiter told|he gave|her own|Mrs. Lee and|near the|'
  'a policewoman with|Hers was|to him,|the king|himself|her brother.|in May|'
  'him in|many|their aunts|a gal!|women|his work|her to|it is hers.'
).split('|')


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=8))
def test_sentences_of_parts_lead_back(parts):
  text = '; '.join(parts)
  once = OPPOSITE([text])
  assert OPPOSITE(once.texts).texts == [text]
  assert dictionary.put_spans(text, once.spans[0]) == once.texts[0]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_has_exact_spans(texts):
  swapped = NAMED(texts)
  for text, new, spans in zip(texts, swapped.texts, swapped.spans):
    assert all(text[a:b] == old for a, b, old, _ in spans)
    assert (text == new) == (not spans)


@pytest.mark.parametrize('word', ['m', 'ab', 'abc', 'abcd', 'é', 'a' * 20])
def test_a_scan_finds_words_of_any_length(word):
  for text in (f'{word}', f'x {word} y', f'"{word}"', f'b-{word}-zz {word}'):
    found = [
      text[a:b] for _, s, e in scan.Scan([word])([text]) for a, b in zip(s, e)
    ]
    assert found == [word] * text.count(word), text


def test_scan_finds_what_a_regex_finds(shared):
  """The oracle: every run of letters and digits, looked up one by one."""
  path = shared / 'text' / 'wikipedia_general.txt'
  texts = path.read_text(encoding='utf-8')[:400_000].split('\n')
  texts += ['', 'É', 'İstanbul her', '\U0001f600her\U0001f600', 'x' * 99, 'her']
  entries = dictionary.gender_entries(word_lists.gender(), 'opposite')
  keys = set(entries)
  found = {
    (row, text_start, end)
    for row, starts, ends in scan.Scan(keys)(texts)
    for text_start, end in zip(starts, ends)
    if texts[row][text_start:end].lower() in keys
  }
  wanted = {
    (row, m.start(), m.end())
    for row, text in enumerate(texts)
    for m in re.finditer(r'[^\W_]+', text)
    if m[0].lower() in keys
  }
  assert found == wanted and len(wanted) > 500


NEAR = st.text(
  st.sampled_from(' \t\n\xa0aZéß1-_.…(["“\'’*#$,\u0301'), max_size=30
)


@settings(max_examples=300, deadline=None)
@given(NEAR)
@example('a' * 40 + ' her')
def test_a_word_between_blanks_is_what_the_pattern_finds(text):
  def plain_next(end):
    result = neighbours.NEXT.match(text, end)
    return result and (result[1], result.end(1), bool(result[2]))

  def plain_last(start):
    before = text[max(0, start - 24) : start].rstrip(neighbours.OPENING)
    words = before.rsplit(None, 1)
    if not words or text[start - 1 : start] == '-':
      return ''
    word = words[-1].lstrip(neighbours.OPENING)
    return word if word[-1:].isalnum() else ''

  for place in range(len(text) + 1):
    read = neighbours.next_word(text, place)
    assert read == (plain_next(place) or ('', place, False))
    assert neighbours.last_word(text, place) == plain_last(place)


def test_blocks_do_not_matter(monkeypatch):
  texts = [f'row {i} of her {"é" * (i % 7)} brother' for i in range(200)]
  whole = dictionary.swap(texts)
  monkeypatch.setattr(scan, 'BLOCK', 100)
  assert dictionary.swap(texts) == whole


def test_pronouns_alone_on_pairs_written_by_hand():
  """.976 exact (.929 before rules were mended by what was wrong here)."""
  path = pathlib.Path(__file__).with_name('neutral_pairs.txt')
  lines = path.read_text(encoding='utf-8').splitlines()
  pairs = [line.split(' → ') for line in lines if not line.startswith('#')]
  ours = dictionary.swap([old for old, _ in pairs], 'neutral', scope='pronouns')
  wrong = [o for (_, twin), o in zip(pairs, ours.texts) if o != twin]
  assert len(pairs) == 85
  assert 1 - len(wrong) / len(pairs) >= 0.93, wrong


def test_groups_turn_together(tmp_path):
  path = tmp_path / 'faith.csv'
  path.write_text('# religion\nmuslim,christian,jew\nmosque,church,synagogue\n')
  text = 'A Muslim in the MOSQUE.'
  every = dictionary.swap_every([text], path)
  assert [one.texts[0] for one in every] == [
    'A Christian in the CHURCH.',
    'A Jew in the SYNAGOGUE.',
  ]
  column = [f'{text} {i}' for i in range(60)]
  drawn = dictionary.swap(column, words=path, seed=3)
  kinds = ['Jew' in one for one in drawn.texts]
  assert 10 < sum(kinds) < 50
  assert all(('SYNAGOGUE' in t) == k for t, k in zip(drawn.texts, kinds))
  assert drawn == dictionary.swap(column, words=path, seed=3)
  assert drawn != dictionary.swap(column, words=path, seed=4)
  # the draw belongs to the text, not to its place
  assert (
    dictionary.swap(column[7:], words=path, seed=3).texts == drawn.texts[7:]
  )


def test_a_gender_list_of_the_users(tmp_path):
  path = tmp_path / 'own.csv'
  path.write_text('male,female\nbloke,sheila\n')
  swapped = dictionary.swap(['The bloke saw her father.'], words=path)
  assert swapped.texts == ['The sheila saw his father.']
  with pytest.raises(UserError, match='male,female,neutral'):
    dictionary.swap(['x'], 'neutral', words=path)


LONG = 50_000 * 'man'  # a cell that no csv has


@pytest.mark.parametrize(
  ('kind', 'text', 'sentence'),
  [
    *word_tables.table_rows(__file__, '../sheets/bad_lists.csv'),
    ('words', f'{LONG},woman', 'the word list .* is no csv'),
    ('words', 'male,female\u2028he,she', r'line 1, has the character .\\u2028'),
    ('names', f'{LONG},F,1', 'the names file .* is no csv'),
  ],
)
def test_bad_lists(tmp_path, kind, text, sentence):
  path = tmp_path / 'bad.csv'
  path.write_text(text)
  with pytest.raises(UserError, match=sentence):
    dictionary.swap(['x'], **{kind: path})


@pytest.mark.parametrize(
  ('texts', 'options', 'sentence'),
  [
    (['x', float('nan')], {}, 'row 1 is not a text but nan'),
    ('she', {}, 'a column of texts'),
    (['x'], {'direction': 'sideways'}, 'direction'),
    (['x'], {'words': '/none.csv'}, 'the word list /none.csv does not exist'),
    (['x'], {'direction': 'male', 'words': [('a', 'b')]}, 'gender list'),
    (['x'], {'scope': 'nouns'}, "scope is 'nouns'"),
    (['x'], {'tagger': 'spacy:no_such'}, 'pip install|spacy download'),
    (['x'], {'tagger': 'nltk'}, 'spacy:MODEL'),
  ],
)
def test_bad_calls(texts, options, sentence):
  with pytest.raises(UserError, match=sentence):
    dictionary.swap(texts, **options)


def test_a_tagger_decides(monkeypatch):
  seen = []

  def tag(text):
    seen.append(text)
    return {text.index('her'): 'PRP' if 'ducks' in text else 'PRP$'}

  column = ['saw her duck', 'saw her ducks', 'no pronoun, a girl']
  swapped = dictionary.swap(column, tagger=tag)
  assert swapped.texts == ['saw his duck', 'saw him ducks', 'no pronoun, a boy']
  assert seen == column[:2]


def test_known_twins(shared):
  """Every set is at least as right as was measured, and beats a dictionary."""
  found = {}
  for name, side, run in swap_eval.runs(shared):
    found.setdefault(name, {})[side] = swap_eval.score(*run)
  least = {
    'gap': (0.945, 0.972),  # whose twins turn titles of works too
    'gap names': (0.945, 0.82),
    'winobias': (0.988, 0.99),
    'winogender': (1.0, 1.0),
    'winogender neutral': (1.0, 1.0),
    'geco': (0.979, 0.986),
  }
  assert found.keys() == least.keys()
  stated = {
    name: round(found[name.lower()]['rules'].precision, 3)
    for name in swap_eval.MEASURED
  }
  assert stated == swap_eval.MEASURED
  for name, (precision, recall) in least.items():
    rules = found[name]['rules']
    assert rules.precision >= precision and rules.recall >= recall, name
    if 'dictionary' in found[name]:
      plain = found[name]['dictionary']
      assert rules.precision > plain.precision and rules.recall > plain.recall


def test_a_text_is_whole_where_its_words_are_its_twin_s():
  """Words that were put in counted as none, and case where lengths differ."""
  draw, words = np.random.default_rng(0), np.array([*'abcdD'])
  text = lambda: ' '.join(draw.choice(words, draw.integers(6)))
  for _ in range(2000):
    source, twin, own = text(), text(), text()
    own = twin if draw.random() < 0.3 else own
    one = swap_eval.score([(source, twin)], [own])
    assert one.whole == (twin.lower() == own.lower())
    assert one.right <= min(one.ours, one.twins)
  said = swap_eval.score([('he ran', 'she ran')], ['She ran and ran'])
  assert said == swap_eval.Score(ours=2, twins=1, right=1, whole=0, texts=1)


@pytest.mark.parametrize('words', [None, [('car', 'van'), ('house', 'hut')]])
def test_a_control_changes_as_many_other_words(words):
  """Names to names; of other words none that the swap turns."""
  texts = [
    'He told John that a large house by the old road is good for a big dog.',
    'My mother said she liked that small red car, the house and a big dog.',
    'She was with him in the house.',  # house and a small word
    'He and she.',
  ]
  spans = dictionary.swap(texts, words=words, names=words is None).spans
  found = controls.controls(texts, spans)
  for text, own, new, edits in zip(texts, spans, *found):
    if new is None:
      continue
    assert len(edits) == len(own) and dictionary.put_spans(text, edits) == new
    for start, end, old, _ in edits:
      apart = all(end <= a or b <= start for a, b, *_ in own)
      assert text[start:end] == old and (apart or old == 'John')
  sides = axis_values.single([*texts[:3], *found.texts[:3]])
  assert (sides[3:] == sides[:3]).all() and found.texts[3] is None
  assert controls.controls(texts, spans, 1) != found
  assert word_lists.genders(GENDER).keys().isdisjoint(controls.partners())
