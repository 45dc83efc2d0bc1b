"""Counts that texts state of published files, counted again."""

import ast
import pathlib

from fairjax.config import shipped
from fairjax.core.registry import find
from fairjax.data import load_tables
from fairjax.methods import METHODS, balance

CONFIGS = pathlib.Path(__file__).resolve().parent.parent / 'configs'


def said(name: str) -> str:
  """The head of a config, or a page, on one line."""
  text = (CONFIGS / name).read_text('utf-8')
  if name.endswith('.py'):
    text = ast.get_docstring(ast.parse(text)) or ''
  return ' '.join(text.split())


def test_the_heads_of_the_tweets_configs(shared):
  """Two counts were of older lists of words."""
  config = shipped('train_twitter')
  config.data.path = str(shared / 'twitter_sexism')
  tables, *_ = load_tables(config)
  train = tables['train']

  def made(name):
    own = shipped(f'{name}_twitter')
    return find(METHODS, 'method', own.method.name)(tables, own)['train'], own

  rows, twins = len(train), (train['twin'] != train['text']).sum()
  kept, own = made('balance')
  cell = {
    one: table.groupby(['gender', 'label']).size()
    for one, table in {
      'before': balance.with_gender(train, own),
      'after': balance.with_gender(kept, own),
    }.items()
  }
  size = cell['after']['male', 1]
  men, women = cell['before']['male'], cell['before']['female']
  assert (
    f'{len(kept):,} of {rows:,} rows stay: {size} in each cell (before: male '
    f'{men[0]:,} not sexist, {men[1]} sexist; female {women[0]} and '
    f'{women[1]:,})'
  ) in said('balance_twitter.py')
  blind, _ = made('blind')
  changed = (blind['text'].to_numpy() != train['text'].to_numpy()).sum()
  differ = (blind['text'] != blind['twin']).sum()
  assert f'{changed:,} of {rows:,} training' in said('blind_twitter.py')
  assert f'{differ:,} of the {twins:,} published twins still differ' in said(
    'blind_twitter.py'
  )
  swapped, _ = made('cds')
  changed = (swapped['text'].to_numpy() != train['text'].to_numpy()).sum()
  assert f'{changed:,} of {rows:,} tweets become' in said('cds_twitter.py')
  head = said('cda_twitter.py')
  assert f'{twins:,} of {rows:,} differ' in head
  assert f'({len(made("cda")[0]):,} rows; ' in head
