"""The rows of Zhang et al.'s table, trained, measured and tested.

All rows share one vocabulary, one compiled step and the initial weights. A
dagger marks a difference to the baseline (of a + row: to baseline+, if it is
there) by a two-sided t-test over seeds. Beside `measures.threshold` stands the
equal error rate.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import results, stages
from fairjax.config import Config, changed
from fairjax.data.tables import labels
from fairjax.data.tables.schema import Tables
from fairjax.data.word_tables import table_rows
from fairjax.methods import reweight
from fairjax.metrics import measures
from fairjax.recipes.weighting import algorithm
from fairjax.report import written
from fairjax.report.pictures import plots
from fairjax.results import Results
from fairjax.stages import Experiment

AT = ('eer',)  # a second threshold, beside measures.threshold
MOST_TERMS = 20  # in one picture
# Of the weights, as the page names them.
FACTS = dict(table_rows(__file__, 'facts.csv'))


@stages.recipe
def run(e: Experiment) -> Results:
  """config → weights → rows → predictions → measures → tests → report."""
  names = algorithm.check(e.config)
  e.config = at_first(e.config)
  tables = stages.mitigate(e.config, e.load(), e.log)
  weights, about = algorithm.weigh(e, tables)
  tables_of = {
    name: algorithm.tables_of(e.config, tables, weights, name) for name in names
  }
  focus = 'weight' if 'weight' in names else names[-1]
  trained(e, tables_of, tables, focus)
  e.compare(list(against(names).items()), focus, AT)
  bars = [
    rates_by_term(e, one, rate) for one in e.sets for rate in ('fpr', 'fnr')
  ]
  return e.results(
    facts={'weighted rows': about['rows'], 'effective': about['effective']},
    notes=notes(tables_of, about, e.tests),
    sections=written.sections(
      'weighting.txt',
      bars=[*filter(None, bars)],
      **_weights(about, tables, weights),
    ),
  )


def at_first(config: Config) -> Config:
  """The config whose threshold is the first of two, beside those of AT."""
  asked = config.measures.threshold
  return changed(config, measures={'threshold': '0.5'} if asked in AT else {})


def trained(
  e: Experiment, tables_of: Mapping[str, Tables], tables: Tables, focus: str
) -> None:
  """A classifier of each row's tables; that of the focus is exported."""
  rows = [own['train'] for own in tables_of.values()]
  rows = pd.concat(rows, ignore_index=True).drop_duplicates('id')
  models = {}
  for name, own in tables_of.items():
    plus = name.endswith('+')  # reads vectors without a gender direction
    without = plus or e.config.net.remove_gender
    config = changed(e.config, net={'remove_gender': without})
    if plus not in models:  # of the words of all rows
      every = {**tables, 'train': rows}
      models[plus] = stages.prepare(config, every, e.log)
    e.log.line(f'{name}: {len(own["train"])} training rows')
    model, kept = models[plus], name == focus
    pools = stages.pools(model, own)
    fit = e.of(config).fit(model, pools, name, export=kept)
    chances = stages.of_sets(config, model, fit.params, e.sets)
    e.answer(name, chances, more=AT)


def against(names: Sequence[str]) -> dict[str, str]:
  """{row: the baseline it is tested against}."""
  out = {}
  for name in names:
    own = 'baseline+' if name.endswith('+') else 'baseline'
    base = own if own in names else 'baseline'
    if base in names and name not in ('baseline', base):
      out[name] = base
  return out


def notes(tables_of: Mapping, about: Mapping, tests: list[dict]) -> list[str]:
  """What was done, and what a reader must not miss."""
  out = [
    f'{n}: {note}' for n, t in tables_of.items() for note in stages.notes(t)
  ]
  out += [f'weights: {warning}' for warning in about['warnings']]
  if tests and not any('t-test' in t['test'] for t in tests):
    out.append('one seed allows no t-test, so no difference has a dagger')
  return list(dict.fromkeys(out))


def deviations(one: Mapping, rate: str) -> dict[str, float]:
  """Figure 1 of Zhang et al.: {term: its rate − that of all rows}."""
  whole = one['quality'].get(rate, {}).get('value')
  of = {t: g.get(rate, {}).get('value') for t, g in one['groups'].items()}
  if whole is None:
    return {}
  return {t: value - whole for t, value in of.items() if value is not None}


def rates_by_term(e: Experiment, one: str, rate: str) -> dict | None:
  """The terms that deviate most in the first contender, and all of theirs."""
  of = {
    n: deviations(own['sets'][one], rate) for n, own in e.contenders.items()
  }
  first = next(iter(of.values()))
  terms = sorted(first, key=lambda t: (-abs(first[t]), t))[:MOST_TERMS]
  if not any(any(each.values()) for each in of.values()):
    return None
  label = measures.label(rate)
  return results.figure(
    'bars',
    f'{rate}_by_term_{one}',
    f'{label} of each term less that of all rows of {one}, at threshold '
    f'{e.config.measures.threshold} (the {len(terms)} terms farthest from 0 '
    'for the first contender).',
    terms=terms,
    series={n: [f.get(t) for t in terms] for n, f in of.items()},
    x_label=f'{label}, less that of all rows',
  )


def _weights(about: Mapping, tables: Tables, weights: pd.DataFrame) -> dict:
  """What the page shows of the weights and their terms."""
  label = reweight.fitted_rows(tables).set_index('id')['label']
  weight = weights.set_index('id')['weight'].loc[label.index]
  named = labels.class_names(tables)
  by_label = {
    f'label {named[c]}': weight[(label == c).array].to_numpy()
    for c in np.unique(label)
  }
  terms = sorted(about['terms'], key=lambda t: -abs(t['gap']))[:MOST_TERMS]
  gaps = {'unweighted': 'gap', 'weighted': 'weighted_gap'}
  return {
    'about': about,
    'facts': results.facts({called: about[k] for k, called in FACTS.items()}),
    'weights': results.figure(
      *('distribution', 'weights', ''),
      **plots.histogram(by_label),
      x_label='weight of a row',
    ),
    'estimators': about['estimators'],
    'picture': results.figure(
      *('bars', 'terms', ''),
      terms=[t['term'] for t in terms],
      series={name: [t[k] for t in terms] for name, k in gaps.items()},
      x_label='share in positives − share in all rows',
    ),
    'terms': about['terms'],
  }
