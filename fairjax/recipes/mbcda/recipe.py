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
import pathlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.benchmarks.shared import result_rows, word_vectors
from fairjax.config import Config
from fairjax.core.errors import UserError, count
from fairjax.data.tables.schema import Tables
from fairjax.methods import attribute_texts
from fairjax.metrics.inference import clusters
from fairjax.metrics.inference.intervals import options_of
from fairjax.metrics.texts import counterfactual, diversity
from fairjax.pairs import sheet
from fairjax.recipes.mbcda import adversarial, size
from fairjax.recipes.rewriting import contenders, rewriter
from fairjax.recipes.rewriting import counterfactual_texts as texts
from fairjax.recipes.rewriting.counterfactual_texts import Material
from fairjax.report import verdict
from fairjax.results import Results, section, table, text
from fairjax.train import mesh
from fairjax.train.progress import Log

SHOWN = 50  # worst pairs on the page
BART, AGAINST = 'BART on ', ' + discriminator'
CONTROL = 'control: shuffled groups'
SPLITS = ('train', 'valid', 'test')
TITLES = {
  'filtered': 'repaired, filtered',
  'unfiltered': 'repaired',
  'dictionary': 'dictionary',
}


class Parallel(NamedTuple):
  """Texts and their targets, of every split, in one frame."""

  frame: pd.DataFrame  # split, source, group, dictionary, repaired, kept
  accuracy: dict  # of the filter's classifier on sources


def run(config: Config, folder: pathlib.Path) -> Results:
  """tables → parallel text → players → texts → measures → report."""
  if config.adversary.dry_run:
    check(config)
    return size.run(config, folder)
  with Log(folder, config, main=mesh.is_main()) as log:
    check(config)
    m = texts.material(config, folder, None, log)
    tables = stages.load(config, folder, log)
    parallel = parallel_text(m, tables)
    writers, facts, trained = generators(m, parallel)
    rewrites = texts.rewritten(m, tables, writers)
    return stages.publish(
      folder,
      measure(m, tables, parallel, writers, rewrites, facts, trained),
      log,
    )


def check(config: Config) -> None:
  """What can be known before any work."""
  if not config.rewriters.generator:
    raise UserError(
      'rewriters.generator is empty; name the BART that is fine-tuned, a '
      'folder or a size, with --config.rewriters.generator'
    )
  if config.rewrite.smoothing and 'with' in config.adversary.players:
    raise UserError(
      'rewrite.smoothing needs all logits, which a generator with a '
      'discriminator does not make; set --config.rewrite.smoothing=0'
    )


def parallel_text(m: Material, tables: Tables) -> Parallel:
  """Swapped and repaired texts, and which of them turned their group."""
  swap = texts.swapper(m, 'dictionary')
  repairs = texts.repairs_of(m, tables, 'dictionary', swap) if m.helpers else {}
  frames = []
  for split, rows in tables.items():
    sources = rows['text'].tolist()
    swaps = swap(sources)
    repaired = list(repairs[split]['repair']) if repairs else swaps
    frames.append(
      pd.DataFrame(
        {
          'split': split,
          'source': sources,
          'group': contenders.attribute(m.config, rows),
          'dictionary': swaps,
          'repaired': repaired,
        }
      )
    )
  frame = pd.concat(frames, ignore_index=True)
  if m.helpers is None:
    m.log.line(
      'no detector is named (repair.detector), so the repaired texts are '
      'those of the dictionary'
    )
  chances = attribute_texts.chances(
    frame['source'],
    frame['group'].to_numpy(),
    {name: list(frame[name]) for name in ('source', 'repaired')},
    np.arange(len(frame)),
    m.config.rewriters.folds,
  )
  other = lambda name: np.where(
    frame['group'] == 1, 1 - chances[name], chances[name]
  )
  frame['turned'] = other('repaired')
  frame['changed'] = frame['repaired'] != frame['source']
  frame['kept'] = frame['turned'] >= m.config.adversary.confidence
  right = other('source') < 0.5
  options = options_of(m.config)
  accuracy = clusters.share(int(right.sum()), len(right), options)
  m.log.line(
    f'filter: {int((~frame["kept"]).sum()):,} of {len(frame):,} rewrites still '
    f'show the group of their source and are dropped; its classifier is right '
    f'on {accuracy["value"]:.3f} of the sources'
  )
  return Parallel(frame, accuracy)


def pairs_of(parallel: Parallel, labels: str) -> pd.DataFrame:
  """source, target, split, and the wanted group as label."""
  frame = parallel.frame
  column = 'dictionary' if labels == 'dictionary' else 'repaired'
  keep = frame['kept'] if labels == 'filtered' else np.ones(len(frame), bool)
  some = frame[keep & (frame[column].str.strip() != '')]
  for split in ('train', 'valid'):
    groups = some.loc[some['split'] == split, 'group'].nunique()
    if groups < 2:
      raise UserError(
        f'of the {TITLES[labels]} pairs, split {split} holds sources of '
        f'{count(groups, "group")}; a discriminator needs both (give more '
        'texts, or lower --config.adversary.confidence)'
      )
  return pd.DataFrame(
    {
      'source': some['source'],
      'target': some[column],
      'split': some['split'],
      'label': 1 - some['group'],
    }
  ).reset_index(drop=True)


def generators(
  m: Material, parallel: Parallel
) -> tuple[dict[str, texts.Write], dict, list[dict]]:
  """What writes for each contender, facts, and a line each discriminator."""
  config, options = texts.generator_config(m.config), m.config.adversary
  writers: dict[str, texts.Write] = {
    'dictionary': texts.swapper(m, 'dictionary')
  }
  if m.helpers:
    writers['repaired'] = functools.partial(
      texts.repair_by, m, writers['dictionary']
    )
  facts: dict = {}
  lines: list[dict] = []
  target = m.folder / 'generator'

  def add(labels: str, title: str, one: rewriter.Rewriter) -> None:
    name = f'{BART}{TITLES[labels]}{title}'
    writers[name] = functools.partial(texts.written, config, one.model)
    facts[f'held-out token loss, {name}'] = one.quality['loss']['value']
    export = target / stages.file_name(name) / 'export'
    if mesh.is_main() and not export.exists():
      rewriter.save(one.model, export)

  for labels in options.labels:
    pairs = pairs_of(parallel, labels)
    alternating = options.regime == 'alternating'
    plain = None
    if 'without' in options.players or not alternating:
      m.log.line(f'generator on {labels}, token loss alone')
      plain = adversarial.generator(
        config, target / labels / 'tokens', pairs, m.log
      )
    if 'without' in options.players:
      add(labels, '', plain)
    if 'with' not in options.players:
      continue
    against = None
    if not alternating:
      m.log.line(f'discriminator on the logits of that generator, {labels}')
      against = discriminator(m, config, pairs, plain, labels, lines)
    m.log.line(f'generator on {labels}, against the discriminator')
    one = adversarial.generator(
      config,
      target / labels / 'adversary',
      pairs,
      m.log,
      against,
      alternating,
    )
    add(labels, AGAINST, one)
  return writers, facts, lines


def discriminator(
  m: Material,
  config: Config,
  pairs: pd.DataFrame,
  plain: rewriter.Rewriter,
  labels: str,
  lines: list[dict],
) -> adversarial.Discriminator:
  """One that is trained, and a control whose labels are shuffled."""
  target = m.folder / 'discriminator' / labels
  out = adversarial.discriminator(
    config, target / 'trained', pairs, plain.model, m.log
  )
  lines.append(_line(TITLES[labels], out))
  if note := blind(lines[-1]):
    m.log.line(f'warning: {note}')
  if m.config.adversary.control and labels == m.config.adversary.labels[0]:
    rng = np.random.default_rng([m.config.seed, 0xC0])
    shuffled = pairs.assign(label=rng.permutation(pairs['label'].to_numpy()))
    one = adversarial.discriminator(
      config, target / 'control', shuffled, plain.model, m.log
    )
    lines.append(_line(CONTROL, one))
  return out


def _line(name: str, one: adversarial.Discriminator) -> dict:
  return {
    'discriminator': name,
    'held-out accuracy': one.accuracy,
    'share of the larger group': one.chance,
  }


def blind(line: Mapping) -> str:
  """What to know of a discriminator that is not beyond chance; or ''."""
  seen, chance = line['held-out accuracy'], line['share of the larger group']
  if line['discriminator'] == CONTROL or seen['low'] > chance:
    return ''
  return (
    f'the discriminator on {line["discriminator"]} text is right on '
    f'{seen["value"]:.3f} of held-out targets, and {chance:.3f} of them are of '
    'one group: it does not see the group, so a generator against it learns '
    'nothing from it; give as many texts of either group, or train it longer '
    'with --config.adversary.epochs or faster with --config.adversary.lr'
  )


def measure(
  m: Material,
  tables: Tables,
  parallel: Parallel,
  writers: Mapping[str, texts.Write],
  rewrites: contenders.Rewrites,
  facts: dict,
  lines: list[dict],
) -> Results:
  """All contenders' measures, tests, tables and lists."""
  config, log = m.config, m.log
  twins, facts[texts.TWINS] = texts.twins_of(config, tables['test'])
  alone = [
    name for name in rewrites if name.startswith(BART) and AGAINST not in name
  ]
  judged = contenders.judge(
    config, m.folder, log, tables, rewrites, twins, ('dictionary', *alone)
  )
  gold = texts.against_gold(m, tables['test'], writers, 'dictionary')
  quality = quality_of_pairs(m, tables, rewrites)
  for one in (quality, vectors(m, tables, rewrites), gold):
    for name, sets in one.contenders.items():
      judged.contenders.setdefault(name, {'sets': {}})['sets'] |= sets['sets']
    judged.tests.extend(one.tests)
  texts.keep(m, tables, rewrites)
  path = m.folder / 'sheet.csv'
  if config.adversary.sheet and mesh.is_main():
    versions = {name: list(each['test']) for name, each in rewrites.items()}
    sources = tables['test']['text'].tolist()
    sheet.write(path, sources, versions, config.adversary.sheet, config.seed)
    log.line(
      f'{path} holds pairs for people to rate; python -m fairjax.pairs.sheet '
      f'{path} reads it back'
    )
  frame = parallel.frame
  facts |= {
    'pairs': len(frame),
    'pairs that the filter drops': int((~frame['kept']).sum()),
    'pairs that the swap leaves as they are': int((~frame['changed']).sum()),
  }
  return stages.results(
    config,
    title='MBCDA: generators with and without a discriminator',
    contenders=judged.contenders,
    tests=judged.tests,
    facts=facts,
    notes=[note for note in map(blind, lines) if note],
    verdicts=claims(judged),
    sections=[
      section(
        'Tables 1 to 8',
        text(texts.LEAD, 'quiet'),
        table(contenders.rows(judged), screen=True),
      ),
      *texts.worse(gold, 'dictionary'),
      *discriminators(lines),
      *dropped(parallel),
      *worst(m, tables, rewrites),
    ],
  )


def claims(judged: contenders.Judged) -> list[dict]:
  """The paper's: the discriminator turns more texts and leaves smaller gaps,
  and so does the filter, and every generator leaves less than no twins do.
  """
  turns, gaps = ('transfer_accuracy',), ('group_tprd_size', 'group_fprd_size')
  generators = [name for name in judged.contenders if name.startswith(BART)]
  out: list[dict] = []
  for name in generators:
    out += verdict.ahead(judged.tests, name, contenders.ORIGINAL, gaps)
    without = name.removesuffix(AGAINST)
    if without != name:
      out += verdict.ahead(judged.tests, name, without, turns + gaps)
  for worse in ('unfiltered', 'dictionary'):
    ours, theirs = f'{BART}{TITLES["filtered"]}', f'{BART}{TITLES[worse]}'
    out += verdict.ahead(judged.tests, ours, theirs, turns + gaps)
  return out


def quality_of_pairs(
  m: Material, tables: Tables, rewrites: contenders.Rewrites
) -> contenders.Judged:
  """Two kinds of attribute classifier, the label kept, and diversity."""
  config, options = m.config, options_of(m.config)
  splits = [tables[s] for s in ('train', 'test')]
  sources = [one for rows in splits for one in rows['text']]
  group = np.concatenate([contenders.attribute(config, r) for r in splits])
  label = np.concatenate([rows['label'].to_numpy() for rows in splits])
  test = np.arange(len(splits[0]), len(sources))
  versions = {name: list(each['test']) for name, each in rewrites.items()}
  versions = {'original': tables['test']['text'].tolist(), **versions}
  ask = functools.partial(
    attribute_texts.chances, sources, rewrites=versions, rows=test
  )
  by = {
    kind: ask(attribute=group, k=config.rewriters.folds, kind=kind)
    for kind in ('words', 'characters')
  }
  positive = (label == label.max()).astype(np.int64)
  task = ask(attribute=positive, k=config.rewriters.folds)
  before = task['original'] >= 0.5
  parts: dict = {}
  for name, written in versions.items():
    words, characters = (by[kind][name] >= 0.5 for kind in by)
    columns = {
      'attribute_agreement': words == characters,
      'label_kept': (task[name] >= 0.5) == before,
      'self_bleu': diversity.self_bleu([one.split() for one in written]),
    }
    parts[name] = {
      'pairs': [counterfactual.drawn(counterfactual.means(columns), options)]
    }
  return contenders.grid(config, parts, len(test), ('dictionary',))


def vectors(
  m: Material, tables: Tables, rewrites: contenders.Rewrites
) -> contenders.Judged:
  """WEAT of word vectors trained on the texts and each contender's rewrites."""
  widths = m.config.adversary.vectors
  if not widths:
    return contenders.Judged({}, [])
  options, out = options_of(m.config), {}
  seeds = range(m.config.seed, m.config.seed + m.config.rewriters.seeds)
  sources = tables['train']['text'].tolist()
  versions = {'original': [], **{n: e['train'] for n, e in rewrites.items()}}
  for name, written in versions.items():
    m.log.line(f'word vectors of {name}')
    sets = {}
    for width in widths:
      spaces = [
        word_vectors.fit([*sources, *written], width, seed) for seed in seeds
      ]
      rows, notes = word_vectors.rows(spaces, options)
      sets[f'word vectors, {width} wide'] = {
        'rows': len(sources) + len(written),
        **result_rows.as_set(rows, 'all', notes),
      }
    out[name] = {'sets': sets}
  return contenders.Judged(out, [])


def discriminators(lines: Sequence[Mapping]) -> list[dict]:
  if not lines:
    return []
  words = (
    'Held-out targets whose group it sees in teacher-forced logits. Who always '
    'names the larger group is right on its share; a control that is trained '
    'on shuffled groups must stay there.'
  )
  return [
    section('The discriminators', text(words, 'quiet'), table(list(lines)))
  ]


def dropped(parallel: Parallel) -> list[dict]:
  """Examples of what the filter drops."""
  frame = parallel.frame
  rest = frame[~frame['kept']].sort_values('turned', kind='stable')
  words = (
    f'{len(rest):,} of {len(frame):,} rewrites are dropped from the filtered '
    f'pairs; the classifier is right on {parallel.accuracy["value"]:.3f} '
    f'[{parallel.accuracy["low"]:.3f}, {parallel.accuracy["high"]:.3f}] of '
    'held-out sources. A text that names both groups, or neither, can stay on '
    'its side: such pairs are dropped as well.'
  )
  columns = ['source', 'repaired', 'turned']
  rows = rest[columns].head(20).to_dict('records')
  return [section('Dropped by the filter', text(words), table(rows))]


def worst(
  m: Material, tables: Tables, rewrites: contenders.Rewrites
) -> list[dict]:
  """The pairs that turned least, of the last contender, by its chance."""
  name = list(rewrites)[-1]
  versions = {name: rewrites[name]}
  shows = contenders.attribute(m.config, tables['test'])
  chance = contenders.transferred(m.config, tables, versions)[name]
  chances = np.where(shows == 1, 1 - chance, chance)
  order = np.argsort(chances, kind='stable')[:SHOWN]
  sources, written = tables['test']['text'].tolist(), rewrites[name]['test']
  rows = [
    {
      'source': sources[i],
      'rewrite': written[i],
      'chance of the other group': float(chances[i]),
    }
    for i in order
  ]
  words = f'{name}: the {len(rows)} test texts that turned least.'
  return [section('Worst pairs', text(words, 'quiet'), table(rows))]
