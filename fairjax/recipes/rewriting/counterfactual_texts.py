"""FairFlow's stages 4 to 6: dictionary, repair, generator, evaluation.

    texts → swap → repair → (source, repaired) → generator → texts
    all contenders' texts → tables 2, 3, 4; known twins → exact and changed

A contender is a way to write the counterfactual of a text: a dictionary (ours
by hand, or the one that FairFlow made), the same with odd words repaired, and
a generator fine-tuned on either. FairFlow's V1 is dictionary + repair + BART,
its V2 flow + repair + BART, 'Hall-M + BART' is dictionary + BART; where nothing
repairs, flow + BART is there instead.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import LINEAR, Config, changed
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.tables.schema import Tables, has_twin
from fairjax.metrics import measures
from fairjax.models import Bundle, rewriting
from fairjax.pairs import recase, rewrite_errors
from fairjax.pairs.swapping import dictionary, swap_eval
from fairjax.recipes.rewriting import contenders, repairing, rewriter, sampled
from fairjax.recipes.rewriting.contenders import Rewrites
from fairjax.report import verdict
from fairjax.report.written import sections
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import mesh

Write = Callable[[Sequence[str]], list[str]]


class Writer(NamedTuple):
  """What writes a contender's texts, and the model that it writes with."""

  write: Write
  model: Bundle | None = None


# {contender: its writers by seed, one where there is no chance in it}
Writers = Mapping[str, Sequence[Writer]]
GOLD = 61  # stream of the rows whose twins are known
TWINS = 'twins of the test texts in which decisions are compared'


class RewriteInputs(NamedTuple):
  """What contenders are made of."""

  e: Experiment
  words: pathlib.Path | None = None  # FairFlow's dictionary
  helpers: tuple[Bundle, Bundle] | None = None  # repairing.load's

  def of(self, config: Config) -> 'RewriteInputs':
    return self._replace(e=self.e.of(config))


@stages.recipe
def run(e: Experiment) -> Results:
  """config → tables → contenders → rewrites → tables 2, 3, 4 → report."""
  words = e.config.method.words
  parts = report(material(e, pathlib.Path(words) if words else None))
  title = 'Counterfactual texts, contender by contender'
  return e.results(title=title, **parts)


def material(e: Experiment, words: pathlib.Path | None) -> RewriteInputs:
  """The contenders' parts, once what they need is known to be there."""
  if 'fairflow' in e.config.rewriters.contenders and words is None:
    raise UserError(
      "rewriters.contenders has 'fairflow', but FairFlow's dictionary is not "
      'here; name it with --config.method.words=FOLDER/dictionary.csv'
    )
  # The list by hand is the program's own; method.words is FairFlow's.
  e.config = config = changed(e.config, method={'words': ''})
  look(config)
  helpers = repairing.load(config) if config.repair.detector else None
  return RewriteInputs(e, words, helpers)


def look(config: Config) -> None:
  """Looks early at folders that are read late."""
  if config.rewriters.generator:
    rewriter.check_folder(generator_config(config))
  if config.rewriters.fluency:
    contenders.fluent(config)
  if config.rewriters.gold:
    swap_eval.geco(config.rewriters.gold)


def read(e: Experiment) -> Tables:
  """The texts, sampled; the config then names attribute 1."""
  tables = stages.load(e.config, e.folder, e.log)
  two = sampled.of_two(e.config, tables)
  e.config = contenders.named(two, tables)
  contenders.attribute(e.config, tables['test'])
  return sampled.sampled(e.config, tables, e.log)


def report(m: RewriteInputs) -> dict:
  """Stages 4 to 6, measured into `m.e`; facts, verdicts and sections."""
  tables, config = read(m.e), m.e.config
  # FairFlow's dictionary is called by what moved the words, as in its table.
  called = {'dictionary': 'dictionary', 'fairflow': config.fairflow.way}
  swaps = {called[one]: swapper(m, one) for one in config.rewriters.contenders}
  for name, swap in swaps.items():
    check_changes(m, name, swap, tables['train']['text'].tolist())
  facts: dict = {}
  repairs = {
    name: repairs_of(m, tables, name, swap)
    for name, swap in swaps.items()
    if m.helpers
  }
  writers = writers_of(m, tables, swaps, repairs, facts)
  rewrites = rewritten(m, tables, writers)
  facts |= unread(tables, writers)
  twins, facts[TWINS] = twins_of(config, tables['test'])
  first = next(iter(swaps))
  against = (first, f'{first} + BART')
  contenders.measure(m.e, tables, rewrites, twins, against)
  known = against_gold(m, tables['test'], writers, (first,))
  rows, title = contenders.rows(m.e.contenders), 'Tables 2, 3 and 4'
  grid = sections('rewrites.txt', title=title, rows=rows)
  return {'facts': facts, 'sections': [*grid, *worse(m.e, known, first)]}


def twins_of(config: Config, test: pd.DataFrame) -> tuple[list[str], str]:
  """Twins of the test texts in which decisions are compared, and whose."""
  if 'twin' in test and has_twin(test).any():
    return test['twin'].tolist(), 'known, as the data has them'
  options = dictionary.options(config.method, config.seed)
  swaps = dictionary.swap(test['text'].tolist(), **options)
  return swaps.texts, "the dictionary's"


def swapper(m: RewriteInputs, name: str) -> Write:
  """Texts swapped by the list by hand, or by FairFlow's dictionary."""
  method = m.e.config.method
  if name != 'dictionary':  # names as the list by hand has them
    method = dataclasses.replace(method, words=str(m.words))
  chosen = dictionary.options(method, m.e.config.seed)
  return lambda texts: dictionary.swap(list(texts), **chosen).texts


def check_changes(
  m: RewriteInputs, name: str, swap: Write, texts: list[str]
) -> None:
  """Stops where a dictionary has none of the texts' words."""
  if any(old != new for old, new in zip(texts, swap(texts))):
    return
  where = (
    str(m.words) if name != 'dictionary' else "the program's own English list"
  )
  raise UserError(
    f'{where} changes none of the {len(texts)} training texts; is it of '
    'another language or attribute? Choose others with '
    '--config.rewriters.contenders, or another list with --config.method.words'
  )


def repairs_of(
  m: RewriteInputs, tables: Tables, name: str, swap: Write
) -> dict[str, pd.DataFrame]:
  """Stage 4 of each split: source, swap, mask, repair."""

  def make(split: str) -> pd.DataFrame:
    sources = tables[split]['text'].tolist()
    frame = repairing.repaired(m.e.config, m.helpers, swap(sources))
    frame.insert(0, 'source', sources)
    frame.insert(0, 'id', tables[split]['id'].to_numpy())
    m.e.log.line(
      f'repair, {name}, {split}: {int((frame["odd"] > 0).sum()):,} of '
      f'{len(frame):,} texts had odd words'
    )
    return frame

  words = artefacts.content(m.words) if m.words else ''
  texts = [words, *(list(one['text']) for one in tables.values())]
  made_from = identity(m.e.config, ('repair', 'texts', 'data'), name, texts)
  return m.e.frames(f'repair/{name}', made_from, tables, make)


def writers_of(
  m: RewriteInputs,
  tables: Tables,
  swaps: Mapping[str, Write],
  repairs: Mapping[str, Mapping[str, pd.DataFrame]],
  facts: dict,
) -> dict[str, list[Writer]]:
  """{contender: what writes its texts}, simplest first."""
  out: dict[str, list[Writer]] = {}
  for name, swap in swaps.items():
    out[name] = [Writer(swap)]
    if name in repairs:
      frames = repairs[name].values()
      known = {s: r for f in frames for s, r in zip(f['source'], f['repair'])}
      repair = functools.partial(repair_by, m, swap, known)
      out[f'{name} + repair'] = [Writer(repair)]
  if not m.e.config.rewriters.generator:
    return out
  for name, swap in swaps.items():
    if name == 'dictionary' or name not in repairs:  # as Hall Maudslay et al.
      targets = {s: swap(rows['text']) for s, rows in tables.items()}
      out[f'{name} + BART'] = generator(m, tables, targets, name, facts)
    if name in repairs:
      targets = {s: list(f['repair']) for s, f in repairs[name].items()}
      title = f'{name} + repair + BART'
      out[title] = generator(m, tables, targets, f'{name}-repair', facts)
  return out


def repair_by(
  m: RewriteInputs, swap: Write, known: Mapping[str, str], texts: Sequence[str]
) -> list[str]:
  """Texts swapped and repaired, but for those whose repair is known."""
  rest = [*dict.fromkeys(text for text in texts if text not in known)]
  if rest:
    frame = repairing.repaired(m.e.config, m.helpers, swap(rest))
    known = {**known, **dict(zip(rest, frame['repair'], strict=True))}
  return [known[text] for text in texts]


def generator(
  m: RewriteInputs,
  tables: Tables,
  targets: Mapping[str, Sequence[str]],
  name: str,
  facts: dict,
) -> list[Writer]:
  """Stage 5: a model fine-tuned on source → target, as a writer a seed."""
  return [
    writer(config, tuned(m, config, tables, targets, name, facts))
    for config in generator_configs(m.e.config)
  ]


def writer(config: Config, model: Bundle) -> Writer:
  """A generator as a writer."""
  return Writer(functools.partial(written, config, model), model)


def tuned(
  m: RewriteInputs,
  config: Config,
  tables: Tables,
  targets: Mapping[str, Sequence[str]],
  name: str,
  facts: dict,
) -> Bundle:
  """The generator fine-tuned on source → target, of the config's seed."""
  frames = [
    pd.DataFrame(
      {'source': tables[s]['text'].tolist(), 'target': list(t), 'split': s}
    )
    for s, t in targets.items()
  ]
  pairs = pd.concat(frames, ignore_index=True)
  pairs = pairs[pairs['target'].str.strip() != '']  # nothing to learn
  more = config.seed - m.e.config.seed
  name = f'{name}-{more}' if more else name
  m.e.log.line(f'generator on {name}')
  own = m.e.of(config, f'generator/{name}')
  one = rewriter.fit(own, pairs)
  facts[f'held-out loss of the generator, {name}'] = one.quality['loss'][
    'value'
  ]
  facts[f'steps of the generator, {name}'] = one.fit.steps
  if mesh.is_main():
    rewriter.save(one.model, own.folder / 'export')
  return one.model


def generator_config(config: Config) -> Config:
  """Fine-tuning as the paper's code does it, but for what was wrong there:
  AdamW, linear decay, no warm-up, clipped at 1; padding is not learned.
  """
  chosen = config.rewriters
  own = {'optimizer': 'adamw', 'warmup': 0.0, 'weight_decay': 0.0}
  own |= {'max_grad_norm': 1.0, 'eps': 1e-8, 'load_best': True}
  own |= {'lr': chosen.lr, 'epochs': chosen.epochs}
  own |= {'batch': chosen.batch, 'patience': chosen.patience}
  return changed(config, model=chosen.generator, seeds=1, train=LINEAR | own)


def generator_configs(config: Config) -> list[Config]:
  """That of each seed of a generator."""
  return [
    generator_config(changed(config, seed=config.seed + k))
    for k in range(config.rewriters.generators)
  ]


def written(config: Config, model: Bundle, texts: Sequence[str]) -> list[str]:
  """What a generator writes, in the case and spacing of its source."""
  texts = list(texts)
  rows = np.flatnonzero(rewriting.fits(model, texts))
  out = list(texts)  # too long a text stays; `unread` counts them
  for i, new in zip(
    rows, rewriter.write(config, model, [texts[i] for i in rows])
  ):
    out[i] = recase.restore(texts[i], new) or texts[i]  # it may write nothing
  return out


def unread(tables: Tables, writers: Writers) -> dict[str, int]:
  """How many texts are too long for a contender's model, for the facts."""
  counts = {
    f'texts too long for {name}, left as they are, {split}': _too_long(
      own, tables[split]['text'].tolist()
    )
    for name, own in writers.items()
    for split in ('train', 'test')
  }
  return {what: n for what, n in counts.items() if n}


def _too_long(writers: Sequence[Writer], texts: Sequence[str]) -> int:
  """How many texts the writers' model has no positions for."""
  model = writers[0].model  # the others differ in their seed alone
  return int((~rewriting.fits(model, texts)).sum()) if model else 0


def rewritten(m: RewriteInputs, tables: Tables, writers: Writers) -> Rewrites:
  """Each contender's versions of the training and the test texts: a stage.

  texts/CONTENDER/SPLIT.parquet are tables whose column `twin` data.twin names;
  those of further seeds are twin_1, twin_2.
  """
  texts = {s: tables[s]['text'].tolist() for s in ('train', 'test')}
  plain = {s: tables[s][['id', 'text', 'label', 'group']] for s in texts}
  return {
    name: once(m, 'texts', name, own, texts, plain)
    for name, own in writers.items()
  }


def once(
  m: RewriteInputs,
  place: str,
  name: str,
  writers: Sequence[Writer],
  texts: Mapping[str, Sequence[str]],
  beside: Mapping[str, pd.DataFrame],
) -> dict[str, list[list[str]]]:
  """What the writers make of each set of texts, kept in a file a set."""
  columns = [f'twin_{k}' if k else 'twin' for k in range(len(writers))]

  def make(where: str) -> pd.DataFrame:
    m.e.log.line(f'{name} writes {len(texts[where]):,} texts, {where}')
    twins = {c: one.write(texts[where]) for c, one in zip(columns, writers)}
    return beside[where].assign(**twins)

  models = [one.model for one in writers if one.model]
  made_from = identity(
    m.e.config,
    ('texts', 'repair', 'data'),
    name,
    artefacts.content(m.words) if m.words else '',
    *(list(some) for some in texts.values()),
    *(one.tokenizer.to_str() for one in models),
    *(np.asarray(leaf) for x in models for leaf in jax.tree.leaves(x.params)),
  )
  path = f'{place}/{stages.file_name(name)}'
  kept = m.e.frames(path, made_from, texts, make)  # decoding takes longest
  for where, some in texts.items():
    if over := _too_long(writers, some):
      m.e.log.line(
        f'{name}: {over:,} of {len(some):,} texts are too long for its model '
        f'and stay as they are, {where}'
      )
  return {w: [t[c].tolist() for c in columns] for w, t in kept.items()}


def against_gold(
  m: RewriteInputs,
  test: pd.DataFrame,
  writers: Writers,
  against: Sequence[str],
  unlisted: Collection[str] = (),
) -> list[str]:
  """Every contender where twins are known: test texts that have one, GECO.

  Tested against those of `against`; `unlisted` are words that no target turned.
  Returns the names of these sets.
  """
  known = known_twins(m.e.config, test)
  texts = {where: [one for one, _ in rows] for where, rows in known.items()}
  beside = {
    where: pd.DataFrame(rows, columns=['text', 'known'])
    for where, rows in known.items()
  }
  each = {
    name: once(m, 'known', name, own, texts, beside)
    for name, own in (writers.items() if known else ())
  }
  contenders.gold(m.e, known, each, against, unlisted)
  return list(known)


def known_twins(
  config: Config, test: pd.DataFrame
) -> dict[str, swap_eval.Pairs]:
  """{set: texts and their twins}; GECO's sentences are in both directions."""
  options, out = config.rewriters, {}
  if 'twin' in test and has_twin(test).any():
    some = test[has_twin(test)]
    out['known twins'] = list(zip(some['text'], some['twin']))
  if options.gold:
    pairs = swap_eval.geco(options.gold)
    half = len(pairs) // 2  # one direction, then the other
    out |= {'GECO to female': pairs[:half], 'GECO to male': pairs[half:]}
  for name, pairs in out.items():
    if options.gold_rows and options.gold_rows < len(pairs):
      rng = np.random.default_rng([config.seed, GOLD])  # alike both ways
      rows = np.sort(rng.choice(len(pairs), options.gold_rows, replace=False))
      out[name] = [pairs[i] for i in rows]
  return out


def worse(e: Experiment, known: Sequence[str], first: str) -> list[dict]:
  """Errors on known twins, and which contenders are below a plain swap."""
  if not known:
    return []
  errors = []
  for name, one in e.contenders.items():
    for where in known:
      of = one['sets'].get(where, {}).get('quality', {})
      kinds = {
        measures.label(k): of[k] for k in rewrite_errors.KINDS if k in of
      }
      errors += [{'contender': name, 'set': where} | kinds] if kinds else []
  below = [
    f'{test["ours"]} ({test["set"]})'
    for test in e.tests
    if (test['measure'], test['theirs']) == ('exact', first)
    and verdict.of_interval(test['difference']) == verdict.FAILS
  ]
  given = {'errors': errors, 'below': below, 'first': first}
  return sections('known_twins.txt', **given)
