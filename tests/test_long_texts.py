"""A text as long as a book takes seconds at every door, and its cut is told.

Each kind of text took some door the square of its length: 150 kB were more
than five seconds there, 10 MB days.
"""

import itertools
import time
import warnings

import pandas as pd
import pytest

from fairjax import models
from fairjax.data.batching import tokens
from fairjax.metrics.texts import counterfactual
from fairjax.pairs import recase
from fairjax.pairs.persons import chain
from fairjax.pairs.swapping import controls, dictionary
from fairjax.recipes.audit import edits
from fairjax.report import render
from fairjax.stages import fits

SIZE = 150_000
MOST = 3.0  # CPU seconds; each takes less than one
PROSE = (
  'Mary told John that her mother saw the old house , and he said the good '
  'doctor was late. Why is the film so bad? '
)


def long(part: str) -> str:
  return ''.join(itertools.islice(itertools.cycle(part), SIZE))


def prose() -> str:
  """No two of its sentences are alike."""
  return ' '.join(f'{PROSE} {k}' for k in range(SIZE // len(PROSE)))


def swapped(text: str) -> dictionary.Swapped:
  return dictionary.swap([text], names=True)


def aligned(text: str) -> None:
  spans = edits.differences(text, swapped(text).texts[0])
  assert spans


DOORS = {
  'vocabulary': lambda text: tokens.train_tokenizer([text, 'a b'], 300),
  'swap': swapped,
  'neutral': lambda text: dictionary.swap([text], direction='neutral'),
  'controls': lambda text: controls.controls([text], swapped(text).spans),
  'twins': aligned,
  'page': lambda text: render.marked([text, swapped(text).texts[0]]),
  'persons': chain.mentions,
  'recase': lambda text: recase.restore(text, swapped(text).texts[0].lower()),
  'spelling': lambda text: recase.restore(text, swapped(text).texts[0]),
  'distance': lambda text: counterfactual.changes([text], swapped(text).texts),
}


@pytest.mark.parametrize(
  'door, text',
  [
    *[('vocabulary', long(part)) for part in ('a', '1')],
    *[('swap', long(part)) for part in ('he,she/her-his.', ')she', '#he/she/')],
    *[('neutral', long(part)) for part in ('she is and was ', "he's'")],
    *[('controls', text) for text in (prose(), long('her '))],
    *[('twins', text) for text in (prose(), long('she and '))],
    *[('page', text) for text in (prose(), long('('))],
    *[('persons', text) for text in (prose(), long('Mary, and John.\n'))],
    *[('recase', text) for text in (prose(), long(' '))],
    ('spelling', prose()),
    ('distance', long('her ')),
  ],
)
def test_time_grows_with_the_text(door, text):
  DOORS[door]('She told him of her mother.')  # what is loaded once

  def seconds():
    began = time.process_time()
    DOORS[door](text)
    return time.process_time() - began

  # Garbage of tests before is not the text's: once more.
  assert seconds() < MOST or seconds() < MOST


def test_the_cut_of_long_texts_is_said_once():
  tokenizer = tokens.train_tokenizer(['he and she'], 300)
  reader = models.Bundle(None, None, None, tokenizer=tokenizer, longest=8)
  table = pd.DataFrame({'text': ['he ' * 500] * 3 + ['she'], 'label': 0})
  with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter('default')
    for rows in (table, table[:2], table[3:]):
      fits.pool(reader, rows)
  said = [str(one.message) for one in told if 'are cut' in str(one.message)]
  assert len(said) == 1
  assert 'reads 8 tokens' in said[0]
