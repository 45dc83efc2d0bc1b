"""FairBERTa: masked LMs alike, on text and on the perturbed text.

    text → perturbed text → two fits alike → both on both held-out texts

Start, tokenizer, steps, order of documents and seeds are the same; only the
training text differs (Qian et al. 2022, arXiv:2205.12586). Held-out documents
correspond, so the two models are compared document by document on either form.
Both are left as folders for fairtuning and for the bias benchmarks.

Without a text (`data.path`) one is made, whose occupations go with gender to a
known degree (benchmarks/planted_associations.py). Of each corpus no
sentence, half, or every one is perturbed; the log-odds of the stereotype's
pronoun say what is left of the association, and the loss on sentences without
one what it cost. A woman becomes a man as often as non-binary, so two thirds
take the association away and all of them turn it round.
"""

import pathlib

import numpy as np
import pandas as pd

from fairjax import results, stages
from fairjax.benchmarks import planted_associations as planted
from fairjax.benchmarks import winobias
from fairjax.benchmarks.shared import contrast
from fairjax.config import Config, changed
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.corpora import texts
from fairjax.metrics.inference import intervals, ratios
from fairjax.models.reading import judge as judges
from fairjax.recipes.language import corpora, pretrain
from fairjax.recipes.language.pretrain_objectives import (
  OBJECTIVES,
  find_tokenizer,
)
from fairjax.recipes.perturbation import perturb_corpus, perturbing
from fairjax.report.pictures import plots
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.train import mesh

PLAIN, FAIR = 'plain', 'perturbed'
EVEN = 2000  # sentences without an association, on which the loss is
# Of the made texts: degrees of the association, shares perturbed, length.
ASSOCIATIONS = 0.0, 0.5, 0.8
SHARES = 0.0, 0.5, 1.0
SENTENCES = 12000
STREAM = 0xD05E  # which sentences are perturbed
ODDS, LOSS = 'winobias_log_odds', 'loss'
TURNED = (
  'One person of a perturbed sentence becomes of another gender, a woman a man '
  'or non-binary: where two thirds of the sentences are perturbed the '
  'association is gone, and where all are it is turned round.'
)


@stages.recipe
def run(e: Experiment) -> Results:
  """config → perturbed corpus → two masked LMs → perplexities of both."""
  config, how = e.config, e.how
  if config.pretrain.objective != 'mlm':
    raise UserError(
      f'pretrain.objective is {config.pretrain.objective}; FairBERTa is a '
      'masked LM, so take mlm'
    )
  if not config.data.path:
    return doses(e)
  check_documents(config)
  paths = {PLAIN: config.data.path, FAIR: str(e.folder / 'text')}
  corpus_facts = perturbed(config, e.folder).facts
  same = shared_tokenizer(config, e.folder)
  parts, models, fits = {}, {}, {}
  for name, path in paths.items():
    own = e.of(of_text(same, path))
    parts[name], models[name], fits[name] = pretrain.fitted(own, name)
  for text in paths:
    where, cluster, drawn = f'held-out {text} text', parts[text].cluster, {}
    for name, fit in fits.items():
      sums = document_sums(models[name], fit.params, parts[text].valid)
      values, draws = drawn[name] = losses(sums, how, cluster)
      quality = {
        LOSS: intervals.of_mean(values, draws, how),
        'perplexity': intervals.of_mean(np.exp(values), np.exp(draws), how),
      }
      e.add(name, where, {'rows': sums.shape[1], 'quality': quality})
    tested = 'paired bootstrap over documents and seeds'
    one = compared(drawn[FAIR], drawn[PLAIN], how)
    one |= {'test': tested, 'n': sums.shape[1]}
    e.test(where, FAIR, PLAIN, LOSS, one)
  return e.results(
    title=f'FairBERTa from {config.model}',
    focus=FAIR,
    facts={
      'steps': fits[FAIR].steps,
      **{f'texts {k}': v for k, v in corpus_facts.items() if k != 'out'},
      **{f'model on {n} text': str(e.folder / n / 'export') for n in paths},
    },
    notes=pretrain.seen_before(parts[PLAIN].facts)
    + pretrain.dependent(parts[PLAIN].cluster, 'documents of the same words'),
  )


def check_documents(config: Config) -> None:
  """Stops where the documents of the two texts would not correspond."""
  # Else one model is trained on what both are measured on.
  if not config.corpus.both:
    return
  blank = config.pretrain.document == 'blank'
  source = texts.find(config.data.path, config.data.text, blank)
  kinds = {file.suffix for file in source.files}
  if not (blank and kinds <= {'.txt'}):
    raise UserError(
      'corpus.both puts perturbed texts behind their own, which would be '
      'documents of their own that no held-out one of the plain text stands '
      'beside; leave it out, or give .txt files whose documents end at a blank '
      'line with --config.pretrain.document=blank'
    )


def perturbed(config: Config, folder: pathlib.Path) -> Results:
  """The training text perturbed into folder/text, by shards, with a page."""
  own = changed(config, corpus={'path': config.data.path})
  out = folder / 'text'
  rows = perturb_corpus.rewritten(own, out)
  return corpora.finish(
    own, folder / 'corpus', out, rows, perturb_corpus.COLUMNS
  )


def shared_tokenizer(config: Config, folder: pathlib.Path) -> Config:
  """The config with one tokenizer, learned from the plain text if from any."""
  source = texts.find(
    config.data.path, config.data.text, config.pretrain.document == 'blank'
  )
  tokenizer = find_tokenizer(config, source)
  if mesh.is_main():
    tokens.save_tokenizer(tokenizer, folder / 'tokenizer')
  mesh.wait_for_all('tokenizer')
  return changed(config, tokens={'tokenizer': str(folder / 'tokenizer')})


def of_text(config: Config, path: str | pathlib.Path) -> Config:
  """The config of a masked LM of that text."""
  return changed(config, data={'name': 'text', 'path': str(path)})


def document_sums(model, params, held_out) -> np.ndarray:
  """The sums of the loss, and its tokens, of each held-out document."""
  terms = OBJECTIVES['mlm'].terms
  return pretrain.document_sums(
    model, terms, params, held_out, model.device_mesh
  )


def losses(
  sums: np.ndarray, how: intervals.RowSample, cluster: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
  """Mean loss of each seed, and those of resampled documents."""
  loss = lambda one: one[..., 0] / one[..., 1]
  draws, _ = ratios.resampled(sums, how.over(cluster), halves=True)
  return loss(sums.sum(1)), loss(draws)


def compared(ours: tuple, theirs: tuple, how) -> dict:
  """The difference: items or documents, and seeds, are the same for both."""
  values, draws = (a - b for a, b in zip(ours, theirs))
  return intervals.paired(values, draws, how, np.inf)


# Planted associations


def doses(e: Experiment) -> Results:
  """config → texts → a masked LM a dose → log-odds and losses → report."""
  config, how = e.config, e.how
  cells = {
    (association, share): text_of(config, association, share, e.folder)
    for association in ASSOCIATIONS
    for share in SHARES
  }
  config = of_text(config, next(iter(cells.values())))
  config = shared_tokenizer(config, e.folder)
  even = held_out(e, config)
  items = winobias.read(e.folder / 'data')
  jobs = items['pro'].str.split().str[1].to_numpy()
  facts, drawn = {}, {}
  for (association, share), path in cells.items():
    e.log.line(f'association {association:g}, {share:.0%} perturbed')
    name, where = f'{100 * share:g} % perturbed', f'association {association:g}'
    place = path.parent.relative_to(e.folder)
    _, model, fit = pretrain.fitted(e.of(of_text(config, path)), str(place))
    odds = log_odds(config, path.parent, items)
    sums = document_sums(model, fit.params, even.valid)
    facts[f'steps, {where}, {name}'] = fit.steps
    drawn[name, where] = both = {
      ODDS: over_items(odds, jobs, how),
      LOSS: losses(sums, how, even.cluster),
    }
    quality = {k: intervals.of_mean(*one, how) for k, one in both.items()}
    e.add(name, where, {'rows': odds.shape[1], 'quality': quality})
    plain = next(iter(e.contenders))
    tested = 'paired bootstrap over occupations or sentences, and seeds'
    for key, one in both.items() if share else ():
      if association or key == LOSS:  # else there is nothing to take away
        n = (odds if key == ODDS else sums).shape[1]
        test = compared(one, drawn[plain, where][key], how)
        e.test(where, name, plain, key, test | {'test': tested, 'n': n})
  return e.results(
    data='planted',
    title='FairBERTa on a planted association',
    focus=list(e.contenders)[-1],
    facts=facts,
    sections=[dose_curve(e)],
    notes=[TURNED],
  )


def text_of(
  config: Config, association: float, share: float, folder: pathlib.Path
) -> pathlib.Path:
  """The corpus with `share` of its sentences perturbed, written."""
  target = folder / f'association_{association:g}' / f'perturbed_{share:g}'
  path = target / 'corpus.txt'
  if mesh.is_main():
    lines = planted.corpus(association, SENTENCES, config.seed)
    draw = np.random.default_rng([config.seed, STREAM]).random(len(lines))
    chosen = np.flatnonzero(draw < share)  # larger shares hold smaller ones
    frame = perturbing.perturbed(config, [lines[k] for k in chosen])
    for k, text in zip(chosen, frame['perturbed']):
      lines[k] = text
    artefacts.write_text(path, '\n'.join(lines) + '\n')
  mesh.wait_for_all('planted')
  return path


def held_out(e: Experiment, config: Config) -> pretrain.Text:
  """Sentences in which occupations say nothing of gender; their clusters."""
  path = e.folder / 'even' / 'corpus.txt'
  if mesh.is_main():
    lines = planted.corpus(0.0, EVEN, config.seed + 1)
    artefacts.write_text(path, '\n'.join(lines) + '\n')
    planted.write_tests(e.folder / 'data')
  mesh.wait_for_all('even')
  own = changed(of_text(config, path), pretrain={'held_out': 0.5})
  return pretrain.read(own, mesh.make(config.mesh, 1).shape['data'], e.log)


def log_odds(
  config: Config, folder: pathlib.Path, items: pd.DataFrame
) -> np.ndarray:
  """Of the stereotype's pronoun against the other, [seed, item]."""
  of = lambda seed: judges.load(str(folder / 'export' / f'seed_{seed}'), config)
  seeds = range(config.seed, config.seed + config.seeds)
  each = [contrast.gaps(of(s), items, 'pro', 'anti')['gap'] for s in seeds]
  return np.stack([one.to_numpy() for one in each])


def over_items(
  gaps: np.ndarray, jobs: np.ndarray, how: intervals.RowSample
) -> tuple[np.ndarray, np.ndarray]:
  """Mean log-odds of each seed, and those of resampled occupations."""
  sums = np.stack([gaps, np.ones_like(gaps)], -1)
  return losses(sums, how, pd.factorize(jobs)[0])


def dose_curve(e: Experiment) -> dict:
  """Log-odds over the share perturbed, a line an association."""
  series = {}
  for name in next(iter(e.contenders.values()))['sets']:
    odds = [own['sets'][name]['quality'][ODDS] for own in e.contenders.values()]
    series[name] = plots.curve(list(SHARES), odds)
  picture = results.figure(
    'curves',
    'doses',
    'Log-odds of the stereotype’s pronoun over the share of sentences '
    'perturbed before pretraining; 0 is no preference.',
    series=series,
    x_label='share of sentences perturbed',
    y_label='log-odds',
    reference=0.0,
  )
  return results.section('What is left of the association', picture)
