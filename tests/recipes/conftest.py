"""Recipes run small and on one device: compiling is a test's time."""

import dataclasses

import pytest

from fairjax import results
from fairjax.report import page

WIDTH = 1e-9


@pytest.fixture(scope='module', autouse=True)
def small(small_and_alone, alone, tmp_path_factory):
  alone.setenv('FAIRJAX_CACHE', str(tmp_path_factory.mktemp('cache')))


@pytest.fixture(scope='module', autouse=True)
def named_as_they_are():
  """A test that bears a number's name is the difference of two such numbers,
  and no interval is of no width: rows that agree prove nothing of others."""
  write = page.write_results

  def checked(folder, found):
    for path, one in _estimates(dataclasses.asdict(found), ()):
      assert one['high'] - one['low'] > WIDTH, (path, one)
    for test in found.tests:
      sides = [_number(found, test[side], test) for side in ('ours', 'theirs')]
      gap = test['difference'].get('value')
      if None not in (*sides, gap):
        (one, items), (other, same) = sides
        if items == same:  # else the test is of those that both have
          assert gap == pytest.approx(one - other, abs=1e-5), test
    return write(folder, found)

  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(page, 'write_results', checked)
    yield


def _estimates(part, path):
  """All estimates that have an interval, with where they stand."""
  if isinstance(part, dict):
    if None not in (part.get('value'), part.get('low'), part.get('high')):
      yield path, part
    part = part.items()
  elif isinstance(part, list | tuple):
    part = enumerate(part)
  else:
    return
  for key, value in part:
    yield from _estimates(value, (*path, key))


def _number(found, title, test):
  """(the contender's number of that name, of how many); None where a seed has
  none."""
  part, _, key = test['measure'].rpartition('/')
  one = found.contenders.get(title, {}).get('sets', {}).get(test['set'], {})
  rooms = [one['groups'].get(part, {})] if part and one.get('groups') else []
  rooms += [one.get('quality', {}), one.get('fairness', {})] * (not part)
  for room in rooms:
    if isinstance(room.get(key), dict):
      value = room[key]
      if None in (value['value'], *value.get('seeds', ())):
        return None
      return value['value'], value.get('items')
  return None


@pytest.fixture(scope='session')
def remade(unspoken):
  """Checks that a page is made of what is in its folder, and nothing else."""

  def check(folder, returned):
    assert results.read(folder) == returned  # valid, or a sentence
    html = page.report(folder)
    assert html == (folder / 'report.html').read_text()
    assert unspoken(html) == []

  return check
