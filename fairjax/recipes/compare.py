"""Every method against no mitigation: one table, with paired tests.

Each contender is trained as by the recipe `train`, in a subfolder with a page
of its own, with the same data, model and seeds, so what is finished there is
not trained again. A contender is a method and the options that it changes:

  method.compare=('augment', 'substitute:ratio=0.5', 'balance:how=up')
"""

import dataclasses
import pathlib
import re

from fairjax import methods, stages
from fairjax.config import Config, changed
from fairjax.core import artefacts, ended, knobs
from fairjax.core.errors import UserError
from fairjax.core.registry import meant
from fairjax.data.tables.schema import Tables
from fairjax.methods import augment, balance, supplement
from fairjax.recipes.train import after_method
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.train import mesh
from fairjax.train.progress import Log

USUAL = (
  *('augment', 'substitute:ratio=0.5', 'balance', 'balance:how=up', 'blind'),
  'reweight',
)
ENDS = 'low', 'high'


@stages.recipe
def run(e: Experiment) -> Results:
  """none and each contender → train → differences to none → one table."""
  tables = e.load()
  chosen = e.config.method.compare or usual(e.config, tables)
  variants = {name: variant(e.config, name) for name in ('none', *chosen)}
  for name, own in variants.items():
    refuse_early(name, own, tables)
  remarks = {}
  for name, own in variants.items():
    target = e.folder / stages.file_name(name)
    e.log.line(f'{name}: {target}')
    if mesh.is_main():
      ended.describe(artefacts.write_json, target / 'config.json', own)
    with Log(target, own, main=mesh.is_main()) as log:
      one = Experiment(own, target, log)
      found = stages.publish(target, after_method(one, one.load()), log)
    mesh.wait_for_all(name)
    page = {'page': f'{target.name}/report.html'}
    e.contenders[name] = one.contenders[own.method.name] | page
    e.chances[name] = one.chances[own.method.name]
    remarks[name] = found.notes
  pairs = [(name, 'none') for name in chosen]
  # Of methods that were named the first is compared with the others, too.
  pairs += [(chosen[0], name) for name in e.config.method.compare[1:]]
  e.tests = stages.compare(e.config, e.sets, e.chances, pairs)
  return e.results(
    title=f'Methods on {stages.data_of(e.config)} with {e.config.model}',
    notes=notes(remarks, e.tests),
  )


def usual(config: Config, tables: Tables) -> tuple[str, ...]:
  """All methods that this config has what is needed for."""
  by = [name.strip() for name in config.method.by.split(',')]
  known = {*tables['train'], 'gender'}  # gender can be read from the texts
  return tuple(
    name
    for name in (*USUAL, 'supplement')
    if (config.method.table or name != 'supplement')
    and (known.issuperset(by) or not name.startswith('balance'))
  )


def variant(config: Config, name: str) -> Config:
  """The config of a contender: 'METHOD:FIELD=VALUE:…'."""
  first, *changes = name.split(':')
  methods.chain(first)  # or a sentence about a method that there is not
  kinds = {f.name: f.type for f in dataclasses.fields(config.method)}
  values = {}
  for change in changes:
    field, _, value = change.partition('=')
    if kinds.get(field) not in (str, float) or field == 'name':
      raise UserError(
        f'method.compare has {name!r}, but {field!r} is no option of a method '
        'to change; write METHOD:FIELD=VALUE, as in substitute:ratio=0.5'
      )
    try:
      values[field] = float(value) if kinds[field] is float else value
    except ValueError as error:
      raise UserError(
        f'method.compare has {name!r}, but {field} takes a number'
      ) from error
  parts = {'name': first, 'compare': (), **values}
  own = changed(config, recipe='train', method=parts)
  try:
    knobs.check(own, Config)
    methods.check(own.method, values)
  except UserError as error:
    raise UserError(f'method.compare has {name!r}: {error}') from error
  earlier = pathlib.Path(config.reuse) / stages.file_name(name)
  return changed(own, reuse=config.reuse and str(earlier))


def refuse_early(name: str, config: Config, tables: Tables) -> None:
  """Raises what a contender's method would say of the data, at its turn."""
  first, *_ = methods.chain(config.method.name) or ['']  # others read its rows
  try:
    # What swaps texts refuses no data, and is not done twice.
    if first == 'balance':
      balance.balance(tables, config)
    elif first == 'supplement':
      supplement.supplement(tables, config)
    elif first == 'augment':
      augment.best_first(tables['train'], config)
  except UserError as error:
    raise UserError(f'method.compare has {name!r}: {error}') from error


def notes(remarks: dict[str, list[str]], tests: list[dict]) -> list[str]:
  """What was done, what went wrong, and why a method may not have helped."""
  out = [f'{name}: {one}' for name, own in remarks.items() for one in own]
  for test in tests:
    name, (low, high) = test['ours'], map(test['difference'].get, ENDS)
    if 't-test' in test['test'] or low is None or test['theirs'] != 'none':
      continue
    parts = re.split(r'\s*\+\s*', name.split(':')[0])
    rows = [key for one in parts for key in meant(one, methods.METHODS)]
    where = f'{name}, {test["set"]}'
    if test['measure'] == 'dp' and low <= 0:
      what = 'lowers dp' if high < 0 else 'may not raise dp at all'
      own = (getattr(methods.METHODS[row], 'limits', '') for row in rows)
      why = '; '.join(filter(None, own))
      out.append(f'{where}: {what}' + (f': {why}' if why else ''))
    if test['measure'] == 'auc' and high < 0:
      out.append(f'{where}: the AUC is lower')
  return out
