"""What a word of an axis becomes where it stands.

It is exchanged where it means people (forms.py) and nothing beside it speaks
against the word that would be written. The rest is left alone: counterfactuals
should be right before they are many.
"""

import functools
import re
from collections.abc import Callable

from fairjax.data.axes.table import Axis, Row, Word
from fairjax.pairs.axes import people
from fairjax.pairs.axes.conjunctions import (
  alike,
  is_paired,
  is_pitied,
  is_shared,
  with_noun,
)
from fairjax.pairs.axes.forms import form_of, opens
from fairjax.pairs.axes.senses import before_people, is_no_noun
from fairjax.pairs.cues import bounds, found, sentence
from fairjax.pairs.swapping.neighbours import last_word, next_word
from fairjax.pairs.word_sets import SETS, pattern

Rule = Callable[[str, int, int], str | None]


def entries(
  axis: Axis,
  to: Callable[[int], int],
  strict: bool = False,
  apart: bool = False,
) -> dict[str, Rule]:
  """word -> the rule that says what it becomes; `to` of its value.

  Where the target has no word of a form, the next value's is written, or,
  `strict`, nothing.
  """
  listed: dict[str, tuple[int, dict[str, tuple[Word, Row]]]] = {}
  for word, value, one, row in axis.words():
    listed.setdefault(word, (value, {}))[1].setdefault(row.form, (one, row))
  joined = [alike(axis, value, to) for value in range(len(axis.values))]
  out = {
    word: _rule(axis, word, (value, to), forms, joined[value], strict, apart)
    for word, (value, forms) in listed.items()
    if to(value) != value
  }
  one_value = not apart and axis.together == 'value'
  if axis.together == 'all':
    rest = _any_stays(frozenset(listed), dict(out))
  elif apart or one_value:
    rest = _others_stay(axis, listed, one_value, to)
  else:
    rest = lambda *at: False
  out = {word: _where(one, rest, listed[word][0]) for word, one in out.items()}
  return out | dict.fromkeys(axis.no, lambda *at: None)


def _where(
  one: Rule, rest: Callable[[str, int, int], bool], value: int
) -> Rule:
  """The rule, unsure where the rest of a sentence stays."""

  def rule(text: str, start: int, end: int) -> str | None:
    new = one(text, start, end)
    return '' if new and rest(text, start, value) else new

  return rule


def _any_stays(
  words: frozenset[str], turned: dict[str, Rule]
) -> Callable[[str, int, int], bool]:
  """Whether a word of any value is in the sentence and would not turn."""
  every = pattern(words)

  def rest(text: str, start: int, own_value: int) -> bool:
    return any(
      low in turned and not turned[low](text, *one.span())
      for one in every.finditer(text, *bounds(text, start))
      for low in [one[0].lower()]
    )

  return rest


def _others_stay(
  axis: Axis, listed: dict, one_value: bool, to: Callable[[int], int]
) -> Callable[[str, int, int], bool]:
  """Whether a sentence has a word of the axis, or a value, that would be left.

  Where the rich are not exchanged, nor are the poor whom they meet; nor people
  beside the name of their act or union. What has no word for one of them would
  be two values: autistic people and the mentally ill; two words would be one
  for an amputee who is disabled.
  """
  every, no = pattern(frozenset(listed)), pattern(axis.no)
  described, own = _adjectives(axis), _singles(axis)

  def rest(text: str, start: int, own_value: int) -> bool:
    at = bounds(text, start)
    if not one_value and no.search(text, *at):
      return True
    texts, kinds = set(), set()
    for one in every.finditer(text, *at):
      low = one[0].lower()
      value, forms = listed[low]
      if one_value and value != own_value:
        continue
      form = form_of(text, *one.span(), low, forms, described, own)
      if not form or pattern(axis.stays[value]).search(text, *at):
        return True
      cell = forms[form][1].cells[to(value)]
      texts.add(bool(cell and cell[0].text))
      kinds.add(low.split()[0].removesuffix('s'))
    return one_value and (len(texts) > 1 or len(kinds - {'people'}) > 1)

  return rest


def _rule(
  axis: Axis,
  low: str,
  turn: tuple[int, Callable[[int], int]],
  forms: dict,
  joined: dict[str, frozenset[str]],
  strict: bool,
  apart: bool,
) -> Rule:
  """What one word becomes where it stands; None leaves it, '' is unsure.

  Words that stay `apart` stay where the sentence names the target as well.
  """
  value, to = turn
  way = value, to(value)
  stays = pattern(axis.stays[value])
  avoid = [
    pattern(always if strict else always | unasked)
    for always, unasked in zip(axis.avoid, axis.unasked)
  ]
  described, own = _adjectives(axis), _singles(axis)
  words, together = of_values(axis), axis.together == 'all'
  # Two that are one word already stay so: black men and black women.
  first = low.split()[0]
  others = {
    word: turned for word, turned in joined.items() if word.split()[0] != first
  }

  def taken(text: str, at: int) -> bool:
    """Whether another word of the sentence becomes value `at` too."""
    other = (at - way[1] + value) % len(words)
    return other != value and bool(words[other].search(text))

  def is_told(cell: tuple[Word, ...], own: re.Pattern, around: str) -> bool:
    """Whether a word of contrast would be told of nobody that asked."""
    contrast = bool(cell) and cell[0].only == 'c' and not strict
    return contrast and not own.search(around)

  def rule(text: str, start: int, end: int) -> str | None:
    form = form_of(text, start, end, low, forms, described, own)
    if form is None:
      return None
    around = sentence(text, start)
    if stays.search(around) or (apart and words[way[1]].search(around)):
      return ''
    if ' with ' in low and found('ails', text, start, end):
      return ''
    one, row = forms[form]
    if ' ' in low and is_shared(text, start, described):
      row = with_noun(axis, low) or row
    cells = (
      () if no.search(around) or is_told(cell, own_words, around) else cell
      for cell, no, own_words in zip(row.cells, avoid, words)
    )
    row = Row(row.form, tuple(cells))
    new = _written(row, way, text, (start, end), strict, taken)
    if not new or (not together and _stands_already(new, text, start, end)):
      return ''
    if is_paired(text, start, end, new.lower(), others):
      return ''
    if form == 'group' and _is_singular(new, next_word(text, end)[0].lower()):
      return ''
    body = form == 'group' and found('one_body', text, start, end)
    if body and not new.endswith('class'):  # of a class: members of it, itself
      return ''
    if new == 'poor' and is_pitied(text, start):
      return ''
    return cased(text, start, text[start:end], one.text, new)

  return rule


def _is_singular(new: str, after: str) -> bool:
  """The poor are, and the working class is or are; the blind was a window's."""
  verb = after in SETS.singular_verbs or (
    after.endswith('s') and after[:-1] in SETS.senses_acts
  )
  return verb and not new.endswith('class')


@functools.cache
def _adjectives(axis: Axis) -> frozenset[str]:
  return frozenset(
    w for w, _, _, row in axis.words() if row.form == 'adjective'
  )


@functools.cache
def of_values(axis: Axis) -> tuple[re.Pattern, ...]:
  """The words of each value."""
  words: dict[int, set[str]] = {k: set() for k in range(len(axis.values))}
  for word, value, *_ in axis.words():
    words[value].add(word)
  return tuple(pattern(frozenset(one)) for one in words.values())


@functools.cache
def _singles(axis: Axis) -> frozenset[str]:
  """Single words for people of one value: a young girl says it twice."""
  return frozenset(
    word
    for word, _, one, row in axis.words()
    if row.form in ('noun', 'nouns') and one.people and ' ' not in word
  )


def cased(text: str, start: int, old: str, listed: str, new: str) -> str:
  """`new` as somebody writes it who wrote `old` for the listed word.

  Muslim → atheist and black → Asian, but where a text has muslim, asian.
  """
  if len(old) > 1 and old.isupper() and not (listed.isupper()):
    return new.upper()
  if old.islower():
    return new.lower() if listed[0].isupper() else new
  if (
    listed[0].isupper() and not opens(text, start) and not _titled(text, start)
  ):
    return new
  # No name is of several words: Deaf men, and mentally ill men.
  among = re.search(r'[a-z],? $', text[:start]) and ' ' not in old
  if among and ' ' in new and next_word(text, start + len(old))[0].islower():
    return new
  return new[:1].upper() + new[1:]


def _titled(text: str, start: int) -> bool:
  """Whether words that need none have a capital too: Gay Men in Church."""
  before = last_word(text, start)
  return (
    before[:1].isupper()
    and before.lower() in SETS.enders
    and (before not in ('I',) and not opens(text, start - len(before) - 1))
  )


def _written(
  row: Row,
  way: tuple[int, int],
  text: str,
  span: tuple[int, int],
  strict: bool,
  taken: Callable[[str, int], bool],
) -> str:
  """The word of the target; where it has none that agrees, of the next."""
  (value, target), size = way, len(row.cells)
  for step in range(1 if strict else size):
    at = (target + step) % size
    cell = row.cells[at]
    if at == value or not cell or not cell[0].text:
      continue
    last = re.escape(cell[0].text.split()[-1].lower())
    twice = re.match(rf' {last}(?!\w)', text[span[1] :].lower())
    if step and taken(sentence(text, span[0]), at):
      return ''  # gay and lesbian: not bisexual and bisexual
    several = cell[0].only == 's'
    if step and several:
      continue
    # Somebody who asks for a value has it of one as well.
    free = several and (strict or row.form in ('nouns', 'group'))
    if not twice and (free or _agrees(cell[0].only, text, *span)):
      return cell[0].text
  return ''


def _stands_already(new: str, text: str, start: int, end: int) -> bool:
  """Whether the word stands there already: children and young people."""
  low = new.lower()
  joined = (' and', ' or', ' &', ',')
  before, behind = text[:start].lower().rstrip(), text[end:].lower().lstrip()
  return any(
    before.endswith(low + word) or behind.startswith(f'{word.strip()} {low}')
    for word in joined
  )


def _agrees(only: str, text: str, start: int, end: int) -> bool:
  """lesbian is said of women, straight of people, nonbinary of neither sex.

  Nobody is called able-bodied: several are.
  """
  if only in ('', 'c'):
    return True
  low = next_word(text, end)[0].lower()
  if only == 'a':
    noun = before_people(text, end, SETS.describing)
    return bool(noun) and noun not in SETS.grown | SETS.professions
  if only == 'n':
    noun = before_people(text, end, SETS.describing)
    sided = people.masculine() | people.feminine()
    return sided.isdisjoint((low, noun))
  if only == 's':
    noun = before_people(text, end, SETS.describing)
    return noun.endswith('s') or noun in SETS.several
  around = sentence(text, start)
  if only == 'p':
    predicate = is_no_noun(low) or before_people(text, end)
    return bool(predicate) and not found('coming_out', text, start)
  words = re.findall(r'[a-z]+', around.lower())
  if is_no_noun(low) and people.feminine().isdisjoint(words):
    return False
  return people.masculine().isdisjoint(words)
