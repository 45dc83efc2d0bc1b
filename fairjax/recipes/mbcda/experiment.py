"""MBCDA: a generator of counterfactual texts with two objectives.

    texts → swap with names → repair → filter → pairs
    pairs → generator, discriminator on its logits, generator against it
    every generator's texts → tables 1 to 8, word vectors, quality of pairs

The grid of ablations is targets × with or without the discriminator. The
filter drops pairs whose rewrite still shows the group of its source, by a
classifier that never saw the text. What FairFlow measures of rewritten texts
is measured here by the same functions (rewriting/contenders.py).
"""

import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.benchmarks.shared import result_rows, word_vectors
from fairjax.config import Config, changed
from fairjax.core import knobs
from fairjax.data.tables.schema import Tables
from fairjax.methods import attribute_texts
from fairjax.metrics.inference.intervals import options_of
from fairjax.metrics.texts import counterfactual
from fairjax.pairs import sheet
from fairjax.recipes.mbcda import algorithm, parallel
from fairjax.recipes.rewriting import contenders, rewriter
from fairjax.recipes.rewriting import counterfactual_texts as texts
from fairjax.recipes.rewriting.counterfactual_texts import RewriteInputs
from fairjax.report import written
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.train import mesh

SHEET = 100  # pairs of a contender for people: more than an hour is not given
BART, AGAINST = 'BART on ', ' + discriminator'
WITHOUT_NAMES = 'dictionary without names'
CONTROL = 'control: shuffled groups'


@stages.recipe
def run(e: Experiment) -> Results:
  """tables → parallel text → players → texts → measures → report."""
  named = 'the BART that is fine-tuned, a folder or a size,'
  knobs.need(e.config, 'rewriters.generator', named)
  m = texts.material(e, None)
  tables = texts.read(e)
  targets, unlisted = parallel.withheld(e.config, e.folder)
  own = m.of(targets)  # by which targets are swapped
  learned = tables
  if e.config.corpus.path:
    learned = parallel.corpus(e.config, tables)
  pairs = parallel.parallel_text(own, learned)
  writers, facts, lines = generators(m, own, pairs)
  rewrites = texts.rewritten(m, tables, writers)
  facts |= texts.unread(tables, writers)
  twins, facts[texts.TWINS] = texts.twins_of(e.config, tables['test'])
  alone = [n for n in rewrites if n.startswith(BART) and AGAINST not in n]
  rivals = ('dictionary', WITHOUT_NAMES, *alone)
  contenders.measure(e, tables, rewrites, twins, rivals)
  quality_of_pairs(e, tables, rewrites)
  vectors(e, tables, rewrites, rivals)
  against = ('dictionary', *alone)
  known = texts.against_gold(m, tables['test'], writers, against, unlisted)
  if mesh.is_main():
    write_sheet(e, tables, rewrites)
  facts |= parallel.counted(pairs)
  facts['words withheld from the targets'] = len(unlisted)
  return e.results(
    title='MBCDA: generators with and without a discriminator',
    facts=facts,
    notes=[note for note in map(blind, lines) if note],
    sections=[
      *written.sections(
        'rewrites.txt',
        title='Tables 1 to 8',
        rows=contenders.rows(e.contenders),
      ),
      *texts.worse(e, known, 'dictionary'),
      *written.sections('discriminators.txt', rows=lines),
    ],
  )


def generators(
  m: RewriteInputs, own: RewriteInputs, every: parallel.Parallel
) -> tuple[dict[str, list[texts.Writer]], dict, list[dict]]:
  """What writes for each contender, facts, and a line each discriminator."""
  swap = texts.swapper(own, 'dictionary')
  writers = {'dictionary': [texts.Writer(swap)]}
  if own.e.config.method.names:  # CDA2; then CDA1, which leaves names alone
    without = own.of(changed(own.e.config, method={'names': False}))
    swaps = texts.swapper(without, 'dictionary')
    writers[WITHOUT_NAMES] = [texts.Writer(swaps)]
  if m.helpers:
    frame = every.frame
    known = dict(zip(frame['source'], frame['repaired'], strict=True))
    repair = functools.partial(texts.repair_by, m, swap, known)
    writers['repaired'] = [texts.Writer(repair)]
  facts: dict = {}
  lines: list[dict] = []
  for labels in m.e.config.adversary.labels:
    pairs = parallel.pairs_of(every, labels)
    for seed, config in enumerate(texts.generator_configs(m.e.config)):
      trained = players(m, config, pairs, labels, seed, lines)
      for title, one in trained.items():
        name = f'{BART}{parallel.TITLES[labels]}{title}'
        writers.setdefault(name, []).append(texts.writer(config, one.model))
        loss = one.quality['loss']['value']
        facts[f'held-out token loss, {name}{_numbered(seed)}'] = loss
        export = m.e.folder / 'generator' / stages.file_name(name)
        export = export / f'export{_numbered(seed)}'
        if mesh.is_main():
          rewriter.save(one.model, export)
  return writers, facts, lines


def _numbered(seed: int) -> str:
  return f'_{seed}' if seed else ''


def players(
  m: RewriteInputs,
  config: Config,
  pairs: pd.DataFrame,
  labels: str,
  seed: int,
  lines: list[dict],
) -> dict[str, rewriter.Rewriter]:
  """Generators of one seed: {'': by tokens alone, AGAINST: both losses}."""
  log, place = m.e.log, f'{labels}{_numbered(seed)}'
  at = lambda kind, part: m.e.of(config, f'{kind}/{place}/{part}')
  log.line(f'generator on {labels}, token loss alone, seed {config.seed}')
  plain = algorithm.generator(at('generator', 'tokens'), pairs)
  log.line(f'discriminator on the logits of that generator, {labels}')
  own = at('discriminator', 'trained')
  against = algorithm.discriminator(own, pairs, plain.model)
  lines.append(_line(parallel.TITLES[labels], against))
  if note := blind(lines[-1]):
    log.line(f'warning: {note}')
  # A control: with its groups shuffled there is nothing to see.
  if labels == m.e.config.adversary.labels[0] and not seed:
    rng = np.random.default_rng([m.e.config.seed, 0xC0])
    shuffled = pairs.assign(label=rng.permutation(pairs['label'].to_numpy()))
    own = at('discriminator', 'control')
    one = algorithm.discriminator(own, shuffled, plain.model)
    lines.append(_line(CONTROL, one))
  log.line(f'generator on {labels}, against it, seed {config.seed}')
  both = algorithm.generator(at('generator', 'adversary'), pairs, against)
  return {'': plain, AGAINST: both}


def _line(name: str, one: algorithm.FittedDiscriminator) -> dict:
  return {
    'discriminator': name,
    'held-out accuracy': one.accuracy,
    'share of the larger group': one.chance,
  }


def blind(line: Mapping) -> str:
  """What to know of a discriminator that is not beyond chance; or ''."""
  seen, chance = line['held-out accuracy'], line['share of the larger group']
  if line['discriminator'] == CONTROL or seen['low'] is None:
    return ''  # of one cluster nothing is known
  if seen['low'] > chance:
    return ''
  return (
    f'the discriminator on {line["discriminator"]} text is right on '
    f'{seen["value"]:.3f} of held-out targets, and {chance:.3f} of them are of '
    'one group: it does not see the group, so a generator against it learns '
    'nothing from it; give as many texts of either group, or train it longer '
    'with --config.adversary.epochs or faster with --config.adversary.lr'
  )


def write_sheet(
  e: Experiment, tables: Tables, rewrites: contenders.Rewrites
) -> None:
  """Pairs of a source and a rewrite for people to rate."""
  path = e.folder / 'sheet.csv'
  versions = {name: list(each['test'][0]) for name, each in rewrites.items()}
  sources = tables['test']['text'].tolist()
  line = f'{path} holds pairs for people to rate; python -m '
  line += f'fairjax.pairs.sheet {path} reads it back'
  if not sheet.write(path, sources, versions, SHEET, e.config.seed):
    line += ' (it has answers, and is left as it was; move it away for a new '
    line += 'one)'
  e.log.line(line)


def quality_of_pairs(
  e: Experiment, tables: Tables, rewrites: contenders.Rewrites
) -> None:
  """Two kinds of attribute classifier, and the label kept."""
  config, options = e.config, options_of(e.config)
  splits = [tables[s] for s in ('train', 'test')]
  cluster = stages.clusters_of(splits[1])[0]
  sources = [one for rows in splits for one in rows['text']]
  group = np.concatenate([contenders.attribute(config, r) for r in splits])
  label = np.concatenate([rows['label'].to_numpy() for rows in splits])
  test = np.arange(len(splits[0]), len(sources))
  versions = {name: each['test'] for name, each in rewrites.items()}
  versions = {'original': [tables['test']['text'].tolist()], **versions}
  seeds = contenders.seeds_of(rewrites)

  def ask(**how):
    chances = functools.partial(attribute_texts.chances, sources, rows=test)
    return contenders.by_seed(functools.partial(chances, **how), versions)

  by = [ask(attribute=group, kind=kind) for kind in ('words', 'characters')]
  task = ask(attribute=(label == label.max()).astype(np.int64))
  before = task['original'][0] >= 0.5
  parts: dict = {}
  for name, own in versions.items():
    sums = []
    for k in range(len(own)):
      words, characters = (kind[name][k] >= 0.5 for kind in by)
      columns = {
        'attribute_agreement': words == characters,
        'label_kept': (task[name][k] >= 0.5) == before,
      }
      sums.append(counterfactual.means(columns))
    planes = contenders.over_seeds(sums, seeds)
    parts[name] = {
      'pairs': [counterfactual.drawn(planes, options.over(cluster))]
    }
  contenders.grid(e, parts, len(test), ('dictionary',))


def vectors(
  e: Experiment,
  tables: Tables,
  rewrites: contenders.Rewrites,
  against: Sequence[str] = (),
) -> None:
  """WEAT of word vectors trained on the texts and each contender's rewrites.

  Its words are those that every contender's texts give a vector: effects of
  different words would not be comparable. Each contender is tested, over these
  words, against the texts alone and those of `against` that come before it.
  """
  config, options = e.config, options_of(e.config)
  seeds = range(config.seed, config.seed + config.rewriters.seeds)
  sources = tables['train']['text'].tolist()
  versions = {'original': [[]], **{n: r['train'] for n, r in rewrites.items()}}
  tests: list[dict] = []
  for width in config.adversary.vectors:
    where, spaces = f'word vectors, {width} wide', {}
    for name, own in versions.items():
      e.log.line(f'word vectors of {name}, {width} wide')
      spaces[name] = [
        word_vectors.fit([*sources, *own[k % len(own)]], width, seed)
        for k, seed in enumerate(seeds)
      ]
    words = word_vectors.common(itertools.chain(*spaces.values()))
    for name, own in versions.items():
      rows, notes = word_vectors.rows(spaces[name], options, words=words)
      count = {'rows': len(sources) + len(own[0])}
      one = count | result_rows.as_set(rows, 'all') | {'notes': notes}
      e.add(name, where, one)
    for ours, theirs in contenders.pairs(versions, against):
      both = spaces[ours], spaces[theirs]
      tests += [
        result_rows.as_test(row, where, ours, theirs)
        for row in word_vectors.differences(*both, options, words)
      ]
  e.tests += stages.adjusted(tests)
