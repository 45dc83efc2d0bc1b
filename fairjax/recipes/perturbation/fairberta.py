"""FairBERTa: two masked LMs, one on text and one on the perturbed text.

    text → perturbed text → two fits alike → both on both held-out texts

Start, tokenizer, steps, order of documents and seeds are the same; only the
training text differs (Qian et al. 2022, arXiv:2205.12586). Held-out documents
correspond, so the two models are compared document by document on either form.
Both are left as folders for fairtuning and for the bias benchmarks.
"""

import dataclasses
import pathlib

import numpy as np

from fairjax import stages
from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.corpora import texts
from fairjax.metrics.inference import intervals
from fairjax.recipes.language import corpora, pretrain
from fairjax.recipes.language.pretrain_objectives import (
  OBJECTIVES,
  find_tokenizer,
)
from fairjax.recipes.perturbation import perturb_corpus
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log

PLAIN, FAIR = 'plain', 'perturbed'


def run(config: Config, folder: pathlib.Path) -> Results:
  """config → perturbed corpus → two masked LMs → perplexities of both."""
  if config.pretrain.objective != 'mlm':
    raise UserError(
      f'pretrain.objective is {config.pretrain.objective}; FairBERTa is a '
      'masked LM, so take mlm'
    )
  check_column(config)
  check_documents(config)
  with Log(folder, config, main=mesh.is_main()) as log:
    paths = {PLAIN: config.data.path, FAIR: str(folder / 'text')}
    corpus_facts = perturbed(config, folder).facts
    same = shared_tokenizer(config, folder)
    parts, fits = {}, {}
    for name, path in paths.items():
      own = dataclasses.replace(
        same, data=dataclasses.replace(same.data, path=path)
      )
      parts[name], model, fits[name] = fitted(own, folder / name, log)
    sums = {
      name: {
        text: pretrain.document_sums(
          model,
          OBJECTIVES['mlm'].terms,
          fit.params,
          parts[text].valid,
          model.device_mesh,
        )
        for text in paths
      }
      for name, fit in fits.items()
    }
    hang = {text: parts[text].hang for text in paths}
    results = stages.results(
      config,
      title=f'FairBERTa from {config.model}',
      contenders={
        name: {
          'sets': {
            f'held-out {text} text': {
              'rows': one.shape[1],
              'quality': quality(config, one, hang[text]),
            }
            for text, one in of.items()
          }
        }
        for name, of in sums.items()
      },
      focus=FAIR,
      tests=[compared(config, text, sums, hang[text]) for text in paths],
      facts={
        'steps': fits[FAIR].steps,
        **{f'texts {k}': v for k, v in corpus_facts.items() if k != 'out'},
        **{f'model on {n} text': str(folder / n / 'export') for n in paths},
      },
      notes=pretrain.seen_before(parts[PLAIN].facts)
      + pretrain.told(hang[PLAIN]),
    )
    return stages.publish(folder, results, log)


def check_column(config: Config) -> None:
  """Stops where one column would be perturbed and another trained on."""
  perturbs, trains = config.corpus.column, config.data.text
  if perturbs not in (Config().corpus.column, trains):
    raise UserError(
      f'corpus.column is {perturbs!r} and data.text {trains!r}, but FairBERTa '
      'trains on the column that it perturbs; name it with --config.data.text '
      'alone'
    )


def check_documents(config: Config) -> None:
  """Stops where the documents of the two texts would not correspond.

  The same numbers of documents are held out of both: one model would be
  trained on what the other is not, and on what both are measured on.
  """
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
  options = dataclasses.replace(
    config.corpus,
    path=config.data.path,
    out=str(folder / 'text'),
    column=config.data.text,
  )
  own = dataclasses.replace(config, corpus=options)
  out = corpora.target(own, folder)
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
  chosen = dataclasses.replace(
    config.tokens, tokenizer=str(folder / 'tokenizer')
  )
  return dataclasses.replace(config, tokens=chosen)


def fitted(config: Config, folder: pathlib.Path, log: Log):
  """The text, the model and its fit, by the steps of recipe pretrain."""
  device_mesh = mesh.make(config.mesh, config.seeds)
  text = pretrain.read(config, device_mesh.shape['data'], log)
  model = OBJECTIVES['mlm'].model(config, text.words)
  model = model.replace(
    tokenizer=text.tokenizer,
    longest=config.pretrain.length,
    device_mesh=device_mesh,
  )
  fit = pretrain.fit(config, text, model, folder, log)
  pretrain.save(config, model, fit.params, folder / 'export')
  return text, model, fit


def quality(
  config: Config, sums: np.ndarray, hang: np.ndarray | None
) -> dict[str, dict]:
  """Loss and perplexity, with intervals over documents and seeds."""
  how, names = intervals.options_of(config), OBJECTIVES['mlm'].names
  values = pretrain.overall(names, sums.sum(1), 0.0)
  resamples = pretrain.resampled(sums, how, hang)
  draws = pretrain.overall(names, resamples.reshape(-1, sums.shape[2]), 0.0)
  return {
    name: intervals.of_mean(
      value,
      draws[name].reshape(resamples.shape[:2]) if how.resamples else None,
      how,
    )
    for name, value in values.items()
  }


def compared(
  config: Config, text: str, sums: dict, hang: np.ndarray | None
) -> dict:
  """The difference of the two losses on one held-out text, by documents.

  Both models are asked for the same masked tokens, so the draws of documents
  are shared.
  """
  how = intervals.options_of(config)
  ours, theirs = (sums[name][text] for name in (FAIR, PLAIN))
  loss = lambda one: one[..., 0] / one[..., 1]
  values = loss(ours.sum(1)) - loss(theirs.sum(1))
  draws = [loss(pretrain.resampled(one, how, hang)) for one in (ours, theirs)]
  noise = draws[0] - draws[1]
  return {
    'set': f'held-out {text} text',
    'ours': FAIR,
    'theirs': PLAIN,
    'measure': 'loss',
    **intervals.paired(values, noise, how, np.inf),
    'test': 'paired bootstrap over documents and seeds',
    'n': ours.shape[1],
  }
