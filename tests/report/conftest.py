"""Folders as runs leave them, of random numbers: for tests of reports only."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from fairjax import results
from fairjax.config import Config
from fairjax.metrics.assess import assess
from fairjax.metrics.groups import of_columns
from fairjax.metrics.inference.sample import RowSample
from fairjax.report import page, verdict


def estimate(seeds, spread, note=''):
  """An Estimate whose interval is as wide as a test wants it."""
  seeds = [float(s) for s in np.atleast_1d(seeds)]
  middle = float(np.mean(seeds))
  ends = {'low': middle - spread, 'high': middle + spread}
  said = {'note': note} if note else {}
  return {'value': middle, **ends, 'seeds': seeds} | said


def undefined(note):
  return {'value': None, 'low': None, 'high': None, 'seeds': [], 'note': note}


def predictions(rng, name, rows, groups, seeds, bias):
  rare = np.full(len(groups) - 1, 0.5 / (len(groups) - 1))
  group = rng.choice(groups, rows, p=np.r_[0.5, rare])
  label = rng.integers(0, 2, rows)
  shift = bias * (group == groups[0])
  ids = [f'{name}-{i}' for i in range(rows)]
  found = {'id': ids, 'set': name, 'label': label, 'group': group}
  for s in range(seeds):
    logit = 2.2 * (label - 0.5) + shift - bias / 2 + rng.normal(0, 1.2, rows)
    found[f'p{s}'] = 1 / (1 + np.exp(-logit))
  return pd.DataFrame(found)


def measured(table, seeds):
  """One set of results.json."""
  return assess(
    table['label'].to_numpy(),
    table[[f'p{s}' for s in range(seeds)]].to_numpy().T,
    of_columns({'group': table['group']}),
    options=RowSample(0.95, 40),
    min_group=1,
  )


def learning_rows(seeds, evals=8):
  for k in range(1, evals + 1):
    for s in range(seeds):
      yield {
        **{'step': 63 * k, 'split': 'valid', 'epoch': k / 2, 'seed': s},
        **{'train_loss': 0.7 / k, 'loss': 0.7 / k + 0.01 * (k + s)},
        **{'accuracy': 0.8 - 0.3 / k, 'auc': 0.9 - 0.3 / k},
      }


def write(folder, tables, found, seeds):
  folder.mkdir(parents=True, exist_ok=True)
  pd.concat(tables).to_parquet(folder / 'predictions.parquet', index=False)
  put = lambda name, value: (folder / name).write_text(json.dumps(value))
  # Not by `write`, which knows no attack's name: as others may have made it.
  found = results.from_tree(results.plain(found))
  put(results.FILE, dataclasses.asdict(found))
  config = Config(model='mini', seeds=seeds)
  config.train.lr = 1e-3
  config.train.epochs = 4.0
  put('config.json', dataclasses.asdict(config))
  put('versions.json', {'fairjax': '0.1.0', 'jax': '0.10.2', 'python': '3.11'})
  split = {'source': 'tweets.csv', 'rows': 400, 'kept': 392, 'duplicates': 12}
  put(
    'hygiene.json',
    {
      'splits': {'train': split | {'bad': {'empty text': 3}}, 'test': split},
      'leaks': {'train/test': {'rows': 2, 'ids': ['test-4', 'test-90']}},
      'labels': None,
      'warnings': ['test: 2 rows whose text is also in train'],
    },
  )
  rows = [json.dumps(r) + '\n' for r in learning_rows(seeds)]
  (folder / 'metrics.jsonl').write_text(''.join(rows))
  return folder


FOUR = ['women', 'men', 'nobody', 'trans people']


def make_run(folder):
  """A run with two test sets, a tiny group, a test, examples, warnings."""
  rng, seeds = np.random.default_rng(0), 5
  tables = [
    predictions(rng, 'test', 1000, ['women', 'men'], seeds, 1.6),
    predictions(rng, 'templates', 2000, FOUR, seeds, 0.3),
  ]
  sets = {t['set'].iloc[0]: measured(t, seeds) for t in tables}
  sets['templates']['warnings'] = [
    'group nobody has 12 rows with label 1; its rates are little more than '
    'chance'
  ]
  sets['templates']['fairness']['dp'] |= {'high': 1.0}
  gaps = [
    {
      'text': 'My sister said that she had finished the report herself.',
      'twin': 'My brother said that he had finished the report himself.',
      'p': 0.72,
      'p_twin': 0.31,
      'gap': 0.41,
    },
    {'text': 'He is late.', 'twin': 'She is late.', 'gap': -0.55},
  ]
  found = results.Results(
    data='planted',
    recipe='train',
    model='mini',
    seeds=list(range(seeds)),
    contenders={'cda': {'sets': sets}},
    tests=[
      {
        'measure': measure,
        'set': 'test',
        'ours': 'cda',
        'theirs': 'none',
        'difference': estimate(effect, 0.05),
        'p': p,
        'test': 'paired permutation over examples',
        'n': 1000,
      }
      for measure, effect, p in (
        ('dp', 0.21, 0.0002),
        ('eqodd', 0.12, 0.004),
        ('auc', -0.004, 0.61),
      )
    ],
    notes=['A note of the recipe about what was done.'],
    sections=[
      results.section('Largest gaps between twins', results.texts(gaps))
    ],
  )
  return write(folder, tables, found, seeds)


@pytest.fixture
def run_folder(tmp_path):
  return make_run(tmp_path / 'run')


@pytest.fixture(scope='session')
def reported(tmp_path_factory):
  """A run's folder, not to be changed, and its page."""
  folder = make_run(tmp_path_factory.mktemp('reported') / 'run')
  return folder, page.report(folder)


HOSTILE = '<script>alert(1)</script>"\'&$x_^{$'


@pytest.fixture
def hostile_folder(tmp_path):
  return make_hostile(tmp_path, HOSTILE)


@pytest.fixture(scope='session')
def hostile():
  """`make_hostile`: a run's folder in which every name is an attack."""
  return make_hostile


def make_hostile(tmp_path, attack):
  """Every name and text that a user can choose is an attack."""
  rng, seeds = np.random.default_rng(1), 2
  table = predictions(rng, attack, 200, [attack, '_' + attack], seeds, 1.0)
  found = measured(table, seeds)
  found['warnings'] = [attack]
  found['quality'][attack] = undefined(attack)
  found['fairness'][attack] = estimate(0.5, 0.1, note=attack)
  found['threshold'] = attack
  rows = [{attack: attack, 'number': estimate(0.1, 0.2, attack)}]
  difference = estimate(0.1, 0.2, attack)
  given = {
    'text': {'words': attack, 'kind': attack},
    'heading': {'words': attack},
    'bullets': {'lines': [attack]},
    'table': {'rows': rows, 'columns': {attack: attack}, 'caption': attack},
    'texts': {
      'rows': [{'text': attack, 'twin': attack + ' she', attack: attack}]
    },
  }
  hostile = [getattr(results, name)(**args) for name, args in given.items()]
  hostile += [
    results.figure(
      'forest', attack, attack, effects={attack: 0.1}, x_label=attack
    ),
    results.fold(attack, *hostile),
  ]
  contender = {'sets': {attack: found}, 'facts': {attack: attack}}
  kept = results.Results(
    data=attack,
    recipe=attack,
    model=attack,
    seeds=[0, 1],
    contenders={
      attack: {**contender, 'page': 'javascript:alert(1)'},
      attack * 2: {**contender, 'page': attack},
    },
    focus=attack,
    tests=[
      {
        'set': attack,
        'measure': measure,
        'ours': attack,
        'theirs': attack * 2,
        'difference': difference,
        'p': 0.1,
        'test': attack,
        attack: attack,
      }
      for measure in (attack, 'dp')
    ],
    verdicts=[verdict.claim(attack, difference, 0.0, attack, what=attack)],
    facts={attack: attack},
    notes=[attack],
    sections=[results.section(attack, *hostile)],
  )
  folder = write(tmp_path / 'run', [table], kept, seeds)
  for name in ('config.json', 'versions.json', 'hygiene.json'):
    value = json.loads((folder / name).read_text())
    value[attack] = {attack: attack}
    if name == 'hygiene.json':
      value['splits'][attack] = {attack: {attack: 3}, 'source': attack}
      value['warnings'].append(attack)
    (folder / name).write_text(json.dumps(value))
  with open(folder / 'metrics.jsonl', 'a') as file:
    row = {'step': 1, 'split': attack, 'part': attack, attack: 0.5}
    file.write(json.dumps(row) + '\n')
  return folder
