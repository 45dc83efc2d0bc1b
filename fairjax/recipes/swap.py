"""One text and its counterfactual, and what was changed."""

import pathlib

from fairjax.config import Config
from fairjax.core.errors import UserError
from fairjax.pairs.swapping import dictionary, word_lists
from fairjax.report import page
from fairjax.report.tables import plural
from fairjax.results import Results, section, texts


def run(config: Config, folder: pathlib.Path) -> Results:
  """Prints each alternative of `config.text` and its spans."""
  if not config.text.strip():
    raise UserError('there is no text; give one with --config.text="She left."')
  chosen = dictionary.options(config.method, config.seed)
  axis, direction = config.method.axis, config.method.direction
  gendered = axis == 'gender' and word_lists.load(config.method.words).sides
  if gendered or (axis != 'gender' and direction != 'opposite'):
    columns = [dictionary.swap([config.text], **chosen)]
  else:
    columns = dictionary.swap_every([config.text], **chosen)
  twins = []
  for column in columns:
    text, spans = column.texts[0], column.spans[0]
    print(text)
    for start, end, old, new in spans:
      print(f'  {start:5}–{end:<5} {old} → {new}')
    if not spans:
      print('  (nothing changes)')
    if column.left[0]:
      count = plural(column.left[0], 'word')
      print(f'  left as they are, for want of a sure counterpart: {count}')
    twins.append(
      {'text': config.text, 'twin': text, 'spans': spans}
      | {'left': column.left[0]}
    )
  return page.publish(
    folder,
    Results(
      recipe=config.recipe,
      title='A text and its counterfactual',
      sections=[section('Counterfactuals', texts(twins))],
    ),
  )
