"""Counterfactual text by dictionary: each text with the other group's words.

`swap(column)` returns the texts, and for each row the spans (start, end, old,
new) in the original text, so reports and scores know which rows have a twin.
Words are found by one vectorised scan of the column (scan.py); only ambiguous
ones (her, his, lady, …) look at their neighbours (context.py).
Counterfactual data augmentation as in Zhao et al. 2018 (arXiv 1804.06876) and
Hall Maudslay et al. 2019 (arXiv 1909.00871), with our own lists and rules.
"""

import functools
import hashlib
import os
import re
from collections.abc import Callable, Container, Mapping, Sequence

from fairjax.config import Method
from fairjax.core import memory
from fairjax.core.errors import UserError, need, shown
from fairjax.data.corpora.shards import Span, Swapped
from fairjax.pairs.axes import exchange
from fairjax.pairs.swapping import (
  context,
  fixed_names,
  neutral,
  scan,
  tags,
  word_lists,
)
from fairjax.pairs.swapping import names as people
from fairjax.pairs.swapping.listed import Hit, Listed, match_case
from fairjax.pairs.word_sets import SETS

# Words that begin with the letter of a vowel and the sound of none.
CONSONANT = ('uni', 'eu', 'one', 'use', 'ukr', 'uga', 'uru')
_ARTICLE = re.compile(r'\b(an?) $', re.IGNORECASE)
SCOPES = ('all', 'pronouns')
PRONOUNS = 'he she him her his hers himself herself hes shes'.split()


def swap(texts: Sequence[str], *args, **options) -> Swapped:
  """The counterfactual of each text of a column; see `swapper`."""
  return swapper(*args, **options)(texts)


def options(method: Method, seed: int, **instead) -> dict:
  """The keywords of `swap` that a config's method says; `instead` overrides.

  First names go with genders: a list of other groups leaves them alone, and so
  does one of another language, whose names ours are not.
  """
  axis, words = instead.get('axis', method.axis), method.words
  known = word_lists.load(instead.get('words', words) or None)
  use_names = method.names and axis == 'gender' and bool(known.sides)
  use_names &= bool(method.names_file) or word_lists.is_english(known.rows)
  return {
    'direction': method.direction,
    'words': method.words or None,
    'names': (method.names_file or True) if use_names else None,
    'seed': seed,
    'tagger': method.tagger or None,
    'scope': method.scope,
    'axis': method.axis,
    **instead,
  }


def swap_every(texts: Sequence[str], words=None, **options) -> list[Swapped]:
  """All alternatives of groups with more than two members, one column each."""
  axis = options.get('axis', 'gender')
  if axis != 'gender':
    size = len(exchange.values(axis))
  else:
    size = max(len(row) for row in word_lists.load(words).rows)
  return [
    swapper(words=words, step=step, **options)(texts) for step in range(1, size)
  ]


def swapper(
  direction: str = 'opposite',
  words: str | os.PathLike | Sequence[Sequence[str]] | None = None,
  names: bool | str | os.PathLike | dict[str, str] | None = None,
  seed: int = 0,
  tagger: str | Callable | None = None,
  handles: bool = False,
  step: int = 0,
  scope: str = 'all',
  axis: str | os.PathLike = 'gender',
) -> Callable[..., Swapped]:
  """The swap of a column, made ready once for many.

  Args:
    direction: 'opposite', 'male', 'female' or 'neutral' (singular they); of
      another axis 'opposite' or the name of a value.
    words: None for our own gender list, else a file of word groups (or the
      groups): each text turns to one other member, the same step along each
      group, drawn from the seed and the text.
    names: True swaps first names by our own list, a path by the user's counts,
      a dict by that map; None leaves names alone.
    seed: of the draw among more than two groups.
    tagger: 'spacy:MODEL' or a function text -> {start: tag}, asked only about
      texts with `her` or `his`; None decides by rules.
    handles: also swap hashtags and @handles that are a listed word.
    step: of more than two groups or values, the one turn that is made.
    scope: 'all' listed words, or 'pronouns' alone: no noun, title or name.
    axis: 'gender', another of pairs/axes ('religion', 'age', …), or a file of
      the user's; each text turns to one other value, drawn from the seed and
      the text, or where that exchange is sure of no word to the next. Names,
      scope and tagger are of gender.

  The function of a column returns a row without a listed word as it is. Its
  second argument, `starts`, says for each text where the only words stand that
  may change (chain.py).
  """
  _check_choice('scope', scope, SCOPES)
  if axis != 'gender':
    if words or names:
      raise UserError(
        f'axis is {os.fspath(axis)!r}, and words and names are of gender or of '
        'no axis; leave them, or leave axis'
      )
    return _run(exchange.turns(axis, direction, step), seed, handles)
  _check_choice('direction', direction, tuple(_PICK))
  known = word_lists.load(words)
  called = people.load(names if scope == 'all' else None)
  if known.sides:
    turns = [gender_entries(known, direction)]
    if scope == 'pronouns':
      turns = [{w: turns[0][w] for w in PRONOUNS if w in turns[0]}]
    if direction == 'neutral':
      turns[0] |= dict.fromkeys(('himself', 'herself'), 'themselves')
  elif direction == 'opposite':
    size = max(len(row) for row in known.rows)
    turns = [_turned(known, k) for k in ([step] if step else range(1, size))]
  else:
    raise UserError(
      f'direction {direction!r} needs a gender list; begin the word file '
      "with the line 'male,female' or 'male,female,neutral'"
    )
  pick = _PICK[direction]

  def write(sense, word: str) -> str:
    new = pick(sense, word.lower())
    return new and match_case(word, new)

  tag = tags.load(tagger)
  agrees = word_lists.is_english(known.rows)
  return _run(turns, seed, handles, write, direction, called, tag, agrees)


def _run(
  turns: Sequence[Mapping[str, object]],
  seed: int,
  handles: bool,
  write: Callable = lambda new, word: new,
  direction: str = 'opposite',
  called: people.Names | None = None,
  tag: Callable | None = None,
  agrees: bool = True,
) -> Callable[..., Swapped]:
  """The function of columns; `write` spells what a rule of `turns` found.

  Articles agree where words are English: a el profesor has none.
  """
  called = people.load(None) if called is None else called
  tables = [Listed(e, called, handles, write) for e in turns]
  orders = [tables[turn:] + tables[:turn] for turn in range(len(tables))]
  find = scan.Scan(set().union(*(table.keys() for table in tables)))

  def run(
    texts: Sequence[str], starts: Sequence[Container[int]] | None = None
  ) -> Swapped:
    texts = _checked(texts)
    with memory.uncollected():
      return changed(texts, starts)

  def changed(
    texts: list[str], starts: Sequence[Container[int]] | None
  ) -> Swapped:
    out = Swapped(texts.copy(), [[] for _ in texts], [0] * len(texts))
    for row, first, last in find(texts):
      text = texts[row]
      turn = draw(seed, text, len(tables)) if len(tables) > 1 else 0
      # Where the drawn exchange is unsure of every word, the next is tried.
      for table in orders[turn]:
        hits = table.hits(text, first, last)
        if starts is not None:
          hits = [hit for hit in hits if hit[0] in starts[row]]
        spans, left = _spans(text, hits, direction, called, tag, write, agrees)
        if left:
          out.left[row] = out.left[row] or left
        if spans:
          out.spans[row], out.left[row] = spans, left
          out.texts[row] = put_spans(text, spans)
          break
    return out

  return run


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
  need(
    isinstance(value, str) and value in choices,
    *(name, value, f'it must be one of {choices}'),
  )


def _checked(texts: Sequence[str]) -> list[str]:
  """The column as a list, or a sentence that names the row without text."""
  if isinstance(texts, str):
    raise UserError(
      'swap takes a column of texts; put the one text into a list'
    )
  texts = list(texts)
  if not set(map(type, texts)) <= {str}:
    for number, text in enumerate(texts):
      if not isinstance(text, str):
        raise UserError(
          f'row {number} is not a text but {shown(text)}; drop it or write '
          'a text in it'
        )
  return texts


def draw(seed: int, text: str, size: int) -> int:
  """A uniform draw that depends on nothing but the seed and the text."""
  digest = hashlib.blake2b(f'{seed}:{text}'.encode(errors='surrogatepass'))
  return int.from_bytes(digest.digest()[:8], 'big') % size


def _articles(text: str, spans: list[Span]) -> list[Span]:
  """a uncle -> an uncle: articles right before words that changed sound."""
  result = []
  for start, _, old, new in spans:
    if start < 2 or text[start - 2] not in 'aAnN' or text[start - 1] != ' ':
      continue
    article = _ARTICLE.search(text, max(0, start - 4), start)
    if article and _vowel(old) != _vowel(new):
      other = match_case(article[1], 'an' if _vowel(new) else 'a')
      result.append((*article.span(1), article[1], other))
  return result


def _vowel(word: str) -> bool:
  """Whether a word begins with the sound of a vowel."""
  low = word[:4].lower()
  if low.startswith(('heir', 'hour', 'hono', 'hone')):
    return True
  if low[:1].isdigit():
    return low.startswith('8') or (
      low[:2] in ('11', '18') and low[2:3] in '-s '
    )
  return low[:1] in 'aeiou' and not low.startswith(CONSONANT)


def replaced(text: str, spans: list[Span]) -> str:
  """The text with `spans` in it, the articles before them agreeing."""
  return put_spans(text, sorted(spans + _articles(text, spans)))


def put_spans(text: str, spans: list[Span]) -> str:
  pieces: list[str] = []
  add = pieces.append
  last = 0
  for start, end, _, new in spans:
    add(text[last:start])
    add(new)
    last = end
  add(text[last:])
  return ''.join(pieces)


def _spans(
  text: str,
  hits: list[Hit],
  direction: str,
  called: people.Names,
  tag: Callable | None,
  write: Callable[[object, str], str],
  agrees: bool,
) -> tuple[list[Span], int]:
  """What changes in one text, and how many words have no sure counterpart."""
  spans: list[Span] = []
  named = []
  unsure_words = 0
  senses = tag(text) if tag and tags.needed(hits) else {}
  for hit in hits:
    start, end, word, entry = hit
    if type(entry) is str:
      if entry:
        spans.append((start, end, word, entry))
      else:
        unsure_words += 1
    elif callable(entry):
      low = word.lower()
      sense = tags.sense(low, senses.get(start)) if senses else None
      sense = sense or entry(text, start, end)
      new = word if sense is None else write(sense, word)
      if not new:
        unsure_words += 1
      elif new.lower() != low:
        spans.append((start, end, word, new))
    else:  # people.NAME
      named.append(hit)
  if named:
    turned = called.swap(text, named, direction, bool(spans))
    spans = sorted(spans + turned) if spans else turned
  articles = _articles(text, spans) if agrees else []
  if articles:
    spans = sorted(spans + articles)
  if direction == 'neutral':
    verbs, unsure = neutral.agree(text, spans)
    spans = sorted(spans + verbs)
    unsure_words += unsure
  return spans, unsure_words


_PICK: dict[str, Callable[[tuple[str, ...], str], str]] = {
  'opposite': lambda row, word: row[word == row[0]],
  'male': lambda row, word: row[0],
  'female': lambda row, word: row[1],
  'neutral': lambda row, word: row[2],
}


def gender_entries(
  known: word_lists.WordLists, direction: str
) -> dict[str, object]:
  """word -> new word, '' where none is sure, or a rule."""
  if direction == 'neutral' and len(known.sides) < 3:
    raise UserError(
      "direction 'neutral' needs a word list whose first line is "
      "'male,female,neutral'"
    )
  pick = _PICK[direction]
  entries: dict[str, object] = {}
  ours = known.rows == word_lists.gender().rows
  side = 0 if direction in ('opposite', 'male') else 1
  for listed in (known, word_lists.addresses()) if ours else (known,):
    for row in listed.rows:
      for word in row[:2]:
        entries.setdefault(word, pick(row, word))
    for here, one_way in enumerate((listed.to_male, listed.to_female)):
      for word, partner in one_way.items():
        if direction == 'neutral':
          entries[word] = entries.get(partner, '')
        elif direction == 'opposite' or here == side:
          entries[word] = partner
  stays = set() if direction == 'neutral' else SETS.mankind
  for word in [w for w, new in entries.items() if w == new or w in stays]:
    del entries[word]
  if not word_lists.is_english(known.rows):
    return entries
  # A user's list turns the titles that it has, and pronouns in any case.
  rules = context.rules(known.rows, titles=ours)
  stay = _SURE.get(direction, ())
  entries.update({w: r for w, r in rules.items() if w not in stay})
  for word in fixed_names.places().keys() & entries.keys():
    if isinstance(new := entries[word], str):  # Ms. Magazine stays
      always = functools.partial(lambda new, *_: (new,) * 3, new)
      entries[word] = context.unless_fixed(always)
  return entries


# Words with a rule that are of one gender in every sense.
_SURE = {
  'male': frozenset('his him lord lords mister sir count god'.split()),
  'female': frozenset('her hers lady ladies miss dame chick chicks'.split()),
}


def genders(words, names) -> dict[str, int]:
  """What a swapped word or name says: 0 a man, 1 a woman."""
  known, called = word_lists.load(words), people.load(names)
  out = dict.fromkeys(called, 1) | dict.fromkeys(called.male, 0)
  for listed in (word_lists.addresses(), known):
    out |= word_lists.genders(listed)
  for side, sure in enumerate(_SURE.values()):
    out |= dict.fromkeys(sure, side)
  return out


def _turned(known: word_lists.WordLists, step: int) -> dict[str, object]:
  """word -> the word `step` places on in its group, never itself."""
  entries: dict[str, object] = {}
  for group in known.rows:
    turn = 1 + (step - 1) % (len(group) - 1)
    for place, word in enumerate(group):
      entries[word] = group[(place + turn) % len(group)]
  return entries | known.to_male | known.to_female
