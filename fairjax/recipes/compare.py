"""Every method against no mitigation: one table, with paired tests.

Each contender is a run of the recipe `train` in its own subfolder, with the
same data, model and seeds, so what is finished there is not trained again. A
contender is a method and the options that it changes:

  method.compare=('augment', 'substitute:ratio=0.5', 'balance:how=up')
"""

import dataclasses
import html
import pathlib
import re

from fairjax import artefacts, stages
from fairjax.config import Config
from fairjax.data.schema import Tables
from fairjax.errors import UserError
from fairjax.methods import chain
from fairjax.metrics.compare import compare as differences
from fairjax.recipes import train
from fairjax.report import blocks, figures, page, plots
from fairjax.report import tables as tabular
from fairjax.train import loop, mesh
from fairjax.train.progress import Log

MEASURES = ('auc', 'macro_auc', 'accuracy', 'dp', 'eqodd', 'fped', 'fned')
USUAL = (
  'augment',
  'substitute:ratio=0.5',
  'balance',
  'balance:how=up',
  'blind',
  'reweight',
)
LIMITS = {  # why a method may not help
  'augment': 'twins help as far as the word lists (or the column twin) reach; '
  'a bias that no listed word carries stays',
  'substitute': 'at 0.5 each text is seen in one form only, so it takes more '
  'rows than augmentation; above 0.5 the bias turns round',
  'balance': 'equal cells of group and label do not tell the model which words '
  'to ignore; cutting leaves few rows and copies add no new text',
  'blind': 'names and words that the lists do not hold, and whatever else goes '
  'with a group, still tell it; the model reads other texts than its peers',
  'supplement': 'only the terms that both tables hold are evened out',
  'reweight': 'weights are only as good as P(y|z), and rows of rare evidence '
  'weigh much: the effective number of rows is smaller',
}


def run(config: Config, folder: pathlib.Path) -> dict:
  """none and each contender → train → differences to none → one table."""
  log = Log(folder, config, main=mesh.is_main())
  tables = stages.load(config, folder, log)
  sets = stages.test_sets(config, tables)
  chosen = config.method.compare or usual(config, tables)
  contenders = {n: variant(config, n) for n in ('none', *chosen)}
  found, chances = {}, {}
  for name, own in contenders.items():
    place = folder / place_of(name)
    log.line(f'{name}: {place}')
    if mesh.is_main():
      artefacts.write_json(place / 'config.json', own)
    found[name] = train.run(own, place)
    mesh.wait_for_all(name)
    chances[name] = artefacts.read_table(place / 'predictions.parquet')
  results = {
    'name': config.data.name,
    'recipe': 'compare',
    'model': config.model,
    'seeds': loop.seed_list(config),
    'methods': rows(found),
    'tests': tests(config, sets, chances),
  }
  results['notes'] = notes(found, results['tests'])
  if mesh.is_main():
    artefacts.write_json(folder / 'results.json', results)
    artefacts.write_text(folder / 'report.html', report(results, folder))
    log.line(summary(results))
    log.line(f'the report is {folder / "report.html"}')
  return results


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
  method, *changes = name.split(':')
  chain(method)  # or a sentence about a method that there is not
  kinds = {f.name: f.type for f in dataclasses.fields(config.method)}
  values = {'name': method, 'compare': ()}
  for change in changes:
    field, _, value = change.partition('=')
    if kinds.get(field) not in (str, float):
      raise UserError(
        f'method.compare has {name!r}, but {field!r} is no option of a method '
        'to change; write METHOD:FIELD=VALUE, as in substitute:ratio=0.5'
      )
    try:
      values[field] = kinds[field](value)
    except ValueError as error:
      raise UserError(
        f'method.compare has {name!r}, but {field} takes a number'
      ) from error
  return dataclasses.replace(
    config,
    recipe='train',
    method=dataclasses.replace(config.method, **values),
    reuse=config.reuse and str(pathlib.Path(config.reuse) / place_of(name)),
  )


def place_of(name: str) -> str:
  return re.sub(r'[^\w.=-]+', '-', name)


def rows(found: dict[str, dict]) -> list[dict]:
  """One row a test set and contender, with the measures' Estimates."""
  return [
    {'set': one, 'method': name}
    | {
      key: (parts['quality'] | parts['fairness'])[key]
      for key in MEASURES
      if key in parts['quality'] | parts['fairness']
    }
    for one in next(iter(found.values()))['sets']
    for name, results in found.items()
    for parts in [results['sets'][one]]
  ]


def tests(config: Config, sets: dict, chances: dict) -> list[dict]:
  """Each contender's differences to none, with paired tests."""
  options, out = config.measures, []
  for one, table in sets.items():
    members, names = stages.membership(config, table)
    of = {n: probabilities(p[p['set'] == one]) for n, p in chances.items()}
    for name in list(of)[1:]:
      labels, own, none = stages.judged(config, table, of[name], of['none'])
      lines = differences(
        labels,
        own,
        none,
        members,
        names,
        threshold=options.threshold,
        level=options.confidence_level,
        resamples=options.resamples,
        seed=config.seed,
      )
      out += [
        {'set': one, 'method': name, **line}
        for line in lines
        if line['measure'] in MEASURES
      ]
  return out


def probabilities(predictions):
  """[s, n] of the positive class, or [s, n, c], as they were published."""
  columns = [c for c in predictions if re.fullmatch(r'p\d+(_c\d+)?', c)]
  values = predictions[columns].to_numpy().T
  if '_c' not in columns[0]:
    return values
  seeds = 1 + max(int(re.match(r'p(\d+)', c)[1]) for c in columns)
  return values.reshape(seeds, -1, values.shape[1]).transpose(0, 2, 1)


def over_examples(tests: list[dict], one: str, measure: str) -> dict:
  """The test over examples of each contender: {method: test}."""
  found: dict[str, dict] = {}
  for test in tests:
    if test['set'] == one and test['measure'] == measure:
      found.setdefault(test['method'], test)
  return found


def notes(found: dict[str, dict], tests: list[dict]) -> list[str]:
  """What was done, what went wrong, and why a method may not have helped."""
  out = [f'{n}: {note}' for n, r in found.items() for note in r['notes']]
  for one in dict.fromkeys(test['set'] for test in tests):
    gains = over_examples(tests, one, 'dp')
    losses = over_examples(tests, one, 'auc')
    for name, gain in gains.items():
      low, high = gain['difference']['low'], gain['difference']['high']
      methods = re.split(r'\s*\+\s*', name.split(':')[0])
      if low is not None and low <= 0:
        what = 'lowers dp' if high < 0 else 'does not raise dp for sure'
        why = '; '.join(LIMITS[m] for m in methods if m in LIMITS)
        out.append(f'{name}, {one}: {what}: {why}')
      lost = losses.get(name, {'difference': {}})['difference'].get('high')
      if lost is not None and lost < 0:
        out.append(f'{name}, {one}: loses auc, more than chance would')
  for name, results in found.items():
    for one, parts in results['sets'].items():
      out += [f'{name}, {one}: {w}' for w in parts['warnings']]
  return [*out, 'p values are of single tests, not adjusted for their number']


def changes(tests: list[dict], one: str) -> list[dict]:
  """A row a contender: differences of auc and dp to none with their p."""
  out: dict[str, dict] = {}
  for test in tests:
    if test['set'] == one and test['measure'] in ('auc', 'dp'):
      row = out.setdefault(test['method'], {'method': test['method']})
      if test['measure'] not in row:
        row[test['measure']] = test['difference']
        row[f'p of {test["measure"]}'] = test['p']
      else:
        row[f'p of {test["measure"]} over seeds'] = test['p']
  return list(out.values())


def parts(results: dict) -> list[tuple[str, list[dict], list[dict]]]:
  """(test set, rows of measures, rows of differences)."""
  every = dict.fromkeys(row['set'] for row in results['methods'])
  return [
    (
      one,
      [
        {k: v for k, v in row.items() if k != 'set'}
        for row in results['methods']
        if row['set'] == one
      ],
      changes(results['tests'], one),
    )
    for one in every
  ]


def summary(results: dict) -> str:
  """The table on the screen."""
  out = [f'## {results["name"]} · {results["model"]} · {results["seeds"]}']
  for one, measures, gains in parts(results):
    out += [f'### {one}', tabular.markdown(measures, width=150)]
    out += ['Differences to none:', tabular.markdown(gains, width=150)]
  notes = '\n'.join(f'- {note}' for note in results['notes'])
  return '\n\n'.join([*out, notes])


def report(results: dict, folder: pathlib.Path) -> str:
  """The page: tables, a forest of the differences, notes, links."""
  sections = []
  for one, measures, gains in parts(results):
    body = blocks.table(measures) + blocks.heading('Differences to none')
    for key in ('dp', 'auc'):
      effects = {g['method']: g[key] for g in gains if key in g}
      if effects:
        plot = plots.forest(effects, f'{key}, difference to none')
        figures.save(plot, folder / 'plots' / place_of(f'{key}_{one}.png'))
        body += blocks.figure(
          plot,
          f'{key} of each method minus {key} of none on {one}; right is better.'
          ' A hollow point: the interval holds 0.',
        )
    sections.append(
      blocks.Section(f'Test set {one}', body + blocks.table(gains))
    )
  names = dict.fromkeys(row['method'] for row in results['methods'])
  links = ''.join(
    f'<li><a href="{html.escape(place_of(name))}/report.html">'
    f'{html.escape(name)}</a></li>'
    for name in names
  )
  sections += [
    blocks.Section('Notes', blocks.bullets(results['notes'])),
    blocks.Section('Each run', f'<ul>{links}</ul>'),
    blocks.Section(
      'What these numbers do not say', blocks.bullets(page.SILENT)
    ),
  ]
  title = f'Methods on {results["name"]} with {results["model"]}'
  return blocks.page(title, sections)
