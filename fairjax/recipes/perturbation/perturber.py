"""A perturber: trained on parallel text, measured beside rules on held-out.

    parallel text → prompts → rewriter → held-out rewrites → measures → report

The input is 'word, attribute <PERT_SEP> text' and the target the whole
rewritten text (Qian et al. 2022, arXiv:2205.12586); an unconditional perturber
reads the text alone and first writes attribute and word. Beside the learned
one stand those that need no training, on the same held-out rows: our rules on
one person's chain, the named word alone, and the dictionary that turns
everybody; and what a rewriter changes, in forms by rules.
"""

import dataclasses
import itertools
import pathlib
from collections.abc import Sequence

import numpy as np
import pandas as pd
from tokenizers import Tokenizer

from fairjax import stages
from fairjax.config import Config
from fairjax.core import artefacts, strict_json
from fairjax.core.errors import UserError
from fairjax.data.corpora import texts
from fairjax.data.tables import panda, splits
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.inference.estimates import of_share
from fairjax.metrics.texts import fairscore, rewrites
from fairjax.models import Bundle, rewriting
from fairjax.pairs import recase
from fairjax.pairs.persons import chain, parallel, perturb
from fairjax.recipes.perturbation import person_tagger, perturbing
from fairjax.recipes.rewriting import rewriter
from fairjax.results import Results, section, table
from fairjax.train import mesh
from fairjax.train.progress import Log

RIVALS = ('rules', 'word', 'dictionary')
LEARNED = 'perturber'
FORMS = 'perturber, forms by rules'


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → pairs → fit → rewrites of held-out pairs → tests → report."""
  with Log(folder, config, main=mesh.is_main()) as log:
    pairs = read(config, log)
    result = train(config, folder, pairs, log)
    if mesh.is_main():
      rewriter.save(result.model, folder / 'export' / LEARNED)
    log.line(f'the perturber: {folder / "export" / LEARNED}')
    held = readable(config, result.model, tested(config, pairs), log)
    written = {LEARNED: learned(config, result.model, held)}
    if asks_forms(config):
      written[FORMS] = _forms(held, written[LEARNED])
    for name in RIVALS:
      written[name] = rewritten(config, held, name)
    results = stages.results(
      config,
      title=f'Texts with one person turned: a perturber from {config.model}',
      contenders=contenders(config, held, written),
      focus=LEARNED,
      tests=tests(config, held, written),
      facts={**result.facts, 'steps': result.fit.steps, **_counts(pairs)},
      notes=NOTES,
    )
    last = results.contenders[LEARNED]['sets']
    last['all']['quality'] |= result.quality
    results.sections += shown(config, held, written)
    if mesh.is_main():
      rows = held.assign(**{f'by_{k}': v for k, v in written.items()})
      artefacts.write_table(folder / 'rewrites.parquet', rows)
    return stages.publish(folder, results, log)


NOTES = [
  'Exact match is of words, without case and accents. Targets of source gap '
  'and chains are partly our rules: there exact match says how far a model '
  'agrees with rules, and the words that people labelled how far it is right.',
  'Loss and perplexity, of all words and of the changed ones, are '
  'teacher-forced, of all held-out pairs.',
]


def train(
  config: Config, folder: pathlib.Path, pairs: pd.DataFrame, log: Log
) -> rewriter.Rewriter:
  """The learner that the config asks for."""
  if config.perturb.learner == 'tagger':
    return person_tagger.fit(config, folder, pairs, log)
  return rewriter.fit(
    config, folder, prompted(config, pairs), log, perturb.TOKENS
  )


def read(config: Config, log: Log) -> pd.DataFrame:
  """The parallel text of the config's sources, or PANDA; counted."""
  options = config.perturb
  if not options.data:
    raise UserError(
      'perturb.data is empty; name the folder that holds geco/ and bias_eval/ '
      "(or PANDA's) with --config.perturb.data"
    )
  if 'panda' in options.sources:
    if len(options.sources) > 1:
      raise UserError(
        f'perturb.sources is {options.sources}; panda stands alone, since its '
        'own split holds out rows of its own'
      )
    own = panda.read(options.data, config.data.split_seed)
    pairs = parallel.clear(own)
    pairs.attrs['left out'] = own.attrs['left out'] | pairs.attrs['left out']
  else:
    plain = (
      _texts(config) if set(options.sources) & {*parallel.OF_TEXTS} else ()
    )
    pairs = parallel.read(
      options.sources,
      options.data,
      config.data.split_seed,
      plain,
      options.chains,
    )
  for what, count in pairs.attrs['left out'].items():
    log.line(f'left out: {count:,} ({what})')
  if config.data.limit:
    draw = np.random.default_rng([config.data.split_seed, splits.LIMIT])
    rows = pairs.sample(frac=1, random_state=draw)
    rows = rows.groupby(['source_name', 'split']).head(config.data.limit)
    pairs = rows.sort_index().reset_index(drop=True)
  return pairs


def _texts(config: Config) -> list[str]:
  """The lines of the plain texts that sources turn."""
  if not config.data.path:
    raise UserError(
      f'{" and ".join(parallel.OF_TEXTS)} are sources made from plain text, '
      'but data.path names none; give a folder of text with '
      '--config.data.path, or leave them out of perturb.sources'
    )
  corpus = texts.find(config.data.path, config.data.text, False)
  lines = []
  for file in corpus.files:
    with open(file, encoding='utf-8') as lines_of:
      lines += [line.strip() for line in lines_of]
  return lines


def prompted(config: Config, pairs: pd.DataFrame) -> pd.DataFrame:
  """The pairs as a rewriter learns them: source, target, original, split."""
  each = list(
    zip(pairs['word'], pairs['attribute'], pairs['text'], pairs['target'])
  )
  source = [perturb.prompt(w, a, text) for w, a, text, _ in each]
  target = [new for *_, new in each]
  if config.perturb.unconditional:
    source = [text for _, _, text, _ in each]
    target = [perturb.answer(w, a, new) for w, a, _, new in each]
  return pd.DataFrame(
    {
      'source': source,
      'target': target,
      'original': pairs['text'],
      'split': pairs['split'],
    }
  )


def _counts(pairs: pd.DataFrame) -> dict[str, int]:
  every = pairs.groupby(['source_name', 'split']).size()
  return {f'{name} {split}': int(n) for (name, split), n in every.items()}


def tested(config: Config, pairs: pd.DataFrame) -> pd.DataFrame:
  """The held-out pairs that are written: `perturb.tested` of each source."""
  held = pairs[pairs['split'] == 'test']
  sample = held.sample(frac=1, random_state=config.seed)
  sample = sample.groupby('source_name').head(config.perturb.tested)
  return sample.sort_index().reset_index(drop=True)


def readable(
  config: Config, model: Bundle, held: pd.DataFrame, log: Log
) -> pd.DataFrame:
  """The pairs whose source the model has positions for; others are told."""
  if config.perturb.unconditional:
    fits = rewriting.fits(model, held['text'].tolist())
  else:
    columns = (held[name] for name in ('word', 'attribute', 'text'))
    fits = perturbing.readable(model, *columns)
  if not fits.all():
    left = int((~fits).sum())
    log.line(f'left out: {left:,} (held-out pairs too long for the model)')
  return held[fits].reset_index(drop=True)


def learned(config: Config, model: Bundle, held: pd.DataFrame) -> list[str]:
  """What the model writes, in the spelling of the original."""
  if config.perturb.unconditional:
    written = unconditional(config, model, held['text'])
    return [recase.restore(a, b) for a, b in zip(held['text'], written)]
  return _asked(perturbing.writer(config, model), held)


def asks_forms(config: Config) -> bool:
  """Whether what a rewriter changes is also turned by rules, as a contender."""
  options = config.perturb
  asked = options.learner == 'rewriter' and not options.unconditional
  return asked and options.forms == 'model'


def _forms(held: pd.DataFrame, written: list[str]) -> list[str]:
  write = lambda texts, words, spans, attributes: perturbing.by_forms(
    texts, spans, attributes, written
  )
  return _asked(write, held)


def _asked(write: perturbing.Write, held: pd.DataFrame) -> list[str]:
  """The held-out texts, each turned as its row asks."""
  each = zip(held['text'], held['word'])
  spans = [chain.find(text, word) for text, word in each]
  columns = (held[name].tolist() for name in ('text', 'word', 'attribute'))
  texts_, words_, attributes = columns
  return write(texts_, words_, spans, attributes)


def unconditional(
  config: Config, model: Bundle, originals: Sequence[str]
) -> list[str]:
  """Rewrites of a model that names word and attribute itself.

  Of its beams (--config.generate.num_beams) the best that changes the text.
  """
  separator = model.tokenizer.token_to_id(perturb.SEPARATOR)
  each = rewriter.candidates(config, model, originals)
  return [
    best_changed(model.tokenizer, separator, beams, text)
    for beams, text in zip(each, originals)
  ]


def best_changed(
  tokenizer: Tokenizer,
  separator: int,
  beams: Sequence[Sequence[int]],
  text: str,
) -> str:
  """The first of `beams` whose rewrite has other words than the text.

  The rewrite is what stands after the separator; a beam without one is none.
  Where no beam changes a word, the text stays.
  """
  own = perturbing.words_of(text)
  for row in beams:
    if separator in row:
      rewrite = tokenizer.decode(list(row[row.index(separator) + 1 :]))
      if rewrite.strip() and perturbing.words_of(rewrite) != own:
        return rewrite
  return text


def rewritten(config: Config, held: pd.DataFrame, by: str) -> list[str]:
  """What rules or the dictionary make of the same rows."""
  options = dataclasses.replace(config.perturb, by=by)
  return _asked(
    perturbing.writer(dataclasses.replace(config, perturb=options)), held
  )


def counts(held: pd.DataFrame, written: Sequence[str]) -> np.ndarray:
  """The counts of texts/rewrites.py of each row."""
  each = zip(held['text'], held['target'], written)
  return np.array(
    [rewrites.counts(*map(perturbing.words_of, three)) for three in each],
    np.float64,
  )


def places(row, written: str) -> list[bool]:
  """Whether each labelled word became what people's labels demand."""
  edits = rewrites.edits(
    perturbing.words_of(row.text), perturbing.words_of(written)
  )
  out = []
  for place, gold in strict_json.parse(row.places).items():
    edit = edits.get((int(place), 0))
    if gold == '':
      out.append(edit is None)
    elif gold == '*':
      out.append(edit is not None and edit != ())
    else:
      out.append(edit == (gold.lower(),))
  return out


def labelled(
  held: pd.DataFrame,
  written: Sequence[str],
  of: np.ndarray | None,
  how: intervals.IntervalOptions,
) -> dict[str, dict]:
  """The shares of labelled words that are right, and of texts in which all are.

  Words of one text hang together, and rows of one cluster (`of`).
  """
  of = np.arange(len(held)) if of is None else of
  each = [
    (own, places(row, text))
    for own, row, text in zip(of, held.itertuples(), written)
    if row.places
  ]
  if not each:
    return {}
  words = [(own, ok) for own, one in each for ok in one]
  rows = [(own, all(one)) for own, one in each]
  return {
    'places': _over_clusters(words, how),
    'places_all': _over_clusters(rows, how),
  }


def _over_clusters(
  right: Sequence[tuple[int, bool]], how: intervals.IntervalOptions
) -> dict:
  """The share of (cluster, right) that is right; Wilson's where each is one."""
  own, ok = (np.array(column) for column in zip(*right))
  own = clusters.distinct(own)
  if own is None:
    return of_share(int(ok.sum()), len(ok), how.level)
  return fairscore.share(ok.astype(bool)[None], how, own)


def contenders(
  config: Config, held: pd.DataFrame, written: dict[str, list[str]]
) -> dict[str, dict]:
  """{who: {source: measures with intervals}}; `all` joins the sources."""
  how, out = intervals.options_of(config), {}
  parts = {'all': np.ones(len(held), bool)}
  for name in held['source_name'].unique():
    parts[name] = (held['source_name'] == name).to_numpy()
  for who, texts_ in written.items():
    rows, sets = counts(held, texts_), {}
    for part, mask in parts.items():
      of = clusters.of_texts(list(held['text'][mask]))
      quality = rewrites.estimates(
        rows[mask], rewrites.measures, how, cluster=of
      )
      if of is None:
        quality['exact'] = rewrites.exact(rows[mask], how)
      sets[part] = {'rows': int(mask.sum()), 'quality': quality}
      quality |= labelled(held[mask], np.array(texts_, object)[mask], of, how)
    out[who] = {'sets': sets}
  return out


def tests(
  config: Config, held: pd.DataFrame, written: dict[str, list[str]]
) -> list[dict]:
  """Exact match of what is learned against each rival, source by source."""
  how, out = intervals.options_of(config), []
  exact = {
    who: counts(held, rows)[:, 6].astype(bool)[None]
    for who, rows in written.items()
  }
  for part in ['all', *held['source_name'].unique()]:
    mask = np.ones(len(held), bool)
    if part != 'all':
      mask = (held['source_name'] == part).to_numpy()
    of = clusters.of_texts(list(held['text'][mask]))
    for ours, rival in itertools.product((LEARNED, FORMS), RIVALS):
      if ours not in exact:
        continue
      both = (exact[name][:, mask] for name in (ours, rival))
      one = fairscore.compare(*both, how, of)
      out.append(
        {
          'set': part,
          'ours': ours,
          'theirs': rival,
          'measure': 'exact',
          **{k: v for k, v in one.items() if not k.startswith('only_')},
        }
      )
  return stages.adjusted(out, config.measures.adjust)


def shown(
  config: Config, held: pd.DataFrame, written: dict[str, list[str]]
) -> list[dict]:
  """Rewrites for a reader to judge: half of them right, half wrong."""
  most = config.perturb.samples
  if not most:
    return []
  right = counts(held, written[LEARNED])[:, 6].astype(bool)
  good, bad = (np.flatnonzero(one) for one in (right, ~right))
  spread = lambda rows, k: rows[
    np.unique(np.linspace(0, len(rows) - 1, min(k, len(rows))).astype(int))
  ]
  out = []
  for title, rows in (
    ('Rewrites that equal their target', spread(good, most // 2)),
    ('Rewrites that do not equal their target', spread(bad, most - most // 2)),
  ):
    lines = [
      {
        'word → attribute': f'{held["word"][i]} → {held["attribute"][i]}',
        'text': held['text'][i],
        'written': written[LEARNED][i],
        'target': held['target'][i],
        'rules': written['rules'][i],
      }
      for i in rows
    ]
    if lines:
      out.append(section(title, table(lines)))
  return out
