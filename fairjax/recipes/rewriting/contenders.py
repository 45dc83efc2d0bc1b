"""Contenders: rewritten texts compared, as tables 2 to 4 of FairFlow.

    test texts, rewrites → attribute, fluency, distance
    train texts + rewrites → classifier → quality, TPRD and FPRD of the groups'
      texts (the papers'), of their content, and of the same texts as twins

All contenders are measured on the
same texts with the same resamples, so that every difference is paired.
"""

import functools
from collections.abc import (
  Callable,
  Collection,
  Iterable,
  Iterator,
  Mapping,
  Sequence,
)

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import LINEAR, Config, changed
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.tables.schema import Tables
from fairjax.methods import attribute_texts
from fairjax.metrics import measures, warn
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.metrics.texts import counterfactual, text_likelihood
from fairjax.metrics.texts.counterfactual import Drawn, Sums
from fairjax.models import Bundle
from fairjax.models.build import precision
from fairjax.models.folders import folder as folders
from fairjax.pairs import rewrite_errors
from fairjax.pairs.swapping import swap_eval
from fairjax.recipes.language import likelihood
from fairjax.stages import Experiment

ORIGINAL = 'original'
TEXTS, TRAINED = 'texts', 'classifier'  # the sets of a contender

# {contender: {split: its versions of the texts of that split, by seed}}
Rewrites = Mapping[str, Mapping[str, Sequence[Sequence[str]]]]


def over_seeds(each: Sequence[Sums], seeds: int) -> Sums:
  """The versions of a contender as planes; one that has no seed fills all."""
  rows = np.concatenate([one.rows for one in each])
  if len(rows) == 1:
    rows = np.repeat(rows, seeds, 0)  # no chance in it: alike for each seed
  return each[0]._replace(rows=rows)


def seeds_of(rewrites: Rewrites) -> int:
  """The most versions that a contender has; others have one."""
  return max(
    len(texts) for each in rewrites.values() for texts in each.values()
  )


def named(config: Config, tables: Tables) -> Config:
  """The config that names attribute 1, so that every split has the same."""
  groups = {
    str(one)
    for table in tables.values()
    if 'group' in table
    for one in table['group'].dropna().unique()
  }
  names = sorted(groups - {''})
  if config.rewriters.positive or not names:
    return config
  return changed(config, rewriters={'positive': names[0]})


def attribute(config: Config, table: pd.DataFrame) -> np.ndarray:
  """1 where the text's group is `rewriters.positive`, else 0."""
  if 'group' not in table:
    raise UserError(
      'the texts have no group, so which attribute they show is not known; '
      'name its column with --config.data.group'
    )
  names = sorted(set(table['group'].dropna().astype(str)) - {''})
  if len(names) < 2:
    raise UserError(
      f'all texts are of the group {names[0]!r}, so nothing can be turned into '
      'another; give texts of two groups (--config.data.group)'
      if names
      else 'no text names its group; fill the column of --config.data.group'
    )
  one = config.rewriters.positive or names[0]
  if one not in names:
    raise UserError(
      f'rewriters.positive is {one!r}, but the groups are {", ".join(names)}'
    )
  return (table['group'].astype(str) == one).to_numpy(np.int64)


def measure(
  e: Experiment,
  tables: Tables,
  rewrites: Rewrites,
  reference: Sequence[str],
  against: Sequence[str] = (),
) -> None:
  """Every contender's texts, and a classifier trained on each.

  `rewrites` hold train and test texts; the original texts are a contender of
  themselves. `reference` are twins of the test texts, the same for all, in
  which decisions are compared. Rates are of `measures.pos_label`, of two
  labels. Tests are of each contender against the original and against those of
  `against`.
  """
  config, test = e.config, tables['test']
  splits = {s: [tables[s]['text'].tolist()] for s in ('train', 'test')}
  (sources,) = splits['test']
  rewrites = {ORIGINAL: splits, **rewrites}
  options, cluster = options_of(config), stages.clusters_of(test)[0]
  parts: dict = {name: {TEXTS: [], TRAINED: []} for name in rewrites}
  seeds = seeds_of(rewrites)

  def add(name, where, *each: Sums) -> None:
    sums = over_seeds(each, seeds)
    parts[name][where].append(counterfactual.drawn(sums, options.over(cluster)))

  shows = attribute(config, test)
  for name, chances in transferred(config, tables, rewrites).items():
    lines = (counterfactual.transfer(shows, chance) for chance in chances)
    add(name, TEXTS, *lines)
  if config.rewriters.fluency:
    model = fluent(config)
    for name, each in rewrites.items():
      e.log.line(f'perplexity of {name}')
      logs = (totals(model, texts) for texts in each['test'])
      add(name, TEXTS, *(counterfactual.perplexity(*one) for one in logs))
  warnings = {}
  for name, each in rewrites.items():
    for of in (counterfactual.changes, counterfactual.source_bleu):
      add(name, TEXTS, *(of(sources, texts) for texts in each['test']))
    score, twin = trained(e, tables, name, each, reference)
    label, score, twin = stages.of_positive(config, test, score, twin)
    warnings[name] = warn.of_constant((score >= 0.5).astype(int))
    warnings[name] += unread(config, each)
    groups = counterfactual.group_rates(label, shows, score, twin)
    both = (score, twin), (twin, score)
    sides = (np.where(shows == 1, *scores) for scores in both)
    gaps = counterfactual.rates(label, *sides)
    for sums in (
      counterfactual.quality(label, score),
      groups,
      counterfactual.sizes(groups),
      counterfactual.content(groups),
      gaps,
      counterfactual.sizes(gaps),
    ):
      add(name, TRAINED, sums)
  grid(e, parts, len(test), against)
  for name, words in warnings.items():
    e.add(name, TRAINED, {'warnings': words})


def pairs(
  names: Iterable[str], against: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
  """Which contenders are tested: each against what comes before it."""
  before: list[str] = []
  for name in names:
    others = dict.fromkeys((ORIGINAL, *against))
    yield from ((name, other) for other in others if other in before)
    before.append(name)  # so a pair is tested once


def grid(
  e: Experiment,
  parts: Mapping[str, Mapping[str, Sequence[Drawn]]],
  rows: int | Mapping[str, int],
  against: Sequence[str] = (),
) -> None:
  """{contender: {set: Drawn}} as results' contenders and adjusted tests."""
  options, tests = options_of(e.config), []
  count = lambda where: rows if isinstance(rows, int) else rows[where]
  for name, sets in parts.items():
    e.contenders.setdefault(name, {'sets': {}})
    for where, each in sets.items():
      quality: dict[str, dict] = {}
      for one in each:
        quality |= counterfactual.estimates(one, options)
      if each:
        e.add(name, where, {'rows': count(where), 'quality': quality})
  for name, other in pairs(parts, against):
    for where, each in parts[name].items():
      for ours, theirs in zip(each, parts[other][where]):
        tests += [
          {'set': where, 'ours': name, 'theirs': other, **line}
          for line in counterfactual.tests(ours, theirs, options)
        ]
  e.tests += stages.adjusted(tests)


def transferred(
  config: Config, tables: Tables, rewrites: Rewrites
) -> dict[str, list[np.ndarray]]:
  """P(attribute 1) of each contender's test texts, cross-fitted, by seed."""
  splits = [tables[s] for s in ('train', 'test')]
  texts = [text for table in splits for text in table['text']]
  shows = np.concatenate([attribute(config, table) for table in splits])
  rows = np.arange(len(splits[0]), len(texts))
  ask = functools.partial(attribute_texts.chances, texts, shows, rows=rows)
  return by_seed(ask, {name: each['test'] for name, each in rewrites.items()})


def by_seed(
  ask: Callable, versions: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, list[np.ndarray]]:
  """What `ask(rewrites={key: texts})` says of each version of a contender."""
  flat = {
    (n, k): texts for n, v in versions.items() for k, texts in enumerate(v)
  }
  one = ask(rewrites=flat)
  return {n: [one[n, k] for k in range(len(v))] for n, v in versions.items()}


def fluent(config: Config) -> Bundle:
  """The language model that perplexity is by; no contender wrote with it."""
  name = config.rewriters.fluency
  model = folders.load(name, '', precision(config))
  if model.can not in ('write', 'judge', 'mask'):
    raise UserError(
      f'rewriters.fluency is {name}, which can {model.can}; name a language '
      'model'
    )
  return model


def totals(
  model: Bundle, texts: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
  """Σ log p of each text and its tokens, cut to the model's positions."""
  read = tokens.encode(model.tokenizer, list(texts), model.longest)
  return text_likelihood.totals(likelihood.token_logs(model, read), read)


def classifier_config(config: Config) -> Config:
  """The classifier that is trained on each contender's texts."""
  own = {'lr': 5e-4, 'batch': 32, 'warmup': 0.1, 'epochs': 4.0}
  # No swap is asked for: the twins are the contender's (augment.source).
  given = dict.fromkeys(('words', 'names_file', 'tagger'), '')
  given |= {'name': 'augment', 'axis': 'gender'}
  given |= {'direction': 'opposite', 'scope': 'all'}
  return changed(
    config,
    model='tiny',
    seeds=config.rewriters.seeds,
    train=LINEAR | own,
    method=given,
  )


def trained(
  e: Experiment,
  tables: Tables,
  name: str,
  rewrites: Mapping[str, Sequence[Sequence[str]]],
  reference: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
  """P(label 1) [s, n] of test texts and of their reference twins.

  By the classifiers trained on the texts and the contender's twins of them:
  where the contender has versions by seed each is read by its share of the
  classifiers.
  """
  config = classifier_config(e.config)
  versions = rewrites['train']
  shares = np.array_split(np.arange(config.seeds), len(versions))
  parts = []
  for k, (seeds, twins) in enumerate(zip(shares, versions)):
    if len(seeds):
      first = config.seed + int(seeds[0])
      one = changed(config, seed=first, seeds=len(seeds))
      part = f'{name}, version {k}' if len(versions) > 1 else name
      own = None if name == ORIGINAL else twins
      parts.append(answers(e, one, tables, part, own, reference))
  score, twin = map(np.concatenate, zip(*parts))
  return score, twin


def unread(
  config: Config, versions: Mapping[str, Sequence[Sequence[str]]]
) -> list[str]:
  """Says of versions that there are too few classifiers to read."""
  every, read = len(versions['train']), config.rewriters.seeds
  if every <= read:
    return []
  verb = 'is' if every - read == 1 else 'are'
  return [
    f'{every - read} of {every} versions {verb} read by no classifier, so that '
    'rates and accuracy are of the others alone; train as many with '
    f'--config.rewriters.seeds={every}'
  ]


def answers(
  e: Experiment,
  config: Config,
  tables: Tables,
  name: str,
  twins: Sequence[str] | None,
  reference: Sequence[str],
) -> tuple[np.ndarray, np.ndarray]:
  """A classifier of the texts and `twins`: of test texts and `reference`."""
  test = tables['test'].assign(twin=list(reference))
  plain = {s: tables[s] for s in ('train', 'valid')}
  mine = plain
  if twins is not None:
    train = plain['train'].assign(twin=list(twins))
    mine = stages.mitigate(config, {**plain, 'train': train}, e.log)
  # One vocabulary for all: that of the texts and their reference twins.
  model = stages.prepare(config, {**plain, 'test': test}, e.log)
  pools = stages.pools(model, plain | {'train': mine['train']})
  fit = e.of(config, 'classifiers').fit(model, pools, f'classifier {name}')
  of = lambda column: stages.probabilities(
    config, model, fit.params, test, column
  )[..., 1]
  return of('text'), of('twin')


def rows(contenders: Mapping[str, Mapping]) -> list[dict]:
  """A line a contender, for a table: its leading measures side by side."""
  out = []
  for name, one in contenders.items():
    line = {'contender': name}
    for part in one['sets'].values():
      for key, value in part.get('quality', {}).items():
        line[measures.label(key)] = value
    out.append(line)
  return out


def gold(
  e: Experiment,
  pairs: Mapping[str, swap_eval.Pairs],
  written: Rewrites,
  against: Sequence[str] = (),
  unlisted: Collection[str] = (),
) -> None:
  """Contenders against known twins: {direction: pairs}, {name: {direction}}.

  Exact texts, precision and recall of changed words (these are tested), also
  the recall of `unlisted` words, and the share of texts with each kind of
  error (pairs/rewrite_errors.py).
  """
  if not written:
    return
  options, seeds = options_of(e.config), seeds_of(written)
  known = lambda word: word.lower() in unlisted

  def counted(own, texts):
    return counterfactual.gold(swap_eval.text_counts(own, texts))

  def beyond(own, texts):
    return counterfactual.recall(swap_eval.text_counts(own, texts, known))

  def wrong(own, texts):
    return counterfactual.means(rewrite_errors.table(own, texts))

  def over(measure, where, versions) -> Drawn:
    own = pairs[where]
    cluster = clusters.of_texts([source for source, _ in own])
    sums = [measure(own, list(texts)) for texts in versions]
    return counterfactual.drawn(over_seeds(sums, seeds), options.over(cluster))

  tested = (counted, beyond) if unlisted else (counted,)
  parts = {
    name: {w: [over(one, w, v) for one in tested] for w, v in each.items()}
    for name, each in written.items()
  }
  grid(e, parts, {where: len(own) for where, own in pairs.items()}, against)
  for name, each in written.items():
    for where, versions in each.items():
      errors = counterfactual.estimates(over(wrong, where, versions), options)
      e.contenders[name]['sets'][where]['quality'] |= errors
