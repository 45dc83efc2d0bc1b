"""Counts that texts state of published files, counted again."""

import ast
import csv
import pathlib
import re

import pandas as pd
import pytest

from fairjax.config import Config, shipped
from fairjax.core.registry import find
from fairjax.data import load_tables
from fairjax.methods import METHODS, balance
from fairjax.pairs.axes import reach
from fairjax.recipes.perturbation import perturbing

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


def pairs(shared, task, columns):
  path = next((shared / 'glue' / task).glob('dev*'))
  how = {'sep': '\t', 'quoting': csv.QUOTE_NONE}
  how = how if path.suffix == '.tsv' else {}
  header = None if task == 'CoLA' else 0
  table = pd.read_csv(path, header=header, **how)
  return [list(table[one]) for one in columns]


@pytest.mark.parametrize(
  'task, name, columns',
  [
    ('SST-2', 'SST-2', ['sentence']),
    ('CoLA', 'CoLA in domain', [3]),
    ('RTE', 'RTE', ['sentence1', 'sentence2']),
    ('STS-B', 'STS-B', ['sentence1', 'sentence2']),
    ('MRPC', 'MRPC', ['#1 String', '#2 String']),
  ],
)
def test_what_rules_perturb_of_glue(shared, task, name, columns):
  texts = pairs(shared, task, columns)
  of = perturbing.perturbed if len(texts) == 1 else perturbing.pairs_perturbed
  table = of(Config(), *texts)
  share = f'{table["changed"].mean():.3f}'.lstrip('0')
  assert f'{name} {share}' in said('RESULTS.md')
  if task == 'SST-2':
    count = table['changed'].sum()
    assert (
      f'of the {len(table)} rows of its development set rules perturb {count}'
    ) in said('claims/fairtune_sst2.py')


FILES = (
  *('SST-2/dev.csv:sentence', 'CoLA/dev_in_domain.tsv:3'),
  'RTE/dev.tsv:sentence1+sentence2',
)
AXES = {  # RESULTS' name: reach's
  **{'race and nationality': 'race or nationality', 'class': 'social class'},
  **{
    one: one
    for one in (
      *('age', 'gender', 'religion', 'sexual orientation', 'disability'),
      'gender identity',
    )
  },
}


def test_what_axes_reach_in_glue(shared, capsys, monkeypatch):
  monkeypatch.chdir(shared / 'glue')
  reach.main([*FILES])
  found = capsys.readouterr().out.splitlines()
  short = lambda text: re.sub(r'\b0(\.[1-9])', r'\1', text.replace('0.0', '0'))
  text = (CONFIGS / 'RESULTS.md').read_text('utf-8')
  table = text[text.index("### Words of an axis in GLUE's") :].splitlines()
  for said, name in AXES.items():
    (row,) = [one for one in found if re.match(rf'{name} +\d', one)]
    line = next(one for one in table if re.match(rf' +{said} +[.\d]', one))
    cells = r'[\d.]+ \[[\d.]+, [\d.]+\]'
    assert re.findall(cells, short(row)) == re.findall(cells, line), said
