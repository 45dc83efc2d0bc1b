"""blind: which words go, and that nothing else does."""

import numpy as np
import pandas as pd
import pytest

from fairjax import stages
from fairjax.config import Config, Method, Planted
from fairjax.core.errors import UserError
from fairjax.data.sets import planted
from fairjax.methods.blind import blind

SAME = (
  'many then the other themes',
  'I miss you.',
  'Will you come in May?',
  'Mark my words, hope is a good thing.',
  'A column of spray wetted them.',
)
WORDS = (
  ('He thanked her.', '_ thanked _.', 'thanked.'),
  ("She's late.", "_'s late.", 'late.'),
  ('A man, a woman and the men.', 'A _, a _ and the _.', 'A, a and the.'),
  ('I told him so', 'I told _ so', 'I told so'),
  ('Her book is his', '_ book is _', 'book is'),
  ('she', '_', '_'),
  ('My friend John sang.', 'My friend _ sang.', 'My friend sang.'),
)


def run(texts, columns=None, **method):
  table = pd.DataFrame({'id': np.arange(len(texts)).astype(str)})
  table = table.assign(text=list(texts), label=0, **(columns or {}))
  config = Config(method=Method(name='blind', **method))
  return blind({'train': table}, config)['train']


@pytest.mark.parametrize('how', ('remove', 'placeholder'))
def test_whole_words_only(how):
  made = run(SAME, how=how)
  assert made['text'].tolist() == list(SAME)
  assert set(made['origin']) == {'data'}


def test_words_and_their_space_go():
  texts, blanked, removed = zip(*WORDS)
  assert run(texts)['text'].tolist() == list(blanked)
  assert run(texts, how='remove')['text'].tolist() == list(removed)


def test_no_column_keeps_the_original():
  pair = {'twin': ['She left.'], 'text_pair': ['His hat.']}
  made = run(['He left.'], pair)
  assert made[['text', 'twin', 'text_pair']].values.tolist() == [
    ['_ left.', '_ left.', '_ hat.']
  ]
  assert '0 of 1 still differ from their twin' in made.attrs['notes'][0]


def test_a_pair_whose_second_text_alone_loses_words_is_told():
  made = run(['It rained.', 'No.'], {'text_pair': ['His hat.', 'A hat.']})
  assert made['origin'].tolist() == ['blinded', 'data']
  assert '1 of 2 train texts lost words' in made.attrs['notes'][0]


def test_nearly_every_planted_twin_is_hidden():
  tables = planted.load(Config(planted=Planted(rows=600, test_rows=20)))
  made = blind(tables, Config(method=Method(name='blind')))['train']
  pairs = tables['train']['text'] != tables['train']['twin']
  left = made['text'] != made['twin']
  assert not left[~pairs].any()
  assert left.sum() < 0.15 * pairs.sum()


def test_a_blind_model_reads_blind_test_sets():
  sets = {'identity': run(['x']).assign(text='He left.')}
  read = lambda name: stages.as_read(Config(method=Method(name=name)), sets)
  assert read('blind')['identity']['text'][0] == '_ left.'
  assert read('augment') is sets


def test_other_ways_are_refused():
  with pytest.raises(UserError, match="'placeholder' and 'remove'"):
    run(['x'], how='delete')
