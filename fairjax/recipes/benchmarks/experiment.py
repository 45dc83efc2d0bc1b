"""Bias benchmarks of a model folder, and of a second one beside it.

model → items → a score for each → estimates with intervals; two models, and a
model before and after mitigations, are compared on the items that they share.
"""

import functools
import pathlib
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from fairjax import benchmarks, results, stages
from fairjax.benchmarks import BENCHMARKS
from fairjax.benchmarks.shared import (
  by_axis,
  erasing,
  measure,
  result_rows,
  sources,
)
from fairjax.config import Config
from fairjax.core import knobs
from fairjax.core.errors import UserError
from fairjax.core.registry import find
from fairjax.data.tables import files
from fairjax.metrics import measures
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.texts import text_likelihood
from fairjax.models import build
from fairjax.models.reading import judge as judges
from fairjax.models.reading import word_judge
from fairjax.pairs.axes import exchange
from fairjax.recipes import MITIGATIONS
from fairjax.recipes.benchmarks import (
  asked,
  downstream,
  mitigation_front,
  mitigations,
)
from fairjax.report import written
from fairjax.report.names import of_set
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.stages.identity import identity


def check(config: Config) -> None:
  """What is wrong, before anything is read, loaded or made."""
  options = config.benchmarks
  names = options.names or BENCHMARKS
  need = [f'{n}: {at}' for n in names if (at := BENCHMARKS[n].origin)]
  if need and not options.data:
    raise UserError(
      'benchmarks.data is empty; name the folder of your copies of the files '
      f'with --config.benchmarks.data ({"; ".join(need[:4])})'
    )
  there(config)
  words = [m for m in (config.model, config.audit.against) if m]
  words = [m for m in words if word_judge.is_table(m)]
  if words and (options.mitigations or options.task):
    raise UserError(
      f'{words[0]} is a file of word vectors; mitigations and a task need a '
      'language model or an encoder, so leave them out or name its folder'
    )
  if options.mitigations and not config.data.path:
    raise UserError(
      'mitigations are fitted on texts, and data.path is empty; name a file '
      f'with --config.data.path, or leave {options.mitigations[0]} out'
    )


@functools.partial(stages.recipe, check=check)
def run(e: Experiment) -> Results:
  """items → scores of each contender → estimates → paired tests."""
  config, options = e.config, e.config.benchmarks
  tables, remarks = items_of(config)
  for sentence in remarks:
    e.log.line(sentence)
  # Every file is read before any model: what is wrong in it is reported now.
  task = downstream.items(config) if options.task else None
  texts = held_out(config) if config.data.path else []
  models = contenders(e, tables)
  for title, model in models.items():
    e.contenders[title] = {'sets': {}, 'facts': model.facts()}
  sections = []
  for name, items in tables.items():
    e.log.line(f'{name}: {len(items)} items')
    scored = {}
    for title, model in models.items():
      if {*BENCHMARKS[name].needs} & {*model.able}:
        one, *scored[title] = once(e, name, title, model, items)
        e.add(title, name, one)
    e.tests += paired(name, scored, config)
    sections.append(section(name, e.contenders, items))
  sections = [*axes_side_by_side(e.contenders, tables), *sections]
  for title, model in models.items() if config.data.path else ():
    if isinstance(model, judges.Judge) and model.kind in ('mask', 'write'):
      e.add(title, 'texts', perplexity(model, texts, config))
    if options.mitigations and 'embed' in model.able:
      probe = erasing.probe(model, texts, e.how, config.method.axis)
      e.add(title, 'probe', results.plain(probe))
  if task is not None:
    scored = {}
    for title, model in models.items():
      assert isinstance(model, judges.Judge)  # a table was refused
      scores = downstream.score(model, task, config)
      one = downstream.estimate(task, scores, e.how)
      e.add(title, 'task', results.plain(one))
      scored[title] = (task, scores)
    e.tests += tests_of('task', 'all', downstream.values, scored, config)
  if options.mitigations:
    called = exchange.called(config.method.axis)
    sections.insert(0, mitigation_front.section(e.contenders, called))
  return e.results(
    data=', '.join(tables),
    seeds=[],
    title=f'Bias benchmarks of {_named(list(models), config)}',
    focus=next(iter(models)),
    notes=[
      'A benchmark that finds nothing is no evidence that there is nothing; '
      'each says below what its number cannot.',
      *remarks,
    ],
    sections=sections,
  )


def items_of(config: Config) -> tuple[dict[str, pd.DataFrame], list[str]]:
  """The items of each benchmark by name, and what is not there."""
  tables, (names, said) = {}, there(config)
  for name in names:
    try:
      tables[name] = measure.read(name, config)
    except (sources.NotThere, sources.Undrawn) as error:
      if config.benchmarks.names:
        raise
      said.append(f'{name} is left out: {str(error).partition(";")[0]}')
  if not tables:
    raise UserError('. '.join(said))
  return tables, said


def there(config: Config) -> tuple[list[str], list[str]]:
  """The benchmarks whose files are there, and what is said of the others."""
  options, names, missing = config.benchmarks, [], []
  for name in options.names or [n for n, b in BENCHMARKS.items() if b.origin]:
    try:
      sources.places(options.data, name)
      names.append(name)
    except sources.NotThere:
      if options.names:
        raise
      first, *more = '|'.join(BENCHMARKS[name].files).split('|')
      missing.append(f'{name} ({first}{", …" if more else ""})')
  said = f'not in {options.data}, and left out: {", ".join(missing)}'
  said += '; fairjax help NAME says where they are published'
  if not names:
    raise UserError(said)
  return names, [said] if missing else []


def _named(titles: list[str], config: Config) -> str:
  mitigated = len(config.benchmarks.mitigations)
  if not mitigated:
    return ' and '.join(titles)
  word = 'mitigation' if mitigated == 1 else 'mitigations'
  after = f'{titles[0]} before and after {mitigated} {word}'
  if config.method.axis != 'gender':
    after += f' of {exchange.called(config.method.axis)}'
  return f'{after}, and {titles[-1]}' if config.audit.against else after


def contenders(
  e: Experiment, tables: dict[str, pd.DataFrame]
) -> dict[str, judges.Judge | word_judge.WordJudge]:
  """The model, the model after each mitigation, and another one."""
  config, options = e.config, e.config.benchmarks
  own, against = asked.load(config.model, config), config.audit.against
  other = asked.load(against, config) if against else None
  for model in [own] + ([other] if other else []):  # before long work
    for name, items in [*tables.items()]:
      try:
        benchmarks.capability(name, model.able)
        measure.known_words(name, model, items)
      except UserError as error:
        if options.names or len(tables) < 2:  # what was named must work
          raise
        e.log.line(f'{name} is left out: {str(error).partition(";")[0]}')
        del tables[name]
  title = title_of(config.model)
  out = {title: own}
  texts = mitigations.parts(config)[0] if options.mitigations else []
  for kind in options.mitigations:
    mitigate = find(MITIGATIONS, 'mitigation', kind)
    target = e.folder / 'models' / kind
    out[f'{title} + {kind}'] = mitigate(own, texts, e, target)
  if other is not None:
    second = title_of(against)
    out[second if second not in out else f'{second} (2)'] = other
  return out


def title_of(model: str) -> str:
  """The folder's name; of what a run of ours exported, that of the run."""
  path = pathlib.Path(model)
  return path.parents[1].name if path.parent.name == 'export' else path.name


def held_out(config: Config) -> list[str]:
  """The user's texts, but for those that a mitigation was fitted on."""
  if config.benchmarks.mitigations:
    return mitigations.parts(config)[1]
  return list(files.texts(config.data)['text'])


def once(e: Experiment, name: str, title: str, model, items):
  """A benchmark of a contender, its items and scores; scores are kept."""
  module = measure.module(name)
  made_from = identity(
    e.config,
    (),  # nothing but what the scores depend on
    name,
    model.fingerprint(),
    items.to_json(),
    repr({k: v for k, v in items.attrs.items() if k != 'notes'}),
    [knobs.value(e.config, leaf) for leaf in BENCHMARKS[name].leaves],
    getattr(model, 'pos_label', e.config.measures.positive),
    str(build.precision(e.config)),
  )
  scores = e.stage(
    f'benchmarks/{name}-{stages.file_name(title)}.parquet',
    made_from,
    lambda: measure.only_known(
      name, model, items, module.score(model, items, e.config)
    ),
  )
  return measure.evaluate(name, model, items, e.config, scores)


def paired(
  name: str, scored: Mapping[str, tuple], config: Config
) -> list[dict]:
  """Every contender against the first, on the items that both can score."""
  module = measure.module(name)
  return tests_of(
    name,
    BENCHMARKS[name].whole,
    functools.partial(measure.compared_values, name),
    scored,
    config,
    getattr(module, 'compared', None),
  )


def tests_of(
  name: str,
  whole: str,
  values: Callable,
  scored: Mapping[str, tuple],
  config: Config,
  compared: Callable | None = None,
) -> list[dict]:
  """Paired tests by `compared`, or of the means of `values`."""
  (first, (items, ours)), *others = scored.items()
  options = intervals.options_of(config)
  out = []
  for title, (theirs_items, theirs) in others:
    if compared:
      rows = compared(items, ours, theirs, options)
    else:
      rows = result_rows.compare(
        values(items, ours), values(theirs_items, theirs), options
      )
    for row in rows:
      test = result_rows.as_test(row, name, first, title, whole)
      holm = f'holm, {len(rows)} tests'
      out.append(test | {'p_adjusted': row['p_holm'], 'adjusted': holm})
  return out


def axes_side_by_side(result: Mapping, tables: Mapping) -> list[dict]:
  """A table of axis by benchmark, of each contender; none of one axis alone."""
  parts = []
  for title, one in result.items():
    rows, notes = by_axis.lines(one['sets'], tables)
    if len(rows) > 1:
      columns = {key: key for row in rows for key in row}
      parts += [results.heading(title)] if len(result) > 1 else []
      parts.append(results.table(rows, columns, screen=True))
      parts += [results.text(words, kind='quiet') for words in notes]
  return written.sections('benchmark_axes.txt', each=parts) if parts else []


def section(name: str, contenders: Mapping, items: pd.DataFrame) -> dict:
  """What a benchmark says of each contender: against what, how sure."""
  parts = []
  effects: dict[str, dict] = {}
  for title, one in contenders.items():
    if name not in one['sets']:
      parts.append(results.text(f'{title}: its vectors are as they were.'))
      continue
    own, lines = one['sets'][name], []
    for part, values in {'all': own.get('fairness', {}),
                         **own.get('groups', {})}.items():  # fmt: skip
      for key, value in values.items():
        if key != 'rows' and isinstance(value, Mapping):
          lines.append(line_of(part, key, value))
          if value.get('low') is not None:
            label = part if len(contenders) == 1 else f'{title}: {part}'
            effects.setdefault(key, {})[label] = value
    rates = {'p (FDR)'} & {k for one in lines for k, v in one.items() if v}
    if not rates:
      lines = [{k: v for k, v in x.items() if k != 'p (FDR)'} for x in lines]
    parts += [results.heading(title), results.table(lines)]
  for key, values in effects.items():
    some, label = dict(list(values.items())[:30]), measures.label(key)
    null = next(iter(values.values())).get('null')
    caption = f'{label}; the line is no preference.'
    more = {'effects': some, 'x_label': label, 'zero': null}
    parts.append(results.figure('forest', f'{name}_{key}', caption, **more))
  row, notes = BENCHMARKS[name], items.attrs.get('notes', ())
  return written.sections(
    'benchmark.txt',
    **{'name': of_set(name), 'about': row.about, 'each': parts},
    limits=row.limits,
    files=[one for one in notes if isinstance(one, sources.Known)],
  )[0]


def line_of(part: str, key: str, value: Mapping) -> dict:
  """A number of a benchmark, beside what chance gives and how sure it is."""
  low, high = value.get('floor_low'), value.get('floor_high')
  return {
    'part': part,
    'measure': measures.label(key),
    'value': measures.in_print(key, value),
    'items': value.get('items'),
    'without a preference': value.get('null'),
    'by chance': None if low is None else f'{low:.3g} to {high:.3g}',
    'p': value.get('p'),
    'p (Holm)': value.get('p_holm'),
    'p (FDR)': value.get('p_fdr'),
    'test': value.get('test', ''),
  }


def perplexity(model: judges.Judge, texts: list[str], config: Config) -> dict:
  """Of the user's own texts: what a mitigation costs."""
  some = sources.drawn(np.arange(len(texts)), config, 0xBA)
  texts = [texts[i] for i in some]
  ragged = model.encode(texts)
  total, count = text_likelihood.totals(model.log_p(ragged), ragged)
  how, cluster = intervals.options_of(config), clusters.of_texts(texts)
  result = text_likelihood.perplexity(total, count, how.over(cluster))
  quality = {f'perplexity_{key}': value for key, value in result.items()}
  warning = clusters.words(cluster, 'equal texts')
  one = {'rows': len(texts), 'quality': quality}
  return one | ({'warnings': [warning]} if warning else {})
