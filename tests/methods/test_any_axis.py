"""Twins of any axis: whose text, whose group, and when there are none."""

import pandas as pd
import pytest

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.methods import augment
from fairjax.recipes import swap


def table(*texts):
  made = pd.DataFrame({'id': [f't{k}' for k in range(len(texts))]})
  more = {'label': 0, 'group': 'muslim', 'twin': 'She left.'}
  return made.assign(text=texts, **more)


def test_twins_of_an_axis_are_swapped_and_name_their_group():
  """The data's own twins are of gender, so they answer nothing here."""
  config = Config()
  config.method.axis = 'religion'
  config.method.direction = 'hindu'
  rows = table('Muslims voted.', 'It rained.')
  made = augment.counterparts(rows, config)
  assert made['text'].tolist() == ['Hindus voted.', 'It rained.']
  assert made['group'].tolist() == ['hindu', 'muslim']
  assert made['same'].tolist() == [False, True]
  with pytest.raises(UserError, match='no text of the training data names'):
    augment.counterparts(table('It rained.'), config)


def test_a_text_is_shown_with_every_other_value(tmp_path, capsys):
  config = Config(recipe='swap', text='Two Jews left.')
  config.method.axis = 'religion'
  swap.run(config, tmp_path)
  lines = [
    line
    for line in capsys.readouterr().out.splitlines()
    if line.endswith('left.')
  ]
  assert len(lines) == 9 and len(set(lines)) == 9
