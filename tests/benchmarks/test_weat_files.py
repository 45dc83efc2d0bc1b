"""WEAT and SEAT of files: which words are known, what a battery says."""

import json

import numpy as np

from fairjax.benchmarks import weat
from fairjax.config import Benchmarks, Config
from fairjax.metrics.inference.intervals import IntervalOptions

OPTIONS = IntervalOptions(0.95, 500, 0)


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
    *('sent-other', 'weat1'),
  ]
  versions, absent = items.attrs['notes']
  assert versions.startswith('0 of 2 files are published ones; not known')
  assert 'sent-other.jsonl (' in versions and '…' not in versions
  assert absent.startswith('sent-other: the sentences do not show their words')
  assert items['id'].tolist()[:4] == [
    *('sent-other:X:p', 'sent-other:X:q', 'sent-other:X:r', 'sent-other:Y:t'),
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
