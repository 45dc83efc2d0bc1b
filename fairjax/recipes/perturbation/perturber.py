"""A perturber: trained on parallel text, measured beside rules on held-out.

    parallel text → prompts → rewriter → held-out rewrites → measures → report

The input is 'word, attribute <PERT_SEP> text' and the target the whole
rewritten text (Qian et al. 2022, arXiv:2205.12586). Beside the learned one
stand those that need no training, on the same held-out rows: our rules on
one person's chain, the named word alone, and the dictionary that turns
everybody; and what a rewriter changes, in forms by rules.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, changed
from fairjax.core import artefacts, knobs, strict_json
from fairjax.core.errors import UserError
from fairjax.data.tables import panda, splits
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.inference.estimates import of_share
from fairjax.metrics.texts import fairscore, rewrites
from fairjax.models import Bundle
from fairjax.pairs.persons import chain, parallel, perturb
from fairjax.recipes.perturbation import person_tagger, perturbing
from fairjax.recipes.rewriting import rewriter
from fairjax.results import Results, section, table
from fairjax.stages import Experiment
from fairjax.train import mesh
from fairjax.train.progress import Log

SAMPLES = 50  # rewrites shown in the report: as many as a reader judges
RIVALS = ('rules', 'word', 'dictionary')
LEARNED = 'perturber'
FORMS = 'perturber, forms by rules'


@stages.recipe
def run(e: Experiment) -> Results:
  """config → pairs → fit → rewrites of held-out pairs → tests → report."""
  config, folder, log = e.config, e.folder, e.log
  pairs = read(config, log)
  result = train(e, pairs)
  if mesh.is_main():
    rewriter.save(result.model, folder / 'export' / LEARNED)
  log.line(f'the perturber: {folder / "export" / LEARNED}')
  held = readable(result.model, tested(config, pairs), log)
  written = {LEARNED: asked(perturbing.writer(config, result.model), held)}
  if config.perturb.learner == 'rewriter':
    forms = lambda texts, words, spans, attributes: perturbing.by_forms(
      texts, spans, attributes, written[LEARNED]
    )
    written[FORMS] = asked(forms, held)
  for by in RIVALS:
    own = perturbing.writer(changed(config, perturb={'by': by}))
    written[by] = asked(own, held)
  measure(e, held, written)
  e.contenders[LEARNED]['sets']['all']['quality'] |= result.quality
  if mesh.is_main():
    rows = held.assign(**{f'by_{k}': v for k, v in written.items()})
    artefacts.write_table(folder / 'rewrites.parquet', rows)
  counts = pairs.groupby(['source_name', 'split']).size()
  return e.results(
    title=f'Texts with one person changed: a perturber from {config.model}',
    focus=LEARNED,
    facts={
      **{**result.facts, 'steps': result.fit.steps},
      **{f'{name} {split}': int(n) for (name, split), n in counts.items()},
    },
    sections=shown(config, held, written),
  )


def train(e: Experiment, pairs: pd.DataFrame) -> rewriter.Rewriter:
  """The learner that the config asks for."""
  if e.config.perturb.learner == 'tagger':
    return person_tagger.fit(e, pairs)
  columns = (pairs[name] for name in ('word', 'attribute', 'text'))
  own = pairs[['target', 'text', 'split']].rename(columns={'text': 'original'})
  own['source'] = list(map(perturb.prompt, *columns))
  return rewriter.fit(e, own, perturb.TOKENS)


def read(config: Config, log: Log) -> pd.DataFrame:
  """The parallel text of the config's sources, or PANDA; counted."""
  options = config.perturb
  place = "the folder that holds geco/ and bias_eval/ (or PANDA's)"
  knobs.need(config, 'perturb.data', place)
  if 'panda' in options.sources:
    if len(options.sources) > 1:
      raise UserError(
        f'perturb.sources is {options.sources}; panda stands alone, since its '
        'own split holds out rows of its own'
      )
    own = panda.read(options.data, splits.SEED)
    pairs = parallel.clear(own)
    pairs.attrs['left out'] = own.attrs['left out'] | pairs.attrs['left out']
  else:
    seed = splits.SEED
    pairs = parallel.read(options.sources, options.data, seed)
  for what, count in pairs.attrs['left out'].items():
    log.line(f'left out: {count:,} ({what})')
  if config.data.limit:
    draw = np.random.default_rng([splits.SEED, splits.LIMIT])
    rows = pairs.sample(frac=1, random_state=draw)
    rows = rows.groupby(['source_name', 'split']).head(config.data.limit)
    pairs = rows.sort_index().reset_index(drop=True)
  return pairs


def tested(config: Config, pairs: pd.DataFrame) -> pd.DataFrame:
  """The held-out pairs that are written: `perturb.tested` of each source."""
  held = pairs[pairs['split'] == 'test']
  sample = held.sample(frac=1, random_state=config.seed)
  sample = sample.groupby('source_name').head(config.perturb.tested)
  return sample.sort_index().reset_index(drop=True)


def readable(model: Bundle, held: pd.DataFrame, log: Log) -> pd.DataFrame:
  """The pairs whose prompt the model has positions for; others are counted."""
  columns = (held[name] for name in ('word', 'attribute', 'text'))
  fits = perturbing.readable(model, *columns)
  if not fits.all():
    left = int((~fits).sum())
    log.line(f'left out: {left:,} (held-out pairs too long for the model)')
  return held[fits].reset_index(drop=True)


def asked(write: perturbing.Write, held: pd.DataFrame) -> list[str]:
  """The held-out texts, each turned as its row asks."""
  each = zip(held['text'], held['word'])
  spans = [chain.find(text, word) for text, word in each]
  columns = (held[name].tolist() for name in ('text', 'word', 'attribute'))
  texts_, words_, attributes = columns
  return write(texts_, words_, spans, attributes)


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
    if gold == '':  # it must stay
      out.append(edit is None)
    elif gold == '*':  # any other word will do
      out.append(edit is not None and edit != ())
    else:
      out.append(edit == (gold.lower(),))
  return out


def labelled(
  held: pd.DataFrame,
  written: Sequence[str],
  of: np.ndarray | None,
  how: intervals.RowSample,
) -> dict[str, dict]:
  """The shares of labelled words that are right, and of texts in which all are.

  Words of one text are one cluster, and so are rows of one of `of`.
  """
  of = np.arange(len(held)) if of is None else of
  each = [
    (own, places(row, text))
    for own, row, text in zip(of, held.itertuples(), written)
    if row.places
  ]
  words = [(own, ok) for own, right in each for ok in right]
  rows = [(own, all(right)) for own, right in each]
  out = {}
  for name, right in (('places', words), ('places_all', rows)):
    if not right:
      continue
    own, ok = (np.array(column) for column in zip(*right))
    code = clusters.distinct(own)
    out[name] = (
      of_share(int(ok.sum()), len(ok), how.level)  # Wilson's
      if code is None
      else fairscore.share(ok.astype(bool)[None], how.over(code))
    )
  return out


def measure(
  e: Experiment, held: pd.DataFrame, written: dict[str, list[str]]
) -> None:
  """Rewrites, source by source and of all; exact match against each rival."""
  how = intervals.options_of(e.config)
  parts = {'all': np.ones(len(held), bool)}
  for name in held['source_name'].unique():
    parts[name] = (held['source_name'] == name).to_numpy()
  counted = {who: counts(held, texts) for who, texts in written.items()}
  e.contenders |= {who: {'sets': {}} for who in written}
  for part, mask in parts.items():
    of = clusters.of_texts(list(held['text'][mask]))
    exact, sample = {}, how.over(of)
    for who, rows in counted.items():
      quality = rewrites.estimates(rows[mask], rewrites.measures, sample)
      if of is None:
        quality['exact'] = rewrites.exact(rows[mask], how)
      some = np.array(written[who], object)[mask].tolist()
      quality |= labelled(held[mask], some, of, how)
      e.add(who, part, {'rows': int(mask.sum()), 'quality': quality})
      exact[who] = rows[mask][:, 6].astype(bool)[None]
    for ours, rival in itertools.product((LEARNED, FORMS), RIVALS):
      if ours in exact and rival in exact:
        one = fairscore.compare(exact[ours], exact[rival], sample)
        e.test(part, ours, rival, 'exact', one)
  e.tests = stages.adjusted(e.tests)


def shown(
  config: Config, held: pd.DataFrame, written: dict[str, list[str]]
) -> list[dict]:
  """Rewrites for a reader to judge: half of them right, half wrong."""
  most, out = SAMPLES, []
  right = counts(held, written[LEARNED])[:, 6].astype(bool)
  for title, rows, k in (
    ('Rewrites that equal their target', right, most // 2),
    ('Rewrites that do not equal their target', ~right, most - most // 2),
  ):
    rows = np.flatnonzero(rows)
    spread = np.linspace(0, len(rows) - 1, min(k, len(rows))).astype(int)
    some = held.iloc[rows[np.unique(spread)]]
    lines = pd.DataFrame(
      {
        'word → attribute': some['word'] + ' → ' + some['attribute'],
        'text': some['text'],
        'written': [written[LEARNED][i] for i in some.index],
        'target': some['target'],
        'rules': [written['rules'][i] for i in some.index],
      }
    )
    if len(lines):
      out.append(section(title, table(lines.to_dict('records'))))
  return out
