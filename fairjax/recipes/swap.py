"""One text and its counterfactual: what a swap writes, and what it changes."""

import pathlib

from fairjax import artefacts
from fairjax.config import Config
from fairjax.errors import UserError
from fairjax.pairs import lists, words


def run(config: Config, folder: pathlib.Path) -> dict:
  """Prints each alternative of `config.text` and its spans."""
  if not config.text.strip():
    raise UserError('there is no text; give one with --config.text="She left."')
  chosen = words.options(config.method, config.seed)
  if lists.load(config.method.words).sides:
    columns = [words.swap([config.text], **chosen)]
  else:
    columns = words.swap_every([config.text], **chosen)
  twins = []
  for column in columns:
    text, spans = column.texts[0], column.spans[0]
    print(text)
    for start, end, old, new in spans:
      print(f'  {start:5}–{end:<5} {old} → {new}')
    if not spans:
      print('  (nothing changes)')
    if column.left[0]:
      print(f'  {column.left[0]} words have no sure counterpart and were left')
    twins.append({'twin': text, 'spans': spans, 'left': column.left[0]})
  results = {'text': config.text, 'twins': twins}
  artefacts.write_json(folder / 'swap.json', results)
  return results
