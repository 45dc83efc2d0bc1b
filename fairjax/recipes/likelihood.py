"""Perplexity of texts under a folder's model, left to right or masked."""

import pathlib

import numpy as np
import pandas as pd

from fairjax import artefacts
from fairjax.config import Config, Mesh
from fairjax.data import files, tokens
from fairjax.data.tokens import Ragged
from fairjax.errors import UserError
from fairjax.metrics import likelihood
from fairjax.metrics.intervals import How
from fairjax.models import Bundle, families, fill, token_scores
from fairjax.models.folder import language_model
from fairjax.train import mesh
from fairjax.train.progress import Log


def run(config: Config, folder: pathlib.Path) -> dict:
  """texts → log p of every token → of every text → perplexities."""
  log = Log(folder, config, main=mesh.is_main())
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
  logs = token_logs(model, texts)
  total, count = likelihood.totals(logs, texts)
  options = config.measures
  how = How(options.confidence_level, options.resamples, config.seed)
  results = {
    'name': config.data.path,
    'recipe': config.recipe,
    'model': config.model,
    'kind': kind,
    'rows': len(table),
    'tokens': int(count.sum()),
    'perplexity': likelihood.perplexity(total, count, how),
    'notes': _notes(config, texts, count),
  }
  with np.errstate(invalid='ignore', divide='ignore'):
    each = np.exp(-total / count)
  table = pd.DataFrame(
    {
      'id': table['id'],
      'log_likelihood': total,
      'tokens': count,
      'perplexity': each,
    }
  )
  if mesh.is_main():
    artefacts.write_table(folder / 'likelihood.parquet', table)
    artefacts.write_json(folder / 'results.json', results)
  for name, one in results['perplexity'].items():
    ends = (
      '' if one['low'] is None else f' [{one["low"]:.3f}, {one["high"]:.3f}]'
    )
    log.line(f'perplexity {name}: {one["value"]:.3f}{ends}')
  for note in results['notes']:
    log.line(note)
  return results


def encode(config: Config, model: Bundle, table: pd.DataFrame) -> Ragged:
  """The tokens; a text is cut only where tokens.max_length asks for it."""
  longest = model.longest
  asked = config.tokens.max_length
  if asked > longest:
    raise UserError(
      f'tokens.max_length is {asked}, but {config.model} has positions for '
      f'{longest}; choose at most that'
    )
  texts = tokens.encode(model.tokenizer, list(table['text']), asked or longest)
  if texts.cut_lengths and not asked:
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


def _notes(config: Config, texts: Ragged, count: np.ndarray) -> list[str]:
  notes = []
  if texts.cut_lengths:
    notes.append(
      f'{texts.cut_lengths} texts were cut to {config.tokens.max_length} tokens'
    )
  if (count == 0).any():
    notes.append(
      f'{int((count == 0).sum())} texts have no token that can be scored and '
      'are left out'
    )
  return notes
