"""Where a model's folder is: a path, or a name on the Hugging Face hub."""

import difflib
import pathlib
import re

from fairjax.core.errors import UserError
from fairjax.data.gguf import is_gguf
from fairjax.models import families
from fairjax.models.folders import of_runs

_WORDS = ['tokenizer.json', 'vocab*', '*.model']  # of which one is needed
_FILES = [
  *('config.json', 'generation_config.json', 'tokenizer*', 'vocab*'),
  *('merges.txt', 'special_tokens_map.json', 'added_tokens.json'),
  '*.model',  # a sentencepiece, which DeBERTa-v3s come with alone
]


def find(model: str) -> pathlib.Path | None:
  """The folder of a model: local, cached or downloaded; None for a size.

  `model` is a folder (also of a run of ours), a GGUF file, a name on the
  Hugging Face hub, or a size (`families.SIZES`), which has no weights.
  """
  if model in families.SIZES:
    return None
  if problem := _no_name(model):
    raise UserError(problem)
  folder = pathlib.Path(model).expanduser()
  if folder.is_dir() or is_gguf(folder):
    return of_runs.one_model(folder)
  if model.startswith(('/', '.', '~')) or model.count('/') > 1:
    raise UserError(f'model folder {model} does not exist')
  from huggingface_hub import snapshot_download

  last, found = None, None
  for offline in (True, False):
    for weights in ('model.safetensors*', 'pytorch_model*.bin*'):
      try:
        path = pathlib.Path(
          snapshot_download(
            model, allow_patterns=[*_FILES, weights], local_files_only=offline
          )
        )
      except Exception as error:  # the hub's client has dozens of kinds
        last = error
        break
      if any(path.glob(weights)):
        found = path
        # What others cached may be the weights alone; the rest is fetched.
        if not offline or any(one for n in _WORDS for one in path.glob(n)):
          return path
  if found:
    return found
  raise UserError(_no_weights(model, last)) from last


def _no_name(model: str) -> str:
  """Why this can be no model, before anything is asked; '' if it can."""
  if not model.strip():
    return f'model is empty; name one with --config.model: {_NAMED}'
  wrong = f'model is {model[:80]!r}, which is no name of a model; name {_NAMED}'
  if '\0' in model or len(model) > 4000:
    return wrong
  try:
    place = pathlib.Path(model).expanduser()
    if place.is_dir() or is_gguf(place):
      return ''
    if place.exists():
      return (
        f'model {model} is a file; name the folder of a model, or a .gguf file'
      )
  except (OSError, RuntimeError):  # too long, or nobody's home
    place = None
  name = r'[\w.-]{1,96}(/[\w.-]{1,96})?'
  if place is None or (
    not model.startswith(('/', '.', '~'))
    and model.count('/') < 2
    and not re.fullmatch(name, model, re.ASCII)
  ):
    return wrong
  return ''


_SIZES = (*families.SIZES, 'cnn', 'lstm')
_NAMED = f'{", ".join(_SIZES)}, a folder, or a name on the hub'


def _no_weights(model: str, error: Exception | None) -> str:
  """Near names, and whether the hub knows of none or could not be asked."""
  near = difflib.get_close_matches(model, _SIZES, n=1)
  hint = f'did you mean {near[0]!r}? Otherwise ' if near else ''
  unknown = ('RepositoryNotFoundError', 'GatedRepoError', 'HFValidationError')
  if error is None:
    where = 'on the hub, but without weights that can be read'
  elif type(error).__name__ in unknown:
    where = f'neither here nor on the hub ({type(error).__name__})'
  else:
    where = 'not here, and the hub cannot be reached (offline)'
  return (
    f'model {model!r} is {where}; {hint}give a folder with '
    '--config.model=FOLDER, or train from scratch with a size of ours or '
    '--config.net.init=random'
  )
