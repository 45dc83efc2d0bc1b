"""Sentences and what each becomes, by sheet: sheets/*.csv.

kept.csv, mended.csv and persons.csv hold what rules were written for, held.csv
sentences of the kinds of mended.csv that were written first and read at the
end, further.csv halves of either sort; names.csv says which words are first
names. `back`: the twin leads back; `left`: how many words had no sure
counterpart; `options`: of the swap.
"""

import csv
import functools
import pathlib
import re

import pytest

from fairjax.pairs.persons import chain, perturb
from fairjax.pairs.swapping import dictionary, names

VALUES = {'yes': True, '1': 1, '2': 2}


def read(name: str) -> list[dict[str, str]]:
  path = pathlib.Path(__file__).parent / 'sheets' / f'{name}.csv'
  with open(path, encoding='utf-8', newline='') as file:
    return list(csv.DictReader(file))


swapper = functools.cache(dictionary.swapper)  # of each kind once


def written(row: dict[str, str], key: str = 'text', seed: int = 0):
  options = {'axis': row['axis'], 'seed': seed} | {
    name: VALUES.get(value, value)
    for name, value in re.findall(r'(\w+)=(\w+)', row.get('options') or '')
  }
  return swapper(row['direction'], **options)([row[key]])


KEPT = read('kept')


@pytest.mark.parametrize('axis', sorted({row['axis'] for row in KEPT}))
def test_sentences_become_what_they_became(axis):
  rows = [row for row in KEPT if row['axis'] == axis]
  for row in rows:
    # Class has two exchanges, of which each text draws one.
    for seed in range(4 if axis == 'class' else 1):
      found = written(row, seed=seed)
      assert found.texts == [row['twin']]
      assert not row['left'] or found.left == [int(row['left'])]
    if row['back']:
      assert written(row, 'twin').texts == [row['text']]


def test_sentences_that_no_rule_was_written_for():
  """her as an object, ages of relatives, offices and names: .95 of 100."""
  one = lambda row: row['twin'] == written(row).texts[0]
  assert all(map(one, read('mended')))
  assert sum(map(one, read('held'))) >= 95
  # First .82 and, withheld, .90; by a second writer .90, .92, after rules for
  # both of hers .96; by a fourth .89, .91, after rules for one half .94; by a
  # fifth .92 and, withheld, .95, after rules too; of `own`, like these, .53.
  halves = {'': 98, 'yes': 98, 'second': 120, 'second, withheld': 118}
  halves |= {'third, withheld': 117, 'fourth': 104, 'fourth, withheld': 102}
  halves |= {'fifth': 119, 'fifth, withheld': 118, 'own': 153}
  for half, least in halves.items():
    rows = [row for row in read('further') if row['withheld'] == half]
    assert len(rows) >= 100 and sum(map(one, rows)) >= least


@pytest.mark.parametrize('row', read('persons'), ids=lambda row: row['word'])
def test_one_person_is_turned_and_nobody_else(row):
  place = chain.find(row['text'], row['word'])
  found = perturb.by_rules(row['text'], *place, row['attribute'])
  assert found == row['target']


def test_first_names_are_told_from_words_and_places():
  known, swap = names.load(True), dictionary.swapper(names=True)
  for row in read('names'):
    spans = swap([row['text']]).spans[0]
    found = [old for _, _, old, _ in spans if old.lower() in known]
    found = [old for old in found if old.lower() not in ('king', 'queen')]
    wanted = row['persons'].split()
    if wanted == ['Will', 'Will']:  # one mention says so, a question does not
      found, wanted = found[:1], wanted[:1]
    assert found == wanted, row['text']
