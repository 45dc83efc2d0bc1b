"""Bias benchmarks of a model folder, and of a second one beside it.

model → items → a score for each → estimates with intervals; two models, and a
model with and without an eraser, are compared on the items that they share.
"""

import importlib
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairjax import benchmarks, results, stages
from fairjax.benchmarks import BENCHMARKS, erasing, estimates, holistic
from fairjax.benchmarks.measure import evaluate
from fairjax.config import Config, Mesh
from fairjax.data import files
from fairjax.errors import UserError
from fairjax.identity import identity
from fairjax.metrics import measures, text_likelihood
from fairjax.metrics.intervals import IntervalOptions
from fairjax.models import judge as judges
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> Results:
  """items → scores of each contender → estimates → paired tests → page."""
  with Log(folder, config, main=mesh.is_main()) as log:
    check(config)
    models = contenders(config, folder, log)
    if config.benchmarks.dry_run:
      return dry_run(config, next(iter(models.values())), folder, log)
    for name in config.benchmarks.names:  # before long work
      for model in models.values():
        benchmarks.capability(name, model.able)
    result = {
      name: {'sets': {}, 'facts': one.facts()} for name, one in models.items()
    }
    tests, sections = [], []
    for name in config.benchmarks.names:
      module = importlib.import_module(BENCHMARKS[name].module)
      items, scored = module.items(config), {}
      log.line(f'{name}: {len(items)} items')
      for title, model in models.items():
        one, usable_items, scores = once(
          name, title, model, items, config, folder, log
        )
        result[title]['sets'][name] = one
        scored[title] = (usable_items, scores)
      tests += paired(name, module, scored, config)
      sections.append(section(name, module, result, config))
    if config.data.path:
      for title, model in models.items():
        result[title]['sets']['texts'] = perplexity(model, config)
    outcome = stages.results(
      config,
      data=', '.join(config.benchmarks.names),
      seeds=[],
      title='Bias benchmarks of '
      + ' and '.join(pathlib.Path(name).name for name in models),
      contenders=result,
      focus=next(iter(result)),
      tests=tests,
      notes=[
        'A benchmark that finds nothing is no evidence that there is nothing; '
        'each says below what its number cannot.'
      ],
      sections=sections,
    )
    return stages.publish(folder, outcome, log)


def check(config: Config) -> None:
  options = config.benchmarks
  need = [name for name in options.names if name != 'twins']
  if need and not options.data:
    sources = '; '.join(
      f'{name}: {importlib.import_module(BENCHMARKS[name].module).ORIGIN}'
      for name in need
    )
    raise UserError(
      'benchmarks.data is empty; name the folder of your copies of the files '
      f'with --config.benchmarks.data ({sources})'
    )
  if options.eraser != 'none' and not config.data.path:
    raise UserError(
      f'an eraser is fitted on texts, and data.path is empty; name a file with '
      f'--config.data.path, or leave {options.eraser} out'
    )


def contenders(
  config: Config, folder: pathlib.Path, log: Log
) -> dict[str, judges.Judge]:
  """The model, the model without what an eraser takes, and another one."""
  placement = mesh.placement(mesh.make(Mesh(), 1))
  own = judges.load(config.model, config, placement)
  out = {pathlib.Path(config.model).name: own}
  if config.benchmarks.eraser != 'none':
    eraser = erasing.fit(own, config)
    kind = config.benchmarks.eraser
    log.line(f'{kind}: {eraser.rank} directions taken out')
    erased = own.without(eraser)
    out[f'{pathlib.Path(config.model).name} + {kind}'] = erased
    if own.kind == 'mask' and mesh.is_main():
      judges.export(erased, config.model, folder / 'models' / kind)
      log.line(f'exported to {folder / "models" / kind}')
  if config.benchmarks.against:
    other = judges.load(config.benchmarks.against, config, placement)
    name = pathlib.Path(config.benchmarks.against).name
    out[name if name not in out else f'{name} (2)'] = other
  return out


def once(name, title, model, items, config, folder, log):
  """A benchmark of a contender, its items and scores; scores are kept."""
  module = importlib.import_module(BENCHMARKS[name].module)
  made_from = identity(
    config,
    ('data', 'measures', 'texts'),
    name,
    model.fingerprint(),
    list(items['id']),
  )
  scores = stages.stage(
    folder / 'benchmarks' / f'{name}-{stages.file_name(title)}.parquet',
    made_from,
    lambda path: stages.write_table(path, module.score(model, items, config)),
    pd.read_parquet,
    log,
    config.reuse,
  )
  return evaluate(name, model, items, config, scores)


def paired(
  name: str, module: Any, scored: Mapping[str, tuple], config: Config
) -> list[dict]:
  """Every contender against the first, on the items that both can score."""
  (first, (items, ours)), *others = scored.items()
  options = estimates.of(_how(config))
  out = []
  for title, (theirs_items, theirs) in others:
    if hasattr(module, 'compared'):
      rows = module.compared(items, ours, theirs, options)
    else:
      rows = estimates.compare(
        module.values(items, ours),
        module.values(theirs_items, theirs),
        options,
      )
    for row in rows:
      part = str(row['part'])
      whole = part in ('all', 'intrasentence', 'ambig', 'occupation')
      out.append(
        {
          'set': name,
          'measure': row['metric'] if whole else f'{part}/{row["metric"]}',
          'ours': first,
          'theirs': title,
          'difference': {'seeds': [], **row['difference']},
          'p': row['p'],
          'test': row['test'],
          'n': row['items'],
          'p_adjusted': row['p_holm'],
          'adjusted': f'holm, {len(rows)} tests',
        }
      )
  return out


def _how(config: Config) -> IntervalOptions:
  options = config.measures
  return IntervalOptions(
    options.confidence_level, options.resamples, config.seed
  )


def section(
  name: str, module: Any, contenders: Mapping, config: Config
) -> dict:
  """What a benchmark says of each contender: against what, how sure."""
  parts = [results.text(f'{BENCHMARKS[name].about}.', kind='lead')]
  if hasattr(module, 'LIMITS'):
    parts.append(results.text(f'What it cannot say: {module.LIMITS}'))
  effects: dict[str, dict] = {}
  for title, one in contenders.items():
    rows_of, rows = one['sets'][name], []
    groups = {'all': rows_of.get('fairness', {}), **rows_of.get('groups', {})}
    for part, values in groups.items():
      for measure, value in values.items():
        if measure == 'rows' or not isinstance(value, Mapping):
          continue
        low, high = value.get('floor_low'), value.get('floor_high')
        rows.append(
          {
            'part': part,
            'measure': measures.label(measure),
            'value': value,
            'items': value.get('items'),
            'without a preference': value.get('null'),
            'by chance': None if low is None else f'{low:.3g} to {high:.3g}',
            'p': value.get('p'),
            'p (Holm)': value.get('p_holm', value.get('p_fdr')),
            'test': value.get('test', ''),
          }
        )
        if value.get('low') is not None:
          label = part if len(contenders) == 1 else f'{title}: {part}'
          effects.setdefault(measure, {})[label] = value
          if value.get('null') is not None:
            effects[measure][label] = value
    parts.append(results.heading(title))
    parts.append(results.table(rows))
  for measure, values in effects.items():
    first = next(iter(values.values()))
    some = dict(list(values.items())[:30])
    parts.append(
      results.figure(
        'forest',
        f'{name}_{measure}',
        f'{measures.label(measure)}; the line is no preference.',
        effects=some,
        x_label=measures.label(measure),
        zero=first.get('null'),
      )
    )
  return results.section(f'Benchmark {name}', *parts)


def perplexity(model: judges.Judge, config: Config) -> dict:
  """Of the user's own texts: what a mitigation costs."""
  table = files.texts(config.data)
  texts = model.encode(list(table['text']))
  total, count = text_likelihood.totals(model.log_p(texts), texts)
  result = text_likelihood.perplexity(total, count, _how(config))
  quality = {f'perplexity_{key}': value for key, value in result.items()}
  return {'rows': len(table), 'quality': quality}


def dry_run(
  config: Config, model: judges.Judge, folder: pathlib.Path, log: Log
) -> Results:
  """HolisticBias in full: sentences, tokens, hours and bytes, by a sample."""
  import time

  lists, _ = holistic.read(config.benchmarks.data)
  table = holistic.comparable(holistic.sentences(lists))
  rng = np.random.default_rng([config.seed, 0xB5])
  some = table['text'].to_numpy()[rng.permutation(len(table))[:1024]]
  texts = model.encode(list(some))
  model.log_p(texts)  # compiles
  start = time.perf_counter()
  model.log_p(texts)
  seconds = (time.perf_counter() - start) / len(some)
  tokens = len(texts.flat) / len(some)
  facts = {
    'sentences': len(table),
    'tokens of a sentence': round(tokens, 2),
    'measured on': f'{len(some)} sentences',
    'seconds a sentence': seconds,
    'hours in all': seconds * len(table) / 3600,
    'bytes of tokens': int(4 * tokens * len(table)),
    'bytes of scores': 8 * len(table),
  }
  for key, value in facts.items():
    log.line(
      f'{key}: {value:,}' if isinstance(value, int) else f'{key}: {value}'
    )
  outcome = stages.results(
    config,
    data='holistic',
    seeds=[],
    title=f'HolisticBias by {config.model}: a dry run',
    contenders={},
    facts=facts,
  )
  return stages.publish(folder, outcome, log)
