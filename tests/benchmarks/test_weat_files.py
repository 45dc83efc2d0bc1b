"""WEAT and SEAT of files: which words are known, what a battery says."""

import json

import numpy as np
import pandas as pd

from fairjax.benchmarks import weat
from fairjax.config import Benchmarks, Config
from fairjax.metrics.inference.sample import RowSample

OPTIONS = RowSample(0.95, 500, 0)


class Knows:
  """A judge of unit vectors, to whom some texts are unknown."""

  def __init__(self, kind, *unknown):
    self.kind, self.none = kind, unknown

  def unknown(self, texts):
    return np.array([text in self.none for text in texts])

  def vectors(self, texts, how):
    turn = {'mean': 0, 'first': 0.3, 'cls': 0.6}[how]
    angle = [0.37 * sum(map(ord, text)) + turn for text in texts]
    return np.stack([np.cos(angle), np.sin(angle)], 1)


def battery(tmp_path):
  lists = dict(targ1=['p', 'q', 'r'], targ2=['t', 'u', 'v'])
  for name, attributes in (
    ('weat1', dict(attr1=['g', 'h'], attr2=['k'])),
    ('sent-other', dict(attr1=['g'], attr2=['l'])),
  ):
    tree = {
      part: {'category': part, 'examples': examples}
      for part, examples in (lists | attributes).items()
    }
    (tmp_path / f'{name}.jsonl').write_text(json.dumps(tree))
  (tmp_path / 'notes.jsonl').write_text('{"x": 1}\n')  # not a test
  config = Config(
    benchmarks=Benchmarks(data=str(tmp_path), encodings=weat.ENCODINGS)
  )
  return weat.items(config), config


def test_a_battery_says_what_it_is_of(tmp_path):
  items, _ = battery(tmp_path)
  assert [test['name'] for test in items.attrs['tests']] == [
    *('sent-other', 'weat1')
  ]
  versions, absent = items.attrs['notes']
  assert versions.startswith('2 of 2 files differ (by md5) from the')
  assert 'sent-other.jsonl (' in versions and '…' not in versions
  assert absent.startswith('sent-other: the sentences do not show their words')
  assert items['id'].tolist()[:4] == [
    *('sent-other:X:p', 'sent-other:X:q', 'sent-other:X:r', 'sent-other:Y:t')
  ]


def test_attributes_that_are_unknown_are_left_out(tmp_path):
  items, config = battery(tmp_path)
  judge = Knows('mask', 'h', 'l')
  scores = weat.score(judge, items, config)
  assert scores.attrs['attributes'] == ['h', 'l']
  assert scores['mean'].isna().tolist() == [True] * 6 + [False] * 6
  angle = lambda text: 0.37 * ord(text)
  s = [np.cos(angle(w) - angle('g')) - np.cos(angle(w) - angle('k'))
       for w in 'pqrtuv']  # fmt: skip
  np.testing.assert_allclose(scores['mean'][6:], s)
  known = scores['mean'].notna()
  kept = items[known].reset_index(drop=True)
  kept.attrs = items.attrs
  found = weat.estimate(kept, scores[known].reset_index(drop=True), OPTIONS)
  assert 'weat1' in found['groups'] and 'sent-other' not in found['groups']
  assert any('sent-other left out' in w for w in found['warnings'])
  of = lambda judge: [
    *weat.score(judge, items, config).columns.intersection(weat.ENCODINGS)
  ]
  assert of(judge) == ['mean', 'first', 'cls']
  for kind in ('write', 'words'):  # without a [CLS]
    assert of(Knows(kind)) == ['mean', 'first']


def sentences(tmp_path):
  """A test of words and one of sentences that show them, one of them twice."""
  parts = {'X': ['p', 'q'], 'Y': ['t', 'u'], 'A': ['g'], 'B': ['h', 'h']}
  for name, say in (('weat9', '{}'), ('sent-weat9', 'Is {}.|The {}!')):
    tree = {
      part: {
        'category': key,
        'examples': [one.format(w) for w in words for one in say.split('|')],
      }
      for part, (key, words) in zip(weat.PARTS, parts.items())
    }
    (tmp_path / f'{name}.jsonl').write_text(json.dumps(tree))
  return tmp_path / 'sent-weat9.jsonl'


def test_what_is_read_of_a_file_of_sentences(tmp_path):
  test = weat.read(sentences(tmp_path))
  assert test.name == 'sent-weat9'
  assert test.targets == (
    ['Is p.', 'The p!', 'Is q.', 'The q!'],
    ['Is t.', 'The t!', 'Is u.', 'The u!'],
  )
  assert test.attributes == (['Is g.', 'The g!'], ['Is h.', 'The h!'])
  assert test.words == [*'ppqqttuu']
  assert test.notes == (
    'sent-weat9: 2 of the 4 texts of B are there twice and count once, as in '
    'the reference',
  )
  plain = weat.read(tmp_path / 'weat9.jsonl')
  assert plain.words is None and 'weat9: 1 of the 2 texts' in plain.notes[0]
  (tmp_path / 'weat9.jsonl').unlink()
  assert weat.read(tmp_path / 'sent-weat9.jsonl').words is None


def test_items_are_targets_of_files_by_any_name(tmp_path):
  sentences(tmp_path)
  (tmp_path / 'weat9.jsonl').rename(tmp_path / 'heilman.jsonl')
  config = Config(benchmarks=Benchmarks(data=str(tmp_path)))
  items = weat.items(config)
  assert list(items) == ['id', 'test', 'side', 'text']
  assert items['test'].tolist() == ['heilman'] * 4 + ['sent-weat9'] * 8
  assert items.iloc[2].tolist() == ['heilman:Y:t', 'heilman', 'Y', 't']
  assert items.attrs['notes'][0].startswith('2 of 2 files')
  assert items.attrs['notes'][-1].startswith('sent-weat9: the sentences do')
  sentences(tmp_path)  # now with the file of its words
  notes = weat.items(config).attrs['notes']
  assert not any('do not show' in one for one in notes)
  assert sum('count once' in one for one in notes) == 3


def named(*names, words=None):
  """Tests of four targets and three."""
  return [
    weat.Test(name, ([*'pqrs'], [*'tuv']), (['g'], ['h']), words)
    for name in names
  ]


def tables(tests, *scores):
  """Items of tests, and the scores of their targets by each encoding."""
  rows = [
    (f'{one.name}:{side}:{text}', one.name)
    for one in tests
    for side, texts in zip('XY', one.targets)
    for text in texts
  ]
  items = pd.DataFrame(rows, columns=['id', 'test'])
  items.attrs = {'tests': [one._asdict() for one in tests]}
  return items, items[['id']].assign(**dict(zip(weat.ENCODINGS, scores)))


APART = [1.0, 2, 3, 4, -1, -2, -3]  # of 35 splits the most extreme
MIXED = [1.0, -2, 3, -4, -1, 2, -3]


def test_a_test_of_which_a_list_is_too_short_is_left_out_and_said():
  tests = named('weat1', 'weat2')
  items, scores = tables(tests, [*APART, *MIXED])
  kept = items['id'].isin(
    [f'weat1:X:{one}' for one in 'pq'] + [f'weat1:Y:{one}' for one in 'tu']
    + [f'weat2:X:{one}' for one in 'p'] + [f'weat2:Y:{one}' for one in 'tuv']
  )  # fmt: skip
  few = items[kept].reset_index(drop=True)
  few.attrs = items.attrs
  found = weat.estimate(few, scores[kept].reset_index(drop=True), OPTIONS)
  assert set(found['groups']) == {'weat1'}  # two of either list will do
  assert found['warnings'] == [
    'weat2 left out: the model knows none of a list of attributes, or fewer '
    'than two targets'
  ]
  all_ = weat.estimate(items, scores, OPTIONS)
  assert set(all_['groups']) == {'weat1', 'weat2'}
  assert all_['warnings'] == []
  (row,) = weat.compared(few, scores[kept], scores, OPTIONS)
  assert row['part'] == 'weat1'
