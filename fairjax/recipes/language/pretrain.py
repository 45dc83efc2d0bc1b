"""Pretrains a language model on plain text: MLM, BART, ELECTRA or causal.

    text → tokens → full rows → corrupted → model → held-out perplexity → report

The text is read once and tokenised once (corpora/texts.py), rows are full and
pieces of different documents do not see each other (batching/rows.py), what is
masked is a function of (seed, step) (batching/corruption.py). Training is the
one `fit` of the house, so it restarts to the same bits (on a GPU with
net.deterministic). What comes out is a folder that transformers loads and that
--config.model=FOLDER continues from.
"""

import functools
import math
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from fairjax import stages
from fairjax.config import Config, changed
from fairjax.core import artefacts, knobs
from fairjax.core.errors import UserError
from fairjax.data.batching import corruption, rows
from fairjax.data.corpora import texts
from fairjax.data.tables import splits
from fairjax.metrics.inference import clusters, intervals, ratios
from fairjax.models import Bundle, objectives
from fairjax.recipes.language.pretrain_objectives import (
  OBJECTIVES,
  find_tokenizer,
  parameters,
)
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.stages.identity import identity
from fairjax.train import loop, mesh, step
from fairjax.train.progress import Log


class Text(NamedTuple):
  """The corpus as rows to train on and rows held out."""

  tokenizer: Tokenizer
  words: corruption.Vocabulary
  train: rows.PackedCorpus
  valid: rows.HeldOut
  corrupt: rows.Corrupt
  made_from: str  # fingerprint of the corpus and its tokens
  facts: dict[str, int]
  cluster: np.ndarray | None  # clusters of held-out documents of the same words


@stages.recipe
def trained(e: Experiment) -> Results:
  """config → text → model → fit → held-out measures → samples → report.

  Also the stage of other recipes that stand on a language model of their own.
  """
  config = e.config
  text, model, fit = fitted(e)
  e.log.line(f'models for transformers: {e.folder / "export"}')
  measure(e, text, model, fit)
  objective = OBJECTIVES[config.pretrain.objective]
  return e.results(
    title=f'A language model from text: {config.model} '
    f'({config.pretrain.objective})',
    facts={
      'objective': config.pretrain.objective,
      'steps': fit.steps,
      'parameters': parameters(model),
      **text.facts,
    },
    notes=[
      f'Perplexity is of {objective.about}; held-out documents.',
      *seen_before(text.facts),
      *dependent(text.cluster, 'documents of the same words'),
    ],
  )


def fitted(e: Experiment, place: str = '') -> tuple[Text, Bundle, loop.Fitted]:
  """The text, the model of its tokenizer, and its fit, exported."""
  config, folder = e.config, e.folder / place
  device_mesh = mesh.make(config.mesh, config.seeds)
  text = read(config, device_mesh.shape['data'], e.log)
  model = OBJECTIVES[config.pretrain.objective].model(config, text.words)
  model = model.replace(
    tokenizer=text.tokenizer,
    longest=config.pretrain.length,
    device_mesh=device_mesh,
  )
  e.log.line(f'model {config.model}: {parameters(model):,} parameters')
  made = fit(e.of(config, place), text, model)
  save(config, model, made.params, folder / 'export')
  return text, model, made


def read(config: Config, multiple: int, log: Log) -> Text:
  """The corpus, its tokenizer and its rows."""
  options, data = config.pretrain, config.data
  objective = OBJECTIVES[options.objective]
  knobs.need(config, 'data.path', 'a folder of text')
  source = texts.find(data.path, data.text, options.document == 'blank')
  tokenizer = find_tokenizer(config, source)
  words = corruption.vocabulary(tokenizer)
  check_vocabulary(options.objective, words)
  store = texts.store(source, tokenizer)
  parts = texts.split(store, options.held_out, splits.SEED, data.limit)
  train, valid = (
    rows.rows(
      store, part, options.length, words.first, words.last, objective.closed
    )
    for part in parts
  )
  settings = {k: getattr(options, v) for k, v in objective.options.items()}
  if objective.corrupt is not corruption.continued:
    settings['words'] = words
  corrupt = functools.partial(objective.corrupt, **settings)
  facts = {
    'files': len(source.files),
    'documents': len(parts[0]),
    'held-out documents': len(parts[1]),
    'of which in train too': texts.copies(store, *parts),
    'tokens': train.tokens,
    'held-out tokens': valid.tokens,
    'rows': train.total,
    'empty lines skipped': store.empty,
    'documents of several rows': int(
      (np.diff(train.places) > train.inner).sum()
    ),
    'tokenizer': words.size,
  }
  log.line(
    'text: ' + ', '.join(f'{value:,} {name}' for name, value in facts.items())
  )
  return Text(
    tokenizer,
    words,
    train,
    rows.HeldOut(valid, corrupt, multiple),
    corrupt,
    artefacts.fingerprint([source.content, tokenizer.to_str()]),
    facts,
    clusters.distinct(texts.alike(store, parts[1])),
  )


def seen_before(facts: Mapping[str, int]) -> list[str]:
  """A note on held-out documents that training has read elsewhere."""
  same = facts['of which in train too']
  if not same:
    return []
  return [
    f'{same:,} of {facts["held-out documents"]:,} held-out documents stand '
    'word for word among those trained on, so that their loss is lower than '
    'that of new text; take copies out of the corpus'
  ]


def check_vocabulary(objective: str, words: corruption.Vocabulary) -> None:
  """Stops where the tokenizer lacks a special token that is needed."""
  if objective != 'causal' and words.mask < 0:
    raise UserError(
      'the tokenizer has no mask token ([MASK] or <mask>), which objective '
      f'{objective} needs; give another with --config.tokens.tokenizer'
    )
  if objective == 'bart' and not words.first:
    raise UserError(
      'the tokenizer puts no special tokens around a text, which objective '
      'bart needs; give another with --config.tokens.tokenizer'
    )


def fit(e: Experiment, text: Text, model: Bundle) -> loop.Fitted:
  """The one training loop, with rows for data."""
  config, device_mesh = e.config, model.device_mesh
  if config.pretrain.steps:
    per_epoch = math.ceil(text.train.total / config.train.batch)
    epochs = config.pretrain.steps / per_epoch
    config = changed(config, train={'epochs': epochs})
  options = config.train
  objective = OBJECTIVES[config.pretrain.objective]
  made_from = identity(config, ('training', 'pretraining'), text.made_from)

  def source(job, _):
    return rows.training(
      job.train,
      job.seeds,
      options.batch,
      text.corrupt,
      options.microbatches,
      device_mesh.shape['data'],
    )

  def measure(job, params):
    sums = document_sums(
      job.model, objective.terms, params, job.valid, device_mesh
    )
    return overall(objective.names, sums.sum(1))

  loss = step.Loss(*objectives.loss(objective.terms))
  task = loop.Task(source, (step.Player('model', loss),), measure)
  sets = text.train, text.valid
  return e.of(config).fitted(model, sets, made_from, task=task)


def document_sums(
  model: Bundle, terms: Callable, params, held_out: rows.HeldOut, device_mesh
) -> np.ndarray:
  """Sums and counts of each term over each held-out document [s, n, 2 k]."""
  forward = step.forward(objectives.measured(model, terms), device_mesh)
  parts, documents = [], []
  for i in range(len(held_out)):
    batch, document = held_out[i]
    batch = mesh.put_batch(device_mesh, batch, stacked=False)
    parts.append(forward(params, batch))  # dispatched, not waited for
    documents.append(document)
  result = np.concatenate([np.asarray(p, np.float64) for p in parts], axis=1)
  document = np.concatenate(documents)
  which = np.searchsorted(held_out.rows.document, document[document >= 0])
  out = np.zeros((len(result), len(held_out.rows.document), result.shape[2]))
  for own, sums in zip(out, result):
    np.add.at(own, which, sums[document >= 0])
  return out


def overall(names, sums: np.ndarray) -> dict[str, np.ndarray]:
  """The mean of each term, their loss and the perplexity, one a seed."""
  k = len(names)
  means = sums[:, :k] / np.maximum(sums[:, k:], 1)  # nothing asked: 0
  result = dict(zip(names, means.T))
  if 'detection_loss' in result:
    result['loss'] = (
      result['generator_loss'] + corruption.WEIGHT * result['detection_loss']
    )
  result['perplexity'] = np.exp(means[:, 0])
  return result


def shares(
  names, sums: np.ndarray, how: Any, cluster: np.ndarray | None = None
) -> dict[str, dict]:
  """The terms that are shares of tokens: no false alarm here is not none."""
  k = len(names)
  none = sums.mean((0, 1)) * np.repeat([0.0, 1.0], k)  # a mean document's
  values, draws = ratios.drawn(
    sums,
    lambda x: {
      name: x[..., i] / np.maximum(x[..., k + i], 1)
      for i, name in enumerate(names)
      if 'loss' not in name
    },
    how.over(cluster),
    (none + np.roll(none, k), none),
  )
  return {
    name: intervals.of_mean(
      value, draws.get(name), how, bounds=intervals.SHARES
    )
    for name, value in values.items()
  }


def measure(e: Experiment, text: Text, model: Bundle, fit: loop.Fitted) -> None:
  """Each measure of held-out text, with intervals over documents and seeds."""
  objective, how = OBJECTIVES[e.config.pretrain.objective], e.how
  names = objective.names
  sums = document_sums(
    model, objective.terms, fit.params, text.valid, model.device_mesh
  )
  draws, _ = ratios.resampled(sums, how.over(text.cluster), halves=True)
  values = overall(names, sums.sum(1))
  resamples = overall(names, draws.reshape(-1, sums.shape[2]))
  quality = {
    name: intervals.of_mean(
      value, resamples[name].reshape(draws.shape[:2]), how
    )
    for name, value in values.items()
  }
  quality |= shares(names, sums, how, text.cluster)
  name, one = pathlib.Path(e.config.model).name, {'rows': sums.shape[1]}
  e.add(name, 'held_out', one | {'quality': quality})


def dependent(cluster: np.ndarray | None, by: str) -> list[str]:
  """What a page says of texts that are not independent."""
  clustered = clusters.words(cluster, by)
  return [clustered, *clusters.warnings(cluster)] if clustered else []


def save(config: Config, model: Bundle, params, target) -> None:
  """Folders for transformers; an ELECTRA's generator lies in its own."""
  pair = model.module
  if not isinstance(pair, objectives.Pair):
    stages.write_models(config, model, params, target)
    return
  of = lambda module: model.replace(module=module)
  stages.write_models(
    config, of(pair.discriminator), params['discriminator'], target
  )
  stages.write_models(
    config, of(pair.generator), objectives.shared(params), target, 'generator'
  )
