"""Folders as runs leave them, of random numbers: for tests of reports only."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from fairjax import results
from fairjax.config import Config
from fairjax.report import page, verdict

RATES = {
  'base_rate': lambda y, d: d * 0 + y,
  'selection_rate': lambda y, d: d,
  'accuracy': lambda y, d: (d == y).astype(float),
  'tpr': lambda y, d: np.where(y == 1, d, np.nan),
  'fpr': lambda y, d: np.where(y == 0, d, np.nan),
  'fnr': lambda y, d: np.where(y == 1, 1 - d, np.nan),
}


def estimate(seeds, spread, note=''):
  """An Estimate whose interval is as wide as a test wants it."""
  seeds = [float(s) for s in np.atleast_1d(seeds)]
  middle = float(np.mean(seeds))
  out = {
    'value': middle,
    'low': middle - spread,
    'high': middle + spread,
    'seeds': seeds,
  }
  return out | ({'note': note} if note else {})


def undefined(note):
  return {'value': None, 'low': None, 'high': None, 'seeds': [], 'note': note}


def predictions(rng, name, rows, groups, seeds, bias):
  group = rng.choice(
    groups,
    rows,
    p=np.r_[0.5, np.full(len(groups) - 1, 0.5 / (len(groups) - 1))]
    if len(groups) > 2
    else None,
  )
  label = rng.integers(0, 2, rows)
  shift = bias * (group == groups[0])
  found = {
    'id': [f'{name}-{i}' for i in range(rows)],
    'set': name,
    'label': label,
    'group': group,
  }
  for s in range(seeds):
    logit = 2.2 * (label - 0.5) + shift - bias / 2 + rng.normal(0, 1.2, rows)
    found[f'p{s}'] = 1 / (1 + np.exp(-logit))
  return pd.DataFrame(found)


def measured(table, seeds):
  """One set of results.json, with made-up widths of intervals."""
  y = table['label'].to_numpy()
  p = table[[f'p{s}' for s in range(seeds)]].to_numpy().T
  d = (p >= 0.5).astype(float)
  groups = {}
  for g in sorted(set(table['group']) - {''}):
    own = (table['group'] == g).to_numpy()
    groups[g] = {'rows': int(own.sum())}
    for rate, of in RATES.items():
      if g == 'nobody' and rate in ('tpr', 'fnr'):
        groups[g][rate] = undefined('no positive rows')
        continue
      value = np.nanmean([of(y, one)[own] for one in d], 1)
      groups[g][rate] = estimate(value, 0.9 / np.sqrt(own.sum()))
  gap = lambda r: np.ptp(
    [g[r]['value'] for g in groups.values() if g[r]['value'] is not None]
  )
  fairness = {
    'dp': estimate(1 - gap('selection_rate'), 0.04),
    'dp_floor': estimate(1 - gap('base_rate'), 0.02),
    'eqopp0': estimate(1 - gap('fpr'), 0.05),
    'eqopp1': estimate(1 - gap('tpr'), 0.05),
    'eqodd': estimate(1 - (gap('fpr') + gap('tpr')) / 2, 0.05),
    'fped': estimate(gap('fpr'), 0.06),
    'fned': estimate(gap('fnr'), 0.06),
  }
  for rate in RATES:
    fairness[f'{rate}_difference'] = estimate(gap(rate), 0.04)
    fairness[f'{rate}_ratio'] = estimate(1 - gap(rate), 0.1)
  quality = {
    'accuracy': estimate((d == y).mean(1), 0.012),
    'auc': estimate([0.871 + 0.004 * s for s in range(seeds)], 0.011),
    'f1': estimate((d == y).mean(1) - 0.01, 0.013),
    'mcc': estimate(0.58, 0.03),
    'log_loss': estimate(0.4213, 0.021),
  }
  return {
    'rows': len(table),
    'threshold': 0.5,
    'quality': quality,
    'fairness': fairness,
    'groups': groups,
    'warnings': [],
  }


def learning_rows(rng, seeds, evals=8):
  for k in range(1, evals + 1):
    for s in range(seeds):
      noise = rng.normal(0, 0.008, 4)
      yield {
        'step': 63 * k,
        'split': 'valid',
        'epoch': k / 2,
        'seed': s,
        'train_loss': 0.25 + 0.45 * np.exp(-k / 2) + noise[0],
        'loss': 0.36 + 0.33 * np.exp(-k / 2) + noise[1] + 0.004 * k,
        'accuracy': 0.84 - 0.3 * np.exp(-k / 1.5) + noise[2],
        'auc': 0.88 - 0.3 * np.exp(-k / 1.5) + noise[3],
      }


def write(folder, tables, found, rng, seeds):
  folder.mkdir(parents=True, exist_ok=True)
  pd.concat(tables).to_parquet(folder / 'predictions.parquet', index=False)
  put = lambda name, value: (folder / name).write_text(json.dumps(value))
  # Not by `write`, which knows no attack's name: as others may have made it.
  found = results.of(results.plain(found))
  put(results.FILE, dataclasses.asdict(found))
  config = Config(model='mini', seeds=seeds)
  config.train.lr = 1e-3
  config.train.epochs = 4.0
  put('config.json', dataclasses.asdict(config))
  put('versions.json', {'fairjax': '0.1.0', 'jax': '0.10.2', 'python': '3.11'})
  split = lambda rows, bad: {
    'source': 'tweets.csv',
    'rows': rows,
    'kept': rows - sum(bad.values()),
    'bad': bad,
    'labels': {'0': rows // 2, '1': rows - rows // 2},
    'one_class': False,
    'duplicates': 12,
    'conflicts': 1,
    'html_entities': 40,
    'twins': rows // 3,
    'twins_lost': 0,
  }
  put(
    'hygiene.json',
    {
      'splits': {
        'train': split(4000, {'empty text': 3, "a spreadsheet's error": 5}),
        'valid': split(1000, {}),
        'test': split(1000, {}),
      },
      'leaks': {'train/test': {'rows': 2, 'ids': ['test-4', 'test-90']}},
      'labels': None,
      'warnings': [
        "train: 8 rows left out (3 × empty text, 5 × a spreadsheet's error)",
        'test: 2 rows whose text is also in train',
      ],
    },
  )
  rows = [json.dumps(r) + '\n' for r in learning_rows(rng, seeds)]
  (folder / 'metrics.jsonl').write_text(''.join(rows))
  return folder


def make_run(folder):
  """A run with two test sets, a tiny group, a test, examples, warnings."""
  rng, seeds = np.random.default_rng(0), 5
  tables = [
    predictions(rng, 'test', 1000, ['women', 'men'], seeds, 1.6),
    predictions(
      rng,
      'templates',
      2000,
      ['women', 'men', 'nobody', 'trans people'],
      seeds,
      0.3,
    ),
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
  return write(folder, tables, found, rng, seeds)


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
  folder = write(tmp_path / 'run', [table], kept, rng, seeds)
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
