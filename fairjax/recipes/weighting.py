"""Instance weights against none: non-discrimination learning, end to end.

    tables → weights → each row's model, same seeds → measures → † → report

(Zhang et al., ACL 2020.) `config.weighting.rows` names the rows of the table:

  baseline    the training rows as they are, after `config.method` if it is one
  weight      w = Q(y)/P(y|z) on training and validation rows
  swap        the swapped twin of every row that has one, in both
  supplement  rows of `config.method.table` in training (methods/supplement.py)
  weight+ …   the same on word vectors without their gender direction

All rows share one vocabulary, one compiled step and the initial weights. A
dagger marks a difference to the baseline (of a + row: to baseline+, if it is
there) by a two-sided t-test over seeds.
"""

import dataclasses
import pathlib

import numpy as np
import pandas as pd

from fairjax import artefacts, stages
from fairjax.config import Config
from fairjax.data import schema
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.identity import identity
from fairjax.methods import augment, chain, reweight, supplement
from fairjax.metrics.compare import compare
from fairjax.report import weights as report
from fairjax.train import mesh
from fairjax.train.progress import Log

KINDS = ('baseline', 'weight', 'swap', 'supplement')
LIMITS = {'0.5': '', 'eer': ' at eer'}  # thresholds, and their columns' names
MEASURES = ('auc', 'macro_auc', 'fped', 'fned')


def run(config: Config, folder: pathlib.Path) -> dict:
  """config → weights → rows → predictions → measures → tests → report."""
  log = Log(folder, config, main=mesh.is_main())
  names = check(config)
  tables = stages.load(config, folder, log)
  sets = stages.test_sets(config, tables)
  tables = stages.mitigate(config, tables, log)
  made, about = weigh(config, tables, folder, log)
  given = {name: changed(config, tables, made, name) for name in names}
  every = pd.concat([t['train'] for t in given.values()], ignore_index=True)
  every = {**tables, 'train': every.drop_duplicates('id')}
  ready = {
    plus: stages.prepare(plain_or_plus(config, plus), every, log)
    for plus in dict.fromkeys(name.endswith('+') for name in names)
  }
  chances, found = {}, {}
  for name in names:
    plus = name.endswith('+')
    log.line(f'{name}: {len(given[name]["train"])} training rows')
    chances[name] = predictions(
      plain_or_plus(config, plus),
      ready[plus],
      given[name],
      sets,
      folder,
      log,
      name,
    )
    found[name] = {
      limit: stages.assess(at(config, limit), sets, chances[name])
      for limit in LIMITS
    }
  ours = 'weight' if 'weight' in names else names[-1]
  results = found[ours]['0.5']
  results['rows'] = lines(found)
  results['tests'] = [
    test
    for name, base in against(names).items()
    for test in tests(config, sets, chances, name, base)
  ]
  results['by_term'] = {name: deviations(f['0.5']) for name, f in found.items()}
  results['weights'] = about
  results['notes'] += [
    f'where no row is named, the numbers are those of {ours}'
  ]
  results['notes'] += notes(given, found, about, results['tests'])
  if mesh.is_main():
    for name in names:
      write_predictions(
        folder / 'rows' / f'{name}.parquet', sets, chances[name]
      )
  parts = report.sections(
    results, by_label(tables, made), config.measures.confidence_level, folder
  )
  stages.publish(folder, sets, chances[ours], results, log, parts)
  log.line(report.summary(results, config.measures.confidence_level))
  return results


def check(config: Config) -> list[str]:
  """The rows' names, or one sentence for the first that cannot be made."""
  names = list(dict.fromkeys(config.weighting.rows))
  wrong = [n for n in names if n.removesuffix('+') not in KINDS]
  if wrong or not names:
    raise UserError(
      f'weighting.rows has {wrong[0] if wrong else "no row"!r}; the rows are '
      f'{", ".join(KINDS)}, each with a + for vectors without gender'
    )
  if 'reweight' in chain(config.method.name):
    raise UserError(
      f'method.name is {config.method.name!r}, but recipe weighting gives '
      "weights in its row 'weight'; leave reweight out of method.name"
    )
  plus = [n for n in names if n.endswith('+')]
  if plus and not config.net.glove:
    raise UserError(
      f'weighting.rows has {plus[0]!r}, which needs word vectors; name a GloVe '
      'file with --config.net.glove, or leave out the rows with a +'
    )
  files = {'net.glove': config.net.glove, 'method.table': config.method.table}
  for field, path in files.items():  # or they are missed after the forests
    if path and not pathlib.Path(path).expanduser().exists():
      raise UserError(
        f'{field} is {path!r}, and there is no such file; check the path, or '
        f'set it to nothing with --config.{field}='
      )
  return names


def weigh(
  config: Config, tables: Tables, folder: pathlib.Path, log: Log
) -> tuple[pd.DataFrame, dict]:
  """The weights by id (weights.parquet), and what they do (weights.json)."""
  table = reweight.fitted_rows(tables)
  made_from = identity(config, 'weights', table)
  made = stages.stage(
    folder / 'weights.parquet',
    made_from,
    lambda path: stages.write_table(path, reweight.weights(table, config)),
    artefacts.read_table,
    log,
    config.reuse,
  )
  about = stages.stage(
    folder / 'weights.json',
    made_from,
    lambda path: stages.write_json(path, reweight.report(table, made, config)),
    artefacts.read_json,
    reuse=config.reuse,
  )
  log.line(
    f'weights of {len(made)} rows: {made["weight"].min():.3g} to '
    f'{made["weight"].max():.3g}, effective rows {about["effective"]:.0f}'
  )
  return made, about


def by_label(tables: Tables, made: pd.DataFrame) -> dict[str, np.ndarray]:
  """The weights of each label's rows."""
  label = reweight.fitted_rows(tables).set_index('id')['label']
  weight = made.set_index('id')['weight'].loc[label.index]
  return {
    f'label {c}': weight[(label == c).array].to_numpy()
    for c in np.unique(label)
  }


def changed(
  config: Config, tables: Tables, made: pd.DataFrame, name: str
) -> Tables:
  """The tables that a row's model is trained and stopped on."""
  kind, method = name.removesuffix('+'), config.method
  if kind == 'weight':
    tables = reweight.put(tables, made)
  elif kind == 'swap':
    own = dataclasses.replace(
      method, name='augment', ratio=1.0, rank='random', how='all'
    )
    tables = augment.augment(tables, dataclasses.replace(config, method=own))
  elif kind == 'supplement':
    tables = supplement.supplement(tables, config)
  return schema.check(tables)


def plain_or_plus(config: Config, plus: bool) -> Config:
  """The config of a row: a + one reads vectors without a gender direction."""
  gender = plus or config.net.remove_gender
  net = dataclasses.replace(config.net, remove_gender=gender)
  return dataclasses.replace(config, net=net)


def at(config: Config, limit: str) -> Config:
  measures = dataclasses.replace(config.measures, threshold=limit)
  return dataclasses.replace(config, measures=measures)


def predictions(
  config: Config,
  ready: stages.Ready,
  tables: Tables,
  sets: Tables,
  folder: pathlib.Path,
  log: Log,
  name: str,
) -> dict[str, np.ndarray]:
  """Trains one row's model; probabilities [s, n, c] of each test set."""
  fitted = stages.train(
    config,
    ready,
    stages.pool(ready, tables['train']),
    stages.pool(ready, tables['valid']),
    folder,
    log,
    part=name,
  )
  return {
    one: stages.probabilities(config, ready, fitted.params, table)
    for one, table in stages.as_read(config, sets).items()
  }


def write_predictions(path, sets: Tables, chances: dict) -> None:
  parts = [stages.prediction_table(k, t, chances[k]) for k, t in sets.items()]
  artefacts.write_table(path, pd.concat(parts))


# Measures


def against(names: list[str]) -> dict[str, str]:
  """{row: the baseline it is tested against}."""
  out = {}
  for name in names:
    own = 'baseline+' if name.endswith('+') else 'baseline'
    base = own if own in names else 'baseline'
    if base in names and name not in ('baseline', base):
      out[name] = base
  return out


def lines(found: dict[str, dict]) -> list[dict]:
  """One line a test set and row: AUC, FPED and FNED at both thresholds."""
  out = []
  for one in next(iter(found.values()))['0.5']['sets']:
    for name, by_limit in found.items():
      line = {'set': one, 'row': name}
      for limit, suffix in LIMITS.items():
        parts = by_limit[limit]['sets'][one]
        known = parts['quality'] | parts['fairness']
        for key in MEASURES:
          # A rank measure has no threshold.
          if key in known and not (suffix and 'auc' in key):
            line[key + suffix] = known[key]
      out.append(line)
  return out


def tests(
  config: Config, sets: Tables, chances: dict, name: str, base: str
) -> list[dict]:
  """Differences of a row to its baseline: over examples and over seeds."""
  options, out = config.measures, []
  for one, table in sets.items():
    members, groups = stages.membership(config, table)
    labels, own, other = stages.judged(
      config, table, chances[name][one], chances[base][one]
    )
    for limit, suffix in LIMITS.items():
      found = compare(
        labels,
        own,
        other,
        members,
        groups,
        threshold=limit,
        level=options.confidence_level,
        resamples=options.resamples,
        seed=config.seed,
      )
      out += [
        {'set': one, 'row': name, 'against': base, **test}
        | {'measure': test['measure'] + suffix}
        for test in found
        if test['measure'] in MEASURES
        and not (suffix and 'auc' in test['measure'])
      ]
  return out


def deviations(assessed: dict) -> dict:
  """Figure 1: {set: {rate: {term: rate of the term − rate of all rows}}}."""
  out: dict[str, dict] = {}
  for one, parts in assessed['sets'].items():
    for rate in ('fpr', 'fnr'):
      whole = parts['quality'].get(rate, {}).get('value')
      of = {
        term: group[rate]['value'] - whole
        for term, group in parts['groups'].items()
        if whole is not None and group.get(rate, {}).get('value') is not None
      }
      if of:
        out.setdefault(one, {})[rate] = of
  return out


def notes(
  given: dict, found: dict, about: dict, tests: list[dict]
) -> list[str]:
  """What was done, and what a reader must not miss."""
  out = [f'{n}: {note}' for n, t in given.items() for note in stages.notes(t)]
  out += [f'weights: {warning}' for warning in about['warnings']]
  told: dict[tuple[str, str], list[str]] = {}
  for name, by_limit in found.items():
    for one, parts in by_limit['0.5']['sets'].items():
      for warning in parts['warnings']:
        told.setdefault((one, warning), []).append(name)
  for (one, warning), names in told.items():
    if len(names) < len(found):  # the page tells what is true of every row
      out.append(f'{one}, {", ".join(names)}: {warning}')
  if tests and not any('t-test' in t['test'] for t in tests):
    out.append('one seed allows no t-test, so no difference has a dagger')
  return list(dict.fromkeys(out))
