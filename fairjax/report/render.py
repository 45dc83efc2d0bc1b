"""Parts of pages and documents through templates, which escape what they say.

A part is data (fairjax/results.py makes and checks it): texts, tables, figures
by the name of a plot and its arguments. A page is one file, without network.
"""

import functools
import json
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairjax.core import alignment, artefacts, escape
from fairjax.core.errors import UserError
from fairjax.core.registry import named
from fairjax.report import tables
from fairjax.report.pictures import figures, plots

if TYPE_CHECKING:
  import jinja2
  from matplotlib.figure import Figure

HERE = pathlib.Path(__file__).parent
FLAG = re.compile(r'(\S*?)(--config[\w.-]*\w)(\S*)')
LONGEST = 200  # bytes of a file's name; most systems take 255
# Nothing is fetched and nothing runs, whatever a name or a text holds.
POLICY = (
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
  "base-uri 'none'; form-action 'none'"
)


class Pictures:
  """Figures that go into the page and, under their names, into plots/."""

  def __init__(self, folder: pathlib.Path):
    self.folder = folder / 'plots'
    self.names: set[str] = set()
    self.strips = 0  # of texts with a switch

  def add(self, name: str, plot: 'Figure', caption: str) -> dict:
    safe = ''.join(c if c.isalnum() or c in '-_' else '_' for c in name)
    if len(safe.encode()) > LONGEST:
      safe = f'{safe[: LONGEST // 4]}_{artefacts.fingerprint(name)}'
    self.names.add(f'{safe}.png')
    figures.save(plot, self.folder / f'{safe}.png')
    svg = Markup(figures.svg(plot, caption))  # escaped where it is made
    return {'part': 'picture', 'svg': svg, 'caption': caption}


def page(
  title: str,
  sections: Sequence[Mapping],
  pictures: Pictures | None = None,
  policy: str = POLICY,
) -> str:
  """A whole html file with a list of its sections at the top."""
  into = pictures or Pictures(pathlib.Path())  # of a page that has none
  return template('page.html').render(
    title=title,
    sections=[
      {**one, 'parts': prepared(one['parts'], into)} for one in sections
    ],
    policy=policy,
    css=(HERE / 'page.css').read_text('utf-8'),
  )


@functools.cache
def environment(kind: str, finalize: Callable | None) -> 'jinja2.Environment':
  import jinja2

  if finalize:
    asked = jinja2.pass_context(lambda _, value: finalize(value))
    return environment(kind, None).overlay(finalize=asked)
  made = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / 'templates'),
    autoescape=kind == 'html',
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    # Marks that could steer a terminal or turn a line around go too; a sentence
    # is made printable as a whole.
    finalize=None if kind == 'txt' else _printable,
  )
  made.globals['verbatim'] = lambda text: Markup(escape.entities(text))
  made.filters |= {
    **{'md': escape.markdown, 'flags': _flags, 'tex': escape.tex},
    'raw': Markup,
    'json': lambda text: json.dumps(escape.printable(text)),
  }
  return made


def _flags(text: str) -> Markup:
  """Words in which no flag is broken, nor parted from a mark beside it."""
  held = r'<span class="flag">\1<code>\2</code>\3</span>'
  return Markup(FLAG.sub(held, escape.html(text)))


def _printable(value: Any) -> str:
  return value if isinstance(value, Markup) else escape.printable(value)


def template(
  name: str, filters: Mapping = {}, finalize: Callable | None = None
) -> 'jinja2.Template':
  """A template by its file's name, with filters of its own."""
  kind = name.rpartition('.')[2]
  environment(kind, None).filters |= filters
  return environment(kind, finalize).get_template(name)


def prepared(parts: Sequence[Mapping], pictures: Pictures) -> list[dict]:
  """Parts as the template shows them; figures in a row stand side by side."""
  out: list[dict] = []
  for part in parts:
    one = _prepared(part, pictures)
    last = out[-1] if out else {}
    if one['part'] == 'picture' and last.get('part') == 'picture':
      out[-1] = {'part': 'side', 'blocks': [[last], [one]]}
    elif (
      one['part'] == 'picture'
      and last.get('pictures', True)
      and (last.get('part') == 'side')
    ):
      last['blocks'].append([one])
    else:
      out.append(one)
  return out


def _prepared(part: Mapping, pictures: Pictures) -> dict:
  kind = part['part']
  inside = lambda parts: prepared(parts, pictures)
  if kind == 'figure':
    return pictures.add(part['name'], _drawn(part), part['caption'])
  if kind == 'table':
    view = tables.view(part['rows'], part.get('columns'), part.get('about'))
    return {'part': 'table', 'caption': part.get('caption', ''), **view}
  if kind == 'texts':
    rows = [_texts(row, part['versions']) for row in part['rows']]
    number = pictures.strips
    pictures.strips += 'blur' in part
    return {**part, 'rows': rows, 'number': number}
  if kind in ('fold', 'warnings'):
    return {**part, 'parts': inside(part['parts'])}
  if kind == 'side':
    blocks = [inside(block) for block in part['blocks'] if block]
    return {'part': 'side', 'blocks': blocks, 'pictures': False}
  if kind == 'first':
    picture, words = inside(part['picture']), inside(part['words'])
    return {'part': 'first', 'words': words, 'picture': picture}
  return {'kind': '', **part}


def _drawn(part: Mapping) -> 'Figure':
  if not isinstance(part['plot'], str):
    return part['plot']
  plot = named(part['plot'], plots.PLOTS, 'plot')
  try:
    return plots.PLOTS[plot](**part['data'])
  except (TypeError, ValueError, KeyError, AttributeError) as error:
    raise UserError(
      f'the figure {part["name"]!r} of results.json is not what the plot '
      f'{part["plot"]} draws: {error}'
    ) from error


def drawn(name: str, plot: 'Figure', caption: str) -> dict:
  """A figure part of what is drawn already."""
  return {'part': 'figure', 'plot': plot, 'name': name, 'caption': caption}


def _texts(row: Mapping, versions: Sequence[str]) -> dict[str, Any]:
  """The versions of a text under each other, and what else the row says."""
  texts = [str(row[key]) for key in versions if row.get(key) is not None]
  rest = ', '.join(
    f'{tables.printable(key)} {tables.cell(value)}'
    for key, value in row.items()
    if key not in versions
  )
  # A text that did not change stands once.
  return {'versions': marked(list(dict.fromkeys(texts))), 'rest': rest}


def marked(texts: Sequence[str]) -> list[list[tuple[bool, str]]]:
  """Texts in pieces, and whether a piece differs from the first text.

  In the first those differ that are not in the second.
  """
  words = [re.findall(r'\w+|\W', tables.printable(text)) for text in texts]
  lines = []
  for k, own in enumerate(words):
    other = words[0] if k else words[min(1, len(words) - 1)]
    pieces = [
      (kind != 'equal', ''.join(own[start:end]))
      for kind, _, _, start, end in alignment.changes(other, own)
    ]
    lines.append([(changed, piece) for changed, piece in pieces if piece])
  return lines
