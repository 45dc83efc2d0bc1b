"""Names: the matching against a brute-force one, persons by context."""

import csv
import itertools

import numpy as np
import pytest

from fairjax.core.errors import UserError
from fairjax.pairs.swapping import dictionary, names

OWN = names.load(True)
NAMED = dictionary.swapper(names=True)


def test_the_own_map_is_a_bijection_between_genders():
  assert len(OWN) > 600
  assert all(OWN[OWN[name].lower()].lower() == name for name in OWN)
  assert all(
    (name in OWN.male) != (OWN[name].lower() in OWN.male) for name in OWN
  )


def test_matching_equals_the_best_permutation():
  rng = np.random.default_rng(7)
  counts = {}
  for i in range(12):
    most, least = np.sort(rng.integers(1, 10_000, 2))[::-1]
    both = (float(most) + 1, float(least))
    counts[f'N{i}'] = both if i < 6 else both[::-1]
  pairs = names.match(counts)

  def place(name, sex):
    both = counts[name]
    specific = both[sex] / sum(both)
    return np.array([np.log10(both[sex]), names.SPECIFIC * specific])

  def cost(chosen):
    return sum(((place(m, 0) - place(f, 1)) ** 2).sum() for m, f in chosen)

  men, women = [f'N{i}' for i in range(6)], [f'N{i}' for i in range(6, 12)]
  best = min(
    cost(list(zip(men, order))) for order in itertools.permutations(women)
  )
  assert cost(pairs) == pytest.approx(best)


def test_one_person_keeps_one_name():
  text = 'Emma met Paul. Paul told Emma. EMMA!'
  twin = NAMED([text]).texts[0]
  emma, paul = OWN['emma'], OWN['paul']
  assert twin == (f'{emma} met {paul}. {paul} told {emma}. {emma.upper()}!')
  assert NAMED([twin]).texts == [text]


def test_off_and_one_direction():
  text = 'Anna saw Peter.'
  assert dictionary.swap([text]).texts[0] == text
  assert dictionary.swap([text], names=False).texts[0] == text
  male = dictionary.swap([text], names=True, direction='male').texts[0]
  assert male == f'{OWN["anna"]} saw Peter.'
  assert (
    dictionary.swap([text], names=True, direction='neutral').texts[0] == text
  )
  assert (
    dictionary.swap([text], names={'Peter': 'Anna'}).texts[0]
    == 'Peter saw Anna.'
  )


def test_files(tmp_path):
  """yob files, their folder and a csv with a header say the same."""
  lines = 'Ann,F,90\nJoe,M,80\nPat,F,10\nPat,M,12\nKim,F,7\n'
  (tmp_path / 'yob1990.txt').write_text(lines)
  (tmp_path / 'yob1991.txt').write_text(lines)
  one = names.read(tmp_path / 'yob1990.txt')
  both = names.read(tmp_path)
  assert one['Pat'] == (12, 10)
  assert both == {n: (2 * m, 2 * f) for n, (m, f) in one.items()}
  path = tmp_path / 'x.csv'
  path.write_text(
    'year,name,sex,count\n1990,' + lines[:-1].replace('\n', '\n1990,')
  )
  assert names.read(path) == one
  swapped = dictionary.swap(['Ann saw Joe'], names=path).texts[0]
  assert swapped == 'Joe saw Ann'


def test_ssa(shared):
  path = shared / 'lexicons' / 'ssa_names_2010_2016.csv'
  counts = names.read(path)
  pairs = names.match(counts, limit=300)
  assert len(pairs) == 300 == len({n for p in pairs for n in p}) // 2
  near = [
    abs(np.log10(counts[m][0]) - np.log10(counts[f][1])) for m, f in pairs
  ]
  assert np.median(near) < 0.2


def test_bad_maps(tmp_path):
  with pytest.raises(UserError, match="'ann' twice"):
    dictionary.swap(['x'], names={'Joe': 'Ann', 'Bob': 'ann'})
  with pytest.raises(UserError, match=r'the names file .* does not exist'):
    dictionary.swap(['x'], names=tmp_path / 'none.csv')
  with pytest.raises(UserError, match=r'no yobYYYY.txt'):
    dictionary.swap(['x'], names=tmp_path)


def matched():
  own = names.own_folder()
  return names.match(names.read(own), origins=names.origins(own))


def test_the_pairs_that_are_kept_are_as_near_as_can_be():
  """After a change of the lists: python tests/pairs/swapping/test_names.py.

  Many assignments are equally good, so the kept one need not be today's.
  """
  kept, anew = names.own_pairs(), matched()
  own = names.own_folder()
  counts, origins = names.read(own), names.origins(own)
  men, women = zip(*kept)
  assert sorted(men) == sorted(man for man, _ in anew)
  assert sorted(women) == sorted(woman for _, woman in anew)

  def total(pairs):
    both = zip(*pairs)
    return np.trace(names.distances(counts, *map(list, both), origins))

  assert total(kept) == pytest.approx(total(anew), rel=1e-7)
  assert total(list(zip(men, women[::-1]))) > 2 * total(anew)


def test_pairs_hang_on_no_last_bit(monkeypatch):
  """A logarithm's last bit is the processor's; ties must not hang on it."""
  first = matched()
  log10 = np.log10
  monkeypatch.setattr(np, 'log10', lambda x: np.nextafter(log10(x), 9))
  assert matched() == first


if __name__ == '__main__':
  with open(
    names.own_folder().with_name('name_pairs.csv'), 'w', newline=''
  ) as file:
    csv.writer(file, lineterminator='\n').writerows(matched())


def test_a_names_file_is_known_by_its_content(tmp_path):
  path = tmp_path / 'names.csv'
  for woman in ('Ann', 'Eve'):
    path.write_text(f'name,sex,count\nBob,M,50\n{woman},F,50\n')
    assert names.load(path)['bob'] == woman
