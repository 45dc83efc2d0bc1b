"""The decoding options of a model folder, as transformers reads them."""

import pathlib
from typing import Any

from fairjax.core import strict_json
from fairjax.core.errors import UserError
from fairjax.data.word_tables import table_rows
from fairjax.models.decoding.decode import Options
from fairjax.models.families.kinds import NAMED
from fairjax.models.folders import hf, weight_files

TOP_K = 50  # what transformers draws of where a folder that draws says nothing
# The options of transformers that are ours too, and those that would change a
# text but are not known here, with the values at which they do nothing.
_KNOWN = (
  *('do_sample', 'temperature', 'top_k', 'top_p'),
  *('max_length', 'max_new_tokens', 'min_length', 'min_new_tokens'),
  *('num_beams', 'length_penalty', 'early_stopping', 'no_repeat_ngram_size'),
  *('forced_bos_token_id', 'forced_eos_token_id'),
)
_BOOL, _NUMBER = ('do_sample',), ('temperature', 'top_p', 'length_penalty')
_UNKNOWN = {
  name: strict_json.parse(values)
  for name, values in table_rows(__file__, 'neutral_options.csv')
}


def _settings(folder: pathlib.Path) -> tuple[pathlib.Path, dict]:
  """What a folder says of decoding, and where, as transformers reads it."""
  path = pathlib.Path(folder) / 'generation_config.json'
  whole = not path.is_file()
  path = hf.config_path(folder) if whole else path
  settings = hf.read_config(folder) if whole else weight_files.read_json(path)
  return path, {k: v for k, v in settings.items() if v is not None}


def ends(folder: pathlib.Path, vocab: int) -> dict[str, int]:
  """The tokens that begin and end what is written, where the folder says."""
  path, settings = _settings(folder)
  result = {}
  for name, ours in (
    ('decoder_start_token_id', 'start'),
    ('eos_token_id', 'eos'),
  ):
    token = settings.get(name)
    if isinstance(token, list) and len(token) == 1:
      token = token[0]
    if isinstance(token, list):
      raise UserError(
        f'{path} has {len(token)} values of {name}; keep the one that counts'
      )
    if token is None:
      continue
    if not NAMED['token'].fits(token) or token >= vocab:
      raise UserError(
        f'{path} has {name} {token!r}; it must be the id of one of the {vocab} '
        'tokens'
      )
    result[ours] = token
  return result


def _check_kind(path: pathlib.Path, name: str, value: Any) -> None:
  if name == 'early_stopping':  # a bool or a word: Options.validate
    return
  kind = 'number' if name in _NUMBER else 'integer'
  wanted = NAMED['flag' if name in _BOOL else kind]
  if not wanted.fits(value):
    raise UserError(f'{path} has {name} {value!r}; it must be {wanted.about}')


def folder_options(folder: pathlib.Path) -> Options:
  """The folder's own way of decoding; what it does not say is our default."""
  path, settings = _settings(folder)
  for name, plain in _UNKNOWN.items():
    if settings.get(name) and settings[name] not in plain:
      raise UserError(
        f'{path} sets {name} to {settings[name]!r}, which is not known here; '
        'take that line out'
      )
  options = {name: settings[name] for name in _KNOWN if name in settings}
  for name, value in options.items():
    _check_kind(path, name, value)
    options[name] = float(value) if name in _NUMBER else value
  if options.get('do_sample'):
    options.setdefault('top_k', TOP_K)
  for end in ('max', 'min'):
    if f'{end}_new_tokens' in options:  # it takes precedence, a 0 too
      options.pop(f'{end}_length', None)
  try:
    chosen = Options(**options)
    chosen.validate()
  except (UserError, TypeError, ValueError) as error:
    raise UserError(f'{path}: {error}') from error
  return chosen
