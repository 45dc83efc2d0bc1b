"""Sections that recipes add to a page, rendered.

A part is data (fairjax/results.py makes and checks it): texts, tables, figures
by the name of a plot and its arguments. Everything is escaped here.
"""

import pathlib
from collections.abc import Mapping, Sequence

from fairjax.core import artefacts
from fairjax.core.errors import UserError
from fairjax.report import blocks, tables
from fairjax.report.pictures import figures, plots

LONGEST = 200  # bytes of a file's name; most systems take 255


class Pictures:
  """Figures that go into the page and, under their names, into plots/."""

  def __init__(self, folder: pathlib.Path):
    self.folder = folder / 'plots'
    self.names: set[str] = set()
    self.strips: list[int] = []  # of texts with a switch

  def add(self, name: str, plot, caption: str) -> str:
    safe = ''.join(c if c.isalnum() or c in '-_' else '_' for c in name)
    if len(safe.encode()) > LONGEST:
      safe = f'{safe[: LONGEST // 4]}_{artefacts.fingerprint(name)}'
    self.names.add(f'{safe}.png')
    figures.save(plot, self.folder / f'{safe}.png')
    return blocks.figure(plot, caption)

  def remove_earlier(self) -> None:
    """Takes away the pictures that this page has not."""
    artefacts.keep_only(self.folder, '.png', self.names)


def sections(
  extra: Sequence[Mapping], pictures: Pictures
) -> list[blocks.Section]:
  return [
    blocks.Section(one['heading'], render(one['parts'], pictures))
    for one in extra
  ]


def render(parts: Sequence[Mapping], pictures: Pictures) -> str:
  """The html of parts; consecutive figures stand beside each other."""
  out, beside = [], []
  for part in [*parts, None]:
    if part is not None and part['part'] == 'figure':
      beside.append(_figure(part, pictures))
      continue
    if beside:
      out.append(blocks.side(*beside) if len(beside) > 1 else beside[0])
      beside = []
    if part is not None:
      out.append(_part(part, pictures))
  return '\n'.join(out)


def _part(part: Mapping, pictures: Pictures) -> str:
  match part['part']:
    case 'text':
      return blocks.text(part['text'], kind=_kind(part))
    case 'heading':
      return blocks.heading(part['text'])
    case 'bullets':
      return blocks.bullets(part['lines'])
    case 'table':
      columns = part.get('columns')
      return blocks.table(part['rows'], columns, part.get('caption', ''))
    case 'texts':
      paragraphs = [_texts(row, part['versions']) for row in part['rows']]
      if 'blur' in part:
        number = len(pictures.strips)
        pictures.strips.append(number)
        return blocks.blurred('\n'.join(paragraphs), number, part['blur'])
      return '\n'.join(paragraphs)
    case 'fold':
      return blocks.details(part['title'], render(part['parts'], pictures))
  raise UserError(f'there is no part of a page named {part["part"]!r}')


def _kind(part: Mapping) -> str:
  kind = part.get('kind', '')
  return kind if kind in ('lead', 'quiet', 'warning') else ''


def _figure(part: Mapping, pictures: Pictures) -> str:
  if part['plot'] not in plots.PLOTS:
    names = ', '.join(plots.PLOTS)
    raise UserError(f'there is no plot {part["plot"]!r}; there are {names}')
  try:
    plot = plots.PLOTS[part['plot']](**part['data'])
  except (TypeError, ValueError, KeyError, AttributeError) as error:
    raise UserError(
      f'the figure {part["name"]!r} of results.json is not what the plot '
      f'{part["plot"]} draws: {error}'
    ) from error
  return pictures.add(part['name'], plot, part['caption'])


def _texts(row: Mapping, versions: Sequence[str]) -> str:
  """The versions of a text under each other, and what else the row says."""
  texts = [str(row[key]) for key in versions if row.get(key) is not None]
  texts = list(dict.fromkeys(texts))  # a text that did not change, once
  rest = ', '.join(
    f'{tables.printable(key)} {tables.cell(value)}'
    for key, value in row.items()
    if key not in versions
  )
  html = '<br>'.join(blocks.versions(texts))
  more = blocks.text(rest, kind='quiet') if rest else ''
  return f'<div><p>{html}</p>{more}</div>'
