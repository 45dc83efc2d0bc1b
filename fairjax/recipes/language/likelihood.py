"""Perplexity of texts under a folder's model, left to right or masked."""

import pathlib

import numpy as np
import pandas as pd

from fairjax import stages
from fairjax.config import Config, Mesh
from fairjax.core import knobs
from fairjax.core.errors import UserError
from fairjax.data.batching import tokens
from fairjax.data.batching.tokens import Ragged
from fairjax.data.tables import files
from fairjax.metrics.texts import text_likelihood
from fairjax.models import Bundle, build, families
from fairjax.models.folders.folder import language_model
from fairjax.models.reading import fill, token_scores
from fairjax.recipes.language import pretrain
from fairjax.report.tables import plural
from fairjax.results import Results
from fairjax.stages import Experiment
from fairjax.train import mesh


@stages.recipe
def run(e: Experiment) -> Results:
  """texts → log p of every token → of every text → perplexities."""
  config = e.config
  knobs.need(config, 'data.path', 'a file of texts')
  table = files.texts(config.data)
  model = language_model(config)
  if model.can != 'mask':
    families.require(families.find(model.family), 'judge', config.model)
  texts = encode(config, model, table)
  kind = 'masked' if model.can == 'mask' else 'causal'
  e.log.line(
    f'{len(table)} texts, {len(texts.flat)} tokens, {kind} likelihood by '
    f'{config.model}'
  )
  total, count = text_likelihood.totals(token_logs(model, texts), texts)
  cluster, by = stages.clusters_of(table)
  estimates = text_likelihood.perplexity(total, count, e.how.over(cluster))
  with np.errstate(invalid='ignore', divide='ignore'):
    each = np.exp(-total / count)
  columns = {'id': table['id'], 'log_likelihood': total, 'tokens': count}
  frame = pd.DataFrame({**columns, 'perplexity': each})
  stages.write_table(e.folder / 'likelihood.parquet', frame)
  name = pathlib.Path(config.data.path).name
  quality = {f'perplexity_{key}': value for key, value in estimates.items()}
  one = {'rows': len(table), 'quality': quality}
  e.add(pathlib.Path(config.model).name, name, one)
  return e.results(
    data=name,
    seeds=[],
    title=f'Perplexity of {name} by {config.model}',
    facts={
      'file': config.data.path,
      'likelihood': kind,
      'tokens': int(count.sum()),
    },
    notes=[*_notes(config, texts, count), *pretrain.dependent(cluster, by)],
  )


def encode(config: Config, model: Bundle, table: pd.DataFrame) -> Ragged:
  """The tokens; a text is cut only where tokens.max_length asks for it."""
  longest = model.longest
  length = build.text_length(config, longest)
  texts = tokens.encode(model.tokenizer, list(table['text']), length)
  if texts.cut_lengths and not config.tokens.max_length:
    row = table['id'].iloc[int(np.flatnonzero(np.asarray(texts.cut))[0])]
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
  _, mask = fill.mask_of(tokenizer)
  added = tokenizer.num_special_tokens_to_add(False)
  chosen = token_scores.inner(texts, (added + 1) // 2, added // 2)
  return token_scores.masked_logs(
    module, params, texts, mask, chosen, placement=placement
  )


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
