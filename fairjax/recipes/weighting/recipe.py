"""Instance weights (Zhang et al. 2020), end to end.

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

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables import schema
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, chain, reweight, supplement
from fairjax.models import Bundle
from fairjax.recipes.weighting import page
from fairjax.results import Results
from fairjax.stages.identity import identity
from fairjax.train import mesh
from fairjax.train.progress import Log

KINDS = ('baseline', 'weight', 'swap', 'supplement')
AT = ('eer',)  # a second threshold, beside measures.threshold


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → weights → rows → predictions → measures → tests → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    names = check(config)
    tables = stages.load(config, folder, log)
    sets = stages.test_sets(config, tables)
    tables = stages.mitigate(config, tables, log)
    weights, about = weigh(config, tables, folder, log)
    tables_of = {name: changed(config, tables, weights, name) for name in names}
    every = pd.concat(
      [t['train'] for t in tables_of.values()], ignore_index=True
    )
    every = {**tables, 'train': every.drop_duplicates('id')}
    models = {
      plus: stages.prepare(plain_or_plus(config, plus), every, log)
      for plus in dict.fromkeys(name.endswith('+') for name in names)
    }
    focus = 'weight' if 'weight' in names else names[-1]
    chances = {}
    for name in names:
      plus, own = name.endswith('+'), tables_of[name]
      log.line(f'{name}: {len(own["train"])} training rows')
      chances[name] = predictions(
        *(plain_or_plus(config, plus), models[plus], own, sets, folder, log),
        name,
        export=name == focus,
      )
    stages.keep_predictions(folder, sets, chances, focus)
    config = at_first(config)
    contenders = {
      name: {'sets': stages.assess(config, sets, chances[name], AT)}
      for name in names
    }
    pairs = list(against(names).items())
    tests = stages.compare(config, sets, chances, pairs, AT)
    results = stages.results(
      config,
      contenders=contenders,
      focus=focus,
      tests=tests,
      facts={'weighted rows': about['rows'], 'effective': about['effective']},
      notes=notes(tables_of, about, tests),
      sections=page.sections(
        contenders,
        about,
        by_label(tables, weights),
        config.measures.threshold,
      ),
    )
    return stages.publish(folder, results, log)


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
  reweight.check(tables, config)
  table = reweight.fitted_rows(tables)
  made_from = identity(config, 'weights', table)
  result = stages.stage(
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
    lambda path: stages.write_json(
      path, reweight.report(table, result, config)
    ),
    artefacts.read_json,
    reuse=config.reuse,
  )
  log.line(
    f'weights of {len(result)} rows: {result["weight"].min():.3g} to '
    f'{result["weight"].max():.3g}, effective rows {about["effective"]:.0f}'
  )
  return result, about


def by_label(tables: Tables, weights: pd.DataFrame) -> dict[str, np.ndarray]:
  """The weights of each label's rows."""
  label = reweight.fitted_rows(tables).set_index('id')['label']
  weight = weights.set_index('id')['weight'].loc[label.index]
  return {
    f'label {c}': weight[(label == c).array].to_numpy()
    for c in np.unique(label)
  }


def changed(
  config: Config, tables: Tables, weights: pd.DataFrame, name: str
) -> Tables:
  """The tables that a row's model is trained and stopped on."""
  kind, method = name.removesuffix('+'), config.method
  if kind == 'weight':
    tables = reweight.put(tables, weights)
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


def at_first(config: Config) -> Config:
  """The config whose threshold is the first of two, beside those of AT."""
  if config.measures.threshold not in AT:
    return config
  measures = dataclasses.replace(config.measures, threshold='0.5')
  return dataclasses.replace(config, measures=measures)


def predictions(
  config: Config,
  model: Bundle,
  tables: Tables,
  sets: Tables,
  folder: pathlib.Path,
  log: Log,
  name: str,
  export: bool = False,
) -> dict[str, np.ndarray]:
  """Trains one row's model; probabilities [s, n, c] of each test set."""
  pools = stages.pools(model, tables)
  fit = stages.train(config, model, *pools, folder, log, part=name)
  if export:
    stages.export(config, model, fit.params, folder, log)
  return stages.of_sets(config, model, fit.params, sets)


def against(names: list[str]) -> dict[str, str]:
  """{row: the baseline it is tested against}."""
  out = {}
  for name in names:
    own = 'baseline+' if name.endswith('+') else 'baseline'
    base = own if own in names else 'baseline'
    if base in names and name not in ('baseline', base):
      out[name] = base
  return out


def notes(tables_of: dict, about: dict, tests: list[dict]) -> list[str]:
  """What was done, and what a reader must not miss."""
  out = [
    f'{n}: {note}' for n, t in tables_of.items() for note in stages.notes(t)
  ]
  out += [f'weights: {warning}' for warning in about['warnings']]
  if tests and not any('t-test' in t['test'] for t in tests):
    out.append('one seed allows no t-test, so no difference has a dagger')
  return list(dict.fromkeys(out))
