"""Perplexity of texts under a folder's model, left to right or masked."""

import pathlib

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, Mesh
from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.data.tables import files
from fairjax.metrics.inference import clusters, intervals
from fairjax.metrics.texts import text_likelihood
from fairjax.models import Bundle, build, families
from fairjax.models.folders.folder import language_model
from fairjax.models.reading import fill, token_scores
from fairjax.report.tables import plural
from fairjax.results import Results
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> Results:
  """texts → log p of every token → of every text → perplexities."""
  with Log(folder, config, main=mesh.is_main()) as log:
    if not config.data.path:
      raise UserError(
        'data.path is empty; name a file of texts with --config.data.path'
      )
    table = files.texts(config.data)
    model = language_model(config)
    if model.can != 'mask':
      families.require(families.find(model.family), 'judge', config.model)
    texts = encode(config, model, table)
    kind = 'masked' if model.can == 'mask' else 'causal'
    log.line(
      f'{len(table)} texts, {len(texts.flat)} tokens, {kind} likelihood by '
      f'{config.model}'
    )
    total, count = text_likelihood.totals(token_logs(model, texts), texts)
    how, (hang, by) = intervals.options_of(config), stages.clusters_of(table)
    estimates = text_likelihood.perplexity(total, count, how, hang)
    with np.errstate(invalid='ignore', divide='ignore'):
      each = np.exp(-total / count)
    if mesh.is_main():
      columns = {'id': table['id'], 'log_likelihood': total, 'tokens': count}
      artefacts.write_table(
        folder / 'likelihood.parquet',
        pd.DataFrame({**columns, 'perplexity': each}),
      )
    name = pathlib.Path(config.data.path).name
    quality = {f'perplexity_{key}': value for key, value in estimates.items()}
    results = stages.results(
      config,
      data=name,
      seeds=[],
      title=f'Perplexity of {name} by {config.model}',
      contenders={
        pathlib.Path(config.model).name: {
          'sets': {name: {'rows': len(table), 'quality': quality}}
        }
      },
      facts={
        'file': config.data.path,
        'likelihood': kind,
        'tokens': int(count.sum()),
      },
      notes=[*_notes(config, texts, count), *_said(hang, by)],
    )
    return stages.publish(folder, results, log)


def encode(config: Config, model: Bundle, table: pd.DataFrame) -> Ragged:
  """The tokens; a text is cut only where tokens.max_length asks for it."""
  longest = model.longest
  length = build.text_length(config, longest)
  texts = tokens.encode(model.tokenizer, list(table['text']), length)
  if texts.cut_lengths and not config.tokens.max_length:
    row = table['id'].iloc[int(np.flatnonzero(texts.cut)[0])]
    raise UserError(
      f'the text {row!r} of {config.data.path} has more tokens than '
      f'{config.model} has positions ({longest}); shorten it, or cut such '
      f'texts with --config.tokens.max_length={longest}'
    )
  return texts


def token_logs(model: Bundle, texts: Ragged) -> np.ndarray:
  """log p of the texts' own tokens; NaN at those that are not scored."""
  module, params, tokenizer = model.module, model.params, model.tokenizer
  placement = mesh.placement(mesh.make(Mesh(), 1))
  if model.can != 'mask':
    return token_scores.causal_logs(module, params, texts, placement=placement)
  mask = tokenizer.token_to_id(fill.mask_of(tokenizer))
  added = tokenizer.num_special_tokens_to_add(False)
  chosen = token_scores.inner(texts, (added + 1) // 2, added // 2)
  return token_scores.masked_logs(
    module, params, texts, mask, chosen, placement=placement
  )


def _said(hang: np.ndarray | None, by: str) -> list[str]:
  said = clusters.words(hang, by)
  return [said, *clusters.warnings(hang)] if said else []


def _notes(config: Config, texts: Ragged, count: np.ndarray) -> list[str]:
  notes = []
  if texts.cut_lengths:
    notes.append(
      f'{plural(texts.cut_lengths, "text")} longer than '
      f'{config.tokens.max_length} tokens cut to that'
    )
  if (count == 0).any():
    notes.append(
      f'{plural(int((count == 0).sum()), "text")} without a token that can be '
      'scored left out'
    )
  return notes
