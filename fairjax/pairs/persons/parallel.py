"""Parallel text for perturbers: one person turned, everybody else untouched.

Each source is a table of `TurnRow`s; `read` joins those asked for. What is gold
comes from people, what is silver from our rules:

  geco         sentences whose subject was turned by people's labels and, in
               training, the one other word of gender that a text has; gold
  gap          Wikipedia snippets, one named person turned: the annotated
               pronoun is people's, other mentions are our rules'; silver
  winobias     sentences that differ in one pronoun; gold
  winogender   likewise, and the singular they; gold
  descriptors  age and race in templates, by our own lists; gold by making

A sentence and its turns are in one split; GECO and GAP hold out persons.
"""

import hashlib
import json
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax.core import paths
from fairjax.core.errors import UserError
from fairjax.pairs.persons import chain, perturb
from fairjax.pairs.swapping import pronouns, swap_eval

STREAM = 61  # of this file's random numbers
_OTHER = {'male': 'woman', 'female': 'man'}


class TurnRow(NamedTuple):
  """One turn of a person; `places` are what people's labels demand of words."""

  id: str
  source_name: str
  word: str
  attribute: str
  axis: str
  text: str
  target: str
  split: str
  gold: bool
  places: str = ''


def split_of(key: str, seed: int, test: float = 0.2) -> str:
  """train, valid or test, a function of the key alone."""
  digest = hashlib.blake2b(f'{seed}:{key}'.encode()).digest()
  place = int.from_bytes(digest[:8], 'big') / 2**64
  return 'test' if place < test else 'valid' if place < test + 0.1 else 'train'


def _first(text: str, start: int, word: str) -> bool:
  """Whether the word is the first of its kind, so that a prompt is clear."""
  return chain.find(text, word)[0] == start


def geco(folder: pathlib.Path, seed: int = 0) -> pd.DataFrame:
  """GECO `subj`: the subject of a sentence in the other gender, both ways.

  Where GECO `all` turns one word more, that word is somebody else's: a row of
  its own, though of no text that is held out.
  """
  files = (f'binary_gender_{kind}_train.jsonl' for kind in ('subj', 'all'))
  subjects, everybody = (
    swap_eval.geco_sides(_there(folder / 'geco' / file)) for file in files
  )
  rows, unclear = [], 0
  for number, both in sorted(subjects.items()):
    for one, other in (('male', 'female'), ('female', 'male')):
      source, target = both[one], both[other]
      if 1 not in source['ground_truth']:
        unclear += 1
        continue
      words = [word.strip() for word in source['sentence']]
      place = source['ground_truth'].index(1)
      text = ' '.join(words)
      twin = ' '.join(word.strip() for word in target['sentence'])
      start = len(' '.join(words[:place])) + (place > 0)
      if text == twin or not _first(text, start, words[place]):
        unclear += 1
        continue
      split = split_of(f'geco:{number}', seed)
      about = f'geco:{number}:{one}', 'geco', words[place], _OTHER[one]
      row = TurnRow(*about, 'gender', text, twin, split, True)
      rows.append(row)
      if split != 'test' and number in everybody:
        rows += _somebody_else(row, source, everybody[number], one)
  result = pd.DataFrame(rows, columns=TurnRow._fields)
  result.attrs['left out'] = {
    'geco: unchanged, or the word is not the first': unclear
  }
  return result


def _somebody_else(
  row: TurnRow, source: dict, both: dict[str, dict], one: str
) -> list[TurnRow]:
  """A row that turns the one word of gender that is not the subject's."""
  words = row.text.split(' ')
  sides = {g: [w.strip() for w in both[g]['sentence']] for g in _OTHER}
  marks = zip(both[one]['ground_truth'], source['ground_truth'])
  places = [k for k, (every, own) in enumerate(marks) if every and not own]
  if len(places) != 1 or any(len(s) != len(words) for s in sides.values()):
    return []
  (k,) = places
  start = len(' '.join(words[:k])) + (k > 0)
  known = sides['male'][k] != sides['female'][k]
  gender = next((g for g in sides if sides[g][k] == words[k]), '')
  if not (known and gender and _first(row.text, start, words[k])):
    return []
  other = 'female' if gender == 'male' else 'male'
  target = [*words[:k], sides[other][k], *words[k + 1 :]]
  return [
    row._replace(
      id=f'{row.id}:other',
      word=words[k],
      attribute=_OTHER[gender],
      target=' '.join(target),
    )
  ]


def _turned_pronoun(text: str, start: int, end: int) -> str:
  """The other gender's form of a pronoun, in its place."""
  word = text[start:end].lower()
  if word == 'her':
    row = pronouns.her(text, start, end)
  elif word == 'his':
    row = pronouns.his(text, start, end)
  else:
    he = ('he', 'she', '')
    rows = {'he': he, 'she': he, 'him': pronouns.OBJECT, 'hers': pronouns.ALONE}
    row = rows[word]
  return row[word == row[0]]


def gap(folder: pathlib.Path, seed: int = 0) -> pd.DataFrame:
  """GAP: a named person and its annotated pronoun, cut to their sentences.

  `places` says of words what people's labels demand: the pronoun turned, the
  other name as it is ('') and the own name another ('*'). A name without a
  counterpart stays in the target; held-out persons are asked all the same.
  """
  base = folder / 'bias_eval' / 'gap'
  rows, unclear = [], 0
  for name in ('development', 'validation'):
    table = swap_eval.tsv(_there(base / f'gap-{name}.tsv'))
    for record in table.to_dict('records'):
      row = _person(record)
      test = name == 'validation'
      if row is None or (not test and row.text == row.target):
        unclear += 1
        continue
      split = 'test' if test else split_of(row.id, seed, 0)
      rows.append(row._replace(split=split))
  result = pd.DataFrame(rows, columns=TurnRow._fields)
  result.attrs['left out'] = {'gap: no name, or nothing that turns': unclear}
  return result


def _person(record: dict) -> TurnRow | None:
  """One row of GAP as a perturbation of the person that the pronoun is."""
  text, at = record['Text'], int(record['Pronoun-offset'])
  ours = [s for s in 'AB' if record[f'{s}-coref'].upper() == 'TRUE']
  if not ours:
    return None
  own, other = (ours[0], 'B' if ours[0] == 'A' else 'A')
  name, start = record[own], int(record[f'{own}-offset'])
  low, high = _sentences(text, min(start, at), max(start + len(name), at + 3))
  text = text[low:high]
  start, at, pronoun = start - low, at - low, record['Pronoun']
  word = name.split()[0]
  female = pronoun.lower() in ('she', 'her', 'hers')
  attribute = 'man' if female else 'woman'
  if not _first(text, start, word):
    return None
  target, spans = chain.turn(
    text, start, start + len(word), attribute, known=[at]
  )
  places = {_place(text, at): _turned_pronoun(text, at, at + len(pronoun))}
  if any(span[0] == start for span in spans):
    places[_place(text, start)] = '*'
  rival = int(record[f'{other}-offset']) - low
  if 0 <= rival < len(text):
    places[_place(text, rival)] = ''
  return TurnRow(
    *(f'gap:{record["ID"]}', 'gap', word, attribute, 'gender', text, target),
    *('', False, json.dumps(places)),
  )


def words(text: str) -> list[str]:
  """The words of a text, as `places` counts them."""
  return perturb.WORD.findall(text)


finditer = perturb.WORD.finditer


def starts(text: str) -> list[int]:
  """Where a swap finds each word: after the marks of '_she_'."""
  return [
    m.end() - len(m[0].lstrip('_')) if m[0].strip('_') else m.start()
    for m in finditer(text)
  ]


def _place(text: str, start: int) -> int:
  return len(perturb.WORD.findall(text[:start]))


def _sentences(text: str, low: int, high: int) -> tuple[int, int]:
  """The whole sentences that hold text[low:high]."""
  ends = [m.end() for m in re.finditer(r'(?<=[a-z0-9)"”])[.!?]["”]?\s+', text)]
  first = max((e for e in ends if e <= low), default=0)
  last = min((e for e in ends if e >= high), default=len(text))
  return first, len(text[:last].rstrip())


def winobias(folder: pathlib.Path, seed: int = 0) -> pd.DataFrame:
  """WinoBias: the sentence with the other pronoun."""
  pairs = swap_eval.winobias(folder / 'bias_eval' / 'winobias')
  return _twins('winobias', pairs, seed)


def winogender(folder: pathlib.Path, seed: int = 0) -> pd.DataFrame:
  """Winogender: the other pronoun, and the singular they."""
  base = folder / 'bias_eval' / 'winogender'
  pairs = swap_eval.winogender(base) + swap_eval.winogender(base, 'neutral')
  return _twins('winogender', pairs, seed)


_TURNS = {
  **dict.fromkeys(('he', 'him', 'his', 'himself'), 'man'),
  **dict.fromkeys(('she', 'her', 'hers', 'herself'), 'woman'),
  **dict.fromkeys(('they', 'them', 'their', 'themself'), 'non-binary'),
}


def _twins(name: str, pairs, seed: int) -> pd.DataFrame:
  """Sentences that differ in pronouns: the first of them is the word."""
  rows, unclear = [], 0
  for number, (text, target) in enumerate(pairs):
    each = zip(words(text), words(target))
    changes = ((a, b) for a, b in each if a.lower() != b.lower())
    change = next(changes, ('', ''))
    attribute = _TURNS.get(change[1].lower())
    if not attribute or change[0].lower() not in _TURNS:
      unclear += 1
      continue
    key = ' '.join(w for w in words(text) if w.lower() not in _TURNS)
    split = split_of(f'{name}:{key}', seed)
    row = f'{name}:{number}', name, change[0], attribute, 'gender', text, target
    rows.append(TurnRow(*row, split, True))
  result = pd.DataFrame(rows, columns=TurnRow._fields)
  result.attrs['left out'] = {f'{name}: no pronoun differs': unclear}
  return result


_FILE = pathlib.Path(__file__).with_name('templates.csv')
_TEMPLATES = [row[0] for row in paths.csv_lines(_FILE, 'templates')]
_NOUNS = ('person', 'woman', 'man', 'doctor', 'teacher', 'student', 'driver')


def descriptors(folder: pathlib.Path, seed: int = 0) -> pd.DataFrame:
  """Age and race: a descriptor before a noun becomes another attribute's.

  Of each attribute half of its other descriptors are met in training only.
  """
  rng = np.random.default_rng([seed, STREAM])
  rows = []
  for axis in ('age', 'race'):
    for own in perturb.AXES[axis]:
      for word in perturb.DESCRIPTORS[own]:
        for other in perturb.AXES[axis]:
          if other != own:
            rows += _described(rng, axis, word, own, other, seed)
  return pd.DataFrame(rows, columns=TurnRow._fields)


def _described(rng, axis, word, own, other, seed) -> list[TurnRow]:
  out = []
  for k in rng.choice(len(_TEMPLATES), 3, replace=False):
    template, noun = _TEMPLATES[k], _NOUNS[rng.integers(len(_NOUNS))]
    phrase = f'{"an" if word[0].lower() in "aeiou" else "a"} {word} {noun}'
    text = template.format(phrase)
    text = text[0].upper() + text[1:]
    start = text.lower().index(f' {word.lower()} ') + 1
    target = perturb.redescribed(text, start, start + len(word), other)
    key = f'descriptors:{k}:{word}:{noun}:{other}'
    split = split_of(f'{template}{own}{noun}', seed)
    row = key, 'descriptors', word, other, axis, text, target
    out.append(TurnRow(*row, split, True))
  return out


SOURCES: dict[str, Callable] = {
  **{'geco': geco, 'gap': gap, 'winobias': winobias, 'winogender': winogender},
  'descriptors': descriptors,
}


def read(
  names: Sequence[str], folder: str | os.PathLike, seed: int = 0
) -> pd.DataFrame:
  """The sources asked for as one table; what was left out is in its attrs."""
  tables = []
  out: dict[str, int] = {}
  for name in names:
    table = SOURCES[name](pathlib.Path(folder), seed)
    out |= table.attrs.get('left out', {})
    if not len(table):
      raise UserError(
        f'source {name!r} of parallel text has no pair; leave it out'
      )
    tables.append(table)
  result = clear(pd.concat(tables, ignore_index=True))
  result.attrs['left out'] = out | result.attrs['left out']
  return result


def clear(table: pd.DataFrame) -> pd.DataFrame:
  """Without training rows whose text is also held out, or written twice."""
  held = set(table.loc[table['split'] != 'train', 'text'])
  held |= set(table.loc[table['split'] != 'train', 'target'])
  leaks = (table['split'] == 'train') & (
    table['text'].isin(held) | table['target'].isin(held)
  )
  clean = table[~leaks]  # first: of a row in both splits the held-out one stays
  again = clean.duplicated(['word', 'attribute', 'text', 'target'])
  result = clean[~again].reset_index(drop=True)
  result.attrs['left out'] = {
    'training rows whose text is held out': int(leaks.sum()),
    'rows written twice': int(again.sum()),
  }
  return result


def _there(path: pathlib.Path) -> pathlib.Path:
  """The path of a file that can be read."""
  try:
    path.read_bytes()
    return path
  except OSError as error:
    raise UserError(
      f'cannot read {path}; name the folder that holds geco/ and bias_eval/ '
      'with --config.perturb.data'
    ) from error
